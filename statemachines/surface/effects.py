"""Tree → what a step does: what it sets, moves, creates, walks over and signals, and what it answers else."""

from __future__ import annotations

from typing import Literal, cast

from statemachines.lifecycle import (
    Assignment,
    Creation,
    Effects,
    ForEachSpec,
    MoveSpec,
    Otherwise,
    SignalUse,
    Word,
)
from statemachines.surface.reader import Reader, part_of
from statemachines.yaml import Mapping, Node, Scalar


def assignments(reader: Reader, node: Node | None) -> tuple[Assignment, ...]:
    """Read `set`: each key is itself an expression, the field that is set."""
    entries = cast(Mapping, node).entries if node is not None else ()
    return tuple(_assignment(reader, key, value) for key, value in entries)


def _assignment(reader: Reader, key: Scalar, node: Node) -> Assignment:
    target, word = reader.expr(key), Word(key.text, key.where)
    if not isinstance(node, Mapping):
        return Assignment(target, reader.expr(node), word)
    return Assignment(target, reader.expr(node.get("to")), word, reader.expr(node.get("when")))


def signals(reader: Reader, body: Mapping) -> tuple[SignalUse, ...]:
    """Read `signal` and `may signal`."""
    must = [_signal(reader, name, value) for name, value in reader.entries(body.get("signal"))]
    return (*must, *permitted_signals(reader, body))


def permitted_signals(reader: Reader, body: Mapping) -> tuple[SignalUse, ...]:
    """Read `may signal`."""
    uses = reader.entries(body.get("may signal"))
    return tuple(_signal(reader, name, value, permitted=True) for name, value in uses)


def _signal(reader: Reader, name: Word, node: Node, *, permitted: bool = False) -> SignalUse:
    body = node if isinstance(node, Mapping) else Mapping((), node.where, True)
    repeats = reader.text(body.get("times")) == "at least once"
    fields = reader.pairs(body.get("with"))
    return SignalUse(name, fields, reader.expr_or_none(body.get("when")), repeats, permitted)


def creations(reader: Reader, node: Node | None) -> tuple[Creation, ...]:
    """Read `create`: the fields of each record."""
    found = []
    for name, value in reader.entries(node):
        fields = reader.pairs(value)
        found.append(Creation(name, fields))
    return tuple(found)


def loops(reader: Reader, node: Node | None) -> tuple[ForEachSpec, ...]:
    """Read `for each` with effects."""
    found = []
    for name, value in reader.entries(node):
        body = cast(Mapping, value)
        when, over = reader.expr_or_none(body.get("when")), reader.expr(body.get("in"))
        found.append(ForEachSpec(name, over, when, effects(reader, body)))
    return tuple(found)


def effects(reader: Reader, body: Mapping) -> Effects:
    """Read what follows: the same words wherever a record, a list or a time has consequences."""
    return Effects(
        moves=moves(reader, body.get("move"), short=True),
        assignments=assignments(reader, body.get("set")),
        creations=creations(reader, body.get("create")),
        loops=loops(reader, body.get("for each")) if body.get("in") is not None or _is_loops(body) else (),
        removes=body.get("remove") is not None,
        signals=signals(reader, body),
    )


def _is_loops(body: Mapping) -> bool:
    """Return whether `for each` walks over lists; that of a step of its own names the records it is about."""
    node = body.get("for each")
    return isinstance(node, Mapping) and all(isinstance(value, Mapping) for _, value in node.entries)


def otherwise(reader: Reader, node: Node | None) -> Otherwise | None:
    """Read the answer where a guard does not hold."""
    if node is None:
        return None
    if isinstance(node, Mapping):
        answer = _answer(node.get("answer"))
        return Otherwise(answer.kind, answer.code, answer.where, permitted_signals(reader, node))
    return _answer(node)


def _answer(node: Node | None) -> Otherwise:
    scalar = cast(Scalar, node)
    kind, _, code = scalar.text.partition(" ")
    return Otherwise(cast("Literal['refused', 'unchanged', 'open']", kind), code.strip(), scalar.where)


def moves(reader: Reader, node: Node | None, *, short: bool = False) -> tuple[MoveSpec, ...]:
    """Read `from -> to`, or a table of such; where it is `short`, also just `to`."""
    if node is None:
        return ()
    if isinstance(node, Mapping):
        return tuple(MoveSpec(source, reader.expr(target), source.where) for source, target in reader.entries(node))
    scalar = cast(Scalar, node)
    source, arrow, target = scalar.text.partition("->")
    if short and not arrow:
        return (MoveSpec(None, reader.expr(scalar), scalar.where),)
    if not arrow or not target.strip():
        message = f"{scalar.text!r} is not a move"
        reader.fault("bad-move", scalar, message, "write from -> to, for example running -> completed")
        return ()
    aim = reader.expr(part_of(scalar, len(source) + len(arrow)))
    return (MoveSpec(Word(source.strip(), scalar.at(0)), aim, scalar.where),)
