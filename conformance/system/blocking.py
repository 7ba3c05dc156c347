"""Calls that block until a virtual clock has moved on: nobody else moves it then, so the kit does, a step at a time.

A step is made when nothing of this process runs any more: whatever a call does without the clock, it has done by then.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conformance.system.worker import GLANCE, SLICE, state

_QUIET = {True: 5e-3, False: GLANCE}  # seconds that nothing runs before a step, longer where a call has only just begun
_UNSEEN = 0.02  # the same where that cannot be seen, elsewhere than on Linux
_LATEST = 1000  # times as long as it may, a call is looked after: that tells how late it is
_RUNS = ("R", "D")  # states of a thread: it runs, or reads or writes a file
_TASKS = Path("/proc/self/task")
_CLOCK_OF_A_THREAD = 6  # the last bits of such a clock's number; the others are those of the thread's, turned over


@dataclass(eq=False)
class _Blocked:
    """A call that may block for so many milliseconds, from an instant on; or whoever waits for the clock itself."""

    began: int
    lasts: int
    over: threading.Event = field(default_factory=threading.Event)
    sleeps: bool = False

    def step(self, now: int) -> int | None:
        """Return the milliseconds to the next instant at which to look whether it comes back; None when there is none.

        The instants lie close together at its beginning and around its end: what is too early or too late by a
        millisecond shows, and a long call takes no more than a few of them.
        """
        passed = now - self.began
        left = self.lasts - passed
        if left > 0:
            return left if self.sleeps else max(1, min(passed, left // 2))
        return None if self.sleeps or -left > _LATEST * self.lasts else max(1, -left)


class Clock:
    """The virtual clock of a system that moves it by a method of its own.

    milliseconds  how far it was moved so far
    """

    def __init__(self, move: Callable[[int], object]) -> None:
        """Take what moves the clock of the system itself."""
        self.milliseconds = 0
        self._move = move
        self._blocked: list[_Blocked] = []

    @property
    def blocks(self) -> bool:
        """Whether a call goes on that may block."""
        return bool(self._blocked)

    @property
    def begins(self) -> bool:
        """Whether a call has only just begun, and need not have come to where it blocks."""
        return any(each.began == self.milliseconds for each in [*self._blocked])

    @contextlib.contextmanager
    def during(self, lasts: int, *, sleeps: bool = False) -> Iterator[_Blocked]:
        """Let the clock move while a call goes on that may block for so many milliseconds, or somebody who `sleeps`."""
        blocked = _Blocked(self.milliseconds, lasts, sleeps=sleeps)
        self._blocked.append(blocked)
        try:
            yield blocked
        finally:
            self._blocked.remove(blocked)

    def sleep(self, ms: int) -> None:
        """Wait beside calls that may block, until the clock was moved so far: they come back when their time is over."""
        with self.during(ms, sleeps=True) as sleeper:
            while ms > 0 and not sleeper.over.wait(SLICE):
                pass

    def step(self) -> bool:
        """Move the clock to the next instant at which something may come back; tell whether there was one."""
        steps = [step for each in [*self._blocked] if (step := each.step(self.milliseconds)) is not None]
        if not steps:
            return False
        self.milliseconds += min(steps)  # before anybody is woken who looks
        self._move(min(steps))
        for each in [*self._blocked]:
            if each.sleeps and each.step(self.milliseconds) is None:
                each.over.set()
        return True


class Watch:
    """Moves a clock whenever nothing of this process has run between two looks."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: frozenset[tuple[int, float]] | None = None
        self._since = time.monotonic()

    def look(self) -> bool:
        """Make a step if nothing has run for a moment; tell whether there may be more to do."""
        seen, now = _seconds_run(), time.monotonic()
        if seen != self._seen or any(state(thread) in _RUNS for thread, _ in seen or ()):
            self._seen, self._since = seen, now
        if now - self._since < (_UNSEEN if seen is None else _QUIET[self._clock.begins]):
            return True
        self.forget()
        return self._clock.step()

    def look_beside(self, others: bool) -> None:
        """Look beside calls at once; with `others` that can go on nothing is looked at."""
        if others or not self._clock.blocks:
            self.forget()
        else:
            self.look()

    def forget(self) -> None:
        """Begin anew: the next look is the first."""
        self._seen, self._since = frozenset(), time.monotonic()


def _seconds_run() -> frozenset[tuple[int, float]] | None:
    """Return for how long each other thread of this process has run; None where that cannot be read.

    Between two looks who asks sleeps, so that a thread which only waits for its turn in the interpreter gets it: one that
    has not run since waits for something else.
    """
    try:
        threads = [int(task.name) for task in _TASKS.iterdir()]
        others = [each for each in threads if each != threading.get_native_id()]
        return frozenset((each, time.clock_gettime(~each << 3 | _CLOCK_OF_A_THREAD)) for each in others)
    except OSError:
        return None
