"""Event loops for async systems: by a real clock, or by one that only moves when nothing else is left to do.

What runs on a virtual one sees a clock that starts at 0, and seconds of waiting take no time: `loop.time()`,
`asyncio.sleep`, `call_later` and `wait_for` all go by it. Files and sockets are looked at before the clock moves, but
work on other threads is not waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
import selectors
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from conformance.system.broken import Broken
from conformance.system.callers import Callers, Outcome
from conformance.system.interleaving import Held, Lingering, Work
from conformance.system.worker import SLICE, LeftBehind, Thread, came, leave

ENDS_WITHIN = 1.0  # seconds that a loop has to come to its end, before its thread is left behind
_TURNS = 10  # turns of the event loop that an async system gets before it is looked at


class VirtualClock(selectors.DefaultSelector):  # type: ignore[misc, valid-type, unused-ignore]  # chosen by the platform
    """A selector that, instead of sleeping, moves the clock as far as it may.

    now    seconds
    until  how far the clock may move: to the end of a `wait`, and on and on while a caller waits for an answer
    resting  whoever wants to know when nothing is ready, the clock not yet moved
    held  what lingers, each with the turns that it does so; where nothing else is ready, no longer than until all who call
        wait for an answer
    callers  those who call
    """

    def __init__(self, callers: Callers) -> None:
        super().__init__()
        self.callers = callers
        self.now = 0.0
        self.until = 0.0
        self.resting: list[asyncio.Future[None]] = []
        self.held: Held = []

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; move the clock when nothing is, or sleep when it may not move."""
        if self.callers.answers:  # who is answered waits no more
            self.until = self.now
            self.callers.answer_in_turn()
        ready = self._select(timeout)
        self.callers.stand_still()
        return ready

    def _select(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        busy = bool(ready) or (timeout is not None and timeout <= 0)
        if self.held:
            if not busy and not self.callers.all_wait:
                return super().select(None)
            self.release(1 if busy else min(turns for turns, _ in self.held))
            return ready
        if busy:
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

    def release(self, turns: float = math.inf) -> None:
        """Let so many turns pass; what has lingered long enough goes on."""
        held = self.held[:]
        self.held.clear()
        for left, goes_on in held:
            if left <= turns:
                goes_on()
            else:
                self.held.append((left - int(turns), goes_on))


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that goes by a virtual clock: it stands still while one who calls is about to make the next call."""

    def __init__(self) -> None:
        self.callers = Callers()
        self.clock = VirtualClock(self.callers)
        super().__init__(self.clock)

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self.clock.now

    async def rest(self) -> None:
        """Wait until nothing is ready."""
        resting = self.create_future()
        self.clock.resting.append(resting)
        await resting

    def submit(self, work: Work, seconds: float) -> Future[Outcome]:
        """Return what will be the outcome of a coroutine; the clock moves, at most so far, while every caller waits."""
        answer: Future[Outcome] = Future()
        with self.callers.change(waiting=1):
            self.call_soon_threadsafe(self._begin, work, seconds, answer)
        return answer

    def _begin(self, work: Work, seconds: float, answer: Future[Outcome]) -> None:
        running = self.create_task(self._during(work, seconds, answer))
        running.add_done_callback(lambda ended: answer.cancel() if ended.cancelled() else None)

    def count(self, more: int) -> None:
        """Count those who make calls, from any thread."""
        with self.callers.change(callers=more):
            self.call_soon_threadsafe(self._look, math.inf)

    async def _during(self, work: Work, seconds: float, answer: Future[Outcome]) -> None:
        self._look(seconds)
        try:
            outcome = await _outcome_of(work)
        except asyncio.CancelledError:  # a system may cancel what it is called in
            self.callers.answers.append((answer, None))
            raise
        self.callers.answers.append((answer, outcome))

    def _look(self, seconds: float) -> None:
        """See whether every caller waits by now."""
        if self.callers.all_wait:
            self.clock.until = self.clock.now + seconds


class Loop:
    """An event loop on a thread of its own, on which coroutines run, each within a time limit.

    With `virtual` it goes by a clock that starts at 0, and that only moves while a caller waits.

    stopped  set when nothing is begun on it any more: one of them did not come back in time, or it is not needed
    """

    def __init__(self, *, virtual: bool = False) -> None:
        self._virtual = VirtualLoop() if virtual else None
        self._loop: asyncio.AbstractEventLoop = self._virtual or asyncio.new_event_loop()
        self._loop.set_exception_handler(_unless_left)
        held = None if self._virtual is None else self._virtual.clock.held
        self._lingering = Lingering(self._loop, held)
        self.stopped = threading.Event()
        self._lock = threading.Lock()  # nothing is submitted behind the end
        self._thread = Thread(self._serve)
        self._thread.start()

    def run(
        self,
        work: Work,
        limit: float,
        what: str,
        submitted: Callable[[], None] | None = None,
        seconds: float = math.inf,
    ) -> Any:
        """Return what a coroutine gives, or raise what it raises; raise Broken after `limit` seconds.

        `submitted` is told when the coroutine stands in line. A virtual clock moves for so many `seconds` at most.
        """
        with self._lock:
            if self.stopped.is_set():
                raise Broken("hang", f"{what} was not begun: another call had not come back")
            if self._virtual is None:
                future = asyncio.run_coroutine_threadsafe(_outcome_of(work), self._loop)
            else:
                future = self._virtual.submit(work, seconds)
        if submitted is not None:
            submitted()
        if not came(future, limit):
            future.cancel()
            self.end(SLICE)
        # Cancelled with the loop: this call hangs, or another one does.
        if (future.cancelled() and self.stopped.is_set()) or not future.done():
            raise Broken("hang", f"{what} did not come back in time")
        if future.cancelled():
            raise Broken("crash", f"{what} raised CancelledError")
        value, error = future.result()
        if error is not None:
            raise error
        return value

    @property
    def milliseconds(self) -> int:
        """What a virtual clock shows; 0 for a real one."""
        return round(self._virtual.time() * 1000) if self._virtual is not None else 0

    def count(self, more: int) -> None:
        """Count those who make calls: the clock stands still while one of them is about to."""
        if self._virtual is not None:
            with contextlib.suppress(RuntimeError):  # the loop was given up
                self._virtual.count(more)

    def linger(self, seed: int | None) -> None:
        """Let tasks linger from now on as a seed chooses, or not any more."""
        self._lingering.begin(seed)
        if seed is None and self._virtual is not None:
            with contextlib.suppress(RuntimeError):  # the loop was given up
                self._loop.call_soon_threadsafe(self._virtual.clock.release)

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function on the loop's thread, before anything that is submitted later."""
        self._loop.call_soon_threadsafe(function)

    def stop(self) -> None:
        """Let the loop end after what it does now; whatever is still waiting on it is cancelled."""
        with self._lock:
            if not self.stopped.is_set():  # a second time would cut short how it ends
                self.stopped.set()
                self._loop.call_soon_threadsafe(self._loop.stop)

    def end(self, seconds: float = ENDS_WITHIN) -> None:
        """Stop, and leave the thread behind if it does not come to its end: a task may run on and on."""
        self.stop()
        self._thread.join(seconds)
        leave(self._thread)

    def _serve(self) -> None:
        try:
            with contextlib.suppress(LeftBehind):  # no task runs any more: it may be one of many that never rest
                self._serve_until_stopped()
                if self._virtual is not None:  # what the last turn gave
                    self._virtual.callers.answer_in_turn()
        finally:
            self._loop.close()

    def _serve_until_stopped(self) -> None:
        while True:
            try:
                self._loop.run_forever()
                break
            except LeftBehind:
                raise
            except (SystemExit, KeyboardInterrupt):  # a task of the system's; others are served
                if self.stopped.is_set():  # it may be the stop that was interrupted
                    self._loop.call_soon(self._loop.stop)
        waiting = asyncio.all_tasks(self._loop)
        for task in waiting:
            task.cancel()
        if waiting:
            try:
                self._loop.run_until_complete(asyncio.wait(waiting))
            except LeftBehind:
                raise
            except (SystemExit, KeyboardInterrupt):
                pass


def _unless_left(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell of what goes wrong on a loop; not of tasks that a system leaves there when its case is over."""
    if not str(context.get("message", "")).startswith("Task was destroyed"):
        loop.default_exception_handler(context)


async def _outcome_of(work: Work) -> Outcome:
    """Return the value of a coroutine, or what it raised: an exit must not end the loop."""
    try:
        return await work(), None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that asked
        return None, error


async def called(function: Callable[[], Any]) -> Any:
    """Return what a function gives, be it at once or later."""
    found = function()
    return await found if inspect.isawaitable(found) else found


async def rested(function: Callable[[], Any]) -> Any:
    """Return what a function gives when what was started before has come to rest.

    That is all of it where the clock is virtual; or else it gets some turns.
    """
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualLoop):
        await loop.rest()
    else:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
    return await called(function)
