"""What variables and the records that always exist hold when a case begins, in an order in which all that is read is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from statemachines import kernel
from statemachines.expression import Var, class_name, emit, every_part, python_name
from statemachines.generate.page import Page


def first_values(page: Page) -> Iterator[str]:
    """Walk the lines that set them, in a model whose collections are there and empty."""
    for first in _in_order_of_reading(list(_firsts(page))):
        yield from first.lines


def begins(page: Page, entity: kernel.Entity) -> None:
    """Write how a record that always exists begins: the spec names those of a run, and a log may name others."""
    with page.method(f"begin_{python_name(entity.variable)}", "word: str", "None"):
        values = ", ".join(["word", "word", *map(_first, entity.fields)])
        page.line(f"{page.collection(entity.name)}[word] = {class_name(entity.name)}({values})")


class _First(NamedTuple):
    """How a variable, or the records of a kind that always exist, are set when a case begins."""

    name: str  # the attribute
    lines: list[str]
    reads: frozenset[str]  # other attributes


def _firsts(page: Page) -> Iterator[_First]:
    for entity in page.source.entities:
        if entity.fixed:
            records = page.collection(entity.name)
            lines = [f"self.begin_{python_name(entity.variable)}({word!r})" for word in entity.fixed]
            yield _First(records.removeprefix("self."), lines, _read(entity.fields))
    for variable in page.source.variables:
        name = python_name(variable.name)
        yield _First(name, [f"self.{name}: Any = {_first(variable)}"], _read([variable]))


def _in_order_of_reading(left: list[_First]) -> Iterator[_First]:
    """Walk what is set first, each as soon as nothing that it reads comes later."""
    while left:
        free = (each for each in left if not any(other.name in each.reads for other in left if other is not each))
        chosen = next(free, left[0])
        left.remove(chosen)
        yield chosen


def _read(fields: Iterable[kernel.FieldOf]) -> frozenset[str]:
    """Return the attributes of a model that the defaults of fields read."""
    values = (part for field in fields if field.default is not None for part in every_part(field.default))
    read = (re.match(r"self\.(\w+)", part.source) for part in values if isinstance(part, Var))
    return frozenset(found[1] for found in read if found)


def _first(field: kernel.FieldOf) -> str:
    return emit(field.default) if field.default is not None else "None"
