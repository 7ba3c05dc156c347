"""Lies about handles: a clone that shares not all."""

from __future__ import annotations

from dataclasses import replace

from conformance.references.background_tasks import CancelToken, Replies, Reply, TaskTable
from tests.faulty.background_tasks.lie import Lie


class _ByHandle(Lie):
    """No lie yet: it knows which handle has its turn."""

    def _mine(self) -> int:
        return self._turns % len(self._handles)


class CloneHasItsOwnQueue(_ByHandle):
    """What ended by way of one handle is not drained by way of another."""

    row, calls = "N6", 4

    def _deliver(self, table: TaskTable, outcome: Reply) -> None:
        super()._deliver(table, {**outcome, "handle": self._mine()})

    def _drain(self, table: TaskTable) -> Replies:
        queued = super()._drain(table)
        table.queue.extend(outcome for outcome in queued if outcome["handle"] != self._mine())
        return [outcome for outcome in queued if outcome["handle"] == self._mine()]


class CloneHasItsOwnRows(Lie):
    """A clone begins with the rows of its original, and goes on alone."""

    row, calls = "N6", 3

    def _share(self, table: TaskTable) -> TaskTable:
        return replace(table, rows=dict(table.rows))


class CloneNumbersAnew(Lie):
    """A clone has a counter of its own, so two handles give one id twice."""

    row, calls = "N6", 3

    def _share(self, table: TaskTable) -> TaskTable:
        return replace(table)


class CloneHasItsOwnPermit(_ByHandle):
    """A completion is stored for the handle that it came by."""

    row, calls = "X18", 4

    def __init__(self) -> None:
        super().__init__()
        self._permits: set[int] = set()

    def _wake(self, table: TaskTable) -> None:
        super()._wake(table)
        if super()._take_permit(table):
            self._permits.add(self._mine())

    def _take_permit(self, table: TaskTable) -> bool:
        taken = self._mine() in self._permits
        self._permits.discard(self._mine())
        return taken


class CloneDoesNotHearCancel(_ByHandle):
    """A cancel of all by way of one handle does not stop what another one spawns later."""

    row, calls = "X20", 5

    def __init__(self) -> None:
        super().__init__()
        self._heard: set[int] = set()

    def _cancel_session(self, table: TaskTable) -> None:
        super()._cancel_session(table)
        self._heard.add(self._mine())

    async def spawn(self, label: str) -> Reply:
        spawned = await super().spawn(label)
        if self._mine() not in self._heard:
            self._handles[0].rows[spawned["task_id"]].token = CancelToken()
        return spawned
