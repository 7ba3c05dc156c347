"""What every generated model shares: the listed functions by hand, documents, decisions, and the clock."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statemachines import model
from statemachines.compile import Compiled, load
from statemachines.model import (
    ABSENT,
    ACCEPT,
    ANYTHING,
    CHOSEN,
    NOTHING,
    BaseModel,
    Decision,
    Descending,
    Document,
    Impossible,
    Measured,
    Outcome,
    Restless,
    SuchAs,
    Timer,
    byte_length,
    declared_keys,
    distinct,
    document,
    drop,
    exemplary,
    flatten,
    item,
    line_count,
    numbers,
    ordinal_id,
    quotient,
    remainder,
    reversed_,
    same_items,
    sized_text,
    take,
    with_key,
)
from statemachines.quiescence import of_its_own, settled
from statemachines.rows.spelling import shown
from tests.checking import compile_text

# ── The listed functions ─────────────────────────────────────────────────────────────────────────

RECORD = {"a": 1}  # a value without a hash


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        (item, ([5, 6], 0), 5),
        (item, ([5, 6], 1), 6),
        (item, ((5, 6), 1), 6),
        (with_key, ({"a": "A"}, "a"), ("A",)),
        (with_key, ({"a": "A"}, "b"), ()),
        (with_key, ({"a": "A"}, None), ()),
        (quotient, (7, 2), 3),
        (quotient, (-7, 2), -3),
        (quotient, (7, -2), -3),
        (quotient, (-7, -2), 3),
        (quotient, (0, -5), 0),
        (quotient, (1, 5), 0),
        (quotient, (-1, 5), 0),
        (quotient, (2**63, -1), -(2**63)),
        (quotient, (2**80 + 1, 2**40), 2**40),
        (remainder, (7, 2), 1),
        (remainder, (-7, 2), -1),
        (remainder, (7, -2), 1),
        (remainder, (-7, -2), -1),
        (remainder, (6, 3), 0),
        (remainder, (-6, 3), 0),
        (distinct, ([],), []),
        (distinct, ([2, 1, 2, 3, 1],), [2, 1, 3]),
        (distinct, ((x for x in "abca"),), ["a", "b", "c"]),
        (distinct, ([RECORD, {"a": 2}, {"a": 1}],), [RECORD, {"a": 2}]),
        (distinct, ([[1], [1], []],), [[1], []]),
        (distinct, ([Document("a", inline=True), Document("a", inline=True)],), [Document("a", inline=True)]),
        (flatten, ([],), []),
        (flatten, ([[], [1, 2], [], [3]],), [1, 2, 3]),
        (flatten, ([[[1]], [[2]]],), [[1], [2]]),
        (flatten, (["ab", "c"],), ["a", "b", "c"]),
        (take, ([1, 2, 3], 2), [1, 2]),
        (take, ([1, 2, 3], 0), []),
        (take, ([1, 2, 3], -1), []),
        (take, ([1, 2, 3], 9), [1, 2, 3]),
        (take, ((1, 2, 3), 1), [1]),
        (drop, ([1, 2, 3], 2), [3]),
        (drop, ([1, 2, 3], 0), [1, 2, 3]),
        (drop, ([1, 2, 3], -1), [1, 2, 3]),
        (drop, ([1, 2, 3], 9), []),
        (drop, ((1, 2, 3), 1), [2, 3]),
        (reversed_, ([],), []),
        (reversed_, ([1, 2, 3],), [3, 2, 1]),
        (reversed_, ((1, 2),), [2, 1]),
        (same_items, ([], []), True),
        (same_items, ([1, 2, 1], [1, 1, 2]), True),
        (same_items, ([1, 2, 1], [1, 2, 2]), False),
        (same_items, ([1], [1, 1]), False),
        (same_items, ([1, 1], [1]), False),
        (same_items, ([RECORD, {"a": 2}], [{"a": 2}, {"a": 1}]), True),
        (same_items, ([RECORD, RECORD], [RECORD, {"a": 2}]), False),
        (same_items, ([RECORD], [RECORD, RECORD]), False),
        (same_items, ([RECORD, RECORD], [RECORD]), False),
        (same_items, ([None, RECORD], [RECORD, None]), True),
        (same_items, ((x for x in (2, 1)), (x for x in (1, 2))), True),
        (byte_length, ("",), 0),
        (byte_length, ("aé€😀",), 10),
        (byte_length, ("\ud800",), 3),
        (line_count, ("",), 1),
        (line_count, ("a",), 1),
        (line_count, ("a\n",), 2),
        (line_count, ("\n\n",), 3),
        (line_count, ("a\r\nb\rc\x0bd\u2028e",), 2),
        (numbers, (3,), [0, 1, 2]),
        (numbers, (0,), []),
        (numbers, (-2,), []),
        (sized_text, ("a", 1), "a"),
        (sized_text, ("ab", 5), "ababx"),
        (sized_text, ("é", 5), "ééx"),
        (sized_text, ("😀", 3), "xxx"),
        (sized_text, ("a", 3, 2), "x\na"),
        (sized_text, ("ab", 9, 3), "x\nx\nababx"),
    ],
)
def test_a_listed_function_gives(function: Callable[..., Any], arguments: tuple[Any, ...], value: Any) -> None:
    found = function(*arguments)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("function", "arguments", "error"),
    [
        (item, ([], 0), IndexError),
        (item, ([5], 1), IndexError),
        (item, ([5], -1), IndexError),
        (quotient, (1, 0), ZeroDivisionError),
        (remainder, (1, 0), ZeroDivisionError),
        (sized_text, ("a", 0), ValueError),
        (sized_text, ("a", -1), ValueError),
        (sized_text, ("", 3), ValueError),
        (sized_text, ("a", 2, 2), ValueError),
        (sized_text, ("a", 4, 3), ValueError),
        (sized_text, ("a", 3, 0), ValueError),
        (sized_text, ("a", 3, -1), ValueError),
        (sized_text, ("a\n", 4), ValueError),
        (sized_text, ("\n", 3, 2), ValueError),
    ],
)
def test_a_listed_function_refuses(
    function: Callable[..., Any], arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        function(*arguments)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(take, (2,)), (drop, (1,)), (reversed_, ()), (distinct, ()), (flatten, ())],
)
def test_a_listed_function_leaves_its_list_alone(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    values = [[3], [1], [3]]
    found = function(values, *arguments)
    found.append("more")
    assert values == [[3], [1], [3]]


def test_same_items_leaves_both_lists_alone() -> None:
    left, right = [RECORD, {"a": 2}], [{"a": 2}, RECORD]
    assert same_items(left, right)
    assert (left, right) == ([RECORD, {"a": 2}], [{"a": 2}, RECORD])


NUMBERS = st.integers(-(2**70), 2**70)


@given(NUMBERS, NUMBERS.filter(bool))
def test_quotient_and_remainder_make_the_left_side_again(left: int, right: int) -> None:
    whole, rest = quotient(left, right), remainder(left, right)
    assert whole * right + rest == left
    assert abs(rest) < abs(right)
    assert rest == 0 or (rest < 0) == (left < 0)
    assert whole == 0 or (whole < 0) == ((left < 0) != (right < 0))


PIECES = st.text(st.characters(exclude_characters="\n"), min_size=1, max_size=5)


@given(PIECES, st.integers(1, 5), st.integers(0, 60))
def test_a_sized_text_has_exactly_so_many_bytes_in_so_many_full_lines(piece: str, lines: int, more: int) -> None:
    size = 2 * lines - 1 + more
    text = sized_text(piece, size, lines)
    assert (byte_length(text), line_count(text)) == (size, lines)
    assert all(text.split("\n"))
    assert text.count(piece) >= (more + 1) // byte_length(piece)


@given(st.lists(st.integers(0, 3)), st.integers(-2, 6))
def test_what_is_taken_and_what_is_dropped_make_the_list(values: list[int], count: int) -> None:
    assert take(values, count) + drop(values, count) == values
    assert len(take(values, count)) == min(max(count, 0), len(values))


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_values_with_and_without_a_hash_are_treated_alike(left: list[int], right: list[int]) -> None:
    wrapped, other = [[value] for value in left], [[value] for value in right]
    assert distinct(wrapped) == [[value] for value in distinct(left)]
    assert same_items(wrapped, other) == same_items(left, right) == (sorted(left) == sorted(right))


# ── Documents ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "max_bytes", "max_lines", "inline"),
    [
        ("", 0, 1, True),
        ("", 0, 0, False),
        ("é", 2, None, True),
        ("é", 1, None, False),
        ("a\nb", None, 2, True),
        ("a\nb", None, 1, False),
        ("a\nb", 3, 2, True),
        ("a\nb", 2, 2, False),
        ("a\nb", 3, 1, False),
        ("a\nb\n", 9, 2, False),
        ("x" * 99, None, None, True),
    ],
)
def test_a_document_is_inline_within_both_limits(
    text: str, max_bytes: int | None, max_lines: int | None, inline: bool
) -> None:
    told = document(text, max_bytes, max_lines)
    assert (told.text, told.inline, told.file) == (text, inline, None)


def test_a_long_value_is_not_cut_within_a_short_word() -> None:
    document = Document("x", inline=True)
    told = shown(["y" * 90, document, document, document, document, document])
    assert told == f"['{'y' * 90}', … byte, 1 line, 'x'>, <inline: 1 byte, 1 line, 'x'>]"
    assert shown("y" * 200) == f"'{'y' * 99} … {'y' * 49}'"


def test_documents_are_equal_by_their_text_and_how_it_is_told() -> None:
    inline, filed = Document("a", inline=True), Document("a", inline=False, file="one")
    assert inline == Document("a", inline=True)
    assert filed == Document("a", inline=False, file="another")
    assert inline != filed
    assert inline != Document("b", inline=True)
    assert inline != "a"
    assert hash(filed) == hash(Document("a", inline=False))
    assert len({inline, filed, Document("a", inline=True), Document("a", inline=False)}) == 2


def test_a_document_is_shown_by_its_size_and_how_its_text_begins() -> None:
    assert repr(Document("é\n", inline=True)) == r"<inline: 3 bytes, 2 lines, 'é\n'>"
    assert repr(Document("x" * 5000, inline=False)) == "<file: 5000 bytes, 1 line, 'xxxxxxxxxxxx'…>"
    assert repr(Document("x", inline=True)) == "<inline: 1 byte, 1 line, 'x'>"


# ── Order ────────────────────────────────────────────────────────────────────────────────────────


def test_a_descending_key_turns_the_order_round() -> None:
    words = [("b", 1), ("a", 1), ("c", 2)]
    assert sorted(words, key=lambda word: (word[1], Descending(word[0]))) == [("b", 1), ("a", 1), ("c", 2)]
    assert Descending(2) < Descending(1)
    assert not Descending(1) < Descending(1)
    assert Descending(1) == Descending(1)
    assert Descending(1) != Descending(2)
    assert Descending(1) != 1
    assert hash(Descending("a")) == hash(Descending("a"))


def test_declared_keys_read_shown_fields_up_or_down() -> None:
    fields = {"started_at": 3, "job_id": "a"}
    assert declared_keys([], fields) == ()
    assert declared_keys(["job_id", "started_at"], fields) == ("a", 3)
    assert declared_keys(["started_at desc", "job_id"], fields) == (Descending(3), "a")
    assert declared_keys(["started_at asc"], fields) == (3,)
    with pytest.raises(KeyError, match="nothing"):
        declared_keys(["nothing desc"], fields)


# ── What a step says ─────────────────────────────────────────────────────────────────────────────


def test_a_decision_allows_nothing_that_it_does_not_name() -> None:
    nothing = Decision()
    assert (nothing.refuse, nothing.accept, nothing.idle, nothing.may, nothing.clauses) == (
        *((), False, False, ()),
        (),
    )
    refusal = Decision(("gone",), may=(("Told", (("job", 1),)),), clauses=(3, 5))
    assert (refusal.refuse, refusal.accept, refusal.may, refusal.clauses) == (
        ("gone",),
        False,
        (("Told", (("job", 1),)),),
        (3, 5),
    )


def test_accepting_is_one_decision_for_all() -> None:
    assert (ACCEPT.refuse, ACCEPT.accept, ACCEPT.idle, ACCEPT.may, ACCEPT.clauses) == (
        (),
        True,
        False,
        (),
        (),
    )


def test_an_outcome_is_empty_unless_it_says_otherwise() -> None:
    for empty in (Outcome(), NOTHING):
        assert (empty.value, empty.signals, empty.may, empty.again) == (None, (), (), ())
    full = Outcome(1, (("A", ()),), (("B", ()),), (("C", ()),))
    assert (full.value, full.signals, full.may, full.again) == (1, (("A", ()),), (("B", ()),), (("C", ()),))


@pytest.mark.parametrize("value", [Decision(), Outcome(), Document("", inline=True), Descending(1)])
def test_a_value_takes_no_attribute_by_mistake(value: object) -> None:
    with pytest.raises(AttributeError):
        value.nothing = 1  # type: ignore[attr-defined]  # that there is no such attribute is the point


def test_an_example_is_what_rows_see_and_hides_in_no_part() -> None:
    value = {"text": SuchAs("about"), "jobs": [{"ms": SuchAs(5)}], "kept": None}
    assert exemplary(value) == {"text": "about", "jobs": [{"ms": 5}], "kept": None}
    assert repr(SuchAs(5)) == "such as 5"
    assert SuchAs(5) == SuchAs(5) != SuchAs(6)
    assert len({SuchAs([]), SuchAs([])}) == 1


def test_an_absent_argument_is_like_no_value() -> None:
    assert repr(ABSENT) == "ABSENT"
    assert ABSENT not in (None, False, 0, "", "*")


def test_an_impossible_step_names_its_clause() -> None:
    error = Impossible("entities.Job.id", "the id was given twice")
    assert (error.clause, error.message, str(error)) == (
        "entities.Job.id",
        "the id was given twice",
        "the id was given twice",
    )


# ── The part that every model shares ─────────────────────────────────────────────────────────────


class Lamp(BaseModel):
    """Goes out 10 ms after it was lit, or some time later; once out, it has to be counted; it may flicker at any time."""

    CLAUSES = ("lit", "out", "counted")
    LIMITS: Mapping[str, int | None] = {"burns": 10, "most": None}
    POLICIES: Mapping[str, Any] = {"tie": "id"}

    def reset(self) -> None:
        self.now = self.slack = 0
        self.lit: dict[str, int] = {}
        self.uncounted: list[str] = []
        self.history: list[tuple[int, str]] = []

    def next_ordinal(self, entity: str, prefix: str = "", size: int | None = None) -> str:
        return ordinal_id(entity, prefix, size, len(self.history))

    def own_steps(self) -> list[tuple[int, tuple[Any, ...], bool]]:
        return [(0, (), False), *((1, (name,), True) for name in self.uncounted)]

    def take(self, index: int, keys: tuple[Any, ...], already: Any = None) -> Outcome:
        (name,) = keys
        self.seen[2] = 1
        self.uncounted.remove(name)
        self.history.append((self.now, f"counted {name}"))
        return Outcome(f"counted {name}")

    def deadlines(self) -> list[Timer]:
        burns = self.limits.burns
        return [(since + burns, since + burns + self.slack, 0, name) for name, since in self.lit.items()]

    def fire(self, index: int, key: Any) -> Outcome:
        self.seen[1] = 1
        del self.lit[key]
        self.uncounted.append(key)
        self.history.append((self.now, f"out {key}"))
        return Outcome(f"out {key}")


def test_a_model_takes_its_limits_and_policies_from_the_spec_unless_they_are_declared() -> None:
    plain, declared = Lamp(), Lamp({"burns": 3}, {"tie": "start"})
    assert vars(plain.limits) == {"burns": 10, "most": None}
    assert vars(declared.limits) == {"burns": 3, "most": None}
    assert (vars(plain.policies), vars(declared.policies)) == ({"tie": "id"}, {"tie": "start"})
    assert Lamp.LIMITS == {"burns": 10, "most": None}
    assert plain.minted("job") == "job-0"


@cache
def thread_job() -> Compiled:
    return load("thread-job")


@pytest.mark.parametrize(
    ("limits", "policies", "said"),
    [
        ({"retaned": 3}, None, "thread-job has no limit 'retaned'; did you mean 'retained'?"),
        ({"zzz": 3}, None, "thread-job has no limit 'zzz'; known: retained, max_bytes, max_lines"),
        ({"retained": "3"}, None, "limit retained is a whole number from 0 on, and this is '3'"),
        ({"retained": -1}, None, "limit retained is a whole number from 0 on, and this is -1"),
        ({"retained": True}, None, "limit retained is a whole number from 0 on, and this is True"),
        ([3], None, "limits is a mapping from names to values, and this is [3]"),
        (None, {"ties": "id"}, "thread-job has no policy 'ties'; did you mean 'tie'?"),
        (None, {"tie": "coin"}, "policy tie is one of "),
        (None, "tie", "policies is a mapping from names to values, and this is 'tie'"),
    ],
)
def test_a_model_is_not_made_with_limits_or_policies_that_the_life_cycle_does_not_have(
    limits: Any, policies: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        thread_job().model(limits, policies)


def test_what_is_looked_at_in_a_prompt_fits_on_a_line() -> None:
    compiled = thread_job()
    clauses, rows = len(compiled.kernel.clauses), len(compiled.lifecycle.rows)
    assert repr(compiled) == f"<life cycle thread-job, revision 1: {clauses} clauses, {rows} rows>"
    assert repr(NOTHING) == "Outcome()"
    assert repr(Outcome(0, may=(("told", ()),))) == "Outcome(may=(('told', ()),), value=0)"
    assert repr(ACCEPT) == "Decision(accept=True)"
    assert repr(Decision(("busy",), clauses=(1, 4))) == "Decision(clauses=(1, 4), refuse=('busy',))"
    asked = {"thread": "t1", "tool_call": "call-1", "tool": "bash"}
    shown = repr(compiled.model({"retained": 3}).do("start", asked))
    assert re.fullmatch(r"Outcome\(value=\{'mode': 'background', 'job_id': 'job-\d', 'status': 'running'\}\)", shown)


def test_a_minted_id_begins_as_it_has_to_and_has_so_many_characters() -> None:
    lamp = Lamp()
    assert lamp.minted("Job", "x") == "x-0"
    assert lamp.minted("Job", "s", 9) == "s00000000"
    lamp.mint = lambda *_: "sabc"
    assert lamp.minted("Job", "s", 4) == "sabc"
    assert lamp.minted("Job", "sabc") == "sabc"  # nobody says that more has to follow
    for prefix, size, wanted in (
        ("a", None, "an id that begins with 'a'"),
        ("s", 5, "an id that begins with 's' and has 5 characters"),
    ):
        with pytest.raises(Impossible) as caught:
            lamp.minted("Job", prefix, size)
        assert (caught.value.clause, caught.value.wanted) == ("entities.Job.id", wanted)


def test_the_clock_stops_at_every_deadline_on_its_way_and_comes_to_rest_there() -> None:
    lamp = Lamp()
    lamp.lit = {"b": 5, "a": 0, "c": 5}
    assert [outcome.value for outcome in lamp.wait(16)] == [
        "out a",
        "counted a",
        "out b",
        "counted b",
        "out c",
        "counted c",
    ]
    assert lamp.history == [
        *((10, "out a"), (10, "counted a")),
        *((15, "out b"), (15, "counted b"), (15, "out c"), (15, "counted c")),
    ]
    assert lamp.now == 16
    assert lamp.wait(4) == []
    assert lamp.now == 20


def test_what_is_due_at_the_end_of_a_wait_may_come_before_a_call_or_after_it() -> None:
    late, prompt = Lamp(), Lamp()
    late.lit, prompt.lit = {"a": 5, "b": 9}, {"a": 5, "b": 9}
    assert late.wait(15) == []
    assert late.due() == [(15, 15, 0, "a")]
    assert [outcome.value for outcome in prompt.wait(15, prompt=True)] == ["out a", "counted a"]
    assert prompt.due() == []
    assert late.wait(0) == []
    assert [outcome.value for outcome in late.wait(1)] == ["out a", "counted a"]
    assert late.history == prompt.history == [(15, "out a"), (15, "counted a")]


def test_within_a_window_a_timer_fires_at_its_end_or_promptly_at_its_beginning() -> None:
    late, prompt = Lamp(), Lamp()
    for lamp in (late, prompt):
        lamp.slack, lamp.lit = 3, {"a": 0}
        lamp.wait(20, prompt=lamp is prompt)
    assert (prompt.history[0], late.history[0]) == ((10, "out a"), (13, "out a"))


def test_the_clock_does_not_go_back_to_a_deadline_that_was_missed() -> None:
    lamp = Lamp()
    lamp.now, lamp.lit = 100, {"a": 0}
    lamp.wait(1)
    assert lamp.history == [(100, "out a"), (100, "counted a")]


def test_a_deadline_beyond_the_wait_is_left_alone() -> None:
    lamp = Lamp()
    lamp.lit = {"a": 0}
    assert lamp.wait(9) == []
    assert (lamp.now, lamp.lit) == (9, {"a": 0})


def test_a_wait_gives_up_where_more_timers_fire_than_it_may_pass() -> None:
    lamps = [Lamp(), Lamp()]
    for lamp in lamps:
        lamp.lit = {"a": 0, "b": 1}
    assert len(lamps[0].wait(20, most=2)) == 4
    with pytest.raises(Restless):
        lamps[1].wait(20, most=1)


class Tolling(BaseModel):
    """A bell that has to toll for ever, and cannot be rung in one of its two places."""

    __slots__ = ("place", "stuck")

    def reset(self) -> None:
        self.now, self.place, self.stuck = 0, 0, False

    def freeze(self) -> tuple[Any, ...]:
        return (self.now, self.place, self.stuck)

    def thaw(self, frozen: tuple[Any, ...]) -> None:
        self.now, self.place, self.stuck = frozen

    def own_steps(self) -> list[tuple[int, tuple[Any, ...], bool]]:
        return [(0, (), True)]

    def deadlines(self) -> list[Timer]:
        return []

    def take(self, index: int, keys: tuple[Any, ...], already: Any = None) -> Outcome:
        if self.stuck and self.place:
            raise Impossible("on its own", "null has no order", "an order")
        self.place = 1 - self.place
        return Outcome(None, (("Tolled", ()),))


@pytest.mark.parametrize("stuck", [False, True])
def test_what_never_rests_and_what_cannot_be_leads_to_no_model_at_rest(stuck: bool) -> None:
    bell = Tolling()
    bell.stuck = stuck
    assert list(settled(bell)) == []
    steps = [taken for _, taken in of_its_own(bell, 10, lambda steps: len(steps) > 3)]
    assert len(steps) == (2 if stuck else 4)


def test_settling_takes_the_steps_that_must_be_and_none_that_may_be() -> None:
    lamp = Lamp()
    lamp.uncounted = ["a", "b"]
    assert [outcome.value for outcome in lamp.settle()] == ["counted a", "counted b"]
    assert lamp.settle() == []


def test_a_model_tells_which_clauses_were_witnessed() -> None:
    lamp = Lamp()
    assert lamp.witnessed() == frozenset()
    lamp.lit = {"a": 0}
    lamp.wait(11)
    assert lamp.witnessed() == {"out", "counted"}


@pytest.mark.parametrize(
    "call",
    [
        BaseModel.reset,
        lambda lamp: BaseModel.next_ordinal(lamp, "x"),
        BaseModel.own_steps,
        lambda lamp: BaseModel.take(lamp, 0, ()),
        BaseModel.deadlines,
        lambda lamp: BaseModel.fire(lamp, 0, None),
    ],
    ids=["reset", "next_ordinal", "own_steps", "take", "deadlines", "fire"],
)
def test_what_a_lifecycle_has_to_add_is_missing_until_it_does(call: Callable[[BaseModel], Any]) -> None:
    with pytest.raises(NotImplementedError):
        call(Lamp())


def test_the_shared_part_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(model.__file__).read_text(encoding="utf-8"))
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert {module.partition(".")[0] for module in modules} <= sys.stdlib_module_names


def test_of_what_the_implementation_chooses_a_row_says_nothing_and_the_model_may() -> None:
    assert (ANYTHING == "x", bool(ANYTHING)) == (False, True)
    (chosen,) = exemplary([ANYTHING])
    assert chosen is CHOSEN
    for look in (
        bool,
        len,
        iter,
        lambda value: value == "x",
        lambda value: value != "x",
        lambda value: "x" in value,
    ):
        with pytest.raises(TypeError, match="the implementation chooses it"):
            look(chosen)


# ── Records that have left ───────────────────────────────────────────────────────────────────────

REFERRED = compile_text(
    """
lifecycle: referred
version: 1
about: Parts outlive the jobs that they are of, and lists of parts outlive these.
entities:
  Job: {id: minted, fields: {size: int}}
  Part: {id: minted, fields: {job: Job, other: Job | null, all: {list of: Job}}}
variables:
  latest: {type: Part | null, default: "null"}
operations:
  start: {takes: {size: int}, create: {Job: {size: size}}, gives: job.id}
  attach: {takes: {job: Job}, create: {Part: {job: job, other: job, all: jobs}}, gives: part.id}
  choose: {takes: {part: Part}, set: {latest: part}}
  clear: {remove: [Job]}
  forget: {remove: [Part]}
  sizes: {gives: "parts.map(p, p.job.size)"}
  latest_size: {gives: if latest == null then 0 else latest.job.size + latest.all.size()}
matrix: {}
""",
    "referred.yaml",
)


def test_what_refers_to_a_record_that_has_left_can_be_frozen_and_read() -> None:
    found: Any = REFERRED.model()
    for size in (3, 4):
        found.choose(found.attach(found.start(size).value).value)
    found.clear()
    again = found.thawed(found.freeze())
    assert again.sizes().value == found.sizes().value == [3, 4]
    again.forget()
    again = again.thawed(again.freeze())
    assert again.latest_size().value == 4 + 2
    assert again.freeze() == again.thawed(again.freeze()).freeze()


def test_a_record_that_has_left_and_that_nothing_refers_to_is_no_part_of_a_state() -> None:
    found, other = REFERRED.model(), REFERRED.model()
    for each in (found, other):
        each.do("start", {"size": 1 if each is found else 2})
        each.do("clear", {})
    assert found.freeze() == other.freeze()


@pytest.mark.parametrize("piece", ["x", "é", "😀", '"'])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_what_is_measured_otherwise_has_the_size_that_is_measured(piece: str, more: int) -> None:
    limit = Measured(60, json.dumps)
    text = sized_text(piece, limit + more if more >= 0 else limit - -more)
    assert len(json.dumps(text)) == 60 + more
    assert text.startswith(piece)
    assert document(text, limit, None).inline == (more <= 0)
    assert document(text, 60, None).inline


@pytest.mark.parametrize("name", ["document", "class", "lambda", "plain"])
def test_a_parameter_may_have_any_name_but_self(name: str) -> None:
    model = compile_text(
        f"""
lifecycle: named
version: 1
about: A printer prints documents.
entities:
  Document:
    id: minted
    states: {{active: [waiting], terminal: [printed]}}
operations:
  submit:
    create: {{Document: {{}}}}
    gives: {{id: document.id}}
  print:
    takes: {{{name}: Document}}
    move: waiting -> printed
matrix:
  N1:
    about: A document is printed.
    level: must
    source: the test
    covers: [operations.print]
    act: [sheet = submit(), printed = print(sheet.id)]
    assert: printed.refused == null
""",
        "named.yaml",
    ).model()
    document = model.do("submit", {}).value["id"]
    assert model.decide("print", {name: document}).accept
    model.do("print", {name: document})
    assert not model.decide("print", {name: document}).accept
