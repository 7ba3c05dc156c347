"""Lies about starts, and about starts that are repeated."""

from __future__ import annotations

import argparse

from conformance.references.cli_job import CliJobs
from conformance.references.cli_program import Answer
from tests.faulty.cli_job.lie import Liar, caught_by

ANY_REPLY = {**CliJobs.declares["policies"], "repeated": "any_reply"}


@caught_by("N2", 1)
class StartTellsItsStatus(Liar):
    """A start exits as a status does."""

    def work(self, chosen: argparse.Namespace) -> Answer:
        code, data, error = super().work(chosen)
        return (code, data, error) if chosen.schema else (3, data, "it runs")


@caught_by("E6", 11)
class IdsComeRoundAgain(Liar):
    """After ten jobs the ids begin again."""

    def mint(self, key: str) -> str:
        self.state["started"] %= 10
        return super().mint(key)


class _Repeats(Liar):
    """No lie yet: the command that started a job gives that job again."""

    def mint(self, key: str) -> str:
        known: dict[str, str] = self.state.setdefault("keys", {})
        return known.setdefault(key, super().mint(key))

    def work(self, chosen: argparse.Namespace) -> Answer:
        known = self.state.setdefault("keys", {}).get(chosen.key)
        if chosen.schema or known is None:
            return super().work(chosen)
        return self.again(known, chosen)

    def again(self, job_id: str, chosen: argparse.Namespace) -> Answer:
        """What the repeated start prints."""
        job = self.found(job_id)
        assert job is not None  # nothing is ever forgotten here
        return 0, self.descriptor(job_id, job), None


@caught_by("E7", 3, policies=ANY_REPLY)
class RepeatedStartRunsAgain(_Repeats):
    """The command that started a job, once more, brings it back from its end."""

    def again(self, job_id: str, chosen: argparse.Namespace) -> Answer:
        self.state["jobs"][job_id].update(status="running", started_at=self.now)
        return super().again(job_id, chosen)


@caught_by("E7", 3, policies=ANY_REPLY)
class RepeatedStartSaysItAgain(_Repeats):
    """The command that started a job, once more, prints what it printed then, though the job has ended."""

    def again(self, job_id: str, chosen: argparse.Namespace) -> Answer:
        job = self.found(job_id)
        assert job is not None  # nothing is ever forgotten here
        return 0, self.descriptor(job_id, {**job, "status": "running"}), None


@caught_by("E8", 3)
class RepeatedStartEndsTheFirst(_Repeats):
    """The command that started a job, once more, ends it and starts another."""

    def work(self, chosen: argparse.Namespace) -> Answer:
        known = self.state.setdefault("keys", {}).pop(chosen.key, None)
        if known is not None:
            self.state["jobs"][known]["status"] = "failed"
        return super().work(chosen)


@caught_by("E9", 1)
class AnythingIsRegistered(Liar):
    """A command without a descriptor schema is registered."""

    def register(self, chosen: argparse.Namespace) -> Answer:
        return 0, None, None
