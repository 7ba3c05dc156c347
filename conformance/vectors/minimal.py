"""What calls may be answered, with as few configurations as tell it: those that allow the same from there on are one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.vectors.answers import Answer, Answered
from conformance.vectors.patterns import Inexpressible, canonical


def minimal(asked: Sequence[Answered]) -> list[Answered]:
    """Return the same answers, with the configurations before each call numbered anew, in one order."""
    found: list[Answered] = []
    classes: dict[int, int] = {}  # of the configurations after a call; after the last one all are alike
    for each in reversed(asked):
        told = {canonical(answer.told): answer.told for answer in each.answers}
        allowed: dict[int, dict[str, set[int]]] = {}
        for answer in each.answers:
            leads = allowed.setdefault(answer.at, {}).setdefault(canonical(answer.told), set())
            leads.update(classes.get(to, 0) for to in answer.to)
        what = {at: tuple((key, tuple(sorted(leads[key]))) for key in sorted(leads)) for at, leads in allowed.items()}
        kinds = {kind: number for number, kind in enumerate(sorted(set(what.values())))}
        classes = {at: kinds[kind] for at, kind in what.items()}
        answers = [Answer(told[key], number, to) for kind, number in kinds.items() for key, to in kind]
        found.append(Answered(answers, each.recommended))
    return _from_the_first(found[::-1], set(classes.values()))


def _from_the_first(asked: list[Answered], first: set[int]) -> list[Answered]:
    """Let the configurations before the first call be one: its answers are those of all of them."""
    if len(first) > 1:
        merged: dict[str, tuple[Any, set[int]]] = {}
        for each in asked[0].answers:
            merged.setdefault(canonical(each.told), (each.told, set()))[1].update(each.to)
        asked[0] = Answered([Answer(told, 0, tuple(sorted(to))) for told, to in merged.values()], asked[0].recommended)
    return asked


def whatever_ids(variants: Sequence[Sequence[Answered]]) -> list[Answered]:
    """Return what calls may be answered whatever the order of the ids that a system chooses.

    Each variant has another order of them. Lists that come in the order of ids are compared without their order. Raises
    Inexpressible where more than that depends on it.
    """
    first, *others = variants
    found: list[Answered] = []
    for step in zip(first, *others, strict=True):
        try:
            found.append(_alike(step))
        except ValueError:
            raise Inexpressible("what depends on the order of ids that the system chooses", len(found)) from None
    return found


def _alike(variants: Sequence[Answered]) -> Answered:
    """Return one step for several that differ in the order of lists alone. Raises ValueError for others."""
    first, *others = variants
    if all(other.answers == first.answers for other in others):
        return first
    found = []
    for alike in zip(*(sorted(each.answers, key=_loosely) for each in variants), strict=True):
        if len({(each.at, each.to) for each in alike}) > 1:
            raise ValueError
        found.append(Answer(_in_any_order([each.told for each in alike]), alike[0].at, alike[0].to))
    return Answered(found, first.recommended)


def _loosely(answer: Answer) -> tuple[int, tuple[int, ...], str]:
    return answer.at, answer.to, canonical(_sorted(answer.told))


def _sorted(pattern: Any) -> Any:
    match pattern:
        case dict():
            return {name: _sorted(part) for name, part in pattern.items()}
        case list():
            return sorted(map(_sorted, pattern), key=canonical)
        case _:
            return pattern


def _in_any_order(patterns: Sequence[Any]) -> Any:
    """Return one pattern for several that differ in the order of lists alone. Raises ValueError for others."""
    first, *others = patterns
    if all(other == first for other in others):
        return first
    if isinstance(first, dict) and all(isinstance(other, dict) and other.keys() == first.keys() for other in others):
        return {name: _in_any_order([each[name] for each in patterns]) for name in first}
    if isinstance(first, list) and all(_sorted(other) == _sorted(first) for other in others):
        if any(sorted(map(canonical, other)) != sorted(map(canonical, first)) for other in others):
            raise ValueError
        return {"$unordered": sorted(first, key=canonical)}
    raise ValueError
