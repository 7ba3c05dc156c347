"""The states of an entity for the package `transitions`: a live machine, and the same as a module of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statemachines.compile import load
from statemachines.draw.chart import Arrow, arrows, terminal_states
from statemachines.expression import group_constant
from statemachines.generate import WIDTH, Writer
from statemachines.lifecycle import EntitySpec, Lifecycle

if TYPE_CHECKING:  # who only draws does not pay for it
    from transitions import Machine


def machine(
    lifecycle: str | Path | Lifecycle,
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

    spec = lifecycle if isinstance(lifecycle, Lifecycle) else load(str(lifecycle)).lifecycle
    found = _triggers(spec, entity)
    record = spec.entities[entity]
    if not record.states:
        raise ValueError(f"{entity} has no states")
    chart = StateChart(record.states, terminal_states(record), tuple(Trigger(*each) for each, _ in found))
    return chart.machine(model, machine_class=machine_class, conditions=conditions, **options)


def machine_module(lifecycle: Lifecycle) -> str:
    """Return a module with the machine of each entity that has states; it imports `transitions` alone.

    The same bytes each time. Raises LookupError where no entity has states, SpecError for a move that leads nowhere.
    """
    records = [entity for entity in lifecycle.entities.values() if entity.states]
    if not records:
        raise LookupError(f"no entity of {lifecycle.name} has states")
    shared = resources.files("statemachines.draw").joinpath("state_chart.py").read_text("utf-8")
    page = Writer()
    page.verbatim(
        f'"""The states of the life cycle {lifecycle.name}, as machines of the package `transitions`.\n\n'
        "Generated from its spec; change the spec and generate again instead of editing this file.\n\n"
        f"    {_constant(records[0])}.machine(record)      # the record gets `state`, and a method for each trigger\n"
        '"""\n\nfrom __future__ import annotations' + shared.partition("from __future__ import annotations")[2]
    )
    for record in records:
        _chart(page, lifecycle, record)
    return page.text()


_Row = tuple[str, tuple[str, ...], tuple[str, ...], str]  # the fields of a `Trigger`


def _triggers(lifecycle: Lifecycle, entity: str) -> list[tuple[_Row, Arrow]]:
    """Return the triggers of an entity, each with the first of its arrows; arrows that differ in the source are one."""
    found: list[tuple[_Row, Arrow]] = []
    for _, group in groupby(arrows(lifecycle, entity), key=_alike):
        first, *others = group
        sources = (first.source, *(each.source for each in others))
        targets = () if first.targets == (first.source,) else first.targets
        if first.targets:  # or the record goes
            found.append(((first.trigger, sources, targets, first.chosen_by), first))
    return found


def _alike(arrow: Arrow) -> tuple[object, ...]:
    stays = arrow.targets == (arrow.source,)
    return (arrow.trigger, () if stays else arrow.targets, arrow.chosen_by, arrow.after, bool(arrow.targets))


def _chart(page: Writer, lifecycle: Lifecycle, record: EntitySpec) -> None:
    page.line()
    page.line()
    with page.bracketed(f"{_constant(record)} = StateChart(", ")"):
        page.entry(f"states={record.states!r}")
        page.entry(f"final={terminal_states(record)!r}")
        with page.bracketed("triggers=(", "),"):
            said = ""
            for row, arrow in _triggers(lifecycle, record.name.text):
                if row[0] != said:
                    for line in _comments(lifecycle, arrow):
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


def _constant(record: EntitySpec) -> str:
    return group_constant(record.name.text, "chart")
