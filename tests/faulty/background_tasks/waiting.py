"""Lies about who is woken."""

from __future__ import annotations

import asyncio

from conformance.references.background_tasks import Replies, Reply, TaskTable
from tests.faulty.background_tasks.lie import Lie


class WaitersAreNotWoken(Lie):
    """A completion leaves a permit, but wakes nobody who waits already."""

    row, calls = "N5", 3

    def _wake(self, table: TaskTable) -> None:
        table.permit = True


class WaitersFindThePermitAtTheEnd(Lie):
    """A completion leaves a permit, and who waits already looks for one only when its time is over."""

    row, calls = "N5", 3

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        await asyncio.sleep(ms / 1000)
        return self._take_permit(table)

    def _wake(self, table: TaskTable) -> None:
        table.permit = True


class StoredPermitIsTakenAtTheEnd(Lie):
    """Who waits though a completion is stored takes it only when its time is over."""

    row, calls = "B4", 3

    def _take_permit(self, table: TaskTable) -> bool:
        return False

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        if not table.permit:
            return await super()._wait(table, ms)
        await asyncio.sleep(ms / 1000)
        return super()._take_permit(table)


class PermitIsNotStored(Lie):
    """A completion wakes those who wait, and is forgotten when nobody does."""

    row, calls = "B4", 3

    def _wake(self, table: TaskTable) -> None:
        if table.waiters:
            super()._wake(table)


class SecondCompletionTakesPermit(Lie):
    """Two completions that nobody waited for leave no permit."""

    row, calls = "B4", 5

    def _wake(self, table: TaskTable) -> None:
        if table.permit:
            table.permit = False
        else:
            super()._wake(table)


class DrainTakesPermit(Lie):
    """A drain takes the permit with the outcomes."""

    row, calls = "E7", 4

    def _drain(self, table: TaskTable) -> Replies:
        table.permit = False
        return super()._drain(table)


class FirstWaitReturns(Lie):
    """The first wait returns though nothing has completed."""

    row, calls = "X8", 1

    def __init__(self) -> None:
        super().__init__()
        self._handles[0].permit = True


class PermitIsKept(Lie):
    """Once something has completed no wait ever waits."""

    row, calls = "X8", 6

    def _take_permit(self, table: TaskTable) -> bool:
        return table.permit


class TimeIsNotSaid(Lie):
    """A wait whose time is over says true."""

    row, calls = "X8", 1

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        await super()._wait(table, ms)
        return True


class GivenUpWaiterIsWoken(Lie):
    """A waiter whose time is over stays in line, and the next wake-up goes to it."""

    row, calls = "X10", 4

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        waiter = asyncio.get_running_loop().create_future()
        table.waiters.append(waiter)
        await asyncio.wait([waiter], timeout=ms / 1000)
        return waiter.done()


class WaitIsHalved(Lie):
    """A wait is given up when half of its time is over."""

    row, calls = "B9", 3

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        return await super()._wait(table, ms // 2)


class WaitIsTooLong(Lie):
    """A wait is given up a millisecond after its time is over."""

    row, calls = "X8", 1

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        return await super()._wait(table, ms + 1)


class SpawnEndsWaits(Lie):
    """Whoever waits is woken whenever the table changes, and gives up where nothing has completed: also when a task begins."""

    row, calls = "B10", 3

    async def spawn(self, label: str) -> Reply:
        waiters = self._handles[0].waiters
        while waiters:
            waiters.popleft().cancel()
        return await super().spawn(label)

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        waiter = asyncio.get_running_loop().create_future()
        table.waiters.append(waiter)
        await asyncio.wait([waiter], timeout=ms / 1000)
        if waiter.done():
            return not waiter.cancelled()
        table.waiters.remove(waiter)
        return False


class DrainEndsNoWait(Lie):
    """Who is woken looks a millisecond later whether there is an outcome, and waits on where another has drained it."""

    row, calls = "X46", 4

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + ms / 1000
        while await super()._wait(table, round(1000 * (end - loop.time()))):
            await asyncio.sleep(0.001)
            if table.queue:
                return True
        return False


class QueueKeepsFromWaking(Lie):
    """Who begins to wait while there is something to drain looks for a permit only when its time is over."""

    row, calls = "X48", 6

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        if not table.queue:
            return await super()._wait(table, ms)
        await asyncio.sleep(ms / 1000)
        return self._take_permit(table)
