"""Lies about how many jobs run, and about the end of the manager."""

from __future__ import annotations

import asyncio

from conformance.references.job_delivery import Reply
from tests.faulty.job.lie import Lie


class OneMoreRuns(Lie):
    """One job more than the limit is registered."""

    row, calls = "B1", 16

    def _require_slot(self) -> None:
        if len(self.running()) != self._max_running:
            super()._require_slot()


class OneFewerRuns(Lie):
    """The last job within the limit is refused."""

    row, calls = "B1", 15

    def _require_slot(self) -> None:
        self._max_running -= 1
        try:
            super()._require_slot()
        finally:
            self._max_running += 1


class LimitIsPerOwner(Lie):
    """Each owner has slots of its own."""

    row, calls = "B25", 16

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        limit, self._max_running = self._max_running, self._max_running + len(self.running())
        self._max_running -= len(self.running(owner))
        try:
            return await super().register(type, label, id, owner)
        finally:
            self._max_running = limit


class EndedKeepsSlot(Lie):
    """A job takes up its slot until it is evicted."""

    row, calls = "B1", 17

    def _require_slot(self) -> None:
        limit, self._max_running = (
            self._max_running,
            self._max_running - len(self._jobs) + len(self.running()),
        )
        try:
            super()._require_slot()
        finally:
            self._max_running = limit


class DisposeWaitsForBodies(Lie):
    """Dispose does not return until every body has ended."""

    row, calls = "E10", 2

    async def dispose(self) -> None:
        await super().dispose()
        await asyncio.gather(*(job.body for job in self._handles.values() if job.body is not None))


class DisposeLeavesRunning(Lie):
    """Dispose takes no more jobs, but lets those that run go on."""

    row, calls = "E10", 2

    async def dispose(self) -> None:
        self._disposed = True
        self._stop_delivering()


class RegisteredAfterDispose(Lie):
    """A manager that was disposed takes jobs."""

    row, calls = "E10", 2

    def _require_open(self) -> None:
        return
