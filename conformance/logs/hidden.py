"""Calls that a log does not show: taken on the model, as many as may have come before what is seen next."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.judge import Configuration, Event, Lockstep, calls_of, comparable, kernel_facts
from conformance.logs.reading import texts_of
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import choosers
from statemachines.model import ABSENT, ANYTHING, BaseModel, Document, Signal
from statemachines.rows import Observed, parts
from statemachines.types import NULL, Bool, Enum, Id, List, RecordType, Ref, Text, Type, present
from statemachines.undecided import each_choice

MOST_BETWEEN = 3  # calls that nobody logged between two that are
MOST_STARTS = 500  # configurations that such calls lead to, of which the next entry is looked at
MOST_ARGUMENTS = 200  # ways in which one operation may have been called


@dataclass(frozen=True, slots=True)
class _Start:
    """What an event may find: a configuration, and the signals that nothing has explained so far."""

    configuration: Configuration
    signals: tuple[Signal, ...]

    @property
    def key(self) -> Any:
        """What makes two of them the same."""
        one = self.configuration
        return type(one.model), one.model.freeze(), one.standing, tuple(map(comparable, self.signals))


class HiddenCalls:
    """Takes calls of operations that the log does not show, those apart that change nothing."""

    def __init__(self, compiled: Compiled, names: Sequence[str], lockstep: Lockstep) -> None:
        self._lockstep = lockstep
        self._facts = kernel_facts.of(compiled)
        changing = [each for each in compiled.kernel.operations if each.name in names and not each.observes]
        self._operations = [(each, choosers(compiled, each, {})) for each in changing]

    @property
    def any(self) -> bool:
        """Whether there are such calls."""
        return bool(self._operations)

    def before(self, configurations: Sequence[Configuration], event: Event) -> list[tuple[Event, list[Configuration]]]:
        """Return an event with the configurations that it may find, those that hidden calls lead to among them.

        What such calls took and made is among what the event tells of, or among what the model knows. Signals that came of
        them are not the event's any more.
        """
        if not self._operations:
            return [(event, list(configurations))]
        shown = list(dict.fromkeys(_texts(event)))
        seen = bytes(self._lockstep.seen)
        latest = [_Start(each, event.signals) for each in configurations]
        found, known = list(latest), {each.key for each in latest}
        for _ in range(MOST_BETWEEN):
            latest = [each for each in self._next(latest, event, shown) if _added(known, each.key)]
            found += latest
            if len(found) > MOST_STARTS:
                self._lockstep.unsure = True
                break
        self._lockstep.seen[:] = seen  # what is only tried has not come to pass
        left: dict[tuple[Any, ...], list[Configuration]] = {}
        for each in found[:MOST_STARTS]:
            left.setdefault(each.signals, []).append(each.configuration)
        return [(replace(event, signals=signals), starts) for signals, starts in left.items()]

    def _next(self, starts: Sequence[_Start], event: Event, shown: Sequence[str]) -> Iterator[_Start]:
        first = next(iter(calls_of(event)))
        for start in starts:
            model = start.configuration.model
            state = model.freeze()
            for operation, values in self._operations:
                for call in self._calls(operation, values, model, shown):
                    if not any(
                        each.decide(call.operation, call.arguments).accept for each in each_choice(model.fork())
                    ):
                        continue
                    for taken in ((), *((each,) for each in start.signals)):
                        made = replace(call, began=first.began, ended=first.began, within=first.within, signals=taken)
                        one = replace(start.configuration, model=model.thawed(state))
                        left = tuple(each for each in start.signals if each not in taken)
                        yield from (_Start(each, left) for each in self._lockstep.led_to([one], made)[0])

    def _calls(
        self, operation: kernel.Operation, values: Sequence[Any], model: BaseModel, shown: Sequence[str]
    ) -> Iterator[Observed]:
        """Walk the ways in which an operation may have been called."""
        columns = [
            _worth(each.wire, list(chooser(model)), shown)
            for each, chooser in zip(operation.parameters, values, strict=True)
        ]
        names = [each.name for each in operation.parameters]
        for arguments in itertools.islice(itertools.product(*columns), MOST_ARGUMENTS):
            given = {name: value for name, value in zip(names, arguments, strict=True) if value is not ABSENT}
            for reply in self._replies(operation.name, shown):
                yield Observed(operation.name, given, reply=reply)

    def _replies(self, operation: str, shown: Sequence[str]) -> Iterator[Any]:
        """Walk what may have been given: of a reply only the id of a new record counts, and that was seen afterwards."""
        minted, kind = list(self._facts.minted_in(operation)), self._facts.gives(operation)
        if not minted:
            yield None if kind == NULL else ANYTHING
            return
        for ids in itertools.permutations(shown, len(minted)):
            if not isinstance(kind, RecordType):
                yield ids[0]
                continue
            yield {name: ANYTHING for name, _ in kind.fields} | dict(zip(minted, ids, strict=True))


def _worth(kind: Type, values: list[Any], shown: Sequence[str]) -> list[Any]:
    """Return the values of an argument that may have been given: of texts those that are seen afterwards, too."""
    match present(kind):
        case Bool() | Enum() | Ref() | List() | RecordType():
            return values
        case Text() | Id():
            return list(
                dict.fromkeys([*shown, *(each for each in values if each is ABSENT or each is None), *values[-1:]])
            )
        case _:
            return values


def _texts(event: Event) -> Iterator[str]:
    """Walk the texts that an event tells of."""
    for call in calls_of(event):
        values = dict(call.arguments), call.reply, [dict(fields) for _, fields in event.signals]
        yield from texts_of(*values)
        yield from (each.text for each in parts(values) if isinstance(each, Document))


def _added(known: set[Any], key: Any) -> bool:
    if key in known:
        return False
    known.add(key)
    return True
