"""A lifecycle as tests of a test file: they pass, fail and are skipped as rows do."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance.verdict import MACHINE
from tests.conformance.systems import REFERENCE, thread_job
from tests.faulty.thread_job.retention import EvictionLosesMessage, FirstStartedLeaves
from tests.faulty.thread_job.telling import TurnTriggeredByNothing
from tests.right.thread_job import MachineJobs


def ran(case: type[unittest.TestCase]) -> unittest.TestResult:
    """The tests as unittest runs them."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result


def name_of(test: Any) -> str:
    return str(test.id()).rpartition(".")[2]


def test_there_is_a_test_for_each_row_and_one_for_the_machine() -> None:
    case = conformance.testcase("thread-job", REFERENCE)
    names = unittest.defaultTestLoader.getTestCaseNames(case)
    rows = thread_job().lifecycle.rows
    assert set(names) == {f"test_{row}" for row in [*rows, MACHINE]}
    assert case.__name__ == "TestThreadJobs"
    assert case.__module__ == REFERENCE.__module__
    for row in rows.values():
        about = getattr(case, f"test_{row.id.text}").__doc__
        assert about.startswith(f"{row.id.text}: {row.about} (")
        where = row.id.where
        assert about.endswith(f"/rows/{Path(where.file).name}:{where.line}:{where.column})")


@pytest.mark.thorough
def test_a_right_system_passes() -> None:
    result = ran(conformance.testcase("thread-job", REFERENCE, rows="N*"))
    assert result.wasSuccessful()
    assert (result.testsRun, result.skipped) == (10, [])


@pytest.mark.thorough
def test_a_wrong_system_fails_with_the_counterexample() -> None:
    result = ran(conformance.testcase("thread-job", FirstStartedLeaves, rows="N1,B7"))
    ((test, told),) = result.failures
    assert (result.testsRun, result.errors, name_of(test)) == (2, [], "test_B7")
    assert "B7 fail: The ending that is one too many evicts the job that ended first" in told
    assert "thread-job/rows/boundary.yaml:" in told
    assert "started = repeat(21, start(t1, fresh, bash))" in told
    assert "expected " in told
    assert "seen " in told


@pytest.mark.thorough
def test_what_is_only_recommended_fails_a_test_too() -> None:
    ((_, told),) = ran(conformance.testcase("thread-job", EvictionLosesMessage, rows="X1")).failures
    assert "X1 fail: Eviction before telling loses no message." in told


def test_a_row_that_a_system_cannot_have_is_skipped_with_the_reason() -> None:
    result = ran(conformance.testcase("thread-job", MachineJobs, rows="N1,X7"))
    ((test, reason),) = result.skipped
    assert (name_of(test), reason) == (
        "test_X7",
        "not applicable: needs emit, which is optional and lacking",
    )
    assert result.wasSuccessful()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "right"), [pytest.param(REFERENCE, True, marks=pytest.mark.soak), (TurnTriggeredByNothing, False)]
)
def test_the_machine_is_a_test(system: type, right: bool) -> None:
    result = ran(conformance.testcase("thread-job", system, rows="machine"))
    assert (result.testsRun, result.wasSuccessful()) == (1, right)
    if not right:
        ((_, told),) = result.failures
        assert "last = turn_boundary(t1)" in told


def test_a_system_that_cannot_be_made_fails_its_tests_in_words() -> None:
    class Unmade(REFERENCE):
        def __init__(self) -> None:
            raise OSError("no database")

    ((_, told),) = ran(conformance.testcase("thread-job", Unmade, rows="N1")).failures
    assert "harness error" in told
    assert "cannot be made: the constructor raised OSError: no database" in told


@pytest.mark.thorough
def test_a_method_that_takes_something_else_is_told_and_is_no_crash_of_the_system() -> None:
    class Narrow(REFERENCE):
        def start(self) -> None:  # type: ignore[override]  # a method that cannot be called as the lifecycle does
            return

    ((_, told),) = ran(conformance.testcase("thread-job", Narrow, rows="E4")).failures
    assert "harness error: " in told
    assert "start() cannot be called with thread, tool_call and tool" in told


def test_rows_that_there_are_not_are_refused_at_once() -> None:
    with pytest.raises(conformance.UsageError, match=r"no row of thread-job is called 'N99'; did you mean 'N9'\?"):
        conformance.testcase("thread-job", REFERENCE, rows="N1,N99")


TEST_FILE = """\
import conformance
from conformance.references.thread_job import ThreadJobs
from tests.faulty.thread_job.telling import TurnTriggeredByNothing

TestRight = conformance.testcase("thread-job", ThreadJobs, rows="N1,N2")
TestWrong = conformance.testcase("thread-job", TurnTriggeredByNothing, rows="N1,N4")
"""


@pytest.mark.thorough
def test_pytest_collects_and_runs_them(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile(test_jobs=TEST_FILE)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-v")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["*TestRight::test_N1 PASSED*", "*TestRight::test_N2 PASSED*", "*TestWrong::test_N4 FAILED*"]
    )
    result.stdout.fnmatch_lines(["*N4 fail: One message at the boundary*"])
    assert result.ret == 1
