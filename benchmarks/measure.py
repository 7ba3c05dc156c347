"""What a benchmark is, and how two things are timed against each other."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

LESS, MORE = "≤", "≥"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table.

    value   what was measured; None when it could not be
    target  what it has to reach, in the same unit; None: it is only told
    note    what a reader needs to judge the number
    """

    what: str
    value: float | None
    unit: str
    sign: str = ""
    target: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None when nothing can be said."""
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target if self.sign == LESS else self.value >= self.target


class Benchmark(Protocol):
    """Something that is measured in as many rounds as it asks for, each between rounds of the others."""

    rounds: int

    def once(self) -> None:
        """Measure one round."""

    def findings(self) -> list[Finding]:
        """Return the lines of the table."""


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector out of a short measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long something takes."""
    begin = clock()
    work()
    return clock() - begin


class Pair:
    """Two ways of the same thing, timed in turn, a millisecond each; what counts is the ratio of each pair.

    They are timed by the processor's seconds of this thread, so that what else the machine does takes
    part in neither.
    """

    def __init__(self, slow: Callable[[], float], fast: Callable[[], float], pairs: int = 10) -> None:
        self._slow = slow
        self._fast = fast
        self._pairs = pairs
        self._times: list[tuple[float, float]] = []

    def once(self) -> None:
        """Time both, a few times in turn."""
        with no_collection():
            self._times += [(self._slow(), self._fast()) for _ in range(self._pairs)]

    @property
    def ratio(self) -> float:
        """The median of how many times faster the second was."""
        return statistics.median(slow / fast for slow, fast in self._times)

    @property
    def spread(self) -> str:
        """Where the middle half of the ratios lies, in words."""
        low, _, high = statistics.quantiles([slow / fast for slow, fast in self._times])
        return f"half of {len(self._times)} pairs in {low:.1f} … {high:.1f}"

    @property
    def slow(self) -> float:
        """The median time of the first."""
        return statistics.median(slow for slow, _ in self._times)

    @property
    def fast(self) -> float:
        """The median time of the second."""
        return statistics.median(fast for _, fast in self._times)


def spread(values: Sequence[float], unit: str, places: int = 0) -> str:
    """Return the lowest and the highest of some values, in words."""
    return f"{min(values):.{places}f} … {max(values):.{places}f} {unit} in {len(values)} rounds"
