"""Lies that only calls at the same time can show: each lets go of the lock where it must not."""

from __future__ import annotations

import threading
from dataclasses import replace

from conformance.references.thread_job import ACTIVE, Reply, ThreadJob
from conformance.refused import Refused
from tests.faulty.thread_job.lie import Lie


class StartChecksTooEarly(Lie):
    """A start looks whether its call is free, then takes it without looking again."""

    row, calls = "B1", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        self._require_unresolved(tool_call)
        with self._locked():
            return self._begin(thread, tool_call, tool, self._mint_id())


class InlineChecksTooEarly(Lie):
    """An inline completion looks whether its call is free, then takes it without looking again."""

    row, calls = "B1", 2

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        self._require_unresolved(tool_call)
        with self._locked():
            self._calls[tool_call] = "synchronous"
        return {"mode": "synchronous", "result": result, "job_id": None, "status": None}


class InlineAndStartDeadlock(Lie):
    """Inline completion and start take two locks in opposite order."""

    row, calls = "B1", 2

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._calls_lock = threading.RLock()

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        with self._locked():
            job_id = self._mint_id()
            with self._calls_lock:
                self._require_unresolved(tool_call)
                return self._begin(thread, tool_call, tool, job_id)

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        with self._calls_lock:
            return super().complete_inline(thread, tool_call, tool, result)


class IdMintedTwice(Lie):
    """Two starts at once read the same counter and give the same id."""

    row, calls = "B2", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        number = self._minted + 1
        job_id = f"job-{number}"
        self._minted = number
        with self._locked():
            self._require_unresolved(tool_call)
            return self._begin(thread, tool_call, tool, job_id)


class IdMintedTwiceInOneLine(Lie):
    """The counter is read and written in one line, which is not one step: two starts at once get one id."""

    row, calls = "B2", 2

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        self._minted = number = self._minted + 1
        with self._locked():
            self._require_unresolved(tool_call)
            return self._begin(thread, tool_call, tool, f"job-{number}")


class StartIsLost(Lie):
    """Two starts at once copy the registry, and the one that writes it back first is lost."""

    row, calls = "B2", 3

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        before = dict(self._jobs)
        with self._locked():
            reply = super().start(thread, tool_call, tool)
            self._jobs = {**before, reply["job_id"]: self._jobs[reply["job_id"]]}
        return reply


class IdBlocksOverlap(Lie):
    """Each caller mints from a block of 16 ids of its own, and runs on into the next caller's."""

    row, calls = "B2", 18

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._blocks: dict[int, int] = {}

    def _mint_id(self) -> str:
        caller = threading.get_ident()
        self._blocks[caller] = self._blocks.get(caller, 16 * len(self._blocks)) + 1
        return f"job-{self._blocks[caller]}"


class _LetsGo(Lie):
    """No lie yet: a boundary holds the lock for one message at a time, not from first to last."""

    def turn_boundary(self, thread: str) -> list[Reply]:
        return self._boundary(thread)

    def _tell(self, job: ThreadJob) -> Reply | None:
        with self._locked():
            return super()._tell(job)


class ToldTwice(_LetsGo):
    """An emitter looks whether a job was told, then tells it without looking again."""

    row, calls = "B4", 4

    def _tell(self, job: ThreadJob) -> Reply | None:
        if job.told:
            return None
        with self._locked():
            message = self._message(job)
            self._claim(job)
            self._transcripts[job.thread].append(message)
        return message


class FileToldTwice(_LetsGo):
    """The same for oversize payloads only: others are looked at again."""

    row, calls = "B4", 4

    def _tell(self, job: ThreadJob) -> Reply | None:
        if job.told or self._fits(job.payload):
            return super()._tell(job)
        with self._locked():
            message = self._message(job)
            self._claim(job)
            self._transcripts[job.thread].append(message)
        return message


class MessageIsLost(Lie):
    """An emitter writes back the transcript that it read when it began: what others told is lost."""

    row, calls = "B4", 7

    def turn_boundary(self, thread: str) -> list[Reply]:
        transcript, told = list(self._transcripts[thread]), []
        for job in self._due_in(thread):
            with self._locked():
                if self._claim(job):
                    told.append(self._message(job))
                    self._transcripts[thread] = [*transcript, *told]
        if told:
            self._signal("TurnTriggered", thread=thread)
        return told


class TwoMessagesShareFile(Lie):
    """An emitter numbers its files from the number that it read when it began: others use them too."""

    row, calls = "B4", 6

    def turn_boundary(self, thread: str) -> list[Reply]:
        spills, told = self._spills, []
        for job in self._due_in(thread):
            with self._locked():
                if self._claim(job):
                    self._spills = spills
                    told.append(self._message(job))
                    spills = self._spills
                    self._transcripts[thread].append(told[-1])
        if told:
            self._signal("TurnTriggered", thread=thread)
        return told


class CancelOverwritesEnd(Lie):
    """A cancel looks whether the job is running, then sets it pending without looking again."""

    row, calls = "E6", 4

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        with self._locked():
            found = self._find(thread, job)
            if found.status != "running":
                raise Refused("wrong_state")
            asked = {"status": "pending_cancel", "cancel_requested_at": self._now}
            reply = {**self._show(found), **asked}
        with self._locked():
            found.status, found.cancel_requested_at = "pending_cancel", self._now
            self._signal("CancelSent", job_id=job)
        return reply


class EndForgetsCancel(Lie):
    """An end writes back the record as it was read before a cancel that came in between."""

    row, calls = "E6", 4

    def finish(self, job: str, outcome: str, payload: object) -> None:
        found = self._jobs.get(job)
        read = replace(found) if found is not None and found.status in ACTIVE else None
        with self._locked():
            if read is not None and found is self._jobs.get(job):
                self._jobs[job] = read
            super().finish(job, outcome, payload)


class EndAndCancelDeadlock(Lie):
    """The end of a job and a request to cancel it take two locks in opposite order."""

    row, calls = "E6", 3

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._tool_lock = threading.RLock()

    def finish(self, job: str, outcome: str, payload: object) -> None:
        with self._tool_lock:
            super().finish(job, outcome, payload)

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        with self._locked():
            self._find(thread, job)
            with self._tool_lock:
                return super().request_cancel(thread, job, actor)


class OrderLostBetweenEmitters(_LetsGo):
    """Two emitters share the work from both ends, so what ended last may be told first."""

    row, calls = "X6", 6
    _emitters = 0

    def turn_boundary(self, thread: str) -> list[Reply]:
        with self._locked():
            self._emitters += 1
        told = super().turn_boundary(thread)
        with self._locked():
            self._emitters -= 1
        return told

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return super()._due_in(thread)[:: -1 if self._emitters > 1 else 1]


class AttemptTellsBesideBoundary(Lie):
    """An attempt looks whether the message is owed, then tells it without looking again."""

    row, calls = "X26", 4

    def emit(self, thread: str, job: str) -> bool:
        due = [each for each in self._due_in(thread) if each.job_id == job]
        if not due:
            return False
        message = self._message(due[0])
        with self._locked():
            due[0].told = True
            self._due[thread] = [each for each in self._due[thread] if each is not due[0]]
            self._transcripts[thread].append(message)
        return True


class _EndsInParts(Lie):
    """No lie yet: an ending takes the lock for each of its parts, not from first to last."""

    def finish(self, job: str, outcome: str, payload: object) -> None:
        with self._locked():
            found = self._jobs.get(job)
            if found is None or found.status not in ACTIVE:
                raise Refused("not_found" if found is None else "wrong_state")
            self._complete(found, outcome, payload)
        self._owe(found)
        self._evict(found.thread)
        self._wake(found.thread)

    def _owe(self, job: ThreadJob) -> None:
        with self._locked():
            super()._owe(job)

    def _evict(self, thread: str) -> None:
        with self._locked():
            super()._evict(thread)

    def _wake(self, thread: str) -> None:
        with self._locked():
            super()._wake(thread)


class EndingAtOnceIsNotOwed(_EndsInParts):
    """Two endings at once copy what is owed, and the one that writes it back first is lost."""

    row, calls = "X30", 5

    def _owe(self, job: ThreadJob) -> None:
        owed = [*self._due[job.thread], job]
        self._due[job.thread] = owed


class WakeUpsCoalesce(_EndsInParts):
    """An ending in an idle thread leaves its message to a boundary under way, which has read what is due."""

    row, calls = "X30", 5
    _waking = False

    def _wake(self, thread: str) -> None:
        if not self._waking:
            self._waking = True
            Lie._wake(self, thread)  # without the lock
            self._waking = False


class EndingsAtOnceEvictTooMany(_EndsInParts):
    """Endings at once each count how many records are too many, and then each evicts so many."""

    row, calls = "X31", 43

    def _evict(self, thread: str) -> None:
        surplus = len(self._ended_in(thread)) - self._retained
        for _ in range(surplus):
            with self._locked():
                del self._jobs[self._ended_in(thread)[0].job_id]


class BoundaryForgetsWhatCameMeanwhile(Lie):
    """A boundary tells what was owed when it began, and then takes nothing more to be owed."""

    row, calls = "X27", 6

    def turn_boundary(self, thread: str) -> list[Reply]:
        told = super().turn_boundary(thread)
        with self._locked():
            self._due[thread].clear()
        return told


class ChosenIdIsLookedUpPerThread(Lie):
    """A start under a chosen id looks whether it is free, and takes it later."""

    row, calls = "X37", 2

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        self._require_unused(job_id)
        with self._locked():
            self._require_unresolved(tool_call)
            return self._begin(thread, tool_call, tool, job_id)


class StartBesideFileIsLost(Lie):
    """A boundary puts back the jobs as they were before it wrote the file of an oversize text."""

    row, calls = "X63", 4

    def turn_boundary(self, thread: str) -> list[Reply]:
        jobs = {**self._jobs}
        told = super().turn_boundary(thread)
        with self._locked():
            if any("file" in each["content"] for each in told):
                self._jobs = {**jobs, **{key: job for key, job in self._jobs.items() if key in jobs}}
        return told
