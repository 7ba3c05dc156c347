"""An event loop whose clock only moves when nothing else is left to do: seconds of waiting take no time.

What runs on it sees a clock that starts at 0: `loop.time()`, `asyncio.sleep`, `call_later` and `wait_for` all go
by it. Files and sockets are looked at before the clock moves, but work on other threads is not waited for.
"""

from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Iterator
from contextlib import contextmanager


class VirtualClock(selectors.DefaultSelector):  # type: ignore[misc, valid-type, unused-ignore]  # chosen by the platform
    """A selector that, instead of sleeping, moves the clock as far as it may.

    now    seconds
    until  how far the clock may move: to the end of a `wait`, and on and on while a caller waits for an answer
    resting  whoever wants to know when nothing is ready, the clock not yet moved
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.until = 0.0
        self.resting: list[asyncio.Future[None]] = []

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; move the clock when nothing is, or sleep when it may not move."""
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.resting:
            for each in self.resting:
                if not each.done():
                    each.set_result(None)
            self.resting = []
            return []
        if timeout is None or self.now >= self.until:
            return super().select(None)
        self.now = min(self.now + timeout, self.until)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that goes by a virtual clock.

    callers  those who make calls, and `inside` those of them who wait for an answer: the clock stands still while
             one of them is about to make its next call
    """

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.callers = 1
        self.inside = 0
        super().__init__(self.clock)

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self.clock.now

    @property
    def milliseconds(self) -> int:
        """The virtual time in whole milliseconds."""
        return round(self.clock.now * 1000)

    async def rest(self) -> None:
        """Wait until nothing is ready."""
        resting = self.create_future()
        self.clock.resting.append(resting)
        await resting

    @contextmanager
    def waiting(self, seconds: float = math.inf) -> Iterator[None]:
        """Let the clock move, at most so far, while every caller waits for an answer; on the loop's own thread."""
        self.inside += 1
        self.look(seconds)
        try:
            yield
        finally:
            self.inside -= 1
            self.clock.until = self.clock.now

    def look(self, seconds: float = math.inf) -> None:
        """See whether every caller waits by now."""
        if 0 < self.callers <= self.inside:
            self.clock.until = self.clock.now + seconds
