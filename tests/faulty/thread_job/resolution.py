"""Lies about the one way in which a tool call resolves."""

from __future__ import annotations

from conformance.references.thread_job import Reply, ThreadJob
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class InlineMakesJob(Lie):
    """A call that completes inline leaves a completed job behind."""

    row, calls = "N1", 2

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        with self._locked():
            reply = super().complete_inline(thread, tool_call, tool, result)
            record = ThreadJob(self._mint_id(), thread, tool_call, tool, self._now, serial=0, told=True)
            self._complete(record, "completed", result)
            self._jobs[record.job_id] = record
            return reply


class InlineReplyNamesJob(Lie):
    """The reply to an inline completion names a job, though there is none."""

    row, calls = "N1", 1

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        return {**super().complete_inline(thread, tool_call, tool, result), "job_id": f"inline-{tool_call}"}


class SecondStartAccepted(Lie):
    """A call that already runs in the background may be started once more."""

    row, calls = "E1", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            if self._calls.get(tool_call) == "background":
                return self._begin(thread, tool_call, tool, self._mint_id())
            return super().start(thread, tool_call, tool)


class SecondStartGivesFirstJob(Lie):
    """Starting a call again is no refusal: it gives the job of the first start."""

    row, calls = "E1", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            for job in self._jobs.values():
                if job.tool_call == tool_call:
                    return {"mode": "background", "job_id": job.job_id, "status": job.status}
            return super().start(thread, tool_call, tool)


class CallsResolvePerThread(Lie):
    """A call that resolved in one thread may resolve again in another."""

    row, calls = "E1", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            started = [job for job in self._jobs.values() if job.tool_call == tool_call]
            if started and all(job.thread != thread for job in started):
                return self._begin(thread, tool_call, tool, self._mint_id())
            return super().start(thread, tool_call, tool)


class RefusedStartLeavesRecord(Lie):
    """A second start is refused, but its record has been made."""

    row, calls = "E1", 3

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            if self._calls.get(tool_call) == "background":
                self._begin(thread, tool_call, tool, self._mint_id())
                raise Refused("already_resolved")
            return super().start(thread, tool_call, tool)


class StartAfterInlineAccepted(Lie):
    """A call that completed inline may still go to the background."""

    row, calls = "B1", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            if self._calls.get(tool_call) == "synchronous":
                del self._calls[tool_call]
            return super().start(thread, tool_call, tool)


class InlineAfterStartAccepted(Lie):
    """A call whose job is running may still complete inline."""

    row, calls = "B1", 2

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        with self._locked():
            if self._calls.get(tool_call) == "background":
                del self._calls[tool_call]
            return super().complete_inline(thread, tool_call, tool, result)
