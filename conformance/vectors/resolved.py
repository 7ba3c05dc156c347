"""Patterns as they are written: several as one, or one in which a part may be this or that as a pattern for each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from conformance.vectors.patterns import MAYBE, RECOMMENDED, TEXTS, canonical


def hull(patterns: Sequence[Any]) -> Any:
    """Return one pattern for several that differ in instants alone."""
    first = patterns[0]
    match first:
        case {"$time": _}:
            bounds = [each["$time"] for each in patterns]
            return {"$time": [min(low for low, _ in bounds), max(high for _, high in bounds)]}
        case dict():
            return {name: hull([each[name] for each in patterns]) for name in first}
        case list():
            return [hull(parts) for parts in zip(*patterns, strict=True)]
        case _:
            return first


def strict(pattern: Any) -> Any:
    """Return a pattern with all that is recommended as it is, and with new ids that none had before."""
    return _resolved(pattern, lambda mark, parts: parts[0])


def loose(pattern: Any) -> tuple[Any, list[str]]:
    """Return a pattern with whatever may be where something is recommended, and the clauses that recommend it."""
    clauses: list[str] = []

    def other(mark: str, parts: list[Any]) -> Any:
        clauses.extend(parts[2:])
        return parts[mark == RECOMMENDED]

    return _resolved(pattern, other), clauses


def undecided(pattern: Any) -> list[Any]:
    """Return the pattern once for each new id that may be one which is known: nobody can go on then."""
    found: list[Any] = []
    for place in range(_count(pattern)):
        places = itertools.count()

        def other(mark: str, parts: list[Any], here: Iterator[int] = places, place: int = place) -> Any:
            if mark != MAYBE:
                return parts[1]
            return {"$one_of": parts[1]} if next(here) == place else {"$any": TEXTS}

        found.append(_resolved(pattern, other))
    return found


def _count(pattern: Any) -> int:
    return canonical(pattern).count(f'"{MAYBE}"')


def _resolved(pattern: Any, chosen: Callable[[str, list[Any]], Any]) -> Any:
    match pattern:
        case dict() if (mark := next(iter(pattern), "")) in (RECOMMENDED, MAYBE):
            return chosen(mark, pattern[mark])
        case dict():
            return {name: _resolved(part, chosen) for name, part in pattern.items()}
        case list():
            return [_resolved(part, chosen) for part in pattern]
        case _:
            return pattern
