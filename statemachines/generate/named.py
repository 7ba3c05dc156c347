"""Expressions with a name: definitions and ordering keys."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression.emit import emit, python_name
from statemachines.expression.typed import Typed
from statemachines.generate.page import Page
from statemachines.generate.shown import seen


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
    if not order:
        return "()"
    record = python_name(variable)
    parts = [
        f"*self.{python_name(part)}_key({record})" if isinstance(part, str) else emit(part) for part in order
    ]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
