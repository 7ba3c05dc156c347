"""The Hypothesis machine and its prefills: what they reach, what they find, and that a seed decides."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import suite as kit_suite
from conformance.budget import USUAL
from conformance.counterexample.play import symbolic
from conformance.judge.avoided import BrokenCalls
from conformance.references.job import Jobs
from conformance.references.task_progress import TaskProgress
from conformance.references.thread_job import ACTIVE, Reply, ThreadJob, ThreadJobs
from conformance.refused import Refused
from conformance.search import pairs, prefill, stateful
from conformance.search.faults import Diverged, Faults
from conformance.search.odd_values import ODD
from conformance.search.stateful import MOST_REACHED, WAITS, Driver
from conformance.verdict import MACHINE, Verdict
from statemachines.compile import load
from statemachines.expression import python_name
from statemachines.rows import Observed, Trace
from tests.arguments import arguments
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.search.searching import searched, traces
from tests.conformance.systems import EVERY_STATUS, REFERENCE, adapted, thread_job, whole_run
from tests.faulty.thread_job.crashes import ListGivesIds
from tests.faulty.thread_job.leftovers import StampStaysAfterEviction
from tests.faulty.thread_job.retention import FirstStartedLeaves, KeepsOneFewer, ToldLeaveFirst
from tests.faulty.thread_job.telling import TurnTriggeredByNothing
from tests.right.thread_job import MachineJobs, RealClockJobs

A_DAY = max(WAITS)
TERMINAL = EVERY_STATUS[2:]
RULES = {each.name for each in thread_job().kernel.operations} | {"wait"}


def retaining(count: int) -> type:
    """The reference with another retention."""

    class Retaining(REFERENCE):
        declares = {**REFERENCE.declares, "limits": {"retained": count}}  # noqa: RUF012 - as the reference

        def __init__(self) -> None:
            super().__init__(retained=count)

    return Retaining


# --- prefill ----------------------------------------------------------------------------------------------


def begun(system: type) -> list[tuple[int, int, int]]:
    """For each way to begin: how many jobs ended, how many of them are still there, and at how many instants."""
    found = []
    with adapted(system) as adapter:
        ways = prefill.prefills(thread_job(), adapter.declaration, USUAL.prefilled)
        for begin in (each for each in ways if "gathered" not in repr(each)):  # that begins otherwise by each seed
            driver = Driver(thread_job(), adapter)
            begin(driver)
            assert driver.case.finding is None
            calls = Counter(record.operation for record in driver.case.calls)
            shown = driver.case.call("list_jobs", {"thread": "t1", "statuses": list(TERMINAL)}).value
            there = [job for job in shown if job["status"] in TERMINAL]
            found.append((calls["finish"], len(there), calls["wait"]))
    return found


@pytest.mark.parametrize("retained", [0, 1, 2, 3, 20])
def test_a_case_begins_with_one_fewer_as_many_and_one_more_than_are_retained(retained: int) -> None:
    ways = begun(retaining(retained))
    assert ways[0] == (0, 0, 0)
    counts = sorted({max(retained - 1, 0), retained, retained + 1} - {0})
    apart = [(count, min(count, retained), 2 * count) for count in counts]
    at_once = [(count, min(count, retained), 0) for count in counts]
    afresh = [(2 * retained + 1, retained, 0)] if retained else []
    again = retained > 3  # one of them is asked to end once more, after two others were asked something else
    touched = [(retained + 6 + again, retained, 0)] if retained > 1 else []
    far = [(3 * retained, retained, 0)] if retained else []
    retaken = (
        [(retained + 2, retained, 0)] if retained else []
    )  # the one that left, the others, and the one under its id
    crowd = [(0, 0, 0)]  # jobs that run
    one = [(0, 0, 0)]  # that is called about again and again, if that changes something each time
    assert sorted(ways[1:]) == sorted(crowd + one + apart + at_once + far + retaken + touched + afresh)


def test_a_system_without_a_clock_of_its_own_ends_jobs_one_after_the_other() -> None:
    assert {waits for _, _, waits in begun(RealClockJobs)} == {0}
    assert {ended for ended, _, _ in begun(RealClockJobs)} == {0, 7, 8, 9, 15, 17}


def test_a_case_begins_with_one_record_that_is_called_about_again_and_again() -> None:
    compiled = load("task-progress")
    with adapted(TaskProgress, compiled) as adapter:
        repeated = [
            each
            for each in prefill.prefills(compiled, adapter.declaration, USUAL.prefilled)
            if "_repeated" in repr(each)
        ]
        assert len(repeated) == 1
        for seed in range(6):
            driver = Driver(compiled, adapter, seed=seed)
            repeated[0](driver)
            made = Counter(call.operation for call in driver.case.calls)
            assert (made["create_task"], made["start"]) == (1, 1)
            assert made.most_common(1)[0][0] in ("message", "summarize")
            assert made.most_common(1)[0][1] in prefill.MANY_CALLS


def test_a_large_retention_is_not_filled() -> None:
    assert {*begun(retaining(USUAL.prefilled + 1))} == {(0, 0, 0)}


def test_jobs_end_in_another_order_than_they_began() -> None:
    with adapted(retaining(3)) as adapter:
        begin = prefill.prefills(thread_job(), adapter.declaration, USUAL.prefilled)[-5]
        driver = Driver(thread_job(), adapter)
        begin(driver)
        made = [record.given["job_id"] for record in driver.case.calls if record.operation == "start"]
        ended = [record.arguments["job"] for record in driver.case.calls if record.operation == "finish"]
    assert ended == made[::-1]


class AskedStay(ThreadJobs):
    """A job that somebody asks to stop, though it has ended, does not leave before all others have."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: set[str] = set()

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        self._asked.add(job)
        return super().request_cancel(thread, job, actor)

    def _leaving(self, thread: str) -> list[ThreadJob]:
        count = len(super()._leaving(thread))
        return sorted(self._ended_in(thread), key=lambda job: job.job_id in self._asked)[:count]


@pytest.mark.parametrize("system", [ToldLeaveFirst, AskedStay])
def test_a_case_begins_with_what_was_done_to_jobs_before_others_leave(system: type) -> None:
    with adapted(system) as adapter:
        begin = prefill.prefills(thread_job(), adapter.declaration, USUAL.prefilled)[-2]
        with pytest.raises(Diverged):
            begin(Driver(thread_job(), adapter))


class ListsFifty(ThreadJobs):
    """A list has fifty jobs at most."""

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        return super().list_jobs(thread, statuses)[:50]


@pytest.mark.parametrize(("system", "way"), [(ListsFifty, 1), (StampStaysAfterEviction, -3)])
def test_a_case_begins_with_many_records_and_with_an_id_that_is_used_again(system: type, way: int) -> None:
    with adapted(system) as adapter:
        begin = prefill.prefills(thread_job(), adapter.declaration, USUAL.prefilled)[way]

        def begin_and_look(driver: Driver) -> None:
            begin(driver)
            driver.observe({"thread": "t1"})

        with pytest.raises(Diverged):
            begin_and_look(Driver(thread_job(), adapter))


def test_a_case_begins_with_as_many_records_as_there_may_be_and_with_one_fewer() -> None:
    suite, made = SUITES["job"], []
    with adapted(suite.reference, suite.compiled) as adapter:
        for begin in prefill.prefills(suite.compiled, adapter.declaration, pairs.MOST_FULL):
            driver = Driver(suite.compiled, adapter)
            begin(driver)
            made.append(sum(call.operation == "register" for call in driver.case.calls))
    assert made == [0, 14, 15]


@pytest.mark.parametrize(("lifecycle", "entity"), [("job", "Body"), ("task-progress", "Task"), ("local-agent", "Task")])
def test_a_case_begins_with_many_records_that_have_ended_where_all_of_them_stay(lifecycle: str, entity: str) -> None:
    suite, ended = SUITES[lifecycle], []
    kind = suite.compiled.kernel.entity(entity)
    with adapted(suite.reference, suite.compiled) as adapter:
        for begin in prefill.prefills(suite.compiled, adapter.declaration, USUAL.prefilled):
            driver = Driver(suite.compiled, adapter)
            begin(driver)
            assert driver.case.finding is None
            there = getattr(driver.case.judge.model, python_name(kind.collection)).values()
            ended.append(sum(each.state in kind.terminal for each in there))
    wanted = {count - one for count in prefill.MANY_ENDED for one in (0, 1)}
    assert {*ended} & wanted, "as many end, but for one perhaps"


def test_a_crowd_is_mostly_of_sixty_and_seldom_of_more_and_no_larger_than_it_may_be() -> None:
    suite = SUITES["background-tasks"]
    with adapted(suite.reference, suite.compiled) as adapter:

        def made(most: int, seed: int) -> int:
            driver = Driver(suite.compiled, adapter, seed=seed)
            prefill.prefills(suite.compiled, adapter.declaration, most)[1](driver)
            return len(driver.case.calls)

        assert sorted({made(USUAL.prefilled, seed) for seed in range(1, 40, 2)}) == [60, 130]
        assert {made(100, seed) for seed in range(1, 40, 2)} == {60}


class LacksTheWayOut:
    """A system of two jobs at most, without the operation that would make room."""

    declares: ClassVar[dict[str, Any]] = {"clock": "real"}

    def __init__(self) -> None:
        self._jobs: list[str] = []

    def start(self) -> dict[str, str]:
        if len(self._jobs) == 2:
            raise Refused("full")
        self._jobs.append(f"job-{len(self._jobs)}")
        return {"job_id": self._jobs[-1]}

    def look(self, job: str) -> dict[str, str]:
        if job not in self._jobs:
            raise Refused("not_found")
        return {"job_id": job}


def test_nothing_is_asked_of_a_system_that_it_does_not_offer() -> None:
    narrow = compile_text(
        """
lifecycle: narrow
version: 1
about: Two jobs at most.
entities:
  Job: {id: minted, states: {active: [running]}, shows: {job_id: job.id}}
operations:
  start: {requires: {full: jobs.size() < 2}, create: {Job: {}}, gives: {job_id: job.id}}
  look: {takes: {job: Job}, gives: {job_id: job.id}}
  drop_all: {optional: true, remove: [Job]}
""",
        "narrow.yaml",
    )
    with adapted(LacksTheWayOut, narrow) as adapter:
        ways = prefill.prefills(narrow, adapter.declaration, USUAL.prefilled)
        assert len(ways) == 4
        for begin in ways:
            driver = Driver(narrow, adapter)
            begin(driver)
            assert driver.case.finding is None
            assert len(driver.case.calls) <= 2


OWNED = compile_text(
    """
lifecycle: owned
version: 1
about: Jobs of an owner that is registered first; some that have ended are kept.
limits:
  kept: {default: 2, about: ended jobs that are kept}
types:
  Name: {text: fresh or reused}
  JobId: {id of: Job, or: fresh}
entities:
  Owner: {fields: {name: Name}, unique: {name: taken}}
  Job:
    id: minted
    states: {active: [running], terminal: [done]}
    fields: {owner: Name}
    retain: {newest: limits.kept, of: terminal, by: [job.id]}
    shows: {job_id: job.id}
operations:
  register: {takes: {name: Name}, create: {Owner: {name: name}}}
  start:
    takes: {name: Name}
    requires: {no_owner: "owners.exists(o, o.name == name)"}
    create: {Job: {owner: name}}
    gives: {job_id: job.id}
  start_as: {takes: {name: Name, job_id: JobId}, create: {Job: {owner: name, id: job_id}}, gives: {job_id: job.id}}
  finish: {takes: {job: Job}, move: running -> done}
  clear: {remove: [Job]}
""",
    "owned.yaml",
)


class NobodyIsRegistered:
    """No job can be started."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none"}

    def start(self, name: str) -> None:
        raise Refused("no_owner", name)

    def register(self, name: str) -> None: ...

    def start_as(self, name: str, job_id: str) -> None: ...

    def finish(self, job: str) -> None: ...

    def clear(self) -> None: ...


class OldOrderStays(ThreadJobs):
    """In which order jobs ended is remembered beyond a restart: one that takes an old id leaves while it runs."""

    def __init__(self) -> None:
        super().__init__()
        self._ended: list[ThreadJob] = []

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        super()._complete(job, outcome, payload)
        self._ended.append(job)

    def _evict(self, thread: str) -> None:
        while len(self._ended_in(thread)) > self._retained:
            first = next(each for each in self._ended if each.thread == thread)
            self._ended.remove(first)
            self._jobs.pop(first.job_id, None)


def test_a_case_begins_with_what_is_left_of_jobs_that_a_restart_removed() -> None:
    with adapted(OldOrderStays) as adapter:
        begin = prefill.prefills(thread_job(), adapter.declaration, USUAL.prefilled)[-1]
        driver = Driver(thread_job(), adapter)
        begin(driver)
        with pytest.raises(Diverged):
            driver.observe({"thread": "t1"})


def test_where_nothing_can_be_created_yet_a_case_begins_with_nothing() -> None:
    with adapted(NobodyIsRegistered, OWNED) as adapter:
        for begin in prefill.prefills(OWNED, adapter.declaration, USUAL.prefilled):
            driver = Driver(OWNED, adapter)
            begin(driver)
            assert driver.case.finding is None
            assert {call.operation for call in driver.case.calls} <= {"start"}


# --- the driver -------------------------------------------------------------------------------------------


@pytest.mark.thorough
@given(st.lists(st.tuples(st.sampled_from(sorted(RULES)), st.integers(0, 2**16)), max_size=8))
def test_every_combination_of_arguments_worth_trying_has_a_number(calls: list[tuple[str, int]]) -> None:
    with adapted(REFERENCE) as adapter, pytest.MonkeyPatch.context() as patched:
        patched.setattr(stateful, "beside_usual", lambda *_: [])
        driver = Driver(thread_job(), adapter)
        for name, number in calls:
            driver.call(name, number)
        for operation in thread_job().kernel.operations:
            worth = list(arguments(thread_job(), driver.case.judge.model, operation, gone=driver.gone))
            numbers = range(16 * len(worth))  # more than there are, for states have unequal numbers of records
            tried = {repr(driver.arguments(operation.name, number)) for number in numbers}
            assert tried == set(map(repr, worth)), operation.name
            if not worth:
                assert driver.arguments(operation.name, 0) is None


def test_many_of_the_texts_that_are_given_are_odd() -> None:
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        driver.make("start", {"thread": "t1", "tool_call": "c1", "tool": "bash"})
        payloads = [(driver.arguments("finish", number) or {})["payload"] for number in range(2**12)]
        assert set(ODD) < set(payloads)
        assert sum(each in ODD or not each.isascii() for each in payloads) >= len(payloads) / 4
        assert any(len(each) < len(each.encode()) > 25_600 for each in payloads)
        assert {"c1x"} < {(driver.arguments("start", number) or {})["tool_call"] for number in range(2**12)}


ENDING = {"outcome": "failed", "payload": "x"}
EVICTING = [("finish", {"job": job, **ENDING}) for job in ("job-1", "job-2")]


@pytest.mark.parametrize(
    ("calls", "jobs"),
    [(EVICTING, {"job-1", "job-2"}), ([("restart", {})], {"job-2"})],
    ids=["evicted", "restarted"],
)
def test_the_record_that_left_last_is_asked_for_though_the_model_has_forgotten_it(
    calls: list[tuple[str, dict[str, Any]]], jobs: set[str]
) -> None:
    with adapted(retaining(1)) as adapter:
        driver = Driver(thread_job(), adapter)
        for name in ("a", "b"):
            driver.make("start", {"thread": "t1", "tool_call": name, "tool": "bash"})
        for operation, given in calls:
            driver.make(operation, given)
        cases = [driver.arguments("inspect_job", number) for number in range(2 * len(jobs))]
    assert {case["job"] for case in cases if case is not None} == jobs


class FoundByItsBeginning(ThreadJobs):
    """A job is shown to whoever knows how its id begins."""

    def inspect_job(self, thread: str, job: str) -> Reply:
        return super().inspect_job(thread, next((each for each in self._jobs if each.startswith(job)), job))


@pytest.mark.thorough
def test_while_every_record_is_there_what_merely_looks_like_its_id_is_asked_for(tmp_path: Path) -> None:
    with adapted(FoundByItsBeginning) as adapter:
        driver = Driver(thread_job(), adapter)
        driver.make("start", {"thread": "t1", "tool_call": "a", "tool": "bash"})
        asked = [driver.arguments("inspect_job", number) for number in range(4)]
        assert {case["job"] for case in asked if case is not None} == {"job-1", "job-"}
    few = replace(USUAL, prefilled=0)  # of many, one has an id that another one begins with
    _, (result, *_) = whole_run(FoundByItsBeginning, only=[MACHINE], quick=True, budget=few)
    found = result.counterexample
    assert found is not None
    assert re.search(r"- last = inspect_job\(t\d+, '", found.row)  # with what an id begins with
    saved = kit_suite.read(str(kit_suite.save(tmp_path, "thread-job", "Found", result.id, found)))
    verdicts = []
    for system in (FoundByItsBeginning, REFERENCE):
        with adapted(system) as adapter:
            verdicts += [each.failed for each in kit_suite.replay(saved, adapter).rows]
    assert verdicts == [True, False]


class MintsWhatWasChosen(ThreadJobs):
    """A minted id is not looked up among those that callers chose."""

    def _mint_id(self) -> str:
        self._minted += 1
        return f"job-{self._minted}"


@pytest.mark.thorough
def test_an_id_is_chosen_that_looks_as_if_it_came_next() -> None:
    with adapted(MintsWhatWasChosen) as adapter:
        driver = Driver(thread_job(), adapter)
        driver.make("start", {"thread": "t1", "tool_call": "a", "tool": "bash"})
        asked = [driver.arguments("start_as", number) for number in range(200)]
        assert "job-2" in {case["job_id"] for case in asked if case is not None}
    _, (result, *_) = whole_run(MintsWhatWasChosen, only=[MACHINE])
    assert result.verdict is Verdict.FAIL
    assert result.counterexample is not None
    assert result.counterexample.clause in (
        "entities.Job.id",
        "operations.start",
    )  # alone, or in calls at once


def test_an_id_is_wanted_that_is_taken_or_would_come_next() -> None:
    suite = SUITES["job"]
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        driver.make("register", {"type": "bash", "label": "x", "id": "mine"})
        driver.make("register", {"type": "bash", "label": "x"})
        taken = list(getattr(driver.case.judge.model, "jobs"))  # noqa: B009 - each model has its own collections
        asked = [driver.arguments("register", number) for number in range(200)]
        wanted = {case.get("id") for case in asked if case is not None}
    number = int(taken[1].rpartition("_")[2])
    assert {*taken, f"bg_{number + 1}"} <= wanted


def test_a_number_says_how_long_to_wait() -> None:
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        found = [driver.arguments("wait", number) for number in range(len(WAITS) + 1)]
        assert found == [{"ms": ms} for ms in (*WAITS, WAITS[0])]


def test_no_search_waits_while_thousands_of_timers_fire() -> None:
    suite = SUITES["job"]
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        driver.make("register", {"type": "bash", "label": "x"})
        assert driver.may("wait", {"ms": A_DAY})
        driver.make("sink", {"mode": "refuse"})
        model: Any = driver.case.judge.model
        driver.make("settle", {"handle": next(iter(model.bodies)), "outcome": "ok", "text": "x"})
        assert driver.may("wait", {"ms": 60_000})
        assert not driver.may("wait", {"ms": A_DAY}), "each attempt to deliver fails, and is made again after 30 s"


def asked(system: type, calls: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """What a system is asked after the last of these calls."""
    made: list[tuple[str, dict[str, Any]]] = []

    class Heard(system):  # type: ignore[misc]  # whichever system it is
        def _hear(self, operation: str, arguments: dict[str, Any]) -> Any:
            made.append((operation, arguments))
            return getattr(super(), operation)(**arguments)

        def messages(self, **given: Any) -> Any:
            return self._hear("messages", given)

        def list_jobs(self, **given: Any) -> Any:
            return self._hear("list_jobs", given)

        def inspect_job(self, **given: Any) -> Any:
            return self._hear("inspect_job", given)

    with adapted(Heard) as adapter:
        driver = Driver(thread_job(), adapter)
        for operation, given in calls:
            driver.make(operation, given)
        made.clear()
        length = len(driver.case.trace)
        driver.observe(calls[-1][1])
        assert len(driver.case.without_looks) == length, "what the kit asks of its own is no part of a case"
    return made


def test_after_a_call_the_observers_are_asked_about_what_it_names_and_one_more_in_turn() -> None:
    looks = []
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        for call in "abc":
            before = len(driver.case.trace)
            driver.take("start", {"thread": "t1", "tool_call": call, "tool": "bash"})
            made = [each for each in driver.case.trace[before:] if isinstance(each, Observed)]
            looks.append(sorted({each.arguments["thread"] for each in made if each.operation == "messages"}))
    assert sorted(looks) == [["t1", "t10"], ["t1", "t10"], ["t1", "t2"]]


def test_after_a_call_that_names_no_thread_the_observers_are_asked_about_everything_and_about_the_call() -> None:
    start = ("start", {"thread": "t1", "tool_call": "c", "tool": "bash"})
    finish = ("finish", {"job": "job-1", "outcome": "failed", "payload": "x"})
    threads = ("t1", "t2", "t10")
    everything: list[tuple[str, dict[str, Any]]] = [("messages", {"thread": thread}) for thread in threads]
    for thread in threads:
        everything += [("list_jobs", {"thread": thread, **of}) for of in ({}, {"statuses": list(EVERY_STATUS)})]
    inspected = [("inspect_job", {"thread": thread, "job": "job-1"}) for thread in threads]
    assert asked(REFERENCE, [start, finish]) == everything + inspected


def test_at_last_the_observers_are_asked_about_every_record() -> None:
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        jobs = [
            driver.case.call("start", {"thread": "t1", "tool_call": each, "tool": "bash"}).given["job_id"]
            for each in "abcdefghijklmnop"
        ]
        driver.observe_all()
        asked = {each.arguments.get("job") for each in driver.case.trace if isinstance(each, Observed)}
        assert {*jobs} & asked == {*jobs[:6], *jobs[-6:]}


def test_a_list_of_ids_may_have_several_that_nobody_has() -> None:
    suite = SUITES["job"]
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        polled = [(driver.arguments("tool", number) or {}).get("poll") for number in range(2**10)]
        assert max(len(each or ()) for each in polled) >= 5


def test_after_a_call_the_observers_are_asked_about_the_records_that_came_or_left() -> None:
    starts = [("start", {"thread": "t1", "tool_call": name, "tool": "bash"}) for name in ("a", "b", "c", "d")]
    inspected = {given["job"] for name, given in asked(REFERENCE, [*starts, ("restart", {})]) if name == "inspect_job"}
    assert inspected == {"job-1", "job-4"}, "the first and the last one"
    again = asked(REFERENCE, [*starts, ("restart", {}), starts[0]])
    assert {given["job"] for name, given in again if name == "inspect_job"} == {"job-1", "job-5"}


class ListOutlivesRestart(ThreadJobs):
    """What runs is remembered from one list to the next, and a restart does not forget it."""

    def __init__(self) -> None:
        super().__init__()
        self._remembered: dict[str, list[Reply]] = {}

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        if statuses is not ACTIVE:
            return super().list_jobs(thread, statuses)
        return self._remembered.setdefault(thread, super().list_jobs(thread))

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        self._remembered.clear()
        return super().start(thread, tool_call, tool)


def test_what_a_list_gives_by_default_is_looked_at_before_and_after() -> None:
    with adapted(ListOutlivesRestart) as adapter:
        driver = Driver(thread_job(), adapter)
        driver.call("start", 0)
        with pytest.raises(Diverged):
            driver.call("restart", 0)


def test_a_wrong_state_shows_with_the_call_that_made_it() -> None:
    with adapted(ListGivesIds) as adapter:
        driver = Driver(thread_job(), adapter)
        with pytest.raises(Diverged) as diverged:
            driver.call("start", 0)
    assert diverged.value.finding.kind == "shape"
    assert diverged.value.case is driver.case
    assert [call.operation for call in symbolic(thread_job(), driver.case.without_looks).calls()] == [
        "start",
        "list_jobs",
    ]


# --- the machine ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "lacks"),
    [(REFERENCE, set()), (MachineJobs, {"start_as", "emit"}), (RealClockJobs, {"wait"})],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_there_is_a_rule_for_each_operation_that_the_system_has(system: type, lacks: set[str]) -> None:
    with adapted(system) as adapter:
        machine = stateful.machine(thread_job(), adapter, USUAL, after=print, faults=Faults(BrokenCalls(adapter)))
        assert machine.__name__ == "ThreadJobMachine"
        assert vars(machine).keys() & RULES == RULES - lacks
        assert "prefill" in vars(machine)


def found(system: type, seed: int, examples: int) -> tuple[Diverged | None, list[Trace]]:
    """What a search finds, and the traces of its cases."""
    diverged, cases = searched(stateful.search, system, seed, replace(USUAL, stateful_tests=examples))
    return diverged, traces(cases)


@pytest.mark.thorough
@pytest.mark.parametrize("system", [TurnTriggeredByNothing, KeepsOneFewer, FirstStartedLeaves])
def test_the_machine_finds_a_fault_also_behind_the_21st_job(system: type) -> None:
    assert any(found(system, seed, 20)[0] is not None for seed in range(3))


@pytest.mark.thorough
def test_the_machine_finds_nothing_where_nothing_is_wrong_and_tells_of_every_case() -> None:
    diverged, played = found(REFERENCE, 0, 10)
    assert diverged is None
    assert len(played) >= 10
    assert len({len(trace) for trace in played}) > 1


@pytest.mark.thorough
def test_a_seed_decides_which_calls_are_made() -> None:
    first, again, other = (found(REFERENCE, seed, 6)[1] for seed in (5, 5, 6))
    assert first == again
    assert first != other


@pytest.mark.thorough
def test_the_random_numbers_of_the_process_do_not_decide() -> None:
    random.seed(1)
    first = found(REFERENCE, 3, 4)[1]
    random.seed(2)
    assert found(REFERENCE, 3, 4)[1] == first


def test_nobody_asks_whether_an_ending_is_told_that_a_former_holder_of_the_id_left() -> None:
    """Of two endings that are due under one id, either is that of the job: the reference was accused."""
    with adapted(ThreadJobs) as adapter:
        driver = Driver(thread_job(), adapter)
        for name in map(str, range(22)):
            driver.make("start", {"thread": "t1", "tool_call": name, "tool": "bash"})
        for number in range(1, 23):
            driver.make("finish", {"job": f"job-{number}", "outcome": "completed", "payload": "x"})
        again = {"thread": "t1", "tool_call": "again", "tool": "bash", "job_id": "job-1"}
        driver.make("start_as", again)
        emit = {"thread": "t1", "job": "job-1"}
        assert driver.avoided("emit", emit)
        driver.make("finish", {"job": "job-1", "outcome": "failed", "payload": "x"})
        assert driver.avoided("emit", emit)
        driver.make("turn_boundary", {"thread": "t1"})
        assert not driver.avoided("emit", emit)


@pytest.mark.parametrize("operation", ["watch", "unwatch"])
def test_nobody_asks_whether_a_job_that_one_call_watches_twice_counts_twice(operation: str) -> None:
    """The description says how watches of two calls nest; a right system that counted each name was accused."""
    with adapted(Jobs, load("job")) as adapter:
        driver = Driver(load("job"), adapter)
        driver.make("register", {"type": "bash", "label": "x"})
        job = driver.case.calls[0].reply["job_id"]
        driver.make("watch", {"jobs": [job]})
        assert driver.avoided(operation, {"jobs": [job, job]})
        assert not driver.avoided(operation, {"jobs": [job]})


# --- a clock of which nothing is said ---------------------------------------------------------------------

LOANS = compile_text(
    """
lifecycle: loans
version: 1
about: What is lent for a while comes back by itself.
types:
  Ms: {from: 5, to: 30000}
entities:
  Item:
    id: minted
    fields: {since: {type: time, default: 0}, ms: {type: int, default: 0}}
    states: {active: [free, lent]}
    after:
      lent: {in: item.ms, since: item.since, move: free}
    shows: {item_id: item.id, status: item.state}
operations:
  put: {create: {Item: {}}, gives: {item_id: item.id}}
  lend: {takes: {item: Item, ms: Ms}, move: free -> lent, set: {item.since: now, item.ms: ms}, otherwise: refused lent}
  look: {takes: {item: Item}, gives: item}
matrix: {}
""",
    "loans.yaml",
)


class Loans:
    """It lends for as long as it is asked to, by a clock that stands still; it says nothing of that."""

    declares: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.status: dict[str, str] = {}

    def put(self) -> dict[str, str]:
        item = f"i{len(self.status)}"
        self.status[item] = "free"
        return self.look(item)

    def lend(self, item: str, ms: int) -> None:
        if self.look(item)["status"] == "lent":
            raise Refused("lent")
        self.status[item] = "lent"

    def look(self, item: str) -> dict[str, str]:
        if item not in self.status:
            raise Refused("not_found")
        return {"item_id": item, "status": self.status[item]}


class LoanEnds(Loans):
    """The same by the time of day, of which five milliseconds are soon over."""

    def lend(self, item: str, ms: int) -> None:
        super().lend(item, ms)
        if ms == 5:
            self.status[item] = "free"


class LentTwice(Loans):
    """What is lent can be lent again."""

    def lend(self, item: str, ms: int) -> None:
        self.look(item)
        self.status[item] = "lent"


@pytest.mark.parametrize("clock", ["none", "virtual"])
def test_no_call_starts_a_short_timer_where_nothing_is_said_of_the_clock(clock: str) -> None:
    system = Loans if clock == "none" else type("Moved", (Loans,), {"wait": lambda self, ms: None})
    with adapted(system, LOANS) as adapter:
        driver = Driver(LOANS, adapter)
        one, other = (driver.case.call("put", {}).given["item_id"] for _ in range(2))
        assert driver.may("lend", {"item": one, "ms": 5}) is (clock == "virtual")
        assert driver.may("lend", {"item": one, "ms": 30_000})
        driver.case.call("lend", {"item": one, "ms": 5})
        assert driver.may("lend", {"item": other, "ms": 30_000}), "a timer that runs keeps nothing from being called"
        at_once = [("lend", {"item": other, "ms": 5}), ("look", {"item": other})]
        assert driver.astray(at_once) is (clock == "none")


@pytest.mark.parametrize(("system", "verdict"), [(Loans, "pass"), (LoanEnds, "pass"), (LentTwice, "fail")])
def test_whose_clock_is_unknown_is_not_accused_of_it_and_of_all_else(system: type, verdict: str) -> None:
    _, (result,) = whole_run(system, LOANS, budget=USUAL.quick(), only=[MACHINE])
    assert result.verdict == verdict


# --- a system that may do much of its own -----------------------------------------------------------------

CANDLES = compile_text(
    """
lifecycle: candles
version: 1
about: A candle that burns may go out by itself.
entities:
  Candle:
    id: minted
    states: {active: [burning], terminal: [out]}
    shows: {candle_id: candle.id}
on its own:
  draught:
    for each: {candle: Candle}
    when: candle.state == burning
    move: burning -> out
operations:
  light: {create: {Candle: {}}, gives: {candle_id: candle.id}}
  blow:  {takes: {candle: Candle}, move: burning -> out, otherwise: unchanged}
matrix: {}
""",
    "candles.yaml",
)


class Candles:
    """They burn on."""

    declares: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.lit = 0

    def light(self) -> dict[str, str]:
        self.lit += 1
        return {"candle_id": f"c{self.lit}"}

    def blow(self, candle: str) -> None:
        """It is out, and nobody counts."""


def test_no_call_leads_to_more_states_than_anybody_would_follow() -> None:
    with adapted(Candles, CANDLES) as adapter:
        driver = Driver(CANDLES, adapter)
        for _ in range(10):
            driver.take("light", {})
        assert 2**driver.case.adapter._instance.lit == MOST_REACHED
        assert driver.may("blow", {"candle": "c1"})
