"""What the kit does, shown on a bug that was planted: the reference beside a copy that is wrong in one place."""

from __future__ import annotations

from typing import Any

from conformance.references import thread_job


class EvictsFirstStarted(thread_job.ThreadJobs):
    """The planted bug: with one ended job too many, the one that started first leaves, not the one that ended first."""

    def _leaving(self, thread: str) -> list[thread_job.Job]:
        count = len(super()._leaving(thread))
        return sorted(self._ended_in(thread), key=lambda job: job.serial)[:count]


PLANTED: dict[str, Any] = {"thread-job": EvictsFirstStarted}
