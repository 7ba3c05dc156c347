"""What systems declare of which two revisions are compared: nothing, or a choice or a limit that one of the two offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.differing.facts import BOTH, LESS, MORE, Direction
from statemachines.compare import Declared
from statemachines.compile import Compiled
from statemachines.explore import scopes


@dataclass(frozen=True, slots=True)
class DeclaredPair:
    """What systems declare by each revision; `words` say so. Where one cannot declare it, only one direction can be judged.

    chosen  the policy of which they declare another choice
    """

    words: str = ""
    old: Declared = field(default_factory=Declared)
    new: Declared = field(default_factory=Declared)
    directions: tuple[Direction, ...] = BOTH
    chosen: str = ""


def settings(old: Compiled, new: Compiled) -> list[DeclaredPair]:
    """List what systems may declare: first nothing, then each choice that one of both revisions offers."""
    first = _first(old, new)
    return [first, *_of_policies(old, new, first), *_of_limits(old, new, first), *_of_small_limits(old, new, first)]


def _first(old: Compiled, new: Compiled) -> DeclaredPair:
    """Return what a system does that declares nothing; limits that bound records stand for smaller ones, in the same order."""
    ours, theirs = (dict(side.kernel.limits) for side in (old, new))
    small = {name for side in (old, new) for name in scopes(side)[0].limits}
    before: dict[str, int | None] = {name: ours[name] for name in ours if name not in theirs and name in small}
    after: dict[str, int | None] = {name: theirs[name] for name in theirs if name not in ours and name in small}
    words = []
    for name in (each for each in theirs if each in small and each in ours and ours[each] != theirs[each]):
        one, other = ours[name], theirs[name]
        before[name], after[name] = _stand_ins(one, other)
        words.append(f"{name} is {before[name]} in place of {one}, and {after[name]} in place of {other}")
    return DeclaredPair("; ".join(words), Declared(before), Declared(after))


def _of_policies(old: Compiled, new: Compiled, first: DeclaredPair) -> Iterator[DeclaredPair]:
    ours, theirs = old.lifecycle.policies, new.lifecycle.policies
    for name in dict.fromkeys((*theirs, *ours)):
        before, after = ([word.text for word in side[name].choices] if name in side else [] for side in (ours, theirs))
        usual = [dict(side.kernel.policies).get(name) for side in (old, new)]
        for choice in (each for each in dict.fromkeys((*after, *before)) if usual != [each, each]):
            chosen, words = {name: choice}, f"{name} is {choice}"
            one = replace(first.old, policies=chosen if choice in before else {})
            other = replace(first.new, policies=chosen if choice in after else {})
            directions = BOTH if choice in before and choice in after else MORE if choice in after else LESS
            yield DeclaredPair("; ".join(filter(None, (first.words, words))), one, other, directions, name)


def usual_choices(old: Compiled, new: Compiled, setting: DeclaredPair) -> dict[str, Any]:
    """Return the usual choices of policies of which another one is right as well, or excused: who declares them is bound more."""
    sides = (old.kernel, new.kernel)
    ours, theirs = (dict(side.policies) for side in sides)
    free = {name for side in sides for name in (*side.undeclared, *side.recommended)} - {setting.chosen}
    return {name: choice for name, choice in ours.items() if name in free and theirs.get(name) == choice}


def declaring(setting: DeclaredPair, choices: Mapping[str, Any]) -> DeclaredPair:
    """Return what systems declare that declare some choices as well."""
    words = "; ".join(filter(None, (setting.words, *(f"{name} is {choice}" for name, choice in choices.items()))))
    one, other = (replace(side, policies={**side.policies, **choices}) for side in (setting.old, setting.new))
    return replace(setting, words=words, old=one, new=other)


def _of_limits(old: Compiled, new: Compiled, first: DeclaredPair) -> Iterator[DeclaredPair]:
    ours, theirs = (dict(side.kernel.limits) for side in (old, new))
    for name in (each for each in dict.fromkeys((*theirs, *ours)) if (each in ours) != (each in theirs)):
        for size in (1, 2):
            one, other = first.old, first.new
            if name in ours:
                one = replace(one, limits={**one.limits, name: size})
            else:
                other = replace(other, limits={**other.limits, name: size})
            yield DeclaredPair(f"{name} is {size}", one, other, LESS if name in ours else MORE)


def _of_small_limits(old: Compiled, new: Compiled, first: DeclaredPair) -> Iterator[DeclaredPair]:
    """Make each limit of both small that is larger than a small scope comes to: what is counted is as many as that only then."""
    ours, theirs = (dict(side.kernel.limits) for side in (old, new))
    small = {*first.old.limits, *first.new.limits, *(name for side in (old, new) for name in scopes(side)[0].limits)}
    for name, size in theirs.items():
        if name in ours and name not in small and ours[name] == size and (size is None or size > 1):
            one, other = (replace(each, limits={**each.limits, name: 1}) for each in (first.old, first.new))
            yield DeclaredPair("; ".join(filter(None, (first.words, f"{name} is 1"))), one, other)


def _stand_ins(one: int | None, other: int | None) -> tuple[int | None, int | None]:
    """Return small limits in the order of two others; null is larger than any."""
    if one is None or other is None:
        return (None, 1) if one is None else (1, None)
    return (1, 2) if one < other else (2, 1)


def declares_of(compiled: Compiled, declared: Declared, limits: Mapping[str, int | None]) -> dict[str, Any]:
    """Return what a stand-in says of its limits and policies: what is declared, and small limits where nothing else is."""
    known = compiled.lifecycle.limits
    sizes = {name: size for name, size in limits.items() if name in known} | dict(declared.limits)
    return {"limits": sizes, "policies": dict(declared.policies)}


def small(compiled: Compiled, declared: Declared, limits: Mapping[str, int | None]) -> str:
    """Say which limits are smaller than the default ones."""
    known = dict(compiled.kernel.limits)
    sizes = {name: size for name, size in limits.items() if name in known and name not in declared.limits}
    return "; ".join(f"{name} is {size}" for name, size in sizes.items() if known[name] != size)
