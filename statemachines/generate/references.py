"""Records that have left while something still refers to them: a frozen state holds these, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from statemachines import kernel
from statemachines.expression import class_name, python_name
from statemachines.generate.page import Page, key_of
from statemachines.types import List, Optional, RecordType, Ref, Type

Fields = list[tuple[str, Type | None]]


def leaving(source: kernel.Kernel) -> list[kernel.Entity]:
    """Return the entities whose records can leave, and to which something that is kept refers."""
    referred: set[str] = set()
    for _, fields in holders(source):
        for _, kind in fields:
            referred |= _referred(kind)
    removes = [each for each in source.effects() if isinstance(each, kernel.Remove)]
    removed = {each.entity if each.kind == "record" else each.name for each in removes}
    return [each for each in source.entities if each.name in referred and (each.retain or each.name in removed)]


def holders(source: kernel.Kernel) -> Iterator[tuple[str, Fields]]:
    """Walk what a model keeps: where the values are, and their fields; of the variables nothing is above these."""
    yield "", [(python_name(each.name), each.type) for each in source.variables]
    for entity in source.entities:
        yield f"self.{python_name(entity.collection)}.values()", fields_of(entity)
    for message in source.messages:
        to: Fields = [("to", message.to.type)] if message.to is not None else []
        carried: Fields = [(python_name(name), value.type) for name, value in message.carries]
        for box in ("due", "sent"):
            yield f"self.{box}_{message.name.lower()}", [*to, *carried]


def fields_of(entity: kernel.Entity) -> Fields:
    """Return the fields that the spec declares of a record, as attributes."""
    return [(python_name(field.name), field.type) for field in entity.fields]


def gone(page: Page, entities: Iterable[kernel.Entity]) -> None:
    """Write the method that finds those records, of each of the entities."""
    entities = list(entities)
    names = {each.name for each in entities}
    with page.method("_gone", "", "tuple[list[Any], ...]"):
        page.docstring("Return the records that have left and to which something still refers, of each kind.")
        page.line("found: dict[int, Any] = {}")
        page.line("waiting: list[Any] = []")
        for over, fields in holders(page.source):
            if values := _values("each" if over else "self", fields, names):
                each = f"one for each in {over} for one in [{values}]" if over else values
                page.line(f"waiting += [{each}]")
        with page.block("for each in waiting:"):
            for entity in entities:
                there = f"{page.collection(entity.name)}.get({key_of(entity, 'each')}) is each"
                head = f"if isinstance(each, {class_name(entity.name)}) and not {there} and each.serial not in found:"
                with page.block(head):
                    page.line("found[each.serial] = each")
                    if values := _values("each", fields_of(entity), names):
                        page.line(f"waiting += [{values}]")
        page.line("left = [found[serial] for serial in sorted(found)]")
        of_kinds = (f"[each for each in left if isinstance(each, {class_name(each.name)})]" for each in entities)
        page.line(f"return ({', '.join(of_kinds)},)")


def _values(holder: str, fields: Fields, names: set[str]) -> str:
    """Write the records of these entities to which some fields refer; null is none of them."""
    found = (_parts(f"{holder}.{name}", kind) for name, kind in fields if _referred(kind) & names)
    return ", ".join(found)


def _parts(source: str, kind: Type | None, depth: int = 0) -> str:
    match kind:
        case Optional(item=item) if not isinstance(item, Ref):
            return f"*([] if {source} is None else [{_parts(source, item, depth)}])"
        case List(item=item):
            part = f"part{depth or ''}"
            inner = _parts(part, item, depth + 1)
            return f"*{source}" if inner == part else f"*[one for {part} in {source} for one in [{inner}]]"
        case RecordType(fields=fields):
            parts = (_parts(f"{source}[{name!r}]", each, depth) for name, each in fields if _referred(each))
            return f"*([] if {source} is ANYTHING else [{', '.join(parts)}])"
        case _:
            return source


def _referred(kind: Type | None) -> set[str]:
    """Return the entities to whose records values of a type refer."""
    match kind:
        case Ref(entity=entity):
            return {entity}
        case Optional(item=item) | List(item=item):
            return _referred(item)
        case RecordType(fields=fields):
            return set().union(*(_referred(each) for _, each in fields))
        case _:
            return set()
