"""The classes of records and messages."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import class_name, python_name
from statemachines.generate.writer import Writer

_KEPT = ("state", "completion")  # what no one gives to a new record that has states


def record_names(entity: kernel.Entity) -> list[str]:
    """Return the attributes of a record: the built-in ones around those that the spec declares."""
    names = ["serial", "id"] if entity.minted or entity.fixed else ["serial"]
    declared = [python_name(field.name) for field in entity.fields]
    return [*names, *declared, *(_KEPT if entity.states else ())]


def message_names(message: kernel.Message) -> list[str]:
    """Return the attributes of a message."""
    return ["about", "to", "key", *(python_name(key) for key, _ in message.carries)]


def entity_class(out: Writer, entity: kernel.Entity) -> None:
    """Write the class of an entity's records."""
    about = f"A record of {entity.name}."
    if entity.states:
        first = {"state": repr(entity.states[0]), "completion": "0"}
        _class(out, class_name(entity.name), about, record_names(entity), first)
    else:
        _class(out, class_name(entity.name), about, record_names(entity), {})


def message_class(out: Writer, message: kernel.Message) -> None:
    """Write the class of a kind of message."""
    about = f"A message about the {message.entity} of serial `about`; `key` is its place in the order."
    _class(out, class_name(message.name), about, message_names(message), {})


def _class(out: Writer, name: str, about: str, slots: list[str], first: dict[str, str]) -> None:
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
