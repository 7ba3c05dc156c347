"""Lies about who is asked to stop, and what comes of it."""

from __future__ import annotations

from conformance.references.background_tasks import Reply, TaskRow, TaskTable
from conformance.refused import Refused
from tests.faulty.background_tasks.lie import Choosing, Lie


class CancelEndsAtOnce(Lie):
    """A cancel shows the task as canceled before its body has returned."""

    row, calls = "N4", 3

    def _cancel(self, row: TaskRow) -> bool:
        asked = super()._cancel(row)
        if asked:
            row.status = "canceled"
        return asked


class CancelledBodyIsLost(Lie):
    """What a body returns after it was asked to stop is not delivered."""

    row, calls = "N4", 4

    def _end(self, table: TaskTable, row: TaskRow, status: str, outcome: Reply) -> None:
        super()._end(table, row, status, outcome)
        if status == "canceled":
            table.queue.pop()


class CancelledBodyWakesNobody(Lie):
    """A body that returns after it was asked to stop is delivered, but nobody is woken."""

    row, calls = "N4", 4

    def _wake(self, table: TaskTable) -> None:
        if not any(row.finish == table.finished and row.status == "canceled" for row in table.rows.values()):
            super()._wake(table)


class CancelIsForgotten(Lie):
    """A cancel says true, and that is all it does: the task ends as completed."""

    row, calls = "E2", 4

    def _cancel(self, row: TaskRow) -> bool:
        return row.status == "running"


class CanceledIsDeliveredAsFailed(Lie):
    """What a canceled task brings is said to have failed, though it is declared to be said as it returned."""

    row, calls = "E2", 4

    def __init__(self) -> None:
        super().__init__(canceled_outcome="failed")


class CanceledTextIsLost(Lie):
    """What a canceled task brings has no text."""

    row, calls = "E2", 4

    def _return(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        super()._return(table, row, outcome, "" if row.token.cancelled else text)


class StubbornNeverEnds(Lie):
    """A body that completes although it was asked to stop is not believed."""

    row, calls = "E2", 4

    def _return(self, table: TaskTable, row: TaskRow, outcome: str, text: str) -> None:
        if not (row.token.cancelled and outcome == "completed"):
            super()._return(table, row, outcome, text)


class UnknownIsTooLate(Lie):
    """Cancelling a task that never was is too late."""

    row, calls = "E1", 1

    async def cancel_task(self, task: str) -> bool | None:
        return bool(await super().cancel_task(task))


class EndedIsUnknown(Lie):
    """Cancelling a task that has ended gives null, though its row is there."""

    row, calls = "E1", 3

    async def cancel_task(self, task: str) -> bool | None:
        return await super().cancel_task(task) or None


class EndedIsCancelled(Lie):
    """Cancelling a task that has ended says true."""

    row, calls = "E1", 3

    def _cancel(self, row: TaskRow) -> bool:
        row.token.cancel()
        return True


class SecondCancelIsLate(Lie):
    """Cancelling a task that was asked before says false."""

    row, calls = "E1", 3

    def _cancel(self, row: TaskRow) -> bool:
        return not row.token.cancelled and super()._cancel(row)


class CancelStopsItsLabel(Lie):
    """A cancel stops every task with the label of the one that is meant."""

    row, calls = "X3", 5

    def _cancel(self, row: TaskRow) -> bool:
        for other in self._handles[0].rows.values():
            if other.label == row.label:
                other.token.cancel()
        return super()._cancel(row)


class CancelStopsByPrefix(Lie):
    """A cancel stops every task whose id begins with the one that is meant."""

    row, calls = "X3", 13

    def _cancel(self, row: TaskRow) -> bool:
        for other in self._handles[0].rows.values():
            if other.task_id.startswith(row.task_id):
                other.token.cancel()
        return super()._cancel(row)


class CancelStopsSession(Lie):
    """A cancel of one task cancels the token of the session: whatever comes later is canceled."""

    row, calls = "X3", 5

    def _cancel(self, row: TaskRow) -> bool:
        if super()._cancel(row):
            self._handles[0].session.cancel()
            return True
        return False


class CancelAllStopsFirst(Lie):
    """A cancel of all stops the first one that runs."""

    row, calls = "X4", 5

    def _cancel_session(self, table: TaskTable) -> None:
        for row in table.rows.values():
            if self._cancel(row):
                return


class CancelAllStopsTen(Lie):
    """A cancel of all reaches the first ten rows, for it goes through a page of the list."""

    row, calls = "X31", 14

    def _cancel_session(self, table: TaskTable) -> None:
        super()._cancel_session(table)
        for row in [*table.rows.values()][10:]:
            row.token = type(row.token)()


class CancelAllTwiceIsNone(Lie):
    """A second cancel of all takes the first one back."""

    row, calls = "X4", 5

    def _cancel_session(self, table: TaskTable) -> None:
        was_cancelled = table.session.cancelled
        super()._cancel_session(table)
        if was_cancelled:
            for row in table.rows.values():
                row.token = type(row.token)()


class CancelAllEnds(Lie):
    """A cancel of all shows every task as canceled before its body has returned."""

    row, calls = "X4", 3

    def _cancel_session(self, table: TaskTable) -> None:
        super()._cancel_session(table)
        for row in table.rows.values():
            row.status = "canceled" if row.status == "running" else row.status


class SessionIsNotHeard(Lie):
    """Only a cancel of all stops the tasks; that the session is cancelled does not."""

    row, calls = "X19", 4

    async def session_cancelled(self) -> None:
        self._turn()


class SpawnAfterCancelIsRefused(Lie):
    """After a cancel of all nothing can be spawned, though it is declared to be accepted."""

    row, calls = "E5", 2

    async def spawn(self, label: str) -> Reply:
        if self._handles[0].session.cancelled:
            raise Refused("session_cancelled")
        return await super().spawn(label)


class SpawnAfterCancelRuns(Lie):
    """A task that is spawned after a cancel of all runs as if nothing was, though declared to be canceled."""

    row, calls = "X14", 4

    def __init__(self) -> None:
        super().__init__(spawn_after_cancel="runs")


class Refusing(Choosing, spawn_after_cancel="refused"):
    """A right system that refuses tasks after a cancel of all, and says so."""


class RefusedTaskLeavesRow(Refusing, Lie):
    """Where a task is refused after a cancel of all, its row is there all the same."""

    row, calls = "E9", 3
    right = Refusing

    async def spawn(self, label: str) -> Reply:
        policy, self._policies["spawn_after_cancel"] = self._policies["spawn_after_cancel"], "runs"
        reply = await super().spawn(label)
        self._policies["spawn_after_cancel"] = policy
        if self._handles[0].session.cancelled:
            raise Refused("session_cancelled")
        return reply


class CancelIsDelivered(Lie):
    """A task that is asked to end is delivered at once, and again when its body has ended."""

    row, calls = "X38", 3

    def _cancel(self, row: TaskRow) -> bool:
        asked = super()._cancel(row)
        if asked:
            self._deliver(self._handles[0], self._outcome(row, "canceled", ""))
        return asked


class CancelOfEndedWakes(Lie):
    """Whoever cancels a task that has ended wakes who waits."""

    row, calls = "X39", 6

    def _cancel(self, row: TaskRow) -> bool:
        asked = super()._cancel(row)
        if not asked:
            self._wake(self._handles[0])
        return asked


class CancelIsSeenAgain(Lie):
    """Each cancel wakes the body once more, also one that was told before."""

    row, calls = "E22", 3

    def _ask(self, row: TaskRow) -> None:
        self._see_cancel(row)
        row.token.cancel()


class CancelOfAllIsNotSeen(Lie):
    """A cancel of all is noted in the session, and the bodies that run are not told."""

    row, calls = "E22", 2

    def _cancel_session(self, table: TaskTable) -> None:
        came = [*self._came]
        super()._cancel_session(table)
        self._came = came


class EndedSeeSessionCancelled(Lie):
    """When the session is cancelled the bodies of all rows are told, those that have returned as well."""

    row, calls = "E24", 3

    async def session_cancelled(self) -> None:
        for row in self._handles[0].rows.values():
            if row.body.done():
                self._came.append({"signal": "CancelSeen", "task_id": row.task_id})
        await super().session_cancelled()


class LateCancelIsNotSeen(Lie):
    """Who is spawned after a cancel of all is canceled in the end, and is not told meanwhile."""

    row, calls = "E23", 2

    def _begun(self, row: TaskRow) -> Reply:
        return {"task_id": row.task_id}


class HistoryKeepsBody(Lie):
    """A body whose task keeps a history is not told of a cancel."""

    row, calls = "E26", 4

    def _cancel(self, row: TaskRow) -> bool:
        return row.status == "running" if row.history is not None else super()._cancel(row)


class OneIsAskedAtATime(Lie):
    """There is one place for a cancel that is not obeyed yet: while it is taken, the next one says true and is forgotten."""

    row, calls = "E25", 6

    def _cancel(self, row: TaskRow) -> bool:
        others = (each for each in self._handles[0].rows.values() if each is not row)
        taken = any(each.token.asked and each.status == "running" for each in others)
        return row.status == "running" if taken else super()._cancel(row)
