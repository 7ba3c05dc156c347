"""Lies about what the description leaves open or to a policy, on the systems that go other ways than the reference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.references.job_records import JobRecord
from tests.faulty.job.lie import Lie
from tests.other_ways.job import AtLeastOne, OwedLeaves, ReturnedLeaves, TextOnce


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


class TextIsRepeated(Lie):
    """It says that a text is given once, and repeats it in every reply."""

    row, calls = "E71", 5
    right = TextOnce
    declares = right.declares
