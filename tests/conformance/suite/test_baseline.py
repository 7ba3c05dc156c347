"""Failures that are known: what they excuse, what they do not, and when they are none any more."""

from __future__ import annotations

import unittest
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import conformance
from conformance.references.task_progress import DelegatedTask, Reply
from conformance.report import junit
from conformance.report.reader import load
from conformance.suite.baseline import PERHAPS_STALE, Baseline
from conformance.suite.machine import run_machine
from conformance.suite.rows import RowRunner
from conformance.system import Deviation
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, MACHINE, RowResult, Verdict
from statemachines.compile import Compiled
from statemachines.compile import load as compiled_of
from statemachines.rows import RowCompiler
from tests.conformance.systems import BRIEF, adapted
from tests.faulty.task_progress.counting import TotalLeavesOutputOut


class TwoFaults:
    """A system of task-progress in which the last outcome counts, and a task that does not run can be ended."""

    declares: Mapping[str, object] = {}

    def __init__(self) -> None:
        self.tasks: dict[str, str] = {}

    def create_task(self, label: str, batch: str | None = None, registers: bool | None = None) -> dict[str, str]:
        task = f"task-{len(self.tasks) + 1}"
        self.tasks[task] = "pending"
        return {"task_id": task, "status": "pending"}

    def start(self, task: str) -> None:
        self.tasks[task] = "running"

    def finish(self, task: str, outcome: str) -> None:
        self.tasks[task] = outcome

    def status(self, task: str) -> str:
        return self.tasks[task]


def deviating(*names: str) -> type[TwoFaults]:
    """The same, which declares known failures."""

    class Deviating(TwoFaults):
        declares = {"deviates": {name: {"reason": f"the reason of {name}"} for name in names}}  # noqa: RUF012 - as an implementer would write it

    return Deviating


def task_progress() -> Compiled:
    return compiled_of("task-progress")


CLAUSE = "operations.finish.otherwise"


# ── What is known does not fail a run, and is named ──


@pytest.mark.parametrize("name", ["E5", CLAUSE])
def test_a_failure_that_is_known_by_row_or_clause_is_a_verdict_of_its_own(name: str) -> None:
    found = conformance.run("task-progress", TwoFaults, rows="N1,E5")["E5"].counterexample
    assert found is not None
    assert found.clause == CLAUSE
    report = conformance.run("task-progress", deviating(name), rows="N1,E5")
    row = report["E5"]
    assert (report.exit, row.verdict, row.counterexample) == (EXIT_CONFORMS, Verdict.KNOWN_FAIL, found)
    assert row.reason.endswith(f"the reason of {name}")
    assert report.footer is not None
    assert report.footer.verdicts["must"] == {"pass": 1, "known fail": 1}
    assert f"the reason of {name} (1 row, E5)" in " ".join(repr(report).split())
    assert "conforms to task-progress but for 1 known failure (E5): 1 row held." in " ".join(repr(report).split())
    assert load(report.dump().splitlines(keepends=True)).dump() == report.dump()
    (skipped,) = ElementTree.fromstring(junit(report)).iter("skipped")
    assert f"the reason of {name}" in skipped.attrib["message"]


def test_a_run_of_known_failures_alone_was_a_run() -> None:
    assert conformance.run("task-progress", deviating("E5"), rows="E5").exit == EXIT_CONFORMS


def test_what_is_known_need_not_be_exercised() -> None:
    assert conformance.run("task-progress", TwoFaults, rows="N1,N6").exit == EXIT_VIOLATES  # it has no batches
    report = conformance.run("task-progress", deviating("N6"), rows="N1,N6")
    assert (report.exit, report["N6"].verdict) == (EXIT_CONFORMS, Verdict.KNOWN_FAIL)


def test_what_is_not_named_fails_all_the_same() -> None:
    report = conformance.run("task-progress", deviating("N2", "operations.start.otherwise"), rows="E5")
    assert (report.exit, report["E5"].verdict) == (EXIT_VIOLATES, Verdict.FAIL)


def test_a_known_fault_does_not_hide_another_one_that_rows_saw_without_being_about_it() -> None:
    def told(known: tuple[str, ...]) -> list[str]:
        compiled, few = task_progress(), replace(BRIEF, stateful_tests=1, stateful_steps=1, walks=0, pairs=0)
        with adapted(TotalLeavesOutputOut, compiled) as adapter:
            runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter, budget=few)
            for row in ("E2", "E7"):
                runner.run(compiled.lifecycle.rows[row])
            results = run_machine(runner, known)
        return [each.counterexample.clause for each in results if each.counterexample is not None]

    first, second = "operations.summarize.signal.announced", "operations.progress.gives"
    assert (told(()), told((first,)), told((first, second))) == ([first], [second], [first])


class KnownTotal(TotalLeavesOutputOut):
    """The same where it is asked, of which one row is known to fail; what it announces is right."""

    declares = TotalLeavesOutputOut.declares | {"deviates": {"B2": {"reason": "it counts otherwise"}}}

    def _announcement(self, task: DelegatedTask) -> Reply:
        return super()._announcement(task) | {"total_tokens": task.input_tokens + task.output_tokens}


class KnownTotalAndMore(KnownTotal):
    """The same, and a task that has completed is shown as failed."""

    def status(self, task: str) -> str:
        found = super().status(task)
        return "failed" if found == "completed" else found


@pytest.mark.thorough
@pytest.mark.parametrize(("system", "exits"), [(KnownTotal, EXIT_CONFORMS), (KnownTotalAndMore, EXIT_VIOLATES)])
def test_what_the_machine_finds_is_known_where_a_row_that_is_known_shows_it(system: type, exits: int) -> None:
    report = conformance.run("task-progress", system, rows=MACHINE, quick=True)  # and so is B2
    assert report.exit == exits
    assert report["B2"].verdict is Verdict.KNOWN_FAIL
    known = [each for each in report.rows if each.id.startswith(MACHINE) and each.verdict is Verdict.KNOWN_FAIL]
    assert exits == EXIT_VIOLATES or [each.reason for each in known] == ["the same as B2: it counts otherwise"]


class TwoWithoutACause(TwoFaults):
    """A task that waits is shown as failed, and one that has completed as aborted."""

    def status(self, task: str) -> str:
        found = super().status(task)
        return {"pending": "failed", "completed": "aborted"}.get(found, found)


@pytest.mark.thorough
def test_a_row_that_is_known_excuses_nothing_that_takes_other_calls() -> None:
    system = type("Known", (TwoWithoutACause,), {"declares": {"deviates": {"N1": {"reason": "it is so"}}}})
    report = conformance.run("task-progress", system, rows="N1,machine", quick=True)
    assert (report.exit, report["N1"].verdict) == (EXIT_VIOLATES, Verdict.KNOWN_FAIL)


# ── What is none any more fails the run ──


def test_an_entry_that_does_not_fail_any_more_fails_the_run_and_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text("N1: {reason: it was so}\nE5: {reason: it is so, since: 1.2, link: 'https://example.org/5'}\n")
    report = conformance.run("task-progress", TwoFaults, rows="N1,E5", baseline=file)
    assert report.exit == EXIT_VIOLATES
    assert (report["N1"].verdict, report["E5"].verdict) == (Verdict.PASS, Verdict.KNOWN_FAIL)
    assert report["E5"].reason == "it is so (since 1.2; https://example.org/5)"
    assert "N1 is said to fail, and it does not any more: take its entry away.\nexit 1" in repr(report)
    assert load(report.dump().splitlines(keepends=True)).dump() == report.dump()
    (failure,) = ElementTree.fromstring(junit(report)).iter("failure")
    assert failure.attrib["type"] == "stale"


def test_an_entry_whose_row_was_not_run_says_nothing() -> None:
    assert conformance.run("task-progress", deviating("N1", "E5", CLAUSE), rows="E5").exit == EXIT_CONFORMS


def test_beside_other_failures_a_stale_entry_is_told_too() -> None:
    report = conformance.run("task-progress", deviating("N1"), rows="N1,E5")
    said = " ".join(repr(report).split())
    assert "violates 1 row of task-progress: E5. N1 is said to fail" in said


def test_a_quick_run_does_not_tell_that_a_row_of_drawn_values_or_many_orders_holds() -> None:
    rows = task_progress().lifecycle.rows
    many = next(name for name, row in rows.items() if row.drawn or "together" in str(row.act))
    fixed = next(name for name, row in rows.items() if row.each and not (row.drawn or "together" in str(row.act)))
    held = [passed(fixed), passed(many)]
    assert known(fixed, many, whole=False).stale(held, {}, MACHINE) == (fixed,)
    assert known(fixed, many).stale(held, {}, MACHINE) == (fixed, many)
    quick, whole = known(fixed, many, whole=False), known(fixed, many)
    assert [quick.judged(each, []).reason for each in held] == ["", PERHAPS_STALE]
    assert [whole.judged(each, []).reason for each in held] == ["", ""]


def passed(name: str) -> RowResult:
    return RowResult(name, "", "must", Verdict.PASS)


def known(*names: str, whole: bool = True) -> Baseline:
    return Baseline(task_progress(), dict.fromkeys(names, Deviation("so it is")), whole)


def test_a_clause_holds_when_a_whole_run_saw_it_at_work_and_found_nothing() -> None:
    names, witnessed = [*task_progress().lifecycle.rows, MACHINE], {CLAUSE: 1}
    whole = {name: passed(name) for name in names}
    broken = conformance.run("task-progress", deviating("E5"), rows="E5")["E5"]
    assert known(CLAUSE).stale([*whole.values()], witnessed, MACHINE) == (CLAUSE,)
    for found, seen in [
        (whole, {}),
        ({name: each for name, each in whole.items() if name != "N1"}, witnessed),
        ({name: each for name, each in whole.items() if name != MACHINE}, witnessed),
        (whole | {"N1": replace(whole["N1"], verdict=Verdict.FAIL)}, witnessed),
        (whole | {"E5": broken}, witnessed),
        (whole | {MACHINE: replace(broken, id=MACHINE)}, witnessed),
        (whole | {"X16": replace(whole["X16"], verdict=Verdict.KNOWN_FAIL)}, witnessed),
    ]:
        assert known(CLAUSE).stale([*found.values()], seen, MACHINE) == (), found
    assert known(CLAUSE, whole=False).stale([*whole.values()], witnessed, MACHINE) == ()


# ── Files ──


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("E55: {reason: x}", "1:1: error [unknown-name] 'E55' is no row and no clause of task-progress"),
        ("E55: {reason: x}", "\n  hint: did you mean 'E5'?"),
        ("N1: {reason: x}\nE*: {reason: x}", "2:1: error [unknown-name] 'E*' is no row"),
        ("E*: {reason: x}", "\n  hint: there are no wildcards"),
        ("machine: {reason: x}", "hint: what random calls come upon is any of its clauses: name the one"),
        ("operations.finish.mov: {reason: x}", "did you mean 'operations.finish.move'?"),
        ("zzzzzzzzzz: {reason: x}", "hint: `conformance list task-progress` names the rows"),
        (
            "E5: {reson: x}",
            "1:6: error [unknown-word] 'reson' is no word of a known failure\n  hint: did you mean 'reason'?",
        ),
        ("E5: {link: x}", "error [missing-word] a known failure needs 'reason'"),
        ("E5: {reason: ''}", "1:14: error [bad-value] 'reason' is empty"),
        ("E5: {reason: x, since: 2}", "1:24: error [wrong-kind] 'since' takes a text, and this is a number"),
        ("E5: x", "1:5: error [wrong-kind] 'E5' takes a mapping"),
        ("- E5", "1:1: error [wrong-kind]"),
        ("E5: {reason: x}\nE5: {reason: x}", "2:1: error [yaml-duplicate-key]"),
    ],
)
def test_a_fault_of_a_file_is_told_with_its_place_before_anything_runs(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "known.yaml"
    file.write_text(text)
    with pytest.raises(conformance.UsageError, match="the baseline has faults") as refused:
        conformance.run("task-progress", TwoFaults, rows="N1", baseline=file)
    assert said in str(refused.value)


def test_a_file_without_entries_is_a_baseline_that_excuses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text("# all is well\n")
    assert conformance.run("task-progress", TwoFaults, rows="N1", baseline=str(file)).exit == EXIT_CONFORMS
    assert conformance.run("task-progress", TwoFaults, rows="E5", baseline=file).exit == EXIT_VIOLATES


@pytest.mark.parametrize("given", [3, {"E5": {"reason": "x"}}])
def test_what_is_no_file_is_refused(given: object) -> None:
    with pytest.raises(conformance.UsageError, match=r"baseline is .*, and it is a file"):
        conformance.run("task-progress", TwoFaults, baseline=given)  # type: ignore[arg-type]  # that is the point


# ── Test files ──


def test_in_a_test_file_a_known_failure_is_skipped_and_a_stale_entry_an_error() -> None:
    result = unittest.TestResult()
    case = conformance.testcase("task-progress", deviating("N1", "E5", "N2"), rows="N1,E5")
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert [reason for _, reason in result.skipped] == ["known fail: the reason of E5"]
    ((_, told),) = result.errors
    assert "N1 is said to fail, and it does not any more: take its entry away." in told
    assert (result.testsRun, result.failures) == (2, [])
