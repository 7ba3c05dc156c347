"""`pytest --lifecycle`: a test for each row, which passes, fails, is skipped and is expected to fail as the row does."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

TASKS = """
class MyTasks:
    def __init__(self):
        self.tasks = {}

    def create_task(self, label, batch=None, registers=True):
        task = f"task-{len(self.tasks) + 1}"
        self.tasks[task] = "pending"
        return {"task_id": task, "status": "pending"}

    def start(self, task):
        self.tasks[task] = "running"

    def finish(self, task, outcome):
        self.tasks[task] = outcome

    def status(self, task):
        return self.tasks[task]
"""
ROWS = ("--lifecycle", "task-progress", "--against", "python:tasks:MyTasks", "--rows")


@pytest.fixture
def tasks(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a system that lets a task end twice, and a test file beside it."""
    pytester.makepyfile(tasks=TASKS, test_other="def test_other():\n    assert True\n")
    return pytester


def ran(tasks: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return tasks.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def test_each_row_is_a_test_that_stands_where_the_row_does(tasks: pytest.Pytester) -> None:
    result = ran(tasks, *ROWS, "N1,E5", "-v", "--junitxml", "junit.xml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*task-progress::N1 *PASSED*", "*task-progress::E5 *FAILED*"])
    result.stdout.fnmatch_lines(
        ["E5 fail: Of two outcomes the first counts.", "  *rows/edge.yaml:*", "*last == completed"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    cases = ET.parse(tasks.path / "junit.xml").iter("testcase")
    assert [(case.get("classname"), case.get("name")) for case in cases] == [
        ("task-progress", "N1"),
        ("task-progress", "E5"),
    ]


def test_rows_are_chosen_as_tests_are(tasks: pytest.Pytester) -> None:
    result = tasks.runpytest_subprocess(*ROWS, "N1,E5", "-k", "N1")
    result.assert_outcomes(passed=1, deselected=1)
    tasks.runpytest_subprocess(*ROWS, "N1,E5").assert_outcomes(passed=1, failed=1)
    tasks.runpytest_subprocess(*ROWS, "N1,E5", "--lf").assert_outcomes(failed=1, deselected=1)


def test_test_files_run_beside_them_only_where_they_are_named(tasks: pytest.Pytester) -> None:
    ran(tasks, *ROWS, "N1", "test_other.py").assert_outcomes(passed=2)
    ran(tasks).assert_outcomes(passed=1)


def test_a_known_failure_is_expected_and_one_that_is_none_any_more_fails(tasks: pytest.Pytester) -> None:
    tasks.makefile(".yaml", known="E5: {reason: until the queue is rewritten}\n")
    ran(tasks, *ROWS, "N1,E5", "--baseline", "known.yaml").assert_outcomes(passed=1, xfailed=1)
    tasks.makefile(".yaml", known="N1: {reason: it failed once}\n")
    result = ran(tasks, *ROWS, "N1", "--baseline", "known.yaml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*XPASS(strict)*it failed once*"])
    tasks.makefile(".yaml", known="operations.finish.otherwise: {reason: until then}\n")
    ran(tasks, *ROWS, "E5", "--baseline", "known.yaml").assert_outcomes(xfailed=1)


def test_a_row_that_does_not_apply_is_skipped_with_its_reason(tasks: pytest.Pytester) -> None:
    result = ran(tasks, "--lifecycle", "job", "--against", "reference", "--rows", "N1", "-rs")
    result.assert_outcomes(passed=1)
    tasks.makepyfile(
        tasks=TASKS.replace("    def __init__", "    declares = {'lacks': ['progress']}\n\n    def __init__")
    )
    result = ran(tasks, *ROWS, "N2,E5")
    assert result.ret != 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--lifecycle", "task-progress"), "--lifecycle needs a system"),
        ((*ROWS, "N99"), "no row of task-progress is called 'N99'"),
        (("--lifecycle", "none", "--against", "reference"), "no lifecycle is named 'none'"),
        (("--lifecycle", "job", "--against", "python:none:None"), "there is no module 'none'"),
    ],
)
def test_what_is_asked_wrongly_is_told_in_a_line(arguments: tuple[str, ...], said: str, tasks: pytest.Pytester) -> None:
    result = ran(tasks, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{said}*"])


def test_rows_are_spread_over_processes(tasks: pytest.Pytester) -> None:
    ran(tasks, *ROWS, "N1,E5,X16", "-n", "2").assert_outcomes(passed=1, failed=2)


def test_who_does_not_use_it_pays_for_no_part_of_the_kit_and_keeps_every_option(tasks: pytest.Pytester) -> None:
    tasks.makeconftest(
        "def pytest_addoption(parser):\n"
        "    for name in ('--rows', '--seed', '--quick', '--baseline', '--against'):\n"
        "        parser.addoption(name)\n"
    )
    ran(tasks, "--seed", "7").assert_outcomes(passed=1)
    code = "import sys, conformance.pytest_plugin\nprint(*(n for n in sys.modules if n.startswith(('conformance', 'statemachines'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {*done.stdout.split()} == {"conformance", "conformance.refused", "conformance.pytest_plugin"}
