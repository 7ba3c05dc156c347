"""Where a value that was seen is not the one that the model gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from statemachines.model import ANYTHING, SuchAs
from statemachines.types import DocumentType, List, Optional, RecordType, Time, Type

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
        case Optional(item=item):
            if expected is None or seen is None:
                if expected is not seen:
                    yield Difference(path, expected, seen)
                return
            yield from differences(item, expected, seen, instants=instants, path=path)
        case RecordType(fields=fields):
            if expected is None or seen is None:
                if expected is not seen:
                    yield Difference(path, expected, seen)
                return
            for name, field in fields:
                inner = f"{path}.{name}" if path else name
                yield from differences(Optional(field), expected[name], seen[name], instants=instants, path=inner)
        case List(item=item, unordered=unordered):
            yield from _lists(item, expected, seen, instants, path, unordered)
        case _:
            if expected != seen:
                yield Difference(path, expected, seen)


def _uncompared(kind: Type, expected: Any, seen: Any, instants: bool) -> bool:
    """Return whether a part is not compared: the system may choose it, or nobody can know it."""
    if isinstance(expected, SuchAs):
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
    stranger = _stranger(item, expected, seen)
    if stranger is not None:
        yield Difference(path, stranger, Listed(stranger.field, stranger.identity, not stranger.there))
        return
    if len(expected) != len(seen):
        yield Difference(path, expected, seen)
        return
    orders = None if unordered else _orders(item, expected, seen)
    if orders is not None:
        yield Difference(path, *orders)
        return
    if unordered:
        seen = _paired(item, expected, seen, instants)
    for index, (one, other) in enumerate(zip(expected, seen, strict=True)):
        yield from differences(item, one, other, instants=instants, path=f"{path}[{index}]")


def _stranger(item: Type, expected: list[Any], seen: list[Any]) -> Listed | None:
    """Return the first record that is in one list of records and not in the other."""
    if not isinstance(item, RecordType) or not item.fields:
        return None
    field = item.fields[0][0]
    wanted, found = [each[field] for each in expected], [each[field] for each in seen]
    lacking = next((each for each in wanted if each not in found), None)
    if lacking is not None:
        return Listed(field, lacking, True)
    extra = next((each for each in found if each not in wanted), None)
    return None if extra is None else Listed(field, extra, False)


def _orders(item: Type, expected: list[Any], seen: list[Any]) -> tuple[InOrder, InOrder] | None:
    """Return the orders of two lists of the same records, when they differ."""
    if not isinstance(item, RecordType) or not item.fields:
        return None
    field = item.fields[0][0]
    wanted, found = tuple(each[field] for each in expected), tuple(each[field] for each in seen)
    return (InOrder(field, wanted), InOrder(field, found)) if wanted != found else None


def _paired(item: Type, expected: list[Any], seen: list[Any], instants: bool) -> list[Any]:
    """Put what was seen into the order of what was expected, as far as they are the same."""
    if expected == seen:
        return seen
    rest = list(seen)
    found: list[Any] = []
    for one in expected:
        match = next((other for other in rest if one == other), None)
        if match is None:
            match = next((other for other in rest if not any(differences(item, one, other, instants=instants))), None)
        if match is None:
            match = next((other for other in rest if _same_identity(one, other)), rest[0])
        rest.remove(match)
        found.append(match)
    return found


def _same_identity(one: Any, other: Any) -> bool:
    """Return whether two records are surely about the same thing: their first field agrees."""
    if isinstance(one, dict) and isinstance(other, dict) and one:
        first = next(iter(one))
        return bool(one[first] == other[first])
    return False
