"""Traces with simpler values: that by default, or the first of its type, a shorter text, a short time, a small number, or nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from conformance.judge import kernel_facts
from statemachines.compile import Compiled
from statemachines.explore import bounds_of
from statemachines.lifecycle import TypeUse
from statemachines.rows import Call, Given, Trace, is_plain, values, with_argument, without_last_argument
from statemachines.types import Bool, Enum, Int, List, Optional, Ref, Text, Type
from statemachines.words import Words


class Simpler:
    """Walks traces with simpler values of one life cycle."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled, self._lifecycle = compiled, compiled.lifecycle
        self._facts = kernel_facts.of(compiled)
        self._words = Words(compiled.lifecycle)

    def values(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces with one simpler value: the first of its type, a shorter text, a short time, one of the two least numbers."""
        for call in trace.calls():
            operation = self._lifecycle.operations.get(call.operation)
            for name, value in call.arguments:
                if operation is None:
                    simpler: Iterator[object] = _rounder(value) if name == "ms" else iter(())
                else:
                    use = operation.takes[name]
                    simpler = self._simplest(self._words.types.resolve(use), use, value)
                for each in simpler:
                    yield with_argument(trace, call.number, name, each)

    def everywhere(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which a value that is known before any call, or a name, is a simpler one wherever it stands.

        In one call alone it would be another record's, or another name: a job of thread t10 is not in the list of t1.
        """
        for value, kind in dict.fromkeys(each for call in trace.calls() for each in self._texts(call)):
            for simpler in self._simpler_name(trace, value, kind):
                yield trace.changed(partial(self._with, kind, value, simpler))

    def _texts(self, call: Call) -> Iterator[tuple[str, Type]]:
        """Walk the arguments of a call that are texts, with their types."""
        takes = self._facts.takes(call.operation)
        given = ((value, takes[name]) for name, value in call.arguments if name in takes)
        yield from ((value, kind) for value, kind in given if isinstance(value, str))

    def _with(self, kind: Type, value: str, simpler: str, call: Call) -> Call:
        """Return a call with a simpler one in place of a value of a type."""
        takes = self._facts.takes(call.operation)
        changed = ((name, simpler if (old, takes.get(name)) == (value, kind) else old) for name, old in call.arguments)
        return replace(call, arguments=tuple(changed))

    def _simpler_name(self, trace: Trace, value: str, kind: Type) -> Iterator[str]:
        match kind:
            case Ref(entity=entity):
                known = [word.text for word in self._lifecycle.entities[entity].fixed]
                yield from known[: known.index(value)] if value in known else ()
            case Text(name=name) if self._is_name(name) and not is_plain(value):
                names = (f"{name}-{number}" for number in itertools.count(1))
                taken = {each for call in trace.calls() for each, _ in self._texts(call)}
                yield next(each for each in names if each not in taken)

    def left_out(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which one call leaves out its last argument, where that means the same."""
        for call in trace.calls():
            operation = self._lifecycle.operations.get(call.operation)
            if operation is None or not call.arguments:
                continue
            name, value = call.arguments[-1]
            default = operation.takes[name].default
            if default is not None and default.text == _as_written(value):
                yield without_last_argument(trace, call.number)

    def first_record(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which the last call, that only looks, looks at the first record that was made alike."""
        *before, last = trace.steps
        if not isinstance(last, Call) or not self._facts.observes(last.operation):
            return
        makers = {call.number: call.operation for call in Trace(tuple(before)).calls()}
        for name, value in last.arguments:
            if isinstance(value, Given):
                alike = (number for number, maker in makers.items() if maker == makers[value.step])
                yield with_argument(trace, last.number, name, Given(next(alike), value.field))

    def _simplest(self, kind: Type, use: TypeUse, value: object) -> Iterator[object]:
        match kind:
            case Optional(item=item) if value is not None:
                yield from self._simplest(item, use, value)
            case Enum() | Ref() | Bool():
                known = values(self._lifecycle, use, kind) if self._is_fixed(kind) else []
                usual = [each for each in known if use.default is not None and _as_written(each) == use.default.text]
                known = [*usual, *(each for each in known if each not in usual)]
                yield from known[: known.index(value)] if value in known else []
            case Int() if isinstance(value, int):
                least = bounds_of(self._compiled, use)
                first = least[0] if least is not None else 0
                yield from (each for each in (first, first + 1) if each < value)
            case List() if isinstance(value, tuple):
                yield from ((each,) for each in value if len(value) > 2)
                yield from (value[:index] + value[index + 1 :] for index in range(len(value)))
                yield value[::-1]
            case Text(name=name) if isinstance(value, str) and len(value) > 1 and self._is_free(name):
                yield from _shorter(value)

    def _is_fixed(self, kind: Type) -> bool:
        """Return whether the values of a type are known before any call: not the ids of records that come and go."""
        return not isinstance(kind, Ref) or bool(self._lifecycle.entities[kind.entity].fixed)

    def _is_free(self, name: str) -> bool:
        """Return whether texts of a type are only carried about, so that a short one is as good."""
        declared = self._lifecycle.types.get(name)
        return declared is not None and declared.text in ("short", "around")

    def _is_name(self, name: str) -> bool:
        """Return whether a text of a type is a name: another new one is as good, if it is another one everywhere."""
        declared = self._lifecycle.types.get(name)
        return declared is not None and declared.text == "fresh or reused"


def _as_written(value: object) -> object:
    """Return a value as a spec writes it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case _:
            return value


def _rounder(milliseconds: int) -> Iterator[int]:
    """Walk shorter times that are easy to read, the shortest first: 1, 2, 5, 10 and so on."""
    yield from (
        each
        for zeros in range(len(str(milliseconds)))
        for each in (10**zeros, 2 * 10**zeros, 5 * 10**zeros)
        if each < milliseconds
    )


def _shorter(text: str) -> Iterator[str]:
    """Walk simpler texts: one plain character, as many of them, the second half, then ever longer first parts."""
    size = len(text)
    yield from (each for each in ("x", "x" * size) if each != text)
    yield text[size // 2 :]
    gone = size // 2
    while gone > 0:
        yield text[:-gone]
        gone //= 2
