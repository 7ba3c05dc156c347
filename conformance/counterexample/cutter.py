"""Delta debugging: the fewest and simplest steps of which a test still shows what it showed of all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from typing import Generic, TypeVar

Steps = TypeVar("Steps", bound=Sized)
Shown = TypeVar("Shown")


class Cutter(Generic[Steps, Shown]):
    """Takes fewer or simpler steps as long as a test still shows it; every shrink pass goes on from the best so far.

    best    the steps that were kept last
    shown   what the test showed of them
    tries   how often the test was asked
    """

    def __init__(
        self,
        steps: Steps,
        shown: Shown,
        test: Callable[[Steps], tuple[Steps, Shown] | None],
        seconds: float,
        alike: Callable[[Steps], Hashable],
    ) -> None:
        """Begin with steps of which something was `shown`.

        test     returns what is left of the steps that it is given and what they show; None where it is not the same
        seconds  after which nothing more is tried
        alike    returns what is equal of steps that need not be tried twice
        """
        self.best, self.shown, self.tries = steps, shown, 0
        self._test, self._alike = test, alike
        self._until = time.monotonic() + seconds
        self._tried: set[Hashable] = set()

    def keeps(self, candidate: Steps) -> bool:
        """Try a candidate, unless one like it was tried; keep it when it shows the same."""
        if not candidate or self._late() or (like := self._alike(candidate)) in self._tried:
            return False
        self._tried.add(like)
        self.tries += 1
        found = self._test(candidate)
        if found is not None:
            self.best, self.shown = found
        return found is not None

    def drop(
        self,
        parts: Callable[[Steps], Sequence[set[int]]],
        without: Callable[[Steps, set[int]], Steps],
        least: int = 1,
    ) -> None:
        """Drop as many parts as can go: half of them at once, then quarters, down to so few; the last ones first."""
        size = len(parts(self.best))
        while size >= max(least, 1):
            end = len(parts(self.best))
            while end > 0:
                left = parts(self.best)
                end = min(end, len(left))
                self.keeps(without(self.best, set().union(*left[max(end - size, 0) : end])))
                end -= size
            size //= 2

    def simplify(self, candidates: Callable[[Steps], Iterable[Steps]]) -> None:
        """Take one of the candidates that are made of the best steps, as long as one shows the same."""
        while not self._late() and any(map(self.keeps, candidates(self.best))):
            pass

    def repeat(self, *passes: Callable[[], None]) -> None:
        """Make the passes one after the other, until none of them finds anything better."""
        before: Steps | None = None
        while before is not self.best and not self._late():
            before = self.best
            for each in passes:
                each()

    def _late(self) -> bool:
        return time.monotonic() > self._until
