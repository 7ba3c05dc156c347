"""What a system declares that it does not have: parts of a life cycle, observers, signals. Nobody asks for these, and for all else."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from conformance.report import Report
from conformance.suite.run import Run
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, MACHINE, Verdict
from statemachines.compile import load
from tests.conformance.systems import BRIEF, REFERENCE, adapted, explained, row_result
from tests.right.background_tasks.condition import ConditionTasks
from tests.right.job.sqlite import SqliteJobs


class Manager(SqliteJobs):
    """A manager of jobs without the tool in front of it."""

    declares: ClassVar[dict[str, Any]] = {**SqliteJobs.declares, "parts": ["manager"]}
    tool = tool_result = abort_tool = None  # type: ignore[assignment]  # it has none of these


class Unstoppable(Manager):
    """The same, of which only single jobs can be cancelled."""

    def cancel_all(self, owner: str | None = None) -> None:
        """Do nothing."""


def report_of(system: type, lifecycle: str, rows: str | None = None) -> Report:
    compiled = load(lifecycle)
    with adapted(system, compiled) as adapter:
        return Run(compiled, adapter, rows=rows, budget=BRIEF).go()


# ── Parts ──


@pytest.mark.thorough
def test_a_right_manager_without_the_tool_conforms_and_is_searched() -> None:
    report = report_of(Manager, "job")
    wrong = [each for each in report.rows if each.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)]
    assert not wrong, "\n\n".join(map(explained, wrong))
    assert report.exit == EXIT_CONFORMS
    assert report[MACHINE].verdict is Verdict.PASS
    assert report[MACHINE].runs > 0
    assert report["N4"].reason == "needs tool, which is of the part tool, and parts: manager is declared"
    assert report.coverage.gaps == ()
    assert {"operations.tool.gives", "entities.Call.id", "on its own.returns"} <= {*report.coverage.unasked}
    assert "clauses not asked, by what is declared:\n" in repr(report)


@pytest.mark.soak
def test_a_wrong_manager_without_the_tool_is_found_by_random_calls() -> None:
    report = report_of(Unstoppable, "job", MACHINE)
    assert (report.exit, report[MACHINE].verdict) == (EXIT_VIOLATES, Verdict.FAIL)


def test_a_part_that_is_there_is_asked_for() -> None:
    class Forgetful(Manager):
        declares: ClassVar[dict[str, Any]] = SqliteJobs.declares

    assert report_of(Forgetful, "job", "N4")["N4"].verdict is Verdict.NOT_EXERCISED


# ── Signals and observers ──


class Silent(REFERENCE):
    """A system that does not show when it triggers a turn."""

    declares: ClassVar[dict[str, Any]] = {**REFERENCE.declares, "lacks": ["signal TurnTriggered"]}

    def signals(self) -> list[dict[str, Any]]:
        return [each for each in super().signals() if each["signal"] != "TurnTriggered"]


class Undeclared(Silent):
    declares: ClassVar[dict[str, Any]] = REFERENCE.declares


class NotSilent(REFERENCE):
    declares: ClassVar[dict[str, Any]] = Silent.declares


@pytest.mark.thorough
def test_a_signal_that_is_declared_lacking_is_not_expected() -> None:
    report = report_of(Silent, "thread-job")
    away = [each for each in report.rows if each.verdict is Verdict.NOT_APPLICABLE]
    wrong = [each for each in report.rows if each.verdict is not Verdict.PASS and each not in away]
    assert not wrong, "\n\n".join(map(explained, wrong))
    assert report.exit == EXIT_CONFORMS
    assert {each.reason for each in away} == {"needs the signal TurnTriggered, which is declared lacking"}
    assert "operations.turn_boundary.signal.TurnTriggered" in report.coverage.unasked


def test_a_signal_that_comes_though_it_is_declared_lacking_is_a_fault() -> None:
    rows = load("thread-job").lifecycle.rows
    applied = [row_result(NotSilent, name, budget=BRIEF) for name in rows if name.startswith("N")]
    told = [each for each in applied if each.verdict is Verdict.FAIL]
    assert told
    assert all("no signal TurnTriggered, for it is declared lacking" in each.reason for each in told)


def test_a_signal_that_does_not_come_and_is_not_declared_lacking_is_a_fault() -> None:
    rows = (name for name in load("thread-job").lifecycle.rows if name.startswith("N"))
    away = next(name for name in rows if row_result(Silent, name, budget=BRIEF).verdict is Verdict.NOT_APPLICABLE)
    assert row_result(Undeclared, away, budget=BRIEF).verdict is Verdict.FAIL


def test_what_only_looks_can_be_lacking() -> None:
    class Blind(REFERENCE):
        declares: ClassVar[dict[str, Any]] = {**REFERENCE.declares, "lacks": ["list_jobs"]}
        list_jobs = None  # type: ignore[assignment]  # there is none

    report = report_of(Blind, "thread-job", "N8,machine")
    assert report["N8"].reason == "needs list_jobs, which is declared lacking"
    assert report[MACHINE].verdict is Verdict.PASS


class CannotRestart(REFERENCE):
    """A system that has no counterpart of a test control."""

    declares: ClassVar[dict[str, Any]] = {**REFERENCE.declares, "lacks": ["restart"]}
    restart = None  # type: ignore[assignment]  # there is none


def test_a_test_control_can_be_lacking() -> None:
    report = report_of(CannotRestart, "thread-job", "E12,machine")
    assert report["E12"].reason == "needs restart, which is declared lacking"
    assert report[MACHINE].verdict is Verdict.PASS


class OneHandle(ConditionTasks):
    """A table of tasks that has one handle, and no session."""

    declares: ClassVar[dict[str, Any]] = {
        **ConditionTasks.declares,
        "lacks": ["session_cancelled", "clone"],
    }
    session_cancelled = clone = None  # type: ignore[assignment]  # there are none


def test_a_table_of_tasks_may_have_one_handle_and_no_session() -> None:
    report = report_of(OneHandle, "background-tasks", "N6,X19,machine")
    assert report["N6"].reason == "needs clone, which is declared lacking"
    assert report["X19"].reason == "needs session_cancelled, which is declared lacking"
    assert report[MACHINE].verdict is Verdict.PASS


def test_who_lacks_a_test_control_is_held_to_all_else() -> None:
    class Forgetful(CannotRestart):
        def list_jobs(self, *given: Any, **named: Any) -> Any:
            return super().list_jobs(*given, **named)[1:]

    assert report_of(Forgetful, "thread-job", "machine")[MACHINE].verdict is Verdict.FAIL
