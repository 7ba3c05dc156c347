"""Lies that the derived rows name: about what comes late, about time, and about what outlives a job."""

from __future__ import annotations

from pathlib import Path

from conformance.references.thread_job import TERMINAL, Reply, ThreadJob
from tests.faulty.thread_job.lie import Lie


class EvictedCallCrashes(Lie):
    """A tool call whose job was evicted crashes the start that uses it again."""

    row, calls = "X8", 43

    def _require_unresolved(self, tool_call: str) -> None:
        if tool_call in self._calls and all(job.tool_call != tool_call for job in self._jobs.values()):
            raise KeyError(tool_call)
        super()._require_unresolved(tool_call)


class EvictedIdCrashes(Lie):
    """A job id that was evicted crashes the start that asks for it again."""

    row, calls = "X9", 43

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        with self._locked():
            told = [message for each in self._transcripts.values() for message in each]
            owed = [job.job_id for each in self._due.values() for job in each]
            if job_id not in self._jobs and (job_id in owed or any(each["job_id"] == job_id for each in told)):
                raise KeyError(job_id)
        return super().start_as(thread, tool_call, tool, job_id)


class LateProgressRevives(Lie):
    """Progress of a job that has ended makes it run again."""

    row, calls = "X10", 4

    def report_progress(self, job: str) -> None:
        with self._locked():
            if job in self._jobs and self._jobs[job].status in TERMINAL:
                self._jobs[job].status = "running"


class IdleForgets(Lie):
    """Becoming idle drops the messages that are owed."""

    row, calls = "X11", 4

    def set_idle(self, thread: str, idle: bool) -> None:
        super().set_idle(thread, idle)
        with self._locked():
            self._due.pop(thread, None)


class RestartWipesTranscript(Lie):
    """A restart forgets what was told."""

    row, calls = "X12", 5

    def restart(self) -> None:
        super().restart()
        with self._locked():
            self._transcripts.clear()


class TwoEndingsMix(Lie):
    """Of two endings at once one gives the status and the other the text: each looks before it writes."""

    row, calls = "X13", 4

    def finish(self, job: str, outcome: str, payload: object) -> None:
        found = self._jobs.get(job)
        runs = found is not None and found.status not in TERMINAL
        try:
            super().finish(job, outcome, payload)
        finally:
            if found is not None and runs:
                found.status = outcome


class EndedExpire(Lie):
    """Ended jobs are dropped after an hour, although there is room for them."""

    row, calls = "X14", 4

    def wait(self, ms: int) -> None:
        super().wait(ms)
        with self._locked():
            for job in list(self._jobs.values()):
                if job.completed_at is not None and self._now - job.completed_at >= 3_600_000:
                    del self._jobs[job.job_id]


class TextIsTidied(Lie):
    """White space around a text is dropped when it is told."""

    row, calls = "X15", 3

    def finish(self, job: str, outcome: str, payload: object) -> None:
        super().finish(job, outcome, payload.strip() if isinstance(payload, str) else payload)


class FileGoesWithJob(Lie):
    """The file of a message is deleted when its job is evicted."""

    row, calls = "X16", 44

    def _evict(self, thread: str) -> None:
        before = set(self._jobs)
        super()._evict(thread)
        for message in self._transcripts[thread]:
            if message["job_id"] in before - set(self._jobs) and "file" in message["content"]:
                Path(message["content"]["file"]).unlink(missing_ok=True)


class ChosenIdIsFree(Lie):
    """Ids that a caller chose are not looked up: the same id is given to a second job once the first has ended."""

    row, calls = "X17", 4

    def _require_unused(self, job_id: str) -> None:
        if job_id in self._jobs and self._jobs[job_id].status not in TERMINAL:
            super()._require_unused(job_id)


class IdleTellsTwice(Lie):
    """A thread that becomes idle again with a message owed is told once more what it was told first."""

    row, calls = "X18", 8

    def set_idle(self, thread: str, idle: bool) -> None:
        with self._locked():
            again = idle and thread in vars(self).setdefault("_idled", set())
            if again and self._due[thread] and self._transcripts[thread]:
                self._transcripts[thread].append(self._transcripts[thread][0])
            if idle:
                vars(self)["_idled"].add(thread)
        super().set_idle(thread, idle)


class RestartLosesIdleThread(Lie):
    """After a restart, an ending in a thread that was idle is neither told at once nor at a boundary."""

    row, calls = "X19", 5

    def restart(self) -> None:
        super().restart()
        self._lost = frozenset(self._idle)

    def _owe(self, job: ThreadJob) -> None:
        if job.thread not in getattr(self, "_lost", ()):
            super()._owe(job)


class RestartEndsIdling(Lie):
    """After a restart no thread ever counts as idle again."""

    row, calls = "X20", 4

    def restart(self) -> None:
        super().restart()
        self._restarted = True

    def set_idle(self, thread: str, idle: bool) -> None:
        super().set_idle(thread, idle and not getattr(self, "_restarted", False))


class IdleAfterRestartTellsNobody(Lie):
    """Becoming idle after a restart drops what is owed to the thread."""

    row, calls = "X21", 5

    def restart(self) -> None:
        super().restart()
        self._restarted = True

    def set_idle(self, thread: str, idle: bool) -> None:
        super().set_idle(thread, idle)
        with self._locked():
            if idle and getattr(self, "_restarted", False):
                self._due.pop(thread, None)


class CancelStampIsStart(Lie):
    """The time of the cancel request is the time of the start."""

    row, calls = "X22", 4

    def _cancel(self, job: ThreadJob) -> None:
        super()._cancel(job)
        job.cancel_requested_at = job.started_at


class TieEvictsLast(Lie):
    """Of jobs that ended at one instant, the one that ended last is evicted first."""

    row, calls = "X23", 43

    def _leaving(self, thread: str) -> list[ThreadJob]:
        ended = sorted(self._ended_in(thread), key=lambda job: (job.completed_at or 0, -job.completion))
        return ended[: max(0, len(ended) - self._retained)]


class BusyRequestsBoundary(Lie):
    """Saying that a thread is busy requests a boundary when something is owed to it."""

    row, calls = "X24", 3

    def set_idle(self, thread: str, idle: bool) -> None:
        super().set_idle(thread, idle)
        with self._locked():
            if not idle and self._due[thread]:
                self._signal("BoundaryRequested", thread=thread)


class OwesFiftyAtMost(Lie):
    """What is owed beyond fifty endings is dropped, oldest first."""

    row, calls = "X25", 103

    def _owe(self, job: ThreadJob) -> None:
        super()._owe(job)
        del self._due[job.thread][:-50]


class RemembersFiftyCalls(Lie):
    """Only the last fifty tool calls are remembered."""

    row, calls = "X28", 52

    def _require_unresolved(self, tool_call: str) -> None:
        while len(self._calls) > 50:
            del self._calls[next(iter(self._calls))]
        super()._require_unresolved(tool_call)


class FileIsNamedAfterJob(Lie):
    """The file of a message is named after its job, and an id that is used again writes over it."""

    row, calls = "X29", 47

    def _message(self, job: ThreadJob) -> Reply:
        self._named = job.job_id
        return super()._message(job)

    def _spill_path(self) -> Path:
        return self._private_directory() / f"payload-{self._named}.txt"


class ChosenIdResolvesAgain(Lie):
    """A tool call that was resolved inline becomes a job all the same, when the caller chooses its id."""

    row, calls = "X68", 2

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        self._require_unused(job_id)
        return self._begin(thread, tool_call, tool, job_id)


class BatchEndsIdling(Lie):
    """A thread that is told of two jobs or more at once does not count as idle any more."""

    row, calls = "X70", 9

    def _boundary(self, thread: str) -> list[Reply]:
        told = super()._boundary(thread)
        if len(told) > 1:
            self._idle.discard(thread)
        return told


class EmitTellsForeign(Lie):
    """An attempt to tell of a job looks for its id in whichever thread it is owed to."""

    row, calls = "X71", 44

    def emit(self, thread: str, job: str) -> bool:
        return any(super(EmitTellsForeign, self).emit(owed, job) for owed in [*self._due])
