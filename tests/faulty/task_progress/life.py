"""Lies about how a task lives and ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.references.task_progress import TERMINAL, DelegatedTask, Reply
from conformance.refused import Refused
from tests.faulty.task_progress.lie import Lie


class FailureLooksCompleted(Lie):
    """A task that failed is shown as completed."""

    row, calls = "N1", 4

    def _end(self, task: DelegatedTask, outcome: str) -> None:
        super()._end(task, "completed" if outcome == "failed" and task.status == "running" else outcome)


class StartIsNotShown(Lie):
    """A task is shown as pending until it reports something."""

    row, calls = "N1", 3

    def status(self, task: str) -> str:
        with self._locked():
            found = self._find(task)
            silent = found.status == "running" and not found.tool_uses and not self._total(found)
            return "pending" if silent else found.status


class AbortedStarts(Lie):
    """A start runs a task that was aborted while it waited."""

    row, calls = "E3", 4

    def _start(self, task: DelegatedTask) -> None:
        if task.status == "aborted" and task.started_at is None:
            task.status = "pending"
        super()._start(task)


class AbortWaitsForStart(Lie):
    """An abort of a pending task is kept for the moment of its start."""

    row, calls = "E3", 3

    def __init__(self) -> None:
        super().__init__()
        self._asked: set[str] = set()

    def _abort(self, task: DelegatedTask) -> None:
        if task.status == "pending":
            self._asked.add(task.task_id)
        else:
            super()._abort(task)

    def _start(self, task: DelegatedTask) -> None:
        super()._start(task)
        if task.task_id in self._asked:
            self._end(task, "aborted")


class FailedRegistrationStaysPending(Lie):
    """A task that could not be registered waits for ever."""

    row, calls = "E4", 2

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Reply:
        return super().create_task(label, batch)


class FailedRegistrationRuns(Lie):
    """A task that could not be registered is started all the same."""

    row, calls = "E4", 3

    def _start(self, task: DelegatedTask) -> None:
        if task.status == "failed" and task.started_at is None:
            task.status = "pending"
        super()._start(task)


class SecondOutcomeWins(Lie):
    """A second outcome replaces the first."""

    row, calls = "E5", 5

    def _require_running(self, task: DelegatedTask) -> None:
        if task.status not in TERMINAL:
            super()._require_running(task)


class FailureOverridesCompletion(Lie):
    """A failure that is reported after the completion replaces it; any other second outcome is refused."""

    row, calls = "E5", 5

    def finish(self, task: str, outcome: str) -> None:
        with self._locked():
            found = self._find(task)
            if found.status == "completed" and outcome == "failed":
                found.status = outcome
            else:
                super().finish(task, outcome)


class AbortOfRunningFails(Lie):
    """An abort of a running task makes it fail."""

    row, calls = "X7", 4

    def _abort(self, task: DelegatedTask) -> None:
        if task.status == "running":
            self._end(task, "failed")
        else:
            super()._abort(task)


class StopsForEver(Lie):
    """After an abort a running task never ends: what it reports at its end is refused."""

    row, calls = "X7", 5

    def _abort(self, task: DelegatedTask) -> None:
        if task.status == "running":
            task.status = "stopping"
        else:
            super()._abort(task)

    def status(self, task: str) -> str:
        shown = super().status(task)
        return "running" if shown == "stopping" else shown


class LateStartRevives(Lie):
    """A start of a task that completed makes it run again."""

    row, calls = "X8", 5

    def _start(self, task: DelegatedTask) -> None:
        if task.status == "completed":
            task.status = "pending"
        super()._start(task)


class LateAbortWins(Lie):
    """An abort of a task that failed makes it aborted."""

    row, calls = "X8", 5

    def _abort(self, task: DelegatedTask) -> None:
        if task.status in {"pending", "running", "failed"}:
            self._end(task, "aborted")
        else:
            raise Refused("wrong_state")


class SecondStartResets(Lie):
    """A start of a running task is refused, but its counters begin anew."""

    row, calls = "X8", 5

    def _start(self, task: DelegatedTask) -> None:
        task.output_tokens = 0
        super()._start(task)


class PendingCompletes(Lie):
    """A task that never started can be reported as completed."""

    row, calls = "X16", 3

    def _require_running(self, task: DelegatedTask) -> None:
        if task.status in TERMINAL:
            super()._require_running(task)


class UnknownCrashes(Lie):
    """The status of a task that never was is looked up without a look whether it is there."""

    row, calls = "X2", 1

    def status(self, task: str) -> str:
        with self._locked():
            return self._tasks[task].status


class UnknownReadingCrashes(Lie):
    """The progress of a task that never was is looked up without a look whether it is there."""

    row, calls = "X2", 1

    def progress(self, task: str) -> Reply:
        with self._locked():
            return self._read(self._tasks[task])


class MessageMakesTask(Lie):
    """A message for a task that never was makes one, pending."""

    row, calls = "X9", 3

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        with self._locked():
            self._tasks.setdefault(task, DelegatedTask(task, "", None))
            super().message(task, role, usage, tools)


class SilenceFails(Lie):
    """A task that ran for an hour is taken for failed."""

    row, calls = "X13", 4

    def _find(self, task: str) -> DelegatedTask:
        found = super()._find(task)
        if found.status == "running" and self._now - (found.started_at or 0) >= 3_600_000:
            self._end(found, "failed")
        return found


class SecondStartStampsAgain(Lie):
    """A task that is started twice has started the second time."""

    row, calls = "X20", 6

    def start(self, task: str) -> None:
        try:
            super().start(task)
        finally:
            with self._locked():
                found = self._tasks.get(task)
                if found is not None and found.status == "running":
                    found.started_at = self._now
