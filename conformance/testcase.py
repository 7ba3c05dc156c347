"""A lifecycle as tests of a test file: one for each row, and the Hypothesis machine."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

from conformance.rows import RowRunner
from conformance.run import MACHINE, run_machine, selected
from conformance.targets import open_class
from conformance.verdict import RowResult, Verdict, gates
from statemachines.compile import load
from statemachines.lifecycle import Row
from statemachines.rows import RowCompiler


def testcase(lifecycle: str, factory: Callable[[], Any], *, rows: str = "") -> type[unittest.TestCase]:  # noqa: PT028 - it makes tests, and is none
    """Give a test case with a test for each row of a lifecycle, run against the objects that `factory` makes.

    `rows` selects some, such as "N1,E*". A row that the system cannot have is skipped, and says why.
    """
    compiled = load(lifecycle)
    only = tuple(part.strip() for part in rows.split(",") if part.strip())
    adapter = open_class(compiled, factory)
    runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter)
    body: dict[str, Any] = {
        "__doc__": f"{compiled.lifecycle.name} against {adapter.name}.",
        "__module__": factory.__module__,
    }
    for row in selected(compiled, only):
        body[f"test_{row.id.text}"] = _test(runner, row)
    if not only or MACHINE in only:
        body["test_machine"] = _machine(runner)
    return type(f"Test{getattr(factory, '__name__', 'System')}", (unittest.TestCase,), body)


def _test(runner: RowRunner, row: Row) -> Callable[[unittest.TestCase], None]:
    def test(self: unittest.TestCase) -> None:
        _judge(self, runner.run(row))

    test.__doc__ = f"{row.id.text}: {row.about} ({row.id.where})"
    return test


def _machine(runner: RowRunner) -> Callable[[unittest.TestCase], None]:
    def test(self: unittest.TestCase) -> None:
        _judge(self, run_machine(runner))

    test.__doc__ = "Random calls in any order: after each, the system shows what the model shows."
    return test


def _judge(test: unittest.TestCase, result: RowResult) -> None:
    """Fail with the counterexample, skip with the reason, or pass."""
    if result.verdict is Verdict.PASS:
        return
    if not gates(result, "should") and result.verdict is not Verdict.COULD_NOT_TELL:
        test.skipTest(f"{result.verdict}: {result.reason}")
    text = [f"{result.id} {result.verdict}: {result.about}", f"  {result.reason}", f"  {result.where}"]
    if result.counterexample is not None:
        found = result.counterexample
        text += [f"  expected {found.expected}", f"  seen     {found.seen}", "", found.row]
    test.fail("\n".join(text))


# pytest collects names that begin with `test`; this one makes tests, and is none
testcase.__test__ = False  # type: ignore[attr-defined]  # pytest's own mark
