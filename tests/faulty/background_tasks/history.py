"""Lies about histories."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.references.background_tasks import Reply, TaskRow, TaskTable
from tests.faulty.background_tasks.lie import Lie


class NewestBlockFirst(Lie):
    """The newest block of a history is given first."""

    row, calls = "N3", 4

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        seen = await super().peek(task, recent)
        return seen and {**seen, "blocks": seen["blocks"][::-1]}


class AppendReplaces(Lie):
    """Blocks replace those that were there."""

    row, calls = "N3", 5

    async def append_history(self, task: str, blocks: Sequence[str]) -> None:
        row = self._find(self._turn(), task)
        if row.history is not None:
            row.history = [*blocks]


class NoHistoryIsNull(Lie):
    """A task without a history gives null, as if it was unknown."""

    row, calls = "E6", 2

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        row = self._handles[0].rows.get(task)
        return None if row is None or row.history is None else await super().peek(task, recent)


class UnknownIsEmpty(Lie):
    """A task that never was has no blocks, as if it was without a history."""

    row, calls = "E6", 1

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        return await super().peek(task, recent) or {"blocks": [], "total": 0}


class ZeroIsAll(Lie):
    """Asked for no block, all are given."""

    row, calls = "X37", 4

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        whole = await super().peek(task, 1_000_000)
        return whole if recent == 0 else await super().peek(task, recent)


class ZeroIsNone(Lie):
    """Asked for no block, none is given."""

    row, calls = "X37", 4

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        seen = await super().peek(task, recent)
        return seen and {**seen, "blocks": [] if recent == 0 else seen["blocks"]}


class OldestBlocks(Lie):
    """The first blocks of a history are given, not the last ones."""

    row, calls = "B8", 4

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        whole = await super().peek(task, 1_000_000)
        return whole and {**whole, "blocks": whole["blocks"][: self._shown(recent)]}


class TotalIsOfShown(Lie):
    """The total is the number of blocks that are given."""

    row, calls = "B8", 4

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        seen = await super().peek(task, recent)
        return seen and {**seen, "total": len(seen["blocks"])}


class TooManyAreNone(Lie):
    """Asked for more blocks than there are, none is given."""

    row, calls = "B8", 4

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        seen = await super().peek(task, recent)
        return seen and {**seen, "blocks": [] if (recent or 0) > seen["total"] else seen["blocks"]}


class DefaultIsAll(Lie):
    """Not told how many blocks to give, all are given."""

    row, calls = "X16", 4

    def _shown(self, recent: int | None) -> int:
        return super()._shown(1_000_000 if recent is None else recent)


class ListReadsHistory(Lie):
    """The list counts the blocks of each history."""

    row, calls = "X5", 4

    def _show(self, row: TaskRow) -> Reply:
        return {**super()._show(row), "block_count": len(row.history or [])}


class ListGivesNewestBlock(Lie):
    """The list gives the newest block of each history."""

    row, calls = "X5", 4

    def _show(self, row: TaskRow) -> Reply:
        return {**super()._show(row), "recent": (row.history or [])[-1:]}


class HistoryGoesWithEnd(Lie):
    """When a task ends its history is gone."""

    row, calls = "X6", 5

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        super()._end(table, row, status, outcome)
        row.history = None


class HistoryIsShared(Lie):
    """All histories are one."""

    row, calls = "X6", 6

    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[str] = []

    async def attach_history(self, task: str) -> None:
        self._find(self._turn(), task).history = self._blocks


class AttachingAgainClears(Lie):
    """A history that is attached again is empty."""

    row, calls = "X29", 5

    async def attach_history(self, task: str) -> None:
        self._find(self._turn(), task).history = []


class PeeksFifty(Lie):
    """A peek gives fifty blocks at most."""

    row, calls = "X34", 4

    def _shown(self, recent: int | None) -> int:
        return min(50, super()._shown(recent))


class HistoryKeepsThirty(Lie):
    """A history keeps its thirty newest blocks."""

    row, calls = "X34", 4

    async def append_history(self, task: str, blocks: Sequence[str]) -> None:
        await super().append_history(task, blocks)
        row = self._handles[0].rows.get(task)
        if row is not None and row.history is not None:
            del row.history[:-30]


class EmptyBlocksAreDropped(Lie):
    """A block without a text is no block."""

    row, calls = "X34", 4

    async def append_history(self, task: str, blocks: Sequence[str]) -> None:
        await super().append_history(task, [block for block in blocks if block])
