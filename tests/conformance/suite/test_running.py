"""A clock that `wait` moves and that runs on by itself: who is right is not accused, and who is wrong is found."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.references.cli_job import CliJobs
from conformance.references.cli_program import JobTool
from conformance.verdict import Verdict
from statemachines.compile import load
from tests.conformance.systems import row_result
from tests.tools.agents import GraceIsLong, GraceIsShort, RunningAgents
from tests.tools.late import BarelyLateJobs, GoesASecondEarly, GoesAtHalf
from tests.tools.running import EarlyTool, EndlessTool, RunningTool

CLI_JOB = load("cli-job")
JOB, LOCAL_AGENT = load("job"), load("local-agent")


def on(clock: str, program: type[JobTool]) -> Any:
    """Jobs of a tool whose clock is said to be of that kind."""
    return type(program.__name__, (CliJobs,), {"program": program, "declares": {**CliJobs.declares, "clock": clock}})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("row", ["B1", "B2", "B3", "X5"])
def test_who_asks_close_to_a_deadline_accuses_nobody(row: str, seed: int) -> None:
    found = row_result(on("running", RunningTool), row, CLI_JOB, seed=seed, quick=True)
    assert found.verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE), found.reason
    if found.verdict is Verdict.NOT_APPLICABLE:  # on a machine so busy that nobody can ask in time
        assert found.reason.startswith("needs a clock that stands still")


def test_by_a_clock_that_is_said_to_stand_still_the_same_tool_is_wrong() -> None:
    assert row_result(on("virtual", RunningTool), "B1", CLI_JOB, quick=True).verdict is Verdict.FAIL


@pytest.mark.parametrize("clock", ["real", "none"])
def test_where_nobody_moves_the_clock_a_row_that_needs_one_says_what_it_needs(clock: str) -> None:
    found = row_result(on(clock, RunningTool), "B1", CLI_JOB, quick=True)
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.reason == f"needs a clock that can be moved, and clock: {clock} is declared"


@pytest.mark.parametrize(("program", "row"), [(EarlyTool, "B1"), (EndlessTool, "B2"), (EndlessTool, "B3")])
def test_a_tool_that_times_out_too_early_or_never_is_found(program: type[JobTool], row: str) -> None:
    found = row_result(on("running", program), row, CLI_JOB, quick=True, shortest=False)
    assert found.verdict is Verdict.FAIL, found.reason


@pytest.mark.parametrize("row", ["B1", "B5", "B6"])
def test_a_row_that_looks_just_before_a_deadline_and_just_after_it_is_decided_away_from_it(row: str) -> None:
    found = row_result(RunningAgents, row, LOCAL_AGENT, quick=True)
    assert found.verdict is Verdict.PASS, found.reason


@pytest.mark.parametrize("system", [GraceIsShort, GraceIsLong])
def test_a_grace_that_ends_a_second_early_or_late_is_found(system: Any) -> None:
    """Also where what shows it is another clause than those that the row is about."""
    found = row_result(system, "B5", LOCAL_AGENT, quick=True, shortest=False)
    assert found.verdict is Verdict.FAIL, found.reason


@pytest.mark.parametrize(("row", "system"), [("B3", GoesAtHalf), ("B3", GoesASecondEarly), ("B4", GoesAtHalf)])
def test_a_job_that_goes_early_is_found_whichever_wait_of_the_row_comes_to_its_deadline(row: str, system: Any) -> None:
    found = row_result(system, row, JOB, quick=True, shortest=False)
    assert found.verdict is Verdict.FAIL, found.reason


@pytest.mark.parametrize("row", ["B3", "B4", "B5"])
def test_a_job_that_goes_when_its_time_is_over_is_not_accused(row: str) -> None:
    found = row_result(BarelyLateJobs, row, JOB, quick=True)
    assert found.verdict is Verdict.PASS, found.reason
