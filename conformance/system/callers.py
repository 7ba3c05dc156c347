"""Callers on threads of their own, and an event loop that answers one after the other, so that a seed decides what meets."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future, InvalidStateError
from typing import Any

_CALLS_AGAIN = 0.5  # seconds that a loop stands still for the next call of one who was answered

Outcome = tuple[Any, BaseException | None]
"""What a coroutine gave, or raised."""


class Callers:
    """Those who call what runs on a virtual loop, each from a thread of its own.

    Of several the loop answers one at a time, between two turns, and stands still until the next call has come: whatever
    else it would do meanwhile depends on how busy the machine is, and the seed would not decide it. Only for who takes longer
    than a moment it does not.

    answers  what is answered when the turn is over; None where what was called is cancelled
    """

    def __init__(self) -> None:
        self.answers: list[tuple[Future[Outcome], Outcome | None]] = []
        self._callers, self._waiting = 1, 0
        self._missing = 0  # how many did not call when they were waited for last
        self._changed = threading.Condition()

    @property
    def all_wait(self) -> bool:
        """Whether each of them waits for an answer."""
        with self._changed:
            return 0 < self._callers <= self._waiting

    @contextlib.contextmanager
    def change(self, callers: int = 0, waiting: int = 0) -> Iterator[None]:
        """Count so many more of them, and so many more who wait; the loop sees that together with what is done meanwhile."""
        with self._changed:
            yield
            self._callers += callers
            self._waiting += waiting
            self._changed.notify_all()

    def answer_in_turn(self) -> None:
        """Answer what there is to answer, and wait after each for what its caller does next."""
        while self.answers:
            given, outcome = self.answers.pop(0)
            with self.change(waiting=-1), contextlib.suppress(InvalidStateError):  # nobody waits for it any more
                if outcome is None:
                    given.cancel()
                else:
                    given.set_result(outcome)
            self.stand_still()

    def stand_still(self) -> None:
        """Wait, where there are several, until each waits for an answer but who has been waited for in vain, which is not for long.

        One may be held up by another.
        """
        with self._changed:
            if self._callers <= 1:
                self._missing = 0  # of the next group nobody has been waited for yet
                return
            self._changed.wait_for(lambda: self._callers - self._waiting <= self._missing, _CALLS_AGAIN)
            self._missing = max(self._callers - self._waiting, 0)
