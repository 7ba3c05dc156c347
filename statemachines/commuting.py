"""Whether the order of events of one stretch of time matters: where it does not, one order stands for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from statemachines.model import BaseModel, Impossible, Outcome, Timer

Event = tuple[int | None, tuple[Any, ...]]
"""A timer, and the instant at which it fires; or no instant, and a step that may be taken unasked, as `own_steps` lists it."""


class Commuting:
    """Events of one model, tried in more than one order.

    same   whether nobody can tell by its signals in which of two orders something was done
    tried  how many events were tried
    """

    def __init__(self, model: BaseModel, same: Callable[[Sequence[Outcome], Sequence[Outcome]], bool]) -> None:
        self._model = model
        self._same = same
        self.tried = 0

    def may_go_first(self, frozen: Any, first: Event, others: Sequence[Event]) -> bool:
        """Return whether one of several events leads to the same wherever it comes among the others.

        It is tried before and after each of them, by itself and when those before it have come, with the steps that may be
        taken unasked then.
        """
        if not all(self._commute(frozen, first, other) for other in others):
            return False
        for place, other in enumerate(others):
            if place and not self._commute(frozen, first, other):
                return False
            model, _ = self._after(frozen, other)
            frozen = model.freeze()
            if not all(self._commute(frozen, first, (None, step)) for step in model.own_steps()):
                return False
        return True

    def in_any_order(self, frozen: Any, events: Sequence[tuple[int, Timer]]) -> tuple[Any, list[Outcome]] | None:
        """Return the state after timers of one instant, with what was done; None where their order may matter.

        It does not where none takes another one away, nothing else may be done before or meanwhile, and they lead to the same
        forwards and backwards.
        """
        timers = {timer for _, timer in events}
        try:
            ways = [self._in_turn(frozen, each) for each in (events, events[::-1])]
            if None in ways or any(self._takes_away(frozen, event, timers) for event in events):
                return None
        except Impossible:
            return None
        (after, done), (backwards, other) = filter(None, ways)
        return (after, done) if after == backwards and self._same(done, other) else None

    def _takes_away(self, frozen: Any, event: tuple[int, Timer], timers: AbstractSet[Timer]) -> bool:
        """Return whether one of some timers takes another one away."""
        model, _ = self._after(frozen, event)
        return not timers - {event[1]} <= {*model.deadlines()}

    def _commute(self, frozen: Any, one: Event, other: Event) -> bool:
        """Return whether two events leave the same behind in either order, and neither takes the other away, or its signal."""
        ways = []
        for first, second in ((one, other), (other, one)):
            try:
                model, done = self._after(frozen, first)
                if second[1] not in (model.own_steps() if second[0] is None else model.deadlines()):
                    return False
                then, more = self._after(model.freeze(), second)
            except Impossible:
                return False
            ways.append((then.freeze(), [*done, *more]))
        (left, here), (right, there) = ways
        return left == right and self._same(here, there)

    def _in_turn(self, frozen: Any, events: Sequence[tuple[int, Timer]]) -> tuple[Any, list[Outcome]] | None:
        """Return the state after some timers, one after the other, with what was done; None where one does not run any more.

        Nor is there any where something else may be done before one of them.
        """
        taken: list[Outcome] = []
        for event in events:
            model = self._model.thawed(frozen)
            if model.own_steps() or event[1] not in model.deadlines():
                return None
            model, done = self._after(frozen, event)
            frozen = model.freeze()
            taken += done
        return frozen, taken

    def _after(self, frozen: Any, event: Event) -> tuple[BaseModel, list[Outcome]]:
        """Return the model at rest after an event, with what was done."""
        self.tried += 1
        model, (instant, what) = self._model.thawed(frozen), event
        if instant is None:
            return model, [model.take(*what[:2]), *model.settle()]
        model.now = instant
        return model, [model.fire(*what[2:]), *model.settle()]
