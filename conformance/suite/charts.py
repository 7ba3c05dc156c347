"""What a report says of the life cycle itself, so that it can be drawn and quoted without the spec."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.report import Chart, Led
from statemachines.compile import Compiled
from statemachines.draw import arrows
from statemachines.kernel import Create, Entity, walk


def sentences(compiled: Compiled) -> dict[str, str]:
    """Return what each clause says, by its path, and by the path of an operation what that is for."""
    operations = ((f"operations.{each.name}", each.about) for each in compiled.kernel.operations if each.about)
    clauses = ((each.path, each.text) for each in compiled.kernel.clauses)
    return {path: " ".join(text.split()) for path, text in (*operations, *clauses)}


def charts(compiled: Compiled) -> tuple[Chart, ...]:
    """Return where the sentences of a life cycle lead each kind of record that has states."""
    return tuple(
        Chart(each.name, each.states, each.terminal, tuple(_arrows(compiled, each)))
        for each in compiled.kernel.entities
        if each.states
    )


def _arrows(compiled: Compiled, record: Entity) -> Iterator[Led]:
    for operation in compiled.kernel.operations:
        for effect in walk(operation.effects):
            if isinstance(effect, Create) and effect.entity == record.name:
                yield Led(operation.name, "", record.states[:1], clause=effect.clause)
    for arrow in arrows(compiled, record.name):
        yield Led(arrow.trigger, arrow.source, arrow.targets, arrow.chosen_by, arrow.after, arrow.clause)
