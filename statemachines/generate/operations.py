"""Operations: what each takes, may answer and does, and all of it together under its own name."""

from __future__ import annotations

from typing import Final

from statemachines import kernel, model
from statemachines.expression import Attribute, Const, Operate, Typed, Var, emit, python_name
from statemachines.generate.effects import begin_lists, lists_of, returned, signal, step
from statemachines.generate.page import Page, outside
from statemachines.generate.shown import seen
from statemachines.kernel import ANY_CODE
from statemachines.types import BOOL, List, Optional, RecordType, Ref, Type

_HOW: Final = {"avoided": "idle=True, avoid=True", "awaited": "blocks=True", "unchanged": "idle=True"}


def operation(page: Page, source: kernel.Operation) -> None:
    """Write the three methods of an operation, and two more of one that may block for a time."""
    arguments = _declared(source)
    names = ", ".join(python_name(parameter.name) for parameter in source.parameters)
    told = [python_name(effect.variable) for effect in source.effects if isinstance(effect, kernel.Send)]
    with page.method(f"may_{source.name}", arguments, "Decision"):
        _decides(page, source)
    if source.waits is not None:
        with page.method(f"blocks_for_{source.name}", arguments, "int"):
            _looked_up(page, source)
            page.line(f"return {emit(source.waits.lasts)}")
        with page.method(f"ends_wait_{source.name}", arguments, "bool"):
            _looked_up(page, source)
            page.line(f"return {emit(source.waits.until) if source.waits.until else False}")
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
    _looked_up(page, operation, witness=True)
    page.saw(operation.loses_files)
    page.saw(operation.copies)
    if operation.waits is not None and operation.waits.until is not None:
        with page.block(f"if {emit(operation.waits.until)}:"):
            page.saw(operation.waits.clause)
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


# ── What is taken ──


def _declared(operation: kernel.Operation) -> str:
    """Write the parameters of an operation; Python wants a default for each behind one that has it."""
    written, optional = [], False
    for each in operation.parameters:
        optional = optional or each.default is not None
        written.append(f"{python_name(each.name)}: Any{' = ABSENT' if optional else ''}")
    return ", ".join(written)


def _looked_up(page: Page, operation: kernel.Operation, *, witness: bool = False) -> None:
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


# ── What may be answered ──


def _decides(page: Page, operation: kernel.Operation) -> None:
    """Write the body of `may_…`.

    A record that is not there is told at once, then where the source says nothing, then a record that is not the
    caller's own. After that all guards that refuse are looked at, as any of their codes may be given, and last
    those that let the operation pass without effect. What the caller waits for stands between the guards that are
    looked at when it calls, and those that are when it comes back.
    """
    if not operation.requires:
        page.line("return ACCEPT")
        return
    _looked_up(page, operation)
    absent = [require for require in operation.requires if require.guard is None]
    foreign = [require for require in operation.requires if ".private to" in require.clause]
    others = [require for require in operation.requires if require not in (*absent, *foreign)]
    refusals = [require for require in others if require.answer == "refused"]
    opens = [require for require in others if require.answer == "open"]
    for require in (*absent, *(each for each in others if each.answer == "avoided"), *foreign):
        _answers_at_once(page, require)
    if opens:
        _gathers(page, "left_open", opens, [])
    for require in (each for each in others if each.answer == "awaited"):
        before = [each for each in refusals if others.index(each) < others.index(require)]
        refusals = [each for each in refusals if each not in before]
        _refuses(page, before, opens, "refused_at_once")
        _answers_at_once(page, require, "refuse=tuple(left_open.values()), " if opens else "")
    _refuses(page, refusals, opens)
    for require in others:
        if require.answer == "unchanged":
            _answers_at_once(page, require)
    if opens:
        with page.block("if left_open:"):
            page.line("return Decision(tuple(left_open.values()), accept=True, clauses=tuple(left_open))")
    if opens or not any(_is_always(require) for require in refusals):
        page.line("return ACCEPT")


def _refuses(page: Page, refusals: list[kernel.Require], opens: list[kernel.Require], name: str = "refused") -> None:
    """Write that a call is refused with the codes of all guards that fail; what is open excuses nothing else."""
    if len(refusals) == 1 and not opens:
        _answers_at_once(page, refusals[0])
    elif refusals:
        _gathers(page, name, refusals, opens)
        with page.block(f"if {name}:"):
            codes = f"(*{name}.values(), *left_open.values())" if opens else f"tuple({name}.values())"
            page.line(f"return Decision({codes}, clauses=tuple({name}))")


def _is_always(require: kernel.Require) -> bool:
    """Return whether an operation is refused come what may."""
    return isinstance(require.guard, Const) and require.guard.value is False


def _fails(page: Page, require: kernel.Require) -> Typed | None:
    """Return the condition under which a guard does not hold; None for always."""
    match require.guard:
        case None:
            return Var(BOOL, 0, "", f"{python_name(require.parameter)} is None")
        case Operate(operator="!", right=condition):
            return condition
        case Operate(
            operator="in",
            left=Attribute(of=Var(type=Ref(entity=name), source=record), name="state"),
            right=Const(value=tuple(states)),
        ):
            return Var(BOOL, 0, "", outside(page.source.entity(name), record, states))
        case guard:
            return None if _is_always(require) else Operate(BOOL, 0, "!", None, guard)


def _gathers(page: Page, name: str, requires: list[kernel.Require], opens: list[kernel.Require]) -> None:
    """Write that the codes of all guards that fail are gathered by clause; what is open excuses its code."""
    page.line(f"{name}: dict[int, str] = {{}}")
    for require in requires:
        condition = _fails(page, require)
        for each in opens:
            if each.code == require.code:
                counts = Var(BOOL, 0, "", f"{page.numbers[each.clause]} not in left_open")
                condition = Operate(BOOL, 0, "&&", condition, counts) if condition is not None else counts
        with page.where(condition):
            page.saw(require.clause)
            page.line(f"{name}[{page.numbers[require.clause]}] = {_code(require)}")


def _code(require: kernel.Require) -> str:
    """Write the code of a refusal."""
    return f"{ANY_CODE!r} if {emit(require.free)} else {require.code!r}" if require.free else repr(require.code)


def _answers_at_once(page: Page, require: kernel.Require, besides: str = "") -> None:
    clauses = f"clauses=({page.numbers[require.clause]},)"
    with page.where(_fails(page, require)):
        page.saw(require.clause)
        if require.answer == "refused":
            page.line(f"return Decision(({_code(require)},), {clauses})")
            return
        permitted = ""
        if require.permitted:
            begin_lists(page, ["may"])
            for each in require.permitted:
                signal(page, each, "may")
            permitted = ", may=tuple(may)"
        page.line(f"return Decision({besides}{_HOW[require.answer]}{permitted}, {clauses})")
