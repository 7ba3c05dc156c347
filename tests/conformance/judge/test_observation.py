"""Raw replies as values of the spec: their shapes, what is wrong with them and where, and how two differ."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judge.differences import Difference, InOrder, Listed, differences
from conformance.judge.observation import Observation, Something, WrongShape, files, observe
from statemachines.model import Document as Told
from statemachines.types import (
    BOOL,
    DOCUMENT,
    INT,
    NULL,
    TEXT,
    TIME,
    UNKNOWN,
    Enum,
    Id,
    List,
    Optional,
    RecordType,
    Ref,
    Text,
    Type,
)
from tests.conformance.systems import thread_job


class Stubborn(str):
    """A text that is compared with nothing, and does not show itself."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise ValueError("no comparing")

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        raise ValueError("no showing")


class Number(IntEnum):
    """A number with a name."""

    SEVEN = 7


class Texts(list[str]):
    """A list of a class of its own."""


class Failing(Mapping[str, Any]):
    """A record that fails when it is read."""

    def __getitem__(self, name: str) -> Any:
        raise ZeroDivisionError(name)

    def __iter__(self) -> Iterator[str]:
        raise ZeroDivisionError

    def __len__(self) -> int:
        return 1


def nested(depth: int) -> list[Any]:
    """A list in a list, and so on."""
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


ENDLESS: dict[str, Any] = {}
ENDLESS["self"] = ENDLESS
TOOL = Enum("Tool", ("bash", "delegate"))
PAIR = RecordType((("id", Id("Job")), ("at", Optional(TIME))), "Pair")
NOTE = RecordType((("id", Id("Job")), ("content", DOCUMENT)), "Note")

# --- shapes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        (TEXT, "", ""),
        (TEXT, "a\0b\r\n😀", "a\0b\r\n😀"),
        (Text("ToolCall"), "x", "x"),
        (Id("Job"), " {} \\ a/b", " {} \\ a/b"),
        (Ref("Thread"), "t1", "t1"),
        (BOOL, False, False),
        (INT, 0, 0),
        (INT, 2**53 - 1, 2**53 - 1),
        (INT, -(2**53 - 1), -(2**53 - 1)),
        (TIME, 7, 7),
        (TOOL, "bash", "bash"),
        (Optional(INT), None, None),
        (Optional(INT), 3, 3),
        (List(INT), (1, 2), [1, 2]),
        (List(Optional(TEXT)), [None, "x"], [None, "x"]),
        (NULL, None, None),
        (NULL, {"whatever": 1}, Something("{'whatever': 1}")),
        (PAIR, {"id": "1", "at": 5, "more": object()}, {"id": "1", "at": 5}),
        (PAIR, {"id": "1"}, {"id": "1", "at": None}),
        (PAIR, {"id": None, "at": None}, {"id": None, "at": None}),
        (Optional(PAIR), None, None),
        (DOCUMENT, {"text": ""}, Told("", inline=True)),
        (DOCUMENT, {"text": "x", "preview": 3, "size": 1}, Told("x", inline=True)),
    ],
)
def test_a_reply_of_the_right_form_is_projected_to_what_the_spec_speaks_of(kind: Type, raw: Any, value: Any) -> None:
    assert observe(kind, raw) == value


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        (TEXT, Stubborn("x"), "x"),
        (Id("Job"), Stubborn("x"), "x"),
        (TOOL, Stubborn("bash"), "bash"),
        (DOCUMENT, {"text": Stubborn("x")}, Told("x", inline=True)),
        (INT, Number.SEVEN, 7),
        (List(TEXT), Texts(["x"]), ["x"]),
        (List(UNKNOWN), [{Stubborn("x"): (Number.SEVEN, True, None)}], [{"x": [7, True, None]}]),
    ],
)
def test_a_value_of_a_class_of_its_own_is_taken_for_the_plain_one(kind: Type, raw: Any, value: Any) -> None:
    """Else what it equals would decide what is right, and what it raises would be a fault of the kit."""
    found = observe(kind, raw)
    assert found == value
    assert type(found) is type(value)


DEEP = RecordType((("name", TEXT), ("jobs", List(RecordType((("tool", TOOL), ("notes", List(NOTE)))))), ("done", BOOL)))


@pytest.mark.parametrize(
    ("kind", "raw", "path", "message"),
    [
        (TEXT, None, "", "a text is expected, and this is None"),
        (TEXT, b"x", "", "a text is expected, and this is b'x'"),
        (TEXT, 1, "", "a text is expected, and this is 1"),
        (Id("Job"), 17, "", "a text is expected, and this is 17"),
        (BOOL, 1, "", "true or false is expected, and this is 1"),
        (BOOL, "true", "", "true or false is expected"),
        (BOOL, None, "", "true or false is expected"),
        (INT, True, "", "a whole number is expected, and this is True"),
        (INT, 1.0, "", "a whole number is expected, and this is 1.0"),
        (INT, "1", "", "a whole number is expected, and this is '1'"),
        (INT, 2**53, "", "9007199254740992 is beyond ±(2^53−1)"),
        pytest.param(INT, 10**6000, "", "<int> is beyond ±(2^53−1)", id="more digits than Python writes"),
        pytest.param(INT, nested(100_000), "", "a whole number is expected, and this is [[[", id="deep"),
        (PAIR, {"id": ENDLESS}, "id", "a text is expected, and this is {'self': "),
        (TEXT, ENDLESS, "", "a text is expected, and this is {'self': {'self': "),
        (INT, Stubborn("x"), "", "a whole number is expected, and this is <Stubborn>"),
        pytest.param(TOOL, "x" * 50_000_000, "", "one of bash, delegate is expected, and this is 'xxx", id="long"),
        (TIME, -(2**53), "", "is beyond"),
        (TIME, float("nan"), "", "a whole number is expected"),
        (TOOL, "Bash", "", "one of bash, delegate is expected, and this is 'Bash'"),
        (TOOL, ["bash"], "", "one of bash, delegate is expected"),
        (TOOL, None, "", "one of bash, delegate is expected"),
        (List(INT), None, "", "a list is expected, and this is None"),
        (List(INT), {"0": 1}, "", "a list is expected"),
        (List(INT), "12", "", "a list is expected"),
        (List(INT), [1, "2"], "[1]", "a whole number is expected, and this is '2'"),
        (PAIR, [], "", "a record with id, at is expected, and this is []"),
        (PAIR, None, "", "a record with id, at is expected"),
        (PAIR, {"id": 1}, "id", "a text is expected"),
        (Optional(PAIR), 0, "", "a record with id, at is expected"),
        (DEEP, {"name": "x", "jobs": [{"tool": "bash"}, {"tool": "sh"}]}, "jobs[1].tool", "one of bash"),
        (DEEP, {"jobs": [{"notes": [{"content": {}}]}]}, "jobs[0].notes[0].content", '{"text": …} or'),
        (DEEP, {"jobs": [{"notes": [{"content": {"text": 1}}]}]}, "jobs[0].notes[0].content.text", "a text"),
        (DOCUMENT, "x", "", '{"text": …} or {"file": PATH} is expected, and this is \'x\''),
        (DOCUMENT, {"text": "x", "file": "y"}, "", '{"text": …} or {"file": PATH} is expected'),
        (DOCUMENT, {"text": None}, "", '{"text": …} or {"file": PATH} is expected'),
        (DOCUMENT, {"file": 3}, ".file", "the path of a file is expected"),
        (DOCUMENT, {"file": "there is no such file"}, ".file", "cannot be read"),
        (DOCUMENT, {"file": "no\0path"}, ".file", "cannot be read"),
        (DOCUMENT, {"file": "."}, ".file", "cannot be read"),
    ],
)
def test_a_reply_of_another_form_is_refused_with_the_path_to_the_part(
    kind: Type, raw: Any, path: str, message: str
) -> None:
    with pytest.raises(WrongShape) as refused:
        observe(kind, raw)
    assert refused.value.path == path
    assert message in refused.value.message
    assert str(refused.value) == (f"{path}: {refused.value.message}" if path else refused.value.message)


def test_a_long_reply_is_cut_in_the_message() -> None:
    with pytest.raises(WrongShape) as refused:
        observe(INT, "x" * 10_000)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "raw",
    [
        Failing(),
        [Failing()],
        pytest.param(nested(100_000), id="deep"),
        [ENDLESS],
    ],
)
def test_what_fails_when_it_is_read_is_of_a_wrong_form(raw: Any) -> None:
    observation = Observation(thread_job())
    for signal in (raw, {"signal": raw}, {"signal": "TurnTriggered", "thread": raw}):
        with pytest.raises(WrongShape):
            observation.signal(signal)
    for reply in (raw, {"mode": raw}):
        with pytest.raises(WrongShape):
            observation.reply("start", reply)


# --- documents in files -----------------------------------------------------------------------------------


def spilled(folder: Path, content: bytes) -> dict[str, Any]:
    path = folder / "payload.txt"
    path.write_bytes(content)
    return {"file": str(path)}


@pytest.mark.parametrize("text", ["", "x", "a\r\nb\rc\n", "😀é", "\ufeffx", "a\0b"])
def test_a_file_is_read_byte_for_byte(tmp_path: Path, text: str) -> None:
    told = observe(DOCUMENT, spilled(tmp_path, text.encode()))
    assert (told.text, told.inline) == (text, False)
    assert told.file == str(tmp_path / "payload.txt")


def test_a_file_may_be_named_by_a_path(tmp_path: Path) -> None:
    named = spilled(tmp_path, b"x")
    assert observe(DOCUMENT, {"file": Path(named["file"])}) == observe(DOCUMENT, named)


def test_a_file_that_is_not_utf_8_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(WrongShape, match="cannot be read"):
        observe(DOCUMENT, spilled(tmp_path, b"\xff\xfe"))


@pytest.mark.parametrize("preview", [None, "", "a", "a tex"])
def test_a_preview_may_be_any_beginning_of_the_text(tmp_path: Path, preview: str | None) -> None:
    raw = {**spilled(tmp_path, b"a text"), "preview": preview}
    assert observe(DOCUMENT, raw) == Told("a text", inline=False)


@pytest.mark.parametrize("preview", ["a text", "a text and more", "text", "A", 3, ["a"]])
def test_a_preview_is_neither_the_whole_text_nor_anything_else(tmp_path: Path, preview: Any) -> None:
    with pytest.raises(WrongShape) as refused:
        observe(DOCUMENT, {**spilled(tmp_path, b"a text"), "preview": preview})
    assert refused.value.path == ".preview"


def test_files_that_may_be_lost_are_as_good_as_any_long_text(tmp_path: Path) -> None:
    raw = {"id": "1", "content": {"file": str(tmp_path / "gone.txt")}}
    with pytest.raises(WrongShape, match=r"content\.file"):
        observe(NOTE, raw)
    lost = observe(NOTE, raw, lost=True)
    assert not any(differences(NOTE, {"id": "1", "content": Told("all of it", inline=False)}, lost))
    inline = {"id": "1", "content": Told("all of it", inline=True)}
    assert [each.path for each in differences(NOTE, inline, lost)] == ["content"]


def test_files_that_may_be_lost_are_read_when_they_are_there(tmp_path: Path) -> None:
    told = observe(DOCUMENT, spilled(tmp_path, b"other"), lost=True)
    assert [each.path for each in differences(DOCUMENT, Told("text", inline=False), told)] == [""]


def test_every_file_is_found_with_the_record_that_it_belongs_to() -> None:
    kind = RecordType((("notes", List(NOTE)), ("last", Optional(NOTE)), ("content", DOCUMENT)))
    one, two = [{"id": name, "content": Told("x", inline=False, file=f"{name}.txt")} for name in "ab"]
    inline = {"id": "c", "content": Told("x", inline=True)}
    value = {"notes": [one, inline], "last": two, "content": None}
    assert list(files(kind, value)) == [(one, "a.txt"), (two, "b.txt")]
    assert list(files(kind, {"notes": [], "last": None, "content": None})) == []


# --- differences ------------------------------------------------------------------------------------------


def told(kind: Type, expected: Any, seen: Any, **more: Any) -> list[tuple[str, Any, Any]]:
    return [(each.path, each.expected, each.seen) for each in differences(kind, expected, seen, **more)]


@pytest.mark.parametrize(
    ("kind", "expected", "seen", "found"),
    [
        (INT, 1, 1, []),
        (INT, 1, 2, [("", 1, 2)]),
        (Optional(INT), None, 0, [("", None, 0)]),
        (Optional(INT), 0, None, [("", 0, None)]),
        (PAIR, {"id": "1", "at": 2}, {"id": "1", "at": 3}, [("at", 2, 3)]),
        (PAIR, {"id": "1", "at": 2}, {"id": "2", "at": 3}, [("id", "1", "2"), ("at", 2, 3)]),
        (PAIR, {"id": "1", "at": 2}, {"id": None, "at": 2}, [("id", "1", None)]),
        (Optional(PAIR), {"id": "1", "at": 2}, None, [("", {"id": "1", "at": 2}, None)]),
        (List(INT), [1, 2], [2, 1], [("[0]", 1, 2), ("[1]", 2, 1)]),
        (List(INT), [1], [1, 1], [("", [1], [1, 1])]),
        (List(INT, unordered=True), [1, 2, 3], [3, 1, 2], []),
        (List(INT, unordered=True), [1, 1, 2], [1, 2, 2], [("[1]", 1, 2)]),
        (DOCUMENT, Told("x", inline=True), Told("x", inline=False, file="f"), ...),
        (DOCUMENT, Told("x", inline=False, file="f"), Told("x", inline=False, file="g"), []),
        (DOCUMENT, Told("x", inline=True), Told("y", inline=True), ...),
    ],
)
def test_two_values_differ_where_they_differ(kind: Type, expected: Any, seen: Any, found: Any) -> None:
    wanted = [("", expected, seen)] if found is ... else found
    assert told(kind, expected, seen) == wanted


def records(*ids: str) -> list[dict[str, Any]]:
    return [{"id": name, "at": index} for index, name in enumerate(ids)]


@pytest.mark.parametrize("unordered", [False, True])
@pytest.mark.parametrize(
    ("expected", "seen", "identity", "there"),
    [("ab", "a", "b", True), ("a", "ab", "b", False), ("ab", "ac", "b", True), ("", "a", "a", False)],
)
def test_a_record_too_many_or_too_few_is_named(
    unordered: bool, expected: str, seen: str, identity: str, there: bool
) -> None:
    (found,) = differences(List(PAIR, unordered), records(*expected), records(*seen))
    assert found == Difference("", Listed("id", identity, there), Listed("id", identity, not there))
    assert repr(found.expected) == f"{identity!r} {'in' if there else 'missing from'} the list"


def test_a_record_listed_twice_is_a_longer_list() -> None:
    expected, seen = records("a"), records("a", "a")
    assert told(List(PAIR), expected, seen) == [("", expected, seen)]


def test_another_order_is_told_as_an_order_where_order_counts() -> None:
    expected, seen = records("a", "b", "c"), [records("a", "b", "c")[index] for index in (2, 0, 1)]
    (found,) = differences(List(PAIR), expected, seen)
    assert (found.expected, found.seen) == (InOrder("id", ("a", "b", "c")), InOrder("id", ("c", "a", "b")))
    assert repr(found.seen) == "the order 'c', 'a', 'b'"
    assert told(List(PAIR, unordered=True), expected, seen) == []


def test_instants_count_only_where_they_can_be_compared() -> None:
    expected, seen = {"id": "1", "at": 2}, {"id": "1", "at": 99}
    assert told(PAIR, expected, seen, instants=False) == []
    assert told(PAIR, expected, {"id": "1", "at": None}, instants=False) == [("at", 2, None)]
    assert told(List(PAIR, unordered=True), [expected], [seen], instants=False) == []


def test_records_out_of_order_are_compared_with_their_likes() -> None:
    expected, seen = records("a", "b"), [{"id": "b", "at": 7}, {"id": "a", "at": 0}]
    assert told(List(PAIR, unordered=True), expected, seen) == [("[1].at", 1, 7)]


# --- any type, any value ----------------------------------------------------------------------------------

Leaf = tuple[str, ...]
LEAVES: list[tuple[Type, st.SearchStrategy[Any]]] = [
    (TEXT, st.text(max_size=3)),
    (BOOL, st.booleans()),
    (INT, st.integers(-(2**53) + 1, 2**53 - 1)),
    (TIME, st.integers(0, 1000)),
    (TOOL, st.sampled_from(TOOL.members)),
]


@st.composite
def typed_values(draw: st.DrawFn, depth: int = 3) -> tuple[Type, Any, Any]:
    """A type, a value of it, and the same value with fields beside it that nobody knows."""
    form = draw(st.sampled_from(["leaf", "leaf", "record", "list", "optional"] if depth else ["leaf"]))
    if form == "leaf":
        kind, strategy = draw(st.sampled_from(LEAVES))
        value = draw(strategy)
        return kind, value, value
    inner, value, raw = draw(typed_values(depth - 1))
    if form == "optional":
        kind = inner if isinstance(inner, Optional) else Optional(inner)
        there = draw(st.booleans())
        return kind, value if there else None, raw if there else None
    if form == "list":
        count = draw(st.integers(0, 3))
        return List(inner, draw(st.booleans())), [value] * count, (raw,) * count
    second, other, other_raw = draw(typed_values(depth - 1))
    kind = RecordType((("one", inner), ("two", second)))
    return kind, {"one": value, "two": other}, {"more": 1, "one": raw, "two": other_raw}


def leaves(kind: Type, value: Any, path: str = "") -> list[str]:
    """The paths to every part that is neither a record nor a list."""
    match kind:
        case Optional(item=item):
            return [] if value is None else leaves(item, value, path)
        case RecordType(fields=fields):
            return [
                each
                for name, inner in fields
                if value[name] is not None
                for each in leaves(inner, value[name], f"{path}.{name}" if path else name)
            ]
        case List(item=item):
            return [each for index, one in enumerate(value) for each in leaves(item, one, f"{path}[{index}]")]
        case _:
            return [path]


def changed(value: Any, path: str, new: Any) -> Any:
    """A copy with the part at a path replaced."""
    if not path:
        return new
    if path.startswith("["):
        number, _, rest = path[1:].partition("]")
        return [
            changed(each, rest.removeprefix("."), new) if index == int(number) else each
            for index, each in enumerate(value)
        ]
    name = path.partition(".")[0].partition("[")[0]
    return {**value, name: changed(value[name], path.removeprefix(name).removeprefix("."), new)}


@settings(max_examples=40)
@given(typed_values())
def test_what_is_observed_is_the_value_without_what_nobody_knows(case: tuple[Type, Any, Any]) -> None:
    kind, value, raw = case
    assert observe(kind, raw) == value
    assert observe(kind, observe(kind, raw)) == value
    assert list(differences(kind, value, observe(kind, raw))) == []
    assert list(differences(kind, value, value, instants=False)) == []


@given(typed_values(), st.randoms(use_true_random=False))
def test_a_wrong_part_is_refused_at_its_path(case: tuple[Type, Any, Any], choice: random.Random) -> None:
    kind, value, raw = case
    paths = leaves(kind, value)
    if paths:
        path = choice.choice(paths)
        with pytest.raises(WrongShape) as refused:
            observe(kind, changed(raw, path, object()))
        assert refused.value.path == path


@given(typed_values(), st.randoms(use_true_random=False))
def test_a_changed_part_is_the_one_difference_and_both_ways(case: tuple[Type, Any, Any], choice: random.Random) -> None:
    kind, value, _ = case
    paths = leaves(kind, value)
    if paths:
        path, new = choice.choice(paths), object()
        seen = changed(value, path, new)
        found = list(differences(kind, value, seen))
        assert len(found) == 1
        assert any(differences(kind, seen, value))
        if "[" not in path:
            assert (found[0].path, found[0].seen) == (path, new)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=5), st.randoms())
def test_an_unordered_list_is_compared_as_a_bag(pairs: list[tuple[str, int]], choice: random.Random) -> None:
    expected = [{"id": name, "at": at} for name, at in pairs]
    seen = choice.sample(expected, len(expected))
    assert list(differences(List(PAIR, unordered=True), expected, seen)) == []
    if expected:
        odd = [*seen[:-1], {**seen[-1], "at": 7}]
        assert any(differences(List(PAIR, unordered=True), expected, odd))
        assert any(differences(List(PAIR, unordered=True), expected, seen[:-1]))


def test_what_is_none_of_a_document_is_as_if_it_were_absent(tmp_path: Path) -> None:
    file = tmp_path / "spilled.txt"
    file.write_text("long", encoding="utf-8")
    assert observe(DOCUMENT, {"file": str(file), "text": None}) == observe(DOCUMENT, {"file": str(file)})
    assert observe(DOCUMENT, {"file": None, "text": "short"}) == observe(DOCUMENT, {"text": "short"})
