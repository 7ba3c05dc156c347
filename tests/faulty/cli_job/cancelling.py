"""Lies about the end of a job that somebody asked for."""

from __future__ import annotations

import argparse
import itertools
from typing import Any

from conformance.references.cli_program import Answer, Job
from tests.faulty.cli_job.lie import Liar, caught_by


@caught_by("N6", 4)
class CancelIsIgnored(Liar):
    """A cancel is accepted, and the job runs on."""

    def ask_to_end(self, job: Job) -> None:
        pass


@caught_by("N6", 4)
class CancelledHasFailed(Liar):
    """A job that was cancelled is shown as failed."""

    def descriptor(self, job_id: str, job: Job) -> dict[str, Any]:
        found = super().descriptor(job_id, job)
        return {**found, "status": "failed"} if found["status"] == "cancelled" else found


@caught_by("N7", 3)
class CancelShowsAnotherJob(Liar):
    """A cancel prints the descriptor of the job that was started first."""

    def cancel(self, chosen: argparse.Namespace) -> Answer:
        code, data, error = super().cancel(chosen)
        first = next(iter(self.state["jobs"].items()), None)
        return (code, self.descriptor(*first), error) if data and first else (code, data, error)


@caught_by("E3", 1)
class UnknownIsCancelled(Liar):
    """A cancel of what was never started exits with 0."""

    def cancel(self, chosen: argparse.Namespace) -> Answer:
        code, data, error = super().cancel(chosen)
        return (0, None, None) if data is None else (code, data, error)


@caught_by("E4", 5)
class CancelStartsOver(Liar):
    """Each cancel puts the end of the job off for half an hour."""

    def ask_to_end(self, job: Job) -> None:
        again = job["asked_at"] is not None
        super().ask_to_end(job)
        if again and job["status"] == "running":
            job["asked_at"] += 1_800_000


@caught_by("B10", 6)
class SecondCancelBeginsAnew(Liar):
    """The time in which a job is let end begins anew with each cancel."""

    def cancel(self, chosen: argparse.Namespace) -> Answer:
        job = self.state["jobs"].get(chosen.job)
        if job is not None and job["status"] == "running":
            job["asked_at"] = None
        return super().cancel(chosen)


@caught_by("E4", 4)
class SecondCancelRevives(Liar):
    """A cancel of a job that is cancelled lets it run again."""

    def ask_to_end(self, job: Job) -> None:
        if job["status"] == "cancelled":
            job.update(status="running", asked_at=None)
        else:
            super().ask_to_end(job)


@caught_by("E5", 3)
class LateCancelWins(Liar):
    """A cancel of a job that has ended makes it cancelled."""

    def ask_to_end(self, job: Job) -> None:
        super().ask_to_end(job)
        if job["status"] != "running":
            job["status"] = "cancelled"


@caught_by("B7", 5)
class CancelTakesTheNext(Liar):
    """A cancel also ends the job that was started after it."""

    def cancel(self, chosen: argparse.Namespace) -> Answer:
        answer = super().cancel(chosen)
        known = list(self.state["jobs"])
        for one, other in itertools.pairwise(known):
            if one == chosen.job:
                super().ask_to_end(self.state["jobs"][other])
        return answer
