"""A lifecycle as tests of a test file: one for each row, and the random machine."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from conformance.api import System, check_arguments, known_failures, loaded
from conformance.budget import USUAL
from conformance.errors import faults_told
from conformance.report import FAILING, failing, stale_told
from conformance.suite import ABOUT_MACHINE, MACHINE, Baseline, RowRunner, run_machine, run_row, selected
from conformance.system import HarnessError
from conformance.targets import open_system
from conformance.verdict import RowResult, Verdict, gates
from statemachines.rows import RowCompiler


def testcase(
    lifecycle: str | Path,
    system: System,
    *,
    rows: str | Sequence[str] | None = None,  # noqa: PT028 - it makes tests, and is none
    seed: int = 0,  # noqa: PT028 - the same
    quick: bool = False,  # noqa: PT028 - the same
    baseline: str | Path | None = None,  # noqa: PT028 - the same
) -> type[unittest.TestCase]:
    """Return a test case with a test for each row of a life cycle and one for the random machine.

        TestMyJobs = conformance.testcase("thread-job", MyJobs)

    The arguments are those of `conformance.run`. A row that the system cannot have is skipped, and says why, as is a
    known failure; any other shows its counterexample. What is said to fail and does not any more is an error at the end
    of the class. Raises UsageError for what cannot be used, and HarnessError for what is
    declared wrongly, both where the test case is made.
    """
    check_arguments(seed=seed, quick=quick)
    compiled = loaded(lifecycle)
    chosen, with_machine = selected(compiled, rows)
    adapter = open_system(compiled, system)
    adapter.close()
    with faults_told("spec"):
        programs = RowCompiler(compiled.lifecycle).checked()
    budget = USUAL.quick() if quick else USUAL
    all_known = {**adapter.declaration.deviates, **known_failures(compiled, baseline)}
    known = Baseline(compiled, all_known, whole=budget.whole)

    class Rows(unittest.TestCase):
        """They share one adapter, which is closed after the last one."""

        runner: ClassVar[RowRunner]
        unready: ClassVar[str] = ""  # why nothing can be asked
        results: ClassVar[list[RowResult]]

        def setUp(self) -> None:
            if self.unready:
                self.fail(f"harness error: {self.unready}")

        @classmethod
        def setUpClass(cls) -> None:
            adapter = open_system(compiled, system)
            cls.addClassCleanup(adapter.close)
            try:
                adapter.ready()
            except HarnessError as error:
                cls.unready = str(error)
            cls.runner = RowRunner(compiled, programs, adapter, number=seed, budget=budget)
            cls.results = []

        @classmethod
        def tearDownClass(cls) -> None:
            if stale := known.stale(cls.results, cls.runner.witnessed, MACHINE):
                raise AssertionError(stale_told(stale))

        def judge(self, judged: Callable[[RowRunner], list[RowResult]]) -> None:
            results = [known.judged(each, self.results) for each in judged(self.runner)]
            self.results.extend(results)
            _tell(self, results)

    body: dict[str, Any] = {
        "__doc__": f"{compiled.lifecycle.name} against {adapter.name}.",
        "__module__": getattr(system, "__module__", __name__),
    }
    for row in chosen:
        about = f"{row.id.text}: {row.about} ({row.id.where})"
        body[f"test_{row.id.text}"] = _test(about, partial(run_row, row=row))
    if with_machine:
        body["test_machine"] = _test(ABOUT_MACHINE, partial(run_machine, known=all_known))
    return type(f"Test{getattr(system, '__name__', 'System')}", (Rows,), body)


def _test(about: str, judged: Callable[[RowRunner], list[RowResult]]) -> Callable[[Any], None]:
    def test(self: Any) -> None:
        self.judge(judged)

    test.__doc__ = about
    return test


def _tell(test: unittest.TestCase, results: Sequence[RowResult]) -> None:
    """Fail with every counterexample, skip with the reason, or let the test pass."""
    failing = [each for each in results if gates(each, "should") or each.verdict is Verdict.COULD_NOT_TELL]
    if failing:
        test.fail("\n\n".join(map(failure_text, failing)))
    for result in results:
        if result.verdict is not Verdict.PASS:
            test.skipTest(f"{result.verdict}: {result.reason}")


def failure_text(result: RowResult) -> str:
    """Return what is said of a row that fails, as `conformance run` does: what was expected and seen, and the calls that show it."""
    lines = [f"{result.id} {result.verdict}: {result.about}"]
    if result.verdict not in FAILING:
        return "\n".join([*lines, f"  {result.reason}", f"  {result.where}"])
    said = failing(result, {})
    for label, text in said.facts:
        first, *more = text.split("\n")
        lines += [f"  {label:<9} {first}", *(f"            {each}" for each in more)]
    return "\n".join([*lines, "", said.trace] if said.trace else lines)
