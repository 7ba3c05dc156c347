"""Lies that calls at the same time show: what one of them reads, another one has changed when it writes."""

from __future__ import annotations

import argparse

from conformance.references.cli_program import Answer
from tests.faulty.cli_job.lie import Liar, caught_by


@caught_by("B4", 3)
class OneStartAtAnInstant(Liar):
    """Of several starts at one instant the last one takes the place of those before."""

    def work(self, chosen: argparse.Namespace) -> Answer:
        if not chosen.schema:
            for known, job in list(self.state["jobs"].items()):
                if job["started_at"] == self.now:
                    del self.state["jobs"][known]
        return super().work(chosen)


@caught_by("B6", 5)
class TwoCancelsCancelEachOther(Liar):
    """A second cancel at the instant of the first one takes it back."""

    def cancel(self, chosen: argparse.Namespace) -> Answer:
        job = self.found(chosen.job)
        if job is not None and job["status"] == "running" and job["asked_at"] == self.now:
            job["asked_at"] = None
            return 0, self.descriptor(chosen.job, job), None
        return super().cancel(chosen)


@caught_by("X8", 5)
class StatusTakesTheCancelBack(Liar):
    """A status between a cancel and its effect takes the cancel back."""

    def status(self, chosen: argparse.Namespace) -> Answer:
        job = self.found(chosen.job)
        if job is not None and job["status"] == "running":
            job["asked_at"] = None
        return super().status(chosen)


@caught_by("X11", 5)
class CancelAtAStartHitsIt(Liar):
    """A start at the instant of a cancel is cancelled too."""

    def work(self, chosen: argparse.Namespace) -> Answer:
        answer = super().work(chosen)
        asked = any(job["asked_at"] == self.now for job in self.state["jobs"].values())
        if not chosen.schema and asked and answer[1]:
            self.state["jobs"][answer[1]["job_id"]]["asked_at"] = self.now
        return answer
