"""Virtual time for systems on an event loop: the clock jumps to the next timer when nothing else is ready."""

from __future__ import annotations

import asyncio
import inspect
import selectors
from collections.abc import Coroutine
from typing import Any

SETTLE = 50
"""Turns of the loop after which nothing is ready any more."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock starts at 0 and moves only when everybody waits."""

    def __init__(self) -> None:
        self.elapsed = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.elapsed


class _Jumping(selectors.DefaultSelector):
    """Selects nothing: where the loop would sleep, the clock jumps instead."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everybody waits, and nothing will ever happen")
        self._loop.elapsed += max(0.0, timeout)
        return []


async def _settled(calls: Coroutine[Any, Any, Any]) -> Any:
    given = await calls
    for _ in range(SETTLE):
        await asyncio.sleep(0)
    return given


class Driven:
    """A job system as a plain object: calls run on a virtual loop, or at once if it has a clock of its own."""

    def __init__(self, system: Any) -> None:
        self.system = system
        self._loop = VirtualLoop()

    def __getattr__(self, operation: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.run(self._called(operation, *args, **kwargs))

        return call

    def run(self, calls: Coroutine[Any, Any, Any]) -> Any:
        """Run something on the loop until nothing is ready any more, and give what it gave."""
        return self._loop.run_until_complete(_settled(calls))

    async def _called(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        if operation == "wait" and not hasattr(self.system, "wait"):
            return await asyncio.sleep(args[0] / 1000)
        found = getattr(self.system, operation)(*args, **kwargs)
        return await found if inspect.isawaitable(found) else found

    def close(self) -> None:
        """End the system, and the loop."""
        try:
            self.__getattr__("close")()
        finally:
            self._loop.close()
