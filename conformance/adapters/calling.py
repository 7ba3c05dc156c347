"""What is done on the thread or the event loop of a system in this process: its methods are called, and its signals taken."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.virtual import VirtualLoop

# What signals() may raise when it is taken along: it is asked once more, and told then.
_ASKED_AGAIN = (Exception, SystemExit, KeyboardInterrupt)
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


@dataclass(slots=True)
class Returned:
    """Whether a call came back, be it that its signals did not."""

    done: bool = False


async def called(function: Callable[[], Any]) -> Any:
    """Give what a function gives, be it at once or later."""
    found = function()
    return await found if inspect.isawaitable(found) else found


async def followed(
    function: Callable[[], Any], signals: Callable[[], Any], returned: Returned
) -> tuple[Any, BaseException | None, Any]:
    """Call a function, let what it started come to rest, and take the signals; None where they cannot be taken."""
    value, error, taken = None, None, None
    try:
        value = await called(function)
    except asyncio.CancelledError:
        raise
    except BaseException as raised:  # noqa: BLE001 - it is raised again where the call was made
        error = raised
    await turns()
    returned.done = True
    with contextlib.suppress(*_ASKED_AGAIN):
        taken = await called(signals)
    return value, error, taken


def followed_at_once(
    function: Callable[[], Any], signals: Callable[[], Any], returned: Returned
) -> tuple[Any, BaseException | None, Any]:
    """Call a function of a system that has no event loop, and take the signals; None where they cannot be taken."""
    value, error, taken = None, None, None
    try:
        value = function()
    except BaseException as raised:  # noqa: BLE001 - it is raised again where the call was made
        error = raised
    returned.done = True
    with contextlib.suppress(*_ASKED_AGAIN):
        taken = signals()
    return value, error, taken


async def turns() -> None:
    """Let what was started come to rest: all of it where the clock is virtual, or else for some turns."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualLoop):
        await loop.rest()
        return
    for _ in range(_TURNS):
        await asyncio.sleep(0)
