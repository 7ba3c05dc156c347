"""Tree → kinds of records, and the messages about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from statemachines.diagnostics import Where
from statemachines.lifecycle import Entering, EntitySpec, Owed, Retention, TimerSpec, Word
from statemachines.surface.effects import effects, otherwise
from statemachines.surface.reader import Reader
from statemachines.surface.roles import role, with_shows
from statemachines.surface.types import uses
from statemachines.yaml import Mapping, Node, Scalar, Sequence


def entity(reader: Reader, name: Word, node: Node) -> EntitySpec:
    """Read one entry of `entities`."""
    body = cast(Mapping, node)
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
        unique=tuple((field, reader.word(code)) for field, code in reader.entries(body.get("unique"))),
        private=reader.word_or_none(body.get("private to")),
        missing=otherwise(reader, body.get("missing")),
        entering=tuple(Entering(states, effects(reader, cast(Mapping, value))) for states, value in entering),
        timers=tuple(timer for states, value in timers for timer in _timers(reader, states, value)),
        retain=_retention(reader, body),
        shows=reader.pairs(body.get("shows")),
        roles={key.text: role(reader, name, key, value) for key, value in roles},
    )
    seen = {key.text for key, _ in found.shows}
    for key, _ in (each for part in found.roles.values() for each in part.shows):
        if key.text in seen:
            message = f"{name.text} shows {key.text!r} already"
            place = Scalar(key.text, key.text, key.where, "plain")
            reader.fault("taken-name", place, message, "choose another name, or show it once")
        seen.add(key.text)
    return with_shows(found)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _timers(reader: Reader, states: Word, node: Node) -> Iterator[TimerSpec]:
    """Read one entry of `after`: a timer, or a list of them."""
    if not isinstance(node, Sequence):
        yield _timer(reader, states, f"after.{states.text}", states.where, cast(Mapping, node))
        return
    for index, item in enumerate(node.items):
        yield _timer(reader, states, f"after.{states.text}.{index}", item.where, cast(Mapping, item))


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


def message(reader: Reader, name: Word, node: Node) -> Owed:
    """Read one entry of `messages`."""
    body = cast(Mapping, node)
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
