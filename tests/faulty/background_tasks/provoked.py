"""Lies that show only where a function throws, or a body raises at once or obliges."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.references.background_tasks import BackgroundTasks, Crash, FunctionThrew, Reply, TaskRow, TaskTable
from conformance.refused import Refused
from tests.faulty.background_tasks.cancelling import Refusing
from tests.faulty.background_tasks.lie import Choosing, Lie


class ThrownFunctionLeavesRow(Lie):
    """A function that throws leaves the row that was made for it, which runs for ever."""

    row, calls = "E10", 2

    async def spawn_with(self, does: str, label: str, text: str) -> Reply:
        if does == "throws":
            await self.spawn(label)
        return await super().spawn_with(does, label, text)


class ThrownFunctionBreaksTable(Lie):
    """After a function that throws nothing can be spawned any more: a flag that somebody spawns is never taken back."""

    row, calls = "E10", 2
    _spawning = False

    async def spawn_with(self, does: str, label: str, text: str) -> Reply:
        self._spawning = self._spawning or does == "throws"
        return await super().spawn_with(does, label, text)

    def _spawn(self, table: TaskTable, label: str) -> TaskRow:
        if self._spawning:
            raise Refused("busy", "Another spawn is under way")
        return super()._spawn(table, label)


class RowOfThrownFunction(Choosing, spawn_throws="failed_row"):
    """A right system for which a function that throws is a row that failed, and that says so."""


class ThrownFunctionBringsNothing(RowOfThrownFunction, Lie):
    """The row of a function that throws has failed, but nothing of it is delivered."""

    row, calls = "E17", 2
    right = RowOfThrownFunction

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        super()._end(table, row, status, outcome)
        if isinstance(row.body.exception(), FunctionThrew):
            table.queue.pop()


class EarlyRaiseReachesCaller(Lie):
    """What a body raises before it waits for anything reaches whoever spawns it."""

    row, calls = "E11", 1

    async def spawn_with(self, does: str, label: str, text: str) -> Reply:
        reply = await super().spawn_with(does, label, text)
        if does == "raises":
            raise RuntimeError(text)
        return reply


class EarlyRaiseRunsForEver(Lie):
    """A body that raises before it waits for anything is not seen to end: who listens for its end comes too late."""

    row, calls = "E11", 2

    async def _supervise(self, table: TaskTable, row: TaskRow) -> None:
        if not row.body.done():
            await super()._supervise(table, row)


class EarlyRaiseWakesNobody(Lie):
    """A body that raises before it waits for anything is delivered, but nobody is woken."""

    row, calls = "E11", 2

    async def _supervise(self, table: TaskTable, row: TaskRow) -> None:
        raised = row.body.done() and isinstance(row.body.exception(), Crash)
        await super()._supervise(table, row)
        if raised:
            table.permit = False


class TokenIsCancelledLate(Lie):
    """A cancel marks a task, whose body learns of it only where it asks by itself."""

    row, calls = "E12", 3

    def _cancel(self, row: TaskRow) -> bool:
        asked = super()._cancel(row) if row.token.heard is None else row.status == "running"
        row.token.asked = row.token.asked or asked
        return asked


class ObligingBodyHasFailed(Lie):
    """A body that returns because it was cancelled has failed: its row is told of the cancel only afterwards."""

    row, calls = "E12", 3

    def _return(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        if row.token.heard is not None:
            self._end(table, row, outcome, self._outcome(row, outcome, text))
        else:
            super()._return(table, row, outcome, text)


class LastWordsAreLost(Lie):
    """What a body returns because it was cancelled is delivered without its text."""

    row, calls = "E12", 3

    def _return(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        super()._return(table, row, outcome, "" if row.token.heard is not None else text)


class ObligingBodyEndsTwice(Lie):
    """A task whose body returns because it was cancelled ends by the cancel, and once more by its body."""

    row, calls = "E12", 3

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        super()._end(table, row, status, outcome)
        if row.token.heard is not None and row.token.cancelled:
            self._deliver(table, outcome)


class CancelReachesBodiesOfLabel(Lie):
    """A cancel of one task is heard by each body of that label."""

    row, calls = "E13", 4

    def _cancel(self, row: TaskRow) -> bool:
        for other in [*self._handles[0].rows.values()]:
            if other.label == row.label and other.token.heard is not None:
                other.token.heard()
        return super()._cancel(row)


class LateBodyIsNotTold(Lie):
    """A task that is spawned after a cancel of all is canceled, which nobody tells its body."""

    row, calls = "E14", 3

    async def spawn_with(self, does: str, label: str, text: str) -> Reply:
        session = self._handles[0].session
        asked, session.asked = session.asked, False
        reply = await super().spawn_with(does, label, text)
        session.asked = asked
        return reply


class ObligingBodyIsAccepted(Refusing, Lie):
    """Where a task is refused after a cancel of all, one that would end by itself is not."""

    row, calls = "E15", 2
    right = Refusing

    async def spawn_with(self, does: str, label: str, text: str) -> Reply:
        policy, self._policies["spawn_after_cancel"] = self._policies["spawn_after_cancel"], "runs"
        reply = await super().spawn_with(does, label, text)
        self._policies["spawn_after_cancel"] = policy
        return reply


class InnerTokenIsChild(Lie):
    """A task that a body spawned is cancelled with that body's task: its token is a child of the other one's."""

    row, calls = "E19", 5

    async def spawn_from(self, spawner: str, label: str) -> Reply:
        reply = await super().spawn_from(spawner, label)
        rows = self._handles[0].rows
        rows[reply["task_id"]].token.parent = rows[spawner].token
        return reply


class InnerEndsWithOuter(Lie):
    """When a body ends, the tasks that it spawned end with it, for they ran within it."""

    row, calls = "E19", 4

    def __init__(self) -> None:
        super().__init__()
        self._within: dict[str, TaskRow] = {}

    async def spawn_from(self, spawner: str, label: str) -> Reply:
        reply = await super().spawn_from(spawner, label)
        self._within[spawner] = self._handles[0].rows[reply["task_id"]]
        return reply

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        super()._end(table, row, status, outcome)
        inner = self._within.get(row.task_id)
        if inner is not None and not inner.body.done():
            inner.body.set_result(("failed", "The task ended"))


class InnerEscapesCancelOfAll(Lie):
    """A task that a body spawns after a cancel of all runs as if nothing was: only the door is watched."""

    row, calls = "E21", 5

    async def spawn_from(self, spawner: str, label: str) -> Reply:
        reply = await super().spawn_from(spawner, label)
        self._handles[0].rows[reply["task_id"]].token.parent = None
        return reply


class InnerIsAccepted(Refusing, Lie):
    """Where a task is refused after a cancel of all, one that a body spawns is not."""

    row, calls = "E20", 3
    right = Refusing

    async def spawn_from(self, spawner: str, label: str) -> Reply:
        policy, self._policies["spawn_after_cancel"] = self._policies["spawn_after_cancel"], "runs"
        reply = await super().spawn_from(spawner, label)
        self._policies["spawn_after_cancel"] = policy
        return reply


class CancelledRaiseIsLost(Lie):
    """What a body raises after it was cancelled is taken for its answer to the cancel, and nothing ends."""

    row, calls = "E16", 3

    async def _supervise(self, table: TaskTable, row: TaskRow) -> None:
        if not (row.token.cancelled and row.body.done()):
            await super()._supervise(table, row)


class RaisedTaskCompletes(Lie):
    """A task whose body raised at once takes the outcome that somebody gives it later."""

    row, calls = "X49", 3

    async def finish(self, task: str, outcome: str, text: str) -> None:
        row = self._turn().rows.get(task)
        if row is None or row.status != "failed" or not isinstance(row.body.exception(), Crash):
            await super().finish(task, outcome, text)
        else:
            row.status = outcome


class AsReturned(Choosing, cancelled_body="as_returned"):
    """A right system where what returns after a cancel ends as it returned, and says so."""


class RaisedAfterCancelHasCompleted(AsReturned, Lie):
    """A task whose body raises after a cancel has completed."""

    row, calls = "X50", 3
    right = AsReturned

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        raised = row.token.cancelled and row.body.done() and row.body.exception() is not None
        super()._end(table, row, "completed" if raised else status, outcome)


class CanceledFromTheStartIsNotTold(Lie):
    """A task that is spawned after all were cancelled is canceled when its body returns, and nobody is told."""

    row, calls = "X51", 4

    def __init__(self) -> None:
        super().__init__()
        self._late: set[str] = set()

    def _spawn(self, table: TaskTable, label: str) -> TaskRow:
        row = super()._spawn(table, label)
        if table.session.cancelled:
            self._late.add(row.task_id)
        return row

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        super()._end(table, row, status, outcome)
        if row.task_id in self._late:
            table.queue.pop()


class NeverRuns(Choosing, born_canceled="never_runs"):
    """A right system in which what is spawned after a cancel of all never runs, and that says so."""

    def __init__(self) -> None:
        super().__init__()
        self._born: set[str] = set()

    def _spawn(self, table: TaskTable, label: str) -> TaskRow:
        row = super()._spawn(table, label)
        if table.session.cancelled:
            self._born.add(row.task_id)
        return row

    async def _supervise(self, table: TaskTable, row: TaskRow) -> None:
        if row.task_id not in self._born:
            await super()._supervise(table, row)
            return
        if row.body.done():
            row.body.exception()  # nobody asks for it
        else:
            row.body.cancel()
        self._return(table, row, "completed", "")


class NeverRunsIsToldTwice(NeverRuns, Lie):
    """What never runs is told twice."""

    row, calls = "X52", 3
    right = NeverRuns

    def _return(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        super()._return(table, row, outcome, text)
        if row.task_id in self._born:
            self._deliver(table, self._outcome(row, outcome, text))


class BornCanceledAndRaisedIsToldTwice(Lie):
    """A body that raises at once is told twice where all were cancelled before: as failed, and as canceled."""

    row, calls = "X53", 3

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        super()._end(table, row, status, outcome)
        if table.session.cancelled and status == "failed":
            self._deliver(table, self._outcome(row, "canceled", ""))


class ObligingBodyWakesNobody(Lie):
    """A task whose body returns because all were cancelled ends without waking who waits."""

    row, calls = "X41", 3

    def _wake(self, table: TaskTable) -> None:
        if not (table.session.cancelled and table.waiters):
            super()._wake(table)


class CrashLeavesRow(BackgroundTasks):
    """A right system whose tasks stay running when their bodies crash, and that says so."""

    declares: ClassVar[dict[str, Any]] = {
        **BackgroundTasks.declares,
        "policies": {**BackgroundTasks.declares["policies"], "crash": "stays_running"},
    }

    def __init__(self) -> None:
        super().__init__(crash="stays_running")


class CrashedBodyObliges(CrashLeavesRow, Lie):
    """A task whose body crashed, and that stays running, ends with its last words when it is cancelled."""

    row, calls = "E18", 4
    right = CrashLeavesRow

    def _oblige(self, row: TaskRow, text: str) -> None:
        super()._oblige(row, text)
        if row.status == "running" and row.body.exception():
            self._return(self._handles[0], row, "failed", text)
