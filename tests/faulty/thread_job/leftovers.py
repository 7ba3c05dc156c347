"""Lies about many jobs, about what two jobs share, and about what a job leaves behind for a later one."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar

from conformance.references.thread_job import ACTIVE, Reply, ThreadJob
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class _NamesFiles(Lie):
    """No lie yet: a file has a name that comes from its job. One caller at a time."""

    declares: ClassVar[dict[str, Any]] = {**Lie.declares, "concurrency": "none"}

    def _message(self, job: ThreadJob) -> Reply:
        self._named = self._name(job)
        return super()._message(job)

    def _name(self, job: ThreadJob) -> str:
        return str(job.serial)

    def _spill_path(self) -> Path:
        return self._private_directory() / f"payload-{self._named}.txt"


class FilesNamedAfterInstant(_NamesFiles):
    """A file is named after its thread and the instant at which the job ended."""

    row, calls = "X46", 5

    def _name(self, job: ThreadJob) -> str:
        return f"{job.thread}-{job.completed_at}"


class FilesNamedAfterContent(_NamesFiles):
    """A file is named after what it holds: equal texts share one."""

    row, calls = "X46", 5

    def _name(self, job: ThreadJob) -> str:
        return hashlib.sha256(job.payload.encode()).hexdigest()


class FilesNamedAfterId(_NamesFiles):
    """A file is named after the id of its job, which may lead elsewhere, or be no name of a file."""

    row, calls = "X61", 3

    def _name(self, job: ThreadJob) -> str:
        return job.job_id


class FilesNamedAfterCall(_NamesFiles):
    """A file is named after its tool call, with all that no file may be called replaced, so that two share one."""

    row, calls = "X62", 8

    def _name(self, job: ThreadJob) -> str:
        return "".join(sign if sign.isalnum() else "_" for sign in job.tool_call.lower())[:100]


class TenFiles(Lie):
    """Files are numbered from zero to nine, again and again."""

    row, calls = "X47", 23

    def _spill_path(self) -> Path:
        self._spills = (self._spills + 1) % 10
        return self._private_directory() / f"payload-{self._spills}.txt"


class KeepsEightFiles(Lie):
    """A boundary first deletes all files but the last eight."""

    row, calls = "X47", 21

    def turn_boundary(self, thread: str) -> list[Reply]:
        for number in range(1, self._spills - 7):
            (self._private_directory() / f"payload-{number}.txt").unlink(missing_ok=True)
        return super().turn_boundary(thread)


class CancelledDoNotEvict(Lie):
    """A job that was asked to stop evicts nobody when it ends."""

    row, calls = "X48", 44

    def _evict(self, thread: str) -> None:
        if self._ended_in(thread)[-1].cancel_requested_at is None:
            super()._evict(thread)


class StampStaysAfterEviction(Lie):
    """The instant of a cancel is kept by id, and shown of a later job under that id."""

    row, calls = "X49", 45

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._stamps: dict[str, int | None] = {}

    def _cancel(self, job: ThreadJob) -> None:
        super()._cancel(job)
        self._stamps[job.job_id] = job.cancel_requested_at

    def _show(self, job: ThreadJob) -> Reply:
        return {**super()._show(job), "cancel_requested_at": self._stamps.get(job.job_id)}

    def restart(self) -> None:
        super().restart()
        self._stamps.clear()


class StampStaysAfterRestart(StampStaysAfterEviction):
    """The same, after a restart only."""

    row, calls = "X51", 5

    def _evict(self, thread: str) -> None:
        for job in self._leaving(thread):
            self._stamps.pop(job.job_id, None)
        super()._evict(thread)

    def restart(self) -> None:
        super(StampStaysAfterEviction, self).restart()


class DueIsKeptById(Lie):
    """What is owed is kept by id: when the id is used again, the earlier message is dropped."""

    row, calls = "X50", 45

    def _owe(self, job: ThreadJob) -> None:
        self._due[job.thread] = [each for each in self._due[job.thread] if each.job_id != job.job_id]
        super()._owe(job)


class RestartCountsAnew(Lie):
    """Ids count from one again after a restart, and nobody looks whether a caller chose one of them."""

    row, calls = "X52", 4

    def _mint_id(self) -> str:
        self._minted += 1
        return f"job-{self._minted}"

    def restart(self) -> None:
        with self._locked():
            super().restart()
            self._minted = 0


class CallsIgnoreCase(Lie):
    """Tool calls that differ only in capital letters are taken for one."""

    row, calls = "X53", 2

    def _require_unresolved(self, tool_call: str) -> None:
        if any(each.casefold() == tool_call.casefold() for each in self._calls):
            raise Refused("already_resolved")


class ListIsCut(Lie):
    """A list shows fifty jobs at most."""

    row, calls = "X54", 52

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        return super().list_jobs(thread, statuses)[:50]


class FilteredListIsCut(Lie):
    """A list shows fifty jobs at most when statuses are given."""

    row, calls = "X54", 52

    def list_jobs(self, thread: str, statuses: Collection[str] | None = None) -> list[Reply]:
        if statuses is None:
            return super().list_jobs(thread)
        return super().list_jobs(thread, statuses)[:50]
