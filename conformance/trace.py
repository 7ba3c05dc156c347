"""A trace: calls with symbolic arguments, so that it can be cut, replayed elsewhere, and read as a row.

An id that the system chose is written as the reply that it came from; everything else stands as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance import kernel_facts
from conformance.adapter import Adapter
from conformance.case import CallFailed, Case, Recorded
from conformance.divergence import Divergence
from statemachines.compile import Compiled
from statemachines.rows import Answer, RowFailure
from statemachines.types import List, Record, Text, Type, present

_NUMBER = re.compile(r"(?<=-)[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Given:
    """A value out of the reply of an earlier step: `step` is its number, `field` the part."""

    step: int
    field: str


@dataclass(frozen=True, slots=True)
class Plain:
    """A plain value with named fields."""

    fields: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One call: `number` identifies it while others are cut away."""

    number: int
    operation: str
    arguments: tuple[tuple[str, Any], ...]

    def refers(self) -> set[int]:
        """Give the numbers of the calls whose replies it uses."""
        return {
            value.step
            for _, argument in self.arguments
            for value in parts(argument)
            if isinstance(value, Given)
        }


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
        """Give all the calls."""
        return tuple(call for caller in self.callers for call in caller)


Step = Call | AtOnce


@dataclass(frozen=True, slots=True)
class Trace:
    """Steps in order."""

    steps: tuple[Step, ...]

    def calls(self) -> tuple[Call, ...]:
        """Give all the calls, those at once included."""
        return tuple(call for step in self.steps for call in calls_of(step))

    def __len__(self) -> int:
        return len(self.calls())


def calls_of(step: Step) -> tuple[Call, ...]:
    """Give the calls of a step."""
    return step.calls() if isinstance(step, AtOnce) else (step,)


def symbolic(compiled: Compiled, records: Sequence[Recorded]) -> Trace:
    """Make a trace of what a case recorded: an id that was given is told by the reply that gave it."""
    facts = kernel_facts.of(compiled)
    origins: dict[str, Given] = {}
    number = 0

    def call(record: Recorded) -> Call:
        nonlocal number
        number += 1
        kinds = facts.takes(record.operation)
        arguments = tuple(
            (name, _symbol(value, kinds.get(name), origins)) for name, value in record.arguments.items()
        )
        return Call(number, record.operation, arguments)

    def note(record: Recorded, made: Call) -> None:
        used = {each for value in record.arguments.values() for each in parts(value) if isinstance(each, str)}
        for field, value in record.ids.items():
            if value not in used:
                origins[value] = Given(made.number, field)

    steps: list[Step] = []
    for record in records:
        made: Call
        if record.at_once:
            callers = tuple(tuple(call(each) for each in caller) for caller in record.at_once)
            for caller, calls in zip(record.at_once, callers, strict=True):
                for each, one in zip(caller, calls, strict=True):
                    note(each, one)
            steps.append(AtOnce(callers))
        else:
            made = call(record)
            note(record, made)
            steps.append(made)
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
            kinds = dict(plain.fields) if isinstance(plain, Record) else {}
            return Plain(
                tuple((name, _symbol(each, kinds.get(name), origins)) for name, each in value.items())
            )
        case _:
            return value


def cut(trace: Trace, keep: Iterable[int]) -> Trace:
    """Keep some calls by number, and drop those that use the reply of a dropped one."""
    kept: set[int] = set()
    wanted = set(keep)
    steps: list[Step] = []
    for step in trace.steps:
        if isinstance(step, AtOnce):
            callers = tuple(
                tuple(call for call in caller if call.number in wanted and call.refers() <= kept)
                for caller in step.callers
            )
            callers = tuple(caller for caller in callers if caller)
            kept |= {call.number for caller in callers for call in caller}
            if len(callers) > 1:
                steps.append(AtOnce(callers))
            elif callers:
                steps += callers[0]
        elif step.number in wanted and step.refers() <= kept:
            kept.add(step.number)
            steps.append(step)
    return Trace(tuple(steps))


def stem_of(text: str) -> str:
    """Give a text without the number at its end, as in `fresh-toolcall-12`; one that was not counted is its own."""
    return _NUMBER.sub("", text)


def shape(trace: Trace) -> tuple[Any, ...]:
    """Give what is the same of traces that only number their calls, or the texts that were counted through, otherwise.

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
        tuple(tuple(map(plainly, caller)) for caller in step.callers)
        if isinstance(step, AtOnce)
        else plainly(step)
        for step in trace.steps
    )


@dataclass(frozen=True, slots=True)
class Played:
    """What came of playing a trace: the divergence, if there was one, and the calls up to it.

    `origins` tells for every id that the system chose which reply it came from; `transcript` what was said meanwhile.
    """

    divergence: Divergence | None
    trace: Trace
    overlaps: int = 0
    origins: tuple[tuple[str, Given], ...] = ()
    transcript: tuple[str, ...] = ()


def play(compiled: Compiled, adapter: Adapter, trace: Trace, seed: int = 0) -> Played:
    """Play a trace on a fresh system, judged, up to the first divergence; one that goes astray shows nothing."""
    case = Case(compiled, adapter, seed)
    player = _Player(case)
    at_once = any(isinstance(step, AtOnce) for step in trace.steps)
    for index, step in enumerate(trace.steps):
        try:
            player.take(step)
        except (CallFailed, RowFailure):
            if case.divergence is None:
                return Played(None, Trace(()))
        if case.astray or (case.divergence is not None and case.judge.unsure and not at_once):
            return Played(None, Trace(()))
        if case.divergence is not None:
            return player.played(case.divergence, Trace(trace.steps[: index + 1]))
    return player.played(next(iter(case.judge.findings), None), trace)


class _Player:
    """Makes the calls of a trace, filling in what earlier replies gave."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._replies: dict[int, Answer] = {}

    def played(self, divergence: Divergence | None, trace: Trace) -> Played:
        """Say what came of it."""
        case = self._case
        return Played(divergence, trace, case.overlaps, self._origins(), case.adapter.transcript())

    def _origins(self) -> tuple[tuple[str, Given], ...]:
        """Give the ids in the replies so far, each with the reply that it came from first."""
        found: dict[str, Given] = {}
        facts = kernel_facts.of(self._case.compiled)
        for number, reply in sorted(self._replies.items()):
            for field, value in facts.ids(reply.operation, reply.given).items():
                found.setdefault(value, Given(number, field))
        return tuple(found.items())

    def take(self, step: Step) -> None:
        if isinstance(step, Call):
            self._make(step)
            return
        self._case.together([self._body(caller) for caller in step.callers])

    def _body(self, calls: tuple[Call, ...]) -> Any:
        def body() -> None:
            for call in calls:
                self._make(call)

        return body

    def _make(self, call: Call) -> None:
        arguments = {name: self._value(value) for name, value in call.arguments}
        self._replies[call.number] = self._case.call(call.operation, arguments)

    def _value(self, value: Any) -> Any:
        match value:
            case Given(step=step, field=field):
                given = self._replies[step].value
                if not isinstance(given, dict):
                    raise RowFailure(
                        f"{self._replies[step].operation} gave nothing that a later call could refer to"
                    )
                return given[field]
            case Plain(fields=fields):
                return {name: self._value(each) for name, each in fields}
            case tuple():
                return [self._value(each) for each in value]
            case _:
                return value


def with_argument(trace: Trace, number: int, name: str, value: Any) -> Trace:
    """Give a trace with one argument changed."""

    def changed(call: Call) -> Call:
        if call.number != number:
            return call
        return replace(
            call, arguments=tuple((key, value if key == name else old) for key, old in call.arguments)
        )

    steps = tuple(
        AtOnce(tuple(tuple(changed(call) for call in caller) for caller in step.callers))
        if isinstance(step, AtOnce)
        else changed(step)
        for step in trace.steps
    )
    return Trace(steps)
