"""What a caller sees: records as what they show, messages as what they carry."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from statemachines import kernel
from statemachines.expression import Apply, Typed, Var, class_name, emit, emit_iterable, python_name
from statemachines.generate.page import Page, key_of
from statemachines.types import List, MessageType, Optional, Ref, Type


def shown_record(page: Page, entity: kernel.Entity) -> None:
    """Write what a caller sees of a record."""
    variable = python_name(entity.variable)
    with page.method(f"shown_{variable}", f"{variable}: {class_name(entity.name)}", "dict[str, Any]"):
        page.saw(entity.shows_clause)
        with page.bracketed("return {", "}"):
            for name, value in entity.shows:
                page.entry(f"{name!r}: {seen(page, value)}")


def shown_message(page: Page, message: kernel.Message) -> None:
    """Write what a receiver sees of a message."""
    with page.method(f"shown_{message.name.lower()}", f"message: {class_name(message.name)}", "dict[str, Any]"):
        for key, _ in message.carries:
            page.saw(f"messages.{message.name}.carries.{key}")
        with page.bracketed("return {", "}"):
            for key, value in message.carries:
                page.entry(f"{key!r}: {_each(f'message.{python_name(key)}', value.type, partial(_seen, page))}")


def seen(page: Page, value: Typed) -> str:
    """Write a value as a caller sees it."""
    if isinstance(value, Apply) and value.function == "such_as":
        return f"SuchAs({seen(page, value.arguments[0])})"
    walked = isinstance(value.type, List) and isinstance(value, Var)
    return _each(emit_iterable(value) if walked else emit(value), value.type, partial(_seen, page))


def _seen(page: Page, source: str, kind: Type) -> str:
    match kind:
        case Ref(entity=name):
            entity = page.source.entity(name)
            return f"self.shown_{python_name(entity.variable)}({source})" if entity.shows else f"{source}.id"
        case MessageType(name=name):
            return f"self.shown_{name.lower()}({source})"
        case _:
            return source


def passed(page: Page, value: Typed) -> str:
    """Write a value as a caller passes it: a record by its key."""
    return _each(emit(value), value.type, partial(_passed, page))


def _passed(page: Page, source: str, kind: Type) -> str:
    return key_of(page.source.entity(kind.entity), source) if isinstance(kind, Ref) else source


def _each(source: str, kind: Type, write: Callable[[str, Type], str]) -> str:
    """Write a value as `write` does, with every value in a list; null stays null."""
    match kind:
        case List(item=item) if (each := _each("each", item, write)) != "each":
            return f"[{each} for each in {source}]"
        case Optional(item=item) if (inner := _each(source, item, write)) != source:
            return f"(None if {source} is None else {inner})"
        case _:
            return write(source, kind)
