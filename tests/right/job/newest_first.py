"""A right implementation of job that lists the newest first, which the source leaves open."""

from __future__ import annotations

from tests.right.job.actor import ActorJobs, Records


class NewestFirstJobs(ActorJobs):
    """Jobs as messages, with lists turned round."""

    def _of(self, owner: str | None) -> Records:
        return [*reversed(super()._of(owner))]
