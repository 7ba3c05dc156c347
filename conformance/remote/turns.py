"""Calls at once whose system tells of points: at each of them a seed chooses which call goes on.

The kit holds every call that has come to a point, or is about to be made, and lets one go on at a time. One that neither comes to
a point nor back for a moment waits for what another one holds, and that one goes on.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

_SWITCHES: Final = (0.1, 0.3, 0.5, 0.8)  # how often another call goes on than the one that has just come to a point
_SPREADS: Final = (0.0, 0.0, 0.0002, 0.001, 0.005)  # seconds within which calls are sent that nothing else holds
_MOMENT: Final = 0.005  # seconds without a word, after which a call is taken to wait for another one
_MOMENTS: Final = 10  # that are listened to at most, where the machine is so busy that they take longer


class CallsAtOnce(Protocol):
    """Who is told of calls at once, and decides when one that has come to a point goes on."""

    def sent(self, party: int, call: int) -> None: ...

    def point(self, call: int | None, go: Callable[[], object]) -> None: ...

    def waits(self, call: int | None) -> None: ...

    def came_back(self, party: int) -> None: ...


class HeldCalls:
    """One group of calls at once.

    overlapped  the calls in the midst of which another call went on, by their numbers
    pointed     whether one of its calls came to a point, or told that it waits
    """

    def __init__(self, parties: int, seed: int, seconds: float) -> None:
        self.overlapped: set[int] = set()
        self.pointed = False
        self._seed = seed
        self._choice = random.Random(seed)
        self._spread = self._choice.choice(_SPREADS)
        self._rate = self._choice.choice(_SWITCHES)
        self._changed = threading.Condition()
        self._left = parties
        self._held: dict[int, list[Callable[[], object]]] = {}  # parties that may be chosen, and what lets each go on
        self._running = set(range(parties))  # those that are about to be held, or to end
        self._inside: dict[int, int] = {}  # the call of each party that is in the system
        self._midst: set[int] = set()  # parties whose call has come to a point
        self._words = 0  # that were heard: while there are more, nobody is stuck
        self._last = -1
        self._until = time.monotonic() + seconds  # then all go on: what is slow because of turns is no hang

    def spread(self, party: int) -> None:
        """Wait for a part of the moment within which the calls are sent, where the system tells of no points."""
        time.sleep(self._spread * random.Random(f"{self._seed}/{party}").random())

    def begin(self, party: int) -> None:
        """Wait until a party may make its next call."""
        chosen = threading.Event()
        self._hold(party, chosen.set)
        chosen.wait()

    def sent(self, party: int, call: int) -> None:
        """Note the call that a party makes."""
        with self._changed:
            self._inside[party] = call
            self._note(party)

    def point(self, call: int | None, go: Callable[[], object]) -> None:
        """Hold a call that has come to a point, until it is chosen; what is no call of this group goes on at once."""
        with self._changed:
            party = next((each for each, number in self._inside.items() if number == call), None)
            if party is not None:
                self.pointed = True
                self._midst.add(party)
                self._hold(party, go)
                return
        go()

    def waits(self, call: int | None) -> None:
        """Note that a call waits for the clock: it is in its midst, and meanwhile others go on."""
        with self._changed:
            self._words += 1
            waiting = {party for party, number in self._inside.items() if number == call}
            self.pointed = self.pointed or bool(waiting)
            self._midst |= waiting
            self._running -= waiting
            self._choose()

    def came_back(self, party: int) -> None:
        """Note that the call of a party is over."""
        with self._changed:
            self._inside.pop(party, None)
            self._midst.discard(party)
            self._words += 1

    def end(self, party: int) -> None:
        """Note that a party makes no more calls."""
        with self._changed:
            self._left -= 1
            self._words += 1
            self._running.discard(party)
            self._choose()
            if not self._left:
                self._changed.notify_all()

    @property
    def left(self) -> int:
        """How many parties have not ended."""
        return self._left

    def run(self, move: Callable[[], bool] | None = None) -> None:
        """Let calls go on until all parties have ended; those that wait for each other are passed over.

        `move` makes a step of the clock that calls wait for, and tells whether it made one.
        """
        try:
            while self._left:
                quiet = self._passed_over()
                while quiet and move is not None and move():
                    pass
        finally:  # who runs may be interrupted: then nobody is to wait here for ever
            self.finish()

    def _passed_over(self) -> bool:
        """Listen for a moment; where there was no word, let somebody go on beside those that run, and return True."""
        with self._changed:
            words = self._words
            for _ in range(_MOMENTS if self._left else 0):
                began = time.monotonic()
                self._changed.wait(_MOMENT)
                if self._words != words or time.monotonic() - began < 2 * _MOMENT:
                    break  # whoever wakes us late had no time for the calls either
            quiet = self._words == words
            if quiet and self._held:
                self._running.clear()
                self._choose()
            return quiet

    def finish(self) -> None:
        """Let all go on, now and from now on."""
        with self._changed:
            self._until = 0.0
            self._choose()

    def _hold(self, party: int, go: Callable[[], object]) -> None:
        with self._changed:
            self._words += 1
            self._held.setdefault(party, []).append(go)  # a call may have come to several points at once
            self._running.discard(party)
            self._choose()

    def _choose(self) -> None:
        """Let one of those that are held go on, where nobody else runs; all of them when the time is over."""
        if time.monotonic() > self._until:
            while self._held:
                self._let_go(next(iter(self._held)))
        elif self._held and not self._running:
            others = [each for each in self._held if each != self._last]
            stays = self._last in self._held and self._choice.random() >= self._rate
            self._let_go(self._last if stays or not others else self._choice.choice(sorted(others)))

    def _let_go(self, party: int) -> None:
        self._last = party
        self._running.add(party)
        self._note(party)
        first, *more = self._held.pop(party)
        if more:
            self._held[party] = more
        first()

    def _note(self, party: int) -> None:
        """Note that a call goes on while others wait in their midst."""
        others = [self._inside[each] for each in self._midst if each != party]
        if party in self._inside and others:
            self.overlapped.update(others, [self._inside[party]])
