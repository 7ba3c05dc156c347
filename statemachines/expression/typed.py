"""The typed tree: what the checker makes of a syntax tree, and all that the emitter reads."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from statemachines.expression.syntax import held
from statemachines.types import Type

# Names that the written code calls or reads: a name of a spec must not stand for them.
_TAKEN = frozenset(
    (
        *("self", "seen", "all", "any", "int", "len", "list", "max", "min", "sorted", "str", "sum"),
        *("distinct", "document", "drop", "flatten", "item", "numbers", "quotient"),
        *("remainder", "reversed_", "same_items", "sized_text", "take", "with_key"),
    )
)


def local_name(name: str) -> str:
    """Return a Python name for a variable of a spec."""
    return f"{name}_" if keyword.iskeyword(name) or name in _TAKEN else name


@dataclass(frozen=True, slots=True)
class Typed:
    """The common base: the type of the value, and the offset where it stands in its text."""

    type: Type
    at: int


@dataclass(frozen=True, slots=True)
class Const(Typed):
    """A constant: null, a bool, a number, a text, a word of an enum, or a list of such words."""

    value: str | int | bool | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Var(Typed):
    """A name in scope; `source` is the Python that reads it."""

    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Attribute(Typed):
    """A field of a record or a message."""

    of: Typed
    name: str


@dataclass(frozen=True, slots=True)
class InGroup(Typed):
    """Whether a record is in one of the states of a group: `job.terminal`."""

    of: Typed
    entity: str
    group: str


@dataclass(frozen=True, slots=True)
class Member(Typed):
    """A field of a plain value."""

    of: Typed
    name: str


@dataclass(frozen=True, slots=True)
class At(Typed):
    """An item of a list, by position."""

    of: Typed
    index: Typed


@dataclass(frozen=True, slots=True)
class Items(Typed):
    """A list written out."""

    items: tuple[Typed, ...]


@dataclass(frozen=True, slots=True)
class Build(Typed):
    """A plain value with named fields, written out; what is left out is null."""

    given: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, slots=True)
class Operate(Typed):
    """An operator on one value (`left` is None) or on two."""

    operator: str
    left: Typed | None
    right: Typed


@dataclass(frozen=True, slots=True)
class Choose(Typed):
    """One value where a condition holds, else another one."""

    condition: Typed
    value: Typed
    otherwise: Typed


@dataclass(frozen=True, slots=True)
class Apply(Typed):
    """A listed function on its arguments, the receiver first."""

    function: str
    arguments: tuple[Typed, ...]


@dataclass(frozen=True, slots=True)
class Minted(Typed):
    """An id that the implementation chooses for a new record: how it begins, and perhaps its length."""

    entity: str
    arguments: tuple[Typed, ...]


@dataclass(frozen=True, slots=True)
class Each(Typed):
    """`over.macro(variable, body)`: a body evaluated for every item."""

    macro: str
    over: Typed
    variable: str
    body: Typed


@dataclass(frozen=True, slots=True)
class Found(Typed):
    """The records of a collection whose key is a value: one, or none."""

    collection: str
    key: Typed


@dataclass(frozen=True, slots=True)
class Defined(Typed):
    """A use of a named expression of `define`."""

    name: str
    arguments: tuple[Typed, ...]


@dataclass(frozen=True, slots=True)
class Invoke(Typed):
    """A call of an operation in a row; arguments by name, those left out missing."""

    operation: str
    arguments: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, slots=True)
class Fresh(Typed):
    """A new value at each evaluation."""


@dataclass(frozen=True, slots=True)
class Repeat(Typed):
    """A body evaluated anew several times, one after the other, or all at once."""

    count: Typed
    body: Typed
    at_once: bool


@dataclass(frozen=True, slots=True)
class Together(Typed):
    """Different bodies evaluated at once."""

    bodies: tuple[Typed, ...]


def parts(value: Typed) -> tuple[Typed, ...]:
    """Return the direct parts of a typed tree."""
    return tuple(held(value, Typed))


def every_part(value: Typed) -> Iterator[Typed]:
    """Walk a typed tree: a value, and all its parts."""
    yield value
    for part in parts(value):
        yield from every_part(part)


def replaced(value: Typed, change: Callable[[Typed], Typed | None]) -> Typed:
    """Return the same tree with another part wherever `change` gives one."""

    def part(of: Any) -> Any:
        if isinstance(of, tuple):
            return tuple(part(each) for each in of)
        return replaced(of, change) if isinstance(of, Typed) else of

    other = change(value)
    if other is not None:
        return other
    return replace(value, **{field.name: part(getattr(value, field.name)) for field in fields(value)})


def renamed(value: Typed, old: str, new: str) -> Typed:
    """Return the same tree with one name replaced by another."""

    def change(of: Typed) -> Typed | None:
        return replace(of, name=new, source=new) if isinstance(of, Var) and of.name == old else None

    return replaced(value, change)
