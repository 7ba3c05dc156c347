"""The thread that makes the calls, so that one which never returns can be left behind; and how long whoever asks waits."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

from conformance.system.broken import Broken

SLICE = 0.05  # seconds


def slices(limit: float) -> Iterator[float]:
    """Walk the parts, in seconds, in which to wait so long for a system.

    Whoever waits sleeps a part at a time, and counts no more than that: on a machine so busy that it wakes late, the
    system that it waits for came late, too, and gets the time that is missing.
    """
    left = limit
    while left > 0:
        yield min(left, SLICE)
        left -= SLICE


def came(future: Future[Any], limit: float) -> bool:
    """Wait so many seconds for what a thread is to give; return whether it came, be it that it was cancelled."""
    for part in slices(limit):
        with contextlib.suppress(TimeoutError, CancelledError):
            future.exception(part)
        if future.done():
            return True
    return False


def fulfil(future: Future[Any], function: Callable[[], Any]) -> None:
    """Let others have what a function gives, or what it raises."""
    try:
        future.set_result(function())
    except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that asked
        future.set_exception(error)


class Worker:
    """Runs one function after the other on a thread of its own, each within a time limit.

    stuck  one of them did not come back in time: the thread is left behind
    """

    def __init__(self) -> None:
        self.stuck = False
        self._work: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=_serve, args=(self._work, self._done), daemon=True)
        self._thread.start()

    def run(self, function: Callable[[], Any], limit: float, what: str) -> Any:
        """Return what the function gives, or raise what it raises; raise Broken after `limit` seconds."""
        if threading.current_thread() is self._thread:
            return function()
        try:
            self._work.put(function)
            for part in slices(limit):
                with contextlib.suppress(queue.Empty):
                    future = self._done.get(timeout=part)
                    break
            else:
                raise Broken("hang", f"{what} did not come back in time")
        except BaseException:  # whoever waits may be interrupted, too
            self.stuck = True
            self.stop()
            raise
        return future.result()

    def stop(self) -> None:
        """Let the thread end after what it does now."""
        self._work.put(None)


def _serve(work: queue.SimpleQueue[Callable[[], Any] | None], done: queue.SimpleQueue[Future[Any]]) -> None:
    while (function := work.get()) is not None:
        future: Future[Any] = Future()
        fulfil(future, function)
        done.put(future)
