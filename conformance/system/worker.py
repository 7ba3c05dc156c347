"""Threads that make the calls, so that one which never returns can be left behind: plain, or with an event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import math
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from conformance.system.adapter import Broken
from conformance.system.virtual import VirtualLoop

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


class Worker:
    """Runs one function after the other on a thread of its own, each within a time limit.

    stuck  one of them did not come back in time: the thread is left behind
    """

    def __init__(self) -> None:
        self.stuck = False
        self._work: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=_serve, args=(self._work, self._done), daemon=True)
        self._thread.start()

    def run(self, function: Callable[[], Any], limit: float, what: str) -> Any:
        """Return what the function gives, or raise what it raises; raise Broken after `limit` seconds."""
        if threading.current_thread() is self._thread:
            return function()
        self._work.put(function)
        for part in slices(limit):
            with contextlib.suppress(queue.Empty):
                value, error = self._done.get(timeout=part)
                break
        else:
            self.stuck = True
            self.stop()
            raise Broken("hang", f"{what} did not come back in time")
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


class Loop:
    """An event loop on a thread of its own, on which coroutines run, each within a time limit.

    With `virtual` it goes by a clock that starts at 0, and that only moves while a caller waits.
    """

    def __init__(self, *, virtual: bool = False) -> None:
        self._virtual = VirtualLoop() if virtual else None
        self._loop: asyncio.AbstractEventLoop = self._virtual or asyncio.new_event_loop()
        self._loop.set_exception_handler(_unless_left)
        self._stopped = threading.Event()
        self._lock = threading.Lock()  # nothing is submitted behind the end
        threading.Thread(target=self._serve, daemon=True).start()

    def run(
        self,
        work: Callable[[], Coroutine[Any, Any, Any]],
        limit: float,
        what: str,
        submitted: Callable[[], None] | None = None,
        seconds: float = math.inf,
    ) -> Any:
        """Return what a coroutine gives, or raise what it raises; raise Broken after `limit` seconds.

        `submitted` is told when the coroutine stands in line. A virtual clock moves for so many `seconds` at most.
        """
        with self._lock:
            if self._stopped.is_set():
                raise Broken("hang", f"{what} was not begun: another call had not come back")
            running = _outcome(work) if self._virtual is None else _clocked(self._virtual, work, seconds)
            future = asyncio.run_coroutine_threadsafe(running, self._loop)
        if submitted is not None:
            submitted()
        for part in slices(limit):
            if concurrent.futures.wait([future], timeout=part).done:
                break
        else:
            future.cancel()
            self.stop()
        # Cancelled with the loop: this call hangs, or another one does.
        if (future.cancelled() and self._stopped.is_set()) or not future.done():
            raise Broken("hang", f"{what} did not come back in time")
        value, error = future.result()
        if error is not None:
            raise error
        return value

    @property
    def milliseconds(self) -> int:
        """What a virtual clock shows; 0 for a real one."""
        return self._virtual.milliseconds if self._virtual is not None else 0

    def callers(self, more: int) -> None:
        """Count those who make calls: the clock stands still while one of them is about to."""
        if self._virtual is not None:
            with contextlib.suppress(RuntimeError):  # the loop was given up
                self._loop.call_soon_threadsafe(_count, self._virtual, more)

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function on the loop's thread, before anything that is submitted later."""
        self._loop.call_soon_threadsafe(function)

    def stop(self) -> None:
        """Let the loop end after what it does now; whatever is still waiting on it is cancelled."""
        with self._lock:
            if not self._stopped.is_set():  # a second time would cut short how it ends
                self._stopped.set()
                self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        while True:
            try:
                self._loop.run_forever()
                break
            except (SystemExit, KeyboardInterrupt):  # a task of the system's; others are served
                if self._stopped.is_set():  # it may be the stop that was interrupted
                    self._loop.call_soon(self._loop.stop)
        waiting = asyncio.all_tasks(self._loop)
        for task in waiting:
            task.cancel()
        if waiting:
            with contextlib.suppress(SystemExit, KeyboardInterrupt):
                self._loop.run_until_complete(asyncio.wait(waiting))
        self._loop.close()


def _unless_left(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell of what goes wrong on a loop; not of tasks that a system leaves there when its case is over."""
    if not str(context.get("message", "")).startswith("Task was destroyed"):
        loop.default_exception_handler(context)


def _count(loop: VirtualLoop, more: int) -> None:
    loop.callers += more
    loop.look()


async def _clocked(
    loop: VirtualLoop, work: Callable[[], Coroutine[Any, Any, Any]], seconds: float
) -> tuple[Any, BaseException | None]:
    """Return the outcome of a coroutine during which the clock may move."""
    with loop.waiting(seconds):
        return await _outcome(work)


async def _outcome(work: Callable[[], Coroutine[Any, Any, Any]]) -> tuple[Any, BaseException | None]:
    """Return the value of a coroutine, or what it raised: an exit must not end the loop."""
    try:
        return await work(), None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that asked
        return None, error
