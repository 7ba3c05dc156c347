"""Kernel → Python source: one readable module for a lifecycle, standard library only, byte-stable.

`module` writes the part that is the lifecycle's own. What every model shares is imported when the
module is compiled in memory, and copied in front of it when it is written to a file.
"""

from __future__ import annotations

from importlib import resources

from statemachines import kernel
from statemachines.expression.emit import group_constant, python_name
from statemachines.generate_records import entity_class, freezing, message_class
from statemachines.generate_steps import Steps
from statemachines.writer import Writer

_SHARED = "from statemachines.model import *  # noqa: F403"


def module(source: kernel.Kernel) -> str:
    """Write the module of a lifecycle, importing what every model shares."""
    return _module(source, [_SHARED])


def standalone(source: kernel.Kernel) -> str:
    """Write the module of a lifecycle so that it needs nothing but the standard library."""
    shared = resources.files("statemachines").joinpath("model.py").read_text("utf-8")
    body = shared.split("from __future__ import annotations\n", 1)[1]
    return _module(source, body.strip().splitlines())


def _module(source: kernel.Kernel, shared: list[str]) -> str:
    out = Writer()
    out.line(f'"""The life cycle {source.name}, as an executable model.')
    out.line()
    out.line("Generated from its spec; change the spec and generate again instead of editing this file.")
    out.line('"""')
    out.line()
    out.line("from __future__ import annotations")
    out.line()
    for line in shared:
        out.line(line)
    out.line()
    _constants(out, source)
    for entity in source.entities:
        entity_class(out, entity)
    for message in source.messages:
        message_class(out, message)
    _model(out, source)
    return out.text()


def _constants(out: Writer, source: kernel.Kernel) -> None:
    out.line()
    out.line("# The clauses of the spec, by number: `seen[i]` of a model is 1 once clause i was witnessed.")
    out.line("CLAUSES: tuple[str, ...] = (")
    with out.block():
        for index, clause in enumerate(source.clauses):
            out.line(f"{clause.path!r},  # {index}")
    out.line(")")
    for entity in source.entities:
        if entity.groups:
            out.line()
        for group, states in entity.groups:
            out.line(f"{group_constant(entity.name, group)} = {states!r}")


def _model(out: Writer, source: kernel.Kernel) -> None:
    numbers = {clause.path: index for index, clause in enumerate(source.clauses)}
    steps = Steps(out, source, numbers)
    out.line()
    out.line()
    out.line("class Model(BaseModel):")
    with out.block():
        about = " ".join(source.about.split())
        out.line(f'"""{about}"""')
        out.line()
        out.line("CLAUSES = CLAUSES")
        out.line(f"LIMITS = {dict(source.limits)!r}")
        out.line(f"POLICIES = {dict(source.policies)!r}")
        out.line(f"OPERATIONS = {tuple(operation.name for operation in source.operations)!r}")
        _slots(out, source)
        _reset(out, source)
        _mint(out, source)
        freezing(out, source)
        for definition in source.definitions:
            steps.definition(definition)
        for order in source.orders:
            steps.order_policy(order)
        for entity in source.entities:
            steps.records(entity)
        for message in source.messages:
            steps.message(message)
        for operation in source.operations:
            steps.operation(operation)
        steps.own_steps()
        steps.timers()
        steps.invariants()


def _slots(out: Writer, source: kernel.Kernel) -> None:
    names = [python_name(entity.collection) for entity in source.entities]
    names += [python_name(variable.name) for variable in source.variables]
    names += [f"{box}_{message.name.lower()}" for message in source.messages for box in ("due", "sent")]
    out.line(f"__slots__ = {tuple(['serials', 'completions', *names])!r}")


def _reset(out: Writer, source: kernel.Kernel) -> None:
    from statemachines.expression.emit import emit

    out.line()
    out.line("def reset(self) -> None:")
    with out.block():
        out.line("self.now = 0")
        out.line("self.serials = 0  # records created so far")
        out.line("self.completions = 0  # records that have ended so far")
        for entity in source.entities:
            name = python_name(entity.collection)
            out.line(f"self.{name}: dict[Any, {entity.name}] = {{}}")
            for word in entity.fixed:
                defaults = [emit(field.default) if field.default else "None" for field in entity.fields]
                out.line(f"self.{name}[{word!r}] = {entity.name}({', '.join([repr(word), repr(word), *defaults])})")
        for message in source.messages:
            for box in ("due", "sent"):
                out.line(f"self.{box}_{message.name.lower()}: list[{message.name}] = []")
        for variable in source.variables:
            out.line(f"self.{python_name(variable.name)}: Any = {emit(variable.default) if variable.default else None}")


def _mint(out: Writer, source: kernel.Kernel) -> None:
    minted = [entity for entity in source.entities if entity.minted]
    out.line()
    out.line("def next_ordinal(self, entity: str) -> str:")
    with out.block():
        if not minted:
            out.line('raise LookupError(f"{entity} has no minted ids")')
            return
        records = ", ".join(f"{entity.name!r}: self.{python_name(entity.collection)}" for entity in minted)
        out.line("number = self.serials")
        out.line(f"taken: dict[Any, Any] = {{{records}}}[entity]")
        out.line('while f"{entity.lower()}-{number}" in taken:')
        with out.block():
            out.line("number += 1")
        out.line('return f"{entity.lower()}-{number}"')
