"""What the kit does, shown on a bug that was planted: the reference beside a copy that is wrong in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.references import task_progress, thread_job


class EvictsFirstStarted(thread_job.ThreadJobs):
    """The planted bug: with one ended job too many, the one that started first leaves, not the one that ended first."""

    def _leaving(self, thread: str) -> list[thread_job.Job]:
        count = len(super()._leaving(thread))
        return sorted(self._ended_in(thread), key=lambda job: job.serial)[:count]


class WaitsForAborted(task_progress.TaskProgress):
    """The planted bug: a batch waits for a task that was aborted before it started, and so for ever."""

    def _is_complete(self, tasks: Sequence[task_progress.Task]) -> bool:
        never_ran = any(task.status == "aborted" and task.started_at is None for task in tasks)
        return super()._is_complete(tasks) and not never_ran


PLANTED: dict[str, Any] = {"thread-job": EvictsFirstStarted, "task-progress": WaitsForAborted}
