"""What the kit does, shown on a bug that was planted: the reference beside a copy that is wrong in one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from conformance.references import (
    background_tasks,
    cli_job,
    cli_program,
    job,
    job_records,
    local_agent,
    task_progress,
    thread_job,
)


class EvictsFirstStarted(thread_job.ThreadJobs):
    """The planted bug: with one ended job too many, the one that started first leaves, not the one that ended first."""

    def _leaving(self, thread: str) -> list[thread_job.ThreadJob]:
        count = len(super()._leaving(thread))
        return sorted(self._ended_in(thread), key=lambda job: job.serial)[:count]


class WaitsForAborted(task_progress.TaskProgress):
    """The planted bug: a batch waits for a task that was aborted before it started, and so for ever."""

    def _is_complete(self, tasks: Sequence[task_progress.DelegatedTask]) -> bool:
        never_ran = any(task.status == "aborted" and task.started_at is None for task in tasks)
        return super()._is_complete(tasks) and not never_ran


class WakesOnlyWhoWaits(background_tasks.BackgroundTasks):
    """The planted bug: a completion wakes those who wait; whoever comes a moment later sleeps on."""

    def _wake(self, table: background_tasks.TaskTable) -> None:
        if table.waiters:
            super()._wake(table)


class ProgressWipesSummary(local_agent.LocalAgents):
    """The planted bug: a report of progress replaces all that is known of a task, its summary included."""

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        super().progress(task, tool_uses, tokens, activities)
        with self._locked():
            if found := self._find_running(task):
                found.summary = None


class TellsPolledAgain(job.Jobs):
    """The planted bug: what a poll has shown to be over is delivered once more."""

    def _acknowledge_ended(self, jobs: Iterable[job_records.JobRecord]) -> None:
        """Forget to."""


class PrintsUnquoted(cli_job.CliJobs):
    """The planted bug: the printed commands do not quote the id, so those of a job called `job 3` do not work."""

    class program(cli_program.JobTool):  # noqa: N801 - the attribute of this name
        def command(self, *words: str) -> str:
            return " ".join([*self.tool, *words])


PLANTED: dict[str, Any] = {
    "thread-job": EvictsFirstStarted,
    "task-progress": WaitsForAborted,
    "background-tasks": WakesOnlyWhoWaits,
    "local-agent": ProgressWipesSummary,
    "job": TellsPolledAgain,
    "cli-job": PrintsUnquoted,
}
