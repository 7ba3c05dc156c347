"""The reader: what it accepts, what it refuses and where, and that every character keeps its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from statemachines.diagnostics import SpecError, Where
from statemachines.yaml import Mapping, Node, Scalar, Sequence, locate, read, read_file, to_plain
from statemachines.yaml.source import LARGEST_FILE

LOADERS = [yaml.SafeLoader] + ([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])
EVERY_LOADER = pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.__name__)
SPECS = Path(__file__).parents[3] / "spec"


def faults(text: str, loader: Any = yaml.SafeLoader) -> list[tuple[str, int, int]]:
    """Code, line and column of every fault."""
    try:
        read(text, "spec.yaml", loader=loader)
    except SpecError as error:
        return [(found.code, found.where.line, found.where.column) for found in error.diagnostics]
    return []


def scalars(node: Node) -> list[Scalar]:
    match node:
        case Scalar():
            return [node]
        case Sequence():
            return [scalar for item in node.items for scalar in scalars(item)]
        case Mapping():
            return [scalar for key, value in node.entries for scalar in (key, *scalars(value))]


# ---------------------------------------------------------------------------------------- what is refused

TRAPS = [
    # an expression with commas or brackets in a flow collection: once, where YAML cuts it
    ("{when: f(a, b)}", "yaml-comma-in-flow", 1, 11),
    ("{when: f(a, b, b, c)}", "yaml-comma-in-flow", 1, 11),
    ("x: [one, f(a, b), two]", "yaml-comma-in-flow", 1, 13),
    ("{when: g('a, b')}", "yaml-comma-in-flow", 1, 12),
    ("{when: xs[0] == 1}", "yaml-comma-in-flow", 1, 10),
    ("{when: f([a, b])}", "yaml-comma-in-flow", 1, 10),
    ("{about: who is first?}", "yaml-comma-in-flow", 1, 21),
    # one that starts with a character that YAML keeps for itself
    ("when: !a", "yaml-special-start", 1, 7),
    ("when: !a == b", "yaml-special-start", 1, 7),
    ("when: !a && b", "yaml-special-start", 1, 7),
    ("- [a] == b", "yaml-special-start", 1, 3),
    ("x: {a: [b] == c}", "yaml-special-start", 1, 8),
    ("- {a: b} == c", "yaml-special-start", 1, 3),
    ("- 'x' == y", "yaml-special-start", 1, 3),
    ("- 'x' == 'a: b'", "yaml-special-start", 1, 3),
    ('when: "x" + y', "yaml-special-start", 1, 7),
    ("when: % b", "yaml-special-start", 1, 7),
    ("when: @b", "yaml-special-start", 1, 7),
    ("when: && b", "yaml-special-start", 1, 7),
    ("when: > 3", "yaml-special-start", 1, 7),
    # one with a colon and a space inside
    ("- a == 'x: y'", "yaml-colon-cut", 1, 10),
    ("when: a == 'x: y'", "yaml-colon-cut", 1, 14),
    ("- a == 'x: y: z'", "yaml-colon-cut", 1, 10),
    ("{when: a == 'x: y'}", "yaml-colon-cut", 1, 15),
    ("[f(a: b)]", "yaml-colon-cut", 1, 5),
    ("about: Note: this is prose", "yaml-colon-cut", 1, 12),
    # one with a space and a hash inside
    ("- x == ' #1'", "yaml-comment-cut", 1, 10),
    ("- x == 'a # b'", "yaml-comment-cut", 1, 11),
    ("- f(a # b)", "yaml-comment-cut", 1, 7),
    ("{when: f('x # 1')}", "yaml-comment-cut", 1, 13),
    ("about: as in issue #12", "yaml-comment-cut", 1, 20),
]

REFUSED = [
    ("a: 1\nb: 2\na: 3", "yaml-duplicate-key", 3, 1),
    ("{a: 1, 'a': 2}", "yaml-duplicate-key", 1, 8),
    ("a: &x b", "yaml-anchor", 1, 4),
    ("a: &x [b]", "yaml-anchor", 1, 4),
    ("a: *x", "yaml-alias", 1, 4),
    ("a: *x == 1", "yaml-alias", 1, 4),
    ("*x : 1", "yaml-alias", 1, 1),
    ("a: !!str x", "yaml-tag", 1, 4),
    ("a: !<x> y", "yaml-tag", 1, 4),
    ("a: !x {}", "yaml-tag", 1, 4),
    ("[a]: 1", "yaml-key", 1, 1),
    ("{{a: b}: 1}", "yaml-key", 1, 2),
    ("? |\n  a\n: 1", "yaml-key", 1, 3),
    ("? \n: 1", "yaml-key", 1, 2),
    ("a: 99999999999999999999", "yaml-number", 1, 4),
    ("a: -" + "9" * 5000, "yaml-number", 1, 4),
    ("", "yaml-empty", 1, 1),
    ("# only a comment\n", "yaml-empty", 1, 1),
    ("---\n", "yaml-empty", 1, 1),
    ("a\n---\nb", "yaml-documents", 2, 1),
    ("# x\n%YAML 1.1\n---\na", "yaml-directive", 2, 1),
    ("a:\n\tb: 1", "yaml-tab", 2, 1),
    ("a: b\x00c\x01", "yaml-character", 1, 5),
    ("a: \u2028", "yaml-character", 1, 4),
    ("a: b\rc: d", "yaml-character", 1, 5),
    ("a: \ud800", "yaml-character", 1, 4),
    ("\ufeffa: b", "yaml-bom", 1, 1),
    ("a: b\ufeff", "yaml-character", 1, 5),
    ("[" * 41 + "]" * 41, "yaml-depth", 1, 41),
    ("- " * 41 + "a", "yaml-depth", 1, 81),
    ("a: 'b\nc: d\n", "yaml-syntax", 1, 4),
    ("a: [b, c\nd: e\n", "yaml-syntax", 1, 4),
    ("a: [b, c", "yaml-syntax", 1, 4),
    ("a: 1\n   b: 2", "yaml-syntax", 2, 5),
    ("a:\n  b: 1\n c: 2", "yaml-syntax", 3, 2),
    ("a: b\n- c", "yaml-syntax", 2, 1),
    ("{a:, b: c}", "yaml-syntax", 1, 3),
    ("a: |#b", "yaml-special-start", 1, 4),
    ('a: "\\q"', "yaml-syntax", 1, 5),
    ("a\nb: c", "yaml-syntax", 2, 2),
]


@EVERY_LOADER
@pytest.mark.parametrize(("text", "code", "line", "column"), TRAPS + REFUSED)
def test_a_fault_has_its_own_code_and_place(text: str, code: str, line: int, column: int, loader: Any) -> None:
    assert faults(text, loader) == [(code, line, column)]


@pytest.mark.parametrize("text", [text for text, *_ in TRAPS + REFUSED])
def test_every_fault_says_what_is_wrong_and_what_to_do(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(text, "spec.yaml")
    assert all(found.message and found.hint for found in caught.value.diagnostics)


@EVERY_LOADER
@pytest.mark.parametrize("text", ['a: "\\ud800"', 'a: "\\U00110000"', 'a: "\\xg"'])
def test_an_escape_of_no_character_is_a_syntax_error(text: str, loader: Any) -> None:
    assert [code for code, *_ in faults(text, loader)] == ["yaml-syntax"]


@pytest.mark.parametrize(
    "text",
    [
        "about: The task's state # it's a comment",
        "about: the tasks' states # 'quoted'",
        "about: say 'no # never",
        "when: f(a, 'b') # (c)",
        "when: x != 'it'  # what's 'it'",
        "when: a#1 == b",
        "when: \"a == ' #1'\"",
        "the job's end: x",
        "first (of two): x",
        "{about: the job's end, and: more}",
        "{about: UTF-8 bytes (of a text) that is told}",
        "when: >-\n  a == 'x: y' && b == ' #1' && f([c, d])",
        "when: ([a] == b)",
        "when: f({a, b}, [c])",
        "- -x > 3",
        "a: 12 #1",
        'a: "b, (c"',
        "[" * 40 + "]" * 40,
        "a: " + "x" * 2000,
    ],
)
def test_what_only_looks_like_a_trap_is_read(text: str) -> None:
    assert faults(text) == []


def test_all_faults_are_reported_at_once_and_sorted() -> None:
    text = "a: &x 1\nb: {when: f(a, b)}\nc: - x\nd: !y"
    assert faults(text) == [("yaml-anchor", 1, 4), ("yaml-comma-in-flow", 2, 14), ("yaml-syntax", 3, 4)]
    text = "a: {x: f(a, b), y: g(c, d)}\na: ~\nb: !!int 1"
    assert [code for code, *_ in faults(text)] == [
        "yaml-comma-in-flow",
        "yaml-comma-in-flow",
        "yaml-duplicate-key",
        "yaml-tag",
    ]


def test_each_line_tells_of_its_first_refused_character() -> None:
    assert faults("a:\t1\t\nb: \x07\n\tc") == [
        ("yaml-tab", 1, 3),
        ("yaml-character", 2, 4),
        ("yaml-tab", 3, 1),
    ]


@pytest.mark.thorough
def test_too_large_a_text_is_refused_by_its_bytes() -> None:
    assert faults("a: " + "x" * (LARGEST_FILE - 3)) == []
    assert faults("a: " + "é" * (LARGEST_FILE // 2)) == [("file-too-large", 1, 1)]


# ------------------------------------------------------------------------------------------- what is read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, None) for word in ("null", "Null", "NULL", "~", "")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        *[("0", 0), ("-7", -7), ("+12", 12), ("007", 7), ("0o17", 15), ("0x1F", 31)],
        *[(word, word) for word in ("on", "off", "yes", "no", "y", "NO", "tRUE", "nULL")],
        *[(word, word) for word in ("12:30", "1_000", "2024-01-01", "1.5", "1e3", ".inf", "0b1", "0x", "-0x1")],
        *[("'1'", "1"), ('"true"', "true"), ("''", ""), ("=", "="), ("<<", "<<"), ("١", "١")],
    ],
)
def test_a_scalar_resolves_by_the_core_rules_of_yaml_1_2(text: str, value: object) -> None:
    read_back = to_plain(read(f"a: {text}\n", "f"))
    assert read_back == {"a": value}
    assert isinstance(read_back, dict)
    assert type(read_back["a"]) is type(value)


def test_keys_are_always_text() -> None:
    assert to_plain(read("{on: 1, no: 2, 1: 3, ~: 4, true: 5, '': 6}", "f")) == {
        "on": 1,
        "no": 2,
        "1": 3,
        "~": 4,
        "true": 5,
        "": 6,
    }


def test_a_mapping_is_asked_by_name() -> None:
    root = read("a: 1\nb: [x, {c: 2}]\n", "f")
    assert isinstance(root, Mapping)
    assert root.keys() == ("a", "b")
    assert root.get("a") == Scalar(1, "1", Where("f", 1, 4), "plain", root.entries[0][1].spots)  # type: ignore[union-attr] # a scalar
    assert root.key("b") is root.entries[1][0]
    assert root.get("c") is None
    assert root.key("c") is None
    inner = root.get("b")
    assert isinstance(inner, Sequence)
    assert inner.flow
    assert not root.flow


def test_a_tree_turns_into_plain_values() -> None:
    assert to_plain(read("a: [1, ~]\nb:\n  - {c: no}\n  - []", "f")) == {
        "a": [1, None],
        "b": [{"c": "no"}, []],
    }


def test_a_scalar_made_without_spots_has_one_place() -> None:
    assert Scalar("a", "a", Where("f", 3, 4), "plain").at(1) == Where("f", 3, 4)


def test_a_path_leads_to_the_deepest_place_that_exists() -> None:
    root = read("a: 1\nb:\n  - x\n  - c: 2\n1: y", "f")
    assert locate(root, []) == Where("f", 1, 1)
    assert locate(root, ["b"]) == Where("f", 3, 3)
    assert locate(root, ["b"], key=True) == Where("f", 2, 1)
    assert locate(root, ["b", 1, "c"]) == Where("f", 4, 8)
    assert locate(root, ["b", 1, "c"], key=True) == Where("f", 4, 5)
    assert locate(root, ["b", 0], key=True) == Where("f", 3, 5)
    assert locate(root, ["b", 7]) == Where("f", 3, 3)
    assert locate(root, ["b", 1, "none", "below"]) == Where("f", 4, 5)
    assert locate(root, ["a", "b"]) == Where("f", 1, 4)
    assert locate(root, ["b", "x"]) == Where("f", 3, 3)
    assert locate(root, [1]) == Where("f", 5, 4)


@pytest.mark.thorough
def test_every_spec_that_ships_is_read_without_a_fault() -> None:
    for path in sorted(SPECS.rglob("*.yaml")):
        assert isinstance(read_file(path), Mapping)


# ------------------------------------------------------------------------------------------------- files


def file_fault(path: Path, content: bytes | None = None) -> tuple[str, int, int]:
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SpecError) as caught:
        read_file(path)
    (only,) = caught.value.diagnostics
    assert only.where.file == str(path)
    assert only.hint
    return only.code, only.where.line, only.where.column


def test_a_file_that_cannot_be_read_is_a_fault_of_the_spec(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    assert file_fault(path) == ("file-not-found", 1, 1)
    assert file_fault(tmp_path) == ("file-unreadable", 1, 1)
    assert file_fault(Path("a\0b")) == ("file-unreadable", 1, 1)
    assert file_fault(path, b"a: b\r\nc: \xc3\xa9\xff") == ("file-not-utf8", 2, 5)
    assert file_fault(path, "a: b".encode("utf-16")) == ("file-not-utf8", 1, 1)
    assert file_fault(path, b"\xef\xbb\xbfa: b") == ("yaml-bom", 1, 1)
    assert file_fault(path, b"#" * (LARGEST_FILE + 1)) == ("file-too-large", 1, 1)


def test_a_file_reads_as_its_text_under_the_name_given(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_bytes("é: b\r\nc: d\r\n".encode())
    assert read_file(path, name="x") == read("é: b\nc: d\n", "x")


# --------------------------------------------------------------------------------------------- positions


def test_an_escape_is_one_character_at_its_backslash() -> None:
    (_, value) = scalars(read('a: "x\\ty\\u00e9z\\\n   \\"w"', "f"))
    assert value.text == 'x\tyéz"w'
    assert [str(value.at(index))[2:] for index in range(8)] == [
        *("1:5", "1:6", "1:8", "1:9", "1:15"),
        *("2:4", "2:6", "2:7"),
    ]


def test_an_index_outside_the_text_stays_at_its_ends() -> None:
    (_, value) = scalars(read("a: bcd", "f"))
    assert value.at(-1) == value.at(0) == value.where == Where("f", 1, 4)
    assert value.at(3) == value.at(99) == Where("f", 1, 7)


@pytest.mark.parametrize("indicator", ["|1", "|2", "|3", "|1-", ">+2 # c"])
@pytest.mark.parametrize("body", ["   \n  甲\n", "    甲\n   乙\n", "   \n", "\n    \n   丙\n\n"])
def test_an_explicit_indentation_moves_no_character(indicator: str, body: str) -> None:
    text = f"a: {indicator}\n{body}"
    for loader in LOADERS:
        try:
            (_, value) = scalars(read(text, "f", loader=loader))
        except SpecError:
            continue
        assert_places(text, value)


LINE = st.lists(st.integers(1, 3), min_size=1, max_size=3)
LINES = st.lists(st.tuples(LINE, st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=4)


def written(lines: list[tuple[list[int], int, int]], indent: str, ragged: bool) -> str:
    """Lines of words in which no character comes twice, with empty lines and deeper lines between."""
    next_char = iter(range(0x4E00, 0x9FFF))
    rows: list[str] = []
    for words, blank, deeper in lines:
        row = " ".join("".join(chr(next(next_char)) for _ in range(size)) for size in words)
        rows += [(indent + " " * (deeper if ragged and rows else 0)) + row, *([""] * blank)]
    return "\n".join(rows).strip()


def assert_places(text: str, scalar: Scalar) -> None:
    """Each character stands where the file has it, a folded line break at the break, and never backwards."""
    rows = text.split("\n")
    places = [scalar.at(index) for index in range(len(scalar.text) + 1)]
    assert places == sorted(set(places)), "no two characters at one place, and none backwards"
    for char, place in zip(scalar.text, places, strict=False):
        found = (rows[place.line - 1] + "\n")[place.column - 1]
        assert found in (char, "\\") or (char, found) == (" ", "\n")


@pytest.mark.thorough
@given(lines=LINES, depth=st.integers(0, 3), quoted=st.sampled_from(["", "'", '"']), ragged=st.booleans())
def test_flow_scalars_keep_the_places_of_their_characters(
    lines: list[tuple[list[int], int, int]], depth: int, quoted: str, ragged: bool
) -> None:
    body = written(lines, "     " + "  " * depth, ragged)
    if quoted == "'":
        body = body.replace(" ", " ''", 1)
    if quoted == '"':
        body = body.replace(" ", ' \\"\\x41\\n', 1)
    text = "# é\n" + "- " * depth + f"k: {quoted}{body}{quoted} # comment\n"
    for loader in LOADERS:
        value = scalars(read(text, "f", loader=loader))[-1]
        assert value.text.strip()
        assert_places(text, value)


@given(
    lines=LINES,
    depth=st.integers(0, 3),
    header=st.sampled_from(["|", ">", "|-", ">-", "|+", ">+", ">- # comment"]),
    tail=st.sampled_from(["", "\n", "\n\n\n", "\n\n# comment\n", "\n\nz: y\n"]),
)
def test_block_scalars_keep_the_places_of_their_characters(
    lines: list[tuple[list[int], int, int]], depth: int, header: str, tail: str
) -> None:
    indent = "  " * (depth + 1)
    outer = "- " * depth
    text = f"{outer}k: {header}\n{indent}" + written(lines, indent, ragged=True)
    text += tail if depth == 0 or "z" not in tail else "\n"
    values = {}
    for loader in LOADERS:
        root = read(text, "f", loader=loader)
        value = next(scalar for scalar in scalars(root) if scalar.style == "block")
        assert_places(text, value)
        values[loader] = value
    assert len(set(values.values())) == 1


# ------------------------------------------------------------------------------------------- any text at all

MARKS = [*"ab1 \n:-'\"[]{}(),#?!&*%|>~\\@`.=+/é😀"]
JOINED = [
    "\n  ",
    "\n- ",
    ": ",
    "- ",
    " #",
    "\n\n",
    "a: ",
    "|\n  ",
    ">-\n  a\n  b\n",
    "''",
    "\r\n",
    "|2\n    ",
]
PIECES = st.sampled_from([*MARKS, *JOINED, "\\x41", "---", "..."])
TEXTS = st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=40))


def outcome(text: str, loader: Any) -> Node | SpecError:
    try:
        return read(text, "f", loader=loader)
    except SpecError as error:
        return error


@given(TEXTS)
def test_any_text_gives_a_tree_or_a_spec_error_and_every_loader_agrees(text: str) -> None:
    first, *others = [outcome(text, loader) for loader in LOADERS]
    for other in others:
        if isinstance(first, SpecError):
            assert isinstance(other, SpecError)
        else:
            assert other == first


@given(TEXTS)
def test_every_scalar_that_is_read_knows_its_places(text: str) -> None:
    root = outcome(text, LOADERS[-1])
    if not isinstance(root, SpecError):
        for scalar in scalars(root):
            assert_places(text.replace("\r\n", "\n"), scalar)
