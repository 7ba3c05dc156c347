"""Lies about telling: when, how often, to what effect, and what the message says of its job."""

from __future__ import annotations

from conformance.references.thread_job import ACTIVE, Reply, ThreadJob
from tests.faulty.thread_job.lie import Lie


class ToldAtOnce(Lie):
    """A busy thread is told when the job ends, not at its boundary."""

    row, calls = "N4", 3

    def _owe(self, job: ThreadJob) -> None:
        super()._owe(job)
        if job.thread not in self._idle:
            self._tell(job)


class ToldAtEveryBoundary(Lie):
    """A message that was told stays due, and is told at every later boundary."""

    row, calls = "N4", 4

    def _claim(self, job: ThreadJob) -> bool:
        job.told = True
        return True


class TimedOutIsNeverTold(Lie):
    """A time-out is recorded but never told."""

    row, calls = "N4", 3

    def _owe(self, job: ThreadJob) -> None:
        if job.status != "timed_out":
            super()._owe(job)


class TurnNotTriggered(Lie):
    """Messages are told, but no turn is triggered for anybody to read them."""

    row, calls = "N4", 3

    def _boundary(self, thread: str) -> list[Reply]:
        return [message for job in self._due_in(thread) if (message := self._tell(job))]


class TurnTriggeredByNothing(Lie):
    """A boundary at which nothing is told triggers a turn."""

    row, calls = "N4", 1

    def turn_boundary(self, thread: str) -> list[Reply]:
        with self._locked():
            told = super().turn_boundary(thread)
            if not told:
                self._signal("TurnTriggered", thread=thread)
            return told


class OneMessagePerBoundary(Lie):
    """A boundary tells one job only; the others wait for the next."""

    row, calls = "N5", 5

    def _boundary(self, thread: str) -> list[Reply]:
        told = [message for job in self._due_in(thread)[:1] if (message := self._tell(job))]
        if told:
            self._signal("TurnTriggered", thread=thread)
        return told


class EmittedAgain(Lie):
    """Emitting a job that was told tells it once more."""

    row, calls = "X7", 4

    def emit(self, thread: str, job: str) -> bool:
        with self._locked():
            for told in self._jobs_in(thread):
                if told.job_id == job and told.told:
                    self._transcripts[thread].append(self._message(told))
                    return True
            return super().emit(thread, job)


class ToldAgainAfterSecondOutcome(Lie):
    """A second outcome of a job that was told changes nothing, but is told at the next boundary."""

    row, calls = "E4", 5

    def finish(self, job: str, outcome: str, payload: object) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.told:
                found.told = False
                self._owe(found)
            else:
                super().finish(job, outcome, payload)


class ProgressIsTold(Lie):
    """Progress is told like an end."""

    row, calls = "E3", 3

    def report_progress(self, job: str) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.status in ACTIVE:
                self._transcripts[found.thread].append(self._message(found))


class ProgressRequestsBoundary(Lie):
    """Progress requests a turn boundary, though there is nothing to tell."""

    row, calls = "E3", 2

    def report_progress(self, job: str) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is not None and found.status in ACTIVE:
                self._signal("BoundaryRequested", thread=found.thread)


class CancelRequestIsTold(Lie):
    """A request to cancel is told like an end."""

    row, calls = "E3", 3

    def _cancel(self, job: ThreadJob) -> None:
        super()._cancel(job)
        self._transcripts[job.thread].append(self._message(job))


class IdleIsNotWoken(Lie):
    """A job that ends while its thread is idle requests nothing and waits for a boundary."""

    row, calls = "E7", 3

    def _wake(self, thread: str) -> None:
        return


class BoundaryRequestedInVain(Lie):
    """A job that ends while its thread is idle requests a boundary that never comes."""

    row, calls = "E7", 3

    def _wake(self, thread: str) -> None:
        if thread in self._idle:
            self._signal("BoundaryRequested", thread=thread)


class IdleIsToldUnasked(Lie):
    """An idle thread is told at once, without a boundary having been requested."""

    row, calls = "E7", 3

    def _wake(self, thread: str) -> None:
        if thread in self._idle:
            self._boundary(thread)


class BusyIsWoken(Lie):
    """A job that ends interrupts a busy thread as if it were idle."""

    row, calls = "E7", 2

    def _wake(self, thread: str) -> None:
        self._signal("BoundaryRequested", thread=thread)
        self._boundary(thread)


class MessageForgetsTool(Lie):
    """A message does not say which tool the job was of."""

    row, calls = "X4", 3

    def _message(self, job: ThreadJob) -> Reply:
        return {**super()._message(job), "tool": None}


class MessageForgetsStatus(Lie):
    """A message does not say how the job ended."""

    row, calls = "X4", 3

    def _message(self, job: ThreadJob) -> Reply:
        return {**super()._message(job), "status": None}


class SecondWakeUpIsSpared(Lie):
    """An ending at the instant of another one does not wake an idle thread again."""

    row, calls = "X32", 5

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._woke: dict[str, int] = {}

    def _wake(self, thread: str) -> None:
        if self._woke.get(thread) != self._now:
            super()._wake(thread)
        if thread in self._idle:
            self._woke[thread] = self._now


class IdleIsCounted(Lie):
    """A thread that was said to be idle twice has to be said not to be twice."""

    row, calls = "X34", 5

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._times: dict[str, int] = {}

    def set_idle(self, thread: str, idle: bool) -> None:
        self._times[thread] = max(0, self._times.get(thread, 0) + (1 if idle else -1))
        super().set_idle(thread, self._times[thread] > 0)
