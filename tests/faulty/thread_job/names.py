"""Lies about texts that become a part of a name, a path or a key."""

from __future__ import annotations

from conformance.references.thread_job import Reply, ThreadJob
from tests.faulty.thread_job.lie import Lie


class IdsIgnoreCase(Lie):
    """Whether an id is in use is asked without regard to case."""

    row, calls = "X59", 2

    def _require_unused(self, job_id: str) -> None:
        for used in self._jobs:
            if used.lower() == job_id.lower():
                super()._require_unused(used)


class CancelGoesByPrefix(Lie):
    """Every job whose id begins as the one that is meant is asked to stop with it."""

    row, calls = "X59", 4

    def _cancel(self, job: ThreadJob) -> None:
        for other in [*self._jobs.values()]:
            if other.job_id.startswith(job.job_id) and other.status == "running":
                super()._cancel(other)


class IdEndsAtNul(Lie):
    """Where it is asked whether an id is in use, it ends at its first NUL, as for a library in C."""

    row, calls = "X59", 2

    def _require_unused(self, job_id: str) -> None:
        super()._require_unused(job_id.partition("\0")[0])


class CallsAreTrimmed(Lie):
    """Tool calls that differ only in blanks at their ends are taken for one."""

    row, calls = "X60", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        self._require_unresolved(tool_call.strip())
        self._calls[tool_call.strip()] = "background"
        return self._begin(thread, tool_call, tool, self._mint_id())


class LongCallsAreCut(Lie):
    """Of a tool call the first hundred signs are kept."""

    row, calls = "X60", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        return super().start(thread, tool_call[:100], tool)
