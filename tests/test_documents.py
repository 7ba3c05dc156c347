"""The documents for users: every example in README.md and docs/ is run, and the README says what is true."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from statemachines.compile import load
from tests.examples import ROOT, Wrong, run_examples

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.thorough
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_example_of_a_document_does_what_is_shown(document: Path, tmp_path: Path) -> None:
    try:
        run_examples(str(document.relative_to(ROOT)), document.read_text(encoding="utf-8"), tmp_path)
    except Wrong as error:
        wrong = str(error)
    else:
        return
    pytest.fail(wrong, pytrace=False)


def test_the_readme_is_short() -> None:
    assert len(DOCUMENTS[0].read_text(encoding="utf-8").splitlines()) <= 150


def test_the_readme_links_to_every_document() -> None:
    readme = DOCUMENTS[0].read_text(encoding="utf-8")
    assert [path.name for path in DOCUMENTS[1:] if f"](docs/{path.name})" not in readme] == []


def test_the_readme_counts_the_rows_and_faulty_systems_of_each_life_cycle() -> None:
    table = re.findall(r"^\| `([\w-]+)` \|[^|]+\| (\d+) \| (\d+) \|", DOCUMENTS[0].read_text(), re.MULTILINE)
    assert len(table) == 6
    for name, rows, faulty in table:
        systems = import_module(f"tests.faulty.{name.replace('-', '_')}").FAULTY
        counted = len(load(name).lifecycle.rows), len(systems)
        assert (int(rows), int(faulty)) == counted, f"README.md, {name}: {counted} rows and faulty systems"


def test_the_guide_to_the_tests_names_everything_that_stands_beside_it() -> None:
    guide = ROOT / "tests" / "README.md"
    named = set(re.findall(r"`([\w.]+)[/`]", guide.read_text(encoding="utf-8")))
    beside = {path.name for path in guide.parent.iterdir() if not path.name.startswith("__")}
    assert beside - named - {guide.name} == set()


# ── Each way in which an example can be wrong is seen, at its line ───────────────────────────────

COUNTING = '```python title="count.py"\nfor number in range(3):\n    print(number)\n```\n'


def run(text: str, folder: Path) -> int:
    return run_examples("doc.md", text, folder)


def test_files_edits_commands_and_python_are_run_in_order(tmp_path: Path) -> None:
    text = (
        f"Words.\n\n{COUNTING}"
        "```console\n$ python count.py\n0\n1\n2\n$ python count.py\n…\n2\n```\n"
        '```diff title="count.py"\n-for number in range(3):\n+for number in range(2):\n     print(number)\n```\n'
        "```console\n$ python count.py && cat count.py\n0\n1\n…\n```\n"
        "```pycon\n>>> import count\n0\n1\n>>> kept = [1, 2]\n```\n"
        "More words.\n"
        "```pycon\n>>> len(kept)\n2\n>>> 'abcdef'\n'a…f'\n```\n"
        "```mermaid\nflowchart LR\n```\n"
    )
    assert run(text, tmp_path) == 6


def test_a_duration_and_what_is_left_out_of_a_line_make_no_difference(tmp_path: Path) -> None:
    said = "N1 passes (1 run, 12ms) in a second"
    assert run(f"```console\n$ echo '{said}'\nN1 … (1 run, 1.5s) in a second\n```\n", tmp_path) == 1


def test_the_examples_print_the_same_in_a_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert run('```console\n$ echo "[$CI]"\n[]\n```\n', tmp_path) == 1


def test_an_exit_code_is_shown_by_the_last_line_or_asked_for(tmp_path: Path) -> None:
    assert run("```console\n$ echo 'exit 3'; exit 3\nexit 3\n$ exit 4\n$ echo $?\n4\n```\n", tmp_path) == 1


WRONG = [
    ("```console\n$ echo one\ntwo\n```\n", "doc.md:3: not printed there: two"),
    ("```console\n$ printf 'b\\na\\n'\n…\na\nb\n```\n", "doc.md:5: not printed there: b"),
    ("```console\n$ printf 'a\\nb\\n'\na\n```\n", "doc.md:2: more was printed"),
    ("```console\n$ exit 3\n```\n", "doc.md:2: exit code 3, not 0"),
    ("```console\n$ true\n$ echo 'exit 1'\nexit 1\n```\n", "doc.md:3: exit code 0, not 1"),
    ("```console\necho\n```\n", "doc.md:1: a transcript begins with a command"),
    ("\n```pycon\n>>> 1 + 1\n3\n```\n", "doc.md:3: Python's prompt answers otherwise"),
    ("\n```pycon\n>>> a = 1\n```\n\n```pycon\n>>> a\n2\n```\n", "doc.md:7: Python's prompt answers"),
    (
        f'{COUNTING}```diff title="count.py"\n-    print(1)\n```\n',
        "doc.md:5: these lines stand in count.py 0",
    ),
    (
        '```jsonl\n> {"jsonrpc": "2.0"}\n```\n',
        "doc.md:2: this is no message of the protocol: 'id' is a required property",
    ),
    ("```jsonl\n< {}}\n```\n", "doc.md:2: this is no message of the protocol: Extra data"),
    ("```jsonl\n{}\n```\n", "doc.md:2: a message begins with"),
    ("```python\nprint()\n```\n", "doc.md:1: nothing runs a block of this kind"),
    ("```text\nwords\n```\n", "doc.md:1: nothing runs a block of this kind"),
    ("```python jobs.py\n```\n", "doc.md:1: a block begins with"),
    ("words\n\n```console\n$ true\n", "doc.md:3: the block does not end"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message for _, message in WRONG])
def test_an_example_that_is_wrong_is_told_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(Wrong) as raised:
        run(text, tmp_path)
    assert str(raised.value).startswith(message)
