"""Lies about how a task ends."""

from __future__ import annotations

from conformance.references.background_tasks import Replies, Reply, TaskRow, TaskTable
from tests.faulty.background_tasks.lie import Lie


class FailureIsCompleted(Lie):
    """A body that returned a failure is recorded as completed."""

    row, calls = "N1", 3

    def _return(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        super()._return(table, row, "completed", text)


class TextOfFailureIsLost(Lie):
    """A failure is delivered without its text."""

    row, calls = "N1", 3

    def _return(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        super()._return(table, row, outcome, text if outcome == "completed" else "")


class CrashNeverEnds(Lie):
    """A body that crashed is never counted as ended, though it is declared to have failed."""

    row, calls = "E3", 3

    async def crash(self, task: str) -> None:
        self._find_running(self._turn(), task)


class CrashBringsNothing(Lie):
    """A body that crashed has failed, but nothing of it is delivered."""

    row, calls = "E3", 3

    def _deliver(self, table: TaskTable, outcome: Reply) -> None:
        if outcome["result"]["text"] != "The task crashed":
            super()._deliver(table, outcome)


class CrashWakesNobody(Lie):
    """A body that crashed has failed and is delivered, but nobody is woken."""

    row, calls = "E3", 3

    def _wake(self, table: TaskTable) -> None:
        if table.queue[-1]["result"]["text"] != "The task crashed":
            super()._wake(table)


class _Hears(Lie):
    """No lie yet: it learns of what comes after the end."""

    async def finish(self, task: str, outcome: str, text: str) -> None:
        row = self._turn().rows.get(task)
        if row is None or not row.body.done():
            await super().finish(task, outcome, text)
        else:
            self._late(self._handles[0], row, outcome, text)

    def _late(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        """A body returns that had ended before."""


class SecondOutcomeWins(_Hears):
    """A second outcome replaces the status that the first one brought."""

    row, calls = "X7", 4

    def _late(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        row.status = outcome


class SecondOutcomeIsDelivered(_Hears):
    """A second outcome changes no row, but is delivered like the first."""

    row, calls = "X7", 4

    def _late(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        self._deliver(table, self._outcome(row, outcome, text))


class SecondOutcomeKeepsRow(_Hears):
    """A second outcome changes nothing that can be seen at once, but makes the row as new as the last one."""

    row, calls = "X25", 132

    def _late(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        table.finished += 1
        row.finish = table.finished


class LateCrashFails(Lie):
    """A crash of a body that has returned makes its task fail."""

    row, calls = "X7", 4

    async def crash(self, task: str) -> None:
        row = self._turn().rows.get(task)
        if row is not None and row.status == "completed":
            row.status = "failed"
        else:
            await super().crash(task)


class UnknownEndIsDelivered(Lie):
    """The outcome of a task that never was is delivered."""

    row, calls = "X12", 2

    async def finish(self, task: str, outcome: str, text: str) -> None:
        table = self._turn()
        if task in table.rows:
            await super().finish(task, outcome, text)
        else:
            result = {"status": outcome, "text": text}
            self._deliver(table, {"task_id": task, "label": "", "result": result})


class OldRowsExpire(Lie):
    """An hour after its end a row is gone."""

    row, calls = "X17", 4

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        super()._end(table, row, status, outcome)
        row.body.get_loop().call_later(3600, table.rows.pop, row.task_id, None)


class EndedAreCounted(Lie):
    """The number of running tasks is that of all rows."""

    row, calls = "X13", 3

    async def running_count(self) -> int:
        return len(self._turn().rows)


class CancelledAreNotCounted(Lie):
    """A task that was asked to stop no longer counts as running."""

    row, calls = "X13", 3

    async def running_count(self) -> int:
        rows = self._turn().rows.values()
        return sum(row.status == "running" and not row.token.cancelled for row in rows)


class DrainedRowsLeave(Lie):
    """Draining an outcome takes its row out of the table."""

    row, calls = "N1", 4

    async def drain_completed(self) -> Replies:
        drained = await super().drain_completed()
        for outcome in drained:
            self._handles[0].rows.pop(outcome["task_id"], None)
        return drained
