"""Surface → kernel: every sentence becomes verbs with the path of the clause that it is.

Lowering also gives every expression its types, so all faults of names and types are found here; they
are gathered, and raised together. What is no operation, record or message is lowered right here: named
expressions, and steps that an implementation takes on its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from statemachines import kernel
from statemachines.diagnostics import SpecError
from statemachines.expression import Attribute, FunctionCall, Name, Scope, Typed, check, nodes
from statemachines.lifecycle import Expr, Lifecycle, Policy, SpontaneousSpec, Word
from statemachines.lower.context import Lowering
from statemachines.lower.effects import RecordOfSentence, block
from statemachines.lower.entities import entity, message
from statemachines.lower.guards import unused_missing
from statemachines.lower.operations import operation
from statemachines.types import BOOL, INT, List, Optional, RecordType, Ref, Type, present
from statemachines.words import Words, variable_of


def lower(lifecycle: Lifecycle) -> tuple[kernel.Kernel, Words]:
    """Lower a whole spec; raise SpecError with every fault of names and types."""
    low = Lowering(lifecycle)
    _sizes(low)
    result = _ranked(_whole(low, lifecycle))
    unused_missing(low, result.operations)
    _known_scope(low, result)
    _known_parts(low)
    _one_value_each(low, result)
    faults = [*low.faults, *low.words.types.faults]
    if faults:
        raise SpecError(faults)
    return result, low.words


def _known_scope(low: Lowering, source: kernel.Kernel) -> None:
    """Note what `scope` names and there is not: it names records and limits."""
    known = [name for entity in source.entities for name in (entity.name, entity.collection)]
    known += low.lifecycle.limits
    for name in low.lifecycle.scope:
        if name not in known:
            word = Word(name, low.lifecycle.places[f"scope.{name}"])
            low.unknown("unknown-name", word, f"no record and no limit is called {name!r}", known)


def _known_parts(low: Lowering) -> None:
    """Note what `parts` name and there is not, and operations that they forget: no system could be asked for those."""
    spec = low.lifecycle
    for word in (word for words in spec.parts.values() for word in words if word.text not in spec.operations):
        low.unknown("unknown-operation", word, f"there is no operation {word.text!r}", spec.operations)
    for name in spec.operations if spec.parts else ():
        if not spec.parts_of(name):
            hint = f"name it under one of {', '.join(spec.parts)}, or under several"
            low.fault("no-part", spec.places[f"operations.{name}"], f"{name!r} belongs to no part", hint)


def _one_value_each(low: Lowering, source: kernel.Kernel) -> None:
    """Note records that are shown by fields where one value is expected: in a signal, and in a declared record that a reply holds."""
    spec = low.lifecycle
    seen = [each.reply.type for each in source.operations if each.reply is not None]
    seen += [kind for _, fields in source.signals for _, kind in fields]
    given = {name for kind in seen for name in _named_in(kind)}
    told = [(f"signal {name}", fields) for name, fields in spec.signals.items()]
    told += [(f"{name}, which is given,", each.fields) for name, each in spec.types.items() if name in given]
    for whose, fields in told:
        for key, use in fields.items():
            word = (use.item or use).name
            if word.text in spec.entities and spec.entities[word.text].shows:
                message = f"{key!r} of {whose} would be a whole {word.text}, with all that it shows, and is one value"
                low.fault(
                    "whole-record", word.where, message, f"say {{id of: {word.text}}} under `types`, and give the id"
                )


def _named_in(kind: Type) -> Iterator[str]:
    """Walk the names of the declared records that a value of a type holds."""
    match present(kind):
        case List(item=item):
            yield from _named_in(item)
        case RecordType(name=name, fields=fields):
            yield name
            for _, part in fields:
                yield from _named_in(part)


def _sizes(low: Lowering) -> None:
    """Type the sizes that texts are drawn around; the candidates read them as they are written."""
    for declaration in low.lifecycle.types.values():
        for size in declaration.sizes.values():
            low.typed(size, low.words.scopes.model(), Optional(INT))


def _whole(low: Lowering, spec: Lifecycle) -> kernel.Kernel:
    """Lower every section, in the order of the file; definitions last: their uses give them their types."""
    return kernel.Kernel(
        name=spec.name,
        about=spec.about,
        limits=tuple((name, limit.default) for name, limit in spec.limits.items()),
        policies=tuple((name, policy.standard) for name, policy in spec.policies.items()),
        undeclared=tuple(name for name, policy in spec.policies.items() if policy.is_undeclared),
        recommended=tuple(name for name, policy in spec.policies.items() if policy.is_recommended),
        orders=tuple(_order_policy(low, policy) for policy in spec.policies.values() if policy.keys),
        entities=tuple(entity(low, each) for each in spec.entities.values()),
        variables=tuple(low.field(name, use) for name, use in spec.variables.items()),
        messages=tuple(message(low, each) for each in spec.messages.values()),
        signals=tuple(
            (name, tuple((key, low.words.types.resolve(use)) for key, use in fields.items()))
            for name, fields in spec.signals.items()
        ),
        operations=tuple(operation(low, each) for each in spec.operations.values()),
        spontaneous=tuple(_own_step(low, each) for each in spec.spontaneous.values()),
        invariants=tuple(_invariant(low, name, expr) for name, expr in spec.invariants.items()),
        definitions=tuple(_definitions(low)),
        clauses=tuple(sorted(low.clauses.values(), key=lambda clause: clause.where)),
    )


def _ranked(source: kernel.Kernel) -> kernel.Kernel:
    """Say of each entity whether anything goes by the order in which its records have ended, as every ordering policy does."""
    read = {
        each.of.type.entity
        for each in kernel.everything(source)
        if isinstance(each, Attribute) and each.name == "completion" and isinstance(each.of.type, Ref)
    }
    ordered = {order.entity for order in source.orders}
    entities = (replace(each, ranked=bool({each.name, ""} & ordered) or each.name in read) for each in source.entities)
    return replace(source, entities=tuple(entities))


def _order_policy(low: Lowering, policy: Policy) -> kernel.OrderPolicy:
    """Lower a policy that orders records; an implementation may also declare fields that records show."""
    name = policy.name.text
    entity = low.known_entity(policy.entity) if policy.entity else None
    owner = entity.name.text if entity else ""
    variable = variable_of(owner)
    scope = low.words.scopes.model({variable: Ref(owner)} if owner else {})
    keys = tuple((key, low.typed(expr, scope)) for key, expr in policy.keys.items())
    shown = tuple((key.text, check(expr.node, scope)[0]) for key, expr in (entity.shows if entity else ()))
    text = f"ties are broken as declared: {' | '.join(policy.keys)}"
    path = low.clause(f"policies.{name}", policy.name.where, text)
    return kernel.OrderPolicy(path, name, owner, variable, keys, shown)


def _own_step(low: Lowering, step: SpontaneousSpec) -> kernel.Spontaneous:
    """Lower one step of `on its own`."""
    name, path = step.name.text, f"on its own.{step.name.text}"
    loops = tuple((variable.text, entity.text) for variable, entity in step.loops if low.known_entity(entity))
    scope = low.words.scopes.model({variable: Ref(entity) for variable, entity in loops})
    surely = f", surely when {step.must.text}" if step.must else ""
    surely += ", before the call ends that made it due" if step.ends_call else ""
    clause = low.clause(path, step.name.where, f"by itself when {step.when.text}{surely}")
    operation, arguments = _does(low, step.does, scope) if step.does is not None else ("", ())
    record = None
    if len(loops) == 1:
        entity = low.lifecycle.entities[loops[0][1]]
        record = RecordOfSentence(loops[0][0], entity, entity.states)
    effects = block(low, step.effects, scope, path, record)
    return kernel.Spontaneous(
        clause=clause,
        name=name,
        loops=loops,
        may=low.typed(step.when, scope, BOOL),
        must=low.condition(step.must, scope),
        ends_call=step.ends_call,
        operation=operation,
        arguments=arguments,
        effects=tuple(effects),
    )


def _does(low: Lowering, expr: Expr, scope: Scope) -> tuple[str, tuple[Typed, ...]]:
    """Lower the call of an operation: its name, and its arguments."""
    call, operations = expr.node, low.lifecycle.operations
    name = call.name if isinstance(call, FunctionCall) else expr.text
    if not isinstance(call, FunctionCall) or call.receiver is not None or name not in operations:
        word, message = Word(name, expr.where), f"there is no operation {name!r}"
        low.unknown("unknown-operation", word, message, operations, "write operation(argument, …)")
        return "", ()
    kinds = [low.words.types.resolve(use) for use in operations[name].takes.values()]
    pairs = zip(call.arguments, kinds, strict=False)
    return name, tuple(low.part(expr, node, scope, kind) for node, kind in pairs)


def _invariant(low: Lowering, name: str, expr: Expr) -> kernel.Invariant:
    """Lower an invariant: a free name of a record means every such record, `was` one step earlier."""
    names = {node.name for node in nodes(expr.node) if isinstance(node, Name)}
    records = {variable_of(entity): entity for entity in low.lifecycle.entities}
    loops = tuple((variable, entity) for variable, entity in records.items() if variable in names)
    kinds: dict[str, Type] = {variable: Ref(entity) for variable, entity in loops}
    looks_back = ""
    if "was" in names and loops:
        looks_back = loops[0][1]
        kinds["was"] = Ref(looks_back)
    path = low.clause(f"invariants.{name}", low.lifecycle.places[f"invariants.{name}"], expr.text)
    holds = low.typed(expr, low.words.scopes.model(kinds), BOOL)
    return kernel.Invariant(path, name, loops, holds, looks_back)


def _definitions(low: Lowering) -> Iterator[kernel.Definition]:
    """Lower the named expressions, each for the types of its first use; whatever uses one comes before."""
    for name, definition in low.lifecycle.definitions.items():
        kinds = low.words.used.get(name)
        if kinds is None:
            message = f"nothing uses {name!r}"
            low.fault("unused-definition", definition.name.where, message, "remove it, or use it")
            continue
        body = low.typed(definition.body, low.words.scopes.definition(name, kinds))
        yield kernel.Definition(name, tuple(word.text for word in definition.parameters), body)
