"""The shrinker: the shortest trace with the same fault, on faults that are made up so that the answer is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.counterexample.evidence import shrunk as counterexample_of
from conformance.counterexample.play import Played, play, symbolic
from conformance.counterexample.shrink import Cutter, shrink
from conformance.counterexample.simpler import Simpler
from conformance.judge.case import Case
from conformance.judge.finding import Finding
from conformance.references.task_progress import TaskProgress
from conformance.refused import Refused
from statemachines.compile import load
from statemachines.rows import AtOnce, Call, Given, Step, Trace
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import REFERENCE, adapted, explained, row_result, thread_job
from tests.faulty.background_tasks.concurrency import DrainedTwice
from tests.faulty.thread_job.retention import FirstStartedLeaves

FAULT = Finding("reply", "operations.messages.gives", "messages", "this", "that")
OTHER = Finding("reply", "operations.list_jobs.gives", "list_jobs", "this", "that")
Shows = Callable[[Trace], Finding | None]


def shrunk(trace: Trace, shows: Shows, seconds: float = 60, late: bool = False) -> Cutter[Trace, Played]:
    def played(candidate: Trace) -> Played:
        return Played(shows(candidate), candidate)

    return shrink(thread_job(), played, played(trace), seconds, lambda: late)


def numbers(trace: Trace) -> set[int]:
    return {call.number for call in trace.calls()}


def start(number: int, thread: str = "t1") -> Call:
    return Call(number, "start", (("thread", thread), ("tool_call", f"c{number}"), ("tool", "bash")))


def end(number: int, of: int, outcome: str = "completed", payload: str = "x") -> Call:
    given = Given(of, "job_id")
    return Call(number, "finish", (("job", given), ("outcome", outcome), ("payload", payload)))


@st.composite
def traces(draw: st.DrawFn) -> tuple[Trace, set[int]]:
    """A trace of starts, ends and looks, no two of them alike, and some of its calls that a fault needs."""
    steps: list[Step] = []
    started: list[int] = []
    for number in range(1, draw(st.integers(2, 24)) + 1):
        kind = draw(st.sampled_from(["start", "end", "look"]))
        if kind == "start":
            steps.append(start(number))
            started.append(number)
        elif kind == "end" and started:
            steps.append(end(number, started.pop(draw(st.integers(0, len(started) - 1)))))
        else:
            steps.append(Call(number, "messages", (("thread", f"t10{number}"),)))
    needed = draw(st.sets(st.sampled_from(range(1, len(steps) + 1)), min_size=1, max_size=5))
    return Trace(tuple(steps)), needed


def with_all_they_use(trace: Trace, needed: set[int]) -> set[int]:
    calls = {call.number: call for call in trace.calls()}
    found, waiting = set(), list(needed)
    while waiting:
        number = waiting.pop()
        found.add(number)
        waiting += calls[number].refers() - found
    return found


@pytest.mark.thorough
@given(traces())
def test_what_is_left_is_what_the_fault_needs_and_nothing_more(case: tuple[Trace, set[int]]) -> None:
    trace, needed = case
    best = shrunk(trace, lambda candidate: FAULT if needed <= numbers(candidate) else None)
    assert numbers(best.shown.trace) == with_all_they_use(trace, needed)
    assert best.shown.finding == FAULT


@given(traces(), st.integers(1, 6))
def test_another_fault_is_not_the_same(case: tuple[Trace, set[int]], least: int) -> None:
    """With fewer calls than `least` the trace shows something else: the shrinker stops before that."""
    trace, _ = case

    def shows(candidate: Trace) -> Finding:
        return FAULT if len(candidate) >= min(least, len(trace)) else OTHER

    best = shrunk(trace, shows)
    assert best.shown.finding == FAULT
    assert len(best.shown.trace) >= min(least, len(trace))


def test_the_same_fault_is_the_same_clause_kind_and_operation_whatever_was_seen() -> None:
    trace = Trace((start(1), start(2), start(3)))
    best = shrunk(trace, lambda tried: Finding(*FAULT.key, f"{len(tried)}", f"{len(tried) + 1}"))
    assert len(best.shown.trace) == 1
    assert FAULT.key == Finding(*FAULT.key, "a", "b").key != OTHER.key


# --- jobs, stretches, arguments ---------------------------------------------------------------------------


def test_a_fault_behind_many_jobs_is_cut_in_terms_of_jobs() -> None:
    """Any 21 jobs that end show it: the shrinker drops those beyond them in a few tries, not one by one."""
    many = 160
    trace = Trace((*(start(n) for n in range(many)), *(end(many + n, n) for n in range(many))))

    def shows(candidate: Trace) -> Finding | None:
        return FAULT if sum(call.operation == "finish" for call in candidate.calls()) >= 21 else None

    best = shrunk(trace, shows)
    assert len(best.shown.trace) == 42
    assert best.tries < 8 * many


def simplified(call: Call, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The arguments that are left of the last call of a trace, when a fault needs only that `holds`."""
    trace = Trace((start(1), call))

    def shows(candidate: Trace) -> Finding | None:
        last = candidate.calls()[-1]
        return FAULT if last.operation == call.operation and holds(dict(last.arguments)) else None

    return dict(shrunk(trace, shows).shown.trace.calls()[-1].arguments)


def test_what_is_left_gets_its_simplest_arguments() -> None:
    found = simplified(end(2, 1, "timed_out", "a long text"), lambda given: True)
    assert (found["outcome"], found["payload"]) == ("completed", "x")
    found = simplified(end(2, 1, "timed_out", "a long text"), lambda given: given["outcome"] != "completed")
    assert found["outcome"] == "failed"
    found = simplified(end(2, 1, "failed", "a long text"), lambda given: len(given["payload"]) > 1)
    assert found["payload"] == "xx"


def test_waits_become_short_threads_the_first_and_lists_short() -> None:
    wait = Call(2, "wait", (("ms", 1000),))
    assert simplified(wait, lambda given: True) == {"ms": 1}
    assert simplified(wait, lambda given: given["ms"] > 7) == {"ms": 10}
    assert simplified(start(2, "t2"), lambda given: True)["thread"] == "t1"
    look = Call(2, "list_jobs", (("thread", "t2"), ("statuses", ("failed", "running", "completed"))))
    found = simplified(look, lambda given: "running" in given["statuses"])
    assert found == {"thread": "t1", "statuses": ("running",)}


def waits(*calls: tuple[str, int | None]) -> Trace:
    """A trace of calls that say nothing, and of waits."""
    return Trace(
        tuple(Call(number, name, (("ms", ms),) if ms is not None else ()) for number, (name, ms) in enumerate(calls, 1))
    )


def steps(trace: Trace) -> list[tuple[str, int | None]]:
    return [(call.operation, dict(call.arguments).get("ms")) for call in trace.calls()]


def passed(calls: list[tuple[str, int | None]]) -> int:
    return sum(ms or 0 for _, ms in calls)


def test_beyond_the_instant_of_a_timer_no_look_is_needed() -> None:
    """At that instant it may have fired, or not: a look that shows that it has is dropped where a millisecond more does as well."""

    def shows(candidate: Trace) -> Finding | None:
        made = steps(candidate)
        sure = passed(made) > 5 or (passed(made) == 5 and ("look", None) in made)
        return FAULT if sure and made[-1] == ("end", None) else None

    best = shrunk(waits(("wait", 5), ("look", None), ("end", None)), shows).shown.trace
    assert steps(best) in ([("wait", 6), ("end", None)], [("wait", 10), ("end", None)])


def test_two_waits_become_one_where_either_stood() -> None:
    def shows(candidate: Trace) -> Finding | None:
        made = steps(candidate)
        begun = ("begin", None) in made and passed(made[made.index(("begin", None)) :]) >= 30
        return FAULT if begun and made[-1] == ("look", None) else None

    def shown_by(*calls: tuple[str, int | None]) -> list[tuple[str, int | None]]:
        return steps(shrunk(waits(*calls), shows).shown.trace)

    # Together before `begin` they would show nothing.
    assert shown_by(("wait", 20), ("begin", None), ("wait", 30), ("look", None)) == [
        ("begin", None),
        ("wait", 30),
        ("look", None),
    ]

    def in_all(candidate: Trace) -> Finding | None:
        made = steps(candidate)
        since = made.index(("cancel", None)) if ("cancel", None) in made else len(made)
        return FAULT if passed(made) >= 30 and passed(made[since:]) > 0 and made[-1] == ("look", None) else None

    trace = waits(("wait", 29), ("cancel", None), ("wait", 1), ("look", None))
    assert steps(shrunk(trace, in_all).shown.trace) == [("cancel", None), ("wait", 30), ("look", None)]


def test_an_argument_that_is_what_it_is_without_saying_is_not_said() -> None:
    """Numbers, words and nothing, as a spec writes them."""
    job = load("job")
    register = Call(1, "configure", (("max_running", 15), ("retention_ms", 300_000), ("poll_wait", 7)))
    simpler = Simpler(job)
    assert [*simpler.left_out(Trace((register,)))] == []
    said = Call(1, "configure", (("max_running", 3), ("retention_ms", 300_000), ("poll_wait", 30_000)))
    (left,) = simpler.left_out(Trace((said,)))
    assert dict(left.calls()[0].arguments) == {"max_running": 3, "retention_ms": 300_000}
    listed = Call(1, "tool", (("poll", None), ("cancel", None), ("list", False)))
    (left,) = simpler.left_out(Trace((listed,)))
    assert dict(left.calls()[0].arguments) == {"poll": None, "cancel": None}


def test_an_id_and_a_tool_call_are_left_alone() -> None:
    """Another text there would be another call or another job."""
    own = Call(2, "start_as", (*start(2).arguments, ("job_id", "mine")))
    trace = Trace((start(1), own))
    assert shrunk(trace, lambda candidate: FAULT if len(candidate) == 2 else None).shown.trace == trace


def test_calls_are_joined_in_one_that_refers_only_to_what_was_before() -> None:
    """Two calls with a list each, and what the second one lists was not there when the first was made."""

    def pick(number: int, *started: int) -> Call:
        return Call(number, "pick", (("chosen", tuple(Given(each, "job_id") for each in started)),))

    def shows(candidate: Trace) -> Finding | None:
        known: set[int] = set()
        for call in candidate.calls():
            assert call.refers() <= known
            known.add(call.number)
        picked = [value for call in candidate.calls() if call.operation == "pick" for value in call.refers()]
        return FAULT if sorted(picked) == [1, 3] else None

    best = shrunk(Trace((start(1), pick(2, 1), start(3), pick(4, 3))), shows)
    assert best.shown.trace == Trace((start(1), start(3), pick(4, 1, 3)))
    best = shrunk(Trace((start(1), start(3), pick(2, 1), pick(4, 3))), shows)
    assert best.shown.trace == Trace((start(1), start(3), pick(2, 1, 3)))


# --- calls at once ----------------------------------------------------------------------------------------


def at_once(callers: int, each: int) -> AtOnce:
    return AtOnce(tuple(tuple(start(1 + caller * each + n) for n in range(each)) for caller in range(callers)))


def test_calls_at_once_are_cut_to_the_fewest_that_show_the_fault() -> None:
    def shows(candidate: Trace) -> Finding | None:
        return FAULT if any(isinstance(step, AtOnce) for step in candidate.steps) else None

    best = shrunk(Trace((at_once(16, 200),)), shows)
    assert [len(step.callers) for step in best.shown.trace.steps if isinstance(step, AtOnce)] == [2]
    assert len(best.shown.trace) == 2
    assert best.tries < 100


def test_a_call_leaves_out_its_last_argument_where_that_means_the_same() -> None:
    """Two rows that fail alike are shown by the same calls, whether or not they say what is meant anyway."""
    simpler = Simpler(SUITES["background-tasks"].compiled)

    def peek(recent: object) -> Trace:
        return Trace((Call(1, "peek", (("task", "x"), ("recent", recent))),))

    assert list(simpler.left_out(peek(None))) == [Trace((Call(1, "peek", (("task", "x"),)),))]
    assert list(simpler.left_out(peek(2))) == []  # that is another question
    assert list(simpler.left_out(Trace((start(1),)))) == []


def test_a_number_becomes_one_of_the_two_least_that_its_type_has() -> None:
    def tried(lifecycle: str, operation: str, name: str, number: int) -> list[object]:
        traces = Simpler(load(lifecycle)).values(Trace((Call(1, operation, ((name, number),)),)))
        return [dict(each.calls()[0].arguments)[name] for each in traces]

    assert tried("job", "configure", "retention_ms", 1000) == [0, 1]
    assert tried("job", "configure", "retention_ms", 1) == [0]
    assert tried("thread-job", "llm_error", "http_status", 503) == [429, 430]


def test_a_value_is_made_simpler_wherever_it_stands() -> None:
    """In one call alone it would be another thread, and another name; odd names and longer ones become plain, plain ones stay."""
    long = "x" * 200

    def asked(thread: str, tool_call: str) -> Trace:
        given = {"thread": thread, "tool_call": tool_call, "tool": "bash"}
        return Trace((Call(1, "start", tuple(given.items())), Call(2, "list_jobs", (("thread", thread),))))

    everywhere = Simpler(thread_job()).everywhere
    assert list(everywhere(asked("t10", long))) == [
        asked("t1", long),
        asked("t2", long),
        asked("t10", "ToolCall-1"),
    ]
    assert list(everywhere(asked("t1", "ToolCall-1"))) == []
    assert list(everywhere(asked("t1", " c "))) == [asked("t1", "ToolCall-1")]


def test_a_look_beside_others_looks_at_no_record_that_may_not_be_there_yet() -> None:
    """The first record that was made alike is made by another caller, at the same time."""
    look = Call(4, "inspect_job", (("thread", "t1"), ("job", Given(3, "job_id"))))
    trace = Trace((AtOnce(((start(1),), (start(3), look))),))
    assert list(Simpler(thread_job()).first_record(trace)) == []
    assert len(list(Simpler(thread_job()).first_record(Trace((start(1), start(3), look))))) == 1


def test_calls_that_need_not_be_at_once_are_made_one_after_the_other() -> None:
    trace = Trace((AtOnce(((start(1),), (start(2),), (start(3),))),))
    best = shrunk(trace, lambda candidate: FAULT if {1, 3} <= numbers(candidate) else None)
    assert best.shown.trace == Trace((start(1), start(3)))


def test_what_a_caller_sees_of_calls_at_once_is_asked_when_they_are_over_if_it_is_seen_then_too() -> None:
    group = AtOnce(((end(3, 1), Call(5, "list_jobs", (("thread", "t1"),))), (end(4, 2),)))
    trace, needed = Trace((start(1), start(2), group)), {1, 2, 3, 4, 5}

    def shows(found: Trace) -> Finding | None:
        at_once = any(
            isinstance(step, AtOnce) and {3, 4} <= {each.number for each in step.calls()} for step in found.steps
        )
        return FAULT if at_once and needed <= numbers(found) else None

    assert shrunk(trace, shows).shown.trace.steps[2:] == (
        AtOnce(((end(3, 1),), (end(4, 2),))),
        Call(5, "list_jobs", (("thread", "t1"),)),
    )


def test_calls_that_were_at_once_are_made_in_the_order_that_shows_the_fault() -> None:
    trace = Trace((AtOnce(((start(1), start(2)), (start(3),))),))

    def shows(found: Trace) -> Finding | None:
        in_order = [call.number for call in found.calls()] == [3, 1, 2]
        return FAULT if found == trace or in_order else None

    assert shrunk(trace, shows).shown.trace == Trace((start(3), start(1), start(2)))


# --- budget -----------------------------------------------------------------------------------------------


def test_without_time_the_trace_stays_as_it_is() -> None:
    trace = Trace((start(1), start(2)))
    best = shrunk(trace, lambda candidate: FAULT, 0)
    assert (best.shown.trace, best.tries) == (trace, 0)


@pytest.mark.parametrize(
    ("takes", "seconds", "late", "left"),
    [(0.5, 1, False, 1), (0.5, 1, True, 8), (20, 1, False, 16), (20, 12, False, 8)],
)
def test_of_a_system_that_takes_its_time_some_tries_are_made_in_any_case(
    monkeypatch: pytest.MonkeyPatch, takes: float, seconds: float, late: bool, left: int
) -> None:
    """Where a try takes so long that hardly one fits into the time, a few are made; not for ever, nor when the run has no time."""
    clock = [100.0]

    def shows(candidate: Trace) -> Finding | None:
        clock[0] += takes
        return FAULT if 5 in numbers(candidate) else None

    monkeypatch.setattr("conformance.counterexample.shrink.time", SimpleNamespace(monotonic=lambda: clock[0]))
    trace = Trace(tuple(start(number) for number in range(1, 33)))
    assert len(shrunk(trace, shows, seconds, late).shown.trace) == left


def test_the_first_try_leaves_what_the_last_call_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a system so slow that there is time for one try alone, it is the best one."""
    clock = [100.0]

    def shows(candidate: Trace) -> Finding | None:
        clock[0] += 50
        return FAULT if {5, 12} <= numbers(candidate) else None

    monkeypatch.setattr("conformance.counterexample.shrink.time", SimpleNamespace(monotonic=lambda: clock[0]))
    trace = Trace((*(start(number) for number in range(1, 11)), end(11, 3), end(12, 5)))
    assert numbers(shrunk(trace, shows, 1).shown.trace) == {5, 12}


@pytest.mark.thorough
def test_of_jobs_that_are_alike_one_is_left_out_for_all() -> None:
    starts = [replace(start(number), arguments=(("tool_call", f"c-{number}"),)) for number in range(1, 61)]
    ends = [end(number + 60, number) for number in range(1, 61)]
    trace = Trace((*starts, *ends))
    best = shrunk(trace, lambda candidate: FAULT if len(candidate) == 120 else None)
    assert len(best.shown.trace) == 120
    assert best.tries < 120  # 60 starts, 60 ends, 60 jobs, and the halves and quarters of all


def test_no_candidate_is_tried_twice() -> None:
    tried: list[Trace] = []
    trace = Trace(tuple(start(number) for number in range(1, 9)))

    def shows(candidate: Trace) -> Finding | None:
        tried.append(candidate)
        return FAULT if {2, 5} <= numbers(candidate) else None

    best = shrunk(trace, shows)
    assert len(tried) - 1 == best.tries
    assert len(set(tried[1:])) == best.tries


# --- on a system ------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_fault_behind_the_21st_job_is_found_at_its_known_length() -> None:
    with adapted(FirstStartedLeaves) as adapter:
        case = Case(thread_job(), adapter)
        ids = []
        for number in range(24):
            given = {"thread": "t1", "tool_call": f"c{number}", "tool": "delegate"}
            ids.append(case.call("start", given).value["job_id"])
        for job in reversed(ids):
            case.call("finish", {"job": job, "outcome": "failed", "payload": "text"})
            case.call("wait", {"ms": 3})
        case.call("list_jobs", {"thread": "t1", "statuses": ["failed", "completed"]})
        (found,) = case.faults
        first = play(thread_job(), adapter, symbolic(thread_job(), case.trace))
        best = shrink(thread_job(), lambda trace: play(thread_job(), adapter, trace), first, 60)
    assert len(best.shown.trace) <= FirstStartedLeaves.calls
    assert best.shown.finding is not None
    assert best.shown.finding.key == found.key
    with adapted(REFERENCE) as adapter:
        assert play(thread_job(), adapter, best.shown.trace).finding is None


@pytest.mark.thorough
def test_of_callers_at_once_only_those_are_left_that_no_order_explains() -> None:
    result = row_result(DrainedTwice, "B5", load("background-tasks"))
    assert result.counterexample is not None
    assert result.counterexample.calls == DrainedTwice.calls, explained(result)
    assert "together(2, drain_completed())" in result.counterexample.row


class RefusesBeside(TaskProgress):
    """A task that is made beside another one is refused now and then, which nothing in the spec allows."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = 0

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Any:
        self.inside += 1
        made = super().create_task(label, batch, registers)
        beside, self.inside = self.inside > 1, self.inside - 1
        if beside:
            raise Refused("busy")
        return made


@pytest.mark.thorough
def test_what_no_order_can_allow_is_told_of_the_one_call() -> None:
    result = row_result(RefusesBeside, "X10", load("task-progress"))
    found = result.counterexample
    assert found is not None
    assert (found.clause, found.expected, found.seen) == ("operations.create_task", "accepted", "refused busy")
    assert found.calls <= 3, explained(result)


STOPPED = compile_text(
    """
lifecycle: stopped
version: 1
about: A job is stopped, if the system follows that, and what is stopped cannot be kept.
should: [operations.stop.move]
entities:
  Job: {id: minted, states: {active: [running], terminal: [stopped]}, shows: {status: job.state}}
operations:
  start: {create: {Job: {}}, gives: {job_id: job.id}}
  stop: {takes: {job: Job}, move: running -> stopped}
  keep: {takes: {job: Job}, move: running -> same}
  look: {takes: {job: Job}, gives: job}
matrix: {}
""",
    "stopped.yaml",
)


class KeepsWhatIsStopped:
    """It stops jobs, as is recommended, and keeps them all the same."""

    def start(self) -> Any:
        self.status = "running"
        return {"job_id": "a"}

    def stop(self, job: str) -> None:
        self.status = "stopped"

    def keep(self, job: str) -> None:
        pass

    def look(self, job: str) -> Any:
        return {"status": self.status}


def test_a_look_stays_without_which_nobody_knows_that_a_recommendation_is_followed() -> None:
    with adapted(KeepsWhatIsStopped, STOPPED) as adapter:
        case = Case(STOPPED, adapter)
        case.call("start", {})
        case.call("stop", {"job": "a"})
        case.call("look", {"job": "a"})
        case.looks.add(2)  # as the searches do, which look after every call
        case.call("keep", {"job": "a"})
        found = counterexample_of(case)
    assert found is not None
    assert found.calls == 4
    assert "look(job.job_id)" in found.row
