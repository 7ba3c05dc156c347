"""Tables of background tasks that do what the description leaves to them in another way than the reference."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from typing import Any, ClassVar

from conformance.references.background_tasks import BackgroundTasks
from tests.right.background_tasks.blocking import BlockingTasks, Waiter
from tests.right.background_tasks.condition import ConditionTasks, Handle, Table, Task, number_of


class KeepsAll(BackgroundTasks):
    """No row ever leaves: "an implementation may declare its own number", and this one has none."""

    declares: ClassVar[dict[str, Any]] = {**BackgroundTasks.declares, "limits": {"retained": None}}

    def __init__(self) -> None:
        super().__init__(retained=10**9)


class SaysThatItKeepsAll(BackgroundTasks):
    """A wrong one: it declares the same, and keeps as many as the reference."""

    declares: ClassVar[dict[str, Any]] = KeepsAll.declares


class SpawnTakesTime(BackgroundTasks):
    """Legal: nothing says how long a call takes. A spawn comes back some milliseconds after the task has begun."""

    async def spawn(self, label: str) -> dict[str, Any]:
        """Begin a task, and write something down."""
        found = await super().spawn(label)
        await asyncio.sleep(0.005)
        return found


class EndsLate(ConditionTasks):
    """Legal: "a completion that comes after a row's own window". It takes longer than X9 waits, and says so."""

    declares: ClassVar[dict[str, Any]] = {**ConditionTasks.declares, "settles": 450}

    def finish(self, task: str, outcome: str, text: str) -> None:
        """Let the body return, which the table learns of later."""
        later = threading.Timer(0.35, super().finish, (task, outcome, text))
        later.daemon = True
        later.start()


class IdsOutsideTheLock(ConditionTasks):
    """Each spawn takes its number before it waits for the lock: spawns at once come in another order than their ids."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count(1_000)

    def spawn(self, label: str) -> dict[str, Any]:
        """Take a number, and only then the lock."""
        number = next(self._numbers)
        table = self._table()
        with table.changed:
            if table.closed:
                return super().spawn(label)
            table.tasks[number] = Task(label)
            return {"task_id": str(number)}

    def list(self) -> list[dict[str, Any]]:
        """Give the rows in the order of their ids."""
        return sorted(super().list(), key=lambda row: int(row["task_id"]))


class _Tokens(Table):
    """A table in which a task is canceled that was asked to stop when its body returned."""

    def returned(self, task: Task, outcome: str) -> str:
        """As what it counts: canceled, or as it returned."""
        return "canceled" if task.asked else outcome


class LooksThenAsks(ConditionTasks):
    """Legal: "it was running at some instant of the call and cancellation was requested".

    A cancel looks whether the task runs, and asks it later; a cancel of all asks one task after the other. A body looks at
    its token when it returns, and its task ends later. So what returns beside a cancel that says true may be completed,
    whether it was told to stop or not.
    """

    declares: ClassVar[dict[str, Any]] = {
        **ConditionTasks.declares,
        "policies": {
            **ConditionTasks.declares["policies"],
            "cancelled_body": "canceled",
            "canceled_outcome": "canceled",
        },
    }

    def __init__(self) -> None:
        super().__init__()
        self._handles = [Handle(_Tokens())]

    def cancel_task(self, task: str) -> bool | None:
        """Look, and then ask."""
        table = self._table()
        found = table.tasks.get(number_of(task))
        if found is None or found.result is not None:
            return None if found is None else False
        with table.changed:
            table.ask(number_of(task))
        return True

    def cancel_all(self) -> None:
        """Let nobody spawn any more, and then ask one after the other."""
        table = self._table()
        with table.changed:
            table.closed = True
            there = [*table.tasks]
        for number in there:
            with table.changed:
                table.ask(number)

    def finish(self, task: str, outcome: str, text: str) -> None:
        """Look at the token, and then end."""
        table = self._table()
        found = table.tasks.get(number_of(task))
        status = outcome if found is None else table.returned(found, outcome)
        with table.changed:
            table.end(number_of(task), (status, text))


class _Polled(Table):
    """Who waits looks every 100 ms; nobody is woken."""

    def await_news(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while len(self.endings) == self.seen and (left := end - time.monotonic()) > 0:
            self.changed.wait(min(0.1, left))
        news, self.seen = len(self.endings) > self.seen, len(self.endings)
        return news


class LooksNowAndThen(ConditionTasks):
    """The description does not say how soon a wait ends: this one looks every tenth of a second of real time."""

    def __init__(self) -> None:
        super().__init__()
        self._handles = [Handle(_Polled())]


class LooksByTheClock(BlockingTasks):
    """The same by a virtual clock."""

    def _block(self, waiter: Waiter) -> None:
        look = self._now
        while not (waiter.woken and self._now >= look) and self._now < waiter.until:
            look = max(look, self._now + 100 if self._now >= look else look)
            self._moved.wait()


class _Forgetful(Table):
    """Who waits looks before and when its time is over, and is never woken."""

    def await_news(self, seconds: float) -> bool:
        if len(self.endings) == self.seen:
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                self.changed.wait(left)
        news, self.seen = len(self.endings) > self.seen, len(self.endings)
        return news


class WakesNobody(ConditionTasks):
    """A wrong one: what completes is told to who waits only when the time of that is over, a real second later."""

    def __init__(self) -> None:
        super().__init__()
        self._handles = [Handle(_Forgetful())]


class WakesNobodyByTheClock(BlockingTasks):
    """A wrong one: the same by a virtual clock."""

    def _block(self, waiter: Waiter) -> None:
        while self._now < waiter.until:
            self._moved.wait()
