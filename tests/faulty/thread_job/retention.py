"""Lies about which ended jobs are kept, which leave, and what is left of those that left."""

from __future__ import annotations

from collections.abc import Collection

from conformance.references.thread_job import ACTIVE, TERMINAL, Reply, ThreadJob
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class KeepsOneFewer(Lie):
    """One ended job fewer than promised is kept."""

    row, calls = "B6", 41

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._retained -= 1


class KeepsOneMore(Lie):
    """One ended job more than promised is kept."""

    row, calls = "B7", 43

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._retained += 1


class FirstStartedLeaves(Lie):
    """The ended job that started first leaves, not the one that ended first."""

    row, calls = "B7", 43

    def _leaving(self, thread: str) -> list[ThreadJob]:
        count = len(super()._leaving(thread))
        return sorted(self._ended_in(thread), key=lambda job: job.serial)[:count]


class EarliestStartLeaves(Lie):
    """The ended job that started at the earliest instant leaves; of those of one instant the one that ended first."""

    row, calls = "X66", 44

    def _leaving(self, thread: str) -> list[ThreadJob]:
        count = len(super()._leaving(thread))
        return sorted(self._ended_in(thread), key=lambda job: job.started_at)[:count]


class ToldLeaveFirst(Lie):
    """Of the jobs that have ended those leave first whose end was told."""

    row, calls = "X69", 44

    def _leaving(self, thread: str) -> list[ThreadJob]:
        count = len(super()._leaving(thread))
        return sorted(self._ended_in(thread), key=lambda job: not job.told)[:count]


class LastEndedLeaves(Lie):
    """The job that ended last leaves, not the one that ended first."""

    row, calls = "B7", 43

    def _leaving(self, thread: str) -> list[ThreadJob]:
        count = len(super()._leaving(thread))
        return self._ended_in(thread)[::-1][:count]


class ActiveLeave(Lie):
    """When there are too many ended jobs, an active one leaves first."""

    row, calls = "B8", 44

    def _leaving(self, thread: str) -> list[ThreadJob]:
        count = len(super()._leaving(thread))
        active = [job for job in self._jobs_in(thread) if job.status in ACTIVE]
        return [*active, *self._ended_in(thread)][:count]


class ActiveCount(Lie):
    """Active jobs take up the room of ended ones."""

    row, calls = "B8", 23

    def _leaving(self, thread: str) -> list[ThreadJob]:
        return self._ended_in(thread)[: max(0, len(self._jobs_in(thread)) - self._retained)]


class OtherThreadsLeave(Lie):
    """When one thread has too many ended jobs, another thread's job leaves first."""

    row, calls = "B8", 44

    def _leaving(self, thread: str) -> list[ThreadJob]:
        count = len(super()._leaving(thread))
        others = [job for job in self._jobs.values() if job.thread != thread]
        return [*others, *self._ended_in(thread)][:count]


class OtherThreadsCount(Lie):
    """Ended jobs are counted over all threads."""

    row, calls = "B8", 43

    def _leaving(self, thread: str) -> list[ThreadJob]:
        ended = [job for job in self._jobs.values() if job.status in TERMINAL]
        return self._ended_in(thread)[: max(0, len(ended) - self._retained)]


class EvictionLosesMessage(Lie):
    """A job that leaves before it was told is never told."""

    row, calls = "X1", 43

    def _evict(self, thread: str) -> None:
        leaving = self._leaving(thread)
        self._due[thread] = [job for job in self._due[thread] if job not in leaving]
        super()._evict(thread)


class EvictedIsOnlyUnlisted(Lie):
    """A job that left is no longer listed, but can still be inspected."""

    row, calls = "X2", 43

    def _evict(self, thread: str) -> None:
        return

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        with self._locked():
            left = self._leaving(thread)
            kept = [job for job in self._jobs_in(thread) if job not in left]
            return [self._show(job) for job in kept if job.status in statuses]


class _Remembers(Lie):
    """No lie yet: it still has the records of the jobs that left."""

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._left: dict[str, ThreadJob] = {}

    def _evict(self, thread: str) -> None:
        self._left.update((job.job_id, job) for job in self._leaving(thread))
        super()._evict(thread)


class EvictedIsTooLateToCancel(_Remembers):
    """Cancelling a job that left is refused as too late, not as not found."""

    row, calls = "X2", 43

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        with self._locked():
            if job in self._left and job not in self._jobs:
                raise Refused("wrong_state")
            return super().request_cancel(thread, job, actor)


class EvictedIsRevived(_Remembers):
    """A further outcome of a job that left brings its record back."""

    row, calls = "X2", 44

    def finish(self, job: str, outcome: str, payload: object) -> None:
        with self._locked():
            if job in self._left and job not in self._jobs:
                self._jobs[job] = self._left[job]
            super().finish(job, outcome, payload)
