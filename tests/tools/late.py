"""Background jobs on a clock that runs on by itself: what is due is seen some hundred milliseconds late, or not at all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tests.right.job.sqlite import SqliteJobs


class LateJobs(SqliteJobs):
    """Everything that is due happens 200 ms later, or with the next call: that is less than it says."""

    declares: ClassVar[dict[str, Any]] = {**SqliteJobs.declares, "clock": "running", "settles": 250}
    late = 200

    def __init__(self) -> None:
        self._began, self._moved, self._turns = time.monotonic(), 0, 0
        super().__init__()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One at a time; what has been due for long happens before it."""
        with self._lock:
            if not self._turns:
                self._pass(int((time.monotonic() - self._began) * 1000) + self._moved)
            self._turns += 1
            try:
                yield
            finally:
                self._turns -= 1

    def wait(self, ms: int) -> None:
        """Move the clock on."""
        with self._turn():
            self._moved += ms


class LateOfRealTime(LateJobs):
    """The same, and nothing but time moves its clock."""

    declares: ClassVar[dict[str, Any]] = {**LateJobs.declares, "clock": "real"}
    wait: ClassVar[None] = None  # type: ignore[assignment]  # not to be called


class NeverAgain(LateJobs):
    """What was not delivered at the first attempt never is."""

    def _deliver(self) -> None:
        super()._deliver()
        self._do("UPDATE job SET owed = 0 WHERE failures > 0")


class NeverAgainInRealTime(NeverAgain, LateOfRealTime):
    """The same, by real time."""

    declares: ClassVar[dict[str, Any]] = LateOfRealTime.declares


class KeepsForEver(LateJobs):
    """A job that has ended is kept for ever."""

    def _end(self, serial: int, status: str) -> None:
        super()._end(serial, status)
        self._do("UPDATE job SET evict_at = NULL WHERE serial = ?", serial)


class KeepsForEverInRealTime(KeepsForEver, LateOfRealTime):
    """The same, by real time."""

    declares: ClassVar[dict[str, Any]] = LateOfRealTime.declares


class BarelyLateJobs(LateJobs):
    """What is due happens a few milliseconds later: what it declares costs little time."""

    declares: ClassVar[dict[str, Any]] = {**LateJobs.declares, "settles": 12}
    late = 4


class GoesAtHalf(BarelyLateJobs):
    """A job that has ended is kept for half of its time."""

    def _end(self, serial: int, status: str) -> None:
        super()._end(serial, status)
        self._do("UPDATE job SET evict_at = ? WHERE serial = ?", self._now + self._retention // 2, serial)


class GoesASecondEarly(BarelyLateJobs):
    """A job that has ended is kept a second too short."""

    def _end(self, serial: int, status: str) -> None:
        super()._end(serial, status)
        self._do("UPDATE job SET evict_at = evict_at - 1000 WHERE serial = ?", serial)
