"""Lies about how a job ends, and about what is no end."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.references.thread_job import TERMINAL, Reply, ThreadJob
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class TimedOutIsNotStamped(Lie):
    """A job that timed out shows no completion time."""

    row, calls = "N3", 3

    def _show(self, job: ThreadJob) -> Reply:
        hidden = {"completed_at": None} if job.status == "timed_out" else {}
        return {**super()._show(job), **hidden}


class TimedOutBecomesFailed(Lie):
    """A time-out is recorded as a failure."""

    row, calls = "N3", 3

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        super()._complete(job, "failed" if outcome == "timed_out" else outcome, payload)


class FailureAfterCancelBecomesCancelled(Lie):
    """A job that fails after a cancel request is recorded as cancelled."""

    row, calls = "N3", 4

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        asked = job.status == "pending_cancel"
        super()._complete(job, "cancelled" if asked and outcome == "failed" else outcome, payload)


class SecondOutcomeWins(Lie):
    """A second outcome replaces the first."""

    row, calls = "E4", 4

    def finish(self, job: str, outcome: str, payload: object) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.status in TERMINAL:
                found.status = outcome
            else:
                super().finish(job, outcome, payload)


class SecondOutcomeRestamps(Lie):
    """A second outcome is refused, but it moves the completion time."""

    row, calls = "E4", 5

    def finish(self, job: str, outcome: str, payload: object) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.status in TERMINAL:
                found.completed_at = self._now
            super().finish(job, outcome, payload)


class RetryOfUnknownIsNotFound(Lie):
    """Retrying a job that the thread does not have is refused as not found."""

    row, calls = "E11", 1

    def retry_job(self, thread: str, job: str) -> None:
        with self._locked():
            self._find(thread, job)
            super().retry_job(thread, job)


class RetryOfUnknownAccepted(Lie):
    """Retrying a job that nobody has is silently accepted."""

    row, calls = "E11", 1

    def retry_job(self, thread: str, job: str) -> None:
        with self._locked():
            if job in self._jobs:
                super().retry_job(thread, job)


class RetryRunsAgain(Lie):
    """Retrying a job that has ended makes it run again."""

    row, calls = "E11", 3

    def retry_job(self, thread: str, job: str) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.thread == thread and found.status in TERMINAL:
                found.status, found.completed_at = "running", None
            else:
                super().retry_job(thread, job)


class RefusedRetryRunsAgain(Lie):
    """Retrying a job that has ended is refused, but the job is back to running."""

    row, calls = "E11", 4

    def retry_job(self, thread: str, job: str) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.thread == thread and found.status in TERMINAL:
                found.status, found.completed_at = "running", None
            raise Refused("manual_retry_not_supported")


class LlmErrorFailsJob(Lie):
    """A retryable HTTP error fails a running job."""

    row, calls = "E13", 3

    def llm_error(self, job: str, http_status: int) -> None:
        with self._locked():
            if job in self._jobs and self._jobs[job].status == "running":
                self.finish(job, "failed", f"HTTP {http_status}")


class LlmErrorCompletesCancel(Lie):
    """A 503 while a cancel is pending ends the job as cancelled."""

    row, calls = "E13", 4

    def llm_error(self, job: str, http_status: int) -> None:
        with self._locked():
            if job in self._jobs and self._jobs[job].status == "pending_cancel" and http_status == 503:
                self.finish(job, "cancelled", "HTTP 503")


class LlmErrorIsTold(Lie):
    """A retryable HTTP error is told to the thread."""

    row, calls = "E13", 3

    def llm_error(self, job: str, http_status: int) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.status not in TERMINAL:
                self._transcripts[found.thread].append(self._message(found))


class LlmErrorSilencesFinish(Lie):
    """After a retryable HTTP error the end of the job is never told."""

    row, calls = "E13", 4

    def llm_error(self, job: str, http_status: int) -> None:
        with self._locked():
            if job in self._jobs and self._jobs[job].status not in TERMINAL:
                self._jobs[job].told = True


class FifthLlmErrorFailsJob(Lie):
    """After four retryable HTTP errors one more fails the job."""

    row, calls = "E13", 7

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self._errors: Counter[str] = Counter()

    def llm_error(self, job: str, http_status: int) -> None:
        with self._locked():
            self._errors[job] += 1
            if self._errors[job] >= 5 and job in self._jobs and self._jobs[job].status not in TERMINAL:
                self.finish(job, "failed", f"HTTP {http_status}")
