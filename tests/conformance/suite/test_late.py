"""What comes late, but within what a system declares, is right by a clock that runs on; what never comes is found."""

from __future__ import annotations

import time
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge.case import Case
from conformance.suite.run import Run
from conformance.verdict import EXIT_UNKNOWN, MACHINE, Verdict
from statemachines.compile import load
from tests.conformance.systems import REFERENCE, adapted, row_result, thread_job
from tests.tools.late import (
    KeepsForEver,
    KeepsForEverInRealTime,
    LateJobs,
    LateOfRealTime,
    NeverAgain,
    NeverAgainInRealTime,
)

pytestmark = pytest.mark.thorough

JOB = load("job")


def after(system: Any, *waits: int, retention: int = 60_000) -> tuple[Case, list[Any]]:
    """A case in which a job ends, and its session refuses it; and what is seen of the job after each wait."""
    with adapted(system, JOB) as adapter:
        case = Case(JOB, adapter)
        case.call("configure", {"max_running": 3, "retention_ms": retention, "poll_wait": 5000})
        case.call("sink", {"mode": "refuse"})
        job = case.call("register", {"type": "bash", "label": "x", "id": None, "owner": None}).value
        case.call("settle", {"handle": job["handle"], "outcome": "ok", "text": "done"})
        seen = []
        for ms in waits:
            case.call("wait", {"ms": ms})
            seen.append(case.call("get", {"job": job["job_id"]}).value)
        assert not case.judge.unsure
        return case, seen


def attempts(case: Case) -> int:
    return sum(name == "delivery_attempted" for call in case.calls for name, _ in call.signals)


@pytest.mark.parametrize("system", [LateJobs, LateOfRealTime])
def test_a_late_attempt_is_right(system: Any) -> None:
    case, _ = after(system, 500, 500)
    assert case.faults == []
    assert attempts(case) > 1


@pytest.mark.parametrize("system", [NeverAgain, NeverAgainInRealTime])
def test_an_attempt_that_never_comes_is_found(system: Any) -> None:
    case, _ = after(system, 500, 500)
    assert ["delivery_attempted" in fault.expected for fault in case.faults] == [True]


@pytest.mark.parametrize("system", [LateJobs, LateOfRealTime])
def test_a_record_that_goes_late_is_right(system: Any) -> None:
    case, seen = after(system, 300, 1000, retention=300)
    assert case.faults == []
    assert seen[-1] is None


@pytest.mark.parametrize("system", [KeepsForEver, KeepsForEverInRealTime])
def test_a_record_that_never_goes_is_found(system: Any) -> None:
    case, _ = after(system, 300, 1000, retention=300)
    assert [fault.operation for fault in case.faults] == ["get"]


def test_a_row_about_late_attempts_accuses_nobody() -> None:
    found = row_result(LateJobs, "E9", JOB, quick=True, shortest=False)
    assert found.verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE), found.reason


def test_a_row_about_attempts_finds_that_there_is_none() -> None:
    assert row_result(NeverAgain, "E9", JOB, quick=True, shortest=False).verdict is Verdict.FAIL


@pytest.mark.parametrize("rows", [["N1", "N2", "N3"], [MACHINE]], ids=["rows", "searches"])
def test_a_call_that_was_late_once_and_never_again_is_nobodys_fault(rows: list[str]) -> None:
    """A machine may be busy: there is no verdict on it, and the reason says what helps."""
    late: list[str] = []

    class LateOnce(REFERENCE):
        def finish(self, *given: Any, **named: Any) -> Any:
            if not late:
                late.append("finish")
                time.sleep(1.5)
            return super().finish(*given, **named)

    with adapted(LateOnce, limit=0.5) as adapter:
        run = Run(thread_job(), adapter, rows=rows, budget=USUAL.quick())
        code = run.go().exit
    told = [each for each in run.results if each.verdict is not Verdict.PASS]
    assert (code, [each.verdict for each in told], late) == (EXIT_UNKNOWN, [Verdict.COULD_NOT_TELL], ["finish"])
    assert "--call-limit" in told[0].reason
