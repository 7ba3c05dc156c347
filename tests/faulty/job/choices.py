"""Lies about choices that a system declares where the source only recommends one."""

from __future__ import annotations

from conformance.references.job import Jobs
from conformance.references.job_delivery import Completion, now
from conformance.references.job_records import JobRecord
from conformance.refused import Refused
from tests.faulty.job.lie import Lie

# ── Right systems that choose otherwise, and declare nothing of it ────────────────────────────────────────


class SlotsForEachOwner(Jobs):
    """Each owner has as many slots as the limit says."""

    _registering: str | None = None

    def _admit(self, type: str, label: str, id: str | None, owner: str | None) -> JobRecord:
        self._registering = owner
        return super()._admit(type, label, id, owner)

    def _require_slot(self) -> None:
        jobs = [each for each in self._jobs.values() if each.owner == self._registering]
        if sum(each.status == "running" for each in jobs) >= self._max_running:
            raise Refused("limit_reached")


class TakenIdsAreRefused(Jobs):
    """An id that a job has is refused, and gets no suffix."""

    def _free_id(self, preferred: str) -> str:
        if preferred and self._taken(preferred):
            raise Refused("id_taken")
        return super()._free_id(preferred)


class CancelledAreTold(Jobs):
    """The session is told of a cancelled job, too, at once."""

    def _cancel(self, job: JobRecord) -> None:
        super()._cancel(job)
        self._owe(job.completion, "")


class WatchedOnce(Jobs):
    """A job is watched or it is not, however many began to watch it."""

    def _unwatch(self, completion: Completion) -> None:
        completion.watchers = min(completion.watchers, 1)
        super()._unwatch(completion)


class OwnWays(CancelledAreTold):
    """It chooses every id itself, tells of what is cancelled, and of the newest first."""

    def _next(self) -> Completion:
        ready = [each for each in self._queue if each.due <= now()]
        return ready[-1] if ready else min(self._queue, key=lambda each: each.due)

    def _free_id(self, preferred: str) -> str:
        return self._mint_id()


def choosing(system: type[Jobs], **policies: str) -> type[Jobs]:
    """Give a system that declares what it chooses."""
    declared = {**Jobs.declares["policies"], **policies}
    return type(system.__name__, (system,), {"declares": {**Jobs.declares, "policies": declared}})


# ── Lies ──────────────────────────────────────────────────────────────────────────────────────────────────


class OwnersShareSlots(Lie):
    """It says that each owner has slots of its own, and counts the jobs of all."""

    row, calls = "B26", 16
    right = choosing(SlotsForEachOwner, limit_counts="the_owners")
    declares = right.declares


class TakenIdGetsSuffix(Lie):
    """It says that it refuses an id that a job has, and gives another one."""

    row, calls = "E48", 2
    right = choosing(TakenIdsAreRefused, wanted_id="refused_if_taken")
    declares = right.declares


class CancelledIsNotTold(Lie):
    """It says that the session is told of a cancelled job, and does not tell it."""

    row, calls = "E49", 2
    right = choosing(CancelledAreTold, cancelled_told="at_once")
    declares = right.declares


class CancelledIsToldTwice(CancelledAreTold, Lie):
    """It tells a cancelled job once more, when the first attempt had failed."""

    row, calls = "E82", 5
    right = choosing(CancelledAreTold, cancelled_told="at_once")
    declares = right.declares

    async def _attempt(self, completion: Completion) -> None:
        await super()._attempt(completion)
        if completion.place == "delivered" and completion.failures and not completion.text:
            completion.failures = 0
            self._owe(completion, "")


class WatchOutlastsPoll(Lie):
    """It says that a watch ends with the first of two, and it goes on when a poll of the job has ended."""

    row, calls = "E50", 5
    right = choosing(WatchedOnce, watching="ends_with_the_first")
    declares = right.declares
