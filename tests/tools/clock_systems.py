"""Background tasks whose waits tell until when they wait: for an adapter in a process of its own, one right and the others not."""

from __future__ import annotations

from typing import Any

from tests.right.background_tasks import BlockingTasks


class Telling(BlockingTasks):
    """Each wait tells its instant."""

    def waits_until(self, instant: int) -> None:
        """Tell whoever moves the clock."""

    def _block(self, waiter: Any) -> None:
        self.waits_until(waiter.until)
        super()._block(waiter)


class InParts(Telling):
    """A wait looks around every seven milliseconds, and tells each time anew."""

    def _block(self, waiter: Any) -> None:
        while not waiter.woken and self._now < waiter.until:
            until = min(self._now + 7, waiter.until)
            self.waits_until(until)
            while not waiter.woken and self._now < until:
                self._moved.wait()


class Late(Telling):
    """A wait gives up a millisecond late."""

    def _allowed(self, timeout: int) -> int:
        return timeout + 1


class Early(Telling):
    """A wait gives up a millisecond early."""

    def _allowed(self, timeout: int) -> int:
        return timeout - 1


class AtAnyMove(Telling):
    """A wait is over when the clock moves at all."""

    def _block(self, waiter: Any) -> None:
        self.waits_until(waiter.until)
        self._moved.wait()


class Forgets(Telling):
    """A wait goes on for ever after the instant that it told."""

    def _block(self, waiter: Any) -> None:
        self.waits_until(waiter.until)
        while not waiter.woken:
            self._moved.wait()


class NoClock(Telling):
    """Its clock cannot be moved."""

    def wait(self, ms: int) -> None:
        raise RuntimeError("no clock")
