"""Lies that only calls beside an ending, or in two threads at once, can show."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from conformance.references.thread_job import ACTIVE, TERMINAL, Reply, ThreadJob
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class InspectIsTorn(Lie):
    """A record is inspected without the lock, so an ending is seen half done."""

    row, calls = "X38", 3

    def inspect_job(self, thread: str, job: str) -> Reply:
        return self._show(self._find(thread, job))


class ListIsTorn(Lie):
    """Records are listed without the lock, so an ending is seen half done."""

    row, calls = "X58", 3

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        seen = [job for job in list(self._jobs.values()) if job.thread == thread]
        return [self._show(job) for job in seen if job.status in statuses]


class ProgressOverwritesEnd(Lie):
    """Progress reads the record, counts, and writes back what it read: an ending in between is lost."""

    row, calls = "X39", 4

    def report_progress(self, job: str) -> None:
        found = self._jobs.get(job)
        if found is None or found.status in TERMINAL:
            return
        read = replace(found)
        with self._locked():
            self._jobs[job] = read


class ErrorWritesStatusBack(Lie):
    """When a model call is tried again the job gets the status that it had before."""

    row, calls = "X39", 4

    def llm_error(self, job: str, http_status: int) -> None:
        found = self._jobs.get(job)
        if found is None or found.status in TERMINAL:
            return
        before = found.status
        with self._locked():
            found.status = before


class InspectLooksTwice(Lie):
    """Inspecting looks whether the job is there, then takes it, although it may have left in between."""

    row, calls = "X40", 43

    def inspect_job(self, thread: str, job: str) -> Reply:
        if job not in self._jobs or self._jobs[job].thread != thread:
            raise Refused("not_found")
        with self._locked():
            return self._show(self._jobs[job])


class ListIteratesWhileEvicting(Lie):
    """The list walks over the records without the lock, and cannot go on when one of them leaves."""

    row, calls = "X40", 43

    def _begin(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        self._jobs = dict(self._jobs)  # nobody walks over these yet
        return super()._begin(thread, tool_call, tool, job_id)

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        seen = self._jobs_in(thread)
        with self._locked():
            return [self._show(job) for job in seen if job.status in statuses]


class PendingEndsTwice(Lie):
    """The ending of a job that was asked to stop goes a way of its own, and looks before it takes the lock."""

    row, calls = "X41", 5

    def finish(self, job: str, outcome: str, payload: object) -> None:
        found = self._jobs.get(job)
        if found is None or found.status != "pending_cancel":
            super().finish(job, outcome, payload)
            return
        with self._locked():
            self._complete(found, outcome, payload)
            self._owe(found)
            self._evict(found.thread)
            self._wake(found.thread)


class _LocksPerThread(Lie):
    """No lie yet: each thread has a lock of its own beside that of all."""

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._own = {"t1": threading.RLock(), "t2": threading.RLock()}


class IdsMintedPerThreadLock(_LocksPerThread):
    """A start holds the lock of its own thread while it mints the id, but one counter serves all."""

    row, calls = "X42", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._own[thread]:
            number = self._minted + 1
            self._minted = number
            with self._locked():
                self._require_unresolved(tool_call)
                return self._begin(thread, tool_call, tool, f"job-{number}")


class FilesNumberedPerThreadLock(_LocksPerThread):
    """A thread is told under its own lock, but one counter numbers the files of all."""

    row, calls = "X43", 6

    def finish(self, job: str, outcome: str, payload: object) -> None:
        with self._own[self._jobs[job].thread if job in self._jobs else "t1"]:
            super().finish(job, outcome, payload)

    def turn_boundary(self, thread: str) -> list[Reply]:
        with self._own[thread]:
            return self._boundary(thread)

    def emit(self, thread: str, job: str) -> bool:
        with self._own[thread]:
            return super().emit(thread, job)

    def _spill_path(self) -> Path:
        number = self._spills + 1
        self._spills = number
        return self._private_directory() / f"payload-{number}.txt"


class EmitSeesHalfEnded(Lie):
    """An ending sets the status, then the text; an attempt to tell goes by the status."""

    row, calls = "X44", 4

    def finish(self, job: str, outcome: str, payload: object) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is None or found.status in TERMINAL:
                raise Refused("wrong_state")
            self._complete(found, outcome, "")
            self._owe(found)
        found.payload = str(payload)
        with self._locked():
            self._evict(found.thread)
            self._wake(found.thread)


class EndLeavesItToBoundaryUnderWay(Lie):
    """An ending in an idle thread leaves its message to a boundary under way, which has read what is due."""

    row, calls = "X57", 6

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._telling: set[str] = set()

    def turn_boundary(self, thread: str) -> list[Reply]:
        self._telling.add(thread)
        told = self._boundary(thread)
        self._telling.discard(thread)
        return told

    def _tell(self, job: ThreadJob) -> Reply | None:
        with self._locked():
            return super()._tell(job)

    def _wake(self, thread: str) -> None:
        if thread in self._telling and thread in self._idle:
            self._signal("BoundaryRequested", thread=thread)
        else:
            super()._wake(thread)


class ConversationIsMadeTwice(Lie):
    """What is owed to a thread is kept only while it is not empty: two callers at once may both make it anew."""

    row, calls = "X45", 4

    def finish(self, job: str, outcome: str, payload: object) -> None:
        if job in self._jobs:
            self._made(self._jobs[job].thread)
        super().finish(job, outcome, payload)

    def turn_boundary(self, thread: str) -> list[Reply]:
        self._made(thread)
        with self._locked():
            told = super().turn_boundary(thread)
            del self._due[thread]
        return told

    def _made(self, thread: str) -> None:
        if thread not in self._due:
            owed: list[ThreadJob] = []
            self._due[thread] = owed
