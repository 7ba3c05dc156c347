"""How a model is frozen and thawed: its whole state as one value that can be compared, hashed and kept."""

from __future__ import annotations

from collections.abc import Iterator

from statemachines import kernel
from statemachines.expression import class_name, python_name
from statemachines.generate.page import Page, key_of
from statemachines.generate.records import message_names, record_names
from statemachines.generate.state import issued
from statemachines.types import List, Optional, RecordType, Ref, Type

_Fields = list[tuple[str, Type | None]]


def freezing(page: Page) -> None:
    """Write `freeze` and `thaw`."""
    with page.method("freeze", "", "tuple[Any, ...]"), page.bracketed("return (", ")"):
        for part in _parts(page.source):
            page.entry(part)
    with page.method("thaw", "frozen: tuple[Any, ...]", "None"):
        _thaw(page)


def _parts(source: kernel.Kernel) -> Iterator[str]:
    """Yield the source of every part of a frozen state."""
    yield from ("self.now", "self.serials", "self.completions")
    for variable in source.variables:
        yield _frozen(f"self.{python_name(variable.name)}", variable.type)
    for entity in source.entities:
        yield _frozen_each(_record_fields(entity), f"self.{python_name(entity.collection)}.values()")
    for message in source.messages:
        for box in _boxes(message):
            yield _frozen_each(_message_fields(message), f"self.{box}")
    yield from (f"frozenset(self.{name})" for name in issued(source))


def _frozen_each(fields: _Fields, over: str) -> str:
    parts = ", ".join(_frozen(f"each.{name}", kind) for name, kind in fields)
    return f"tuple([({parts}{',' if len(fields) == 1 else ''}) for each in {over}])"


def _thaw(page: Page) -> None:
    source = page.source
    collections = [python_name(entity.collection) for entity in source.entities]
    boxes = [box for message in source.messages for box in _boxes(message)]
    variables = [f"self.{python_name(variable.name)}" for variable in source.variables]
    given = [f"self.{name}" for name in issued(source)]
    names = ["self.now", "self.serials", "self.completions", *variables, *collections, *boxes, *given]
    page.line(f"{', '.join(names)} = frozen")
    for name in given:
        page.line(f"{name} = set({name})")
    page.verbatim("found: dict[Any, Any] = {}  # records by their serial, for references between them")
    for entity, name in zip(source.entities, collections, strict=True):
        _thaw_records(page, entity, name)
    for entity, name in zip(source.entities, collections, strict=True):
        links = [(field, kind) for field, kind in _record_fields(entity) if _rebuilt(kind)]
        if links:
            with page.block(f"for each in self.{name}.values():"):
                _relink(page, "each", links)
    for message in source.messages:
        for box in _boxes(message):
            _thaw_messages(page, message, box)
    _relink(page, "self", [(python_name(each.name), each.type) for each in source.variables])


def _thaw_records(page: Page, entity: kernel.Entity, name: str) -> None:
    page.line(f"self.{name} = {{}}")
    with page.block(f"for values in {name}:"):
        page.line(f"each = {class_name(entity.name)}.__new__({class_name(entity.name)})")
        names = [f"each.{each}" for each in record_names(entity)]
        page.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = values")
        page.line(f"self.{name}[{key_of(entity, 'each')}] = found[each.serial] = each")


def _thaw_messages(page: Page, message: kernel.Message, box: str) -> None:
    page.line(f"self.{box} = []")
    with page.block(f"for values in {box}:"):
        page.line(f"message = {class_name(message.name)}(*values)")
        _relink(page, "message", _message_fields(message))
        page.line(f"self.{box}.append(message)")


def _relink(page: Page, holder: str, fields: _Fields) -> None:
    """Write that serials become records again, and tuples lists."""
    for name, kind in fields:
        if _rebuilt(kind):
            page.line(f"{holder}.{name} = {_thawed(f'{holder}.{name}', kind)}")


def _boxes(message: kernel.Message) -> tuple[str, str]:
    return f"due_{message.name.lower()}", f"sent_{message.name.lower()}"


def _record_fields(entity: kernel.Entity) -> _Fields:
    kinds: dict[str, Type] = {python_name(field.name): field.type for field in entity.fields}
    return [(name, kinds.get(name)) for name in record_names(entity)]


def _message_fields(message: kernel.Message) -> _Fields:
    kinds: dict[str, Type] = {python_name(key): value.type for key, value in message.carries}
    if message.to is not None:
        kinds["to"] = message.to.type
    return [(name, kinds.get(name)) for name in message_names(message)]


def _rebuilt(kind: Type | None) -> bool:
    """Return whether a value has to be rebuilt when a model is thawed."""
    match kind:
        case Ref() | List() | RecordType():
            return True
        case Optional(item=item):
            return _rebuilt(item)
        case _:
            return False


def _frozen(source: str, kind: Type | None, depth: int = 0) -> str:
    """Write a value as one that can be hashed: a record by its serial, lists and plain values as tuples."""
    match kind:
        case Ref():
            return f"{source}.serial"
        case Optional(item=Ref()):
            return f"({source} and {source}.serial)"
        case Optional(item=inner) if _rebuilt(inner):
            return f"(None if {source} is None else {_frozen(source, inner, depth)})"
        case RecordType(fields=fields):
            parts = ", ".join(_frozen(f"{source}[{name!r}]", each, depth) for name, each in fields)
            whole = f"({parts}{',' if len(fields) == 1 else ''})"
            return f"({source} if {source} is ANYTHING else {whole})"
        case List(item=item) if _rebuilt(item):
            part = f"part{depth or ''}"
            return f"tuple([{_frozen(part, item, depth + 1)} for {part} in {source}])"
        case List():
            return f"tuple({source})"
        case _:
            return source


def _thawed(source: str, kind: Type | None, depth: int = 0) -> str:
    """Write what `_frozen` wrote as the value that it was."""
    match kind:
        case Ref():
            return f"found[{source}]"
        case Optional(item=Ref()):
            return f"{source} and found[{source}]"
        case Optional(item=inner) if _rebuilt(inner):
            return f"None if {source} is None else {_thawed(source, inner, depth)}"
        case RecordType(fields=fields):
            parts = (
                f"{name!r}: {_thawed(f'{source}[{index}]', each, depth)}" for index, (name, each) in enumerate(fields)
            )
            return f"({source} if {source} is ANYTHING else {{{', '.join(parts)}}})"
        case List(item=item) if _rebuilt(item):
            part = f"part{depth or ''}"
            return f"[{_thawed(part, item, depth + 1)} for {part} in {source}]"
        case List():
            return f"list({source})"
        case _:
            return source
