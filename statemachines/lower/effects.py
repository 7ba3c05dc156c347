"""What a step does: fields it sets, records it creates and removes, messages and signals it sends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from statemachines import kernel
from statemachines.diagnostics import did_you_mean
from statemachines.expression import Attribute, Name, Scope, Typed, Var, facts
from statemachines.lifecycle import (
    Assignment,
    Creation,
    Effects,
    EntitySpec,
    Expr,
    ForEachSpec,
    MoveSpec,
    SendingSpec,
    SignalUse,
    Word,
)
from statemachines.lower.context import Lowering, local, state, state_type
from statemachines.types import UNKNOWN, List, MessageType, Ref, optional
from statemachines.words import name_of_new

_BUILT_IN = ("serial", "completion")  # fields that no `create` gives


def sets(low: Lowering, assignments: Iterable[Assignment], scope: Scope, path: str) -> list[kernel.Set]:
    """Lower `set`: fields of records, and variables."""
    found = []
    for assignment in assignments:
        key, expr = assignment.key, assignment.value
        target, when = low.typed(assignment.target, scope), low.condition(assignment.when, scope)
        text = f"set {key.text} = {expr.text}{f', when {assignment.when.text}' if assignment.when else ''}"
        clause = low.clause(f"{path}.set.{key.text}", key.where, text)
        value = low.typed(expr, _knowing(scope, assignment.when), target.type)
        if isinstance(target, Attribute) and isinstance(target.of.type, Ref):
            found.append(kernel.Set(clause, target.of, target.of.type.entity, target.name, value, when))
        elif isinstance(target, Var) and target.name in low.lifecycle.variables:
            found.append(kernel.Set(clause, None, "", target.name, value, when))
        elif target.type != UNKNOWN:
            message = f"{key.text!r} cannot be set"
            low.fault("bad-target", key.where, message, "set record.field, or a variable")
    return found


def signals(low: Lowering, uses: Iterable[SignalUse], scope: Scope, path: str) -> list[kernel.Emit]:
    """Lower `signal` and `may signal`."""
    return [emit for use in uses if (emit := _signal(low, use, scope, path)) is not None]


def _signal(low: Lowering, use: SignalUse, scope: Scope, path: str) -> kernel.Emit | None:
    name, word = use.name.text, "may signal" if use.permitted else "signal"
    when = f" when {use.when.text}" if use.when else ""
    said = ", ".join(f"{key.text}: {expr.text}" for key, expr in use.fields)
    text = f"{'may signal' if use.permitted else 'signals'} {name}({said}){when}"
    clause = low.clause(f"{path}.{word}.{name}", use.name.where, text)
    declared = low.lifecycle.signals.get(name)
    if declared is None:
        message = f"there is no signal {name!r}"
        low.unknown("unknown-signal", use.name, message, low.lifecycle.signals, "declare it in `signals`")
        return None
    given = {key.text: expr for key, expr in use.fields}
    for key, _ in use.fields:
        if key.text not in declared:
            low.unknown("unknown-field", key, f"signal {name} has no field {key.text!r}", declared)
    for missing in declared:
        if missing not in given:
            message = f"signal {name} is sent without {missing!r}"
            low.fault("missing-field", use.name.where, message, f"add it under `with`: {{{missing}: …}}")
    fields = tuple(
        (field, low.typed(given[field], scope, low.words.types.resolve(kind)))
        for field, kind in declared.items()
        if field in given
    )
    return kernel.Emit(clause, name, fields, low.condition(use.when, scope), _how(use))


def _how(use: SignalUse) -> kernel.How:
    if use.permitted:
        return "permitted"
    return "repeats" if use.repeats else "once"


@dataclass(frozen=True, slots=True)
class RecordOfSentence:
    """The record that a sentence is about: its name there, its kind, and the states that it is in."""

    name: str
    entity: EntitySpec
    states: tuple[str, ...]


def block(
    low: Lowering, effects: Effects, scope: Scope, path: str, record: RecordOfSentence | None
) -> list[kernel.Effect]:
    """Lower what follows from something: moves and removal are of the record that it is about."""
    found: list[kernel.Effect] = []
    if effects.moves and record is not None and record.entity.states:
        found.append(_moved(low, effects.moves, record, scope, path))
    elif effects.moves:
        message = "no record with states moves here"
        low.fault("bad-move", effects.moves[0].where, message, "walk over records that have states")
    found += sets(low, effects.assignments, scope, path)
    created, scope = creations(low, effects.creations, scope, path)
    found += created
    found += loops(low, effects.loops, scope, path)
    found += signals(low, effects.signals, scope, path)
    if effects.removes and record is not None:
        found.append(kernel.Remove(path, "record", record.name, record.entity.name.text))
    return found


def _moved(
    low: Lowering, moves: tuple[MoveSpec, ...], record: RecordOfSentence, scope: Scope, path: str
) -> kernel.Move:
    """Lower a `move` that no operation has asked about: the record moves if it is in such a state."""
    found = arrows(low, moves, record.entity, scope, record.states)
    entity = record.entity.name.text
    text = "; ".join(f"{each.source.text if each.source else 'it'} → {each.target.text}" for each in moves)
    clause = low.clause(f"{path}.move", moves[0].where, text)
    return kernel.Move(clause, record.name, entity, tuple(found.items()), guarded=set(found) < set(record.states))


def arrows(
    low: Lowering, moves: tuple[MoveSpec, ...], entity: EntitySpec, scope: Scope, now: tuple[str, ...] = ()
) -> dict[str, Typed]:
    """Return the state that a record goes to, by the state that it is in; `now` are those that it can be in."""
    found: dict[str, Typed] = {}
    for each in moves:
        for source in now if each.source is None else low.states(entity, each.source):
            if source in found:
                message = f"{source!r} already has a move in this table"
                low.fault("overlapping-moves", each.where, message, "one move for each state")
            found[source] = _target(low, each.target, source, entity, scope)
    return found


def _target(low: Lowering, expr: Expr, source: str, entity: EntitySpec, scope: Scope) -> Typed:
    if isinstance(expr.node, Name) and expr.node.name == "same":
        return state(entity, source)
    return low.typed(expr, scope, state_type(entity))


def loops(low: Lowering, loops: Iterable[ForEachSpec], scope: Scope, path: str) -> list[kernel.ForEach]:
    """Lower `for each`: effects for every item of a list."""
    found = []
    for loop in loops:
        name = loop.variable.text
        over = low.typed(loop.over, scope, List(UNKNOWN))
        kind = over.type.item if isinstance(over.type, List) else UNKNOWN
        inner = scope.with_names({name: local(name, kind)})
        text = f"for each {name} in {loop.over.text}"
        text += f", where {' '.join(loop.when.text.split())}" if loop.when is not None else ""
        clause = low.clause(f"{path}.for each.{name}", loop.variable.where, text)
        entity = low.lifecycle.entities[kind.entity] if isinstance(kind, Ref) else None
        if loop.effects.removes and entity is None and kind != UNKNOWN:
            message = f"records are removed, and this is a list of {kind}"
            low.fault("expression-type", loop.over.where, message, "walk over records, for example jobs")
        when = low.condition(loop.when, inner)
        record = RecordOfSentence(name, entity, entity.states) if entity else None
        effects = block(low, loop.effects, _knowing(inner, loop.when), clause, record)
        found.append(kernel.ForEach(clause, name, over, when, tuple(effects)))
    return found


def _knowing(scope: Scope, when: Expr | None) -> Scope:
    """Return a scope in which a condition is known to hold."""
    return scope if when is None else scope.with_present(facts(when.node, True))


def creations(
    low: Lowering, creations: Iterable[Creation], scope: Scope, path: str
) -> tuple[list[kernel.Create], Scope]:
    """Lower `create`; each new record has its name in the scope of whatever follows, which is given too."""
    found = []
    for each in creations:
        entity = low.known_entity(each.entity)
        if entity is None:
            continue
        name, called = name_of_new(each, entity), each.name(entity)
        if called is not None and not isinstance(called.node, Name):
            low.fault("bad-name", called.where, f"{called.text!r} is not a name", "for example other")
        if name in scope.names:
            message = f"{name!r} already means something here"
            hint = "a new record has the name of its entity: give it another one, `called: other`"
            low.fault("shadowed-name", each.entity.where, message, hint)
        create = _creation(low, each, entity, scope, path)
        found.append(create)
        kind = Ref(entity.name.text)
        scope = scope.with_names({name: local(name, kind if create.when is None else optional(kind))})
    return found, scope


def _creation(low: Lowering, creation: Creation, entity: EntitySpec, scope: Scope, path: str) -> kernel.Create:
    name = entity.name.text
    condition = creation.condition(entity)
    when = low.condition(condition, scope)
    there = scope if condition is None else scope.with_present(facts(condition.node, True))
    given = _fields(low, creation, entity, there)
    for key, use in entity.fields.items():
        if key not in given and use.default is None and not use.nullable:
            message = f"{name} is created without {key!r}"
            hint = "give it a value, a default, or make it X | null"
            low.fault("missing-field", creation.entity.where, message, hint)
    clause = low.clause(f"{path}.create.{name}", creation.entity.where, f"create a {name}")
    chosen, state = given.pop("id", None), given.pop("state", None)
    elsewhere = ""
    if state is not None:
        word, expr = next((word, expr) for word, expr in creation.fields if word.text == "state")
        elsewhere = low.clause(f"{clause}.state", word.where, f"not {entity.states[0]} at first: {expr.text}")
    return kernel.Create(
        clause, name, name_of_new(creation, entity), tuple(given.items()), chosen, state, elsewhere, when
    )


def _fields(low: Lowering, creation: Creation, entity: EntitySpec, scope: Scope) -> dict[str, Typed]:
    kinds = low.words.types.record_fields(entity.name.text)
    known = [field for field in kinds if field not in _BUILT_IN]
    given: dict[str, Typed] = {}
    condition, called = creation.condition(entity), creation.name(entity)
    for key, expr in creation.fields:
        if expr is condition or expr is called:
            continue
        if key.text in known:
            there = scope.with_names({"minted": local("minted", kinds["id"])}) if key.text == "id" else scope
            given[key.text] = low.typed(expr, there, kinds[key.text])
        else:
            low.unknown("unknown-field", key, f"{entity.name.text} has no field {key.text!r}", known)
    return given


def removal(low: Lowering, word: Word, path: str) -> kernel.Remove:
    """Lower `remove`: every record of an entity, or every message of a kind that is still due."""
    clause = low.clause(f"{path}.remove.{word.text}", word.where, f"remove every {word.text}")
    if not word.text.startswith("due."):
        low.known_entity(word)
        return kernel.Remove(clause, "entity", word.text)
    message = word.text.removeprefix("due.")
    if message not in low.lifecycle.messages:
        hint = did_you_mean(message, low.lifecycle.messages)
        low.fault("unknown-message", word.where, f"there is no message {message!r}", hint)
    return kernel.Remove(clause, "due", message)


def sendings(low: Lowering, sendings: Iterable[SendingSpec], scope: Scope, path: str) -> list[kernel.Send]:
    """Lower `sends`."""
    found = []
    for sending in sendings:
        name, expr = sending.name, sending.messages
        value = low.typed(expr, scope)
        if not (isinstance(value.type, List) and isinstance(value.type.item, MessageType)):
            message = f"messages are sent, and this is {value.type}"
            low.fault("expression-type", expr.where, message, "for example due.Ended.filter(m, …)")
            continue
        clause = low.clause(f"{path}.sends.{name.text}", name.where, f"send {expr.text}, in order")
        found.append(kernel.Send(clause, value.type.item.name, name.text, value))
    return found
