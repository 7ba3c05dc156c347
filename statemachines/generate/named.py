"""Expressions with a name: definitions, ordering keys and invariants."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import Typed, emit, python_name
from statemachines.generate.page import Page, negated
from statemachines.generate.shown import seen
from statemachines.generate.writer import tuple_of


def definition(page: Page, definition: kernel.Definition) -> None:
    """Write a named expression as a method."""
    arguments = ", ".join(f"{python_name(name)}: Any" for name in definition.parameters)
    with page.method(python_name(definition.name), arguments, "Any"):
        page.line(f"return {emit(definition.body)}")


def order_policy(page: Page, order: kernel.OrderPolicy) -> None:
    """Write the keys of an ordering policy: one of its named ones, or shown fields that were declared."""
    name, variable = python_name(order.name), python_name(order.variable)
    with page.method(f"{name}_key", f"{variable}: {order.entity}", "tuple[Any, ...]"):
        page.saw(order.clause)
        page.line(f"declared = self.policies.{name}")
        for key, value in order.keys:
            with page.block(f"if declared == {key!r}:"):
                page.line(f"return ({emit(value)}, {variable}.completion)")
        with page.bracketed("fields = {", "}"):
            for field, value in order.fields:
                page.entry(f"{field!r}: {seen(page, value)}")
        page.line(f"return (*declared_keys(declared, fields), {variable}.completion)")


def ordering_key(order: tuple[Typed | str, ...], variable: str) -> str:
    """Write the ordering key of a record; a text names an ordering policy."""
    record = python_name(variable)
    return tuple_of(
        f"*self.{python_name(part)}_key({record})" if isinstance(part, str) else emit(part) for part in order
    )


def invariants(page: Page) -> None:
    """Write the check of every invariant; `earlier` is the model one step before."""
    with page.method("broken", "earlier: Model | None = None", "str"):
        backs = {invariant.looks_back for invariant in page.source.invariants if invariant.looks_back}
        for name in sorted(backs):
            entity = page.source.entity(name)
            records = f"earlier.{python_name(entity.collection)}.values()"
            earlier = f"{{each.serial: each for each in {records}}}"
            page.line(f"were_{entity.variable} = {earlier} if earlier else {{}}")
        for invariant in page.source.invariants:
            with page.for_each(invariant.loops):
                _invariant(page, invariant)
        page.line('return ""')


def _invariant(page: Page, invariant: kernel.Invariant) -> None:
    if invariant.looks_back:
        record = python_name(page.source.entity(invariant.looks_back).variable)
        page.line(f"was = were_{record}.get({record}.serial, {record})")
    page.saw(invariant.clause)
    with page.block(f"if {negated(invariant.holds)}:"):
        page.line(f"return {invariant.name!r}")
