"""Lies about who a job is: its id, and the one record under it."""

from __future__ import annotations

from collections import Counter

from conformance.references.thread_job import Reply
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class StartRepliesQueued(Lie):
    """The reply to a start says that the job is queued, not running."""

    row, calls = "N2", 1

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        return {**super().start(thread, tool_call, tool), "status": "queued"}


class StartRepliesSynchronous(Lie):
    """The reply to a start claims that the call completed inline."""

    row, calls = "N2", 1

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        return {**super().start(thread, tool_call, tool), "mode": "synchronous"}


class StartMakesTwoRecords(Lie):
    """One start makes two records."""

    row, calls = "N2", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            reply = super().start(thread, tool_call, tool)
            self._begin(thread, tool_call, tool, self._mint_id())
            return reply


class StartRepliesForeignId(Lie):
    """The id in the reply to a start is not the id of the record."""

    row, calls = "N2", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        return {**super().start(thread, tool_call, tool), "job_id": f"call-{tool_call}"}


class StartAsOverwrites(Lie):
    """An id in use is given once more, and the record under it is lost."""

    row, calls = "E2", 2

    def _require_unused(self, job_id: str) -> None:
        return


class StartAsChecksOwnThread(Lie):
    """An id is refused only when the same thread uses it: another thread's record is overwritten."""

    row, calls = "E2", 2

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        with self._locked():
            self._require_unresolved(tool_call)
            if any(job.job_id == job_id for job in self._jobs_in(thread)):
                raise Refused("duplicate_job_id")
            return self._begin(thread, tool_call, tool, job_id)


class RefusedStartAsOverwrites(Lie):
    """A start under an id in use is refused after the record has been overwritten."""

    row, calls = "E2", 3

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        with self._locked():
            self._require_unresolved(tool_call)
            if job_id in self._jobs:
                self._jobs[job_id].tool_call = tool_call
            return super().start_as(thread, tool_call, tool, job_id)


class RefusedStartAsBurnsCall(Lie):
    """A start refused for its id leaves the tool call resolved."""

    row, calls = "E2", 3

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        with self._locked():
            self._require_unresolved(tool_call)
            if job_id in self._jobs:
                self._calls[tool_call] = "background"
                raise Refused("duplicate_job_id")
            return super().start_as(thread, tool_call, tool, job_id)


class IdsUniquePerThread(Lie):
    """Ids are counted per thread: two threads' first jobs are one and the same."""

    row, calls = "B8", 2

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._started: Counter[str] = Counter()

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            self._require_unresolved(tool_call)
            self._started[thread] += 1
            return self._begin(thread, tool_call, tool, f"job-{self._started[thread]}")
