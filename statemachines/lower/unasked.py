"""Steps that an implementation takes on its own."""

from __future__ import annotations

from statemachines import kernel
from statemachines.diagnostics import did_you_mean
from statemachines.expression import FunctionCall, Scope, Typed
from statemachines.lifecycle import Expr, SpontaneousSpec
from statemachines.lower.context import Lowering
from statemachines.lower.effects import RecordOfSentence, block
from statemachines.types import BOOL, Ref


def own_step(low: Lowering, step: SpontaneousSpec) -> kernel.Spontaneous:
    """Lower one step of `on its own`."""
    name, path = step.name.text, f"on its own.{step.name.text}"
    loops = tuple((variable.text, entity.text) for variable, entity in step.loops if low.known_entity(entity))
    scope = low.words.model_scope({variable: Ref(entity) for variable, entity in loops})
    surely = f", surely when {step.must.text}" if step.must else ""
    clause = low.clause(path, step.name.where, f"by itself when {step.when.text}{surely}")
    operation, arguments = _does(low, step.does, scope) if step.does is not None else ("", ())
    effects = block(low, step.effects, scope, path, _record(low, loops))
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


def _record(low: Lowering, loops: tuple[tuple[str, str], ...]) -> RecordOfSentence | None:
    """Return the record that a step is about, if it is about just one."""
    if len(loops) != 1:
        return None
    entity = low.lifecycle.entities[loops[0][1]]
    return RecordOfSentence(loops[0][0], entity, entity.states)


def _does(low: Lowering, expr: Expr, scope: Scope) -> tuple[str, tuple[Typed, ...]]:
    """Lower the call of an operation: its name, and its arguments."""
    call, operations = expr.node, low.lifecycle.operations
    name = call.name if isinstance(call, FunctionCall) else expr.text
    if not isinstance(call, FunctionCall) or call.receiver is not None or name not in operations:
        hint = did_you_mean(name, operations) or "write operation(argument, …)"
        low.fault("unknown-operation", expr.where, f"there is no operation {name!r}", hint)
        return "", ()
    kinds = [low.words.resolve(use) for use in operations[name].takes.values()]
    pairs = zip(call.arguments, kinds, strict=False)
    return name, tuple(low.part(expr, node, scope, kind) for node, kind in pairs)
