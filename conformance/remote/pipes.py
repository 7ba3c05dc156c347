"""Pipes to a process that may never read, never write and never end: nobody waits at one longer than he wants to."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Iterator
from typing import IO, Final

CHUNK: Final = 1 << 16  # bytes
_STILL_WANTED: Final = 0.1  # seconds between two looks whether anybody still waits


class Ended(Exception):
    """Raised where nobody reads any more."""


def write(pipe: IO[bytes], line: bytes, until: float) -> None:
    """Write a line to a pipe that does not block; raise TimeoutError where it is not read in time, and Ended where it never will be."""
    rest = memoryview(line)
    try:
        while rest and (left := until - time.monotonic()) > 0:
            if _ready(pipe, select.POLLOUT, min(left, _STILL_WANTED)):
                with contextlib.suppress(BlockingIOError):
                    rest = rest[os.write(pipe.fileno(), rest) :]
    except (OSError, ValueError):  # it has ended, or is about to
        raise Ended from None
    if rest:
        raise TimeoutError


def chunks(pipe: IO[bytes], over: threading.Event) -> Iterator[bytes]:
    """Walk what is printed, to its end, or until nobody wants to know: who escaped with the pipe may keep it open."""
    while not over.is_set():
        if _ready(pipe, select.POLLIN, _STILL_WANTED):
            chunk = pipe.read(CHUNK)
            if not chunk:
                return
            yield chunk


def _ready(pipe: IO[bytes], event: int, seconds: float) -> bool:
    """Wait so long until a pipe can be read or written; return whether it can. Raises ValueError for one that is closed."""
    poll = select.poll()  # `select` takes no number above 1023
    poll.register(pipe, event)
    return bool(poll.poll(seconds * 1000))
