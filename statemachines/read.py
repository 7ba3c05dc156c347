"""Tree → Lifecycle. The structure is known to be right (see `statemachines.structure`); meaning is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from statemachines.diagnostics import SpecError, Where
from statemachines.lifecycle import Lifecycle, Word
from statemachines.read_names import told_apart
from statemachines.read_operations import operation, own_step
from statemachines.read_records import entity, message
from statemachines.read_rows import row
from statemachines.read_types import definition, limit, policy, type_declaration, uses
from statemachines.reader import Reader
from statemachines.tree import Mapping, Node

Part = TypeVar("Part")


def read_lifecycle(tree: Node, file: str) -> Lifecycle:
    """Read a whole spec; raise SpecError with every fault found."""
    reader = Reader()
    body = cast(Mapping, tree)

    def table(section: str, read: Callable[[Reader, Word, Node], Part]) -> dict[str, Part]:
        entries = reader.entries(body.get(section))
        return {name.text: read(reader, name, value) for name, value in entries}

    definitions = [definition(reader, key, value) for key, value in reader.entries(body.get("define"))]
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
        entities=table("entities", entity),
        variables=uses(reader, body.get("variables")),
        messages=table("messages", message),
        signals=table("signals", lambda reader, _, node: uses(reader, node)),
        operations=table("operations", operation),
        spontaneous=table("on its own", own_step),
        invariants=table("invariants", lambda reader, _, node: reader.expr(node)),
        scope=table("scope", lambda reader, _, node: reader.number(node)),
        rows=table("matrix", row),
        places=dict(_places(body, "")),
    )
    told_apart(reader, lifecycle, definitions)
    if reader.faults:
        raise SpecError(reader.faults)
    return lifecycle


def _places(node: Mapping, path: str) -> Iterator[tuple[str, Where]]:
    """Give the place of every key, by the keys that lead to it: `operations.finish.move`."""
    for key, value in node.entries:
        inner = f"{path}.{key.text}" if path else key.text
        yield inner, key.where
        if isinstance(value, Mapping):
            yield from _places(value, inner)
