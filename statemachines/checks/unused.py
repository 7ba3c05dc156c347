"""What a spec declares and never mentions again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final

from statemachines.diagnostics import Diagnostic, Where
from statemachines.expression import Field, FunctionCall, Name, Node, nodes, path_of
from statemachines.lifecycle import (
    DefinitionSpec,
    EntitySpec,
    Expr,
    Lifecycle,
    Limit,
    OperationSpec,
    Owed,
    Policy,
    Row,
    SpontaneousSpec,
    TypeDeclaration,
    TypeUse,
    Word,
)

_NAMED: Final = (
    Limit,
    Policy,
    TypeDeclaration,
    DefinitionSpec,
    EntitySpec,
    Owed,
    OperationSpec,
    SpontaneousSpec,
)
_CODES: Final = {
    "limits": "unused-limit",
    "policies": "unused-policy",
    "types": "unused-type",
    "variables": "unused-variable",
    "signals": "unused-signal",
    "messages": "unused-message",
}


def faults(lifecycle: Lifecycle) -> Iterator[Diagnostic]:
    """Tell of every limit, policy, type, variable, signal, message and group that nothing mentions."""
    used = _Mentions()
    used.walk(lifecycle)
    for section, names in _unused(lifecycle, used).items():
        for name in names:
            where = lifecycle.places[f"{section}.{name}"]
            yield Diagnostic(_CODES[section], where, f"nothing uses {name!r}", "remove it, or use it")
    yield from _groups(lifecycle, used)


def _unused(lifecycle: Lifecycle, used: _Mentions) -> dict[str, list[str]]:
    """Return by section the names of what is declared and not used."""
    boxes, read = used.names | used.words, used.names | {name for name in used.types if name.startswith("policies.")}
    return {
        "limits": [name for name in lifecycle.limits if f"limits.{name}" not in used.names],
        "policies": [name for name in lifecycle.policies if read.isdisjoint((name, f"policies.{name}"))],
        "types": [name for name in lifecycle.types if name not in used.types | used.names],
        "variables": [name for name in lifecycle.variables if name not in used.names],
        "signals": [name for name in lifecycle.signals if name not in used.words | used.names],
        "messages": [name for name in lifecycle.messages if boxes.isdisjoint((f"due.{name}", f"sent.{name}"))],
    }


def _groups(lifecycle: Lifecycle, used: _Mentions) -> Iterator[Diagnostic]:
    """Tell of groups without use, where there are several beside `terminal`: one would do."""
    for name, entity in lifecycle.entities.items():
        others = [group for group in entity.groups or {} if group != "terminal"]
        for group in others if len(others) > 1 else ():
            if group not in used.words | used.names and f"{name}.{group}" not in used.types:
                where = lifecycle.places.get(f"entities.{name}.states.{group}", entity.name.where)
                hint = "put its states into another group, or use it"
                yield Diagnostic("unused-group", where, f"nothing uses the group {group!r} of {name}", hint)


@dataclass(slots=True)
class _Mentions:
    """What is mentioned: names and paths in expressions, types, and other words."""

    names: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def walk(self, value: Any) -> None:
        """Gather what a part of a lifecycle mentions; the name under which it is declared is none of it."""
        match value:
            case Expr(node=node):
                self.names.update(_names(node))
            case Word(text=text):
                self.words.add(text)
            case TypeUse(name=name):
                self.types.add(name.text)
                self._each(value, skipped=("name",))
            case Row():
                self._each(value, skipped=("id", "covers"))
            case Lifecycle():
                self._each(value, skipped=("should", "places"))
            case Mapping():
                for inner in value.values():
                    self.walk(inner)
            case tuple():
                for inner in value:
                    self.walk(inner)
            case _ if is_dataclass(value) and not isinstance(value, Where):
                self._each(value, skipped=("name",) if isinstance(value, _NAMED) else ())

    def _each(self, value: Any, skipped: Iterable[str]) -> None:
        for part in fields(value):
            if part.name not in skipped:
                self.walk(getattr(value, part.name))


def _names(node: Node) -> Iterator[str]:
    """Yield every name in an expression, fields included, and the paths that they make."""
    for part in nodes(node):
        match part:
            case Name(name=name) | FunctionCall(name=name):
                yield name
            case Field(name=name):
                yield name
                yield path_of(part)
