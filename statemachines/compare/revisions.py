"""Where two revisions of a life cycle part: models of both beside each other, that choose in one way what is left to them.

Unlike a mutant, a revision may keep other fields, and know other operations. So the other model is put nowhere: it makes the
same calls from the start. From configurations that are the same in both, only those operations are tried that may do
something else there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from statemachines.bounds import USUAL, Bounds
from statemachines.checks import watched
from statemachines.compare.telling_apart import (
    CANNOT,
    UNTIRING,
    Frozen,
    Pair,
    Parting,
    Sides,
    calls_to_try,
    own_instants,
)
from statemachines.compare.touched_code import WAIT, touched
from statemachines.compile import Compiled
from statemachines.explore import Influence, Reached, SmallScope, explore, fewer, leave_out
from statemachines.expression import python_name
from statemachines.generate import message_names, record_names
from statemachines.kernel import Kernel, Operation
from statemachines.rows import ModelSubject, Observed
from statemachines.types import Enum, Optional, Ref, Type, present

UNSAID: Final = "(nobody asks)"
"""In place of a code: the spec does not say what happens."""
WAITS: Final = "(it waits)"
"""In place of a code: the call does not come back before something else happens."""

Way = Mapping[str, Any]
"""What both models choose (`ModelSubject`)."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a system declares: limits and policies that are not the default ones."""

    limits: Mapping[str, int | None] = field(default_factory=dict)
    policies: Mapping[str, Any] = field(default_factory=dict)


class RevisionComparison:
    """Two revisions beside each other, in the configurations of the small scope that a model of the first one reaches.

    touched      what they may do otherwise
    exploration  these configurations
    """

    def __init__(
        self,
        one: Compiled,
        other: Compiled,
        ours: Declared,
        theirs: Declared,
        bounds: Bounds = USUAL,
        *,
        wide: bool = False,
    ) -> None:
        """Explore the first one, or more of it where the scope is `wide`, as a system that declares something makes it."""
        self.one, self.other = one, other
        self.declared = (ours, theirs)
        self.touched = touched(one, other, _otherwise(one, other, ours, theirs))
        self.common = [each.name for each in one.kernel.operations if alike(each, _operation(other.kernel, each.name))]
        seen = self.touched.otherwise
        self.influence = Influence(one.kernel, seen)
        self.exploration = explore(one, bounds, ours.policies, ours.limits, wide=wide, seen=seen)
        self._left: list[list[int]] = []

    @property
    def ended_early(self) -> bool:
        """Whether the last walk made as many calls as the bounds allow, and would have made more."""
        return any(left <= 0 for (left,) in self._left)

    def partings(self, way: Way, calls: int, of_a_kind: int, pairs: int = 300) -> Iterator[Parting]:
        """Walk where the two part when both choose in one way, the shortest ways first, in so many `calls` or twice as many.

        Of partings of one operation with the same answers there are so many `of_a_kind`.
        """
        if not self.touched:
            return
        kinds: Counter[Any] = Counter()
        self._left = []
        for every in (False, True):
            yield from self._partings(way, calls, kinds, of_a_kind, pairs, every=every)

    def _partings(
        self, way: Way, calls: int, kinds: Counter[Any], of_a_kind: int, pairs: int, *, every: bool
    ) -> Iterator[Parting]:
        """Walk partings with `every` argument of what may be done otherwise, or with those alone that lead on."""
        number = len({id(each.scope) for each in self.exploration.reached})
        left = {id(each.scope): [calls // number] for each in self.exploration.reached}
        self._left += left.values()
        sides: dict[int, _SideBySide] = {}
        for each in self.exploration.reached:
            known = sides.get(id(each.scope))
            side = known or _SideBySide(self, each.scope, way, pairs, left[id(each.scope)], kinds, of_a_kind)
            side.every = every
            sides[id(each.scope)] = side
            side.begin(each)
        for side in sides.values():
            yield from side.walked()

    def subjects(self, scope: SmallScope, way: Way) -> tuple[ModelSubject, ModelSubject]:
        """Make a model of each revision."""
        found = []
        for compiled, declared in zip((self.one, self.other), self.declared, strict=True):
            known = compiled.lifecycle.limits
            limits = {name: size for name, size in scope.limits.items() if name in known} | dict(declared.limits)
            model = watched(compiled, UNTIRING)(limits, declared.policies)
            leave_out(model, compiled.kernel, self.influence, scope)
            found.append(ModelSubject(model, compiled.kernel, **way))
        return found[0], found[1]


def alike(one: Operation, other: Operation | None) -> bool:
    """Return whether an operation is called in the same way in both revisions."""
    if other is None:
        return False
    return [each.name for each in one.parameters] == [each.name for each in other.parameters]


def _operation(source: Kernel, name: str) -> Operation | None:
    return next((each for each in source.operations if each.name == name), None)


def _otherwise(one: Compiled, other: Compiled, ours: Declared, theirs: Declared) -> set[str]:
    """Name the limits and policies that are not the same in both."""
    declared: list[dict[str, Any]] = [
        {**dict(compiled.kernel.limits), **dict(compiled.kernel.policies), **said.limits, **said.policies}
        for compiled, said in ((one, ours), (other, theirs))
    ]
    mine, others = declared
    return {name for name in mine.keys() & others.keys() if mine[name] != others[name]}


class _SideBySide(Sides):
    """Both revisions in one scope."""

    def __init__(
        self,
        comparison: RevisionComparison,
        scope: SmallScope,
        way: Way,
        pairs: int,
        calls_left: list[int],
        kinds: Counter[Any],
        of_a_kind: int,
    ) -> None:
        one, other = comparison.one, comparison.other
        subjects = comparison.subjects(scope, way)
        tried = calls_to_try(one, scope, comparison.common, other=other)
        super().__init__(one.kernel, scope, subjects, tried, pairs, calls_left, own_instants(one, other))
        self.touched = comparison.touched
        self.every = True  # argument of what may be done otherwise
        influence, model = comparison.influence, subjects[0].model
        self.few = calls_to_try(
            one, scope, comparison.common, lambda *part: fewer(influence, part[0], part[1], part[2], model)
        )
        self.kinds, self.of_a_kind = kinds, of_a_kind  # of all scopes together
        self.taken = {each.name: _taken(other, each) for each in other.kernel.operations}
        layouts = [(_layout(each.kernel), [entity.once for entity in each.kernel.entities]) for each in (one, other)]
        self.layout = layouts[0][0] if layouts[0] == layouts[1] else None
        self.placed: dict[Reached, tuple[Frozen, Frozen] | None] = {}

    def begin(self, reached: Reached) -> None:
        """Look from where both are after the calls that lead to a configuration; not where some step is no call."""
        found = self._placed(reached)
        self.placed[reached] = found
        if found is not None and found not in self.met:
            self.met.add(found)
            self.push(Pair(*found, reached))

    def _placed(self, reached: Reached) -> tuple[Frozen, Frozen] | None:
        if reached.parent is None or reached.last is None:
            return self.one.model.freeze(), self.other.model.freeze()
        before = self.placed.get(reached.parent)
        call = reached.way().calls()[-1]
        if before is None or not (call.operation == "wait" or call.operation in {each[0] for each in self.tried}):
            return None
        self.one.model.thaw(before[0])
        self.other.model.thaw(before[1])
        made = [self.made(side, call.operation, dict(call.arguments)) for side in (self.one, self.other)]
        if None in made:
            return None
        return self.one.model.freeze(), self.other.model.freeze()

    def calls(self, pair: Pair) -> Iterator[tuple[str, dict[str, Any]]]:
        """Walk the calls worth a try that the other revision knows, too: where both are the same, those that may part them."""
        names = self._may_part(pair)
        first = {*self.touched.operations, *(names if self.touched.at_any else ())} if self.every else set()
        tried = [each for each in self.tried if each[0] in names and each[0] in first]
        tried += [each for each in self.few if each[0] in names and each[0] not in first]
        for name, arguments in self.of_operations(tried):
            taken = ((self.taken[name][key], value) for key, value in arguments.items())
            if all(values is None or value in values for values, value in taken):
                yield name, arguments
        yield from self.waits() if WAIT in names else self.waits_for_own_instants()

    def _may_part(self, pair: Pair) -> Collection[str]:
        """Name the operations that may tell both apart, or lead to where something does: they read what is not the same."""
        if self.layout is None:
            return self.touched.reads
        apart = _apart(self.layout, pair.one, pair.other)
        if apart is None:
            return self.touched.reads
        first = self.touched.reads if self.touched.at_any else self.touched.operations
        return {name for name, read in self.touched.reads.items() if name in first or read & apart}

    def is_wanted(self, one: Observed, other: Observed) -> bool:
        """Return whether there were not enough of this kind yet."""
        kind = _kind(one, other)
        self.kinds[kind] += 1
        return self.kinds[kind] <= self.of_a_kind

    def made(self, side: ModelSubject, operation: str, arguments: dict[str, Any]) -> Observed | None:
        """Make a call; that it waits, or that the spec does not say what it does, stands in place of a code."""
        if operation != "wait":
            try:
                decision = side.model.decide(operation, arguments)
            except CANNOT:
                return None
            if decision.avoid or decision.blocks:
                return Observed(operation, arguments, refused=UNSAID if decision.avoid else WAITS)
        return super().made(side, operation, arguments)


def _taken(compiled: Compiled, operation: Operation) -> dict[str, Sequence[Any] | None]:
    """Return for each argument the values that it may have, where these are a few; None where they are many."""
    return {each.name: values_of(compiled.kernel, each.type) for each in operation.parameters}


def values_of(source: Kernel, kind: Type) -> list[Any] | None:
    """Return the values of a type where these are a few; None where they are many."""
    match present(kind):
        case Enum(members=members):
            found: list[Any] = list(members)
        case Ref(entity=name) if fixed := source.entity(name).fixed:
            found = list(fixed)
        case _:
            return None
    return [*found, None] if isinstance(kind, Optional) else found


Layout = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""What a frozen configuration is made of: the names of single values, and for each kind of rows the names of theirs."""


def _layout(source: Kernel) -> Layout:
    single = ("now", "serials", "completions", *(python_name(each.name) for each in source.variables))
    messages = [tuple(message_names(each)) for each in source.messages]
    rows = [tuple(record_names(each)) for each in source.entities]
    return single, (*rows, *(names for names in messages for _ in ("due", "sent")))


def _apart(layout: Layout, one: Frozen, other: Frozen) -> set[str] | None:
    """Name what is not the same in two configurations; None where one has other records or messages."""
    single, kinds = layout
    if one == other:
        return set()
    if len(one) != len(single) + len(kinds):
        return None  # there is more in it, as the ids that were given once
    found = {name for name, mine, others in zip(single, one, other, strict=False) if mine != others}
    for names, mine, others in zip(kinds, one[len(single) :], other[len(single) :], strict=True):
        if mine == others:
            continue
        if [row[0] for row in mine] != [row[0] for row in others]:
            return None
        for row, beside in zip(mine, others, strict=True):
            found |= {name for name, value, another in zip(names, row, beside, strict=True) if value != another}
    return found


def _kind(one: Observed, other: Observed) -> Any:
    """Return what is the same of partings that show the same, as far as can be told without a judge."""
    ours, theirs = one.reply, other.reply
    fields: list[str] = []
    if isinstance(ours, dict) and isinstance(theirs, dict):
        fields = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    signals = [sorted(name for name, _ in each.signals) for each in (one, other)]
    return repr((one.operation, one.refused, other.refused, fields, signals))
