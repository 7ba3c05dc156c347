"""Lies of a registry whose endings claim what is due in an idle thread, and tell it without the lock."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.references.thread_job import Reply, ThreadJob
from tests.faulty.thread_job.lie import Lie
from tests.other_ways.telling import ClaimsInFinish


class TellsAcross(ClaimsInFinish, Lie):
    """What is claimed stands in one line for all threads, and whoever tells takes all of it to its own."""

    row, calls = "X64", 7

    def _tells(self, mine: Sequence[ThreadJob]) -> list[Reply]:
        told = []
        while mine:
            with self._locked():
                if not self._claimed:
                    self._signal("TurnTriggered", thread=mine[0].thread)
                    break
                told.append(self._message(self._claimed.pop(0)))
                self._transcripts[mine[0].thread].append(told[-1])
        return told


class ForgetsWhenBusy(ClaimsInFinish, Lie):
    """What it has claimed it tells only while the thread is still idle, and nobody else will."""

    row, calls = "X65", 5

    def _tells(self, mine: Sequence[ThreadJob]) -> list[Reply]:
        with self._locked():
            still = [job for job in mine if job.thread in self._idle]
        return super()._tells(still)
