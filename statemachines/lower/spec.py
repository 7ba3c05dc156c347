"""Surface → kernel: every sentence becomes verbs with the path of the clause that it is.

Lowering also gives every expression its types, so all faults of names and types are found here; they
are gathered, and raised together.
"""

from __future__ import annotations

from statemachines import kernel
from statemachines.diagnostics import SpecError
from statemachines.lifecycle import Lifecycle
from statemachines.lower.context import Lowering
from statemachines.lower.entities import entity
from statemachines.lower.guards import unused_missing
from statemachines.lower.messages import message
from statemachines.lower.named import definitions, invariant, order_policy, sizes
from statemachines.lower.operations import operation
from statemachines.lower.unasked import own_step
from statemachines.words import Words


def lower(lifecycle: Lifecycle) -> tuple[kernel.Kernel, Words]:
    """Lower a whole spec; raise SpecError with every fault of names and types."""
    low = Lowering(lifecycle)
    result = _whole(low, lifecycle)
    faults = [*low.faults, *low.words.faults]
    if faults:
        raise SpecError(faults)
    return result, low.words


def _whole(low: Lowering, spec: Lifecycle) -> kernel.Kernel:
    """Lower every section, in the order of the file; definitions last: their uses give them their types."""
    limits = tuple((name, limit.default) for name, limit in spec.limits.items())
    policies = tuple((name, policy.standard) for name, policy in spec.policies.items())
    undeclared = tuple(name for name, policy in spec.policies.items() if policy.is_undeclared)
    recommended = tuple(name for name, policy in spec.policies.items() if policy.is_recommended)
    orders = tuple(order_policy(low, policy) for policy in spec.policies.values() if policy.keys)
    entities = tuple(entity(low, each) for each in spec.entities.values())
    variables = tuple(low.field(name, use) for name, use in spec.variables.items())
    messages = tuple(message(low, each) for each in spec.messages.values())
    signals = tuple(
        (name, tuple((key, low.words.resolve(use)) for key, use in fields.items()))
        for name, fields in spec.signals.items()
    )
    operations = tuple(operation(low, each) for each in spec.operations.values())
    unused_missing(low, operations)
    spontaneous = tuple(own_step(low, each) for each in spec.spontaneous.values())
    invariants = tuple(invariant(low, name, expr) for name, expr in spec.invariants.items())
    sizes(low)
    defined = tuple(definitions(low))
    return kernel.Kernel(
        name=spec.name,
        about=spec.about,
        clauses=tuple(sorted(low.clauses.values(), key=lambda clause: clause.where)),
        limits=limits,
        policies=policies,
        undeclared=undeclared,
        recommended=recommended,
        orders=orders,
        entities=entities,
        variables=variables,
        messages=messages,
        signals=signals,
        definitions=defined,
        operations=operations,
        spontaneous=spontaneous,
        invariants=invariants,
    )
