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
from statemachines.rows.programs import Observed, RowFailure
from statemachines.types import NULL, Id, List, RecordType, Text, Type, present

_NUMBER = re.compile(r"(?<=-)[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Given:
    """A value out of the reply of an earlier step: `step` is its number, `field` the way to the part (`job.id`), empty for the whole."""

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


def filled(value: Any, replies: Mapping[int, Observed]) -> Any:
    """Return an argument with what it takes out of earlier replies; raise RowFailure where one of them lacks that."""
    match value:
        case Given(step=step, field=field):
            found = part_of(replies[step].value if step in replies else None, field)
            if not isinstance(found, str):
                raise RowFailure("an earlier call gave nothing that a later one could refer to")
            return found
        case Plain(fields=fields):
            return {name: filled(each, replies) for name, each in fields}
        case tuple():
            return [filled(each, replies) for each in value]
        case _:
            return value


def part_of(reply: Any, way: str) -> Any:
    """Return the part of a reply to which a way leads, such as `job.id`; all of it by the empty one, None where there is none."""
    for name in way.split(".") if way else ():
        reply = reply.get(name) if isinstance(reply, dict) else None
    return reply


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
            left = [calls for caller in callers_of(step) if (calls := tuple(filter(None, map(change, caller))))]
            steps += left[0] if len(left) == 1 else [AtOnce(tuple(left))] if left else []
        return Trace(tuple(steps))

    def __len__(self) -> int:
        return len(self.calls())


def calls_of(step: Step) -> tuple[Call, ...]:
    """Return the calls of a step."""
    return step.calls() if isinstance(step, AtOnce) else (step,)


def callers_of(step: Step) -> tuple[tuple[Call, ...], ...]:
    """Return the calls of a step, those of each caller together."""
    return step.callers if isinstance(step, AtOnce) else ((step,),)


def refers_to(caller: Sequence[Call]) -> set[int]:
    """Return the numbers of the calls whose replies one caller uses, but for its own."""
    return {number for call in caller for number in call.refers()} - {call.number for call in caller}


class CallTypes:
    """The types of the operations of a life cycle, looked up by name; what no spec declares, such as `wait`, has none."""

    def __init__(self, source: Kernel) -> None:
        self._kernel = source
        self._operations = {operation.name: operation for operation in source.operations}

    def gives(self, operation: str) -> Type:
        """Return the type of an operation's reply."""
        found = self._operations.get(operation)
        return found.reply.type if found is not None and found.reply is not None else NULL

    def takes(self, operation: str) -> dict[str, Type]:
        """Return the types of an operation's arguments; none of what no spec declares, such as `wait`."""
        found = self._operations.get(operation)
        return {each.name: present(each.wire) for each in found.parameters} if found is not None else {}

    def identified(self, operation: str) -> dict[str, str]:
        """Return the ways to parts of a reply that hold the id of a record, the shortest first, each with its entity; '' for all of it."""
        found = dict(sorted(_ids_in(self.gives(operation)), key=lambda each: each[0].count(".")))
        return {way: entity for way, entity in found.items() if not self._kernel.entity(entity).fixed}

    def ids(self, call: Observed) -> dict[str, str]:
        """Return the ids of records in a reply that is compared, by the way to each."""
        found = {way: part_of(call.given, way) for way in self.identified(call.operation)}
        return {way: each for way, each in found.items() if isinstance(each, str)}


def _ids_in(kind: Type, way: str = "") -> Iterator[tuple[str, str]]:
    """Walk the ways to ids in a value of a type, each with its entity: records in records as well, but no lists."""
    match present(kind):
        case Id(entity=entity):
            yield way, entity
        case RecordType(fields=fields):
            for name, field in fields:
                yield from _ids_in(field, f"{way}.{name}" if way else name)


def symbolic(source: Kernel, made: Iterable[Observed | Sequence[Sequence[Observed]]]) -> Trace:
    """Return a trace of calls and groups of calls at once: an id that was given is told by the reply that gave it.

    What only looks tells of an id that nobody gave before, and takes over none.
    """
    types, looks = CallTypes(source), {each.name for each in source.operations if each.observes}
    origins: dict[str, Given] = {}
    numbers = itertools.count(1)

    def calls(caller: Sequence[Observed], known: dict[str, Given]) -> tuple[Call, ...]:
        """Tell the calls of one caller; what these give is known to those that follow."""
        told = []
        for record in caller:
            kinds, values = types.takes(record.operation), record.arguments
            arguments = tuple((name, _symbol(value, kinds.get(name), known)) for name, value in values.items())
            told.append(Call(next(numbers), record.operation, arguments))
            used = {part for value in values.values() for part in parts(value) if isinstance(part, str)}
            given = {value: Given(told[-1].number, field) for field, value in types.ids(record).items()}
            old = {*used, *known} if record.operation in looks else used
            known |= {value: reply for value, reply in given.items() if value not in old}
        return tuple(told)

    steps: list[Step] = []
    for step in made:
        if isinstance(step, Observed):
            steps += calls([step], origins)
            continue
        before, own = {**origins}, [{**origins} for _ in step]
        steps.append(AtOnce(tuple(map(calls, step, own))))
        for each in own:
            origins |= {value: reply for value, reply in each.items() if before.get(value) != reply}
    return Trace(tuple(steps))


def _symbol(value: Any, kind: Type | None, origins: Mapping[str, Given]) -> Any:
    """Tell a value by the replies that gave its ids; a text that merely reads like an id stays a text."""
    match value, present(kind) if kind is not None else None:
        case str(), Text():
            return value
        case str(), _:
            return origins.get(value, value)
        case list(), plain:
            return tuple(_symbol(each, plain.item if isinstance(plain, List) else None, origins) for each in value)
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
    return _with_call(
        trace, number, lambda call: tuple((key, value if key == name else old) for key, old in call.arguments)
    )


def otherwise(trace: Trace, numbers: Collection[int], name: str) -> Trace:
    """Return a trace in which some calls, by number, say no for a yes and yes for a no."""

    def said(call: Call) -> Call:
        other = tuple((key, not value if key == name else value) for key, value in call.arguments)
        return replace(call, arguments=other) if call.number in numbers else call

    return trace.changed(said)


def without_last_argument(trace: Trace, number: int) -> Trace:
    """Return a trace in which one call leaves out its last argument."""
    return _with_call(trace, number, lambda call: call.arguments[:-1])


def _with_call(trace: Trace, number: int, arguments: Callable[[Call], tuple[tuple[str, Any], ...]]) -> Trace:
    return trace.changed(lambda call: replace(call, arguments=arguments(call)) if call.number == number else call)


def stem_of(text: str) -> str:
    """Return a text without the number at its end, as in `fresh-toolcall-12`; one that was not counted is its own."""
    return _NUMBER.sub("", text)


def shape(trace: Trace) -> Trace:
    """Return what is the same of traces that only number their calls, or the texts that were counted through, otherwise.

    Without the first of sixty-four equal jobs, or without the last one, a trace has the same shape.
    """
    places = {call.number: place for place, call in enumerate(trace.calls())}
    counted: dict[str, int] = {}

    def of(value: Any) -> Any:
        match value:
            case Given(step=step, field=field):
                return Given(places[step], field)
            case Plain(fields=fields):
                return Plain(tuple((name, of(each)) for name, each in fields))
            case tuple():
                return tuple(map(of, value))
            case str() if (stem := stem_of(value)) != value:
                return stem, counted.setdefault(value, len(counted))
            case _:
                return value

    return trace.changed(lambda call: Call(0, call.operation, tuple((name, of(each)) for name, each in call.arguments)))
