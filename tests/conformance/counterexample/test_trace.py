"""Traces: what a case recorded, with ids as the replies they came from; cut, changed, and played again."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.budget import USUAL
from conformance.counterexample.play import NOTHING, play, symbolic
from conformance.judge.case import Case
from conformance.judge.history import History
from conformance.references.thread_job import Reply
from conformance.refused import Refused
from conformance.search.stateful import Driver
from conformance.system.adapter import Adapter
from statemachines.compile import load
from statemachines.rows import AtOnce, Call, Given, Observed, Trace, with_argument, without
from statemachines.rows.names import Names
from statemachines.rows.row_writer import written
from tests.checking import compile_text
from tests.conformance.judge.test_passing import LEAVING
from tests.conformance.systems import REFERENCE, adapted, thread_job


@pytest.fixture(scope="module")
def reference() -> Iterator[Adapter]:
    with adapted(REFERENCE) as adapter:
        yield adapter


def start(number: int, call: str = "c") -> Call:
    return Call(number, "start", (("thread", "t1"), ("tool_call", f"{call}{number}"), ("tool", "bash")))


def end(number: int, of: int) -> Call:
    return Call(number, "finish", (("job", Given(of, "job_id")), ("outcome", "failed"), ("payload", "x")))


def look(number: int, *statuses: str) -> Call:
    return Call(number, "list_jobs", (("thread", "t1"), ("statuses", statuses)))


# --- what was recorded ------------------------------------------------------------------------------------


def test_an_id_that_the_system_chose_is_written_as_the_reply_that_it_came_from(reference: Adapter) -> None:
    case = Case(thread_job(), reference)
    job = case.call("start", {"thread": "t1", "tool_call": "c1", "tool": "bash"}).value["job_id"]
    case.call("list_jobs", {"thread": "t1", "statuses": ["failed"]})
    case.call("finish", {"job": job, "outcome": "failed", "payload": "x"})
    assert symbolic(thread_job(), case.trace) == Trace((start(1), look(2, "failed"), end(3, 1)))
    assert len(symbolic(thread_job(), case.trace)) == len(case.calls) == 3


def test_an_id_that_the_caller_chose_stands_as_it_is(reference: Adapter) -> None:
    case = Case(thread_job(), reference)
    asked = {"thread": "t1", "tool_call": "c", "tool": "bash", "job_id": "mine"}
    case.call("start_as", asked)
    case.call("finish", {"job": "mine", "outcome": "failed", "payload": "x"})
    made = symbolic(thread_job(), case.trace)
    assert made.steps[0] == Call(1, "start_as", tuple(asked.items()))
    assert dict(made.calls()[1].arguments)["job"] == "mine"


def test_calls_made_at_once_stay_together(reference: Adapter) -> None:
    case = Case(thread_job(), reference)
    case.together(
        [
            lambda: [case.call("start", {"thread": "t1", "tool_call": f"c{n}", "tool": "bash"}) for n in (1, 2)],
            lambda: case.call("start", {"thread": "t1", "tool_call": "c3", "tool": "bash"}),
        ]
    )
    history = case.trace[0]
    assert isinstance(history, History)
    ids = [each.given["job_id"] for each in history.calls]
    case.call("inspect_job", {"thread": "t1", "job": ids[2]})
    made = symbolic(thread_job(), case.trace)
    assert made.steps[0] == AtOnce(((start(1), start(2)), (start(3),)))
    assert made.calls()[-1].arguments == (("thread", "t1"), ("job", Given(3, "job_id")))
    assert len(made) == len(case.calls) == 4


def test_what_one_caller_gives_is_known_to_its_own_calls_at_once_and_to_all_that_follow() -> None:
    first = Observed("start", {"thread": "t1", "tool_call": "a", "tool": "bash"}, {"job_id": "1"})
    use = Observed("inspect_job", {"thread": "t1", "job": "1"})
    made = symbolic(thread_job(), [History(((first, use), (use,))), use])
    assert [dict(call.arguments).get("job") for call in made.calls()] == [
        None,
        Given(1, "job_id"),
        "1",  # another caller may have asked for it before
        Given(1, "job_id"),
    ]


def test_an_id_that_calls_at_once_give_again_is_theirs_whichever_caller_gives_it() -> None:
    """The other callers know the old record by it: that must not come back."""
    first = Observed("start", {"thread": "t1", "tool_call": "a", "tool": "bash"}, {"job_id": "1"})
    use = Observed("inspect_job", {"thread": "t1", "job": "1"})
    for group in (((first,), (use,)), ((use,), (first,))):
        made = symbolic(thread_job(), [first, History(group), use])
        again = next(call.number for call in made.calls()[1:] if call.operation == "start")
        assert dict(made.calls()[-1].arguments)["job"] == Given(again, "job_id")


def test_who_only_looks_gives_no_id_that_was_given_before() -> None:
    made = Observed("register_main", {"prompt": "x", "messages": []}, {"task_id": "s1"})
    looked = Observed("foregrounded_id", {}, "s1")
    trace = symbolic(load("local-agent"), [made, looked, Observed("get", {"task": "s1"})])
    assert dict(trace.calls()[2].arguments)["task"] == Given(1, "task_id")


def test_an_id_given_again_is_the_one_that_was_given_last() -> None:
    """After a restart a system may mint an id once more; a call after it means the new record."""
    started = {"job_id": "1"}
    first = Observed("start", {"thread": "t1", "tool_call": "a", "tool": "bash"}, started)
    second = Observed("start", {"thread": "t1", "tool_call": "b", "tool": "bash"}, started)
    use = Observed("inspect_job", {"thread": "t1", "job": "1"})
    made = symbolic(thread_job(), [first, use, Observed("restart"), second, use])
    assert [dict(call.arguments).get("job") for call in made.calls()] == [
        None,
        Given(1, "job_id"),
        None,
        None,
        Given(4, "job_id"),
    ]


# --- cutting ----------------------------------------------------------------------------------------------

STEPS = Trace((start(1), start(2), AtOnce(((end(3, 1),), (end(4, 2), look(5)))), look(6)))


def cut(trace: Trace, keep: set[int]) -> Trace:
    return without(trace, {call.number for call in trace.calls()} - keep)


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ({1, 2, 3, 4, 5, 6}, STEPS),
        ({1, 3, 6}, Trace((start(1), end(3, 1), look(6)))),
        ({3, 4, 5, 6}, Trace((look(5), look(6)))),
        ({2, 3, 4, 5}, Trace((start(2), end(4, 2), look(5)))),
        ({1, 2, 3, 5}, Trace((start(1), start(2), AtOnce(((end(3, 1),), (look(5),)))))),
        (set(), Trace(())),
    ],
)
def test_a_call_goes_with_the_reply_that_it_uses_and_one_caller_alone_is_in_order(keep: set[int], left: Trace) -> None:
    assert cut(STEPS, keep) == left


@given(st.sets(st.integers(1, 6)), st.sets(st.integers(1, 6)))
def test_cutting_twice_is_cutting_once(first: set[int], second: set[int]) -> None:
    once = cut(STEPS, first & second)
    assert {call.number for call in cut(cut(STEPS, first), second).calls()} == {call.number for call in once.calls()}
    numbers = {call.number for call in once.calls()}
    assert all(call.refers() <= numbers for call in once.calls())


def test_one_argument_of_one_call_is_changed() -> None:
    changed = with_argument(STEPS, 4, "outcome", "completed")
    assert [dict(call.arguments).get("outcome") for call in changed.calls()] == [
        None,
        None,
        "failed",
        "completed",
        None,
        None,
    ]
    assert with_argument(STEPS, 9, "outcome", "completed") == STEPS
    assert len(changed) == len(STEPS)


# --- playing ----------------------------------------------------------------------------------------------


class FailsLate(REFERENCE):
    """The third look at the jobs is refused; ids are made of the number of a start."""

    _looks = 0

    def list_jobs(self, thread: str, statuses: object = ()) -> list[Reply]:
        self._looks += 1
        if self._looks == 3:
            raise Refused("tired")
        return []


def test_a_trace_is_played_up_to_the_first_finding() -> None:
    trace = Trace((look(1), look(2), look(3), look(4)))
    with adapted(FailsLate) as adapter:
        played = play(thread_job(), adapter, trace)
    assert played.finding is not None
    assert played.finding.kind == "refused"
    assert played.trace == Trace((look(1), look(2), look(3)))


def test_a_trace_that_asks_for_what_was_refused_shows_nothing(reference: Adapter) -> None:
    twice = Call(2, "start", start(1).arguments)
    played = play(thread_job(), reference, Trace((start(1), twice, end(3, 2))))
    assert (played.finding, len(played.trace)) == (None, 0)


FIRST = compile_text(
    """
lifecycle: first
version: 1
about: Somebody asks for the first job.
entities: {Job: {id: minted, states: {active: [running]}, shows: {status: job.state}}}
operations:
  start: {create: {Job: {}}, gives: {job_id: job.id}}
  first: {gives: {first of: [{when: jobs.size() == 0, reply: null}, {reply: "jobs[0].id"}]}}
  look: {takes: {job: Job}, gives: job}
matrix: {}
""",
    "first.yaml",
)


class First:
    """It cannot look at no job at all."""

    def __init__(self) -> None:
        self._jobs: list[str] = []

    def start(self) -> Reply:
        self._jobs.append(str(len(self._jobs)))
        return {"job_id": self._jobs[-1]}

    def first(self) -> str | None:
        return self._jobs[0] if self._jobs else None

    def look(self, job: str) -> Reply:
        return {"status": {"0": "running"}[job]}


@pytest.mark.parametrize("steps", [(2, 3), (3,)], ids=["it gives null", "it is gone"])
def test_a_trace_that_asks_for_what_was_not_given_shows_nothing(steps: tuple[int, ...]) -> None:
    calls = {1: Call(1, "start", ()), 2: Call(2, "first", ()), 3: Call(3, "look", (("job", Given(2, "")),))}
    with adapted(First, FIRST) as adapter:
        assert play(FIRST, adapter, Trace(tuple(calls.values()))).trace == Trace(tuple(calls.values()))
        played = play(FIRST, adapter, Trace(tuple(calls[step] for step in steps)))
    assert (played.finding, len(played.trace)) == (None, 0)


def test_playing_tells_where_each_id_came_from(reference: Adapter) -> None:
    played = play(thread_job(), reference, Trace((start(4), start(7), end(9, 7))))
    assert played.finding is None
    assert [given for _, given in played.origins] == [Given(4, "job_id"), Given(7, "job_id")]


def test_calls_at_once_are_played_at_once(reference: Adapter) -> None:
    played = play(thread_job(), reference, Trace((AtOnce(tuple((start(n),) for n in range(8))),)))
    assert played.finding is None
    assert played.overlaps > 0


def test_a_loop_over_what_callers_gave_skips_one_who_gave_several() -> None:
    """The replies of the first caller are one item of the list, not two."""
    at_once = AtOnce(((start(0), start(1)), *((start(number),) for number in range(2, 8))))
    for order, over in ((range(2, 8), "made.drop(1)"), (range(7, 1, -1), "made.reversed().take(6)")):
        trace = Trace((at_once, *(end(20 + number, number) for number in order), end(40, 0), look(50)))
        lines = written(trace.steps, Names(thread_job(), trace.calls()), set())
        assert f"- for each r in {over}:" in lines, "\n".join(lines)


class UsesIdsAgain(REFERENCE):
    """Keeps one ended job, and gives the lowest number that no job has."""

    declares: ClassVar[Reply] = {**REFERENCE.declares, "limits": {**REFERENCE.declares["limits"], "retained": 1}}

    def __init__(self) -> None:
        super().__init__(retained=1)

    def _mint_id(self) -> str:
        return next(name for number in itertools.count(1) if (name := f"job-{number}") not in self._jobs)


class TellsTheContrary(UsesIdsAgain):
    """Whether it told is not what it says."""

    def emit(self, thread: str, job: str) -> bool:
        return not super().emit(thread, job)


@pytest.mark.parametrize(("system", "goes_on", "accused"), [(UsesIdsAgain, True, 0), (TellsTheContrary, False, 4)])
def test_calls_at_once_that_come_to_what_the_spec_leaves_open_accuse_nobody(
    system: type, goes_on: bool, accused: int
) -> None:
    """Whether the former holder of an id is told when the new one is asked for, nobody knows."""

    def emit(number: int, of: int) -> Call:
        return Call(number, "emit", (("thread", "t1"), ("job", Given(of, "job_id"))))

    at_once = AtOnce(((start(4), *([emit(5, 4)] if goes_on else [])), (emit(6, 0 if goes_on else 1),)))
    told = Call(7, "messages", (("thread", "t1"),))
    trace = Trace((start(0), start(1), end(2, 0), end(3, 1), at_once, told))
    with adapted(system) as adapter:
        played = [play(thread_job(), adapter, trace, seed) for seed in range(4)]
    assert sum(each.finding is not None for each in played) == accused
    assert accused or all(each == NOTHING for each in played)


OPERATIONS = [each.name for each in thread_job().kernel.operations] + ["wait"]


@pytest.mark.thorough
@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 2**16)), max_size=15))
def test_what_was_recorded_is_played_again_call_by_call(calls: list[tuple[str, int]]) -> None:
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        for operation, number in calls:
            arguments = driver.arguments(operation, number)
            if arguments is not None:
                driver.case.call(operation, arguments)
        trace = symbolic(thread_job(), driver.case.trace)
        played = play(thread_job(), adapter, trace)
        again = play(thread_job(), adapter, played.trace)
    assert again.finding == played.finding
    if driver.case.astray:
        assert played.trace == Trace(())  # what is left open shows nothing
    elif driver.case.finding is None:
        assert played.trace == trace
        assert played.finding is None


class Leaving:
    """A job that has ended stays, and who is asked nothing does not tell."""

    declares: ClassVar[Reply] = {"clock": "virtual"}
    started: ClassVar[list[str]] = []

    def start(self) -> Reply:
        self.started.append(f"job-{len(self.started)}")
        return {"job": self.started[-1]}

    def stop(self, job: str) -> None:
        """End it."""

    def wait(self, ms: int) -> None:
        """Let time pass."""


def test_a_trace_that_nobody_can_judge_any_more_is_not_played_to_its_end() -> None:
    """Once there are more explanations than are followed, each call takes as long as all of them, and shows nothing."""
    Leaving.started.clear()
    steps: list[Call] = []
    for number in range(1, 25, 2):
        steps += [Call(number, "start", ()), Call(number + 1, "stop", (("job", Given(number, "job")),))]
    with adapted(Leaving, LEAVING) as adapter:
        assert play(LEAVING, adapter, Trace(tuple(steps)), budget=replace(USUAL, own_steps=20)) is NOTHING
    assert len(Leaving.started) < 12
