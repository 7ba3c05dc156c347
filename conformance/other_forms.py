"""Other forms of a trace that may show the same fault: simpler arguments, two calls in one, another call instead."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from conformance import kernel_facts
from conformance.trace import AtOnce, Call, Given, Trace, cut, with_argument
from statemachines.compile import Compiled
from statemachines.lifecycle import TypeUse
from statemachines.rows import values
from statemachines.types import Bool, Enum, List, Optional, Ref, Text, Type
from statemachines.words import Words

FEW = 4  # calls at the end of a trace


class OtherForms:
    """Walks forms of a trace of one lifecycle that are simpler, or shorter and not much different."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._words = Words(compiled.lifecycle)
        self._facts = kernel_facts.of(compiled)

    @staticmethod
    def one_by_one(trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which one group of calls is made one after the other, each caller being the first."""
        for index, step in enumerate(trace.steps):
            callers = step.callers if isinstance(step, AtOnce) else ()
            for first in range(len(callers)):
                calls = AtOnce((*callers[first:], *callers[:first])).calls()
                yield Trace((*trace.steps[:index], *calls, *trace.steps[index + 1 :]))

    @staticmethod
    def merged(trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which one call says what two said: their lists in one, their times in one."""
        calls = [step for step in trace.steps if isinstance(step, Call)]
        for first, second in itertools.combinations(calls, 2):
            pairs = list(zip(first.arguments, second.arguments, strict=False))
            joined = [name for (name, one), (_, other) in pairs if _add_up(first, one, other)]
            alike = all(one == other for (name, one), (_, other) in pairs if name not in joined)
            if first.operation == second.operation and joined and alike:
                wider = trace
                for (name, one), (_, other) in pairs:
                    if name in joined:
                        wider = with_argument(wider, first.number, name, one + other)
                yield cut(wider, [call.number for call in trace.calls() if call.number != second.number])

    def other_and_shorter(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces with one call fewer in which another one chooses differently: a flag, a word of a type."""
        numbers = [call.number for call in trace.calls()]
        for call in trace.calls():
            operation = self._compiled.lifecycle.operations.get(call.operation)
            for name, use in operation.takes.items() if operation is not None else ():
                kind = self._words.resolve(use)
                given = dict(call.arguments)
                known = values(self._compiled.lifecycle, use, kind) if isinstance(kind, Enum | Bool) else []
                for value in (each for each in known if name in given and each != given[name]):
                    changed = with_argument(trace, call.number, name, value)
                    for gone in numbers:
                        if gone != call.number:
                            yield cut(changed, [number for number in numbers if number != gone])

    def about_another(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which the last call, that only looks, looks at a record of the few calls before it."""
        calls = trace.calls()
        if not self._facts.observes(calls[-1].operation):
            return
        makers = {call.number: call.operation for call in calls}
        known = [value for call in calls[-FEW:-1] for _, value in call.arguments if isinstance(value, Given)]
        for name, value in calls[-1].arguments:
            for other in known if isinstance(value, Given) else ():
                if other.field == value.field and makers.get(other.step) == makers.get(value.step):
                    yield with_argument(trace, calls[-1].number, name, other)

    @staticmethod
    def waiting_longer(trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which one wait is a little longer, past an instant, and one other call is gone."""
        numbers = [call.number for call in trace.calls()]
        for call in trace.calls():
            for gone in numbers if call.operation == "wait" else ():
                if gone != call.number:
                    longer = with_argument(trace, call.number, "ms", dict(call.arguments)["ms"] + 1)
                    yield cut(longer, [number for number in numbers if number != gone])

    def instead(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which one call about a record, of which it says nothing else, does for two."""
        calls = [step for step in trace.steps if isinstance(step, Call)]
        takes = self._compiled.kernel.operations
        alone = [
            each for each in takes if len(each.parameters) == 1 and each.parameters[0].entity and each.effects
        ]
        for first, second in itertools.combinations(calls, 2):
            about = next((value for _, value in first.arguments if isinstance(value, Given)), None)
            if about is None or about not in [value for _, value in second.arguments]:
                continue
            maker = next(call.operation for call in trace.calls() if call.number == about.step)
            entity = self._facts.identified(maker).get(about.field)
            for operation in alone:
                if operation.parameters[0].entity != entity:
                    continue
                call = Call(first.number, operation.name, ((operation.parameters[0].name, about),))
                steps = tuple(call if step is first else step for step in trace.steps if step is not second)
                yield Trace(steps)

    def shorter_and_turned(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces with one call fewer and a list of another one turned round."""
        numbers = [call.number for call in trace.calls()]
        for gone in numbers:
            shorter = cut(trace, [number for number in numbers if number != gone])
            for call in shorter.calls():
                for name, value in call.arguments:
                    if isinstance(value, tuple):
                        yield with_argument(shorter, call.number, name, value[::-1])

    def shorter_and_wider(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces with one call fewer in which the last one asks for everything that it can list."""
        last = trace.calls()[-1]
        operation = self._compiled.lifecycle.operations.get(last.operation)
        for name, value in last.arguments if operation is not None else ():
            kind = self._words.resolve(operation.takes[name]) if operation is not None else None
            whole = kind.item.members if isinstance(kind, List) and isinstance(kind.item, Enum) else ()
            if isinstance(value, tuple) and set(whole) - set(value):
                wider = with_argument(trace, last.number, name, whole)
                numbers = [call.number for call in trace.calls()[:-1]]
                for gone in numbers:
                    yield cut(wider, [number for number in [*numbers, last.number] if number != gone])

    def simpler(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces with one simpler argument: the first value of its type, a shorter text."""
        for call in trace.calls():
            operation = self._compiled.lifecycle.operations.get(call.operation)
            for name, value in call.arguments:
                if operation is None:
                    if name == "ms" and value > 1:
                        yield with_argument(trace, call.number, name, 1)
                elif not isinstance(value, Given):
                    use = operation.takes[name]
                    for simpler in self._simplest(self._words.resolve(use), use, value):
                        yield with_argument(trace, call.number, name, simpler)

    def simpler_throughout(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces with one simpler word in all calls that say it: another thread, another outcome."""
        said: dict[tuple[Type, object], list[tuple[int, str, TypeUse]]] = {}
        for call in trace.calls():
            operation = self._compiled.lifecycle.operations.get(call.operation)
            takes = operation.takes if operation is not None else {}
            for name, value in call.arguments if takes else ():
                kind = self._words.resolve(takes[name])
                if isinstance(kind, Enum | Ref):
                    said.setdefault((kind, value), []).append((call.number, name, takes[name]))
        for (kind, value), places in said.items():
            for simpler in self._simplest(kind, places[0][2], value) if len(places) > 1 else ():
                changed = trace
                for number, name, _ in places:
                    changed = with_argument(changed, number, name, simpler)
                yield changed

    def _simplest(self, kind: Type, use: TypeUse, value: object) -> Iterator[object]:
        match kind:
            case Optional(item=item) if value is not None:
                yield from self._simplest(item, use, value)
            case Enum() | Ref() | Bool():
                known = (
                    values(self._compiled.lifecycle, use, kind)
                    if not isinstance(kind, Ref) or self._fixed(kind)
                    else []
                )
                yield from known[: known.index(value)] if value in known else []
            case List() if isinstance(value, tuple):
                yield from ((each,) for each in value if len(value) > 2)
                yield from (value[:index] + value[index + 1 :] for index in range(len(value)))
                yield value[::-1]
            case Text(name=name) if isinstance(value, str) and len(value) > 1 and self._free(name):
                yield from _shorter(value)

    def _fixed(self, kind: Ref) -> bool:
        return bool(self._compiled.lifecycle.entities[kind.entity].fixed)

    def _free(self, name: str) -> bool:
        """Tell whether texts of a type are only carried about, so that a short one is as good."""
        declared = self._compiled.lifecycle.types.get(name)
        return declared is not None and declared.text in ("short", "around")


def _shorter(text: str) -> Iterator[str]:
    """Walk simpler texts: one plain character, as many of them, the second half, then ever longer first parts."""
    size = len(text)
    yield from (each for each in ("x", "x" * size) if each != text)
    yield text[size // 2 :]
    gone = size // 2
    while gone > 0:
        yield text[:-gone]
        gone //= 2


def _add_up(call: Call, one: object, other: object) -> bool:
    """Tell whether what two calls say can be said by one."""
    times = call.operation == "wait" and isinstance(one, int) and isinstance(other, int)
    return times or (isinstance(one, tuple) and isinstance(other, tuple))
