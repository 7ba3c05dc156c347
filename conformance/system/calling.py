"""What is done on the thread or the event loop of a system in this process: its methods are called, and its signals taken."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any

from conformance.system.virtual import VirtualLoop

_TURNS = 10  # turns of the event loop that an async system gets before it is looked at


class Gate:
    """Holds an event loop until every caller has made its first call, so that the calls overlap."""

    def __init__(self, callers: int, limit: float) -> None:
        self._waiting = callers
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._limit = limit

    def submitted(self) -> None:
        """Count a call that was made."""
        with self._lock:
            self._waiting -= 1
            if self._waiting <= 0:
                self._open.set()

    def hold(self) -> None:
        """Wait on the loop's own thread."""
        self._open.wait(self._limit)


async def called(function: Callable[[], Any]) -> Any:
    """Return what a function gives, be it at once or later."""
    found = function()
    return await found if inspect.isawaitable(found) else found


async def rested(function: Callable[[], Any]) -> Any:
    """Return what a function gives when all that was started before has come to rest."""
    await turns()
    return await called(function)


async def turns() -> None:
    """Let what was started come to rest: all of it where the clock is virtual, or else for some turns."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualLoop):
        await loop.rest()
        return
    for _ in range(_TURNS):
        await asyncio.sleep(0)
