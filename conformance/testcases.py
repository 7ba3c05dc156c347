"""A lifecycle as tests of a test file: one for each row, and the random machine."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any, ClassVar

from conformance.adapter import HarnessError
from conformance.rows import RowRunner
from conformance.run import ABOUT_MACHINE, run_machine, selected
from conformance.targets import open_class
from conformance.verdict import RowResult, Verdict, gates
from statemachines.compile import Compiled, load
from statemachines.lifecycle import Row
from statemachines.rows import RowCompiler


def testcase(lifecycle: str, factory: Callable[[], Any], *, rows: str = "") -> type[unittest.TestCase]:  # noqa: PT028 - it makes tests, and is none
    """Give a test case with a test for each row of a lifecycle, run against the objects that `factory` makes.

    `rows` selects some, such as "N1,E*". A row that the system cannot have is skipped, and says why.
    """
    if not callable(factory):
        raise TypeError(f"testcase takes a class, or a function that makes an object; {factory!r} is none")
    compiled = load(lifecycle)
    only = tuple(part.strip() for part in rows.split(",") if part.strip())
    adapter = open_class(compiled, factory)  # what is declared wrongly is told where the test case is made
    adapter.close()
    body: dict[str, Any] = {
        "__doc__": f"{compiled.lifecycle.name} against {adapter.name}.",
        "__module__": factory.__module__,
        "compiled": compiled,
        "programs": RowCompiler(compiled.lifecycle).checked(),
        "factory": staticmethod(factory),
    }
    chosen, with_machine = selected(compiled, only)
    for row in chosen:
        body[f"test_{row.id.text}"] = _test(row)
    if with_machine:
        body["test_machine"] = _machine
    return type(f"Test{getattr(factory, '__name__', 'System')}", (_Rows,), body)


class _Rows(unittest.TestCase):
    """Rows of a lifecycle as tests: they share one adapter, which is closed after the last one."""

    compiled: ClassVar[Compiled]
    programs: ClassVar[RowCompiler]
    factory: ClassVar[Callable[[], Any]]
    runner: ClassVar[RowRunner]
    unready: ClassVar[str] = ""  # why nothing can be asked

    def setUp(self) -> None:
        if self.unready:
            self.fail(f"harness error: {self.unready}")

    @classmethod
    def setUpClass(cls) -> None:
        adapter = open_class(cls.compiled, cls.factory)
        cls.addClassCleanup(adapter.close)
        try:
            adapter.ready()
        except HarnessError as error:
            cls.unready = str(error)
        cls.runner = RowRunner(cls.compiled, cls.programs, adapter)


def _test(row: Row) -> Callable[[_Rows], None]:
    def test(self: _Rows) -> None:
        _judge(self, self.runner.run(row))

    test.__doc__ = f"{row.id.text}: {row.about} ({row.id.where})"
    return test


def _machine(self: _Rows) -> None:
    _judge(self, run_machine(self.runner))


_machine.__doc__ = ABOUT_MACHINE


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
