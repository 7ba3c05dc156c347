"""Steps that an implementation takes on its own."""

from __future__ import annotations

from statemachines import kernel
from statemachines.diagnostics import did_you_mean
from statemachines.expression.scope import Scope
from statemachines.expression.syntax import Call
from statemachines.expression.typed import Typed
from statemachines.lifecycle import Expr, Spontaneous
from statemachines.lower.context import Lowering
from statemachines.lower.effects import sets, signals
from statemachines.types import BOOL, Ref


def own_step(low: Lowering, step: Spontaneous) -> kernel.Spontaneous:
    """Lower one step of `on its own`."""
    name, path = step.name.text, f"on its own.{step.name.text}"
    loops = tuple((variable.text, entity.text) for variable, entity in step.loops if low.known_entity(entity))
    scope = low.words.model_scope({variable: Ref(entity) for variable, entity in loops})
    surely = f", surely when {step.must.text}" if step.must else ""
    clause = low.clause(path, step.name.where, f"by itself when {step.when.text}{surely}")
    operation, arguments = _does(low, step.does, scope) if step.does is not None else ("", ())
    effects: list[kernel.Effect] = [*sets(low, step.assignments, scope, path)]
    effects += signals(low, step.signals, scope, path)
    return kernel.Spontaneous(
        clause=clause,
        name=name,
        loops=loops,
        may=low.typed(step.when, scope, BOOL),
        must=low.condition(step.must, scope),
        operation=operation,
        arguments=arguments,
        effects=tuple(effects),
    )


def _does(low: Lowering, expr: Expr, scope: Scope) -> tuple[str, tuple[Typed, ...]]:
    """Lower the call of an operation: its name, and its arguments."""
    call, operations = expr.node, low.lifecycle.operations
    name = call.name if isinstance(call, Call) else expr.text
    if not isinstance(call, Call) or call.receiver is not None or name not in operations:
        hint = did_you_mean(name, operations) or "write operation(argument, …)"
        low.fault("unknown-operation", expr.where, f"there is no operation {name!r}", hint)
        return "", ()
    kinds = [low.words.resolve(use) for use in operations[name].takes.values()]
    pairs = zip(call.arguments, kinds, strict=False)
    return name, tuple(low.part(expr, node, scope, kind) for node, kind in pairs)
