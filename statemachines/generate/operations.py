"""Operations: what each may answer, what it does, and both together under its own name."""

from __future__ import annotations

from statemachines import kernel, model
from statemachines.expression import emit, python_name
from statemachines.generate.arguments import declared, looked_up
from statemachines.generate.decisions import decides
from statemachines.generate.effects import begin_lists, lists_of, returned, step
from statemachines.generate.page import Page
from statemachines.generate.shown import seen


def operation(page: Page, source: kernel.Operation) -> None:
    """Write the three methods of an operation."""
    arguments = declared(source)
    names = ", ".join(python_name(parameter.name) for parameter in source.parameters)
    told = [python_name(effect.variable) for effect in source.effects if isinstance(effect, kernel.Send)]
    with page.method(f"may_{source.name}", arguments, "Decision"):
        decides(page, source)
    extended = ", ".join([*([arguments] if arguments else []), *(f"{name}: Any = None" for name in told)])
    with page.method(f"do_{source.name}", extended, "Outcome"):
        _does(page, source)
    with page.method(_name(page.source, source.name), arguments, "Outcome | Decision"):
        page.docstring(source.about)
        if source.requires:
            page.line(f"decision = self.may_{source.name}({names})")
            with page.block("if not decision.accept:"):
                page.line("return decision")
        page.line(f"return self.do_{source.name}({names})")


def _name(source: kernel.Kernel, operation: str) -> str:
    """Return an operation's method a name that nothing else of the model has."""
    taken = {entity.collection for entity in source.entities} | {each.name for each in source.variables}
    taken |= vars(model.BaseModel).keys()
    return f"{operation}_" if operation in taken else python_name(operation)


def _does(page: Page, operation: kernel.Operation) -> None:
    looked_up(page, operation, witness=True)
    page.saw(operation.loses_files)
    page.saw(operation.copies)
    for name, value in operation.reads:
        page.line(f"{python_name(name)} = {emit(value)}")
    lists = lists_of(page.source, operation.effects)
    begin_lists(page, lists)
    step(page, operation.effects)
    page.line(returned(_reply(page, operation.reply), lists))


def _reply(page: Page, reply: kernel.Reply | None) -> str:
    """Return the source of a reply: a dict, the first branch whose guard holds, or several that are right."""
    if reply is None:
        return "None"
    page.saw(reply.clause)
    if reply.fields is not None:
        return f"{{{', '.join(f'{key!r}: {seen(page, value)}' for key, value in reply.fields)}}}"
    if reply.options:
        return f"AnyOf(({', '.join(seen(page, value) for value in reply.options)}))"
    source = "None"
    for when, value in reversed(reply.branches):
        given = seen(page, value)
        source = given if when is None else f"({given} if {emit(when)} else {source})"
    return source
