"""The arguments of operations: what is left out, and which records they name."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import emit, python_name
from statemachines.generate.page import Page
from statemachines.types import List, Optional, RecordType, Type


def declared(operation: kernel.Operation) -> str:
    """Write the parameters of an operation; Python wants a default for each behind one that has it."""
    written, optional = [], False
    for each in operation.parameters:
        optional = optional or each.default is not None
        written.append(f"{python_name(each.name)}: Any{' = ABSENT' if optional else ''}")
    return ", ".join(written)


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
        elif (whole := _whole(name, parameter.type)) != name:
            page.line(f"{name} = {whole}")


def _whole(source: str, kind: Type) -> str:
    """Write a plain value with null for every field that the caller left out."""
    match kind:
        case RecordType(fields=fields) if any(_may_lack(each) for _, each in fields):
            parts = (
                f"{name!r}: {_whole(f'{source}.get({name!r})' if isinstance(each, Optional) else f'{source}[{name!r}]', each)}"
                for name, each in fields
            )
            return f"{{{', '.join(parts)}}}"
        case List(item=item) if (inner := _whole("part", item)) != "part":
            return f"[{inner} for part in {source}]"
        case Optional(item=item) if (inner := _whole(source, item)) != source:
            return f"None if {source} is None else {inner}"
        case _:
            return source


def _may_lack(kind: Type) -> bool:
    """Return whether a caller may leave out a value of this type, or a part of it."""
    return isinstance(kind, Optional) or _whole("value", kind) != "value"
