"""The state of a model: the classes of what it holds, how a case begins, how ids are minted, how all is frozen.

A frozen state is one value that can be compared, hashed and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from statemachines import kernel
from statemachines.expression import class_name, python_name
from statemachines.generate.first_values import first_values
from statemachines.generate.page import Page, key_of
from statemachines.generate.references import gone, leaving
from statemachines.generate.writer import tuple_of
from statemachines.types import List, Optional, RecordType, Ref, Type

_KEPT = ("state", "completion")  # what no one gives to a new record that has states
_Fields = list[tuple[str, Type | None]]


def record_names(entity: kernel.Entity) -> list[str]:
    """Return the attributes of a record: the built-in ones around those that the spec declares."""
    return [name for name, _ in _record_fields(entity)]


def _record_fields(entity: kernel.Entity) -> _Fields:
    """Return the attributes of a record, with the types of those that the spec declares."""
    first = ("serial", "id") if entity.minted or entity.fixed else ("serial",)
    declared = ((python_name(field.name), field.type) for field in entity.fields)
    return [*((name, None) for name in first), *declared, *((name, None) for name in _KEPT if entity.states)]


def message_names(message: kernel.Message) -> list[str]:
    """Return the attributes of a message."""
    return [name for name, _ in _message_fields(message)]


def _message_fields(message: kernel.Message) -> _Fields:
    """Return the attributes of a message, with the types of those that the spec declares."""
    to = message.to.type if message.to is not None else None
    return [
        ("about", None),
        ("to", to),
        ("key", None),
        *((python_name(key), value.type) for key, value in message.carries),
    ]


def entity_class(out: Page, entity: kernel.Entity) -> None:
    """Write the class of an entity's records."""
    first = {"state": repr(entity.states[0]), "completion": "0"} if entity.states else {}
    _class(out, class_name(entity.name), f"A record of {entity.name}.", record_names(entity), first)


def message_class(out: Page, message: kernel.Message) -> None:
    """Write the class of a kind of message."""
    about = f"A message about the {message.entity} of serial `about`; `key` is its place in the order."
    _class(out, class_name(message.name), about, message_names(message), {})


def _class(out: Page, name: str, about: str, slots: list[str], first: dict[str, str]) -> None:
    """Write a class; `first` are the values of the attributes that its constructor does not take."""
    out.line()
    out.line()
    with out.block(f"class {name}:"):
        out.docstring(about)
        out.line()
        out.line(f"__slots__ = {tuple(slots)!r}")
        out.line()
        given = ", ".join(f"{each}: Any" for each in slots if each not in first)
        with out.block(f"def __init__(self, {given}) -> None:"):
            for each in slots:
                out.line(f"self.{each} = {first.get(each, each)}")


def slots(page: Page) -> None:
    """Write the names of what a model holds."""
    source = page.source
    names = ["serials", "completions"]
    names += [python_name(entity.collection) for entity in source.entities]
    names += [python_name(variable.name) for variable in source.variables]
    names += issued(source)
    names += [f"{box}_{message.name.lower()}" for message in source.messages for box in ("due", "sent")]
    page.line(f"__slots__ = {tuple(names)!r}")


def issued(source: kernel.Kernel) -> list[str]:
    """Return the names of the sets of ids that are never given again."""
    return [f"issued_{python_name(entity.collection)}" for entity in source.entities if entity.once]


def keeps(source: kernel.Kernel) -> tuple[str, ...]:
    """Name what a frozen state has beside records, messages and variables: ids that were given, and what has left."""
    return (*issued(source), *_gone(leaving(source)))


def reset(page: Page) -> None:
    """Write how a case begins: the records that always exist, the first values, and nothing sent."""
    with page.method("reset", "", "None"):
        page.line("self.now = 0")
        page.verbatim("self.serials = 0  # records created so far")
        page.verbatim("self.completions = 0  # records that have ended so far")
        for entity in page.source.entities:
            page.line(f"{page.collection(entity.name)}: dict[Any, {class_name(entity.name)}] = {{}}")
        for message in page.source.messages:
            for box in ("due", "sent"):
                page.line(f"self.{box}_{message.name.lower()}: list[{class_name(message.name)}] = []")
        for name in issued(page.source):
            page.line(f"self.{name}: set[str] = set()")
        for line in first_values(page):
            page.line(line)


def mint(page: Page) -> None:
    """Write how the model mints an id: how it has to begin, with a number that none of its records has."""
    minted = [entity.name for entity in page.source.entities if entity.minted]
    with page.method("next_ordinal", 'entity: str, prefix: str = "", size: int | None = None', "str"):
        if not minted:
            page.line('raise LookupError(f"{entity} has no minted ids")')
            return
        records = ", ".join(f"{name!r}: {_taken(page, name)}" for name in minted)
        page.line("number = self.serials")
        page.line(f"taken: dict[Any, Any] = {{{records}}}[entity]")
        with page.block("while (found := ordinal_id(entity, prefix, size, number)) in taken:"):
            page.line("number += 1")
        page.line("return found")


def _taken(page: Page, name: str) -> str:
    """Write the ids that a new record cannot have."""
    entity = page.source.entity(name)
    return f"self.issued_{python_name(entity.collection)}" if entity.once else page.collection(name)


def freezing(page: Page) -> None:
    """Write `freeze` and `thaw`."""
    left = leaving(page.source)
    if left:
        gone(page, left)
    with page.method("freeze", "", "tuple[Any, ...]"):
        if left:
            page.line(f"{''.join(f'{each}, ' for each in _gone(left))}= self._gone()")
        with page.bracketed("return (", ")"):
            for part in _parts(page.source):
                page.entry(part)
    with page.method("thaw", "frozen: tuple[Any, ...]", "None"):
        _thaw(page)


def _parts(source: kernel.Kernel) -> Iterator[str]:
    """Yield the source of every part of a frozen state."""

    def each_of(fields: _Fields, over: str) -> str:
        return f"tuple([{tuple_of(_frozen(f'each.{name}', kind) for name, kind in fields)} for each in {over}])"

    yield from ("self.now", "self.serials", "self.completions")
    for variable in source.variables:
        yield _frozen(f"self.{python_name(variable.name)}", variable.type)
    for entity in source.entities:
        yield each_of(_record_fields(entity), f"self.{python_name(entity.collection)}.values()")
    for message in source.messages:
        for box in _boxes(message):
            yield each_of(_message_fields(message), f"self.{box}")
    yield from (f"frozenset(self.{name})" for name in issued(source))
    for entity, name in zip(left := leaving(source), _gone(left), strict=True):
        yield each_of(_record_fields(entity), name)


def _gone(entities: Iterable[kernel.Entity]) -> list[str]:
    """Name the records of some entities that have left and to which something still refers."""
    return [f"gone_{python_name(entity.collection)}" for entity in entities]


def _thaw(page: Page) -> None:
    source = page.source
    collections = [python_name(entity.collection) for entity in source.entities]
    boxes = [box for message in source.messages for box in _boxes(message)]
    variables = [f"self.{python_name(variable.name)}" for variable in source.variables]
    given = [f"self.{name}" for name in issued(source)]
    left = leaving(source)
    names = ["self.now", "self.serials", "self.completions", *variables, *collections, *boxes, *given, *_gone(left)]
    page.line(f"{', '.join(names)} = frozen")
    for name in given:
        page.line(f"{name} = set({name})")
    page.verbatim("found: dict[Any, Any] = {}  # records by their serial, for references between them")
    for entity, name in zip(source.entities, collections, strict=True):
        page.line(f"self.{name} = {{}}")
        _thaw_records(page, entity, name, f"self.{name}[{key_of(entity, 'each')}] = ")
    for entity, name in zip(left, _gone(left), strict=True):
        _thaw_records(page, entity, name)
    for entity, name in zip(source.entities, collections, strict=True):
        if links := _links("each", _record_fields(entity)):
            with page.block(f"for each in self.{name}.values():"):
                page.verbatim("\n".join(links))
    for entity, name in zip(left, _gone(left), strict=True):
        if links := _links("each", _record_fields(entity)):
            with page.block(f"for each in [found[values[0]] for values in {name}]:"):
                page.verbatim("\n".join(links))
    for message in source.messages:
        for box in _boxes(message):
            _thaw_messages(page, message, box)
    page.verbatim("\n".join(_links("self", [(python_name(each.name), each.type) for each in source.variables])))


def _thaw_records(page: Page, entity: kernel.Entity, name: str, kept: str = "") -> None:
    with page.block(f"for values in {name}:"):
        page.line(f"each = {class_name(entity.name)}.__new__({class_name(entity.name)})")
        names = [f"each.{each}" for each in record_names(entity)]
        page.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = values")
        page.line(f"{kept}found[each.serial] = each")


def _thaw_messages(page: Page, message: kernel.Message, box: str) -> None:
    page.line(f"self.{box} = []")
    with page.block(f"for values in {box}:"):
        page.line(f"message = {class_name(message.name)}(*values)")
        page.verbatim("\n".join(_links("message", _message_fields(message))))
        page.line(f"self.{box}.append(message)")


def _links(holder: str, fields: _Fields) -> list[str]:
    """Return the statements in which serials become records again, and tuples lists."""
    thawed = ((part := f"{holder}.{name}", _thawed(part, kind)) for name, kind in fields)
    return [f"{part} = {then}" for part, then in thawed if then != part]


def _boxes(message: kernel.Message) -> tuple[str, str]:
    return f"due_{message.name.lower()}", f"sent_{message.name.lower()}"


def _frozen(source: str, kind: Type | None, depth: int = 0) -> str:
    """Write a value as one that can be hashed: a record by its serial, lists and plain values as tuples."""
    match kind:
        case Ref():
            return f"{source}.serial"
        case Optional(item=Ref()):
            return f"({source} and {source}.serial)"
        case Optional(item=item) if (inner := _frozen(source, item, depth)) != source:
            return f"(None if {source} is None else {inner})"
        case RecordType(fields=fields):
            whole = tuple_of(_frozen(f"{source}[{name!r}]", each, depth) for name, each in fields)
            return f"({source} if {source} is ANYTHING else {whole})"
        case List(item=item):
            part = f"part{depth or ''}"
            inner = _frozen(part, item, depth + 1)
            return f"tuple({source})" if inner == part else f"tuple([{inner} for {part} in {source}])"
        case _:
            return source


def _thawed(source: str, kind: Type | None, depth: int = 0) -> str:
    """Write what `_frozen` wrote as the value that it was."""
    match kind:
        case Ref():
            return f"found[{source}]"
        case Optional(item=Ref()):
            return f"{source} and found[{source}]"
        case Optional(item=item) if (inner := _thawed(source, item, depth)) != source:
            return f"None if {source} is None else {inner}"
        case RecordType(fields=fields):
            parts = (
                f"{name!r}: {_thawed(f'{source}[{index}]', each, depth)}" for index, (name, each) in enumerate(fields)
            )
            return f"({source} if {source} is ANYTHING else {{{', '.join(parts)}}})"
        case List(item=item):
            part = f"part{depth or ''}"
            inner = _thawed(part, item, depth + 1)
            return f"list({source})" if inner == part else f"[{inner} for {part} in {source}]"
        case _:
            return source
