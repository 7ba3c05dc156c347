"""Lies about the order in which jobs are told."""

from __future__ import annotations

from itertools import groupby
from typing import Any, ClassVar
from zlib import crc32

from conformance.references.thread_job import Reply, ThreadJob, ThreadJobs
from tests.faulty.thread_job.lie import Lie


class ToldByInstantOfStart(Lie):
    """Messages come by the instants at which their jobs started; those of one instant as they ended."""

    row, calls = "X67", 6

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(super()._due_in(thread), key=lambda job: job.started_at)


class ToldInStartOrder(Lie):
    """Jobs are told in the order they started."""

    row, calls = "N5", 5

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(super()._due_in(thread), key=lambda job: job.serial)


class ToldNewestFirst(Lie):
    """The job that ended last is told first."""

    row, calls = "N5", 5

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return super()._due_in(thread)[::-1]


class LateEndingJumpsQueue(Lie):
    """A job that ends at a later instant is told before those that ended earlier; ties are right."""

    row, calls = "N5", 6

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(super()._due_in(thread), key=lambda job: -self._order(job)[0])


class TieByHash(Lie):
    """Jobs that ended at one instant are told in the order of their ids' hashes."""

    row, calls = "B3", 6

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(self._due[thread], key=lambda job: (self._order(job)[0], crc32(job.job_id.encode())))


class TieReversed(Lie):
    """Of jobs that ended at one instant the last is told first."""

    row, calls = "B3", 5

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(self._due[thread], key=lambda job: (self._order(job)[0], -job.completion))


class TieByOutcome(Lie):
    """Jobs that ended at one instant are told by outcome, in alphabetical order."""

    row, calls = "B3", 5

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(super()._due_in(thread), key=lambda job: (self._order(job)[0], job.status))


class TieChangesWithReading(Lie):
    """Each reading of the transcript gives jobs that ended at one instant in the other order."""

    row, calls = "B3", 6
    _readings = 0

    def messages(self, thread: str) -> list[Reply]:
        with self._locked():
            self._readings += 1
            ended = {job.job_id: job.completed_at for job in self._jobs_in(thread)}
            runs = groupby(super().messages(thread), lambda told: ended.get(told["job_id"], told["job_id"]))
            step = -1 if self._readings % 2 else 1
            return [message for _, run in runs for message in list(run)[::step]]


class EndingsKeptInSeconds(Lie):
    """Ties go by start, as declared, but whatever ended within one second counts as a tie."""

    row, calls = "B3", 6
    declares: ClassVar[dict[str, Any]] = {**ThreadJobs.declares, "policies": {"tie": "start"}}

    def _order(self, job: ThreadJob) -> tuple[int, int]:
        return super()._order(job)[0], job.serial

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(self._due[thread], key=lambda job: (self._order(job)[0] // 1000, job.serial))
