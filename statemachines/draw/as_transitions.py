"""The states of an entity for the package `transitions`: a live machine, and the same as a module of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statemachines.compile import Compiled, load
from statemachines.draw.chart import Arrow, drawn
from statemachines.expression import group_constant
from statemachines.generate import WIDTH, Writer
from statemachines.kernel import Entity
from statemachines.lifecycle import Lifecycle
from statemachines.lower import lower

if TYPE_CHECKING:  # who only draws does not pay for it
    from transitions import Machine


def machine(
    lifecycle: str | Path | Lifecycle | Compiled,
    entity: str,
    model: Any = None,
    *,
    machine_class: type[Machine] | None = None,
    conditions: Mapping[str, Any] | None = None,
    **options: Any,
) -> Machine:
    """Return a machine of `transitions` for the records of an entity: its triggers are the operations that move it.

        job = Job()
        statemachines.machine("thread-job", "Job", job)
        job.request_cancel()                     # running → pending_cancel, and job.on_enter_pending_cancel()
        job.finish(outcome="cancelled")

    lifecycle   a shipped name, the path of a spec, or a life cycle that is loaded
    entity      the kind of record, such as "Job"
    conditions  trigger → what must hold beside the state of the record

    `model`, `machine_class`, `conditions`, `options` and callbacks are said at `StateChart.machine`. A timer of the
    spec is a trigger `after_STATE` for the clock of the product. The machine knows the state of one record and no more:
    what a call needs beside it (other records, its arguments, whose record it is) is for the product to decide, as
    `conditions`; so is which records a trigger reaches that moves several, and the end of a record that a timer removes.

    Raises LookupError for a life cycle or an entity that there is not, ValueError for an entity without states,
    SpecError for a spec with faults.
    """
    from statemachines.draw.state_chart import StateChart, Trigger

    if isinstance(lifecycle, Lifecycle):
        lifecycle = Compiled(lifecycle, *lower(lifecycle))
    compiled = lifecycle if isinstance(lifecycle, Compiled) else load(lifecycle)
    found = _triggers(compiled, entity)
    record = compiled.kernel.entity(entity)
    if not record.states:
        raise ValueError(f"{entity} has no states")
    chart = StateChart(record.states, record.terminal, tuple(Trigger(*each) for each, _ in found))
    return chart.machine(model, machine_class=machine_class, conditions=conditions, **options)


def machine_module(compiled: Compiled) -> str:
    """Return a module with the machine of each entity that has states; it imports `transitions` alone.

    The same bytes each time. Raises LookupError where no entity has states.
    """
    name = compiled.lifecycle.name
    records = [entity for entity in compiled.kernel.entities if entity.states]
    if not records:
        raise LookupError(f"no entity of {name} has states")
    shared = resources.files("statemachines.draw").joinpath("state_chart.py").read_text("utf-8")
    page = Writer()
    page.verbatim(
        f'"""The states of the life cycle {name}, as machines of the package `transitions`.\n\n'
        "Generated from its spec; change the spec and generate again instead of editing this file.\n\n"
        f"    {_constant(records[0])}.machine(record)      # the record gets `state`, and a method for each trigger\n"
        '"""\n\nfrom __future__ import annotations' + shared.partition("from __future__ import annotations")[2]
    )
    for record in records:
        _chart(page, compiled, record)
    return page.text()


_Row = tuple[str, tuple[str, ...], tuple[str, ...], str]  # the fields of a `Trigger`


def _triggers(compiled: Compiled, entity: str) -> list[tuple[_Row, Arrow]]:
    """Return the triggers of an entity, each with the first of its arrows; arrows that differ in the source are one."""
    found: list[tuple[_Row, Arrow]] = []
    moving = [arrow for arrow in drawn(compiled, entity) if arrow.targets]  # or the record goes
    for (trigger, targets, chosen_by, _), group in groupby(moving, key=_alike):
        alike = [*group]
        found.append(((trigger, tuple(arrow.source for arrow in alike), targets, chosen_by), alike[0]))
    return found


def _alike(arrow: Arrow) -> tuple[str, tuple[str, ...], str, str]:
    """Return what arrows of one trigger share; where nothing moves there are no targets."""
    targets = () if arrow.targets == (arrow.source,) else arrow.targets
    return arrow.trigger, targets, arrow.chosen_by, arrow.after


def _chart(page: Writer, compiled: Compiled, record: Entity) -> None:
    page.line()
    page.line()
    with page.bracketed(f"{_constant(record)} = StateChart(", ")"):
        page.entry(f"states={record.states!r}")
        page.entry(f"final={record.terminal!r}")
        with page.bracketed("triggers=(", "),"):
            said = ""
            for row, arrow in _triggers(compiled, record.name):
                if row[0] != said:
                    for line in _comments(compiled.lifecycle, arrow):
                        page.verbatim(line)
                said = row[0]
                page.entry(f"Trigger({', '.join(map(repr, row if row[3] else row[: 3 if row[2] else 2]))})")


def _comments(lifecycle: Lifecycle, arrow: Arrow) -> Iterator[str]:
    """Yield what the spec says of a trigger beside the states: what it is, and what must hold for it."""
    said = [f"After {arrow.after}."] if arrow.after else []
    if (operation := lifecycle.operations.get(arrow.trigger)) is not None:
        said += [" ".join(operation.about.split())] if operation.about else []
        said += [f"Refused with {code.text} unless {needed.text}" for code, needed in operation.requires]
        said += [f"Only if {operation.only_if.text}"] if operation.only_if is not None else []
    for each in said:
        yield from textwrap.wrap(each, WIDTH - 8, initial_indent="# ", subsequent_indent="#   ")


def _constant(record: Entity) -> str:
    return group_constant(record.name, "chart")
