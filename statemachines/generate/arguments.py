"""The arguments of operations: what is left out, and which records they name."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression.emit import emit, python_name
from statemachines.generate.page import Page


def declared(operation: kernel.Operation) -> str:
    """Write the parameters of an operation."""
    return ", ".join(
        f"{python_name(each.name)}: Any{'' if each.default is None else ' = ABSENT'}"
        for each in operation.parameters
    )


def looked_up(page: Page, operation: kernel.Operation, *, witness: bool = False) -> None:
    """Write that ids become records, and what was left out its default; with `witness` that this was seen."""
    for parameter in operation.parameters:
        name = python_name(parameter.name)
        if parameter.default is not None:
            with page.block(f"if {name} is ABSENT:"):
                if witness:
                    page.saw(parameter.default_clause)
                page.line(f"{name} = {emit(parameter.default)}")
        if parameter.entity:
            records = page.collection(parameter.entity)
            fixed = page.source.entity(parameter.entity).fixed
            page.line(f"{name} = {records}[{name}]" if fixed else f"{name} = {records}.get({name})")
