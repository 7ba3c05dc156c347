"""Tree → Lifecycle. The structure is known to be right (see `structure`); meaning is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from statemachines.diagnostics import SpecError, Where
from statemachines.lifecycle import Lifecycle, Word
from statemachines.surface.names import told_apart
from statemachines.surface.operations import operation, own_step
from statemachines.surface.reader import Reader
from statemachines.surface.records import entity, message, with_entities
from statemachines.surface.rows import matrix
from statemachines.surface.types import definition, limit, policy, type_declaration, uses
from statemachines.yaml import Mapping, Node

Part = TypeVar("Part")


def read_lifecycle(tree: Node, file: str) -> Lifecycle:
    """Read a whole spec; raise SpecError with every fault found."""
    reader = Reader()
    body = cast(Mapping, tree)

    def table(section: str, read: Callable[[Reader, Word, Any], Part]) -> dict[str, Part]:
        entries = reader.entries(body.get(section))
        return {name.text: read(reader, name, value) for name, value in entries}

    entities = table("entities", entity)
    operations = table("operations", operation).items()
    definitions = [role.condition for each in entities.values() for role in each.roles.values()]
    definitions += [definition(reader, key, value) for key, value in reader.entries(body.get("define"))]
    lifecycle = Lifecycle(
        name=reader.text(body.get("lifecycle")),
        version=reader.number(body.get("version")),
        about=reader.text(body.get("about")),
        file=file,
        limits=table("limits", limit),
        policies=table("policies", policy),
        should=reader.words(body.get("should")),
        definitions={definition.name.text: definition for definition in definitions},
        types=table("types", type_declaration),
        entities=entities,
        variables=uses(reader, body.get("variables")),
        messages=table("messages", message),
        signals=table("signals", lambda reader, _, node: uses(reader, node)),
        operations={name: with_entities(each, entities.values()) for name, each in operations},
        parts=table("parts", lambda reader, _, node: reader.words(node)),
        spontaneous=table("on its own", own_step),
        invariants=table("invariants", lambda reader, _, node: reader.expr(node)),
        scope=table("scope", lambda reader, _, node: reader.number(node)),
        rows=matrix(reader, body.get("matrix")),
        places=dict(_places(body, "")),
    )
    told_apart(reader, lifecycle, definitions)
    if reader.faults:
        raise SpecError(reader.faults)
    return lifecycle


def _places(node: Mapping, path: str) -> Iterator[tuple[str, Where]]:
    """Yield the place of every key, by the keys that lead to it: `operations.finish.move`."""
    for key, value in node.entries:
        inner = f"{path}.{key.text}" if path else key.text
        yield inner, key.where
        if isinstance(value, Mapping):
            yield from _places(value, inner)
