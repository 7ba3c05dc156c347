"""Registries that do what the description of `thread-job` leaves to a policy in another way than the reference."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.references.thread_job import Reply, ThreadJobs
from conformance.refused import Refused


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
