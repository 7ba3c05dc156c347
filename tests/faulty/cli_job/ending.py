"""Lies about how jobs end by themselves, by the hand of somebody else, or by their timeout."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from conformance.references.cli_job import CliJobs
from conformance.references.cli_program import TIMEOUT, Answer, Job
from tests.faulty.cli_job.lie import Liar, caught_by

KEPT = {**CliJobs.declares["limits"], "kept": 5000}


@caught_by("B1", 3)
class TimesOutEarly(Liar):
    """A job counts as failed a millisecond before timeout_ms is over."""

    def endings(self, job: Job) -> Iterator[tuple[int, str]]:
        yield from super().endings(job)
        yield job["started_at"] + TIMEOUT - 1, "failed"


@caught_by("B2", 4)
class NeverTimesOut(Liar):
    """A job may run for ever."""

    def endings(self, job: Job) -> Iterator[tuple[int, str]]:
        yield from (each for each in super().endings(job) if each[0] != job["started_at"] + TIMEOUT)


@caught_by("B3", 3)
class TimeoutIsCancelled(Liar):
    """A job that has not ended when timeout_ms is over counts as cancelled."""

    def endings(self, job: Job) -> Iterator[tuple[int, str]]:
        for at, status in super().endings(job):
            yield at, "cancelled" if at == job["started_at"] + TIMEOUT else status


@caught_by("X5", 3)
class ForgetsAtNight(Liar):
    """A job that ended an hour ago and more is not found."""

    def found(self, job_id: str) -> Job | None:
        job = super().found(job_id)
        return None if job is not None and self.now >= job["started_at"] + 3_600_000 else job


@caught_by("X2", 4)
class LastEndingWins(Liar):
    """A job can be ended again, in another way."""

    def end(self, chosen: argparse.Namespace) -> Answer:
        answer = super().end(chosen)
        job = self.found(chosen.job)
        if job is not None:
            job["status"] = chosen.outcome
        return answer


@caught_by("X3", 6)
class CancelOvertakesTheEnd(Liar):
    """A job that ended after a cancel is cancelled once the cancel takes effect."""

    def found(self, job_id: str) -> Job | None:
        job = super().found(job_id)
        if job is not None and job["asked_at"] is not None and self.now >= job["asked_at"] + 500:
            job["status"] = "cancelled"
        return job


@caught_by("X4", 4)
class RaceIsNeverDecided(Liar):
    """A job that was to end and is cancelled runs on."""

    def endings(self, job: Job) -> Iterator[tuple[int, str]]:
        found = list(super().endings(job))
        yield from found if len(found) < 3 else found[2:]


@caught_by("X6", 3, limits=KEPT)
class ForgottenIsFailed(Liar):
    """A job that is not kept any longer is shown as failed."""

    def found(self, job_id: str) -> Job | None:
        job = super().found(job_id)
        if job is not None and job["status"] == "complete" and self.now >= job["started_at"] + 5000:
            return {**job, "status": "failed"}
        return job


@caught_by("X12", 3, limits=KEPT)
class ForgetsEarly(Liar):
    """A job that was ended by hand is not found the moment it has ended."""

    def found(self, job_id: str) -> Job | None:
        job = super().found(job_id)
        by_hand = job is not None and job["wanted"] == "running" and job["status"] in ("complete", "failed")
        return None if by_hand else job


@caught_by("X9", 2)
class EndingCreates(Liar):
    """An ending of a job that was never started is a job."""

    def end(self, chosen: argparse.Namespace) -> Answer:
        if self.found(chosen.job) is None:
            fresh = {"wanted": "running", "started_at": self.now, "asked_at": None, "status": chosen.outcome}
            self.state["jobs"][chosen.job] = fresh
        return super().end(chosen)


@caught_by("B2", 5)
class StatusPutsTimeoutOff(Liar):
    """A job times out when so long nobody has asked for it."""

    def status(self, chosen: argparse.Namespace) -> Answer:
        job = self.found(chosen.job)
        if job is not None and job["status"] == "running":
            job["started_at"] = self.now
        return super().status(chosen)


@caught_by("B8", 3)
class TimeoutTakesTheUnseen(Liar):
    """A job of which nobody asked until its timeout_ms was over has failed, although it was done long before."""

    def found(self, job_id: str) -> Job | None:
        job = self.state["jobs"].get(job_id)
        if job is not None and job["status"] == "running" and self.now >= job["started_at"] + TIMEOUT:
            job["status"] = "failed"
        return super().found(job_id)


@caught_by("B8", 3)
class CancelDoesNotLook(Liar):
    """A cancel does not look whether the job has ended meanwhile, and cancels it at once."""

    def cancel(self, chosen: argparse.Namespace) -> Answer:
        job = self.state["jobs"].get(chosen.job)
        if job is not None and job["status"] == "running":
            job["status"] = "cancelled"
        return super().cancel(chosen)


@caught_by("B9", 4)
class TimeoutTakesTheCancelled(Liar):
    """A cancel that nobody saw take effect is forgotten when timeout_ms is over: the job has failed."""

    def endings(self, job: Job) -> Iterator[tuple[int, str]]:
        late = self.now >= job["started_at"] + TIMEOUT
        yield from (each for each in super().endings(job) if not (late and each[1] == "cancelled"))


@caught_by("X13", 4)
class EndDoesNotLook(Liar):
    """An ending by hand does not look whether the job has ended meanwhile."""

    def end(self, chosen: argparse.Namespace) -> Answer:
        job = self.state["jobs"].get(chosen.job)
        if job is not None and job["status"] == "running":
            job["status"] = chosen.outcome
        return super().end(chosen)
