"""Lies that only calls at the same time can show: each awaits where it must not."""

from __future__ import annotations

import asyncio

from conformance.references.background_tasks import CancelToken, Replies, Reply, TaskRow, TaskTable
from tests.faulty.background_tasks.lie import Lie


async def _pause() -> None:
    """Let others have their turn."""
    await asyncio.sleep(0)


class WakeUpIsLost(Lie):
    """A waiter looks whether something completed, then clears the permit, and then begins to wait."""

    row, calls = "N5", 3

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        await _pause()
        await _pause()
        table.permit = False
        return await super()._wait(table, ms)


class TwoWaitersAreNone(Lie):
    """A completion wakes the one who waits; when there are two, each of them is left to the other."""

    row, calls = "X9", 4

    def _wake(self, table: TaskTable) -> None:
        if len(table.waiters) < 2:
            super()._wake(table)


class SecondWaiterIsNotWoken(Lie):
    """Who comes while another waits looks for a permit only when its time is over."""

    row, calls = "X47", 6

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        if not table.waiters:
            return await super()._wait(table, ms)
        await asyncio.sleep(ms / 1000)
        return self._take_permit(table)


class DrainedTwice(Lie):
    """A drain reads the queue, and clears it when others may have read it too."""

    row, calls = "B5", 4

    async def drain_completed(self) -> Replies:
        table = self._turn()
        drained = [*table.queue]
        await _pause()
        for outcome in drained:
            if outcome in table.queue:
                table.queue.remove(outcome)
        return drained


class DrainedAway(Lie):
    """A drain reads the queue, and then clears it of what came in between as well."""

    row, calls = "B5", 4

    async def drain_completed(self) -> Replies:
        table = self._turn()
        drained = [*table.queue]
        await _pause()
        table.queue.clear()
        return drained


class OutcomeIsOverwritten(Lie):
    """Two endings at once read the queue, and each writes it back with its own outcome alone."""

    row, calls = "X23", 5

    async def _supervise(self, table: TaskTable, row: TaskRow) -> None:
        await asyncio.wait([row.body])
        before = [*table.queue]
        await _pause()
        await super()._supervise(table, row)
        mine = table.queue.pop()
        table.queue.clear()
        table.queue.extend([*before, mine])


class CancelWritesRunning(Lie):
    """A cancel looks whether the task runs, and later writes that it does."""

    row, calls = "B6", 4

    async def cancel_task(self, task: str) -> bool | None:
        row = self._turn().rows.get(task)
        if row is None:
            return None
        before = row.status
        await _pause()
        await _pause()
        asked = self._cancel(row)
        row.status = before
        return asked or before == "running"


class SecondCancelTrustsFirst(Lie):
    """A cancel that finds another under way says true at once, though the task is not asked to stop yet."""

    row, calls = "X42", 5

    def __init__(self) -> None:
        super().__init__()
        self._cancelling: dict[str, int] = {}

    async def cancel_task(self, task: str) -> bool | None:
        self._cancelling[task] = self._cancelling.get(task, 0) + 1
        if self._cancelling[task] > 1:
            return True
        await _pause()
        for _ in range(2000 if self._cancelling[task] > 1 else 0):  # whoever was told so has time for a call
            await _pause()
        del self._cancelling[task]
        return await super().cancel_task(task)


class CancelsShareTarget(Lie):
    """Which task is to be asked stands in one place for all: of two cancels at once both ask the second one's."""

    row, calls = "X43", 4

    async def cancel_task(self, task: str) -> bool | None:
        row = self._turn().rows.get(task)
        if row is None or row.status != "running":
            return None if row is None else False
        self._target = row
        await _pause()
        return self._cancel(self._target)


class CancelAsksByPlace(Lie):
    """A cancel looks at which place its task is among those that run, and asks who stands there a little later."""

    row, calls = "X43", 4

    async def cancel_task(self, task: str) -> bool | None:
        table = self._turn()
        row = table.rows.get(task)
        if row is None or row.status != "running":
            return None if row is None else False
        place = self._running(table).index(row)
        for _ in range(3):  # as long as a body takes to end
            await _pause()
        for there in self._running(table)[place : place + 1]:
            self._cancel(there)
        return True

    def _running(self, table: TaskTable) -> list[TaskRow]:
        return [row for row in table.rows.values() if row.status == "running"]


class CancelOfAllStopsAtEnd(Lie):
    """A cancel of all asks one task after the other, and is through when it comes to one that has ended meanwhile."""

    row, calls = "X44", 4

    async def cancel_all(self) -> None:
        table = self._turn()
        for row in [each for each in table.rows.values() if each.status == "running"]:
            for _ in range(3):  # as long as a body takes to end
                await _pause()
            if row.status != "running":
                return
            self._ask(row)
        table.session.asked = True


class CancelRewritesEnd(Lie):
    """A cancel that saw the task run makes it canceled in the end, whether it still runs or not."""

    row, calls = "X45", 5

    async def cancel_task(self, task: str) -> bool | None:
        row = self._turn().rows.get(task)
        if row is None or row.status != "running":
            return None if row is None else False
        for _ in range(50):  # whoever let it end has time to look
            await _pause()
        if row.status != "running":
            row.status = "canceled"
            return True
        return self._cancel(row)


class EndBesideCancelIsLost(Lie):
    """An ending that finds a cancel under way leaves the delivery to it, which delivers nothing."""

    row, calls = "B6", 4

    def __init__(self) -> None:
        super().__init__()
        self._cancelling: set[str] = set()

    async def cancel_task(self, task: str) -> bool | None:
        self._cancelling.add(task)
        await _pause()
        await _pause()
        self._cancelling.discard(task)
        return await super().cancel_task(task)

    def _deliver(self, table: TaskTable, outcome: Reply) -> None:
        if outcome["task_id"] not in self._cancelling:
            super()._deliver(table, outcome)


class IdIsMintedTwice(Lie):
    """Two spawns at once take one number."""

    row, calls = "X22", 2

    async def spawn(self, label: str) -> Reply:
        table = self._handles[0]
        number = table.spawned
        await _pause()
        table.spawned = number
        return await super().spawn(label)


class RowIsLost(Lie):
    """Two spawns at once copy the rows, and the one that writes them back first is lost."""

    row, calls = "X22", 3

    async def spawn(self, label: str) -> Reply:
        table = self._handles[0]
        before = dict(table.rows)
        await _pause()
        spawned = await super().spawn(label)
        table.rows = {**before, spawned["task_id"]: table.rows[spawned["task_id"]]}
        return spawned


class EndsTwice(Lie):
    """An ending looks whether the task runs, and later ends it without looking again."""

    row, calls = "X23", 4

    async def finish(self, task: str, outcome: str, text: str) -> None:
        table = self._turn()
        row = self._find_running(table, task)
        await _pause()
        self._return(table, row, outcome, text)
        if not row.body.done():
            row.body.cancel()


class EvictsTooFew(Lie):
    """Endings at once count the rows before any of them has left, and one row leaves for all."""

    row, calls = "X24", 133

    def __init__(self) -> None:
        super().__init__()
        self._evicting = False

    def _evict(self, table: TaskTable) -> None:
        if not self._evicting:
            self._evicting = True
            asyncio.get_running_loop().call_soon(self._later, table)

    def _later(self, table: TaskTable) -> None:
        self._evicting = False
        ended = sorted((row for row in table.rows.values() if row.finish), key=self._age)
        for row in ended[: min(1, max(0, len(ended) - self._retained))]:
            del table.rows[row.task_id]


class PeekAndSpawnDeadlock(Lie):
    """A peek and a spawn take two locks in opposite order."""

    row, calls = "X21", 3

    def __init__(self) -> None:
        super().__init__()
        self._rows_lock, self._history_lock = asyncio.Lock(), asyncio.Lock()

    async def spawn(self, label: str) -> Reply:
        async with self._rows_lock:
            await _pause()
            async with self._history_lock:
                return await super().spawn(label)

    async def peek(self, task: str, recent: int | None = None) -> Reply | None:
        async with self._history_lock:
            await _pause()
            async with self._rows_lock:
                return await super().peek(task, recent)


class SpawnEscapesCancelOfAll(Lie):
    """A spawn looks whether all were cancelled, and makes its row later; a cancel in between does not reach it."""

    row, calls = "X28", 4

    async def spawn(self, label: str) -> Reply:
        token = CancelToken()
        if self._handles[0].session.cancelled:
            token.cancel()
        await _pause()
        reply = await super().spawn(label)
        self._handles[0].rows[reply["task_id"]].token = token
        return reply

    def _cancel_session(self, table: TaskTable) -> None:
        for row in table.rows.values():
            row.token.cancel()
        super()._cancel_session(table)


class DrainOfManyYields(Lie):
    """A drain of many lets others run, and then clears the queue with what came meanwhile."""

    row, calls = "X35", 12

    async def drain_completed(self) -> list[Reply]:
        table = self._turn()
        taken = list(table.queue)
        if len(taken) > 3:
            await asyncio.sleep(0)
        table.queue.clear()
        return taken
