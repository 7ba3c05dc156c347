"""Tree → kinds of records, roles (what is said of some records of a kind alone), and the messages about records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

from statemachines.diagnostics import Where
from statemachines.expression import Conditional, FunctionCall, Name
from statemachines.lifecycle import (
    DefinitionSpec,
    Entering,
    EntitySpec,
    Expr,
    OperationSpec,
    Owed,
    Retention,
    Role,
    TimerSpec,
    TypeUse,
    Word,
)
from statemachines.surface.operations import effects, otherwise
from statemachines.surface.reader import Reader
from statemachines.surface.types import uses
from statemachines.words import variable_of
from statemachines.yaml import Mapping, Node, Sequence


def entity(reader: Reader, name: Word, body: Mapping) -> EntitySpec:
    """Read one entry of `entities`."""
    minted = body.key("id")
    entering = reader.entries(body.get("entering"))
    timers = reader.entries(body.get("after"))
    roles = reader.entries(body.get("roles"))
    found = EntitySpec(
        name,
        reader.text(body.get("plural")) or f"{_snake(name.text)}s",
        fixed=reader.words(body.get("fixed")),
        fields=uses(reader, body.get("fields")),
        groups={group.text: reader.words(states) for group, states in reader.entries(body.get("states"))},
        minted=minted.where if minted else None,
        once=reader.text(body.get("id")) == "minted once",
        by_content=reader.text(body.get("id")) == "minted by content",
        unique=tuple((field, reader.word(code)) for field, code in reader.entries(body.get("unique"))),
        private=reader.word_or_none(body.get("private to")),
        missing=otherwise(reader, body.get("missing")),
        entering=tuple(Entering(states, effects(reader, value)) for states, value in entering),
        timers=tuple(timer for states, value in timers for timer in _timers(reader, states, value)),
        retain=_retention(reader, body),
        shows=reader.pairs(body.get("shows")),
        roles={key.text: _role(reader, name, key, value) for key, value in roles},
    )
    seen = {key.text for key, _ in found.shows}
    for key, _ in (each for part in found.roles.values() for each in part.shows):
        if key.text in seen:
            message = f"{name.text} shows {key.text!r} already"
            reader.fault("taken-name", key.where, message, "choose another name, or show it once")
        seen.add(key.text)
    return _with_shows(found)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _timers(reader: Reader, states: Word, node: Node) -> Iterator[TimerSpec]:
    """Read one entry of `after`: a timer, or a list of them."""
    path = f"after.{states.text}"
    if isinstance(node, Mapping):
        yield _timer(reader, states, path, states.where, node)
    for index, item in enumerate(node.items if isinstance(node, Sequence) else ()):
        yield _timer(reader, states, f"{path}.{index}", item.where, cast(Mapping, item))


def _timer(reader: Reader, states: Word, path: str, where: Where, body: Mapping) -> TimerSpec:
    return TimerSpec(
        path,
        where,
        states,
        duration=reader.expr(body.get("in")),
        since=reader.expr(body.get("since")),
        within=reader.expr_or_none(body.get("within")),
        when=reader.expr_or_none(body.get("when")),
        effects=effects(reader, body),
    )


def _retention(reader: Reader, entity: Mapping) -> Retention | None:
    key, body = entity.key("retain"), cast("Mapping | None", entity.get("retain"))
    if key is None or body is None:
        return None
    return Retention(
        newest=reader.expr(body.get("newest")),
        of=reader.word(body.get("of")),
        per=reader.expr_or_none(body.get("per")),
        by=reader.exprs(body.get("by")),
        where=key.where,
    )


# ── Roles ──


def _role(reader: Reader, entity: Word, name: Word, body: Mapping) -> Role:
    """Read one entry of `roles`: its condition is a named expression, as `is_agent(task)` of the role Agent."""
    variable = Word(variable_of(entity.text), entity.where)
    asked = Word(f"is_{variable_of(name.text)}", name.where)
    condition = DefinitionSpec(asked, (variable,), reader.expr(body.get("when")))
    return Role(name, condition, reader.pairs(body.get("shows")))


def _with_shows(entity: EntitySpec) -> EntitySpec:
    """Return a kind of record that shows also what its roles show: of a record that has not the role, anything."""
    own = tuple((key, _only(each, expr)) for each in entity.roles.values() for key, expr in each.shows)
    return replace(entity, shows=(*entity.shows, *own))


def _only(role: Role, expr: Expr) -> Expr:
    (variable,) = role.condition.parameters
    asked = FunctionCall(0, role.condition.name.text, None, (Name(0, variable.text),))
    return replace(expr, node=Conditional(0, asked, expr.node, Name(0, "anything")))


def with_entities(operation: OperationSpec, entities: Iterable[EntitySpec]) -> OperationSpec:
    """Return an operation whose parameters have the types of the records of which they take a role."""
    owners = {name: entity for entity in entities for name in entity.roles}

    def taken(use: TypeUse) -> TypeUse:
        owner = owners.get(use.name.text)
        return use if owner is None else replace(use, name=Word(owner.name.text, use.name.where), role=use.name)

    return replace(operation, takes={name: taken(use) for name, use in operation.takes.items()})


# ── Messages ──


def message(reader: Reader, name: Word, body: Mapping) -> Owed:
    """Read one entry of `messages`."""
    return Owed(
        name,
        about=reader.word(body.get("about")),
        due=reader.words(body.get("due")),
        to=reader.expr_or_none(body.get("to")),
        at_most=reader.word_or_none(body.get("at most")),
        order=reader.exprs(body.get("order")),
        outlives=reader.word_or_none(body.get("outlives")),
        carries=reader.pairs(body.get("carries")),
    )
