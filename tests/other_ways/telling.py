"""Registries of `thread-job` in which several tell at once: each its own in order, in between what others tell.

"one emitter: message order = completion order": of several emitters that is only recommended.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from conformance.references.thread_job import Reply, ThreadJob, ThreadJobs


class ClaimsInFinish(ThreadJobs):
    """An ending in an idle thread claims all that is due, lets go of the lock, and tells it message by message."""

    def __init__(self, **limits: int) -> None:
        super().__init__(**limits)
        self._claimed: list[ThreadJob] = []

    def finish(self, job: str, outcome: str, payload: object) -> None:
        """End a job; then tell what is due, if nobody else is going to. Raises Refused."""
        with self._locked():
            found = self._jobs.get(job)
            super().finish(job, outcome, payload)
            assert found is not None
            mine = self._claims(found.thread) if found.thread in self._idle else []
            if mine:
                self._signal("BoundaryRequested", thread=found.thread)
        self._tells(mine)

    def restart(self) -> None:
        """Forget what was claimed, too."""
        with self._locked():
            super().restart()
            self._claimed.clear()

    def _wake(self, thread: str) -> None:
        """Leave it to whoever has claimed what is due."""

    def _claims(self, thread: str) -> list[ThreadJob]:
        mine = [job for job in self._due_in(thread) if self._claim(job)]
        self._claimed += mine
        return mine

    def _tells(self, mine: Sequence[ThreadJob]) -> list[Reply]:
        told = []
        for job in mine:
            with self._locked():
                if job in self._claimed:
                    self._claimed.remove(job)
                    told.append(self._message(job))
                    self._transcripts[job.thread].append(told[-1])
        if told:
            with self._locked():
                self._signal("TurnTriggered", thread=mine[0].thread)
        return told


class TellsInAThreadOfItsOwn(ClaimsInFinish):
    """What an ending has claimed another thread tells, and the ending waits for it."""

    def _tells(self, mine: Sequence[ThreadJob]) -> list[Reply]:
        told: list[Reply] = []
        teller = threading.Thread(target=lambda: told.extend(super(TellsInAThreadOfItsOwn, self)._tells(mine)))
        teller.start()
        teller.join()
        return told


class AllClaim(ClaimsInFinish):
    """A boundary claims, too, and so does a thread that becomes idle: that is a boundary."""

    def turn_boundary(self, thread: str) -> list[Reply]:
        """Claim all that is due, and then tell it."""
        with self._locked():
            mine = self._claims(thread)
        return self._tells(mine)

    def set_idle(self, thread: str, idle: bool) -> None:
        """Say whether a turn is running. What was due before is told now."""
        with self._locked():
            super().set_idle(thread, idle)
            mine = self._claims(thread) if idle else []
            if mine:
                self._signal("BoundaryRequested", thread=thread)
        self._tells(mine)


class AllShare(ThreadJobs):
    """Whoever tells, in a boundary or unasked, takes the oldest message, tells it, and looks again."""

    def finish(self, job: str, outcome: str, payload: object) -> None:
        """End a job; then tell what is due as long as there is something. Raises Refused."""
        with self._locked():
            found = self._jobs.get(job)
            super().finish(job, outcome, payload)
            assert found is not None
            wakes = found.thread in self._idle
            if wakes:
                self._signal("BoundaryRequested", thread=found.thread)
        if wakes:
            self.turn_boundary(found.thread)

    def turn_boundary(self, thread: str) -> list[Reply]:
        """Tell one message after the other."""
        told: list[Reply] = []
        while True:
            with self._locked():
                one = next((message for job in self._due_in(thread) if (message := self._tell(job))), None)
                if one is None:
                    if told:
                        self._signal("TurnTriggered", thread=thread)
                    return told
            told.append(one)

    def _wake(self, thread: str) -> None:
        """Leave it to the one that has ended a job."""


class ForgetsSome(ClaimsInFinish):
    """A wrong one: of what it has claimed it tells the oldest."""

    def _tells(self, mine: Sequence[ThreadJob]) -> list[Reply]:
        return super()._tells(mine[:1])


class TellsTwice(AllClaim):
    """A wrong one: what is claimed stays due until it is told, for others too."""

    def _claim(self, job: ThreadJob) -> bool:
        return not job.told

    def _tells(self, mine: Sequence[ThreadJob]) -> list[Reply]:
        told = super()._tells(mine)
        for job in mine:
            with self._locked():
                super()._claim(job)
        return told


class TellsBackwards(ClaimsInFinish):
    """A wrong one: of what it has claimed it tells the newest first."""

    def _tells(self, mine: Sequence[ThreadJob]) -> list[Reply]:
        return super()._tells(mine[::-1])
