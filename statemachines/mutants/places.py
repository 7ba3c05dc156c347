"""Every place of a kernel: an expression, an effect, a requirement, a rule; and the kernel with another one there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from statemachines.expression import Typed
from statemachines.kernel import Definition, Emit, Entity, Kernel, Message, Operation, Require, Spontaneous


class Other(NamedTuple):
    """What could stand in a place: by which operator, what it does, in words, and itself; several where it is a tuple.

    clause  the clause that it breaks; the one that the place belongs to where it is empty
    """

    operator: str
    does: str
    part: Any
    clause: str = ""


Change = Callable[[Any], Iterator[Other]]
"""From what stands in a place to what could."""

_PARTS = ("entities", "messages", "operations", "spontaneous", "definitions")
"""What of a kernel says what a system does; the rest is what it may choose, and what is asked of every state."""
_OWN = {(Entity, "shows"): "shows_clause", (Message, "to"): "to_clause", (Message, "order"): "order_clause"}
"""The clause of a part that has one of its own beside that of the whole."""


def others(source: Kernel, change: Change) -> Iterator[tuple[Other, Kernel]]:
    """Walk kernels in which one thing is another, each with that."""
    for name in _PARTS:
        for other in _others(getattr(source, name), "", change):
            yield other, replace(source, **{name: other.part})


def _others(value: Any, clause: str, change: Change) -> Iterator[Other]:
    """Walk what could stand in place of a value: for itself, and with something else in it."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            for other in _others(item, _named(clause, item), change):
                several = isinstance(other.part, tuple) and not isinstance(item, tuple)
                parts = other.part if several else (other.part,)
                yield other._replace(part=(*value[:index], *parts, *value[index + 1 :]))
    elif is_dataclass(value) and not _is_free(value):
        clause = getattr(value, "clause", "") or clause
        for other in change(value):
            yield other._replace(clause=other.clause or clause)
        for each in fields(value):
            of = getattr(value, _OWN.get((type(value), each.name), ""), clause)
            of = f"messages.{value.name}.carries" if isinstance(value, Message) and each.name == "carries" else of
            for other in _others(getattr(value, each.name), of, change):
                yield other._replace(part=replace(value, **{each.name: other.part}))  # type: ignore[type-var]  # an instance


def _is_free(value: Any) -> bool:
    """Return whether something says only what a system may do: no system is wrong because of it."""
    match value:
        case Require(answer="open" | "avoided") | Emit(how="permitted") | Spontaneous(must=None):
            return True
        case _:
            return False


def _named(clause: str, item: Any) -> str:
    """Name the clause of an operation, or of one thing that a message carries."""
    match item:
        case Operation(name=name):
            return f"operations.{name}"
        case Definition(name=name):
            return f"define.{name}"
        case (str(name), Typed()) if clause.endswith(".carries"):
            return f"{clause}.{name}"
        case _:
            return clause
