"""Kernel → Python source: one readable module for a lifecycle, standard library only, byte-stable.

`module` writes the part that is the lifecycle's own. What every model shares is imported when the
module is compiled in memory, and copied in front of it when it is written to a file.
"""

from __future__ import annotations

from importlib import resources

from statemachines import kernel
from statemachines.expression import group_constant, python_name
from statemachines.generate.consequences import entered, removed, sending
from statemachines.generate.first_values import begins
from statemachines.generate.named import definition, invariants, order_policy
from statemachines.generate.operations import operation
from statemachines.generate.page import Page
from statemachines.generate.shown import shown_message, shown_record
from statemachines.generate.state import entity_class, freezing, message_class, mint, reset, slots
from statemachines.generate.unasked import own_steps, timers

_SHARED = "from statemachines.model import *  # noqa: F403\n"


def module(source: kernel.Kernel) -> str:
    """Write the module of a lifecycle, importing what every model shares."""
    return _module(source, _SHARED)


def standalone(source: kernel.Kernel) -> str:
    """Write the module of a lifecycle so that it needs nothing but the standard library."""
    shared = resources.files("statemachines").joinpath("model.py").read_text("utf-8")
    return _module(source, shared.split("from __future__ import annotations\n", 1)[1].strip() + "\n\n")


def _module(source: kernel.Kernel, shared: str) -> str:
    page = Page(source)
    page.verbatim(
        f'"""The life cycle {source.name}, as an executable model.\n\n'
        "Generated from its spec; change the spec and generate again instead of editing this file.\n"
        '"""\n\n'
        "from __future__ import annotations\n"
    )
    page.verbatim(f"\n{shared}\n")
    _constants(page)
    for entity in source.entities:
        entity_class(page, entity)
    for message in source.messages:
        message_class(page, message)
    _model(page)
    return page.text()


def _constants(page: Page) -> None:
    page.verbatim("# The clauses of the spec, by number: `seen[i]` of a model is 1 once clause i was witnessed.")
    if not page.source.clauses:
        page.line("CLAUSES: tuple[str, ...] = ()")
    else:
        with page.bracketed("CLAUSES: tuple[str, ...] = (", ")"):
            for index, clause in enumerate(page.source.clauses):
                page.verbatim(f"{clause.path!r},  # {index}")
    for entity in page.source.entities:
        if entity.groups:
            page.line()
        for group, states in entity.groups:
            page.line(f"{group_constant(entity.name, group)} = {states!r}")


def _model(page: Page) -> None:
    source = page.source
    page.line()
    page.line()
    with page.block("class Model(BaseModel):"):
        page.docstring(source.about)
        page.line()
        page.line("CLAUSES = CLAUSES")
        page.line(f"LIMITS = {dict(source.limits)!r}")
        names = {each.name: python_name(each.name) for operation in source.operations for each in operation.parameters}
        if renamed := {name: other for name, other in names.items() if other != name}:
            page.line(f"RENAMED = {renamed!r}")
        page.line(f"POLICIES = {dict(source.policies)!r}")
        if telling := sorted(each for each, step in enumerate(source.spontaneous) if step.tells):
            page.line(f"TELLING = frozenset({telling})")
        if ending := sorted(each for each, step in enumerate(source.spontaneous) if step.ends_call):
            page.line(f"ENDING = frozenset({ending})")
        if loose := sorted(each for each, step in enumerate(source.spontaneous) if step.loose):
            page.line(f"LOOSE = frozenset({loose})")
        slots(page)
        reset(page)
        mint(page)
        freezing(page)
        for each in source.definitions:
            definition(page, each)
        for order in source.orders:
            order_policy(page, order)
        for entity in source.entities:
            _records(page, entity)
        for message in source.messages:
            sending(page, message)
            shown_message(page, message)
        for each_operation in source.operations:
            operation(page, each_operation)
        own_steps(page)
        timers(page)
        invariants(page)


def _records(page: Page, entity: kernel.Entity) -> None:
    """Write what becomes of the records of an entity, and how one is shown."""
    if entity.states:
        entered(page, entity)
    if entity.fixed:
        begins(page, entity)
    else:
        removed(page, entity)
    if entity.shows:
        shown_record(page, entity)
