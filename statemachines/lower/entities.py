"""Kinds of records: what they hold, what follows from their states, and which of them stay."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression.scope import Scope
from statemachines.lifecycle import Entering, Entity, Timer
from statemachines.lower.context import Lowering
from statemachines.lower.effects import loops, sets, signals
from statemachines.lower.terms import later, state
from statemachines.types import INT, TIME, Ref, optional
from statemachines.words.types import variable_of


def entity(low: Lowering, declared: Entity) -> kernel.Entity:
    """Lower a kind of record."""
    name = declared.name.text
    path, variable = f"entities.{name}", variable_of(name)
    scope = low.words.model_scope({variable: Ref(name)})
    groups = tuple((group, tuple(word.text for word in words)) for group, words in declared.groups.items())
    fields = tuple(low.field(key, use) for key, use in declared.fields.items())
    minted = ""
    if declared.minted:
        minted = low.clause(
            f"{path}.id", declared.minted, f"a new {name} gets an id that no retained {name} has"
        )
    _unique(low, declared)
    shows = tuple((key.text, low.typed(expr, scope)) for key, expr in declared.shows)
    entered = tuple(_entered(low, declared, entering, scope) for entering in declared.entering)
    retain = _retain(low, declared, scope)
    timers = tuple(_timer(low, declared, timer, scope) for timer in declared.timers)
    shown = ""
    if shows:
        shown = low.clause(f"{path}.shows", low.lifecycle.places[f"{path}.shows"], "what a caller sees of it")
    return kernel.Entity(
        name=name,
        variable=variable,
        collection=declared.plural,
        fixed=tuple(word.text for word in declared.fixed),
        fields=fields,
        states=declared.states,
        groups=groups,
        terminal=dict(groups).get("terminal", ()),
        minted=minted,
        key=low.words.types.key(name),
        entered=entered,
        retain=retain,
        timers=timers,
        shows_clause=shown,
        shows=shows,
    )


def _unique(low: Lowering, entity: Entity) -> None:
    """Register the clauses of `unique`; the guards come with each operation that creates a record."""
    name = entity.name.text
    for key, code in entity.unique:
        if key.text != "id" and key.text not in entity.fields:
            message = f"{name} has no field {key.text!r}"
            low.unknown("unknown-field", key, message, entity.fields, "declare it in `fields`")
        path = f"entities.{name}.unique.{key.text}"
        low.clause(path, key.where, f"a {key.text} in use: refused {code.text}")


def _entered(low: Lowering, entity: Entity, entering: Entering, scope: Scope) -> kernel.Entered:
    path = f"entities.{entity.name.text}.entering.{entering.states.text}"
    effects: list[kernel.Effect] = [*sets(low, entering.assignments, scope, path)]
    effects += loops(low, entering.loops, scope, path)
    effects += signals(low, entering.signals, scope, path)
    return kernel.Entered(path, low.states(entity, entering.states), tuple(effects))


def _retain(low: Lowering, entity: Entity, scope: Scope) -> kernel.Retain | None:
    rule = entity.retain
    if rule is None:
        return None
    text = f"only the newest {rule.newest.text} {rule.of.text} stay"
    path = low.clause(f"entities.{entity.name.text}.retain", rule.where, text)
    newest = low.typed(rule.newest, low.words.model_scope(), INT)
    per = low.typed(rule.per, scope) if rule.per else None
    return kernel.Retain(path, newest, low.states(entity, rule.of), per, low.order(rule.by, scope))


def _timer(low: Lowering, entity: Entity, timer: Timer, scope: Scope) -> kernel.Timer:
    name, variable = entity.name.text, variable_of(entity.name.text)
    path = low.clause(
        f"entities.{name}.after.{timer.states.text}",
        timer.states.where,
        f"{timer.duration.text} after {timer.since.text}",
    )
    duration = low.typed(timer.duration, scope, INT)
    since = low.typed(timer.since, scope, optional(TIME))
    states = low.states(entity, timer.states)
    effects: list[kernel.Effect] = []
    if timer.move is not None:
        target = state(entity, low.states(entity, timer.move)[0])
        effects.append(kernel.Move(path, variable, name, tuple((source, target) for source in states)))
    effects += sets(low, timer.assignments, scope, path)
    effects += signals(low, timer.signals, scope, path)
    if timer.removes:
        effects.append(kernel.Remove(path, "record", variable, name))
    return kernel.Timer(path, states, later(since, duration), tuple(effects))
