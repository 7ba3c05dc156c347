"""Where a value that was seen is not the one that the model gives."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from statemachines.model import ANYTHING, SuchAs
from statemachines.types import DocumentType, List, Optional, RecordType, Time, Type, present

LOST = "\0lost"  # the text of a file that need not exist any more


@dataclass(frozen=True, slots=True)
class Listed:
    """That a list has a record of this identity, or has not: `field` is what identifies it."""

    field: str
    identity: Any
    there: bool

    def __repr__(self) -> str:
        return f"{self.identity!r} {'in' if self.there else 'missing from'} the list"


@dataclass(frozen=True, slots=True)
class Times:
    """How often a signal comes: at least so often, and at most, unless it may come again and again."""

    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class InOrder:
    """The order of the records of a list, by what identifies them."""

    field: str
    identities: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"the order {', '.join(map(repr, self.identities))}"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a value that was seen is not the one that the model gives."""

    path: str
    expected: Any
    seen: Any


def differences(kind: Type, expected: Any, seen: Any, *, instants: bool = True, path: str = "") -> Iterator[Difference]:
    """Walk every part in which two values of one type differ; without `instants` only whether they are set counts."""
    if expected == seen:  # mostly, and quickly found
        return
    if _uncompared(kind, expected, seen, instants):
        return
    match kind:
        case Optional(item=item) if expected is not None and seen is not None:
            yield from differences(item, expected, seen, instants=instants, path=path)
        case RecordType(fields=fields) if expected is not None and seen is not None:
            for name, field in fields:
                inner = f"{path}.{name}" if path else name
                yield from differences(Optional(field), expected[name], seen[name], instants=instants, path=inner)
        case List(item=item, unordered=unordered):
            yield from _lists(item, expected, seen, instants, path, unordered)
        case _:
            yield Difference(path, expected, seen)


def unlike(kind: Type, expected: Any, seen: Any, *, instants: bool = True) -> Iterator[Any]:
    """Walk what identifies the records of a value, or what else it holds, that are missing from what was seen, or look otherwise there."""
    if _uncompared(kind, expected, seen, instants):
        return
    match kind:
        case Optional(item=item) if expected is not None and seen is not None:
            yield from unlike(item, expected, seen, instants=instants)
        case List(item=RecordType(fields=[(identity, _), *_]) as item):
            shown = {repr(each[identity]): each for each in seen}
            for each in expected:
                other = shown.get(repr(each[identity]))
                if other is None or any(differences(item, each, other, instants=instants)):
                    yield each[identity]
        case RecordType(fields=fields) if any(isinstance(present(field), List) for _, field in fields):
            for name, field in fields:
                yield from unlike(Optional(field), expected[name], seen[name], instants=instants)
        case RecordType(fields=[(identity, _), *_]) if any(differences(kind, expected, seen, instants=instants)):
            yield expected[identity]
        case _ if any(differences(kind, expected, seen, instants=instants)):
            yield expected


def _uncompared(kind: Type, expected: Any, seen: Any, instants: bool) -> bool:
    """Return whether a part is not compared: the system may choose it, nobody can know it, or it was not shown."""
    if isinstance(expected, SuchAs) or seen is ANYTHING:
        return True
    if isinstance(kind, DocumentType):
        return expected is ANYTHING or (seen.text == LOST and not expected.inline)
    return expected is ANYTHING or (isinstance(kind, Time) and not instants)


def part(kind: Type, path: str) -> Type | None:
    """Return the type of the part of a value that a path such as `[0].status` leads to; None where there is none."""
    found: Type | None = kind
    for step in re.findall(r"\[|[^.\[\]]+(?!\])", path):
        match found if not isinstance(found, Optional) else found.item:
            case List(item=item) if step == "[":
                found = item
            case RecordType() as record if step != "[":
                found = record.field(step)
            case _:
                return None
    return found


def _lists(
    item: Type, expected: list[Any], seen: list[Any], instants: bool, path: str, unordered: bool
) -> Iterator[Difference]:
    identity = item.fields[0][0] if isinstance(item, RecordType) and item.fields else ""
    wanted, found = (tuple(each[identity] for each in listed) if identity else () for listed in (expected, seen))
    lacking = (Listed(identity, each, True) for each in wanted if each not in found)
    extra = (Listed(identity, each, False) for each in found if each not in wanted)
    stranger = next(itertools.chain(lacking, extra), None)
    if stranger is not None:
        yield Difference(path, stranger, replace(stranger, there=not stranger.there))
        return
    if len(expected) != len(seen):
        yield Difference(path, expected, seen)
        return
    if wanted != found and not unordered:
        yield Difference(path, InOrder(identity, wanted), InOrder(identity, found))
        return
    if unordered:
        seen = _paired(item, identity, expected, seen, instants)
    for index, (one, other) in enumerate(zip(expected, seen, strict=True)):
        yield from differences(item, one, other, instants=instants, path=f"{path}[{index}]")


def _paired(item: Type, identity: str, expected: list[Any], seen: list[Any], instants: bool) -> list[Any]:
    """Put what was seen into the order of what was expected: beside what is the same, or else about the same."""
    named = {repr(each[identity]): each for each in seen} if identity else {}
    if len(named) == len(seen) and all(repr(each[identity]) in named for each in expected):
        return [named[repr(each[identity])] for each in expected]
    rest = list(seen)
    found: list[Any] = []
    for one in expected:
        fitting = (
            [other for other in rest if one == other]
            or [other for other in rest if not any(differences(item, one, other, instants=instants))]
            or [other for other in rest if identity and one[identity] == other[identity]]
            or rest
        )
        found.append(fitting[0])
        rest.remove(fitting[0])
    return found
