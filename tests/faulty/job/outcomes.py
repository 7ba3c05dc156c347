"""Lies about how a job ends, and what its record shows of it."""

from __future__ import annotations

from conformance.references.job_delivery import Completion, Reply
from conformance.references.job_records import JobRecord, Replies
from tests.faulty.job.lie import Lie


class FailedIsCompleted(Lie):
    """A job whose body ends with an error is completed."""

    row, calls = "N1", 3

    def _settled(self, job: JobRecord, status: str, text: str) -> None:
        super()._settled(job, "completed", text)


class DeliveredTwice(Lie):
    """A completion is handed over twice."""

    row, calls = "N1", 2

    def _delivered(self, completion: Completion) -> None:
        first = completion.failures == 0
        super()._delivered(completion)
        completion.failures += 1
        if first:
            self._offer(completion)


class OwnerIsNotFiltered(Lie):
    """A list of an owner's jobs shows those of others, too."""

    row, calls = "N2", 2

    def list(self, owner: str | None = None) -> Replies:
        return super().list()


class StampedByHand(Lie):
    """The start is stamped with the number of the job, not with the clock."""

    row, calls = "N2", 2

    def _record(self, job: JobRecord) -> Reply:
        number = [*self._handles.values()].index(job) + 1
        return super()._record(job) | {"started_at": number}


class CancelledComesBack(Lie):
    """A cancelled job whose body ends with a result is completed after all."""

    row, calls = "N3", 4

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        job.status = "completed" if job.error_text is None else "failed"


class LateSettlementIsDelivered(Lie):
    """The result of a cancelled job is delivered."""

    row, calls = "N3", 3

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        self._owe(job.completion, job.result_text or job.error_text or "")


class LateTextIsDropped(Lie):
    """What a cancelled job's body still says is thrown away."""

    row, calls = "N3", 4

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        job.result_text = job.error_text = None


class SecondEndOverwrites(Lie):
    """A body that ends a second time replaces the text of the first."""

    row, calls = "E21", 4

    async def settle(self, handle: str, outcome: str, text: str) -> None:
        job = self._handles[handle]
        if job.work.done() and outcome == "ok":
            job.result_text = text
        await super().settle(handle, outcome, text)


class CancelOverwritesEnd(Lie):
    """A job that has ended can still be cancelled."""

    row, calls = "E21", 3

    async def cancel(self, job: str) -> None:
        if job in self._jobs and self._jobs[job].status != "cancelled":
            self._cancel(self._jobs[job])


class LateSettlementRevivesRecord(Lie):
    """A body that ends after its record was evicted puts the record back."""

    row, calls = "E12", 6

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        self._jobs.setdefault(job.job_id, job)

    def _evict(self, job: JobRecord) -> None:
        self._jobs.pop(job.job_id, None)


class LateSettlementIsDeliveredOnceEvicted(Lie):
    """A body that ends after its record was evicted is taken for one that nobody cancelled."""

    row, calls = "E12", 5

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        if job.job_id not in self._jobs:
            self._owe(job.completion, job.result_text or "")
