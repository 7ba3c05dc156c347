"""The thread that makes the calls, and what becomes of calls that go wrong: one clear verdict each, and on."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from conformance import suite as kit_suite
from conformance.budget import USUAL
from conformance.judge.case import CallFailed, Case
from conformance.references.job import Jobs
from conformance.references.thread_job import Reply, ThreadJobs
from conformance.refused import Refused
from conformance.search import pairs, stateful, walks
from conformance.suite.machine import run_machine
from conformance.suite.rows import RowRunner
from conformance.system import worker as worker_module
from conformance.system.broken import Broken, HarnessError
from conformance.system.worker import SLICE, Worker, on_one_core, slices, started
from conformance.verdict import EXIT_HARNESS, EXIT_VIOLATES, UNSURE, Counterexample, Verdict
from statemachines.compile import load
from statemachines.rows import RowCompiler
from tests.conformance.systems import REFERENCE, adapted, explained, row_result, thread_job, whole_run
from tests.right.thread_job import ActorJobs

# --- the thread -------------------------------------------------------------------------------------------


def test_calls_are_made_one_after_the_other_on_one_thread_of_its_own() -> None:
    worker = Worker()
    idents = [worker.run(threading.get_ident, 5, "a call") for _ in range(3)]
    assert len(set(idents)) == 1
    assert threading.get_ident() not in idents
    worker.stop()


def test_a_worker_may_be_stopped_more_than_once_also_while_a_call_hangs() -> None:
    worker, over = Worker(), threading.Event()
    with pytest.raises(Broken):
        worker.run(over.wait, 0.05, "a call")
    worker.stop()
    worker.stop()
    over.set()
    worker._thread.join(5)
    assert not worker._thread.is_alive()


def test_what_a_call_raises_is_raised_again_and_the_next_call_works() -> None:
    worker = Worker()

    def exits() -> None:
        sys.exit("a system that exits")

    def refuses() -> None:
        raise Refused("not_found")

    with pytest.raises(SystemExit):
        worker.run(exits, 5, "exits()")
    with pytest.raises(Refused):
        worker.run(refuses, 5, "refuses()")
    assert worker.run(lambda: "well", 5, "a call") == "well"
    worker.stop()


def test_a_call_that_makes_another_does_not_wait_for_itself() -> None:
    worker = Worker()
    assert worker.run(lambda: worker.run(lambda: 1, 5, "inner") + 1, 5, "outer") == 2
    worker.stop()


def test_a_call_that_does_not_come_back_is_a_hang_and_its_thread_ends_when_it_does() -> None:
    worker, gate = Worker(), threading.Event()
    ident = worker.run(threading.get_ident, 5, "a call")
    (thread,) = (each for each in threading.enumerate() if each.ident == ident)
    with pytest.raises(Broken) as broken:
        worker.run(gate.wait, 0.05, "gate()")
    assert (broken.value.kind, broken.value.message) == ("hang", "gate() did not come back in time")
    gate.set()
    thread.join(5)
    assert not thread.is_alive()


def test_who_waits_counts_only_the_parts_that_it_slept() -> None:
    """However long each of them took: a busy machine gives the system as many as an idle one."""
    assert list(slices(0.04)) == [0.04]
    parts = list(slices(1.0))
    assert max(parts) <= SLICE
    assert sum(parts) == pytest.approx(1.0)


def test_a_worker_that_is_stopped_ends() -> None:
    worker = Worker()
    ident = worker.run(threading.get_ident, 5, "a call")
    (thread,) = (each for each in threading.enumerate() if each.ident == ident)
    worker.stop()
    thread.join(5)
    assert not thread.is_alive()


# --- where it runs ----------------------------------------------------------------------------------------


def test_what_a_system_starts_may_run_anywhere() -> None:
    """Though the thread that calls it begins on the core of whoever waits for it."""
    worker, told = Worker(), list[set[int]]()
    for _ in range(3):
        worker.run(lambda: told.append(cores()), 5, "a call")
    worker.stop()
    assert told == [cores()] * 3


def test_the_thread_that_makes_a_call_begins_where_whoever_waits_for_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, set[int]]] = []
    monkeypatch.setattr(worker_module, "_let_run", lambda thread, on: told.append((thread, on)))
    monkeypatch.setattr(worker_module, "_core", lambda: 7)
    worker = Worker()
    thread = worker.run(threading.get_native_id, 5, "a call")
    worker.stop()
    assert told == [(thread, {7}), (0, cores())]


def test_threads_of_which_one_runs_at_a_time_are_on_one_core() -> None:
    before = cores()
    with on_one_core():
        threads, told = started([cores, cores], lambda _: nullcontext())
    assert [len(each.result(5)) for each in told] == [min(len(before), 1)] * 2
    assert cores() == before
    for thread in threads:
        thread.join(5)


def test_processes_that_run_at_once_are_on_any(monkeypatch: pytest.MonkeyPatch) -> None:
    for costly, where in ((True, len(cores())), (False, min(len(cores()), 1))):
        with adapted(REFERENCE) as adapter:
            monkeypatch.setattr(type(adapter), "costly", costly)
            adapter.reset()
            assert [len(each) for each in adapter.together([cores, cores], 0)] == [where] * 2


def test_a_process_that_may_not_choose_its_cores_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.sched_setaffinity", refused, raising=False)
    worker = Worker()
    assert worker.run(lambda: "well", 5, "a call") == "well"
    worker.stop()
    with on_one_core():
        assert worker_module._allowed() == cores()


def test_a_core_that_nobody_knows_is_no_fault_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_core", lambda: -1)
    worker = Worker()
    assert worker.run(lambda: "well", 5, "a call") == "well"
    worker.stop()


def test_a_thread_that_may_run_on_some_cores_only_stays_there() -> None:
    before = cores()
    few = {min(before)} if before else set()
    try:
        worker_module._let_run(0, few)
        worker = Worker()
        with on_one_core():
            pass
        assert cores() == few
        assert worker.run(cores, 5, "a call") == few
        worker.stop()
    finally:
        worker_module._let_run(0, before)


def cores() -> set[int]:
    """Those on which this thread may run; none where nobody can tell."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else set()


# --- systems that misbehave -------------------------------------------------------------------------------

FOREVER = threading.Event()  # until a test is over


@pytest.fixture(autouse=True)
def over() -> Iterator[None]:
    """Threads that hang in a test end with it."""
    FOREVER.clear()
    yield
    FOREVER.set()


class Hangs(REFERENCE):
    """Progress never comes back."""

    def report_progress(self, job: str) -> None:
        FOREVER.wait()


class HangsWithTheLock(REFERENCE):
    """Progress never comes back, and nothing else does after it."""

    def report_progress(self, job: str) -> None:
        with self._locked():
            FOREVER.wait()


class HangsAsynchronously(ActorJobs):
    """Progress is awaited for ever."""

    async def report_progress(self, job: str) -> None:
        import asyncio

        await asyncio.Event().wait()


class BlocksTheLoop(ActorJobs):
    """Progress blocks the event loop itself."""

    async def report_progress(self, job: str) -> None:
        FOREVER.wait()


class Crashes(REFERENCE):
    """Progress raises."""

    def report_progress(self, job: str) -> None:
        raise ZeroDivisionError("of its own")


class Exits(REFERENCE):
    """Progress ends the process."""

    def report_progress(self, job: str) -> None:
        sys.exit(3)


class Interrupts(REFERENCE):
    """Progress looks as if somebody had pressed a key."""

    def report_progress(self, job: str) -> None:
        raise KeyboardInterrupt


class WrongArguments(REFERENCE):
    """Progress takes no job."""

    def report_progress(self) -> None:  # type: ignore[override]  # that is what is wrong
        return


class RefusesWithoutWords(REFERENCE):
    """Progress is refused with a code that is no text."""

    def report_progress(self, job: str) -> None:
        raise Refused(None)  # type: ignore[arg-type]  # that is what is wrong


class Garbage(REFERENCE):
    """A boundary gives what is no list."""

    def turn_boundary(self, thread: str) -> Any:
        return object()


class WrongShape(REFERENCE):
    """A boundary gives messages without a content that can be read."""

    def turn_boundary(self, thread: str) -> list[Reply]:
        return [{**told, "content": "x"} for told in super().turn_boundary(thread)]


class GarbageSignals(REFERENCE):
    """Signals are words."""

    def signals(self) -> Any:
        return ["TurnTriggered"]


class NoSignals(REFERENCE):
    """Signals are not even a list."""

    def signals(self) -> Any:
        return 7


class UnknownSignal(REFERENCE):
    """Signals are of a kind that the spec does not know."""

    def signals(self) -> list[Reply]:
        return [{"signal": "Hooray"}]


class SignalsCrash(REFERENCE):
    """Asking for signals raises."""

    def signals(self) -> list[Reply]:
        raise OSError("no such queue")


class SignalsExit(REFERENCE):
    """Asking for signals ends the process."""

    def signals(self) -> list[Reply]:
        sys.exit(4)


class SignalsHang(REFERENCE):
    """Asking for signals never comes back."""

    def signals(self) -> list[Reply]:
        threading.Event().wait()
        return []


KINDS: list[tuple[type, str, str, str]] = [
    (Hangs, "E3", "report_progress() did not come back in time", "hang"),
    (HangsWithTheLock, "E3", "report_progress() did not come back in time", "hang"),
    (HangsAsynchronously, "E3", "report_progress() did not come back in time", "hang"),
    (BlocksTheLoop, "E3", "report_progress() did not come back in time", "hang"),
    (Crashes, "E3", "report_progress() raised ZeroDivisionError: of its own", "crash"),
    (Exits, "E3", "report_progress() raised SystemExit: 3", "crash"),
    (Interrupts, "E3", "report_progress() raised KeyboardInterrupt", "crash"),
    (WrongArguments, "E3", "report_progress() raised TypeError", "crash"),
    (RefusesWithoutWords, "E3", "refused None", ""),
    (Garbage, "N4", "a list is expected, and this is <object object", "shape"),
    (WrongShape, "N4", '[0].content: {"text": …} or {"file": PATH} is expected, and this is \'x\'', "shape"),
    (GarbageSignals, "N4", "'TurnTriggered'", "shape"),
    (NoSignals, "N4", "signals() gives a list, and this is 7", "shape"),
    (UnknownSignal, "N4", "{'signal': 'Hooray'}", "shape"),
    (SignalsCrash, "N4", "signals() raised OSError: no such queue", "crash"),
    (SignalsExit, "N4", "signals() raised SystemExit: 4", "crash"),
    (SignalsHang, "N4", "signals() did not come back in time", "hang"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("system", "row", "said", "kind"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_goes_wrong_is_a_fail_that_says_what(system: type, row: str, said: str, kind: str) -> None:
    result = row_result(system, row, limit=0.3, quick=True)
    assert result.verdict is Verdict.FAIL, explained(result)
    found = result.counterexample
    assert found is not None
    assert said in found.seen, explained(result)
    with adapted(system, limit=0.3) as adapter:
        case = Case(thread_job(), adapter)
        if kind:
            with pytest.raises(CallFailed) as failed:
                made(case, row)
            assert failed.value.finding.kind == kind


def made(case: Case, row: str) -> None:
    """The calls that show what is wrong in one row or the other."""
    job = case.call("start", {"thread": "t1", "tool_call": "c", "tool": "bash"}).value["job_id"]
    if row == "E3":
        case.call("report_progress", {"job": job})
    else:
        case.call("finish", {"job": job, "outcome": "failed", "payload": "x"})
        case.call("turn_boundary", {"thread": "t1"})


@pytest.mark.thorough
@pytest.mark.parametrize(
    "system",
    [Hangs, HangsWithTheLock, HangsAsynchronously, BlocksTheLoop, Crashes, Exits, Interrupts, Garbage],
    ids=lambda system: system.__name__,
)
def test_a_run_goes_on_after_what_went_wrong(system: type) -> None:
    with adapted(system, limit=0.3) as adapter:
        results = results_of(adapter, "E3", "N4", "N1", "N2")
    wrong = "N4" if system is Garbage else "E3"
    others = {row: verdict for row, verdict in results.items() if row not in ("E3", "N4")}
    assert results[wrong] == "fail"
    assert set(others.values()) == {"pass"}, results


def results_of(adapter: Any, *rows: str) -> dict[str, str]:
    from conformance.suite.rows import RowRunner
    from statemachines.rows.compiler import RowCompiler

    compiled = thread_job()
    runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter, budget=USUAL.quick())
    return {row: runner.run(compiled.lifecycle.rows[row]).verdict.value for row in rows}


def test_a_traceback_shows_the_systems_own_lines() -> None:
    result = row_result(Crashes, "E3")
    assert result.counterexample is not None
    assert f"{__file__}:" in result.counterexample.seen
    assert 'raise ZeroDivisionError("of its own")' in result.counterexample.seen
    assert "/conformance/worker.py" not in result.counterexample.seen


def test_a_function_that_makes_systems_will_do() -> None:
    made = partial(ActorJobs)
    assert row_result(made, "N4", quick=True).verdict is Verdict.PASS
    with adapted(made) as adapter:
        assert adapter.declaration.concurrency == "async"
        adapter.ready()

    def fails() -> ActorJobs:
        raise ConnectionError("no database")

    with (
        pytest.raises(HarnessError, match="cannot be made: the constructor raised ConnectionError"),
        adapted(fails),
    ):
        pass


@pytest.mark.thorough
def test_an_end_that_waits_for_a_call_that_hangs_is_part_of_that_hang() -> None:
    class ClosesWithTheLock(HangsWithTheLock):
        def close(self) -> None:
            with self._locked():
                super().close()

    with adapted(ClosesWithTheLock, limit=0.3) as adapter:
        case = Case(thread_job(), adapter)
        with pytest.raises(CallFailed):
            made(case, "E3")
        adapter.reset()
        made(Case(thread_job(), adapter), "N4")


def test_an_end_that_fails_does_not_disturb_the_next_case() -> None:
    class ClosesBadly(REFERENCE):
        def close(self) -> None:
            super().close()
            raise OSError("already closed")

    assert row_result(ClosesBadly, "N4").verdict is Verdict.PASS


# --- what prevents asking ---------------------------------------------------------------------------------


class CannotBeMade(REFERENCE):
    """Its constructor raises."""

    def __init__(self) -> None:
        raise ConnectionError("no database")


class CannotBeMadeTwice(REFERENCE):
    """Its constructor raises the second time."""

    made: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        if type(self).made > 1:
            raise ConnectionError("no database")


@pytest.mark.parametrize("system", [CannotBeMade, CannotBeMadeTwice], ids=lambda system: system.__name__)
def test_a_system_that_cannot_be_made_is_no_verdict_on_it(system: type) -> None:
    code, results = whole_run(system, quick=True, only=["N1", "N2", "E3", "machine"])
    assert code == EXIT_HARNESS
    assert {each.verdict for each in results[1:]} == {Verdict.HARNESS_ERROR}
    assert "cannot be made: the constructor raised ConnectionError: no database" in results[-1].reason
    assert f"{__file__}:" in results[-1].reason


# --- declarations that lie --------------------------------------------------------------------------------


def lying(**words: Any) -> type:
    """The reference, which says something else of itself."""

    class Lying(REFERENCE):
        declares = {**REFERENCE.declares, **words}  # noqa: RUF012 - as the reference

    return Lying


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "row"),
    [
        ({"limits": {"retained": 5}}, "B7"),
        ({"limits": {"retained": 30}}, "B6"),
        ({"limits": {"max_bytes": 100, "max_lines": 5}}, "E10"),
        ({"limits": {"max_lines": 500}}, "E10"),
        ({"policies": {"tie": "id"}}, "B3"),
        ({"policies": {"tie": "start"}}, "B3"),
        ({"policies": {"tie": ["job_id desc"]}}, "B3"),
    ],
)
def test_a_declared_limit_or_choice_that_is_not_true_fails_the_row_about_it(words: dict[str, Any], row: str) -> None:
    result = row_result(lying(**words), row)
    assert result.verdict is Verdict.FAIL, explained(result)


def test_a_clock_that_does_not_do_what_is_asked_of_it_fails() -> None:
    class Stands(REFERENCE):
        def wait(self, ms: int) -> None:
            return

    class RunsBackwards(REFERENCE):
        def wait(self, ms: int) -> None:
            self._now -= ms

    class Raises(REFERENCE):
        def wait(self, ms: int) -> None:
            raise NotImplementedError

    for system in (Stands, RunsBackwards, Raises):
        assert row_result(system, "N10").verdict is Verdict.FAIL, system


@pytest.mark.parametrize(("settles", "hinted"), [(0, True), (5, False)])
def test_of_a_signal_that_does_not_come_it_is_said_what_to_declare_if_it_is_late(settles: int, hinted: bool) -> None:
    class Silent(lying(settles=settles)):  # type: ignore[misc]  # the base is made anew for each declaration
        def signals(self) -> list[Reply]:
            return []

    result = row_result(Silent, "N4", quick=True)
    assert result.verdict is Verdict.FAIL
    assert result.counterexample is not None
    hint = " (if it comes later, declare `settles`)" if hinted else ""
    assert result.counterexample.seen == f"no such signal{hint}"


def test_on_the_kits_own_loop_nothing_comes_late_and_nobody_is_told_to_declare_it() -> None:
    class Silent(Jobs):
        def signals(self) -> list[Reply]:
            return []

    result = row_result(Silent, "N1", load("job"), quick=True)
    assert result.counterexample is not None
    assert result.counterexample.seen == "no such signal"


def without(system: type, *operations: str, **words: Any) -> type:
    """A system in which some operations are not there."""
    found = lying(**words) if words else type("Without", (system,), {})
    for operation in operations:
        setattr(found, operation, None)
    return found


def test_a_limit_too_large_to_be_reached_is_not_held_against_a_system() -> None:
    result = row_result(lying(limits={"retained": 10_000_000}), "B6")
    said = "with what is declared, 10000000 is more than 10000, the most that a row can walk over"
    assert (result.verdict, result.reason) == (Verdict.COULD_NOT_TELL, said)


def test_an_operation_that_is_declared_but_not_there_is_not_exercised_and_gates() -> None:
    """Only what is optional may be lacking; what is mandatory and missing is never a pass."""
    system = without(REFERENCE, "retry_job")
    result = row_result(system, "E11")
    assert (result.verdict, result.reason) == (
        Verdict.NOT_EXERCISED,
        "the system has no operation retry_job; what it need not have is declared in `lacks`",
    )
    code, _ = whole_run(system, quick=True, only=["N1", "E11"])
    assert code == EXIT_VIOLATES


@pytest.mark.parametrize("words", [{}, {"lacks": ["emit"]}])
def test_an_optional_operation_that_is_not_there_is_not_applicable(words: dict[str, Any]) -> None:
    result = row_result(without(REFERENCE, "emit", **words), "X7")
    assert (result.verdict, result.reason) == (
        Verdict.NOT_APPLICABLE,
        "needs emit, which is optional and lacking",
    )


@pytest.mark.thorough
def test_a_system_that_is_declared_safe_for_threads_and_is_not_fails() -> None:
    from tests.faulty.thread_job.concurrency import ToldTwice

    assert row_result(ToldTwice, "B4").verdict is Verdict.FAIL
    system = type("Modest", (ToldTwice,), {"declares": {**ToldTwice.declares, "concurrency": "none"}})
    assert row_result(system, "B4").verdict is Verdict.NOT_APPLICABLE


def test_a_declaration_that_is_no_declaration_prevents_asking() -> None:
    for words in ({"clock": "sundial"}, {"limits": {"kept": 1}}, {"lacks": ["start"]}):
        with pytest.raises(HarnessError), adapted(lying(**words)):
            pass


# --- flaky, and could not tell ----------------------------------------------------------------------------


def test_a_failure_that_does_not_come_again_is_flaky_and_not_dropped() -> None:
    class Once(REFERENCE):
        failed: ClassVar[bool] = False

        def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
            reply = super().complete_inline(thread, tool_call, tool, result)
            if not type(self).failed:
                type(self).failed = True
                reply["job_id"] = "job-0"
            return reply

    result = row_result(Once, "N1")
    assert result.verdict is Verdict.FLAKY, explained(result)
    assert "it held" in result.reason
    Once.failed = False
    code, _ = whole_run(Once, only=["N1"])
    assert code == EXIT_VIOLATES


class EveryThirdCaseFails(ThreadJobs):
    """By chance, as it were: a retry is taken in every third case."""

    cases = 0

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        type(self).cases += 1

    def retry_job(self, thread: str, job: str) -> None:
        if self.cases % 3:
            super().retry_job(thread, job)


def test_what_showed_by_chance_is_replayed_until_it_shows(tmp_path: Path) -> None:
    row = "C1:\n  about: x\n  level: must\n  source: s\n  covers: [operations.retry_job.refuses]\n"
    row += "  act:\n    - j = start(t1, fresh, bash)\n    - r = retry_job(t1, j.job_id)\n  assert:\n    - r.refused != null\n"
    for rounds, verdict in ((1, "fixed"), (4, "still fails (1 of 3)")):
        found = Counterexample(row, 2, "", "", "", rounds=rounds, reproduced=1)
        saved = kit_suite.read(str(kit_suite.save(tmp_path, "thread-job", "x", "E11", found)))
        EveryThirdCaseFails.cases = 0
        with adapted(EveryThirdCaseFails) as adapter:
            EveryThirdCaseFails.cases = 0
            assert [each.verdict for each in kit_suite.replay(saved, adapter).rows] == [verdict]
    saved = kit_suite.read(str(kit_suite.save(tmp_path, "thread-job", "x", "E11", found)))
    with adapted(REFERENCE) as adapter:
        assert [each.verdict for each in kit_suite.replay(saved, adapter).rows] == ["not reproduced (0 of 16)"]


class SixtiethCaseFails(EveryThirdCaseFails):
    """A fault that shows in one schedule of sixty."""

    def retry_job(self, thread: str, job: str) -> None:
        if self.cases != 60:
            ThreadJobs.retry_job(self, thread, job)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "enough", "verdict"),
    [
        (SixtiethCaseFails, 60.0, "still fails (1 of 60)"),
        (SixtiethCaseFails, 0.0, "not reproduced (0 of 48)"),
        (REFERENCE, 60.0, "not reproduced (0 of 192)"),
    ],
)
def test_calls_at_once_that_do_not_show_a_fault_are_tried_under_more_schedules(
    system: type, enough: float, verdict: str, tmp_path: Path
) -> None:
    row = "C1:\n  about: x\n  level: must\n  source: s\n  covers: [operations.retry_job.refuses]\n"
    row += "  act:\n    - j = start(t1, fresh, bash)\n    - r = together(2, retry_job(t1, j.job_id))\n"
    row += "  assert:\n    - r[0].refused != null\n"
    found = Counterexample(row, 3, "", "", "", rounds=40, reproduced=1)
    saved = kit_suite.read(str(kit_suite.save(tmp_path, "thread-job", "x", "E11", found)))
    with adapted(system) as adapter:
        SixtiethCaseFails.cases = 0
        replayed = kit_suite.replay(saved, adapter, replace(USUAL, replay_seconds=enough)).rows
        assert [each.verdict for each in replayed] == [verdict]


@pytest.mark.thorough
def test_a_search_that_gave_up_could_not_tell() -> None:
    hasty = replace(USUAL, nodes=1)
    result = row_result(REFERENCE, "B4", quick=True, budget=hasty)
    assert (result.verdict, result.reason) == (
        Verdict.COULD_NOT_TELL,
        UNSURE,
    )
    code, _ = whole_run(REFERENCE, only=["B4"], quick=True, budget=hasty)
    assert code == 4


def judged_or_not(*, unsure: bool) -> Any:
    """A case of a search, as much of it as is counted."""
    judge = SimpleNamespace(unsure=unsure, findings=[], lockstep=SimpleNamespace(witnessed=list))
    return SimpleNamespace(
        case=SimpleNamespace(judge=judge, finding=SimpleNamespace(clause="order") if unsure else None)
    )


@pytest.mark.parametrize(("unjudged", "verdict"), [(0, Verdict.PASS), (1, Verdict.PASS), (2, Verdict.COULD_NOT_TELL)])
def test_a_random_case_that_nobody_can_judge_counts_as_not_made_and_many_of_them_are_no_answer(
    unjudged: int, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walked(*_: Any, after: Any, faults: Any, first: int) -> None:
        for number in range(18):
            after(judged_or_not(unsure=number < unjudged))

    def paired(*_: Any, after: Any, faults: Any, first: int, at_once: Any) -> None:
        for _number in range(800):  # of one search, which make no other less doubtful
            after(judged_or_not(unsure=False))

    monkeypatch.setattr(stateful, "search", lambda *_, after, faults: None)
    monkeypatch.setattr(walks, "search", walked)
    monkeypatch.setattr(pairs, "search", paired)
    code, (result,) = whole_run(REFERENCE, only=["machine"])
    assert (result.verdict, result.runs) == (verdict, 818 - unjudged)
    assert code == (0 if verdict is Verdict.PASS else 4)


@pytest.mark.parametrize(("costly", "rounds"), [(False, 5), (True, 1)])
def test_rounds_of_a_search_count_together_and_one_that_was_cut_off_decides_nothing(
    costly: bool, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each begins where the one before ended; of a system of which a call takes long there is one alone."""
    firsts: dict[str, list[int]] = {"walks": [], "pairs": []}

    def walked(*_: Any, after: Any, faults: Any, first: int) -> None:
        firsts["walks"].append(first)
        for _number in range(60 if len(firsts["walks"]) < 5 else 2):
            after(judged_or_not(unsure=len(firsts["walks"]) == 5))

    def paired(*_: Any, after: Any, faults: Any, first: int, at_once: Any) -> None:
        firsts["pairs"].append(first)

    monkeypatch.setattr(stateful, "search", lambda *_, after, faults: None)
    monkeypatch.setattr(walks, "search", walked)
    monkeypatch.setattr(pairs, "search", paired)
    with adapted(REFERENCE) as adapter:
        adapter.costly = costly
        runner = RowRunner(thread_job(), RowCompiler(thread_job().lifecycle).checked(), adapter)
        (result,) = run_machine(runner, left=lambda: max(0.0, 5.0 - len(firsts["walks"])))
    assert (result.verdict, result.reason) == (Verdict.PASS, "")
    assert result.runs == (240 if rounds > 1 else 60)
    budget = runner.budget
    assert firsts == {
        "walks": [each * budget.walks for each in range(rounds)],
        "pairs": [each * budget.pairs for each in range(rounds)],
    }


def test_no_search_of_the_first_round_takes_the_time_of_those_that_come_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed, taken = 0, dict.fromkeys(("stateful", "walks", "pairs"), 0)

    def search(name: str, *_: Any, after: Any, faults: Any, first: int = 0, at_once: Any = ()) -> None:
        nonlocal passed
        while not faults.late():
            passed += 1
            taken[name] += 1

    for name, module in {"stateful": stateful, "walks": walks, "pairs": pairs}.items():
        monkeypatch.setattr(module, "search", partial(search, name))
    with adapted(REFERENCE) as adapter:
        runner = RowRunner(thread_job(), RowCompiler(thread_job().lifecycle).checked(), adapter)
        (result,) = run_machine(runner, left=lambda: 30.0 - passed)
    assert taken == {"stateful": 10, "walks": 10, "pairs": 10}
    assert (result.verdict, result.reason) == (Verdict.PASS, "a part of the search: its time was used up")


def test_what_a_search_made_before_it_could_not_go_on_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: Any, after: Any, faults: Any) -> None:
        for _number in range(7):
            after(judged_or_not(unsure=False))
        raise HarnessError("gone")

    monkeypatch.setattr(stateful, "search", ends)
    _, (result,) = whole_run(REFERENCE, only=["machine"])
    assert (result.verdict, result.runs) == (Verdict.HARNESS_ERROR, 7)


@pytest.mark.thorough
def test_where_nobody_can_judge_from_the_start_one_random_case_is_enough_to_know_nothing() -> None:
    class EvictsTheNewest(REFERENCE):
        declares: ClassVar[dict[str, Any]] = {
            **REFERENCE.declares,
            "clock": "none",
            "policies": {"tie": "start"},
        }

        def _leaving(self, thread: str) -> list[Any]:
            leaving = super()._leaving(thread)
            return self._ended_in(thread)[-len(leaving) :] if leaving else []

    code, (result,) = whole_run(EvictsTheNewest, only=["machine"], quick=True)
    assert (code, result.verdict) == (4, Verdict.COULD_NOT_TELL)


def test_of_a_call_at_once_without_an_answer_it_is_said_that_one_was_expected() -> None:
    class StartCrashes(REFERENCE):
        def start(self, thread: str, tool_call: str, tool: str) -> Reply:
            raise RuntimeError("of its own")

    found = row_result(StartCrashes, "B1").counterexample
    assert found is not None
    assert found.expected == "an answer"
    assert found.seen.startswith("start() raised RuntimeError: of its own")
