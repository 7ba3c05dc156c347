"""The classes of records and messages of a generated module, and how a model is frozen and thawed."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression.emit import python_name
from statemachines.types import List, Optional, Ref, Type
from statemachines.writer import Writer


def record_names(entity: kernel.Entity) -> list[str]:
    """Give the attributes of a record that are not declared by the spec, then those that are."""
    names = ["serial"]
    names += ["id"] if entity.minted or entity.fixed else []
    declared = [python_name(field.name) for field in entity.fields]
    return names + declared + (["state", "completion"] if entity.states else [])


def message_names(message: kernel.Message) -> list[str]:
    """Give the attributes of a message: what it is about, to whom, its place in the order, what it carries."""
    return ["about", "to", "key", *(python_name(key) for key, _ in message.carries)]


def entity_class(out: Writer, entity: kernel.Entity) -> None:
    """Write the class of an entity's records."""
    names = record_names(entity)
    given = [name for name in names if name not in ("state", "completion") or not entity.states]
    _class(out, entity.name, names, given)
    if entity.states:
        with out.block(), out.block():
            out.line(f"self.state = {entity.states[0]!r}")
            out.line("self.completion = 0")


def message_class(out: Writer, message: kernel.Message) -> None:
    """Write the class of a kind of message."""
    names = message_names(message)
    _class(out, message.name, names, names)


def _class(out: Writer, name: str, slots: list[str], given: list[str]) -> None:
    out.line()
    out.line()
    out.line(f"class {name}:")
    with out.block():
        out.line(f"__slots__ = {tuple(slots)!r}")
        out.line()
        arguments = ", ".join(f"{each}: Any" for each in given)
        out.line(f"def __init__(self, {arguments}) -> None:")
        with out.block():
            for each in given:
                out.line(f"self.{each} = {each}")


def freezing(out: Writer, source: kernel.Kernel) -> None:
    """Write `freeze` and `thaw`: the whole state as one value that can be compared, hashed and kept."""
    out.line()
    out.line("def freeze(self) -> tuple[Any, ...]:")
    with out.block():
        out.line("return (")
        with out.block():
            out.line("self.now,")
            out.line("self.serials,")
            out.line("self.completions,")
            for variable in source.variables:
                out.line(f"{_frozen(f'self.{python_name(variable.name)}', variable.type)},")
            for entity in source.entities:
                parts = ", ".join(_frozen(f"each.{name}", kind) for name, kind in _record_types(entity))
                out.line(f"tuple([({parts}) for each in self.{python_name(entity.collection)}.values()]),")
            for message in source.messages:
                parts = ", ".join(_frozen(f"each.{name}", kind) for name, kind in _message_types(message))
                for box in ("due", "sent"):
                    out.line(f"tuple([({parts}) for each in self.{box}_{message.name.lower()}]),")
        out.line(")")
    _thaw(out, source)


def _thaw(out: Writer, source: kernel.Kernel) -> None:
    boxes = [f"{box}_{message.name.lower()}" for message in source.messages for box in ("due", "sent")]
    collections = [python_name(entity.collection) for entity in source.entities]
    variables = [python_name(variable.name) for variable in source.variables]
    out.line()
    out.line("def thaw(self, frozen: tuple[Any, ...]) -> None:")
    with out.block():
        names = [f"self.{name}" for name in variables] + collections + boxes
        out.line(f"self.now, self.serials, self.completions, {', '.join(names)} = frozen")
        out.line("found: dict[Any, Any] = {}  # records by their serial, for references between them")
        for entity, name in zip(source.entities, collections, strict=True):
            out.line(f"self.{name} = {{}}")
            out.line(f"for values in {name}:")
            with out.block():
                out.line(f"each = {entity.name}.__new__({entity.name})")
                out.line(f"{_unpacked(record_names(entity))} = values")
                out.line(f"self.{name}[each.{python_name(entity.key)}] = found[each.serial] = each")
        for entity, name in zip(source.entities, collections, strict=True):
            links = [(field, kind) for field, kind in _record_types(entity) if _links(kind)]
            if links:
                out.line(f"for each in self.{name}.values():")
                with out.block():
                    for field, kind in links:
                        out.line(f"each.{field} = {_thawed(f'each.{field}', kind)}")
        for message in source.messages:
            for box in ("due", "sent"):
                name = f"{box}_{message.name.lower()}"
                out.line(f"self.{name} = []")
                out.line(f"for values in {name}:")
                with out.block():
                    out.line(f"message = {message.name}(*values)")
                    for field, kind in _message_types(message):
                        if _links(kind):
                            out.line(f"message.{field} = {_thawed(f'message.{field}', kind)}")
                    out.line(f"self.{name}.append(message)")
        for variable in source.variables:
            if _links(variable.type):
                out.line(f"self.{python_name(variable.name)} = {_thawed(f'self.{python_name(variable.name)}', variable.type)}")


def _unpacked(names: list[str]) -> str:
    return ", ".join(f"each.{name}" for name in names) + ("," if len(names) == 1 else "")


def _record_types(entity: kernel.Entity) -> list[tuple[str, Type | None]]:
    kinds: dict[str, Type] = {python_name(field.name): field.type for field in entity.fields}
    return [(name, kinds.get(name)) for name in record_names(entity)]


def _message_types(message: kernel.Message) -> list[tuple[str, Type | None]]:
    kinds: dict[str, Type] = {python_name(key): value.type for key, value in message.carries}
    if message.to is not None:
        kinds["to"] = message.to.type
    return [(name, kinds.get(name)) for name in message_names(message)]


def _links(kind: Type | None) -> bool:
    """Tell whether a value has to be rebuilt when a model is thawed."""
    match kind:
        case Ref() | List():
            return True
        case Optional(item=item):
            return _links(item)
        case _:
            return False


def _frozen(source: str, kind: Type | None) -> str:
    match kind:
        case Ref():
            return f"{source}.serial"
        case Optional(item=Ref()):
            return f"({source} and {source}.serial)"
        case Optional(item=List() as inner):
            return f"(None if {source} is None else {_frozen(source, inner)})"
        case List(item=Ref()):
            return f"tuple([part.serial for part in {source}])"
        case List():
            return f"tuple({source})"
        case _:
            return source


def _thawed(source: str, kind: Type | None) -> str:
    match kind:
        case Ref():
            return f"found[{source}]"
        case Optional(item=Ref()):
            return f"({source} and found[{source}])"
        case Optional(item=List() as inner):
            return f"(None if {source} is None else {_thawed(source, inner)})"
        case List(item=Ref()):
            return f"[found[part] for part in {source}]"
        case _:
            return f"list({source})"
