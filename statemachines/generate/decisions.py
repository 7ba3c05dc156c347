"""What an operation may answer, decided before anything changes."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import Attribute, Const, Operate, Typed, Var, python_name
from statemachines.generate.arguments import looked_up
from statemachines.generate.effects import begin_lists, signal
from statemachines.generate.page import Page, outside
from statemachines.types import BOOL, Ref


def decides(page: Page, operation: kernel.Operation) -> None:
    """Write the body of `may_…`.

    A record that is not there is told at once, then where the source says nothing, then a record that is not the
    caller's own. After that all guards that refuse are looked at, as any of their codes may be given, and last
    those that let the operation pass without effect.
    """
    if not operation.requires:
        page.line("return ACCEPT")
        return
    looked_up(page, operation)
    lookups = [require for require in operation.requires if _is_lookup(require)]
    absent = [require for require in lookups if require.guard is None]
    foreign = [require for require in lookups if require.guard is not None]
    others = [require for require in operation.requires if require not in lookups]
    refusals = [require for require in others if require.answer == "refused"]
    opens = [require for require in others if require.answer == "open"]
    for require in (*absent, *(each for each in others if each.answer == "avoided"), *foreign):
        _answers_at_once(page, require)
    if opens:
        _gathers(page, "left_open", opens, [])
    if len(refusals) == 1 and not opens:
        _answers_at_once(page, refusals[0])
    elif refusals:
        _gathers(page, "refused", refusals, opens)
        with page.block("if refused:"):
            codes = "(*refused.values(), *left_open.values())" if opens else "tuple(refused.values())"
            page.line(f"return Decision({codes}, clauses=tuple(refused))")  # what is open excuses nothing else
    for require in others:
        if require.answer == "unchanged":
            _answers_at_once(page, require)
    if opens:
        with page.block("if left_open:"):
            page.line("return Decision(tuple(left_open.values()), accept=True, clauses=tuple(left_open))")
    if opens or not any(_is_always(require) for require in refusals):
        page.line("return ACCEPT")


def _is_lookup(require: kernel.Require) -> bool:
    """Return whether a guard asks if a record exists, for this caller."""
    return require.guard is None or ".private to" in require.clause


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
            page.line(f"{name}[{page.numbers[require.clause]}] = {require.code!r}")


def _answers_at_once(page: Page, require: kernel.Require) -> None:
    clauses = f"clauses=({page.numbers[require.clause]},)"
    with page.where(_fails(page, require)):
        page.saw(require.clause)
        if require.answer == "refused":
            page.line(f"return Decision(({require.code!r},), {clauses})")
            return
        permitted = ""
        if require.permitted:
            begin_lists(page, ["may"])
            for each in require.permitted:
                signal(page, each, "may")
            permitted = ", may=tuple(may)"
        how = _HOW[require.answer]
        page.line(f"return Decision({how}{permitted}, {clauses})")


_HOW = {"unchanged": "idle=True", "avoided": "idle=True, avoid=True"}
