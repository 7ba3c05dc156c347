"""A thread that makes the calls, so that one which never returns can be left behind."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from conformance.adapter import Broken


class Worker:
    """Runs one function after the other on a thread of its own, each within a time limit."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=_serve, args=(self._work, self._done), daemon=True)
        self._thread.start()

    def run(self, function: Callable[[], Any], limit: float, what: str) -> Any:
        """Give what the function gives, or raise what it raises; raise Broken after `limit` seconds."""
        if threading.current_thread() is self._thread:
            return function()
        self._work.put(function)
        try:
            value, error = self._done.get(timeout=limit)
        except queue.Empty:
            self._work.put(None)
            raise Broken("hang", f"{what} did not come back within {limit:g} s") from None
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        """Let the thread end after what it does now."""
        self._work.put(None)


def _serve(
    work: queue.SimpleQueue[Callable[[], Any] | None],
    done: queue.SimpleQueue[tuple[Any, BaseException | None]],
) -> None:
    while (function := work.get()) is not None:
        try:
            done.put((function(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that asked
            done.put((None, error))
