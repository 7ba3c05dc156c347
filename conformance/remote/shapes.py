"""The checks of a JSON schema, made once as functions: each message is looked at, so a look has to cost next to nothing.

They know the few words that `spec/protocol.schema.json` uses; another word is an error where they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.system import told

Schema = Mapping[str, Any] | bool
Check = Callable[[Any, str], str]
"""Returns what is wrong with a value that stands at a place; an empty text where nothing is."""

_TEXTS: Final = ("$schema", "title", "description")
_WITH_IF: Final = ("then", "else")
_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: (
        not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
}


def checker(schema: Schema, definitions: Mapping[str, Schema]) -> Check:
    """Return the check of a schema, whose `$ref`s name definitions; raise ValueError for a word that is not known."""
    if isinstance(schema, bool):
        return _anything if schema else _nothing
    return _all([_MAKERS[word](schema, definitions) for word in schema if _has_check(word)])


def _has_check(word: str) -> bool:
    if word in _MAKERS:
        return True
    if word in _TEXTS or word in _WITH_IF:
        return False
    raise ValueError(f"a check of {word!r} is not known")


def _anything(value: Any, place: str) -> str:
    return ""


def _nothing(value: Any, place: str) -> str:
    return f"{place} has no place here"


def _all(checks: list[Check]) -> Check:
    if len(checks) == 1:
        return checks[0]

    def check(value: Any, place: str) -> str:
        for each in checks:
            if fault := each(value, place):
                return fault
        return ""

    return check


def _reference(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    return checker(definitions[schema["$ref"].removeprefix("#/definitions/")], definitions)


def _type(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    (first, *others), wanted = [_TYPES[name] for name in names], " or ".join(names)

    def check(value: Any, place: str) -> str:
        fits = first(value) or any(test(value) for test in others)
        return "" if fits else f"{place} is {told(value)}, and {wanted} is wanted"

    return check


def _const(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    wanted = schema["const"]

    def check(value: Any, place: str) -> str:
        same = value == wanted and isinstance(value, bool) == isinstance(wanted, bool)
        return "" if same else f"{place} is {told(value)}, and {told(wanted)} is wanted"

    return check


def _minimum(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    least = schema["minimum"]

    def check(value: Any, place: str) -> str:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return f"{place} is {told(value)}, and {least} is the least" if is_number and value < least else ""

    return check


def _required(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    names = schema["required"]

    def check(value: Any, place: str) -> str:
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    return f"{place} has no {name}"
        return ""

    return check


def _properties(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    checks = [(name, checker(each, definitions)) for name, each in schema["properties"].items()]
    checks = [(name, check) for name, check in checks if check is not _anything]

    def check(value: Any, place: str) -> str:
        if isinstance(value, dict):
            for name, each in checks:
                if name in value and (fault := each(value[name], f"{place}.{name}")):
                    return fault
        return ""

    return check


def _additional(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    known, other = frozenset(schema.get("properties", ())), checker(schema["additionalProperties"], definitions)

    def check(value: Any, place: str) -> str:
        if isinstance(value, dict):
            for name in value.keys() - known:
                if fault := other(value[name], f"{place}.{told(name)[1:-1]}"):
                    return fault
        return ""

    return check


def _items(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    check_one = checker(schema["items"], definitions)

    def check(value: Any, place: str) -> str:
        faults = (check_one(each, f"{place}[{number}]") for number, each in enumerate(value))
        return _first(faults) if isinstance(value, list) else ""

    return check


def _first(faults: Iterable[str]) -> str:
    return next(filter(None, faults), "")


def _condition(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    condition = checker(schema["if"], definitions)
    holds, fails = (checker(schema.get(word, True), definitions) for word in _WITH_IF)

    def check(value: Any, place: str) -> str:
        return fails(value, place) if condition(value, place) else holds(value, place)

    return check


def _all_of(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    return _all([checker(each, definitions) for each in schema["allOf"]])


def _one_of(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Check:
    checks = [checker(each, definitions) for each in schema["oneOf"]]
    choices = " or ".join(_named(schema["oneOf"]))

    def check(value: Any, place: str) -> str:
        fitting = sum(not each(value, place) for each in checks)
        return (
            "" if fitting == 1 else f"{place} has {'both' if fitting else 'neither'}: just one of {choices} is wanted"
        )

    return check


def _named(choices: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for each in choices:
        yield " and ".join(each["required"])


_MAKERS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Schema]], Check]]] = {
    "$ref": _reference,
    "type": _type,
    "const": _const,
    "minimum": _minimum,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "if": _condition,
    "allOf": _all_of,
    "oneOf": _one_of,
}
