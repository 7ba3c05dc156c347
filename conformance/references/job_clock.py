"""The running event loop's clock in whole milliseconds, for the reference for `job`.

Every instant is computed as an integer first, so that two deadlines at one instant are equal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any


def now() -> int:
    """Return the instant in milliseconds."""
    return round(asyncio.get_running_loop().time() * 1000)


def call_at(instant: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
    """Return a timer that calls back at an instant."""
    return asyncio.get_running_loop().call_at(instant / 1000, callback)


async def any_done_by(instant: int, futures: Collection[asyncio.Future[Any]]) -> bool:
    """Wait for the first of them, until an instant; whether one is done."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(instant / 1000):
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    return any(future.done() for future in futures)


async def set_by(instant: int, event: asyncio.Event) -> None:
    """Wait for an event, until an instant."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(instant / 1000):
            await event.wait()
