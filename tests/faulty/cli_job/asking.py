"""Lies about the status of a job."""

from __future__ import annotations

import argparse

from conformance.references.cli_program import RUNNING, Answer, Job
from tests.faulty.cli_job.lie import Liar, caught_by


@caught_by("N3", 2)
class RunningIsZero(Liar):
    """The status of a running job exits with 0: the command did what it was asked."""

    def exit_of(self, status: str) -> int:
        return 0 if status == "running" else super().exit_of(status)


@caught_by("N4", 3)
class CompleteIsStillRunning(Liar):
    """The status of a job that is complete exits with 3."""

    def exit_of(self, status: str) -> int:
        return RUNNING if status == "complete" else super().exit_of(status)


@caught_by("N5", 3)
class FailureIsOne(Liar):
    """The status of a job that failed exits with 1."""

    def exit_of(self, status: str) -> int:
        return 1 if status == "failed" else super().exit_of(status)


@caught_by("N5", 3)
class FailureIsComplete(Liar):
    """A job that failed is shown as complete."""

    def found(self, job_id: str) -> Job | None:
        job = super().found(job_id)
        if job is not None and job["status"] == "failed" and job["wanted"] == "failed":
            job["status"] = "complete"
        return job


@caught_by("E1", 1)
class UnknownHasFailed(Liar):
    """The status of a job that was never started exits with 4."""

    def status(self, chosen: argparse.Namespace) -> Answer:
        code, data, error = super().status(chosen)
        return (4, data, error) if data is None else (code, data, error)


@caught_by("E2", 2)
class AskingCreates(Liar):
    """Whoever asks for a job that does not exist gets one, the second time."""

    def status(self, chosen: argparse.Namespace) -> Answer:
        answer = super().status(chosen)
        if answer[1] is None:
            fresh = {"wanted": "running", "started_at": self.now, "asked_at": None, "status": "running"}
            self.state["jobs"][chosen.job] = fresh
        return answer


@caught_by("E2", 1)
class LongIdIsCut(Liar):
    """A long id that nobody handed out is taken for a broken file."""

    def not_found(self, job_id: str) -> Answer:
        return super().not_found(job_id) if len(job_id) < 255 else (3, None, "File name too long")


@caught_by("B5", 4)
class AskingEnds(Liar):
    """The third status of a running job ends it."""

    def status(self, chosen: argparse.Namespace) -> Answer:
        job = self.found(chosen.job)
        if job is not None:
            job["asked"] = job.get("asked", 0) + 1
            if job["asked"] == 3 and job["status"] == "running":
                job["status"] = "cancelled"
        return super().status(chosen)


@caught_by("X10", 3)
class OnlyTheFirstSettleTimeCounts(Liar):
    """A job that runs on is complete once the settle time is over."""

    def found(self, job_id: str) -> Job | None:
        job = super().found(job_id)
        if job is not None and job["status"] == "running" and self.now >= job["started_at"] + 1000:
            job["status"] = "complete"
        return job


@caught_by("X7", 2)
class LastUnknownBlocks(Liar):
    """After a cancel of what was never started, the next start exits with 1."""

    def cancel(self, chosen: argparse.Namespace) -> Answer:
        answer = super().cancel(chosen)
        self.state["blocked"] = answer[1] is None
        return answer

    def work(self, chosen: argparse.Namespace) -> Answer:
        if not chosen.schema and self.state.pop("blocked", False):
            return 1, None, "the last command failed"
        return super().work(chosen)
