"""Calls made at once: which histories an order of the calls explains, beside a search that tries every order."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.budget import USUAL, Budget
from conformance.judge import history, kernel_facts
from conformance.judge.case import Case
from conformance.judge.finding import Finding
from conformance.judge.history import Explained, History, _key, _plain, explanations
from conformance.judge.lockstep import Lockstep
from conformance.system import Declaration
from conformance.transcripts import Unordered, with_keys
from statemachines.model import Document, Signal
from statemachines.rows import Observed, spelled
from statemachines.undecided import read_of
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import Watched, adapted, at_once, message, shown, signal, started, thread_job, turn
from tests.right.background_tasks.condition import ConditionTasks

INLINE = {"mode": "synchronous", "result": "x", "job_id": None, "status": None}
CANCEL = signal("CancelSent", job_id="a")
LONG = "x" * 30_000


def searched(watched: Watched, calls: Sequence[Observed], signals: Sequence[Signal] = ()) -> Explained:
    """What the search finds from the one configuration that there is so far."""
    lockstep = watched.judge.lockstep
    (start,) = lockstep.configurations
    return explanations(lockstep.stepper, start, at_once(calls, signals))


def resolving(*replies: Any, during: Sequence[tuple[int, int]] = ((0, 10), (0, 10))) -> bool:
    """Whether an inline completion and a start of one call can have given this."""
    watched = Watched()
    calls = []
    for operation, reply, when in zip(("complete_inline", "start"), replies, during, strict=True):
        came = {"refused": reply} if isinstance(reply, str) else {"gives": reply}
        given = ("t1", "c", "bash", "x") if operation == "complete_inline" else ("t1", "c", "bash")
        calls.append(watched.call(operation, *given, during=when, **came))
    return bool(searched(watched, calls).ends)


@pytest.mark.parametrize(
    ("inline", "start", "explained"),
    [
        (INLINE, "already_resolved", True),
        ("already_resolved", started("a"), True),
        (INLINE, started("a"), False),
        ("already_resolved", "already_resolved", False),
        (INLINE, "not_found", False),
    ],
)
def test_one_of_two_resolutions_is_first(inline: Any, start: Any, explained: bool) -> None:
    assert resolving(inline, start) == explained


@pytest.mark.parametrize(
    ("first", "second", "explained"),
    [((1, 2), (3, 4), True), ((3, 4), (1, 2), False), ((1, 3), (2, 4), True), ((2, 4), (1, 3), True)],
)
def test_a_call_that_ended_before_another_began_comes_before_it(
    first: tuple[int, int], second: tuple[int, int], explained: bool
) -> None:
    assert resolving(INLINE, "already_resolved", during=(first, second)) == explained


# --- emitters ---------------------------------------------------------------------------------------------


def emitters(
    count: int, *told: Sequence[str], long: bool = False, budget: Budget = USUAL
) -> tuple[Watched, list[Observed], list[Signal]]:
    """A judge where this many jobs have ended, a boundary for each of `told`, and a turn for each that told."""
    watched = Watched(budget=budget)
    for index in range(count):
        watched.ended("abcdef"[index], payload=LONG if long else "x")
        watched.must("wait", 1)
    calls = [
        watched.call(
            "turn_boundary",
            "t1",
            gives=[message(job, LONG, file=f"{job}.txt") if long else message(job) for job in jobs],
            during=(0, 100),
        )
        for jobs in told
    ]
    return watched, calls, [turn() for jobs in told if jobs]


@pytest.mark.parametrize(
    ("count", "told", "explained"),
    [
        (0, ["", ""], True),
        (1, ["a", ""], True),
        (1, ["a", "a"], False),
        (1, ["", ""], False),
        (3, ["abc", ""], True),
        (3, ["ac", "b"], True),
        (3, ["c", "ab"], True),
        (3, ["ca", "b"], False),
        (3, ["ab", ""], False),
        (3, ["abc", "b"], False),
        (3, ["a", "b", "c"], True),
        (2, ["ab", "z"], False),
        (2, ["aab", ""], False),
    ],
)
@pytest.mark.parametrize("long", [False, True], ids=["inline", "files"])
def test_emitters_share_what_is_due_each_in_order_and_once(
    count: int, told: list[str], explained: bool, long: bool
) -> None:
    watched, calls, signals = emitters(count, *told, long=long)
    assert bool(searched(watched, calls, signals).ends) == explained


@given(st.integers(0, 4), st.lists(st.lists(st.sampled_from("abcd"), max_size=4), min_size=2, max_size=3))
def test_what_emitters_tell_is_explained_exactly_when_it_is_a_way_to_share(count: int, told: list[list[str]]) -> None:
    watched, calls, signals = emitters(count, *told)
    shared = sorted(itertools.chain(*told)) == list("abcd"[:count]) and all(jobs == sorted(jobs) for jobs in told)
    explained = searched(watched, calls, signals)
    assert bool(explained.ends) == shared
    assert not explained.partial


def test_the_transcript_holds_some_order_that_keeps_each_emitters() -> None:
    for transcript, explained in {"abc": True, "bac": True, "acb": True, "cab": False, "bca": False}.items():
        watched, calls, signals = emitters(3, "ac", "b")
        assert watched.judge.step(at_once(calls, signals)) is None
        finding = watched("messages", "t1", gives=[message(job) for job in transcript])
        assert (finding is None) == explained, (transcript, finding)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_every_emitter_that_tells_triggers_a_turn_at_least(turns: int) -> None:
    watched, calls, _ = emitters(2, "a", "b")
    assert bool(searched(watched, calls, [turn()] * turns).ends) == (turns >= 2)


def test_an_emitter_that_came_too_late_may_tell_nothing() -> None:
    watched, calls, signals = emitters(1, "a", "")
    first, second = (1, 2), (3, 4)
    for during, explained in (((first, second), True), ((second, first), False)):
        calls = [replace(call, began=began, ended=ended) for call, (began, ended) in zip(calls, during, strict=True)]
        assert bool(searched(watched, calls, signals).ends) == explained


def test_what_is_only_recommended_is_a_finding_of_emitters_too() -> None:
    watched, calls, signals = emitters(3, "ac", "b")
    calls = [replace(call, reply=[{**given, "tool": None} for given in call.given]) for call in calls]
    assert watched.judge.step(at_once(calls, signals)) is None
    assert [(each.clause, each.should) for each in watched.judge.findings] == [("messages.Ended.carries.tool", True)]
    assert "messages.Ended.at most" in watched.judge.lockstep.witnessed()


def test_a_message_that_a_call_makes_due_can_be_told_by_another_that_overlaps_it() -> None:
    for during, explained in (((0, 9), True), ((8, 9), False)):
        watched = Watched()
        watched.start("a")
        end = watched.call("finish", "a", "completed", "x", during=during)
        tell = watched.call("turn_boundary", "t1", gives=[message("a")], during=(1, 5))
        assert bool(searched(watched, [end, tell], [turn()]).ends) == explained


def test_two_messages_in_one_file_are_explained_by_nothing() -> None:
    watched, calls, signals = emitters(2, "a", "b", long=True)
    calls[1].given[0]["content"] = Document(LONG, inline=False, file="a.txt")
    finding = watched.judge.step(at_once(calls, signals))
    assert finding is not None
    assert finding.kind == "file"


# --- what is known ----------------------------------------------------------------------------------------


def told_of(watched: Watched, calls: Sequence[Observed], signals: Sequence[Signal]) -> tuple[Any, ...]:
    """All that a search comes to: its ends, what they may still send and leave open, what it witnessed, and how far it went."""
    found = searched(watched, calls, signals)
    ends = {(end.model.freeze(), end.standing, end.unordered, end.noted) for end in found.ends}
    lockstep = watched.judge.lockstep
    return ends, found.partial, lockstep.witnessed(), lockstep.stepper.nodes


@given(st.integers(0, 4), st.lists(st.lists(st.sampled_from("abcd"), max_size=4), min_size=2, max_size=3))
def test_what_was_searched_once_comes_to_the_same_again(count: int, told: list[list[str]]) -> None:
    known = kernel_facts.of(thread_job()).explained
    known.clear()
    first = told_of(*emitters(count, *told))
    assert len(known) == 1
    assert told_of(*emitters(count, *told)) == first
    assert len(known) == 1


def test_an_end_that_was_changed_is_not_what_the_next_one_finds() -> None:
    first = told_of(*emitters(3, "ac", "b"))
    kernel_facts.of(thread_job()).explained.clear()
    for _ in range(2):  # searched, and known
        watched, calls, signals = emitters(3, "ac", "b")
        for end in searched(watched, calls, signals).ends:
            end.model.do("start", {"thread": "t1", "tool_call": "new", "tool": "bash"})
            end.standing = frozenset([turn("t2")])
        assert told_of(*emitters(3, "ac", "b")) == first


def test_what_is_known_is_not_taken_for_more_steps_than_may_be_made() -> None:
    _, partial, _, nodes = told_of(*emitters(3, "ac", "b"))
    assert not partial
    for most in (nodes, nodes - 1):
        watched, calls, signals = emitters(3, "ac", "b")
        watched.judge.lockstep.stepper.most_nodes = most
        assert searched(watched, calls, signals).partial == (most < nodes)


def test_it_is_known_again_where_nothing_but_the_instants_differ_that_order_no_calls() -> None:
    known = kernel_facts.of(thread_job()).explained
    for others, alike in {
        ((0, 9), (1, 8)): True,
        ((2, 3), (3, 4)): True,
        ((5, 7), (1, 6)): True,
        ((1, 2), (3, 4)): False,
        ((3, 4), (1, 2)): False,
    }.items():
        known.clear()
        assert resolving(INLINE, "already_resolved", during=((1, 3), (2, 4)))
        assert resolving(INLINE, "already_resolved", during=others) == (others != ((3, 4), (1, 2)))
        assert (len(known) == 1) == alike, others


def test_it_is_another_history_where_only_the_end_of_a_long_text_differs() -> None:
    for end, explained in (("x", True), ("y", False), ("x", True)):
        watched, calls, signals = emitters(2, "a", "b", long=True)
        calls[1].given[0]["content"] = Document(LONG[:-1] + end, inline=False, file="b.txt")
        assert bool(searched(watched, calls, signals).ends) == explained


def test_whatever_makes_a_search_another_one_makes_another_key() -> None:
    watched, calls, signals = emitters(2, "a", "b")
    lockstep = watched.judge.lockstep
    (start,) = lockstep.configurations
    told, noted = at_once(calls, signals), Finding("reply", "messages.Ended.order", "messages", "1", "2")

    def key(begun: Any = start, history: Any = told, compiled: Any = watched.compiled, **changed: Any) -> Any:
        names = ("clock", "limits", "policies", "measured")
        declared: dict[str, Any] = {each: changed.pop(each) for each in names if each in changed}
        words: dict[str, Any] = {"clock": "virtual", "concurrency": "threads", **declared}
        stepper = Lockstep(
            compiled, Declaration(**words), changed.pop("budget", USUAL), changed.pop("told", None)
        ).stepper
        if declared:
            model = stepper.fresh(bytearray(len(begun.model.seen)))
            model.thaw(begun.model.freeze())
            begun = begun.at(model)
        return _key(stepper, begun, history)

    first, second = told.callers
    fields: dict[str, Any] = {
        "began": 1,
        "ended": 7,
        "operation": "emit",
        "refused": "x",
        "compared": False,
        "malformed": "x",
        "at": 1,
        "arguments": {"thread": "t2"},
        "reply": [],
    }
    other = [replace(first[0], **{name: value}) for name, value in fields.items()]
    keys = [
        key(),
        *(key(history=replace(told, callers=((each,), second))) for each in other),
        key(history=replace(told, callers=((*first, *second),))),
        key(history=replace(told, signals=())),
        key(replace(start, standing=frozenset([turn("t2")]))),
        key(replace(start, unordered=(Unordered("Ended", 0, (frozenset(), frozenset())),))),
        key(replace(start, noted=(noted,))),
        key(replace(start, model=Watched().judge.lockstep.model)),
        key(clock="none"),
        key(limits={"retained": 3}),
        key(policies={"tie": "start"}),
        key(measured=str.upper),
        key(told=frozenset([1])),
        key(budget=replace(USUAL, nodes=7)),
    ]
    assert len(set(keys)) == len(keys)
    assert key() == keys[0]


def test_what_takes_time_or_was_not_searched_to_its_end_is_not_known() -> None:
    known = kernel_facts.of(thread_job()).explained
    known.clear()
    watched, calls, signals = emitters(2, "a", "b")
    for first in (replace(calls[0], elapsed=1), replace(calls[0], within=(0, 1)), replace(calls[0], ended=0)):
        searched(watched, [first, calls[1]], signals)
    assert searched(*emitters(3, "ac", "b", budget=replace(USUAL, nodes=2))).partial
    assert not known
    running = Watched(clock="running")
    searched(running, [running.call("messages", "t1", gives=[], during=(0, 9)) for _ in range(2)])
    assert not known


def test_of_many_histories_not_all_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_KNOWN", 2)
    known = kernel_facts.of(thread_job()).explained
    known.clear()
    for told in ("a", "ab", "abc", "abcd"):
        searched(*emitters(len(told), told, ""))
        assert 1 <= len(known) <= 2


def test_a_choice_that_was_read_once_is_read_again_where_the_history_is_known() -> None:
    compiled = SUITES["background-tasks"].compiled
    kernel_facts.of(compiled).explained.clear()
    read: list[set[str]] = []
    for _ in range(2):
        watched = Watched(compiled)
        model = watched.judge.lockstep.model
        read_of(model.policies).clear()
        calls = [
            watched.call("cancel_all", during=RUNS),
            watched.call("spawn", "x", gives={"task_id": "a"}, during=RUNS),
        ]
        searched(watched, calls)
        read.append(set(read_of(model.policies)))
    assert len(kernel_facts.of(compiled).explained) == 1
    assert read == [{"born_canceled"}, {"born_canceled"}]


def test_values_of_two_types_are_two_keys() -> None:
    values: list[Any] = [True, 1, 1.0, [], {}, (), {"a": 1}, [["a", 1]], {"a": True}, "1", None]
    assert len({_plain(each) for each in values}) == len(values)
    assert _plain({"a": [1, {"b": None}]}) == _plain({"a": [1, {"b": None}]})


# --- signals of the whole group ---------------------------------------------------------------------------


def racing(*signals: Signal, refused: bool = False, actor: str = "user") -> bool:
    """Whether a cancel that races an end can have come with these signals."""
    watched = Watched()
    watched.start("a")
    code = "wrong_state" if refused else None
    cancel = watched.call("request_cancel", "t1", "a", actor, refused=code, during=(0, 9))
    end = watched.call("finish", "a", "completed", "x", during=(0, 9))
    return bool(searched(watched, [cancel, end], signals).ends)


def test_signals_are_those_of_the_order_that_explains_the_replies() -> None:
    assert racing(CANCEL)  # the cancel came first
    assert racing()  # it came second: what it is answered then is open
    assert racing(refused=True)
    assert not racing(CANCEL, CANCEL)
    assert not racing(CANCEL, refused=True)
    assert not racing(signal("CancelSent", job_id="b"))


def test_a_signal_that_stood_before_may_come_while_calls_are_made_at_once() -> None:
    watched = Watched()
    watched.ended("a")
    watched.must("turn_boundary", "t1", gives=[message("a")], signals=[turn()])
    calls = [watched.call("messages", "t2", gives=[], during=(0, 9)) for _ in range(2)]
    assert searched(watched, calls, [turn(), turn()]).ends
    assert not searched(watched, calls, [turn("t2")]).ends


def test_steps_of_the_systems_own_may_come_between() -> None:
    watched = Watched()
    watched.must("set_idle", "t1", True)
    watched.start("a")
    end = watched.call("finish", "a", "completed", "x", during=(0, 9))
    before = watched.call("messages", "t1", gives=[], during=(0, 9))
    after = watched.call("messages", "t1", gives=[message("a")], during=(0, 9))
    signals = [signal("BoundaryRequested", thread="t1"), turn()]
    assert searched(watched, [end, before, after], signals).ends
    assert not searched(watched, [end, before, after], []).ends


# --- calls that come in two parts -------------------------------------------------------------------------

RUNS, BESIDE, EARLY, LATE = (0, 9), (2, 3), (1, 2), (4, 5)
SEEN = signal("CancelSeen", task_id="a")


def cancelling(
    *calls: tuple[str, Any, tuple[int, int]], status: str, signals: Sequence[Signal] = (), **declared: Any
) -> bool:
    """Whether cancels and other calls beside each other can have given this, and left the task so; a text is a refusal."""
    watched = Watched(SUITES["background-tasks"].compiled, **declared)
    watched.must("spawn", "x", gives={"task_id": "a"})
    given = {"finish": ("a", "completed", "x"), "cancel_task": ("a",), "spawn": ("y",)}
    made = []
    for name, reply, when in calls:
        came = {"refused": reply} if isinstance(reply, str) else {"gives": reply}
        made.append(watched.call(name, *given.get(name, ()), during=when, **came))
    lockstep, history = watched.judge.lockstep, at_once(made, signals)
    found = [explanations(lockstep.stepper, start, history) for start in lockstep.configurations]
    rows = [row for each in found for end in each.ends for row in end.model.do("list", {}).value]
    return status in [row["status"] for row in rows]


@pytest.mark.parametrize("signals", [[], [SEEN]], ids=["unseen", "seen"])
@pytest.mark.parametrize("status", ["completed", "canceled"])
@pytest.mark.parametrize("cancel", ["cancel_task", "cancel_all"])
def test_a_body_that_returns_beside_a_cancel_is_asked_in_time_or_not(
    cancel: str, status: str, signals: list[Signal]
) -> None:
    call = (cancel, True if cancel == "cancel_task" else None, RUNS)
    assert cancelling(call, ("finish", None, BESIDE), status=status, signals=signals)


def test_what_a_cancel_says_is_of_what_it_saw() -> None:
    assert cancelling(("cancel_task", False, RUNS), ("finish", None, BESIDE), status="completed")
    assert not cancelling(("cancel_task", False, RUNS), ("finish", None, BESIDE), status="canceled")
    assert not cancelling(("cancel_task", True, LATE), ("finish", None, BESIDE), status="completed")
    assert not cancelling(("cancel_task", True, RUNS), ("finish", None, BESIDE), status="failed")
    assert not cancelling(("cancel_task", True, RUNS), ("finish", None, BESIDE), status="completed", signals=[SEEN] * 2)


@pytest.mark.parametrize("cancel", ["cancel_task", "cancel_all"])
def test_a_call_ends_with_its_second_part_whatever_else_is_under_way(cancel: str) -> None:
    early = (cancel, True if cancel == "cancel_task" else None, EARLY)
    for beside in ([], [("running_count", 1, RUNS)], [("cancel_task", True, RUNS)], [("cancel_all", None, RUNS)]):
        calls = (early, ("finish", None, LATE), *beside)
        assert cancelling(*calls, status="canceled", signals=[SEEN])
        assert not cancelling(*calls, status="completed", signals=[SEEN])


REFUSING: dict[str, Any] = {"policies": {"spawn_after_cancel": "refused"}}
REFUSED = ("spawn", "session_cancelled", EARLY)


def test_the_second_part_of_one_call_need_not_come_before_another_call_ends() -> None:
    """The cancel of all has come to where it refuses others, and asks the body later."""
    calls = [("cancel_all", None, RUNS), REFUSED, ("finish", None, LATE)]
    assert cancelling(*calls, status="completed", **REFUSING)
    assert cancelling(*calls, status="canceled", signals=[SEEN], **REFUSING)


def test_where_effects_come_later_so_does_the_second_part_of_a_call_that_gives_nothing() -> None:
    calls = [("cancel_all", None, EARLY), REFUSED, ("finish", None, LATE)]
    assert cancelling(*calls, status="completed", settles=50, **REFUSING)
    assert not cancelling(*calls, status="completed", **REFUSING)
    assert not cancelling(("cancel_task", True, EARLY), ("finish", None, LATE), status="completed", settles=50)


UNASKED = """
lifecycle: lamp
version: 1
about: Somebody reaches for a lamp, whom nobody asked, and then it burns.
types: {Seen: {record: {reached: bool, burns: bool}}}
entities:
  Lamp:
    fixed: [lamp]
    fields: {reached: {type: bool, default: false}, burns: {type: bool, default: false}}
operations:
  look: {takes: {lamp: Lamp}, gives: "Seen(lamp.reached, lamp.burns)"}
on its own:
  reach: {for each: {lamp: Lamp}, when: (!lamp.reached), set: {lamp.reached: true}}
  light:
    for each: {lamp: Lamp}
    when:     lamp.reached && !lamp.burns
    must:     true
    before:   the call ends
    set:      {lamp.burns: true}
"""


def test_what_no_call_made_due_is_the_end_of_none() -> None:
    watched = Watched(compile_text(UNASKED, "lamp.yaml"))
    seen = {"reached": True, "burns": False}
    looks = [watched.call("look", "lamp", gives=seen, during=when) for when in (EARLY, LATE)]
    assert searched(watched, looks).ends
    assert not searched(watched, [watched.call("look", "lamp", gives={"reached": False, "burns": True})]).ends


RINGING = """\
lifecycle: bell
version: 1
about: A bell may ring by itself, as often as it likes, and whoever is near hears it each time.
entities:
  Bell:
    fixed: [bell]
    fields: {rung: {type: int, default: 0}}
types: {BellId: {id of: Bell}}
signals: {Rang: {bell: BellId}}
operations:
  pull: {takes: {bell: Bell}, set: {bell.rung: bell.rung + 1}, signal: {Rang: {with: {bell: bell.id}}}}
  look: {takes: {bell: Bell}, gives: bell.rung}
on its own:
  ring: {for each: {bell: Bell}, when: "true", set: {bell.rung: bell.rung + 1}, signal: {Rang: {with: {bell: bell.id}}}}
"""


@pytest.mark.parametrize(("rung", "explained"), [(1, True), (2, True), (3, False)])
def test_a_step_that_was_not_heard_was_not_taken_however_often_it_could_be(rung: int, explained: bool) -> None:
    watched = Watched(compile_text(RINGING, "bell.yaml"))
    calls = [watched.call("pull", "bell", during=EARLY), watched.call("look", "bell", gives=rung, during=EARLY)]
    found = searched(watched, calls, [("Rang", (("bell", "bell"),))] * 2)
    assert (bool(found.ends), found.partial) == (explained, False)


# --- beside a search that tries every order ---------------------------------------------------------------

ANSWERS: list[tuple[str, tuple[Any, ...], list[dict[str, Any]]]] = [
    ("start", ("t1", "c", "bash"), [{"gives": started("b")}, {"refused": "already_resolved"}]),
    ("start", ("t1", "d", "bash"), [{"gives": started("b")}, {"gives": started("d")}]),
    ("complete_inline", ("t1", "c", "bash", "x"), [{"gives": INLINE}, {"refused": "already_resolved"}]),
    ("finish", ("a", "completed", "x"), [{}, {"refused": "wrong_state"}]),
    ("finish", ("a", "failed", "x"), [{}, {"refused": "wrong_state"}]),
    (
        "inspect_job",
        ("t1", "a"),
        [
            {"gives": shown("a", status=s, completed_at=None if s == "running" else 0)}
            for s in ("running", "failed", "completed")
        ],
    ),
    (
        "list_jobs",
        ("t1",),
        [{"gives": []}, {"gives": [shown("a")]}, {"gives": [shown("a"), shown("b", tool_call="c")]}],
    ),
    ("messages", ("t1",), [{"gives": []}]),
]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, int]]]:
    """A few calls that meet on the same records, each with an answer and a time that look right by themselves."""
    found = []
    for _ in range(draw(st.integers(2, 4))):
        operation, given, answers = draw(st.sampled_from(ANSWERS))
        began = draw(st.integers(0, 4))
        found.append((operation, given, draw(st.sampled_from(answers)), (began, began + draw(st.integers(1, 5)))))
    return found


def made(watched: Watched, calls: list[Any]) -> list[Observed]:
    return [watched.call(operation, *given, during=when, **came) for operation, given, came, when in calls]


def explained_by_some_order(calls: list[Any]) -> bool:
    """The definition: an order that keeps what ended before something began, and a judge that agrees all along."""
    for order in itertools.permutations(calls):
        if any(later[3][1] < earlier[3][0] for earlier, later in itertools.combinations(order, 2)):
            continue
        watched = Watched()
        watched.start("a")
        judge = watched.judge
        if all(judge.allows(call) and judge.step(call) is None for call in made(watched, list(order))):
            return True
    return False


@pytest.mark.thorough
@given(histories())
def test_the_search_finds_an_order_exactly_when_there_is_one(calls: list[Any]) -> None:
    watched = Watched()
    watched.start("a")
    found = searched(watched, made(watched, calls))
    assert bool(found.ends) == explained_by_some_order(calls)
    assert not found.partial


# --- caps -------------------------------------------------------------------------------------------------


def test_a_search_that_gives_up_says_that_it_is_partial() -> None:
    watched, calls, signals = emitters(3, "a", "b", "c", budget=replace(USUAL, nodes=2))
    found = searched(watched, calls, signals)
    assert (found.ends, found.partial) == ([], True)
    assert watched.judge.step(at_once(calls, signals)) is not None
    assert watched.judge.unsure


def test_a_search_ends_when_there_are_enough_explanations() -> None:
    """Three jobs that end at once have ended in one of six orders."""
    for most, ends, partial in ((2, 2, True), (7, 6, False)):
        watched = Watched(budget=replace(USUAL, configurations=most))
        for job in "abc":
            watched.start(job)
        found = searched(watched, [watched.call("finish", job, "completed", "x", during=(0, 9)) for job in "abc"])
        assert (len(found.ends), found.partial) == (ends, partial)


def many_starts(watched: Watched, *, given_twice: bool = False) -> list[Observed]:
    """More starts than are searched, the first to begin the last to end; perhaps two of them with one id."""
    return [
        watched.call(
            "start",
            "t1",
            f"call {index}",
            "bash",
            gives=started("job 4" if given_twice and index == 3 else f"job {index}"),
            during=(0, 100 - index),
        )
        for index in range(USUAL.linearized + 1)
    ]


def test_a_long_history_is_followed_in_the_order_of_its_ends() -> None:
    watched = Watched()
    found = searched(watched, many_starts(watched))
    assert (len(found.ends), found.partial) == (1, True)
    (end,) = found.ends
    assert len(end.model.jobs) == USUAL.linearized + 1  # type: ignore[attr-defined]  # the generated model has them


def test_no_order_of_a_long_history_explains_an_id_that_two_lasting_records_were_given() -> None:
    watched = Watched()
    found = searched(watched, many_starts(watched, given_twice=True))
    assert (found.ends, found.partial) == ([], False)


@pytest.mark.parametrize(
    "ends", [("restart",), ("finish", "job 4", "completed", "x"), ("wait", 1)], ids=lambda call: call[0]
)
def test_where_a_record_may_have_left_its_id_may_come_again(ends: tuple[Any, ...]) -> None:
    watched = Watched()
    calls = [*many_starts(watched, given_twice=True), watched.call(*ends, during=(0, 200))]
    found = searched(watched, calls)
    assert (found.ends, found.partial) == ([], True)


def test_a_long_history_of_calls_that_order_does_not_explain_leaves_the_judge_unsure() -> None:
    watched = Watched()
    calls = [watched.call("messages", "t1", gives=[]) for _ in range(USUAL.linearized + 1)]
    calls[0] = replace(calls[0], reply=[message("nobody")])
    finding = watched.group(*calls)
    assert finding is not None
    assert finding.kind == "order"
    assert watched.judge.unsure


# --- what is said -----------------------------------------------------------------------------------------


def test_a_history_without_an_explanation_is_told_with_what_each_call_gave() -> None:
    watched = Watched()
    inline = watched.call("complete_inline", "t1", "c", "bash", "x", gives=INLINE)
    start = watched.call("start", "t1", "c", "bash", gives=started("a"))
    finding = watched.group(inline, start)
    assert finding is not None
    assert (finding.kind, finding.operation) == ("order", "complete_inline ∥ start")
    assert finding.clause == "operations.complete_inline"
    assert finding.expected == "an order of the calls, one after the other, that gives these replies and signals"
    assert finding.seen == f"complete_inline → {spelled(INLINE)}; start → {spelled(started('a'))}; no signal"


def test_the_signals_of_all_the_calls_are_told_with_them() -> None:
    watched, calls, signals = emitters(3, "ca", "b")
    finding = watched.judge.step(at_once(calls, signals))
    assert finding is not None
    assert finding.seen.endswith("; signal TurnTriggered(thread: 't1'), signal TurnTriggered(thread: 't1')")


def test_a_long_summary_is_cut() -> None:
    watched = Watched()
    calls = [watched.call("start", "t1", "c", "bash", refused="already_resolved" * 9) for _ in range(9)]
    assert len(at_once(calls).summary) <= 400
    assert at_once([]).clause == "operations"


class GivesUpJustBefore(ConditionTasks):
    """Whoever waits gives up before a task ends, and comes back afterwards, as on a busy machine."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.over = threading.Event(), threading.Event()

    def finish(self, task: str, outcome: str, text: str) -> None:
        self.begun.wait()
        super().finish(task, outcome, text)
        self.over.set()

    def wait_for_completion(self, timeout: int) -> bool:
        self.begun.set()
        self.over.wait()
        return False


def test_by_a_real_clock_a_wait_may_have_given_up_before_it_came_back() -> None:
    compiled = SUITES["background-tasks"].compiled
    with adapted(GivesUpJustBefore, compiled) as adapter:
        case = Case(compiled, adapter)
        task = case.call("spawn", {"label": "x"}).given["task_id"]
        ending = {"task": task, "outcome": "completed", "text": "x"}
        case.together([lambda: case.call("finish", ending), lambda: case.call("wait_for_completion", {"timeout": 1})])
        assert case.finding is None


@pytest.mark.parametrize("clock", ["real", "none"])
def test_where_nobody_moves_the_clock_a_pause_beside_other_calls_is_over_when_it_is(clock: str) -> None:
    compiled = SUITES["background-tasks"].compiled
    system = type("Timed", (ConditionTasks,), {"declares": {**ConditionTasks.declares, "clock": clock}})
    with adapted(system, compiled) as adapter:
        case = Case(compiled, adapter)
        task = case.call("spawn", {"label": "x"}).given["task_id"]

        def ends() -> None:
            case.call("wait", {"ms": 1})
            case.call("finish", {"task": task, "outcome": "completed", "text": "x"})

        case.together([lambda: case.call("wait_for_completion", {"timeout": 1000}), ends])
        assert case.finding is None


@pytest.mark.parametrize(("clock", "explained"), [("real", True), ("virtual", False)])
def test_instants_in_signals_count_only_where_they_can_be_compared(clock: str, explained: bool) -> None:
    """Of a task that started at 5000 by the system's own clock, a summary is announced beside the subscription."""
    watched = Watched(SUITES["task-progress"].compiled, clock=clock)
    watched.must("create_task", "x", None, True, gives={"task_id": "a", "status": "pending"})
    watched.must("start", "a")
    told = {
        "task": "a",
        "description": "s",
        "started_at": 5000,
        "total_tokens": 0,
        "tool_uses": 0,
        "summary": "s",
    }
    calls = watched.call("subscribe", True), watched.call("summarize", "a", "s")
    assert (watched.group(*calls, signals=[signal("announced", **told)]) is None) == explained


def test_of_two_messages_that_read_the_same_each_is_sent_once() -> None:
    one, same, other = (
        SimpleNamespace(about=1, key=(2,)),
        SimpleNamespace(about=1, key=(2,)),
        SimpleNamespace(about=3, key=(1,)),
    )
    found = with_keys([one, other, same], [(1, (2,)), (3, (1,))])
    assert [id(each) for each in found] == [id(one), id(other)]
    assert with_keys([one, same], [(1, (2,)), (1, (2,)), (4, (0,))]) == [one, same]


def test_what_calls_at_once_gave_says_which_began_after_another_was_back() -> None:
    def called(began: int, ended: int) -> Observed:
        return Observed("emit", {}, began=began, ended=ended)

    assert History(((called(1, 3),), (called(2, 4),))).summary == "emit → null; emit → null"
    assert History(((called(1, 2),), (called(3, 4),))).summary == "1: emit → null; 2: emit → null; call 2 began after 1"
    assert "began" not in History(((called(1, 2), called(3, 4)), (called(1, 5),))).summary  # one caller's are in order
    assert "began" not in History(((called(1, 0),), (called(3, 4),))).summary  # the first never came back
    assert "began" not in History(tuple((called(2 * each + 1, 2 * each + 2),) for each in range(7))).summary  # too many
