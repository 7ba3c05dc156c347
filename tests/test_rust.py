"""The example in Rust: it is built, the right table passes, and a row finds each of its faults."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.verdict import EXIT_CONFORMS, Verdict
from statemachines.compile import Compiled, load
from tests.conformance.systems import row_result, whole_run

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "rust"
PROGRAM = FOLDER / "target" / "release" / "tasks"
RACES = {  # which show only where calls come at once
    "lost-outcome": ["X35"],
    "missed-wake-up": ["N5", "X18"],
    "cancel-overwrites": ["B6", "X42"],
    "same-id": ["X22"],
    "ended-twice": ["X23"],
}
OTHERS = {"outcome-evicted": ["B7"], "ordered-as-text": ["B3"], "gives-up-early": ["B9"]}
needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not there")


@pytest.fixture(scope="module")
def program() -> str:
    """The target of the example, built."""
    words = ["cargo", "build", "--release", "--offline", "--locked", "--quiet", "--manifest-path"]
    built = subprocess.run([*words, f"{FOLDER / 'Cargo.toml'}"], capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    return f"stdio:{PROGRAM}"


@pytest.fixture(scope="module")
def tasks() -> Compiled:
    """The life cycle of the example."""
    return load("background-tasks")


def found(target: str, rows: list[str], tasks: Compiled, seed: int = 0) -> bool:
    """Whether one of some rows fails."""
    results = (row_result(target, row, tasks, seed=seed, quick=True, shortest=False) for row in rows)
    return any(each.verdict is Verdict.FAIL for each in results)


def test_each_fault_has_rows_that_find_it_and_the_page_names_them() -> None:
    listed = (FOLDER / "src" / "faults.rs").read_text(encoding="utf-8").partition("pub const FAULTS")[2]
    assert re.findall(r'^    \("([a-z-]+)",', listed, re.MULTILINE) == [*RACES, *OTHERS]
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    told = {
        name: rows.split(", ")
        for name, rows in re.findall(r"^\| `([a-z][a-z-]+)` \|.*\| ([^|]+) \|$", page, re.MULTILINE)
    }
    assert told == {**RACES, **OTHERS}


@needs_cargo
@pytest.mark.thorough
@pytest.mark.parametrize(("fault", "rows"), {**RACES, **OTHERS}.items())
def test_a_fault_is_found_by_its_rows(program: str, tasks: Compiled, fault: str, rows: list[str]) -> None:
    assert found(f"{program} --fault {fault}", rows, tasks)


@needs_cargo
@pytest.mark.thorough
def test_the_right_table_passes_whole(program: str, tasks: Compiled) -> None:
    code, results = whole_run(program, tasks, quick=True)
    assert code == EXIT_CONFORMS, [(each.id, each.reason) for each in results if each.verdict is not Verdict.PASS]


@needs_cargo
@pytest.mark.thorough
def test_any_text_passes_and_what_is_none_is_told(program: str) -> None:
    label = 'é😀"\\\n\0\u2028'
    asked = [
        json.dumps({"id": 1, "method": "spawn", "params": {"label": label}}),  # in escapes
        json.dumps({"id": 2, "method": "spawn", "params": {"label": label}}, ensure_ascii=False),
        '{"id": 3, "method": "spawn", "params": {"label": "\\ud800"}}',
        '{"id": 4, "method": "spawn"',
        json.dumps({"id": 5, "method": "no_such"}),
    ]
    with subprocess.Popen(
        [PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def answer(line: str) -> dict[str, object]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            while True:
                told: dict[str, object] = json.loads(process.stdout.readline())
                if "method" not in told:
                    return told
                process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": told["id"], "result": None}) + "\n")
                process.stdin.flush()

        assert [answer(line).get("result") for line in asked[:2]] == [{"task_id": "task-1"}, {"task_id": "task-2"}]
        refused = [answer(line) for line in asked[2:]]
        assert [each["id"] for each in refused] == [None, None, 5]
        assert "half of a surrogate pair" in str(refused[0])
        listed = answer(json.dumps({"id": 6, "method": "list"}))["result"]
        assert isinstance(listed, list)
        assert [each["label"] for each in listed] == [label, label]
        process.stdin.close()


@needs_cargo
@pytest.mark.soak
@pytest.mark.parametrize(("fault", "rows"), RACES.items())
def test_a_race_is_found_in_nearly_every_schedule(program: str, tasks: Compiled, fault: str, rows: list[str]) -> None:
    assert sum(found(f"{program} --fault {fault}", rows, tasks, seed) for seed in range(20)) >= 19
