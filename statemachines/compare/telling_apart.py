"""Where two models of one life cycle part: the shortest calls of which the last one is answered in another way.

Both are systems that do what they must and nothing beside it (`ModelSubject`). They take the same calls from each
configuration that the first one reaches. Where these leave other configurations behind, both go on from there side by side.
One idea: two models side by side.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from statemachines.bounds import USUAL, Bounds
from statemachines.checks import watched
from statemachines.compare.touched_code import touched
from statemachines.compile import Compiled
from statemachines.explore import (
    Chooser,
    Exploration,
    Influence,
    Instants,
    Reached,
    SmallScope,
    choosers,
    explore,
    instants_of,
    leave_out,
    numbers_beside,
)
from statemachines.kernel import Kernel, Operation, Parameter
from statemachines.model import ABSENT, CHOSEN, NO_ANSWER, Document, Impossible, Restless
from statemachines.rows import Call, ModelSubject, Observed, RowFailure, RowTooLong, Trace, symbolic
from statemachines.types import INT, RecordType, Type, present

UNTIRING: Final = replace(USUAL, own_steps=1_000_000)
"""A model is put back so often that its own steps are many."""
CANNOT: Final = (
    *NO_ANSWER,
    RecursionError,
    Impossible,
    Restless,
    RowTooLong,
)

Frozen = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Parting:
    """Calls of which the last is answered in one way by the one model, and in another way by the other.

    trace   the calls; None where the way there leads over what a system does unasked
    limits  with which both were made
    """

    trace: Trace | None
    limits: Mapping[str, int | None]
    one: Observed
    other: Observed


class _Numbered(dict[str, Any]):
    """A record in which each number is another one."""


class _UntilOwn(int):
    """Milliseconds until an instant that only one of two models knows: whoever explored the first one may not have waited so long."""


UNEXPLORED: Final = (_Numbered, _UntilOwn)
"""Values of arguments that lead to where nobody was who explored the first model."""


class ModelComparison:
    """What the configurations of a life cycle's small scope tell of other models of it.

    A model that is alike here may part elsewhere: in a larger scope, and where its rules read more than those of the first,
    for configurations that differ in nothing these read are one.
    """

    def __init__(self, one: Compiled, policies: Mapping[str, Any] | None = None, bounds: Bounds = USUAL) -> None:
        """Explore the first of the models, with the default policies if none are given."""
        self.one = one
        self.policies = policies
        self.bounds = bounds
        self.exploration: Exploration = explore(one, bounds, policies)
        self.influence = Influence(one.kernel)

    def partings(self, other: Compiled, pairs: int = 500) -> Iterator[Parting]:
        """Walk where another model parts from the first, the shortest ways first, until there are no more.

        `pairs` is how many pairs of configurations that differ are gone on from; so many calls are made as the bounds allow
        transitions.
        """
        scopes = {id(each.scope): each.scope for each in self.exploration.reached}
        left = [self.bounds.transitions]
        found = touched(self.one, other)
        only = None if found.at_any else found.operations
        sides = {number: self._sides(other, scope, pairs, left, only) for number, scope in scopes.items()}
        for each in self.exploration.reached:
            sides[id(each.scope)].begin(each)
        for side in sides.values():
            yield from side.walked()

    def _sides(
        self, other: Compiled, scope: SmallScope, pairs: int, calls_left: list[int], only: Collection[str] | None
    ) -> Sides:
        """Put both models side by side in one scope."""
        source = self.one.kernel
        one, theirs = (
            ModelSubject(watched(each, UNTIRING)(scope.limits, self.policies), each.kernel)
            for each in (self.one, other)
        )
        for subject in (one, theirs):
            leave_out(subject.model, source, self.influence, scope)
        tried = [each.name for each in source.operations if not each.blocks]
        calls = calls_to_try(self.one, scope, tried)
        return Sides(source, scope, (one, theirs), calls, pairs, calls_left, own_instants(self.one, other), only)


def own_instants(one: Compiled, other: Compiled) -> Sequence[Instants]:
    """Return the instants that only one of two models knows, for each of them."""
    ours, theirs = instants_of(one), instants_of(other)
    return ours.but(theirs), theirs.but(ours)


@dataclass(frozen=True, slots=True)
class Pair:
    """Where both models are, and the calls from a configuration that the first one reached."""

    one: Frozen
    other: Frozen
    reached: Reached
    calls: tuple[Call, ...] = ()


CallsToTry = Sequence[tuple[str, Mapping[str, Chooser], Mapping[str, Collection[int]]]]
"""Operations with what lists the values of each argument, and the numbers that are tried for one while the others are the first."""


def calls_to_try(
    compiled: Compiled,
    scope: SmallScope,
    names: Collection[str],
    lead_on: Callable[[Operation, Parameter, Chooser], Chooser] | None = None,
    other: Compiled | None = None,
) -> CallsToTry:
    """Return some operations with the arguments that are worth a try in a scope; `lead_on` leaves some of these out.

    Numbers are also those that the rules of the operation say, or those of `other` ones, and what is one less and one more.
    """
    found = []
    sides = [numbers_beside(each) for each in (compiled, other) if each is not None]
    for each in compiled.kernel.operations:
        if each.name in names:
            every = zip(each.parameters, choosers(compiled, each, scope.records), strict=True)
            lists = [
                _with_numbered(parameter.wire, chosen) if lead_on is None else lead_on(each, parameter, chosen)
                for parameter, chosen in every
            ]
            known = [parameter.name for parameter in each.parameters]
            beside = {name: set().union(*(side.get((each.name, name), ()) for side in sides)) for name in known}
            found.append((each.name, dict(zip(known, lists, strict=True)), beside))
    return found


class Sides:
    """Both models in one scope: puts them where they shall be, makes a call of both, and looks at what came of it."""

    def __init__(
        self,
        source: Kernel,
        scope: SmallScope,
        subjects: tuple[ModelSubject, ModelSubject],
        tried: CallsToTry,
        pairs: int,
        calls_left: list[int],
        own_instants: Sequence[Instants],
        only: Collection[str] | None = None,
    ) -> None:
        self.calls_left = calls_left  # of all scopes together
        # The operations that may part both where they are the same; None where all may, and the time that passes.
        self.only = only
        self.source, self.scope, self.left, self.tried = source, scope, pairs, tried
        self.one, self.other = subjects
        self.heap: list[tuple[int, int, Pair]] = []
        self.number = itertools.count()
        self.met: set[Hashable] = set()
        self.own_instants = own_instants  # those that only one of the models knows, for each of them

    def begin(self, reached: Reached) -> None:
        """Look from a configuration that the first model reaches, which the other one is put into as well."""
        self.push(Pair(reached.frozen, reached.frozen, reached))

    def push(self, pair: Pair) -> None:
        """Look from this pair, too, when those that are nearer to the start are done."""
        length = len(pair.reached.way()) + len(pair.calls)
        heapq.heappush(self.heap, (length, next(self.number), pair))

    def walked(self) -> Iterator[Parting]:
        """Walk the partings."""
        while self.heap and self.calls_left[0] > 0:
            _, _, pair = heapq.heappop(self.heap)
            self._put(pair)
            for operation, arguments in [*self.calls(pair)]:
                self.calls_left[0] -= 1
                one, other = (self.made(side, operation, arguments) for side in (self.one, self.other))
                if one is None:
                    self._put(pair)
                    continue  # nobody goes there
                call = Call(0, operation, tuple(arguments.items()))
                if other is None or seen(one) != seen(other):
                    other = other or Observed(operation, arguments)
                    if self.is_wanted(one, other):
                        yield self._parting(pair, call, one, other)
                    self._put(pair)
                    continue
                self._go_on(pair, call)

    def is_wanted(self, one: Observed, other: Observed) -> bool:
        """Return whether anybody wants to know of such a parting: of any."""
        return True

    def _go_on(self, pair: Pair, call: Call) -> None:
        """Go on from where a call led, if that is another configuration in each, or one with other numbers; put both back."""
        one, other = self.one.model.freeze(), self.other.model.freeze()
        new = one != other or any(isinstance(value, UNEXPLORED) for _, value in call.arguments)
        if new and self.left and (one, other) not in self.met:
            self.met.add((one, other))
            self.left -= 1
            self.push(Pair(one, other, pair.reached, (*pair.calls, call)))
        if (one, other) != (pair.one, pair.other):
            self._put(pair)

    def _put(self, pair: Pair) -> None:
        self.one.model.thaw(pair.one)
        self.other.model.thaw(pair.other)

    def calls(self, pair: Pair) -> Iterator[tuple[str, dict[str, Any]]]:
        """Walk the calls worth a try from where both are, those that let time pass included.

        Where both are the same, what has the same code leads to the same, and the first model has been there; but a record whose
        numbers all differ nobody has tried there.
        """
        only = self.only if pair.one == pair.other else None
        for name, arguments in self.of_operations(self.tried):
            if only is None or name in only or any(isinstance(value, UNEXPLORED) for value in arguments.values()):
                yield name, arguments
        yield from self.waits() if only is None else self.waits_for_own_instants()

    def of_operations(self, tried: CallsToTry) -> Iterator[tuple[str, dict[str, Any]]]:
        """Walk the calls of some operations, with the arguments that are worth a try from where the first model is."""
        for name, choosers_of, beside in tried:
            lists = {key: values(self.one.model) for key, values in choosers_of.items()}
            every = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
            every += [{**every[0], key: number} for key in beside if every for number in sorted(beside[key])]
            for given in every:
                yield name, {key: value for key, value in given.items() if value is not ABSENT}

    def waits(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Walk how long to wait: to each deadline, and one millisecond less and more."""
        now = self.one.model.now
        ends = {end for side in (self.one, self.other) for timer in side.model.deadlines() for end in timer[:2]}
        yield from (("wait", {"ms": ms}) for ms in _beside({end - now for end in ends}) or [1])
        yield from self.waits_for_own_instants()

    def waits_for_own_instants(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Walk how long to wait until an instant that only one of the two knows, and one millisecond less and more."""
        sides = zip((self.one, self.other), self.own_instants, strict=True)
        ends = {ms for side, instants in sides for ms in instants.coming(side.model)}
        yield from (("wait", {"ms": _UntilOwn(ms)}) for ms in _beside(ends))

    def made(self, side: ModelSubject, operation: str, arguments: dict[str, Any]) -> Observed | None:
        """Make a call; None where the spec does not say what it does, or the model cannot carry it out."""
        try:
            return side.call(operation, arguments)
        except (RowFailure, *CANNOT):
            return None

    def _parting(self, pair: Pair, last: Call, one: Observed, other: Observed) -> Parting:
        steps = pair.reached.way().calls()
        known = {each.name for each in self.source.operations} | {"wait"}
        if any(each.operation not in known for each in steps):
            return Parting(None, self.scope.limits, one, other)
        trace = symbolic(self.source, self._replayed([*steps, *pair.calls, last]))
        return Parting(trace, self.scope.limits, one, other)

    def _replayed(self, calls: Sequence[Call]) -> Iterator[Observed]:
        """Make calls of the first model from the start of a case."""
        self.one.model.reset()
        self.one.model.eager = self.one.eager
        for call in calls:
            made = self.made(self.one, call.operation, dict(call.arguments))
            yield made or Observed(call.operation, dict(call.arguments))


def _with_numbered(kind: Type, chosen: Chooser) -> Chooser:
    """Add, of a record with several numbers, one in which each is another: who mixes them up is seen by it."""
    record = present(kind)
    numbers = [name for name, each in record.fields if present(each) == INT] if isinstance(record, RecordType) else []
    if len(numbers) < 2:
        return chosen

    def values(model: Any) -> Sequence[Any]:
        found = chosen(model)
        full = next((each for each in reversed(found) if isinstance(each, dict)), None)
        return [*found, _Numbered(full | {name: 2**at for at, name in enumerate(numbers, 1)})] if full else found

    return values


def seen(made: Observed) -> tuple[Any, ...]:
    """Return what a caller sees of a call, but for what a system chooses."""
    return made.refused, _plain(made.reply), Counter(repr((name, _plain(dict(told)))) for name, told in made.signals)


def _plain(value: Any) -> Any:
    match value:
        case Document(inline=inline, text=text):
            return inline, text
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
        case _:
            return None if value is CHOSEN else value


def _beside(ends: Collection[int]) -> list[int]:
    """List how many milliseconds to wait: until each of some ends, and one millisecond less and more."""
    return sorted({ms for end in ends for ms in (end - 1, end, end + 1) if ms > 0})
