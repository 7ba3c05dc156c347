"""What no model tells of two revisions: which operations, arguments, limits and choices there are, and what is only recommended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from statemachines.compare import values_of
from statemachines.compile import Compiled
from statemachines.explore import bounds_of
from statemachines.kernel import Kernel, Operation, Parameter
from statemachines.lifecycle import Level
from statemachines.types import Enum, List, Optional, RecordType, Ref, Text, Type, present

Direction = Literal["less", "more"]
"""Less: what is right by the old revision need not be right by the new one. More: the other way round."""

LESS: Final[tuple[Direction, ...]] = ("less",)
MORE: Final[tuple[Direction, ...]] = ("more",)
BOTH: Final[tuple[Direction, ...]] = ("less", "more")


@dataclass(frozen=True, slots=True)
class Fact:
    """What follows from what is declared, in words, and of which level it is."""

    directions: tuple[Direction, ...]
    words: str
    level: Level = "must"


def facts(old: Compiled, new: Compiled) -> list[Fact]:
    """Return what two revisions demand otherwise without any call that shows it."""
    return [
        *_of_operations(old, new),
        *_of_limits(old, new),
        *_of_policies(old, new),
        *_of_levels(old.kernel, new.kernel),
        *_of_records(old.kernel, new.kernel),
    ]


# ── Operations ──


def _of_operations(old: Compiled, new: Compiled) -> Iterator[Fact]:
    ours, theirs = ({each.name: each for each in side.kernel.operations} for side in (old, new))
    for name in dict.fromkeys((*theirs, *ours)):
        one, other = ours.get(name), theirs.get(name)
        if one is None and other is not None:
            lacking = "it is optional, so a system may go on without it" if other.optional else "it is not optional"
            words = f"no system by the old revision has the operation {name}; {lacking}"
            yield Fact(MORE if other.optional else BOTH, words)
        elif other is None:
            yield Fact(MORE, f"nobody asks for the operation {name} any more")
        elif one is not None:
            yield from _of_operation(old, new, one, other)
    yield from _of_parts(old, new)


def _of_operation(old: Compiled, new: Compiled, one: Operation, other: Operation) -> Iterator[Fact]:
    name = one.name
    if one.optional != other.optional:
        words = f"{name} may be lacking now" if other.optional else f"{name} may not be lacking any more"
        yield Fact(MORE if other.optional else LESS, words)
    for said, before, after in (
        ("what it gave stays as it was", bool(one.copies), bool(other.copies)),
        ("files that were told before are kept", not one.loses_files, not other.loses_files),
    ):
        if before != after:
            yield Fact(LESS if after else MORE, f"of {name} it is {'' if after else 'no longer '}asked that {said}")
    if _unordered(one) != _unordered(other):
        words = f"in which order {name} gives a list makes {'no' if _unordered(other) else 'a'} difference now"
        yield Fact(MORE if _unordered(other) else LESS, words)
    if _waits(old, name) != _waits(new, name):
        yield Fact(BOTH, f"how long {name} may wait, or for what, is another thing; no calls are compared for that")
    yield from _of_arguments(old, new, one, other)


def _waits(compiled: Compiled, name: str) -> list[str]:
    spec = compiled.lifecycle.operations[name]
    return [each.text if each is not None else "" for each in (spec.waits, spec.until)]


def _of_arguments(old: Compiled, new: Compiled, one: Operation, other: Operation) -> Iterator[Fact]:
    name = one.name
    ours, theirs = ({each.name: each for each in side.parameters} for side in (one, other))
    for key in dict.fromkeys((*theirs, *ours)):
        before, after = ours.get(key), theirs.get(key)
        if before is None:
            yield Fact(BOTH, f"{name} is called with {key}, which no system by the old revision takes")
        elif after is None:
            where = "which may be left out" if before.default is not None else "without which it could not be called"
            yield Fact(MORE if before.default is not None else BOTH, f"{name} is no longer called with {key}, {where}")
        else:
            yield from _of_argument(old, new, name, before, after)
    if [key for key in ours if key in theirs] != [key for key in theirs if key in ours]:
        yield Fact(BOTH, f"the arguments of {name} stand in another order")


def _of_argument(old: Compiled, new: Compiled, name: str, one: Parameter, other: Parameter) -> Iterator[Fact]:
    said = f"{one.name} of {name}"
    if (one.default is None) != (other.default is None):
        after = other.default is not None
        yield Fact(LESS if after else MORE, f"{said} may {'' if after else 'no longer '}be left out")
    before, now = (
        (bounds_of(side, side.lifecycle.operations[name].takes[one.name]), each.type)
        for side, each in ((old, one), (new, other))
    )
    for wider in _wider_range(before[0], now[0]) or _wider(old.kernel, new.kernel, before[1], now[1]):
        words = {
            "less": f"{said} may have values that it could not have before",
            "more": f"{said} does not have some values any more",
        }
        yield Fact((wider,), words[wider])


def _wider_range(one: tuple[int, int] | None, other: tuple[int, int] | None) -> list[Direction]:
    if one is None or other is None:
        return []
    wider, narrower = other[0] < one[0] or other[1] > one[1], one[0] < other[0] or one[1] > other[1]
    return [*(LESS if wider else ()), *(MORE if narrower else ())]


def _wider(old: Kernel, new: Kernel, one: Type, other: Type) -> Iterator[Direction]:
    """Walk the directions in which the values of two types differ: less where a system has to take more."""
    ours, theirs = _values(old, one), _values(new, other)
    if ours == theirs:
        return
    if isinstance(ours, frozenset) and isinstance(theirs, frozenset):
        yield from LESS if theirs - ours else ()
        yield from MORE if ours - theirs else ()
    elif isinstance(one, Optional) != isinstance(other, Optional) and _values(old, present(one)) == _values(
        new, present(other)
    ):
        yield "less" if isinstance(other, Optional) else "more"
    else:
        yield from BOTH


def _values(source: Kernel, kind: Type) -> Any:
    """Return what tells the values of a type apart from those of another one: these themselves, where they are a few."""
    found = values_of(source, kind)
    if found is not None:
        return frozenset(found)
    match kind:
        case Optional(item=item):
            return "null or", _values(source, item)
        case List(item=item):
            return "list of", _values(source, item)
        case RecordType(fields=fields):
            return tuple((name, _values(source, field)) for name, field in fields)
        case Text():
            return "text"  # how it is called makes no difference to a caller
        case Ref(entity=entity):
            return "id of", entity
        case Enum(members=members):
            return frozenset(members)
        case _:
            return str(kind)


def _unordered(operation: Operation) -> bool:
    kind = present(operation.reply.type) if operation.reply is not None else None
    return isinstance(kind, List) and kind.unordered


def _of_parts(old: Compiled, new: Compiled) -> Iterator[Fact]:
    """Tell of what a system has to have at least: all, or one of the parts."""
    ours, theirs = _least(old), _least(new)
    common = {each.name for each in old.kernel.operations} & {each.name for each in new.kernel.operations}
    if old.lifecycle.parts == new.lifecycle.parts:
        return
    if any(not any(other & common <= one & common for other in theirs) for one in ours):
        yield Fact(LESS, "a system that has only some of the parts may lack something now")
    if any(not any(one & common <= other & common for one in ours) for other in theirs):
        yield Fact(MORE, "a system may have only some of the parts now")


def _least(compiled: Compiled) -> list[frozenset[str]]:
    needed = frozenset(each.name for each in compiled.kernel.operations if not each.optional)
    parts = compiled.lifecycle.parts.values()
    return [needed & frozenset(word.text for word in words) for words in parts] or [needed]


# ── What a system declares ──


def _of_limits(old: Compiled, new: Compiled) -> Iterator[Fact]:
    ours, theirs = old.lifecycle.limits, new.lifecycle.limits
    for name in dict.fromkeys((*theirs, *ours)):
        one, other = ours.get(name), theirs.get(name)
        if one is None:
            yield Fact(MORE, f"a system may declare a limit {name} of its own")
        elif other is None:
            yield Fact(LESS, f"a system may not declare a limit {name} of its own any more")
        else:
            if one.default != other.default:
                said = (
                    f"whoever declares no {name} has to keep to {_null(other.default)}, and not to {_null(one.default)}"
                )
                yield Fact(BOTH, f"{said}; whoever declares one is not concerned")
            if one.optional != other.optional:
                may = "may declare now" if other.optional else "may not declare any more"
                yield Fact(MORE if other.optional else LESS, f"a system {may} that it has no limit {name}")


def _null(size: int | None) -> str:
    return "null" if size is None else str(size)


def _of_policies(old: Compiled, new: Compiled) -> Iterator[Fact]:
    ours, theirs = old.lifecycle.policies, new.lifecycle.policies
    for name in dict.fromkeys((*theirs, *ours)):
        before, after = ([word.text for word in side[name].choices] if name in side else [] for side in (ours, theirs))
        for choice in (each for each in after if each not in before):
            yield Fact(MORE, f"a system may declare that {name} is {choice}")
        for choice in (each for each in before if each not in after):
            yield Fact(LESS, f"a system may not declare any more that {name} is {choice}")
        if name in ours and name in theirs:
            yield from _of_default(old.kernel, new.kernel, name)


def _of_default(old: Kernel, new: Kernel, name: str) -> Iterator[Fact]:
    """Tell of what is right for a system that declares no choice: one of them, any, or one that is recommended."""
    (one, first), (other, second) = ((_strictness(side, name), dict(side.policies)[name]) for side in (old, new))
    words = f"whoever declares nothing about {name}"
    if one == other == "any":
        return
    if one != other and "must" in (one, other):
        may = f"{words} may do as any choice says" if one == "must" else f"{words} has to do as {second} says"
        yield Fact(MORE if one == "must" else LESS, may)
    elif one != other:
        recommended = second if one == "any" else first
        said = f"{words} is {'' if one == 'any' else 'no longer '}recommended {recommended}"
        yield Fact(LESS if one == "any" else MORE, said, "should")
    elif first != second:
        asked = "has to do" if one == "must" else "is recommended to do"
        said = f"{words} {asked} as {second} says, and not as {first}; whoever declares one is not concerned"
        yield Fact(BOTH, said, "must" if one == "must" else "should")


def _strictness(source: Kernel, name: str) -> Literal["any", "should", "must"]:
    if name in source.recommended:
        return "should"
    return "any" if name in source.undeclared else "must"


# ── Clauses and records ──


def _of_levels(old: Kernel, new: Kernel) -> Iterator[Fact]:
    ours, theirs = ({each.path: each.level for each in side.clauses} for side in (old, new))
    for path in (each for each in theirs if each in ours and theirs[each] != ours[each]):
        if theirs[path] == "must":
            yield Fact(LESS, f"{path} is no longer only recommended")
        else:
            yield Fact(MORE, f"{path} is only recommended now")


_IDS: Final[Mapping[tuple[bool, bool], int]] = {(True, False): 2, (False, False): 1, (False, True): 0}
"""How much is asked of new ids: that none ever had it, that no record has it, or that no other record has it."""


def _of_records(old: Kernel, new: Kernel) -> Iterator[Fact]:
    theirs = {each.name: each for each in new.entities}
    for one in old.entities:
        other = theirs.get(one.name)
        if other is None or not (one.minted and other.minted):
            continue
        before, after = _IDS[one.once, one.by_content], _IDS[other.once, other.by_content]
        if before != after:
            words = f"{'more' if after > before else 'less'} is asked of the ids that a system gives each {one.name}"
            yield Fact(LESS if after > before else MORE, words)
    due = {each.name: each.ends_call for each in new.spontaneous}
    for step in old.spontaneous:
        if due.get(step.name, step.ends_call) != step.ends_call:
            words = f"calls made at once may {'' if due[step.name] else 'no longer '}come before {step.name}"
            yield Fact(MORE if due[step.name] else LESS, words)
