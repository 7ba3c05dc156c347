"""Names that stand for something in every expression: each of them means one thing."""

from __future__ import annotations

from collections.abc import Iterable

from statemachines.diagnostics import Where
from statemachines.expression import ALONE, RESERVED, python_name
from statemachines.lifecycle import DefinitionSpec, Lifecycle
from statemachines.model import BaseModel
from statemachines.surface.reader import Reader
from statemachines.words import variable_of

_VALUES = {
    "now": "the clock",
    "limits": "the word for the limits",
    "policies": "the word for the policies",
    "due": "the word for messages that are due",
    "sent": "the word for messages that were sent",
}
_OF_RECORDS = {
    "serial": "the place of a record among all",
    "state": "where a record stands",
    "completion": "its place among those that ended",
}
_WORDS = dict.fromkeys(RESERVED, "a word of the language")  # no name, wherever it stands
_MODEL = "a part of the generated model"
_ASKED = dict.fromkeys(
    ("close", "signals", "declares", "hello", "reset", "point"),
    "what the kit asks of every system beside its operations",
)
_GIVEN = _WORDS | {"self": "what Python calls the system itself"}
_CALLS = dict.fromkeys((*ALONE, *RESERVED, "wait", "repeat", "together", "fresh"), "a word of the language")


def told_apart(reader: Reader, lifecycle: Lifecycle, definitions: list[DefinitionSpec]) -> None:
    """Find every name of a record list, a variable, a definition or an operation that means something already."""
    values, calls = _of_the_model(lifecycle) | _VALUES | _WORDS, dict(_CALLS)
    for name, entity in lifecycle.entities.items():
        where = lifecycle.places.get(f"entities.{name}.plural", entity.name.where)
        _take(reader, values, entity.plural, where, f"all the records of {name}")
        own = {**_OF_RECORDS} if entity.states else {"serial": _OF_RECORDS["serial"]}
        for field in {*entity.fields} & {*own}:
            _take(reader, own, field, lifecycle.places[f"entities.{name}.fields.{field}"], "a field")
        _spelled_apart(reader, lifecycle, f"entities.{name}.fields", entity.fields)
    for name in lifecycle.variables:
        _take(reader, values, name, lifecycle.places[f"variables.{name}"], "a variable")
    for each in definitions:
        _take(reader, values, each.name.text, each.name.where, "a definition")
        _take(reader, calls, each.name.text, each.name.where, "a definition")
    kinds = dict.fromkeys(lifecycle.types, "a type") | dict.fromkeys(lifecycle.entities, "a kind of record")
    for entity in lifecycle.entities.values():
        for role in entity.roles.values():
            _take(reader, kinds, role.name.text, role.name.where, "a role")
    calls |= _ASKED
    for name, operation in lifecycle.operations.items():
        _take(reader, calls, name, lifecycle.places[f"operations.{name}"], "an operation")
        for parameter in operation.takes:
            where = lifecycle.places[f"operations.{name}.takes.{parameter}"]
            _take(reader, {**_GIVEN}, parameter, where, "a parameter")
        _spelled_apart(reader, lifecycle, f"operations.{name}.takes", operation.takes)


def _spelled_apart(reader: Reader, lifecycle: Lifecycle, of: str, names: Iterable[str]) -> None:
    """Find a name that the generated model would spell as another one: a word of Python's own gets a `_` at its end there."""
    spelled: dict[str, str] = {}
    for name in names:
        other = spelled.setdefault(python_name(name), name)
        if other != name:
            message = f"{name!r} cannot be told from {other!r} in the generated model"
            reader.fault("taken-name", lifecycle.places[f"{of}.{name}"], message, "choose another name")


def _of_the_model(lifecycle: Lifecycle) -> dict[str, str]:
    """Return the names that the generated model itself has, beside those of the spec."""
    found = {*vars(BaseModel), "serials", "completions"}
    found |= {f"{verb}_{name}" for name in lifecycle.operations for verb in ("do", "may")}
    for entity in lifecycle.entities.values():
        verbs = ("begin", "shown", "entered", "removed")
        found |= {f"{verb}_{variable_of(entity.name.text)}" for verb in verbs} | {f"issued_{entity.plural}"}
    for message in lifecycle.messages:
        found |= {f"{verb}_{message.lower()}" for verb in ("due", "sent", "send", "shown")}
    found |= {f"{name}_key" for name in lifecycle.policies}
    return dict.fromkeys(found, _MODEL)


def _take(reader: Reader, taken: dict[str, str], name: str, where: Where, meaning: str) -> None:
    if name not in taken:
        taken[name] = meaning
        return
    message = f"{name!r} is {taken[name]} already, and would be {meaning}"
    if (taken[name], meaning) == ("a definition", "a definition"):
        message = f"{name!r} is defined twice"
    reader.fault("taken-name", where, message, "choose another name")
