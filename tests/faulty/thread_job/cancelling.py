"""Lies about asking a job to stop."""

from __future__ import annotations

from conformance.references.thread_job import TERMINAL, Reply, ThreadJob
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class AgentMayNotCancel(Lie):
    """The agent's request to cancel is refused; only the user's is accepted."""

    row, calls = "N6", 2

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        with self._locked():
            if self._find(thread, job).status == "running" and actor == "agent":
                raise Refused("not_allowed")
            return super().request_cancel(thread, job, actor)


class AgentCancelIsNotSent(Lie):
    """The agent's request to cancel is recorded, but never reaches the tool."""

    row, calls = "N6", 2

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        with self._locked():
            shown = super().request_cancel(thread, job, actor)
            if actor == "agent":
                self._signals.pop()
            return shown


class CancelRestamps(Lie):
    """Asking again is refused, but moves the time at which the cancel was asked for."""

    row, calls = "N6", 5

    def _cancel(self, job: ThreadJob) -> None:
        if job.status == "pending_cancel":
            job.cancel_requested_at = self._now
        super()._cancel(job)


class CancelWins(Lie):
    """A job that completes after a cancel request is recorded as cancelled."""

    row, calls = "E5", 4

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        asked = job.status == "pending_cancel"
        super()._complete(job, "cancelled" if asked and outcome == "completed" else outcome, payload)


class ResultAfterCancelIsDropped(Lie):
    """A job that completes after a cancel request is told without its result."""

    row, calls = "E5", 4

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        asked = job.status == "pending_cancel"
        super()._complete(job, outcome, "" if asked and outcome == "completed" else payload)


class LateCancelIsSent(Lie):
    """Cancelling a job that has ended is refused, but the request is sent."""

    row, calls = "E6", 3

    def _cancel(self, job: ThreadJob) -> None:
        if job.status in TERMINAL:
            self._signal("CancelSent", job_id=job.job_id)
        super()._cancel(job)


class LateCancelWins(Lie):
    """Cancelling a job that has completed makes it cancelled."""

    row, calls = "E6", 4

    def _cancel(self, job: ThreadJob) -> None:
        if job.status in TERMINAL:
            job.status = "cancelled"
        else:
            super()._cancel(job)


class LateCancelStamps(Lie):
    """Cancelling a job that has ended is refused, but the time of asking is stamped."""

    row, calls = "E6", 4

    def _cancel(self, job: ThreadJob) -> None:
        if job.status in TERMINAL:
            job.cancel_requested_at = self._now
        super()._cancel(job)


class AnotherActorStampsAgain(Lie):
    """A cancel by the user of what an agent has cancelled is stamped anew."""

    row, calls = "X33", 5

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._by: dict[str, str] = {}

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        found = self._jobs.get(job)
        if found is not None and found.status == "pending_cancel" and self._by.get(job) != actor:
            found.cancel_requested_at = self._now
        self._by.setdefault(job, actor)
        return super().request_cancel(thread, job, actor)
