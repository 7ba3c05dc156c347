"""The instants at which something may change: those of timers, and those that lie as far from one that a record knows as the rules say.

One idea: where a rule asks whether `job.started_at + limits.timeout` is over, or `now - job.started_at >= limits.timeout`, a wait until
then, and a millisecond beside it, is worth a try.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import lru_cache
from typing import Any

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.expression import Attribute, Const, Operate, Typed, Var, every_part, python_name
from statemachines.model import BaseModel, Timer
from statemachines.types import Time, present

RECORDS = 6  # of an entity whose instants count: the last ones
TIMER, ADDED = "timer", "added"
_LIMIT = "limits."
COMPARING = ("<", "<=", ">", ">=", "==", "!=", "in")

Duration = tuple[str | int, ...]
"""What is added to an instant: names of limits, and milliseconds."""

Cause = tuple[str, int | tuple[int, int] | Duration]
"""What makes an instant one: that a timer fires, and its number, with the milliseconds that it took where these are not always as many;
or that something is added, and what."""


class Instants:
    """What there is to wait for in the configurations of one life cycle."""

    def __init__(self, compiled: Compiled) -> None:
        self._durations = list(dict.fromkeys(_added(compiled.kernel)))
        self._timers = any(each.timers for each in compiled.kernel.entities)
        known = {
            python_name(each.collection): [python_name(field.name) for field in each.fields if _is_time(field.type)]
            for each in compiled.kernel.entities
        }
        self._known = {collection: names for collection, names in known.items() if names}
        every = [(each, timer) for each in compiled.kernel.entities for timer in each.timers]
        begun = {number: (each, _begins(timer.deadline)) for number, (each, timer) in enumerate(every)}
        self._begun = {
            number: (python_name(each.collection), python_name(name)) for number, (each, name) in begun.items() if name
        }

    def but(self, others: Instants) -> Instants:
        """Return those that lie as far from what a record knows as these rules say, and the others do not."""
        found = copy(self)
        found._durations = [each for each in self._durations if each not in others._durations]
        found._timers = False
        return found

    @property
    def are_there(self) -> bool:
        """Whether anything changes as time passes."""
        return bool(self._durations) or self._timers

    def coming(self, model: BaseModel) -> dict[int, Cause]:
        """Return in how many milliseconds each instant comes, and what makes it one."""
        lasting = [(each, ms) for each in self._durations if (ms := _milliseconds(each, model)) is not None]
        known = self._instants(model) if lasting else ()
        found: dict[int, Cause] = {instant + ms - model.now: (ADDED, each) for instant in known for each, ms in lasting}
        timers = model.deadlines() if self._timers else ()
        found |= {end - model.now: self._cause(model, each) for each in timers for end in each[:2]}
        return {ms: found[ms] for ms in sorted(found) if ms >= 0}

    def _cause(self, model: BaseModel, timer: Timer) -> Cause:
        """Tell a timer that took another time apart: who waits longer after each failure may do so only once."""
        first, _, number, key = timer
        if number not in self._begun:
            return TIMER, number
        collection, name = self._begun[number]
        return TIMER, (number, int(first) - int(getattr(getattr(model, collection)[key], name)))

    def waits(self, model: BaseModel) -> list[int]:
        """List the milliseconds until each instant, until one millisecond before it, until one after it, and a part of the way.

        What is done on the way must not put it off, be it in the first half or the second.
        """
        parts = ((end // 2, 2 * end // 3, end - 1, end, end + 1) for end in self.coming(model))
        return sorted({ms for ways in parts for ms in ways if ms > 0})

    def _instants(self, model: BaseModel) -> set[int]:
        """Return the instants that the last records of each entity know."""
        return {
            instant
            for collection, names in self._known.items()
            for record in list(getattr(model, collection).values())[-RECORDS:]
            for name in names
            if isinstance(instant := getattr(record, name), int)
        }


@lru_cache(maxsize=8)
def instants_of(compiled: Compiled) -> Instants:
    """Return what there is to wait for in a life cycle; the same for the same one."""
    return Instants(compiled)


def _added(source: kernel.Kernel) -> Iterator[Duration]:
    """Walk what the rules add to an instant, anywhere, and what they compare the time between two instants with."""
    for part in kernel.everything(source):
        if isinstance(part, Operate) and _is_time(part.type) and (duration := _duration(part)):
            yield duration
        if isinstance(part, Operate) and (between := _between(part)):
            yield between


def _begins(deadline: Typed) -> str:
    """Name the field of a record from which a timer counts a time that hangs on the record, too; an empty text for any other."""
    match deadline:
        case Operate(operator="+", left=Attribute(of=Var(), name=name), right=Typed() as lasts):
            return name if any(isinstance(part, Attribute) for part in every_part(lasts)) else ""
        case _:
            return ""


def _duration(value: Typed) -> Duration | None:
    """Return what a sum adds to an instant; nothing where it is one, None where nobody can tell."""
    match value:
        case Operate(operator="+", left=Typed() as left, right=right):
            parts = [(_duration(each) if _is_time(each.type) else _lasting(each)) for each in (left, right)]
            return None if None in parts else tuple(part for each in parts for part in each or ())
        case Operate():
            return None
        case _:
            return ()


def _between(value: Operate) -> Duration | None:
    """Return what a difference of two instants is compared with; None where it is no such comparison."""
    sides = (value.left, value.right)
    for one, other in (sides, sides[::-1]):
        match one:
            case Operate(operator="-", left=Typed() as left) if _is_time(left.type) and value.operator in COMPARING:
                return _lasting(other)
    return None


def _lasting(value: Typed | None) -> Duration | None:
    """Return a duration that limits or numbers say, or a sum of them; None for any other."""
    match value:
        case Operate(operator="+", left=left, right=right):
            parts = [_lasting(left), _lasting(right)]
            return None if None in parts else tuple(part for each in parts for part in each or ())
        case Var(name=name) if name.startswith(_LIMIT):
            return (name.removeprefix(_LIMIT),)
        case Const(value=int() as number):
            return (number,)
        case _:
            return None


def _milliseconds(duration: Duration, model: BaseModel) -> int | None:
    """Return how long a duration lasts with the limits of a model; None where one of them is none."""
    limits = vars(model.limits)
    parts = [limits[each] if isinstance(each, str) else each for each in duration]
    return None if None in parts else sum(parts)


def _is_time(kind: Any) -> bool:
    return isinstance(present(kind), Time)
