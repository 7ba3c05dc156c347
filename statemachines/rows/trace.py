"""A trace: calls with symbolic arguments, so that it can be cut, played elsewhere, and written as a row.

An id that the system chose is written as the reply that it came from; everything else stands as it is.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from statemachines.kernel import Kernel
from statemachines.rows.call_types import CallTypes
from statemachines.rows.programs import Observed
from statemachines.types import List, RecordType, Text, Type, present

_NUMBER = re.compile(r"(?<=-)[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Given:
    """A value out of the reply of an earlier step: `step` is its number, `field` the part, empty for the whole."""

    step: int
    field: str

    def of(self, reply: str) -> str:
        """Return how the value is reached where the reply has this name."""
        return f"{reply}.{self.field}" if self.field else reply


@dataclass(frozen=True, slots=True)
class Plain:
    """A plain value with named fields."""

    fields: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One call: `number` identifies it while others are cut away.

    operation  its name, or `wait`; on a way through the model also the path of a timer, or of a step taken unasked
    """

    number: int
    operation: str
    arguments: tuple[tuple[str, Any], ...]

    def refers(self) -> set[int]:
        """Return the numbers of the calls whose replies it uses."""
        return {value.step for _, argument in self.arguments for value in parts(argument) if isinstance(value, Given)}


def parts(value: Any) -> Iterator[Any]:
    """Walk an argument and all that it is made of."""
    yield value
    inner: Iterable[Any] = ()
    if isinstance(value, Plain):
        inner = (each for _, each in value.fields)
    elif isinstance(value, tuple | list):
        inner = value
    elif isinstance(value, dict):
        inner = value.values()
    for each in inner:
        yield from parts(each)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Calls made at once: those of each caller, in its order."""

    callers: tuple[tuple[Call, ...], ...]

    def calls(self) -> tuple[Call, ...]:
        """Return all the calls."""
        return tuple(call for caller in self.callers for call in caller)


Step = Call | AtOnce


@dataclass(frozen=True, slots=True)
class Trace:
    """Steps in order."""

    steps: tuple[Step, ...]

    def calls(self) -> tuple[Call, ...]:
        """Return all the calls, those at once included."""
        return tuple(call for step in self.steps for call in calls_of(step))

    def changed(self, change: Callable[[Call], Call | None]) -> Trace:
        """Return the trace with each call changed, or left out; one caller that is left alone is in order."""
        steps: list[Step] = []
        for step in self.steps:
            callers = step.callers if isinstance(step, AtOnce) else ((step,),)
            left = [calls for caller in callers if (calls := tuple(filter(None, map(change, caller))))]
            steps += left[0] if len(left) == 1 else [AtOnce(tuple(left))] if left else []
        return Trace(tuple(steps))

    def __len__(self) -> int:
        return len(self.calls())


def calls_of(step: Step) -> tuple[Call, ...]:
    """Return the calls of a step."""
    return step.calls() if isinstance(step, AtOnce) else (step,)


def symbolic(source: Kernel, made: Iterable[Observed | Sequence[Sequence[Observed]]]) -> Trace:
    """Return a trace of calls and groups of calls at once: an id that was given is told by the reply that gave it."""
    types = CallTypes(source)
    origins: dict[str, Given] = {}
    number = 0

    def call(record: Observed) -> Call:
        nonlocal number
        number += 1
        kinds = types.takes(record.operation)
        arguments = tuple((name, _symbol(value, kinds.get(name), origins)) for name, value in record.arguments.items())
        return Call(number, record.operation, arguments)

    def note(record: Observed, made: Call) -> None:
        used = {each for value in record.arguments.values() for each in parts(value) if isinstance(each, str)}
        for field, value in types.ids(record).items():
            if value not in used:
                origins[value] = Given(made.number, field)

    steps: list[Step] = []
    for step in made:
        callers = ((step,),) if isinstance(step, Observed) else step
        calls = tuple(tuple(call(each) for each in caller) for caller in callers)
        for record, each in zip(itertools.chain(*callers), itertools.chain(*calls), strict=True):
            note(record, each)
        steps.append(calls[0][0] if isinstance(step, Observed) else AtOnce(calls))
    return Trace(tuple(steps))


def _symbol(value: Any, kind: Type | None, origins: Mapping[str, Given]) -> Any:
    """Tell a value by the replies that gave its ids; a text that merely reads like an id stays a text."""
    match value, present(kind) if kind is not None else None:
        case str(), Text():
            return value
        case str(), _:
            return origins.get(value, value)
        case list(), List(item=item):
            return tuple(_symbol(each, item, origins) for each in value)
        case list(), _:
            return tuple(_symbol(each, None, origins) for each in value)
        case dict(), plain:
            kinds = dict(plain.fields) if isinstance(plain, RecordType) else {}
            return Plain(tuple((name, _symbol(each, kinds.get(name), origins)) for name, each in value.items()))
        case _:
            return value


def without(trace: Trace, gone: Collection[int]) -> Trace:
    """Return a trace without some calls, by number, and without those that use the reply of one of them."""
    kept: set[int] = set()

    def left(call: Call) -> Call | None:
        if call.number in gone or not call.refers() <= kept:
            return None
        kept.add(call.number)
        return call

    return trace.changed(left)


def with_argument(trace: Trace, number: int, name: str, value: Any) -> Trace:
    """Return a trace with one argument changed."""

    def changed(call: Call) -> Call:
        if call.number != number:
            return call
        return replace(call, arguments=tuple((key, value if key == name else old) for key, old in call.arguments))

    return trace.changed(changed)


def stem_of(text: str) -> str:
    """Return a text without the number at its end, as in `fresh-toolcall-12`; one that was not counted is its own."""
    return _NUMBER.sub("", text)


def shape(trace: Trace) -> tuple[Any, ...]:
    """Return what is the same of traces that only number their calls, or the texts that were counted through, otherwise.

    Without the first of sixty-four equal jobs, or without the last one, a trace has the same shape.
    """
    places = {call.number: place for place, call in enumerate(trace.calls())}
    counted: dict[str, int] = {}

    def of(value: Any) -> Any:
        match value:
            case Given(step=step, field=field):
                return places[step], field
            case Plain(fields=fields):
                return tuple((name, of(each)) for name, each in fields)
            case tuple():
                return tuple(map(of, value))
            case str() if (stem := stem_of(value)) != value:
                return stem, counted.setdefault(value, len(counted))
            case _:
                return value

    def plainly(call: Call) -> tuple[Any, ...]:
        return call.operation, tuple((name, of(value)) for name, value in call.arguments)

    return tuple(
        tuple(tuple(map(plainly, caller)) for caller in step.callers) if isinstance(step, AtOnce) else plainly(step)
        for step in trace.steps
    )
