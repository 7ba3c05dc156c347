"""Operations: what they take, what has to hold, what they do and what they give."""

from __future__ import annotations

from collections.abc import Iterator

from statemachines import kernel
from statemachines.expression import Scope, Typed, facts
from statemachines.lifecycle import Gives, OperationSpec, TypeUse
from statemachines.lower.context import Lowering, local
from statemachines.lower.effects import creations, loops, removal, sendings, sets, signals
from statemachines.lower.guards import Parameters, guards, lookups, move, unique
from statemachines.types import BOOL, INT, Ref, present


def operation(low: Lowering, declared: OperationSpec) -> kernel.Operation:
    """Lower one operation."""
    name, path = declared.name.text, f"operations.{declared.name.text}"
    parameters = tuple(_parameter(low, path, key, use) for key, use in declared.takes.items())
    _in_order(low, declared, path)
    before = low.words.scopes.model({parameter.name: parameter.type for parameter in parameters})
    requires, effects, scope = _steps(low, declared, parameters, before, path)
    loses, copies = declared.loses_files, declared.copies
    text = "files told before need not exist afterwards"
    return kernel.Operation(
        name=name,
        about=declared.about,
        optional=declared.optional is not None,
        control=declared.control,
        loses_files=low.clause(f"{path}.may lose", loses, text) if loses else "",
        copies=low.clause(f"{path}.copy", copies, "what was given stays as it was") if copies else "",
        parameters=parameters,
        requires=tuple(requires),
        reads=tuple(_reads(low, declared, before)),
        waits=_wait(low, declared, before, path),
        effects=tuple(effects),
        reply=_reply(low, declared, scope, path),
    )


def _wait(low: Lowering, operation: OperationSpec, scope: Scope, path: str) -> kernel.Wait | None:
    """Lower `waits` with a bound, and what ends it before."""
    if operation.waits is None:
        return None
    lasts = low.typed(operation.waits, scope, INT)
    if operation.until is None:
        return kernel.Wait(lasts)
    text = f"waits no longer than until {operation.until.text}"
    clause = low.clause(f"{path}.waits", low.place(f"{path}.waits", operation.name), text)
    return kernel.Wait(lasts, low.typed(operation.until, scope, BOOL), clause)


def _reads(low: Lowering, operation: OperationSpec, scope: Scope) -> Iterator[tuple[str, Typed]]:
    """Lower `reads`: values under names, of which each may use those before it."""
    for key, expr in operation.reads:
        value = low.typed(expr, scope)
        scope = scope.with_names({key.text: local(key.text, value.type)})
        yield key.text, value


def _steps(
    low: Lowering, operation: OperationSpec, parameters: Parameters, before: Scope, path: str
) -> tuple[list[kernel.Require], list[kernel.Effect], Scope]:
    """Lower what has to hold and what is done; return the scope of what comes after, too.

    What is set and created can use the parameters alone; whatever follows knows new records as well.
    """
    scope = low.words.scopes.arguments(operation)
    after = low.words.scopes.operation(operation)
    requires = [*lookups(low, operation, parameters, path), *guards(low, operation, before, path)]
    effects: list[kernel.Effect] = []
    if operation.moves and (moved := move(low, operation, parameters, before, path)) is not None:
        requires.append(moved[0])
        effects.append(moved[1])
    if operation.otherwise and not operation.moves and operation.only_if is None:
        message = "`otherwise` answers where `move` or `only if` does not let a call pass, and there is neither"
        low.fault("unused-otherwise", operation.otherwise.where, message, "remove it, or add one of them")
    effects += sets(low, operation.assignments, scope, path)
    created, _ = creations(low, operation.creations, scope, path)
    for create in created:
        requires += unique(low, low.lifecycle.entities[create.entity], create)
    effects += created
    effects += loops(low, operation.loops, after, path)
    effects += [removal(low, word, path) for word in operation.removes]
    effects += sendings(low, operation.sends, after, path)
    effects += signals(low, operation.signals, after, path)
    return requires, effects, after


def _in_order(low: Lowering, declared: OperationSpec, path: str) -> None:
    """Tell of what has to be given behind what may be left out: arguments stand in the order of `takes`."""
    left_out = ""
    for name, use in declared.takes.items():
        if left_out and not use.default:
            where = low.place(f"{path}.takes.{name}", declared.name)
            message = f"{left_out!r} may be left out, and {name!r} behind it may not"
            low.fault("missing-default", where, message, f"give {name} a default, or put it before {left_out}")
        left_out = left_out or (name if use.default else "")


def _parameter(low: Lowering, path: str, name: str, use: TypeUse) -> kernel.Parameter:
    kind = low.words.types.resolve(use)
    inner = present(kind)
    entity = inner.entity if isinstance(inner, Ref) else ""
    default, clause = low.default(use, kind), ""
    if use.default:
        text = f"{name} left out: {use.default.text}"
        clause = low.clause(f"{path}.takes.{name}", use.default.where, text)
    return kernel.Parameter(name, kind, low.words.types.passed(use), default, clause, entity)


def _reply(low: Lowering, operation: OperationSpec, scope: Scope, path: str) -> kernel.Reply | None:
    gives = operation.gives
    if gives is None:
        return None
    clause = low.clause(f"{path}.gives", low.place(f"{path}.gives", operation.name), f"gives {_said(gives)}")
    fields = None
    if gives.fields is not None:
        fields = tuple((key.text, low.typed(expr, scope)) for key, expr in gives.fields)
    branches: list[tuple[Typed | None, Typed]] = []
    rest = scope  # where a branch stands, the conditions of those before it do not hold
    for when, value in gives.branches:
        here = rest if when is None else rest.with_present(facts(when.node, True))
        branches.append((low.condition(when, rest), low.typed(value, here)))
        rest = rest if when is None else rest.with_present(facts(when.node, False))
    if gives.value is not None:
        branches.append((None, low.typed(gives.value, scope)))
    options = tuple(low.typed(expr, scope) for expr in gives.any_of)
    return kernel.Reply(clause, low.words.caller.given(operation), fields, tuple(branches), options)


def _said(gives: Gives) -> str:
    """Say what an operation gives, in the words of the spec."""
    if gives.fields is not None:
        return f"{{{', '.join(f'{key.text}: {expr.text}' for key, expr in gives.fields)}}}"
    if gives.any_of:
        return f"any of {', '.join(expr.text for expr in gives.any_of)}"
    if gives.value is not None:
        return gives.value.text
    return "; ".join(f"{f'when {when.text}: ' if when else 'else '}{expr.text}" for when, expr in gives.branches)
