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

from conformance.system.worker import SLICE, state

# Looks between which nothing runs before a step, more of them where a call has only just begun; and where that cannot be seen,
# elsewhere than on Linux. They are counted, and not the time: on a machine so busy that we look late, others come late as well.
_QUIET, _UNSEEN = {True: 10, False: 1}, 40
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
    def sleeping(self) -> int:
        """How many wait for the clock itself."""
        return sum(each.sleeps and not each.over.is_set() for each in [*self._blocked])

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
    """Moves a clock whenever nothing of this process has run from one look to the next, be they far apart or not."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._before: frozenset[tuple[int, float]] | None = _RUNNING
        self._quiet = 0  # looks since something ran

    def look(self) -> bool:
        """Make a step if nothing has run for some looks; tell whether there may be more to do."""
        before, self._before = self._before, _seconds_run()
        quiet = self._before is None or (self._before != _RUNNING and self._before == before)
        self._quiet = self._quiet + 1 if quiet else 0
        if self._quiet < (_UNSEEN if self._before is None else _QUIET[self._clock.begins]):
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
        self._before, self._quiet = _RUNNING, 0


_RUNNING: frozenset[tuple[int, float]] = frozenset()  # what is seen while a thread runs: as much as nothing


def _seconds_run() -> frozenset[tuple[int, float]] | None:
    """Return for how long each other thread of this process has run, _RUNNING if one does; None where that cannot be read.

    Between two looks who asks sleeps, so that a thread which only waits for its turn in the interpreter gets it: one that
    has not run since waits for something else. Whether it runs is asked first: it may stop in between, but not unseen.
    """
    try:
        threads = [int(task.name) for task in _TASKS.iterdir()]
        others = [each for each in threads if each != threading.get_native_id()]
        if any(state(each) in _RUNS for each in others):
            return _RUNNING
        return frozenset((each, time.clock_gettime(~each << 3 | _CLOCK_OF_A_THREAD)) for each in others)
    except OSError:
        return None
