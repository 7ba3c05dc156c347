"""Lies of a kind: calls that the description allows end in an exception, or in something shapeless."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from conformance.references.thread_job import ACTIVE, Reply, ThreadJob
from tests.faulty.thread_job.lie import Lie


class EmptyBoundaryCrashes(Lie):
    """A boundary with nothing to tell raises IndexError."""

    row, calls = "N4", 1

    def turn_boundary(self, thread: str) -> list[Reply]:
        with self._locked():
            oldest = self._due_in(thread)[0]
            return super().turn_boundary(oldest.thread)


class EmptyBoundaryGivesNull(Lie):
    """A boundary with nothing to tell gives no list at all."""

    row, calls = "N4", 1

    def turn_boundary(self, thread: str) -> list[Reply]:
        return super().turn_boundary(thread) or None  # type: ignore[return-value]  # that is the lie


class TimedOutCrashes(Lie):
    """Ending a job as timed out raises KeyError."""

    row, calls = "N3", 2

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        known = {each: each for each in ("completed", "failed", "cancelled")}
        super()._complete(job, known[outcome], payload)


class RetryOfUnknownCrashes(Lie):
    """Retrying a job that nobody has raises KeyError."""

    row, calls = "E11", 1

    def retry_job(self, thread: str, job: str) -> None:
        with self._locked():
            super().retry_job(thread, self._jobs[job].job_id)


class ListGivesIds(Lie):
    """The list has bare ids where jobs are promised."""

    row, calls = "N8", 2

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        return [shown["job_id"] for shown in super().list_jobs(thread, statuses)]


class MultiByteFileCrashes(Lie):
    """Writing a text with characters beyond ASCII to a file raises UnicodeEncodeError."""

    row, calls = "B5", 3

    def _spill(self, text: str) -> str:
        text.encode("ascii")
        return super()._spill(text)


class SecondFileCrashes(Lie):
    """The second oversize payload raises FileExistsError."""

    row, calls = "B4", 5

    def _spill_path(self) -> Path:
        directory = self._private_directory() / "payloads"
        directory.mkdir()
        return directory / super()._spill_path().name
