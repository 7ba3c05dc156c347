"""Registries that do what the description of `thread-job` leaves to a policy in another way than the reference."""

from __future__ import annotations

import itertools
import json
from typing import Any, ClassVar

from conformance.references.thread_job import Reply, ThreadJob, ThreadJobs
from conformance.refused import Refused
from tests.right.thread_job.events import Job, Started
from tests.right.thread_job.sharing import SharingJobs


class ClaimsThenTells(SharingJobs):
    """A boundary claims all that is due, and tells it message by message: those of other emitters may come in between.

    "one emitter: message order = completion order", which two emitters at once are only recommended to keep.
    """

    def __init__(self) -> None:
        super().__init__()
        self._claimed: set[Started] = set()

    def turn_boundary(self, thread: str) -> list[Reply]:
        """Claim, and then tell."""
        with self._lock:
            mine = self._due(thread)
            self._claimed |= {job.born for job in mine}
        told: list[Reply] = []
        for job in mine:
            with self._lock:
                told += self._tell(thread, [job])
        return told

    def emit(self, thread: str, job: str) -> bool:
        """Tell what nobody has claimed."""
        with self._lock:
            return bool(self._tell(thread, [each for each in self._due(thread) if each.born.job_id == job]))

    def _due(self, thread: str) -> list[Job]:
        return [job for job in super()._due(thread) if job.born not in self._claimed]


class CodeOfItsOwn(ThreadJobs):
    """policy unknown_code: a cancel of an "unknown or evicted" job is refused with "a code of its own"."""

    declares: ClassVar[dict[str, Any]] = {
        **ThreadJobs.declares,
        "policies": {**ThreadJobs.declares["policies"], "unknown_code": "its_own"},
    }

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        """Cancel a job that is there. Refuses `no_such_job`, and what the reference refuses."""
        if job not in self._jobs:
            raise Refused("no_such_job", "There is no such job")
        return super().request_cancel(thread, job, actor)


class TellsItsText(ThreadJobs):
    """Limits are measured "on the text that the implementation makes of the payload", in which quotes count; it tells that."""

    declares: ClassVar[dict[str, Any]] = {
        **ThreadJobs.declares,
        "limits": {**ThreadJobs.declares["limits"], "max_lines": None},
        "measured": json.dumps,
    }

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        super()._complete(job, outcome, json.dumps(payload))


class TellsPayload(ThreadJobs):
    """The same, and "what is told is … the payload"."""

    declares: ClassVar[dict[str, Any]] = TellsItsText.declares

    def _bytes(self, text: str) -> int:
        return len(json.dumps(text))

    def _lines(self, text: str) -> int:
        return 1


class IdsOutsideTheLock(ThreadJobs):
    """Each start takes its id before it waits for the lock: starts at once come in another order than their ids."""

    def __init__(self) -> None:
        super().__init__()
        self._ids = itertools.count(1)

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        """Take an id, and the next one where a caller wanted that."""
        job_id = f"job-{next(self._ids)}"
        with self._locked():
            self._require_unresolved(tool_call)
            while job_id in self._jobs:
                job_id = f"job-{next(self._ids)}"
            return self._begin(thread, tool_call, tool, job_id)


class MeasuresOtherwise(TellsPayload):
    """A wrong one: it declares the same, and measures the payload itself."""

    def _bytes(self, text: str) -> int:
        return len(text.encode())
