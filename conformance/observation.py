"""What a system showed, projected to the values that the model speaks of.

Both sides of lockstep are compared in this one form: fields that the spec does not know are gone, an
absent field is null, a document has been read from wherever it lies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from statemachines.model import ANYTHING, SuchAs
from statemachines.model import Document as DocumentValue
from statemachines.types import (
    Bool,
    Document,
    Enum,
    Id,
    Int,
    List,
    Null,
    Optional,
    Record,
    Ref,
    Text,
    Time,
    Type,
)

LARGEST = 2**53 - 1
_LOST = "\0lost"  # the text of a file that need not exist any more


class WrongShape(Exception):
    """A reply that is not of the form that the spec gives; `path` leads to the part."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


def observe(kind: Type, raw: Any, path: str = "", *, lost: bool = False) -> Any:
    """Project a raw reply to a value of type `kind`; raise WrongShape when it does not have that form.

    `lost` allows files that cannot be read, as after an operation that may lose them.
    """
    match kind:
        case Optional(item=item):
            return None if raw is None else observe(item, raw, path, lost=lost)
        case Null():
            return raw
        case Record(fields=fields):
            return _record(fields, raw, path, lost)
        case List(item=item):
            if not isinstance(raw, list | tuple):
                raise WrongShape(path, f"a list is expected, and this is {_named(raw)}")
            return [observe(item, each, f"{path}[{index}]", lost=lost) for index, each in enumerate(raw)]
        case Document():
            return _document(raw, path, lost)
        case Bool():
            return _of(bool, "true or false", raw, path)
        case Int() | Time():
            return _number(raw, path)
        case Enum(members=members):
            if raw not in members or not isinstance(raw, str):
                raise WrongShape(path, f"one of {', '.join(members)} is expected, and this is {_named(raw)}")
            return raw
        case Text() | Id() | Ref():
            return _of(str, "a text", raw, path)
        case _:
            return raw


def _of(kind: type, name: str, raw: Any, path: str) -> Any:
    if not isinstance(raw, kind):
        raise WrongShape(path, f"{name} is expected, and this is {_named(raw)}")
    return raw


def _number(raw: Any, path: str) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise WrongShape(path, f"a whole number is expected, and this is {_named(raw)}")
    if abs(raw) > LARGEST:
        raise WrongShape(path, f"{raw} is beyond ±(2^53−1)")
    return raw


def _record(fields: tuple[tuple[str, Type], ...], raw: Any, path: str, lost: bool) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        names = ", ".join(name for name, _ in fields)
        raise WrongShape(path, f"a record with {names} is expected, and this is {_named(raw)}")
    found = {}
    for name, kind in fields:
        inner = f"{path}.{name}" if path else name
        value = raw.get(name)
        found[name] = None if value is None else observe(kind, value, inner, lost=lost)
    return found


def _document(raw: Any, path: str, lost: bool) -> DocumentValue:
    if not isinstance(raw, Mapping) or ("text" in raw) == ("file" in raw):
        raise WrongShape(path, f'{{"text": …}} or {{"file": PATH}} is expected, and this is {_named(raw)}')
    if "text" in raw:
        return DocumentValue(_of(str, "a text", raw["text"], f"{path}.text"), inline=True)
    named = raw["file"]
    file = _of(
        str, "the path of a file", fspath(named) if isinstance(named, PathLike) else named, f"{path}.file"
    )
    try:
        text = Path(file).read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        if lost:
            return DocumentValue(_LOST, inline=False, file=file)
        raise WrongShape(f"{path}.file", f"the file {file!r} cannot be read: {error}") from None
    preview = raw.get("preview")
    if preview is not None and (
        not isinstance(preview, str) or preview == text or not text.startswith(preview)
    ):
        raise WrongShape(f"{path}.preview", "a preview is a beginning of the text, and not the whole of it")
    return DocumentValue(text, inline=False, file=file)


def _named(raw: Any) -> str:
    text = repr(raw)
    return text if len(text) <= 80 else f"{text[:77]}…"


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


def differences(
    kind: Type, expected: Any, seen: Any, *, instants: bool = True, path: str = ""
) -> Iterator[Difference]:
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
        case Record(fields=fields):
            if expected is None or seen is None:
                if expected is not seen:
                    yield Difference(path, expected, seen)
                return
            for name, field in fields:
                inner = f"{path}.{name}" if path else name
                yield from differences(
                    Optional(field), expected[name], seen[name], instants=instants, path=inner
                )
        case List(item=item, unordered=unordered):
            yield from _lists(item, expected, seen, instants, path, unordered)
        case _:
            if expected != seen:
                yield Difference(path, expected, seen)


def _uncompared(kind: Type, expected: Any, seen: Any, instants: bool) -> bool:
    """Tell whether a part is not compared: the system may choose it, or nobody can know it."""
    if isinstance(expected, SuchAs):
        return True
    if isinstance(kind, Document):
        return expected is ANYTHING or (seen.text == _LOST and not expected.inline)
    return expected is ANYTHING or (isinstance(kind, Time) and not instants)


def part(kind: Type, path: str) -> Type | None:
    """Give the type of the part of a value that a path such as `[0].status` leads to; None where there is none."""
    found: Type | None = kind
    for step in re.findall(r"\[|[^.\[\]]+(?!\])", path):
        match found if not isinstance(found, Optional) else found.item:
            case List(item=item) if step == "[":
                found = item
            case Record() as record if step != "[":
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
    """Give the first record that is in one list of records and not in the other."""
    if not isinstance(item, Record) or not item.fields:
        return None
    field = item.fields[0][0]
    wanted, found = [each[field] for each in expected], [each[field] for each in seen]
    lacking = next((each for each in wanted if each not in found), None)
    if lacking is not None:
        return Listed(field, lacking, True)
    extra = next((each for each in found if each not in wanted), None)
    return None if extra is None else Listed(field, extra, False)


def _orders(item: Type, expected: list[Any], seen: list[Any]) -> tuple[InOrder, InOrder] | None:
    """Give the orders of two lists of the same records, when they differ."""
    if not isinstance(item, Record) or not item.fields:
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
            match = next(
                (other for other in rest if not any(differences(item, one, other, instants=instants))), None
            )
        if match is None:
            match = next((other for other in rest if _same_identity(one, other)), rest[0])
        rest.remove(match)
        found.append(match)
    return found


def _same_identity(one: Any, other: Any) -> bool:
    """Tell whether two records are surely about the same thing: their first field agrees."""
    if isinstance(one, dict) and isinstance(other, dict) and one:
        first = next(iter(one))
        return bool(one[first] == other[first])
    return False


def holds_documents(kind: Type) -> bool:
    """Tell whether values of a type can hold documents."""
    match kind:
        case Optional(item=item) | List(item=item):
            return holds_documents(item)
        case Record(fields=fields):
            return any(holds_documents(field) for _, field in fields)
        case _:
            return isinstance(kind, Document)


def files(kind: Type, value: Any) -> Iterator[tuple[Any, str]]:
    """Walk the documents in files within a value, each with what it belongs to: the record around it."""
    match kind:
        case Optional(item=item) if value is not None:
            yield from files(item, value)
        case Record(fields=fields) if value is not None:
            for name, field in fields:
                if isinstance(field, Document) and value[name] is not None and value[name].file is not None:
                    yield value, value[name].file
                elif not isinstance(field, Document):
                    yield from files(field, value[name])
        case List(item=item) if value is not None:
            for each in value:
                yield from files(item, each)
