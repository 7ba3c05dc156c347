"""Lies about what the description leaves open or to a policy, on the systems that go other ways than the reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from conformance.references.job_delivery import Reply
from conformance.references.job_records import JobRecord
from tests.faulty.job.lie import Lie
from tests.other_ways.cancelling import LeavesAsReturned, OwedLeavesAsReturned
from tests.other_ways.job import AtLeastOne, EarlyAbortWaits, OwedLeaves, ReturnedLeaves, TextOnce


class NoLimitAtNothing(Lie):
    """A limit below 1 is taken for none."""

    row, calls = "B31", 2
    right = AtLeastOne
    declares = right.declares

    def __init__(self) -> None:
        super().__init__(max_running=0)

    def _require_slot(self) -> None:
        """Have a slot for everything."""


class NoLimitForObliging(AtLeastOne, Lie):
    """A limit below 1 is taken as 1 for jobs whose bodies go on, and for none by those that oblige."""

    row, calls = "B32", 2
    right = AtLeastOne

    async def register_with(self, does: str, type: str, label: str, text: str) -> Any:
        limit, self._max_running = self._max_running, 100
        try:
            return await super().register_with(does, type, label, text)
        finally:
            self._max_running = limit


class OwedIsToldLate(Lie):
    """It says that what is owed leaves with its job, and tells it when the sink accepts again."""

    row, calls = "E70", 5
    right = OwedLeaves
    declares = right.declares


class AllEndedLeave(ReturnedLeaves, Lie):
    """With the job whose result was returned go all that have ended."""

    row, calls = "E72", 6
    right = ReturnedLeaves

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        super()._acknowledge_ended(jobs)
        for job in [each for each in self._jobs.values() if each.status != "running"]:
            self._evict(job)


class EarlyAbortWaitsForNothing(EarlyAbortWaits, Lie):
    """A poll whose caller gave up before waits as any other, and also where nothing that it names runs."""

    row, calls = "E91", 2
    right = EarlyAbortWaits

    async def aborted_tool(self, poll: Sequence[str] | None) -> Reply:
        reply = await super().aborted_tool(poll)
        self._calls[reply["token"]].reply = None
        return reply


class HeldIsToldTwice(LeavesAsReturned, Lie):
    """What was held back of a job is delivered when its record leaves sooner, and once more."""

    row, calls = "E85", 4
    right = LeavesAsReturned

    def _leave(self, job: JobRecord) -> None:
        super()._leave(job)
        if job.completion.place == "held":
            job.completion.watchers = 0
            self._offer(job.completion)
            self._offer(job.completion)


class OwedStays(OwedLeavesAsReturned, Lie):
    """It says that what is owed leaves with its job, and keeps it where the record leaves sooner."""

    row, calls = "E85", 6
    right = OwedLeavesAsReturned

    def _evict(self, job: JobRecord) -> None:
        if job.completion.place == "queued":
            job.completion.watchers += 1
            del self._jobs[job.job_id]
            job.completion.watchers -= 1
        else:
            super()._evict(job)


class TextIsRepeated(Lie):
    """It says that a text is given once, and repeats it in every reply."""

    row, calls = "E71", 5
    right = TextOnce
    declares = right.declares
