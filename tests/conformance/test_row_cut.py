"""What only a claim of a row tells is shown by the steps that the claim needs, and by no others."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.verdict import Verdict
from statemachines.compile import load
from tests.conformance.systems import row_result
from tests.faulty.background_tasks.rows import CrashedRowsStay
from tests.faulty.job.reuse import ReusedAgainstDeclaration
from tests.faulty.task_progress.life import MessageMakesTask

NOT_NEEDED = """
    unknown = fresh(TaskId)
    first = status(unknown)
    said = message(unknown, assistant, Usage(10, 5), [ToolUse(bash, 'x')])
    assert:
    status(unknown).refused == first.refused
"""
A_RIGHT_SYSTEM_FAILS_WITHOUT = """
    tasks = repeat(limits.retained + 2, spawn('x'))
    for each t in tasks:
    crash(t.task_id)
    listed = list()
    assert:
    listed.size() == limits.retained && listed.all(t, t.status == failed)
"""
THE_CLAIM_HOLDS_WITHOUT = """
    configure(2, 1000, 5000)
    old = register(bash, 'old', 'x')
    cancel(old.job_id)
    wait(1001)
    again = register(task, 'new', 'x')
    assert:
    again.job_id != 'x' && again.job_id.startsWith('x')
"""


@pytest.mark.parametrize(
    ("lifecycle", "system", "row", "left", "calls"),
    [
        pytest.param("task-progress", MessageMakesTask, "X9", NOT_NEEDED, 4, id="not needed"),
        pytest.param(
            "background-tasks",
            CrashedRowsStay,
            "X36",
            A_RIGHT_SYSTEM_FAILS_WITHOUT,
            133,
            id="a right system fails without",
        ),
        pytest.param("job", ReusedAgainstDeclaration, "E18", THE_CLAIM_HOLDS_WITHOUT, 5, id="holds without"),
    ],
)
def test_only_the_steps_that_the_claim_needs_are_left(
    lifecycle: str, system: type, row: str, left: str, calls: int
) -> None:
    found = row_result(system, row, load(lifecycle)).counterexample
    assert found is not None
    told = [line.strip().removeprefix("- ") for line in found.row.partition("act:\n")[2].splitlines()]
    assert told == [line.strip() for line in left.strip().splitlines()]
    assert found.calls == calls  # those in the claim too


def test_steps_without_which_something_else_goes_wrong_stay() -> None:
    class CrashesUnlessStarted(MessageMakesTask):
        started = ""

        def start(self, task: str) -> None:
            self.started = task
            super().start(task)

        def message(self, task: str, *rest: Any, **named: Any) -> None:
            if task != self.started:
                raise RuntimeError("not started")
            super().message(task, *rest, **named)

    result = row_result(CrashesUnlessStarted, "X9", load("task-progress"))
    assert result.reason.startswith("expected status(unknown).refused == first.refused; seen None")
    assert result.counterexample is not None
    assert "- begun = start(unknown)" in result.counterexample.row


@pytest.mark.parametrize("instances", [1, 2, 6])
def test_a_fault_stands_when_no_further_instance_can_be_made(instances: int) -> None:
    class Exhausted(MessageMakesTask):
        made = 0

        def __init__(self, *arguments: Any, **named: Any) -> None:
            type(self).made += 1
            if self.made > instances:
                raise ConnectionError("no more connections")
            super().__init__(*arguments, **named)

    result = row_result(Exhausted, "X9", load("task-progress"))
    assert result.verdict is Verdict.FAIL
    assert result.reason.startswith("expected status(unknown).refused == first.refused; seen None")
