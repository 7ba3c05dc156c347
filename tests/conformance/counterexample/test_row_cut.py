"""What only a claim of a row tells is shown by the steps that the claim needs, and by no others."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.references.task_progress import TaskProgress
from conformance.references.thread_job import ThreadJobs
from conformance.refused import Refused
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


def shown(lifecycle: str, system: type, row: str) -> tuple[list[str], int]:
    """The steps and the claims of the counterexample, and how many calls it makes."""
    found = row_result(system, row, load(lifecycle)).counterexample
    assert found is not None
    lines = found.row.partition("act:\n")[2].splitlines()
    return [line.strip().removeprefix("- ") for line in lines], found.calls


@pytest.mark.thorough
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
    steps, made = shown(lifecycle, system, row)
    assert steps == [line.strip() for line in left.strip().splitlines()]
    assert made == calls  # those in the claim too


class Noting(MessageMakesTask):
    """The same, which notes what was started and finished last."""

    started = finished = ""

    def finish(self, task: str, outcome: str) -> None:
        self.finished = task
        super().finish(task, outcome)

    def start(self, task: str) -> None:
        self.started = task
        super().start(task)


class CrashesUnlessStarted(Noting):
    def message(self, task: str, *rest: Any, **named: Any) -> None:
        if task != self.started:
            raise RuntimeError("not started")
        super().message(task, *rest, **named)


class CrashesInTheClaimUnlessStarted(Noting):
    messaged = ""

    def message(self, task: str, *rest: Any, **named: Any) -> None:
        self.messaged = task
        super().message(task, *rest, **named)

    def status(self, task: str) -> str:
        if task == self.messaged != self.started:
            raise RuntimeError("not started")
        return super().status(task)


class OnceOnlyUnlessStarted(Noting):
    times = 0

    def message(self, task: str, *rest: Any, **named: Any) -> None:
        if task != self.started:
            type(self).times += 1
        if task == self.started or self.times == 1:
            super().message(task, *rest, **named)
        else:
            TaskProgress.message(self, task, *rest, **named)


@pytest.mark.parametrize("system", [CrashesUnlessStarted, CrashesInTheClaimUnlessStarted, OnceOnlyUnlessStarted])
def test_steps_without_which_it_goes_wrong_in_another_way_or_only_now_and_then_stay(system: type) -> None:
    result = row_result(system, "X9", load("task-progress"))
    assert result.reason.startswith("expected status(unknown).refused == first.refused; seen null")
    assert result.counterexample is not None
    assert "- begun = start(unknown)" in result.counterexample.row


@pytest.mark.parametrize("number", [1, 2])
def test_steps_without_which_something_else_is_refused_stay(number: int) -> None:
    class RefusesOneUntilConfigured(ReusedAgainstDeclaration):
        configured = False
        registrations = 0

        async def configure(self, *limits: Any, **named: Any) -> None:
            self.configured = True
            await super().configure(*limits, **named)

        async def register(self, *of: Any, **named: Any) -> Any:
            self.registrations += 1
            if self.registrations == number and not self.configured:
                raise Refused("limit_reached")
            return await super().register(*of, **named)

    assert shown("job", RefusesOneUntilConfigured, "E18") == shown("job", ReusedAgainstDeclaration, "E18")


class TellsTheTruthUntilFinished(Noting):
    def status(self, task: str) -> str:
        if task == self.started != self.finished:
            raise Refused("not_found")
        return super().status(task)


def test_a_step_that_only_a_step_left_out_needed_goes_too() -> None:
    assert shown("task-progress", TellsTheTruthUntilFinished, "X9") == shown("task-progress", MessageMakesTask, "X9")


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
    assert result.reason.startswith("expected status(unknown).refused == first.refused; seen null")


def test_the_last_step_stays() -> None:
    class NoListAndOneInstanceMissing(ThreadJobs):
        made = 0

        def __init__(self, *arguments: Any, **named: Any) -> None:
            type(self).made += 1
            if self.made == 3:  # in which the trace would be played again
                raise ConnectionError("busy for a moment")
            super().__init__(*arguments, **named)

        def list_jobs(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("boom")

    result = row_result(NoListAndOneInstanceMissing, "E8")
    assert result.verdict is Verdict.FAIL
    assert result.reason.startswith("expected an answer; seen list_jobs() raised RuntimeError: boom")
    assert result.counterexample is not None
    assert result.counterexample.calls == 2  # one of them in the claim


def test_what_held_once_and_then_could_not_be_tried_is_flaky() -> None:
    class OnceThenExhausted(MessageMakesTask):
        made = 0

        def __init__(self, *arguments: Any, **named: Any) -> None:
            type(self).made += 1
            if self.made > 2:  # one for the row, and one to try it again
                raise ConnectionError("no more connections")
            super().__init__(*arguments, **named)

        def message(self, task: str, *rest: Any, **named: Any) -> None:
            if self.made == 1:
                super().message(task, *rest, **named)
            else:
                TaskProgress.message(self, task, *rest, **named)

    result = row_result(OnceThenExhausted, "X9", load("task-progress"), shortest=False)
    assert result.verdict is Verdict.FLAKY
    assert result.reason.endswith("; tried again once, it held")
