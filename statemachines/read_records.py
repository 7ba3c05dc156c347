"""Tree → kinds of records, and the messages about them."""

from __future__ import annotations

import re
from typing import cast

from statemachines.lifecycle import Entering, Entity, Owed, Retention, Timer, Word
from statemachines.read_effects import assignments, loops, signals
from statemachines.read_types import uses
from statemachines.reader import Reader
from statemachines.tree import Mapping, Node


def entity(reader: Reader, name: Word, node: Node) -> Entity:
    """Read one entry of `entities`."""
    body = cast(Mapping, node)
    minted = body.key("id")
    entering = reader.entries(body.get("entering"))
    timers = reader.entries(body.get("after"))
    return Entity(
        name,
        reader.text(body.get("plural")) or f"{_snake(name.text)}s",
        fixed=reader.words(body.get("fixed")),
        fields=uses(reader, body.get("fields")),
        groups={group.text: reader.words(states) for group, states in reader.entries(body.get("states"))},
        minted=minted.where if minted else None,
        unique=tuple((field, reader.word(code)) for field, code in reader.entries(body.get("unique"))),
        private=reader.word_or_none(body.get("private to")),
        entering=tuple(_entering(reader, states, effects) for states, effects in entering),
        timers=tuple(_timer(reader, states, effects) for states, effects in timers),
        retain=_retention(reader, body),
        shows=reader.pairs(body.get("shows")),
    )


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _entering(reader: Reader, states: Word, node: Node) -> Entering:
    body = cast(Mapping, node)
    sets = assignments(reader, body.get("set"))
    return Entering(states, sets, signals(reader, body), loops(reader, body.get("for each")))


def _timer(reader: Reader, states: Word, node: Node) -> Timer:
    body = cast(Mapping, node)
    return Timer(
        states,
        duration=reader.expr(body.get("in")),
        since=reader.expr(body.get("since")),
        move=reader.word_or_none(body.get("move")),
        removes=body.get("remove") is not None,
        assignments=assignments(reader, body.get("set")),
        signals=signals(reader, body),
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
    order = body.key("order")
    return Owed(
        name,
        about=reader.word(body.get("about")),
        due=reader.words(body.get("due")),
        to=reader.expr_or_none(body.get("to")),
        at_most=reader.word_or_none(body.get("at most")),
        order=reader.exprs(body.get("order")),
        order_where=order.where if order else name.where,
        outlives=reader.word_or_none(body.get("outlives")),
        unless=reader.expr_or_none(body.get("unless")),
        carries=reader.pairs(body.get("carries")),
    )
