"""What hangs or crashes row after row is asked no more: a run of a system that spins ends in time, and says why."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge import BrokenCalls, Finding
from conformance.judge.avoided import SELDOM
from conformance.suite.run import Run
from conformance.system import Broken
from conformance.system.worker import Worker
from conformance.verdict import RowResult, Verdict
from tests.conformance.systems import BRIEF, REFERENCE, adapted, explained, thread_job

ROWS = "N3,N4,N5,N7,N8,N2,E3"  # the first five of them finish a job
FIRST = ["N3", "N4", "N5"]


class Spins(REFERENCE):
    """A job is never finished, and all the time is spent on that."""

    def finish(self, job: str, outcome: str, payload: object) -> None:
        while True:
            pass


class Crashes(REFERENCE):
    """Whoever finishes a job is told that nobody wrote that."""

    def finish(self, job: str, outcome: str, payload: object) -> None:
        raise NotImplementedError("finish")


class SpinsOnFailures(REFERENCE):
    """A job that has failed is never finished; others are, but their messages are not told."""

    def finish(self, job: str, outcome: str, payload: object) -> None:
        while outcome != "completed":
            pass
        super().finish(job, outcome, payload)

    def inspect_job(self, thread: str, job: str) -> Any:
        return {**super().inspect_job(thread, job), "started_at": 77}


def results(system: type, rows: str, limit: float = 0.3) -> dict[str, RowResult]:
    with adapted(system, limit=limit) as adapter:
        run = Run(thread_job(), adapter, rows=rows, budget=BRIEF)
        run.go()
        return {result.id: result for result in run.results}


@pytest.mark.thorough
@pytest.mark.parametrize(("system", "did"), [(Spins, "did not come back"), (Crashes, "crashed")])
def test_a_call_that_never_answers_is_asked_no_more_after_three_rows(system: type, did: str) -> None:
    found = results(system, ROWS)
    assert [row for row, result in found.items() if result.verdict is Verdict.FAIL] == FIRST
    assert all(found[row].counterexample is not None for row in FIRST)
    reason = f"finish is asked no more: it {did} in N3, N4 and N5, and never gave an answer"
    for row in ("N7", "N8"):
        assert (found[row].verdict, found[row].reason) == (Verdict.NOT_EXERCISED, reason), explained(found[row])
    assert [found[row].verdict for row in ("N2", "E3")] == [Verdict.PASS] * 2


@pytest.mark.thorough
def test_where_a_call_answers_at_times_rows_are_asked_all_the_same_and_nobody_waits_long() -> None:
    """Another fault is found all the same."""
    found = results(SpinsOnFailures, "N8,N9,E6,E9,E12,E13,X22", limit=0.6)
    assert [row for row, result in found.items() if result.verdict is Verdict.FAIL] == ["N8", "N9", "E6", "X22"]
    assert found["E12"].verdict is Verdict.PASS, explained(found["E12"])
    for row in ("E9", "E13"):
        assert found[row].verdict is Verdict.NOT_EXERCISED, explained(found[row])
        assert "nobody waits longer than 0.4 s for finish since N8, N9 and E6 hung" in found[row].reason


def ended(kind: str, operation: str = "finish") -> Finding:
    return Finding(kind, f"operations.{operation}", operation, "an answer", "none")


def test_a_search_seldom_makes_a_call_that_has_ended_a_case_and_at_last_not_at_all() -> None:
    with adapted(REFERENCE) as adapter:
        calls = BrokenCalls(adapter)
        assert not any(calls.shuns("finish") for _ in range(SELDOM))
        calls.ended(ended("crash", "finish ∥ start"), looking=False)
        assert [calls.shuns("finish") for _ in range(2 * SELDOM)].count(False) == 2
        for _ in range(1, BrokenCalls.ENOUGH):
            calls.ended(ended("shape"), looking=False)
        assert all(calls.shuns("finish") for _ in range(2 * SELDOM))
        assert not all(calls.shuns("start") for _ in range(SELDOM))
        calls.ended(ended("reply", "request_cancel"), looking=False)
        assert not any(calls.shuns("request_cancel") for _ in range(SELDOM))
        calls.ended(ended("reply", "list_jobs"), looking=True)
        shunned = []
        for _ in range(2 * SELDOM):
            calls.begin()
            shunned.append({calls.shuns("list_jobs") for _ in range(SELDOM)})
        assert shunned.count({False}) == 2
        assert shunned.count({True}) == 2 * SELDOM - 2


def test_a_search_does_not_make_a_call_that_never_answered_in_the_rows() -> None:
    with adapted(REFERENCE) as adapter:
        calls = BrokenCalls(adapter)
        for row in FIRST:
            assert not calls.shuns("finish")
            calls.note(row, ended("hang"))
        assert calls.shuns("finish")
        adapter.reset()
        adapter.call("start", {"thread": "t1", "tool_call": "c1", "tool": "bash"})
        for row in FIRST:
            calls.note(row, ended("hang", "start"))
        assert not calls.shuns("start")


@pytest.mark.soak
def test_a_quick_run_of_a_system_that_spins_ends_within_a_minute() -> None:
    with adapted(Spins) as adapter:
        began = time.monotonic()
        assert Run(thread_job(), adapter, budget=USUAL.quick()).go().exit == 1
        assert time.monotonic() - began < 60


def test_a_thread_that_spins_ends_when_nobody_waits_for_it_any_more() -> None:
    worker = Worker()
    ident = worker.run(threading.get_ident, 5, "a call")
    (thread,) = (each for each in threading.enumerate() if each.ident == ident)
    with pytest.raises(Broken):
        worker.run(lambda: Spins().finish("job-1", "completed", "x"), 0.05, "finish()")
    thread.join(5)
    assert not thread.is_alive()


def test_who_waits_after_all_ends_when_it_runs_on_and_keeps_no_other_thread_from_running() -> None:
    """Of Python 3.11 a thread that is traced came no further, while another one was to end and waited."""
    gate, worker = threading.Event(), Worker()
    ident = worker.run(threading.get_ident, 5, "a call")
    (thread,) = (each for each in threading.enumerate() if each.ident == ident)
    with pytest.raises(Broken):
        worker.run(gate.wait, 0.05, "gate()")
    traced = threading.Thread(target=_traced_calls, daemon=True)
    traced.start()
    traced.join(10)
    assert not traced.is_alive()
    gate.set()
    thread.join(5)
    assert not thread.is_alive()


def _traced_calls() -> None:
    import sys

    def step(frame: object, event: str, argument: object) -> Any:
        return step

    sys.settrace(step)
    for number in range(100):
        _called(number)
    sys.settrace(None)


def _called(number: int) -> int:
    return number + 1
