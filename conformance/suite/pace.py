"""When a run stops before it has come to everything: at the first row that fails, or when its time is used up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from conformance.verdict import RowResult, gates
from statemachines.lifecycle import Level


@dataclass(frozen=True, slots=True)
class Pace:
    """How far a run goes.

    at_first  stop at the first row that fails the run
    seconds   so long for rows, and what is left of it for the searches; None: as long as it takes
    clock     tells the time, in seconds
    """

    at_first: bool = False
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    _began: list[float] = field(default_factory=list)

    def begin(self) -> None:
        """Take note that the run begins now."""
        self._began[:] = [self.clock()]

    def late(self) -> bool:
        """Return whether the time is used up."""
        return self.left() <= 0

    def left(self) -> float:
        """Return the seconds that are left, without end where they are not counted."""
        return math.inf if self.seconds is None else max(self.seconds - (self.clock() - self._began[0]), 0.0)

    def stops(self, results: Sequence[RowResult], fail_on: Level) -> str:
        """Say why nothing further is begun; an empty text where the run goes on."""
        last = results[-1] if results else None
        if self.at_first and last is not None and gates(last, fail_on):
            return f"it stops at the first row that fails the run, and {last.id} does"
        return f"its {self.seconds:g} s were used up" if self.late() else ""
