"""One fault hides no other: what leaving out one clause explains is one cause, and the run goes on without it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

import conformance
from conformance.budget import USUAL
from conformance.demo import WaitsForAborted
from conformance.judge import Case
from conformance.references.local_agent import LocalAgents
from conformance.references.task_progress import TaskProgress
from conformance.references.thread_job import ThreadJobs
from conformance.refused import Refused
from conformance.suite import machine
from conformance.suite.levels import is_one_fault
from conformance.verdict import (
    EXIT_VIOLATES,
    MACHINE,
    Counterexample,
    Diagnosis,
    Judged,
    RowResult,
    Verdict,
    verdict_of,
)
from statemachines.compile import load
from tests.checking import compile_text
from tests.conformance.systems import BRIEF, adapted, thread_job, whole_run
from tests.faulty.local_agent import messages, registering
from tests.faulty.thread_job import FAULTY

LIES = {lie.__name__: lie for lie in FAULTY}
TRIGGER = "operations.turn_boundary.signal.TurnTriggered"
AGAIN = "entities.Call.unique.tool_call"


def both(one: str, other: str) -> type:
    """A system with two faults, each of which is in a method of its own."""
    return type("Both", (LIES[one], LIES[other]), {"declares": ThreadJobs.declares})


def failing(results: list[RowResult]) -> dict[str, str]:
    """The cause of each row that fails; an empty text where none is known."""
    found = [each for each in results if each.verdict in (Verdict.FAIL, Verdict.FLAKY)]
    return {each.id: each.counterexample.cause if each.counterexample is not None else "" for each in found}


@pytest.mark.thorough
@pytest.mark.parametrize(("lie", "cause"), [("TurnNotTriggered", TRIGGER), ("SecondStartAccepted", AGAIN)])
def test_one_fault_is_one_cause_in_all_rows_and_the_machine(lie: str, cause: str) -> None:
    code, results = whole_run(LIES[lie], budget=replace(BRIEF, walks=4))
    found = failing(results)
    assert set(found.values()) == {cause}
    assert MACHINE in found
    assert len(found) > 2
    assert code == EXIT_VIOLATES


class LastOutcomeCounts(TaskProgress):
    """Of two outcomes the last counts, unless that is an abort: the second one changes nothing but the status."""

    def finish(self, task: str, outcome: str) -> None:
        found = self._tasks.get(task)
        if found is not None and found.status in ("completed", "failed") and outcome != "aborted":
            found.status = outcome
        else:
            super().finish(task, outcome)


def clauses(system: type, *rows: str) -> set[str]:
    """The clauses that some rows of task-progress tell for one fault."""
    _, results = whole_run(system, load("task-progress"), budget=USUAL.quick(), only=rows)
    shown = {each.id: each.counterexample for each in results if each.verdict is Verdict.FAIL}
    assert set(shown) == set(rows)
    return {each.clause for each in shown.values() if each is not None}


@pytest.mark.thorough
def test_the_machine_names_the_cause_that_rows_name_although_its_long_case_did_not_tell_it() -> None:
    assert clauses(LastOutcomeCounts, "E4", "E5", MACHINE) == {"operations.finish.otherwise"}


@pytest.mark.thorough
def test_what_was_explained_among_calls_at_once_is_not_where_a_look_of_one_caller_contradicts_it() -> None:
    assert clauses(WaitsForAborted, "B6", "X18", MACHINE) == {"operations.batch_status.gives"}


@pytest.mark.thorough
def test_of_two_faults_each_has_its_own_cause_and_counterexample() -> None:
    _, results = whole_run(both("TurnNotTriggered", "SecondStartAccepted"), budget=BRIEF)
    assert {TRIGGER, AGAIN} == set(failing(results).values())


@pytest.mark.thorough
def test_the_machine_alone_finds_both() -> None:
    _, results = whole_run(both("TurnNotTriggered", "SecondStartAccepted"), only=[MACHINE], quick=True)
    assert [each.id for each in results] == [MACHINE, f"{MACHINE}-2"]
    assert {TRIGGER, AGAIN} == set(failing(results).values())
    rows = [each.counterexample.row for each in results if each.counterexample is not None]
    assert len(set(rows)) == 2


def test_the_report_names_the_rows_of_one_cause() -> None:
    report = conformance.run("thread-job", LIES["TurnNotTriggered"], rows="N4,E7")
    assert f"N4 and E7: one cause, {TRIGGER}." in " ".join(repr(report).split())


def test_a_must_sentence_that_is_broken_fails_the_run_whichever_row_sees_it() -> None:
    spec = load("thread-job")
    (should,) = [row for row in ("X4",) if spec.lifecycle.rows[row].level == "should"]
    report = conformance.run("thread-job", LIES["TurnNotTriggered"], rows=should)
    assert report[should].verdict is Verdict.PASS
    assert report.exit == EXIT_VIOLATES
    assert f"A fault of {TRIGGER} was seen" in " ".join(repr(report).split())


class TellsTwice(ThreadJobs):
    """It does what no clause left out explains."""

    def turn_boundary(self, thread: str) -> list[Any]:
        found: list[Any] = super().turn_boundary(thread)
        return [*found, *found]


def shown(clause: str, *changing: str) -> Judged:
    """What a fault without a known cause comes to, and what was called to see it."""
    return verdict_of(Counterexample("C1:", 2, clause, "1", "2", rounds=1, reproduced=1, changing=changing))


def runner_that_told(*shown: Any) -> Any:
    """Return what the machine asks a runner whose rows have shown something."""
    return SimpleNamespace(told={}, shown=[*shown], held=set(), compiled=load("thread-job"))


def test_a_fault_that_is_not_told_for_its_calls_begin_with_those_of_another_is_named_beside_that_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults = [
        shown("a", "start", "finish"),
        shown("b", "start", "finish", "turn"),
        shown("a", "start"),
        shown("c", "wait"),
    ]
    monkeypatch.setattr(machine, "_failed", lambda runner, case, *_: faults[case])
    runner = runner_that_told()
    monkeypatch.setattr(machine, "only_derived", lambda failed, fault, *_: fault.clause == "c")
    seen: Any = [(number, SimpleNamespace(clause=str(number), should=False)) for number in range(len(faults))]
    (first, level), second = machine._told(runner, seen, set())
    assert first.reason == "expected 1; seen 2; the same calls also break b"
    assert level == "must"
    assert second == (faults[3], "should")


def test_one_fault_is_told_once_whatever_yes_or_no_the_calls_say_that_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [
        shown("a", "create", "look"),
        shown("a", "create registers=false", "look"),
        shown("b", "create registers=false", "look"),
    ]
    monkeypatch.setattr(machine, "_failed", lambda runner, case, *_: faults[case])
    monkeypatch.setattr(machine, "only_derived", lambda *_: False)
    seen: Any = [(number, SimpleNamespace(clause=str(number), should=False)) for number in range(len(faults))]
    assert [each.counterexample for each, _ in machine._told(runner_that_told(), seen, set())] == [
        faults[0].counterexample,
        faults[2].counterexample,
    ]


def test_two_faults_that_take_no_call_that_changes_anything_are_two() -> None:
    one = Counterexample("a row", 1, "operations.a.gives", "1", "2", matter="reply  1", cause="operations.a.gives")
    other = Counterexample("a row", 1, "operations.b.gives", "3", "4", matter="reply  3")
    assert not is_one_fault(one, other)
    assert not is_one_fault(replace(one, cause=""), other)
    assert is_one_fault(replace(one, changing=("start",)), replace(other, changing=("start",)))
    assert is_one_fault(replace(one, cause=""), replace(one, cause="", row="another row"))
    ids = [replace(each, cause="", clause="entities.Job.id") for each in (one, other)]
    assert is_one_fault(ids[0], ids[1]), "an id came again, by other calls"
    assert not is_one_fault(ids[0], replace(ids[1], clause="entities.Thread.id"))


def test_what_one_mistake_explains_of_one_clause_is_one_fault_whichever_calls_show_it() -> None:
    again = Diagnosis("messages.Ended.at most", "tells it again")
    one = Counterexample(
        "a row", 4, "operations.emit.gives", "false", "true", changing=("start_as", "finish"), diagnosis=again
    )
    other = replace(one, changing=("start", "emit"))
    assert is_one_fault(one, other)
    assert not is_one_fault(replace(one, diagnosis=None), other)
    assert not is_one_fault(replace(one, diagnosis=replace(again, words="is not done")), other)
    assert not is_one_fault(replace(one, diagnosis=replace(again, clause="messages.Other.at most")), other)
    assert not is_one_fault(replace(one, clause="operations.messages.gives"), other), "it may be another fault"
    since = replace(again, words="all was right until `finish(a)` was called", explains=False)
    assert not is_one_fault(replace(one, diagnosis=since), replace(other, diagnosis=since)), "it explains nothing"


def test_a_yes_in_place_of_the_no_of_one_sentence_is_one_fault_whichever_calls_lead_to_it() -> None:
    one = Counterexample("a row", 8, "operations.finish.missing", "refused not_found", "accepted", matter="accepted  ")
    one = replace(one, changing=("submit", "withdraw", "finish"))
    other = replace(one, seen="accepted, giving 'done'", changing=("submit", "take", "wait", "finish"))
    assert is_one_fault(one, other)
    assert not is_one_fault(replace(one, clause="operations.finish.otherwise"), other), "another sentence"
    no = replace(one, expected="refused full", seen="refused closed", matter="refused  ")
    assert is_one_fault(no, replace(no, changing=other.changing))
    assert not is_one_fault(no, replace(no, changing=other.changing, seen="refused not_yours")), "two other sentences"
    state, gives = "reply state ", "operations.finish.gives"
    assert not is_one_fault(replace(one, matter=state), replace(other, matter=state)), "it may be wrong in several ways"
    assert not is_one_fault(replace(one, clause=gives), replace(other, clause=gives)), "and so may all that it gives"


def test_of_two_counterexamples_of_one_fault_the_shorter_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    long = Counterexample("long", 8, "operations.finish.missing", "refused not_found", "accepted", matter="accepted  ")
    long = replace(long, changing=("submit", "withdraw", "finish"))
    short = replace(long, row="short", calls=7, changing=("submit", "take", "finish"))
    raced = replace(short, row="raced", calls=3, rounds=20)

    def told(*shown: Counterexample) -> list[str]:
        faults = [Judged(Verdict.FAIL, "", each) for each in shown]
        monkeypatch.setattr(machine, "_failed", lambda runner, case, *_: faults[case])
        seen: Any = [(number, SimpleNamespace(clause=str(number), should=False)) for number in range(len(faults))]
        found = machine._told(runner_that_told(), seen, set())
        return [each.counterexample.row for each, _ in found if each.counterexample is not None]

    monkeypatch.setattr(machine, "only_derived", lambda *_: False)
    assert told(long, short) == ["short"]
    assert told(short, long) == ["short"]
    assert told(short, raced) == ["short"], "calls at once show it less surely"


@pytest.mark.parametrize(("clause", "once"), [("messages.Ended.order", True), ("operations.messages.gives", False)])
def test_the_same_calls_in_another_order_show_one_fault_where_a_sentence_of_its_own_is_broken(
    clause: str, once: bool
) -> None:
    one = Counterexample("a row", 4, clause, "1, 2", "2, 1", matter="order", changing=("start", "finish a", "turn"))
    other = replace(one, expected="3, 1", seen="1, 3", changing=("finish a", "start", "turn"))
    assert is_one_fault(one, other) == once


def test_one_thing_seen_in_a_list_and_alone_is_one_fault_whatever_has_created_the_record() -> None:
    creating = {"start": "a new Job", "start_as": "a new Job"}
    matter = "reply cancelled_at "
    one = Counterexample("a row", 4, "operations.get.gives", "cancelled_at = 0", "cancelled_at = null", matter=matter)
    one = replace(one, changing=("start", "cancel", "finish"))
    listed = replace(
        one, clause="operations.list.gives", expected="[0].cancelled_at = 0", seen="[0].cancelled_at = null"
    )
    other = replace(listed, changing=("start_as", "cancel", "finish"))
    assert is_one_fault(one, other, creating)
    either = replace(one, expected="cancelled_at = 0 or cancelled_at = 1")
    assert is_one_fault(either, replace(other, expected="[0].cancelled_at = 0 or [0].cancelled_at = 1"), creating)
    assert not is_one_fault(one, other)
    assert not is_one_fault(one, replace(other, seen="[0].cancelled_at = 7"), creating), "something else is seen"
    assert not is_one_fault(one, replace(other, changing=("start_as", "finish", "cancel")), creating), "another story"


def test_what_a_story_breaks_as_well_is_said_of_the_fault_that_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [shown("a", "cancel"), shown("b", "register", "settle"), shown("c", "register", "settle", "wait")]
    monkeypatch.setattr(machine, "_failed", lambda runner, case, *_: faults[case])
    monkeypatch.setattr(machine, "only_derived", lambda *_: False)
    seen: Any = [(number, SimpleNamespace(clause=str(number), should=False)) for number in range(len(faults))]
    runner = runner_that_told()
    assert [each.reason for each, _ in machine._told(runner, seen, set())] == [
        "expected 1; seen 2",
        "expected 1; seen 2; the same calls also break c",
    ]
    row = (SimpleNamespace(level="must"), shown("d", "register", "settle").counterexample)
    runner = runner_that_told(row)
    ((first, _),) = machine._told(runner, [seen[0], seen[2]], set())
    assert first.reason == "expected 1; seen 2; the calls of rows that fail also break c"


def test_a_must_is_told_although_its_calls_begin_with_those_of_a_row_that_is_recommended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults = [shown("a", "wait"), shown("b", "start", "finish", "turn")]
    monkeypatch.setattr(machine, "_failed", lambda runner, case, *_: faults[case])
    monkeypatch.setattr(machine, "only_derived", lambda *_: False)
    seen: Any = [(number, SimpleNamespace(clause=str(number), should=False)) for number in range(len(faults))]
    for level, told in (("should", [(each, "must") for each in faults]), ("must", [(faults[0], "must")])):
        row = (SimpleNamespace(level=level), shown("c", "start", "finish").counterexample)
        runner = runner_that_told(row)
        found = machine._told(runner, seen, set())
        assert [(each.counterexample, its) for each, its in found] == [(each.counterexample, its) for each, its in told]


class AnyOutcomeCounts(TaskProgress):
    """A task ends whenever somebody says so: once more, and though it never started."""

    def finish(self, task: str, outcome: str) -> None:
        self._tasks[task].status = outcome


class AbortsWrongly(TaskProgress):
    """An abort makes what runs fail, and leaves what waits alone: two faults that one observer shows."""

    def abort(self, task: str) -> None:
        if self._tasks[task].status == "running":
            self._tasks[task].status = "failed"


@pytest.mark.thorough
def test_rows_that_break_one_sentence_in_two_ways_show_each_its_own() -> None:
    _, results = whole_run(AnyOutcomeCounts, load("task-progress"), budget=BRIEF, only=["E5", "X16"])
    shown = {each.id: each.counterexample for each in results}
    again, never_started = shown["E5"], shown["X16"]
    assert again is not None
    assert never_started is not None
    assert again.cause == never_started.cause == "operations.finish.otherwise"
    assert (again.seen, never_started.seen) == ("'failed'", "'completed'")
    assert never_started.calls == 3 < again.calls


@pytest.mark.thorough
def test_a_shorter_counterexample_shows_the_state_that_was_seen_and_no_other() -> None:
    _, results = whole_run(AbortsWrongly, load("task-progress"), budget=BRIEF, only=["X7"])
    shown = results[0].counterexample
    assert shown is not None
    assert (shown.seen, shown.calls) == ("'failed'", 4), "an abort of what waits leaves it pending in three calls"


def test_what_no_clause_left_out_explains_has_no_cause() -> None:
    _, results = whole_run(TellsTwice, only=["N4"])
    assert failing(results) == {"N4": ""}


@pytest.mark.parametrize(("steps", "cause"), [(BRIEF.explain_steps, TRIGGER), (0, "")])
def test_no_clause_is_tried_beyond_what_the_budget_allows(steps: int, cause: str) -> None:
    _, results = whole_run(LIES["TurnNotTriggered"], only=["N4"], budget=replace(BRIEF, explain_steps=steps))
    assert failing(results) == {"N4": cause}


@pytest.mark.thorough
def test_an_explanation_that_a_look_contradicts_is_none() -> None:
    _, results = whole_run(LIES["TimedOutIsNeverTold"], only=["N4"])
    assert failing(results) == {"N4": ""}


def test_a_case_goes_on_without_what_the_system_leaves_out_and_sees_the_next_fault() -> None:
    with adapted(both("TurnNotTriggered", "SecondStartAccepted")) as adapter:
        case = Case(thread_job(), adapter)
        job = case.call("start", {"thread": "t1", "tool_call": "c1", "tool": "bash"}).given["job_id"]
        case.call("finish", {"job": job, "outcome": "completed", "payload": "x"})
        case.call("turn_boundary", {"thread": "t1"})
        assert [each.clause for each in case.judge.deviations] == [TRIGGER]
        case.call("start", {"thread": "t1", "tool_call": "c1", "tool": "bash"})
        assert [each.clause for each in case.faults] == [TRIGGER, AGAIN]


@pytest.mark.parametrize(("lie", "first"), [("KeepsOneFewer", 20), ("KeepsOneMore", 21)])
def test_another_number_of_records_that_are_kept_is_one_fault_however_often_one_leaves(lie: str, first: int) -> None:
    with adapted(LIES[lie]) as adapter:
        case = Case(thread_job(), adapter)
        for number in range(1, 26):
            call = case.call("start", {"thread": "t1", "tool_call": f"c{number}", "tool": "bash"})
            case.call("finish", {"job": call.given["job_id"], "outcome": "completed", "payload": "x"})
            case.call("list_jobs", {"thread": "t1", "statuses": ["completed"]})
            assert [each.clause for each in case.faults] == ([] if number < first else ["entities.Job.retain"])


def test_an_id_of_another_form_hides_nothing() -> None:
    both = type("Both", (registering.SessionHasIdOfAgent, messages.QueueHoldsHundred), {})
    _, results = whole_run(both, load("local-agent"), budget=BRIEF, only=["X14", "X27"])
    shown = {each.id: each.counterexample.clause for each in results if each.counterexample is not None}
    assert shown == {"X14": "entities.Task.id", "X27": "operations.drain_messages.gives"}


@pytest.mark.parametrize("lie", ["FirstStartedLeaves", "LastEndedLeaves", "KeepsOneMore"])
@pytest.mark.parametrize("at_once", [False, True], ids=["one after the other", "at once"])
def test_other_records_that_are_kept_are_one_fault_whichever_call_shows_them(lie: str, at_once: bool) -> None:
    with adapted(LIES[lie]) as adapter:
        case = Case(thread_job(), adapter)

        def start(number: int) -> str:
            return str(case.call("start", {"thread": "t1", "tool_call": f"c{number}", "tool": "bash"}).given["job_id"])

        jobs: list[str] = []
        for number in range(1, 24, 2):
            pair = start(number), start(number + 1)
            jobs += pair[::-1] if number < 23 else pair[1:]
        for job in jobs:
            case.call("finish", {"job": job, "outcome": "completed", "payload": "x"})
        listing = partial(case.call, "list_jobs", {"thread": "t1", "statuses": ["completed"]})
        inspecting = [partial(case.call, "inspect_job", {"thread": "t1", "job": job}) for job in (jobs[2], jobs[-1])]
        if at_once:
            case.together([listing, *inspecting])
        else:
            for look in (listing, *inspecting):
                look()
        assert [each.clause for each in case.faults] == ["entities.Job.retain"]


LEASES = compile_text(
    """
lifecycle: leases
version: 1
about: What is leased is free again after a while.
entities:
  Item:
    id: minted
    fields: {since: {type: time, default: 0}}
    states: {active: [free, leased]}
    after:
      leased: {in: 10, since: item.since, move: free, signal: {Freed: {with: {item: item.id}}}}
    shows: {item_id: item.id, status: item.state}
operations:
  put: {create: {Item: {}}, gives: {item_id: item.id}}
  take: {takes: {item: Item}, move: free -> leased, set: {item.since: now}, otherwise: refused taken}
  look: {takes: {item: Item}, gives: item}
  items_now: {gives: items}
signals:
  Freed: {item: text}
matrix: {}
""",
    "leases.yaml",
)


LEASED = "entities.Item.after.leased."


class Leases:
    """It leases for so many milliseconds."""

    declares: ClassVar[dict[str, Any]] = {"clock": "virtual"}
    lasts = 10

    def __init__(self) -> None:
        self.now, self.until, self.freed = 0, dict[str, int](), list[dict[str, str]]()

    def put(self) -> dict[str, str]:
        item = f"i{len(self.until)}"
        self.until[item] = 0
        return {"item_id": item}

    def take(self, item: str) -> None:
        if self.now < self.until[item]:
            raise Refused("taken")
        self.until[item] = self.now + self.lasts

    def look(self, item: str) -> dict[str, str]:
        return {"item_id": item, "status": "leased" if self.now < self.until[item] else "free"}

    def items_now(self) -> list[dict[str, str]]:
        return [self.look(item) for item in self.until]

    def wait(self, ms: int) -> None:
        freed = [item for item, until in self.until.items() if self.now < until <= self.now + ms]
        self.freed += [{"signal": "Freed", "item": item} for item in freed]
        self.now += ms

    def signals(self) -> list[dict[str, str]]:
        freed, self.freed = self.freed, []
        return freed


class EndsEarly(Leases):
    """A lease ends one millisecond too early."""

    lasts = 9


class EndsLate(Leases):
    """A lease ends two milliseconds too late."""

    lasts = 12


class FreesTheOther(Leases):
    """Who takes an item frees the one that was taken before: no time has passed."""

    last = ""

    def take(self, item: str) -> None:
        super().take(item)
        if self.last:
            self.until[self.last] = 0
            self.freed.append({"signal": "Freed", "item": self.last})
        self.last = item


def test_what_happens_at_once_is_no_fault_of_a_timer() -> None:
    with adapted(FreesTheOther, LEASES) as adapter:
        case = Case(LEASES, adapter)
        one, other = (case.call("put", {}).given["item_id"] for _ in range(2))
        for item in (one, other):
            case.call("take", {"item": item})
        case.call("look", {"item": one})
        assert "entities.Item.after.leased.move" not in [each.clause for each in case.faults]
        assert case.faults


@pytest.mark.parametrize(
    ("system", "told"),
    [(Leases, []), (EndsEarly, [LEASED + "move"]), (EndsLate, [LEASED + "signal.Freed", LEASED + "move"])],
)
def test_a_timer_that_fires_early_or_late_is_told_by_its_clauses_however_many_records_and_whichever_call_shows_it(
    system: type[Leases], told: list[str]
) -> None:
    with adapted(system, LEASES) as adapter:
        case = Case(LEASES, adapter)
        items = [case.call("put", {}).given["item_id"] for _ in range(8)]
        for _ in range(3):
            for item in items:
                case.call("take", {"item": item})
            case.call("items_now", {})
            case.call("wait", {"ms": 9 if system is EndsEarly else 11})
            case.call("look", {"item": items[0]})
            case.call("items_now", {})
            case.call("take" if system is EndsEarly else "look", {"item": items[5]})
            case.call("wait", {"ms": 20})
        assert [each.clause for each in case.faults] == told


class GraceFromTheEnd(LocalAgents):
    """The grace of a task that is released counts from its end, and not from then."""

    def _release(self, task: Any) -> None:
        super()._release(task)
        if task.ended_at is not None:
            task.evict_after = task.ended_at + self._grace


@pytest.mark.thorough
def test_a_row_names_the_clause_that_explains_its_shortest_calls_although_its_own_calls_hide_that() -> None:
    _, results = whole_run(GraceFromTheEnd, load("local-agent"), budget=BRIEF, only=["N18", "B6"])
    assert failing(results) == dict.fromkeys(("N18", "B6"), "operations.release.set.task.evict_after")
