"""Lies about how long a record is kept."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.references.job_delivery import Completion, Reply, call_at, now
from conformance.references.job_records import JobRecord
from tests.faulty.job.lie import Lie, declaring


class RetentionFromStart(Lie):
    """The record of an ended job goes when its time since the start is over."""

    row, calls = "B3", 5

    def _retain(self, job: JobRecord) -> None:
        super()._retain(job)
        if job.eviction is not None:
            job.eviction.cancel()
        job.eviction = call_at(max(now(), job.started_at + self._retention), lambda: self._evict(job))


class FailedIsKept(Lie):
    """Failed jobs are never evicted."""

    row, calls = "B3", 5

    def _evict(self, job: JobRecord) -> None:
        if job.status != "failed":
            super()._evict(job)


class EvictedIsOnlyUnlisted(Lie):
    """An evicted job cannot be listed, and still be named."""

    row, calls = "B3", 5

    def _evict(self, job: JobRecord) -> None:
        super()._evict(job)
        self._left = {**getattr(self, "_left", {}), job.job_id: self._record(job)}

    def get(self, job: str) -> Reply | None:
        return super().get(job) or getattr(self, "_left", {}).get(job)


class CancelledIsKeptUntilBodyEnds(Lie):
    """The retention of a cancelled job starts when its body ends."""

    row, calls = "B4", 5

    def _retain(self, job: JobRecord) -> None:
        if job.body is not None and (job.status != "cancelled" or job.body.done()):
            super()._retain(job)


class CancelAgainRestartsRetention(Lie):
    """Cancelling a cancelled job once more keeps it longer."""

    row, calls = "B4", 7

    async def cancel(self, job: str) -> None:
        await super().cancel(job)
        if job in self._jobs:
            self._retain(self._jobs[job])


class LateSettlementRestartsRetention(Lie):
    """It says that retention runs on from the cancel, and starts it anew with a late settlement."""

    row, calls = "B5", 7

    def _settled_late(self, job: JobRecord) -> None:
        self._retain(job)


class LateSettlementCountsFromStart(Lie):
    """When a body settles after its cancel, the time for which the record is kept counts from the start of the job."""

    row, calls = "B5", 7

    def _settled_late(self, job: JobRecord) -> None:
        if job.eviction is not None:
            job.eviction.cancel()
        job.eviction = call_at(max(now(), job.started_at + self._retention), lambda: self._evict(job))


class ZeroRetentionKeeps(Lie):
    """No retention is taken for no limit."""

    row, calls = "B6", 4

    def _retain(self, job: JobRecord) -> None:
        if self._retention:
            super()._retain(job)


class ZeroRetentionLosesCompletion(Lie):
    """A job that is gone as soon as it ended is not delivered."""

    row, calls = "B6", 3

    def _owe(self, completion: Completion, text: str) -> None:
        if self._retention:
            super()._owe(completion, text)


class RunningIsEvicted(Lie):
    """A job that runs for longer than an hour is evicted."""

    row, calls = "B7", 3

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        reply = await super().register(type, label, id, owner)
        call_at(now() + 3_600_000, lambda: self._evict(self._jobs[reply["job_id"]]))
        return reply


class DeclaredRetentionIsNotKept(Lie):
    """It declares a retention of a minute, and keeps five."""

    row, calls = "B16", 4
    right = declaring("limits", "retention", 60_000)
    declares = right.declares


class PollKeepsLonger(Lie):
    """A job that a poll shows to have ended is kept from then on."""

    row, calls = "B22", 6

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        polled = [*jobs]
        super()._acknowledge_ended(polled)
        for job in polled:
            if job.status != "running":
                self._retain(job)


class DeliveryRestartsRetention(Lie):
    """A record is kept from the delivery of its completion, not from its end."""

    row, calls = "B28", 7

    def _delivered(self, completion: Completion) -> None:
        super()._delivered(completion)
        job = self._jobs.get(completion.job_id)
        if job is not None:
            self._retain(job)


class ToolCancelRestartsRetention(Lie):
    """A record that the tool is to cancel too late is kept longer."""

    row, calls = "B28", 7

    def _cancel_one(self, job_id: str, owner: str | None) -> Reply:
        outcome = super()._cancel_one(job_id, owner)
        if outcome["status"] == "already_completed":
            self._retain(self._jobs[job_id])
        return outcome


class ForgottenWithItsRecord(Lie):
    """A completion that fails a second time is given up if its record has left."""

    row, calls = "E32", 7

    def _failed(self, completion: Completion) -> None:
        if completion.failures < 1 or completion.job_id in self._jobs:
            super()._failed(completion)


class RetentionOverflows(Lie):
    """A retention beyond what a timer of 32 bits can count is over at once."""

    row, calls = "B33", 5

    def _retain(self, job: JobRecord) -> None:
        usual, self._retention = self._retention, self._retention if self._retention < 2**31 else 1
        super()._retain(job)
        self._retention = usual
