"""Lies for the rows that no system under tests/faulty names: about what is open, and about time and files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from conformance.references.thread_job import ACTIVE, TERMINAL, Job, Reply
from conformance.refused import Refused
from tests.faulty.thread_job import Lie


class EvictedCallCrashes(Lie):
    """A tool call of an evicted job may be refused or used again; here it raises KeyError."""

    row, calls = "X8", 43

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            known = {job.tool_call for job in self._jobs.values()}
            if self._calls.get(tool_call) == "background" and tool_call not in known:
                raise KeyError(tool_call)
            return super().start(thread, tool_call, tool)


class EvictedIdIsRefusedOddly(Lie):
    """An id of an evicted job may be refused as a duplicate or used again; here it is refused as not found."""

    row, calls = "X9", 43

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._used: set[str] = set()

    def _begin(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        if job_id in self._used and job_id not in self._jobs:
            raise Refused("not_found")
        self._used.add(job_id)
        return super()._begin(thread, tool_call, tool, job_id)


class LateProgressRevives(Lie):
    """Progress of a job that has ended makes it run again."""

    row, calls = "X10", 4

    def report_progress(self, job: str) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.status in TERMINAL:
                found.status, found.completed_at = "running", None


class IdleDropsWhatIsDue(Lie):
    """Becoming idle neither tells what is due nor keeps it for the next boundary."""

    row, calls = "X11", 4

    def set_idle(self, thread: str, idle: bool) -> None:
        with self._locked():
            super().set_idle(thread, idle)
            if idle:
                self._due[thread].clear()


class RestartForgetsTranscript(Lie):
    """A restart forgets what was told."""

    row, calls = "X12", 5

    def restart(self) -> None:
        with self._locked():
            super().restart()
            self._transcripts.clear()


class BothEndingsCount(Lie):
    """An ending looks whether the job has ended, then ends it without looking again; each ending is told."""

    row, calls = "X13", 4

    def finish(self, job: str, outcome: str, payload: object) -> None:
        found = self._jobs.get(job)
        if found is None or found.status in TERMINAL:
            super().finish(job, outcome, payload)
            return
        with self._locked():
            self._complete(found, outcome, payload)
            self._owe(replace(found))
            self._evict(found.thread)
            self._wake(found.thread)


class OldJobsExpire(Lie):
    """An hour after its end a job is gone."""

    row, calls = "X14", 4

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        with self._locked():
            found = super().list_jobs(thread, statuses)
            return [
                job for job in found if job["completed_at"] is None or not self._long_ago(job["completed_at"])
            ]

    def _long_ago(self, instant: int) -> bool:
        return self._now - instant >= 3_600_000


class TextIsTrimmed(Lie):
    """White space around a text is not told."""

    row, calls = "X15", 3

    def _complete(self, job: Job, outcome: str, payload: object) -> None:
        super()._complete(job, outcome, str(payload).strip())


class FileGoesWithJob(Lie):
    """The file of a message is deleted when its job is evicted."""

    row, calls = "X16", 44

    def _evict(self, thread: str) -> None:
        left = {job.job_id for job in self._leaving(thread)}
        super()._evict(thread)
        for told in self._transcripts[thread]:
            if told["job_id"] in left and "file" in told["content"]:
                Path(told["content"]["file"]).unlink(missing_ok=True)


MORE: list[type[Lie]] = [
    EvictedCallCrashes,
    EvictedIdIsRefusedOddly,
    LateProgressRevives,
    IdleDropsWhatIsDue,
    RestartForgetsTranscript,
    BothEndingsCount,
    OldJobsExpire,
    TextIsTrimmed,
    FileGoesWithJob,
]
