"""Lies about forgetting everything."""

from __future__ import annotations

from tests.faulty.thread_job.lie import Lie


class RestartKeepsJobs(Lie):
    """Jobs survive a restart."""

    row, calls = "E12", 3

    def restart(self) -> None:
        with self._locked():
            jobs = dict(self._jobs)
            super().restart()
            self._jobs.update(jobs)


class RestartKeepsCalls(Lie):
    """Tool calls stay resolved after a restart."""

    row, calls = "E12", 3

    def restart(self) -> None:
        with self._locked():
            calls = dict(self._calls)
            super().restart()
            self._calls.update(calls)


class RestartKeepsInlineCalls(Lie):
    """Calls that were resolved within their turn stay so after a restart; those of jobs are forgotten with these."""

    row, calls = "E12", 3

    def restart(self) -> None:
        with self._locked():
            inline = {call: mode for call, mode in self._calls.items() if mode == "synchronous"}
            super().restart()
            self._calls.update(inline)


class RestartKeepsPending(Lie):
    """What was due before a restart is told at the first boundary after it."""

    row, calls = "X3", 4

    def restart(self) -> None:
        with self._locked():
            due = dict(self._due)
            super().restart()
            self._due.update(due)


class RestartTellsPending(Lie):
    """What is due is told as the last thing before a restart."""

    row, calls = "X3", 4

    def restart(self) -> None:
        with self._locked():
            for thread in list(self._due):
                for job in self._due_in(thread):
                    self._tell(job)
            super().restart()
