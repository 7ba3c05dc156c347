"""The shortest trace that still shows the same fault, found by cutting in terms of jobs.

Whole jobs go first, then stretches of calls, then single calls; what is left gets its simplest
arguments. The model decides what stays a legal case, so no try is wasted on nonsense. The same fault
is the same clause, kind and operation.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance import kernel_facts
from conformance.trace import AtOnce, Call, Given, Played, Trace, cut, shape, with_argument
from statemachines.compile import Compiled
from statemachines.lifecycle import TypeUse
from statemachines.rows import values
from statemachines.types import Bool, Enum, List, Optional, Ref, Text, Type
from statemachines.words import Words

FEW = 8  # calls at once that are cut one by one from the start
SHORT = 12  # calls of a trace that is worth a search for two changes at once
Play = Callable[[Trace], Played]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The shortest trace found, what it shows, and how many tries it took."""

    trace: Trace
    played: Played
    tries: int


class Shrinker:
    """Shrinks one trace; `play` tells what a candidate shows."""

    def __init__(self, compiled: Compiled, play: Play, budget: float) -> None:
        self._compiled = compiled
        self._words = Words(compiled.lifecycle)
        self._facts = kernel_facts.of(compiled)
        self._play = play
        self._until = time.monotonic() + budget
        self._tries = 0
        self._known: set[tuple[Any, ...]] = set()

    def shrink(self, first: Played) -> Shrunk:
        """Cut while the same fault shows; every pass goes on from the best trace so far."""
        assert first.divergence is not None  # there is nothing to shrink otherwise
        self._best, self._key = first, first.divergence.key
        self._coarsely()
        size = 0
        while len(self._best.trace) != size and time.monotonic() < self._until:
            size = len(self._best.trace)
            self._shrink_groups()
            self._cut_sets(self._of_operations)
            self._cut_sets(self._of_jobs)
            self._cut_stretches()
            self._try_each(self._one_by_one)
            self._try_each(self._simpler)
            if size == len(self._best.trace):
                self._try_each(self._shorter_and_wider)
            if size == len(self._best.trace) <= SHORT:
                self._try_each(self._merged)
                self._try_each(self._waiting_once)
                self._try_each(self._waiting_longer)
                self._try_each(self._instead)
                self._try_each(self._other_and_shorter)
                self._try_each(self._shorter_and_turned)
        return Shrunk(self._best.trace, self._best, self._tries)

    def _coarsely(self) -> None:
        """Drop what is large, or what nothing refers to, before a long trace is looked at call by call."""
        self._shrink_groups()
        self._cut_sets(self._of_operations)
        self._cut_sets(self._of_idle)
        least = len(self._best.trace) // 16
        self._cut_stretches(least)
        self._cut_sets(self._of_jobs, least)

    def _shrink_groups(self) -> None:
        """Try small groups of calls at once first: two callers with one call each, then twice as many of both."""
        for step in self._best.trace.steps:
            if not isinstance(step, AtOnce) or len(step.calls()) <= FEW:
                continue
            others = {call.number for call in self._best.trace.calls()} - {
                call.number for call in step.calls()
            }
            for callers in sorted({2, min(4, len(step.callers)), len(step.callers)}):
                size = 1
                while size < max(map(len, step.callers)):
                    smaller = {call.number for caller in step.callers[:callers] for call in caller[:size]}
                    if self._shows(cut(self._best.trace, others | smaller)):
                        return
                    size *= 2

    def _shows(self, candidate: Trace) -> bool:
        """Play a candidate, unless it was played before; keep it when it shows the same fault."""
        if (
            not candidate.steps
            or time.monotonic() > self._until
            or (known := shape(candidate)) in self._known
        ):
            return False
        self._known.add(known)
        self._tries += 1
        played = self._play(candidate)
        if played.divergence is None or played.divergence.key != self._key:
            return False
        self._best = played
        return True

    def _without(self, gone: set[int]) -> bool:
        """Try the best trace without some calls."""
        trace = self._best.trace
        return self._shows(cut(trace, [call.number for call in trace.calls() if call.number not in gone]))

    def _cut_sets(self, sets: Callable[[], list[set[int]]], least: int = 1) -> None:
        """Drop as many sets of calls as possible: half of them first, then quarters, down to the least."""
        size = len(sets())
        while size >= max(least, 1):
            position = 0
            while position < len(found := sets()):
                if not self._without(set().union(*found[position : position + size])):
                    position += size
            size //= 2

    def _of_jobs(self) -> list[set[int]]:
        """Give the calls whose replies others use: what they created goes with all that uses it."""
        return [
            {number}
            for number in sorted({each for call in self._best.trace.calls() for each in call.refers()})
        ]

    def _of_idle(self) -> list[set[int]]:
        """Give the calls that create something to which no other call refers."""
        used = {each for call in self._best.trace.calls() for each in call.refers()}
        calls = self._best.trace.calls()[:-1]
        return [
            {call.number}
            for call in calls
            if call.number not in used and self._facts.identified(call.operation)
        ]

    def _of_operations(self) -> list[set[int]]:
        """Give the calls of each operation, in the order of appearance."""
        found: dict[str, set[int]] = {}
        for call in self._best.trace.calls():
            found.setdefault(call.operation, set()).add(call.number)
        return list(found.values())

    def _cut_stretches(self, least: int = 1) -> None:
        """Drop stretches of calls, from the end to the beginning, halving their length down to the least."""
        size = max(len(self._best.trace) // 2, 1)
        while size >= max(least, 1):
            end = len(self._best.trace)
            while end > 0:
                numbers = [call.number for call in self._best.trace.calls()]
                end = min(end, len(numbers))
                self._without(set(numbers[max(end - size, 0) : end]))
                end -= size
            size //= 2

    def _try_each(self, candidates: Callable[[Trace], Iterator[Trace]]) -> None:
        """Take simpler forms of the trace as long as one shows the fault."""
        progress = True
        while progress and time.monotonic() < self._until:
            progress = any(self._shows(candidate) for candidate in candidates(self._best.trace))

    @staticmethod
    def _one_by_one(trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which one group of calls is made one after the other."""
        for index, step in enumerate(trace.steps):
            if isinstance(step, AtOnce):
                yield Trace((*trace.steps[:index], *step.calls(), *trace.steps[index + 1 :]))

    @staticmethod
    def _merged(trace: Trace) -> Iterator[Trace]:
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

    def _other_and_shorter(self, trace: Trace) -> Iterator[Trace]:
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

    @staticmethod
    def _waiting_once(trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which one wait is as long as two that followed each other."""
        for first, second in itertools.pairwise(trace.calls()):
            if first.operation == second.operation == "wait":
                whole = dict(first.arguments)["ms"] + dict(second.arguments)["ms"]
                longer = with_argument(trace, first.number, "ms", whole)
                yield cut(longer, [call.number for call in trace.calls() if call.number != second.number])

    @staticmethod
    def _waiting_longer(trace: Trace) -> Iterator[Trace]:
        """Walk the traces in which one wait is a little longer, past an instant, and one other call is gone."""
        numbers = [call.number for call in trace.calls()]
        for call in trace.calls():
            for gone in numbers if call.operation == "wait" else ():
                if gone != call.number:
                    longer = with_argument(trace, call.number, "ms", dict(call.arguments)["ms"] + 1)
                    yield cut(longer, [number for number in numbers if number != gone])

    def _instead(self, trace: Trace) -> Iterator[Trace]:
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

    def _shorter_and_turned(self, trace: Trace) -> Iterator[Trace]:
        """Walk the traces with one call fewer and a list of another one turned round."""
        numbers = [call.number for call in trace.calls()]
        for gone in numbers:
            shorter = cut(trace, [number for number in numbers if number != gone])
            for call in shorter.calls():
                for name, value in call.arguments:
                    if isinstance(value, tuple):
                        yield with_argument(shorter, call.number, name, value[::-1])

    def _shorter_and_wider(self, trace: Trace) -> Iterator[Trace]:
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

    def _simpler(self, trace: Trace) -> Iterator[Trace]:
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
                yield from ("x",)

    def _fixed(self, kind: Ref) -> bool:
        return bool(self._compiled.lifecycle.entities[kind.entity].fixed)

    def _free(self, name: str) -> bool:
        """Tell whether texts of a type are only carried about, so that a short one is as good."""
        declared = self._compiled.lifecycle.types.get(name)
        return declared is not None and declared.text in ("short", "around")


def _add_up(call: Call, one: object, other: object) -> bool:
    """Tell whether what two calls say can be said by one."""
    times = call.operation == "wait" and isinstance(one, int) and isinstance(other, int)
    return times or (isinstance(one, tuple) and isinstance(other, tuple))
