"""The system's own code in the kit's process.

What it raises is told apart from what interrupts the kit; what would end the process, or run it twice, is stopped.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from conformance.refused import Refused
from conformance.system.broken import Broken

_end_process = os._exit
_process = os.getpid()
_staying = 0  # who wants the process to stay
_lock = threading.Lock()


class Raised(Exception):
    """What a system raised: not to be taken for what is raised where somebody waits for the system, Ctrl-C above all."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class Exited(SystemExit):
    """Raised where a system calls `os._exit`, which would end the run as if it had come to its end."""


def run(function: Callable[[], Any]) -> Any:
    """Return what something of the system's gives; raise Raised for what it raises, but Refused and Broken as they are."""
    try:
        return function()
    except (Refused, Broken):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the system raises is its defect
        raise Raised(error) from None
    finally:
        end_copy()


async def run_async(function: Callable[[], Awaitable[Any]]) -> Any:
    """Return what a coroutine of the system's gives; raise Raised as `run` does, but a cancellation is that of the loop."""
    import asyncio

    try:
        return await function()
    except (Refused, Broken, asyncio.CancelledError):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the system raises is its defect
        raise Raised(error) from None
    finally:
        end_copy()


def end_copy(before: Callable[[], object] = lambda: None) -> None:
    """End this process if it is a copy: a system that forks, and goes on in both, must not run the kit twice."""
    if os.getpid() != _process and _staying:
        before()
        _end_process(0)


@contextmanager
def process_stays() -> Iterator[None]:
    """Keep `os._exit` from ending this process: raise Exited where it is called."""
    global _staying, _process  # noqa: PLW0603 - `os._exit` is one for the whole process
    with _lock:
        _staying += 1
        if _staying == 1:
            _process = os.getpid()
            os._exit = _exit
    try:
        yield
    finally:
        with _lock:
            _staying -= 1
            if not _staying:
                os._exit = _end_process


def _exit(status: int) -> NoReturn:
    if os.getpid() != _process or not _staying:  # a child that ends is no business of ours
        _end_process(status)
    raise Exited(f"os._exit({status})")
