"""Lies about ids, the list, and which rows stay."""

from __future__ import annotations

from collections import deque

from conformance.references.background_tasks import TERMINAL, Replies, Reply, TaskRow, TaskTable
from tests.faulty.background_tasks.lie import Lie


class ListShowsRunningOnly(Lie):
    """A task that has ended is not listed any more."""

    row, calls = "N2", 3

    async def list(self) -> Replies:
        return [shown for shown in await super().list() if shown["status"] == "running"]


class EndedAreListedLast(Lie):
    """The list is in order of ids, but those that run come first."""

    row, calls = "N2", 4

    async def list(self) -> Replies:
        return sorted(await super().list(), key=lambda shown: shown["status"] != "running")


class ListIsByStart(Lie):
    """The list is in the order in which tasks were spawned, though ids are declared to be ordered as text."""

    row, calls = "B3", 12

    def _order(self, row: TaskRow) -> int:
        return row.serial


class ListIsDescending(Lie):
    """The list begins with the greatest id."""

    row, calls = "N2", 3

    async def list(self) -> Replies:
        return (await super().list())[::-1]


class LabelIsTrimmed(Lie):
    """White space around a label is not kept."""

    row, calls = "X15", 2

    async def spawn(self, label: str) -> Reply:
        return await super().spawn(label.strip())


class LabelIsUnique(Lie):
    """A task takes the place of the one with its label."""

    row, calls = "X15", 3

    async def spawn(self, label: str) -> Reply:
        rows = self._handles[0].rows
        for same in [row for row in rows.values() if row.label == label]:
            del rows[same.task_id]
        return await super().spawn(label)


class IdIsReused(Lie):
    """A task gets the lowest number that no row has: that of an evicted one."""

    row, calls = "X2", 131

    def _mint_id(self, table: TaskTable) -> str:
        return next(f"task-{n}" for n in range(1, table.spawned + 1) if f"task-{n}" not in table.rows)


class OneRowTooFew(Lie):
    """One ended row fewer stays than is declared."""

    row, calls = "B1", 129

    def __init__(self) -> None:
        super().__init__(retained=63)


class OneRowTooMany(Lie):
    """One ended row more stays than is declared."""

    row, calls = "B2", 131

    def __init__(self) -> None:
        super().__init__(retained=65)


class RunningRowsLeave(Lie):
    """Running rows count among those that are kept, and leave first."""

    row, calls = "B1", 67

    def _evict(self, table: TaskTable) -> None:
        rows = sorted(table.rows.values(), key=self._age)
        for row in rows[: max(0, len(rows) - self._retained)]:
            del table.rows[row.task_id]


class FirstStartedLeaves(Lie):
    """With one ended row too many the one that started first leaves, not the one that ended first."""

    row, calls = "B2", 131

    def _age(self, row: TaskRow) -> int:
        return row.serial


class LastFinishedLeaves(Lie):
    """With one ended row too many the newest leaves."""

    row, calls = "B2", 131

    def _age(self, row: TaskRow) -> int:
        return -row.finish


class CanceledLeaveFirst(Lie):
    """Canceled rows leave before others, whenever they ended."""

    row, calls = "X25", 132

    def _evict(self, table: TaskTable) -> None:
        ended = [row for row in table.rows.values() if row.status in TERMINAL]
        leaving = sorted(ended, key=lambda row: (row.status != "canceled", row.finish))
        for row in leaving[: max(0, len(ended) - self._retained)]:
            del table.rows[row.task_id]


class FirstRowLeaves(Lie):
    """With a row too many the one that started first leaves, running or not."""

    row, calls = "X40", 132

    def _evict(self, table: TaskTable) -> None:
        ended = sum(row.status in TERMINAL for row in table.rows.values())
        for task in list(table.rows)[: max(0, ended - self._retained)]:
            del table.rows[task]


class EvictionTakesOutcome(Lie):
    """The outcome of a row that leaves is gone with it."""

    row, calls = "B7", 131

    def _evict(self, table: TaskTable) -> None:
        super()._evict(table)
        kept = [outcome for outcome in table.queue if outcome["task_id"] in table.rows]
        table.queue.clear()
        table.queue.extend(kept)


class QueueIsBounded(Lie):
    """Only the newest 64 outcomes wait to be drained."""

    row, calls = "B7", 131

    def _deliver(self, table: TaskTable, outcome: Reply) -> None:
        super()._deliver(table, outcome)
        while len(table.queue) > 64:
            table.queue.popleft()


class _Remembers(Lie):
    """No lie yet: it still knows the rows that left."""

    def __init__(self) -> None:
        super().__init__()
        self._left: dict[str, TaskRow] = {}

    def _evict(self, table: TaskTable) -> None:
        before = dict(table.rows)
        super()._evict(table)
        self._left.update((task, row) for task, row in before.items() if task not in table.rows)


class EvictedCancelIsLate(_Remembers):
    """Cancelling a task whose row left is too late, though there is no such row.

    How many rows stay is only recommended: one call more shows that this one left.
    """

    row, calls = "B7", 132

    async def cancel_task(self, task: str) -> bool | None:
        return False if task in self._left else await super().cancel_task(task)


class EvictedCanBeSeen(_Remembers):
    """The history of a task whose row left can still be seen.

    How many rows stay is only recommended: one call more shows that this one left.
    """

    row, calls = "B7", 132

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        return {"blocks": [], "total": 0} if task in self._left else await super().peek(task, recent)


class NewestIdComesAgain(Lie):
    """A new id is one more than the highest that is there, so that of a newest row that left comes again."""

    row, calls = "X26", 131

    def _mint_id(self, table: TaskTable) -> str:
        return f"task-{1 + max((int(each.removeprefix('task-')) for each in table.rows), default=0)}"


class CanceledOutcomeGoesWithRow(Lie):
    """A canceled row that leaves takes its outcome with it."""

    row, calls = "X27", 132

    def _evict(self, table: TaskTable) -> None:
        before = dict(table.rows)
        super()._evict(table)
        gone = {each for each, row in before.items() if each not in table.rows and row.status == "canceled"}
        table.queue = deque(each for each in table.queue if each["task_id"] not in gone)


class CancelKeepsLonger(Lie):
    """An ended row that somebody tries to cancel counts as the newest."""

    row, calls = "X32", 132

    def _cancel(self, row: TaskRow) -> bool:
        if row.status in TERMINAL:
            self._handles[0].finished += 1
            row.finish = self._handles[0].finished
        return super()._cancel(row)


class PeekKeepsLonger(Lie):
    """An ended row that somebody looks at counts as the newest."""

    row, calls = "X32", 132

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        seen = await super().peek(task, recent)
        row = self._handles[0].rows.get(task)
        if row is not None and row.status in TERMINAL:
            self._handles[0].finished += 1
            row.finish = self._handles[0].finished
        return seen


class EmptyLabelGetsName(Lie):
    """A task without a label is called `unnamed`."""

    row, calls = "X15", 2

    async def spawn(self, label: str) -> Reply:
        return await super().spawn(label or "unnamed")


class LabelIsCut(Lie):
    """The list shows the first eighty signs of a label."""

    row, calls = "X15", 2

    def _show(self, row: TaskRow) -> Reply:
        return {**super()._show(row), "label": row.label[:80]}


class CrashedRowsStay(Lie):
    """A row whose task crashed never leaves."""

    row, calls = "X36", 131

    def _evict(self, table: TaskTable) -> None:
        crashed = {task: row for task, row in table.rows.items() if row.body.done() and row.body.exception()}
        super()._evict(table)
        table.rows.update(crashed)
