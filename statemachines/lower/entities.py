"""Kinds of records: what they hold, what follows from their states, which of them stay, and which messages they owe."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import Scope
from statemachines.lifecycle import Entering, EntitySpec, Owed, TimerSpec
from statemachines.lower.context import Lowering, later
from statemachines.lower.effects import RecordOfSentence, block
from statemachines.types import INT, TIME, Ref, optional
from statemachines.words import variable_of


def entity(low: Lowering, declared: EntitySpec) -> kernel.Entity:
    """Lower a kind of record."""
    name = declared.name.text
    path, variable = f"entities.{name}", variable_of(name)
    scope = low.words.scopes.model({variable: Ref(name)})
    groups = tuple((group, tuple(word.text for word in words)) for group, words in declared.groups.items())
    fields = tuple(low.field(key, use) for key, use in declared.fields.items())
    minted = ""
    if declared.minted:
        other = "other ever had" if declared.once else f"retained {name} has"
        other += " that is not like it" if declared.by_content else ""
        minted = low.clause(f"{path}.id", declared.minted, f"a new {name} gets an id that no {other}")
        if declared.by_content and declared.states:
            message = f"{name} has states, so that two of them are not one for being alike"
            low.fault("bad-value", declared.minted, message, "write minted, or leave out the states")
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
        once=declared.once,
        by_content=declared.by_content,
        key=low.words.types.key(name),
        entered=entered,
        retain=retain,
        timers=timers,
        shows_clause=shown,
        shows=shows,
    )


def _unique(low: Lowering, entity: EntitySpec) -> None:
    """Register the clauses of `unique`; the guards come with each operation that creates a record."""
    name = entity.name.text
    for key, code in entity.unique:
        if key.text != "id" and key.text not in entity.fields:
            message = f"{name} has no field {key.text!r}"
            low.unknown("unknown-field", key, message, entity.fields, "declare it in `fields`")
        path = f"entities.{name}.unique.{key.text}"
        low.clause(path, key.where, f"a {key.text} in use: refused {code.text}")


def _entered(low: Lowering, entity: EntitySpec, entering: Entering, scope: Scope) -> kernel.Entered:
    path = f"entities.{entity.name.text}.entering.{entering.states.text}"
    states = low.states(entity, entering.states)
    record = RecordOfSentence(variable_of(entity.name.text), entity, states)
    return kernel.Entered(path, states, tuple(block(low, entering.effects, scope, path, record)))


def _retain(low: Lowering, entity: EntitySpec, scope: Scope) -> kernel.Retain | None:
    rule = entity.retain
    if rule is None:
        return None
    text = f"only the newest {rule.newest.text} {rule.of.text} stay"
    path = low.clause(f"entities.{entity.name.text}.retain", rule.where, text)
    newest = low.typed(rule.newest, low.words.scopes.model(), INT)
    per = low.typed(rule.per, scope) if rule.per else None
    return kernel.Retain(path, newest, low.states(entity, rule.of), per, low.order(rule.by, scope))


def _timer(low: Lowering, entity: EntitySpec, timer: TimerSpec, scope: Scope) -> kernel.Timer:
    name = entity.name.text
    text = f"{timer.duration.text} after {timer.since.text}{f', when {timer.when.text}' if timer.when else ''}"
    path = low.clause(f"entities.{name}.{timer.path}", timer.where, text)
    duration = low.typed(timer.duration, scope, optional(INT))
    since = low.typed(timer.since, scope, optional(TIME))
    states = low.states(entity, timer.states)
    within = low.typed(timer.within, scope, INT) if timer.within else None
    effects = block(low, timer.effects, scope, path, RecordOfSentence(variable_of(name), entity, states))
    when = low.condition(timer.when, scope)
    return kernel.Timer(path, states, later(since, duration), within, when, tuple(effects))


def message(low: Lowering, owed: Owed) -> kernel.Message:
    """Lower a kind of message."""
    name, path, variable = owed.name.text, f"messages.{owed.name.text}", variable_of(owed.about.text)
    entity = low.known_entity(owed.about)
    scope = low.words.scopes.about(name) if entity else low.words.scopes.model()
    states = tuple(state for word in owed.due for state in (low.states(entity, word) if entity else ()))
    once = f"once per {variable}"
    if owed.at_most and owed.at_most.text != once:
        low.fault("bad-at-most", owed.at_most.where, f"{owed.at_most.text!r} is not known", f"write: {once}")

    def sentence(word: str, text: str) -> str:
        return low.clause(f"{path}.{word}", low.place(f"{path}.{word}", owed.name), text)

    due = sentence("due", f"owed from {' or '.join(word.text for word in owed.due)} on")
    to = low.typed(owed.to, scope) if owed.to else None
    carries = tuple((key.text, low.typed(expr, scope)) for key, expr in owed.carries)
    for key, expr in owed.carries:
        if low.words.caller.leads_to(low.words.caller.carried(name)[key.text], name):
            hint = "carry what it is to say of them, such as how many there are"
            low.fault("endless-definition", expr.where, f"a message {name} carries messages {name}", hint)
        low.clause(f"{path}.carries.{key.text}", key.where, f"carries {key.text}: {expr.text}")
    keys = ", ".join(expr.text for expr in owed.order)
    return kernel.Message(
        name=name,
        entity=owed.about.text,
        variable=variable,
        states=states,
        due=due,
        to=to,
        to_clause=sentence("to", f"told to {owed.to.text} and nobody else") if owed.to else "",
        order=low.order(owed.order, scope),
        order_clause=sentence("order", f"told in order of {keys}") if owed.order else "",
        once_clause=sentence("at most", f"told {owed.at_most.text}, under any interleaving") if owed.at_most else "",
        outlives_clause=sentence("outlives", "stays owed when its record leaves") if owed.outlives else "",
        carries=carries,
    )
