"""Delivery of completions to the session, and the clock: the lowest layer of the reference for `job`.

A completion is what the session is owed about one job. It outlives the job's record, and it knows no ids but its own:
whoever holds it cannot touch the completion of a later job of the same id. One task makes the attempts, one at a time,
as long as there is something to deliver.

The clock is that of the running event loop, in whole milliseconds. Every instant is computed as an integer first, so
that two deadlines at one instant are equal.
"""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

Reply = dict[str, Any]
"""What is given to the outside: a job as shown, the answer to a call, a signal."""


def now() -> int:
    """Return the instant in milliseconds."""
    return round(asyncio.get_running_loop().time() * 1000)


def call_at(instant: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
    """Return a timer that calls back at an instant."""
    return asyncio.get_running_loop().call_at(instant / 1000, callback)


async def until(instant: int, awaited: Awaitable[Any]) -> None:
    """Wait for something, but no longer than until an instant."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(instant / 1000):
            await awaited


class SinkFailed(Exception):
    """The session did not take a completion."""


@dataclass(slots=True, eq=False)
class Completion:
    """What is owed about one job: nothing, until it settles."""

    job_id: str
    text: str = ""
    place: str = "unsettled"
    """unsettled | held (by a watch) | queued | in_flight | dropped | delivered."""
    settlement: int = 0
    """Its place among all settlements."""
    watchers: int = 0
    acknowledged: bool = False
    failures: int = 0
    due: int = 0
    """Not attempted before this instant."""

    @property
    def suppressed(self) -> bool:
        """Whether it must not be delivered now."""
        return self.acknowledged or self.watchers > 0


@dataclass(slots=True, eq=False)
class Sink:
    """The session's side of a delivery; its mode is a control of the kit."""

    mode: str = "accept"
    blocked: list[asyncio.Future[None]] = field(default_factory=list)

    async def take(self) -> None:
        """Take a completion; one that is blocked, when it is released. Raises SinkFailed, also where that is refused."""
        if self.mode in ("refuse", "raise"):
            raise SinkFailed
        if self.mode == "block":
            self.blocked.append(asyncio.get_running_loop().create_future())
            await self.blocked[-1]

    def release(self) -> None:
        """Accept what is blocked."""
        for waiting in self.blocked:
            if not waiting.done():
                waiting.set_result(None)
        self.blocked.clear()

    def refuse(self) -> None:
        """Fail what is blocked."""
        for waiting in self.blocked:
            if not waiting.done():
                waiting.set_exception(SinkFailed)
        self.blocked.clear()


class Deliveries:
    """A queue of completions in settlement order, and the task that empties it; `seed` chooses the jitter of retries."""

    def __init__(self, policies: dict[str, str], seed: int) -> None:
        self._policies = policies
        self._random = Random(seed)
        self._sink = Sink()
        self._signals: list[Reply] = []
        self._settlements = 0
        self._queue: list[Completion] = []
        self._changed = asyncio.Event()
        self._delivering: asyncio.Task[None] | None = None
        self._disposed = False

    # Rules of what is owed.

    def _owe(self, completion: Completion, text: str) -> None:
        """Note that a job has completed or failed."""
        self._settlements += 1
        completion.text, completion.settlement = text, self._settlements
        self._offer(completion)

    def _offer(self, completion: Completion) -> None:
        """Put it into the queue, in settlement order, unless it is suppressed."""
        if completion.suppressed:
            self._withhold(completion)
        elif not self._disposed:
            completion.place = "queued"
            insort(self._queue, completion, key=lambda each: each.settlement)
            self._deliver()

    def _withhold(self, completion: Completion) -> None:
        """Hold back a watched one, which may come back when the watch ends; an acknowledged one never does."""
        kept = not completion.acknowledged and self._policies["unwatch_restores"] == "delivered"
        completion.place = "held" if kept else "dropped"

    def _remove(self, completion: Completion) -> None:
        """Take this one out of the queue, and no other; an attempt in flight is not recalled."""
        if completion.place == "queued":
            self._queue.remove(completion)
            self._withhold(completion)
            self._changed.set()

    # Rules of suppression.

    def _watch(self, completion: Completion) -> None:
        completion.watchers += 1
        self._remove(completion)

    def _unwatch(self, completion: Completion) -> None:
        """Watches nest: only the last to end lets a completion go."""
        completion.watchers = max(0, completion.watchers - 1)
        if completion.place == "held":
            self._offer(completion)

    def _acknowledge(self, completion: Completion) -> None:
        if completion.place == "unsettled" and self._policies["ack_running"] == "ignored":
            return
        completion.acknowledged = True
        self._remove(completion)

    # Rules of attempts.

    def _deliver(self) -> None:
        """Have the queue emptied, by one task."""
        self._changed.set()
        if self._delivering is None or self._delivering.done():
            self._delivering = asyncio.create_task(self._empty_queue())

    async def _empty_queue(self) -> None:
        while self._queue:
            completion = self._next()
            if completion.due <= now():
                await self._attempt(completion)
            else:
                self._changed.clear()
                await until(completion.due, self._changed.wait())

    def _next(self) -> Completion:
        """Return the one to be attempted next: the first, or the first that need not wait."""
        if self._policies["retry_order"] == "head_of_line":
            return self._queue[0]
        return min(self._queue, key=lambda each: (max(each.due, now()), each.settlement))

    async def _attempt(self, completion: Completion) -> None:
        self._queue.remove(completion)
        completion.place = "in_flight"
        self._signal("delivery_attempted", job=completion.job_id, at=now())
        try:
            await self._sink.take()
        except SinkFailed:
            self._failed(completion)
        else:
            self._delivered(completion)

    def _failed(self, completion: Completion) -> None:
        completion.failures += 1
        completion.due = now() + self._backoff(completion.failures) + self._jitter()
        self._offer(completion)

    def _delivered(self, completion: Completion) -> None:
        completion.place = "delivered"
        self._signal("delivered", job=completion.job_id, text=completion.text)

    def _backoff(self, failures: int) -> int:
        """Return the shortest delay after so many failures of one completion."""
        return min(30_000, 500 << min(failures - 1, 8))

    def _jitter(self) -> int:
        return self._random.randrange(200)

    def _stop_delivering(self) -> None:
        """No further attempt; one in flight is given up."""
        for completion in self._queue:
            completion.place = "dropped"
        self._queue.clear()
        if self._delivering is not None:
            self._delivering.cancel()

    # Controls of the kit.

    async def sink(self, mode: str) -> None:
        """Say what becomes of attempts: accept, refuse, raise or block."""
        self._sink.mode = mode

    async def release_sink(self) -> None:
        """Accept what is blocked."""
        self._sink.release()

    async def refuse_sink(self) -> None:
        """Fail what is blocked."""
        self._sink.refuse()

    def signals(self) -> list[Reply]:
        """Return what was done beside replying since the last call."""
        taken, self._signals = self._signals, []
        return taken

    def _signal(self, name: str, **about: Any) -> None:
        self._signals.append({"signal": name, **about})
