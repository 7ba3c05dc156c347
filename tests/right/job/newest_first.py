"""A right implementation of job that lists the newest first, which the source leaves open."""

from __future__ import annotations

from conformance.references.job import Jobs
from conformance.references.job_records import Replies


class NewestFirstJobs(Jobs):
    """The reference, with its lists turned round."""

    def list(self, owner: str | None = None) -> Replies:
        return [*reversed(super().list(owner))]

    def running(self, owner: str | None = None) -> Replies:
        return [*reversed(super().running(owner))]
