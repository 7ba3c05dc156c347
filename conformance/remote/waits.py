"""Calls to an adapter elsewhere that wait for its virtual clock: it says so itself, since nobody here sees what runs there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from conformance.system import Clock

_WAKES: Final = 1e-3  # seconds for whoever comes back too early, between two steps of a clock


class Waits:
    """The calls that have told until when they wait."""

    def __init__(self) -> None:
        self._until: dict[int | None, int] = {}

    def tell(self, call: int | None, until: int | None) -> None:
        """Note until which instant a call waits; None where it has gone on."""
        if until is None:
            self._until.pop(call, None)
        else:
            self._until[call] = until

    def until(self, call: int) -> int | None:
        """Return the instant until which a call has told last that it waits."""
        return self._until.get(call)

    def ahead(self, now: int) -> int:
        """Count the calls that wait for an instant which has not come yet."""
        return sum(until > now for until in [*self._until.values()])


def mover(clock: Clock, waits: Waits, callers: Callable[[], int]) -> Callable[[], bool]:
    """Return what makes a step of a clock where all callers wait for it, and tells whether it made one.

    Who makes a call that has told nothing, or is about to make one, waits for no clock.
    """

    def look() -> bool:
        if clock.sleeping + waits.ahead(clock.milliseconds) < callers() or not clock.step():
            return False
        time.sleep(_WAKES)
        return True

    return look
