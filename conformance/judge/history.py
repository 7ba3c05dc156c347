"""What was observed: one call, or calls that were made at once."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from conformance.system import Within
from statemachines.model import Signal
from statemachines.rows import Observed


@dataclass(frozen=True, slots=True)
class History:
    """Calls made at once: those of each caller in its order, and the signals of all of them together.

    within  between which instants all of it was, by a clock that runs on
    """

    callers: tuple[tuple[Observed, ...], ...]
    signals: tuple[Signal, ...] = ()
    within: Within | None = None

    @property
    def calls(self) -> tuple[Observed, ...]:
        """All the calls, caller by caller."""
        return tuple(itertools.chain(*self.callers))

    @property
    def summary(self) -> str:
        """What each call gave, in one line."""
        gave = (f"refused {each.refused}" if each.refused else repr(each.given) for each in self.calls)
        took = (f" after {each.elapsed} ms" if each.elapsed else "" for each in self.calls)
        text = "; ".join(
            f"{each.operation} → {given}{ms}" for each, given, ms in zip(self.calls, gave, took, strict=True)
        )
        return text if len(text) <= 400 else f"{text[:397]}…"

    @property
    def clause(self) -> str:
        """The operation that the calls are of."""
        return ".".join(["operations", *(each.operation for each in self.calls[:1])])


Event = Observed | History


def calls_of(event: Event) -> tuple[Observed, ...]:
    """Return the calls of an event: one call, or those that were made at once."""
    return event.calls if isinstance(event, History) else (event,)


def held_still(event: Event) -> Event:
    """Return an event as if no time had passed meanwhile, but in `wait`."""
    if isinstance(event, History):
        callers = tuple(tuple(replace(call, within=None) for call in calls) for calls in event.callers)
        return replace(event, callers=callers, within=None)
    return replace(event, within=None)
