"""Lies about what one thread sees and changes of another."""

from __future__ import annotations

from collections.abc import Collection

from conformance.references.thread_job import ACTIVE, Reply
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class ForeignCancelAccepted(Lie):
    """A thread may cancel another thread's job."""

    row, calls = "E8", 2

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        with self._locked():
            owner = self._jobs[job].thread if job in self._jobs else thread
            return super().request_cancel(owner, job, actor)


class ForeignCancelIsSent(Lie):
    """Cancelling another thread's job is refused, but the request is sent."""

    row, calls = "E8", 2

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        with self._locked():
            if job in self._jobs and self._jobs[job].thread != thread:
                self._signal("CancelSent", job_id=job)
            return super().request_cancel(thread, job, actor)


class ForeignJobsListed(Lie):
    """A thread's list has the jobs of all threads."""

    row, calls = "E8", 2

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        with self._locked():
            return [self._show(job) for job in self._jobs.values() if job.status in statuses]


class ForeignInspectAccepted(Lie):
    """A thread may inspect another thread's job."""

    row, calls = "E9", 2

    def inspect_job(self, thread: str, job: str) -> Reply:
        with self._locked():
            owner = self._jobs[job].thread if job in self._jobs else thread
            return super().inspect_job(owner, job)


class ForeignIsForbidden(Lie):
    """Inspecting another thread's job is refused as forbidden, which says that it exists."""

    row, calls = "E9", 2

    def inspect_job(self, thread: str, job: str) -> Reply:
        with self._locked():
            if job in self._jobs and self._jobs[job].thread != thread:
                raise Refused("forbidden")
            return super().inspect_job(thread, job)


class UnknownIsToldApart(Lie):
    """Inspecting an id that was never issued is refused otherwise than another thread's."""

    row, calls = "X5", 1

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._issued: set[str] = set()

    def _begin(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        self._issued.add(job_id)
        return super()._begin(thread, tool_call, tool, job_id)

    def inspect_job(self, thread: str, job: str) -> Reply:
        if job not in self._issued:
            raise Refused("unknown_job")
        return super().inspect_job(thread, job)


class BoundaryIsEverybodys(Lie):
    """A boundary of one thread tells what is due in all threads."""

    row, calls = "N4", 3

    def _boundary(self, thread: str) -> list[Reply]:
        told = super()._boundary(thread)
        for other in list(self._due):
            told += super()._boundary(other)
        return told


class TranscriptIsEverybodys(Lie):
    """What one thread is told appears in the transcript of every thread."""

    row, calls = "E7", 4

    def messages(self, thread: str) -> list[Reply]:
        with self._locked():
            told = super().messages(thread)
            for other in self._transcripts:
                told += super().messages(other) if other != thread else []
            return told
