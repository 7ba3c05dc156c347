"""Tree → operations, the steps that an implementation takes on its own, and what any step does and answers."""

from __future__ import annotations

from typing import Literal, cast

from statemachines.lifecycle import (
    Assignment,
    Creation,
    Effects,
    ForEachSpec,
    Gives,
    MoveSpec,
    OperationSpec,
    Otherwise,
    SendingSpec,
    SignalUse,
    SpontaneousSpec,
    Word,
)
from statemachines.surface.reader import Reader, part_of
from statemachines.surface.types import uses
from statemachines.yaml import Mapping, Node, Scalar, Sequence


def operation(reader: Reader, name: Word, body: Mapping) -> OperationSpec:
    """Read one entry of `operations`."""
    optional, loses, copy = body.key("optional"), body.key("may lose"), body.key("copy")
    waits = body.get("waits")
    lasts, until = (waits.get("for"), waits.get("until")) if isinstance(waits, Mapping) else (waits, None)
    return OperationSpec(
        name,
        uses(reader, body.get("takes")),
        reader.text(body.get("about")),
        optional=optional.where if optional and reader.true(body.get("optional")) else None,
        control=reader.true(body.get("control")),
        loses_files=loses.where if loses else None,
        copies=copy.where if copy and reader.true(body.get("copy")) else None,
        refuses=reader.word_or_none(body.get("refuses")),
        requires=reader.pairs(body.get("requires")),
        open=reader.pairs(body.get("open")),
        unsaid=reader.expr_or_none(body.get("unsaid")),
        only_if=reader.expr_or_none(body.get("only if")),
        missing=otherwise(reader, body.get("missing")),
        otherwise=otherwise(reader, body.get("otherwise")),
        moves=_moves(reader, body.get("move")),
        is_table=isinstance(body.get("move"), Mapping),
        assignments=_assignments(reader, body.get("set")),
        creations=_creations(reader, body.get("create")),
        removes=reader.words(body.get("remove")),
        loops=_loops(reader, body.get("for each")),
        reads=reader.pairs(body.get("reads")),
        waits=reader.expr_or_none(lasts),
        until=reader.expr_or_none(until),
        sends=tuple(SendingSpec(key, expr) for key, expr in reader.pairs(body.get("sends"))),
        signals=_signals(reader, body),
        gives=_gives(reader, body.get("gives")),
    )


def _gives(reader: Reader, node: Node | None) -> Gives | None:
    """Read a reply: an expression, a record of them, the first of several whose guard holds, or any of some."""
    if node is None:
        return None
    if isinstance(node, Scalar):
        return Gives(reader.expr(node))
    body = cast(Mapping, node)
    if (unordered := body.get("unordered")) is not None:
        return Gives(reader.expr(unordered), unordered=True)
    if (branches := body.get("first of")) is not None:
        items = [cast(Mapping, item) for item in cast(Sequence, branches).items]
        pairs = [(reader.expr_or_none(item.get("when")), reader.expr(item.get("reply"))) for item in items]
        return Gives(branches=tuple(pairs))
    if (options := body.get("any of")) is not None:
        return Gives(any_of=reader.exprs(options))
    return Gives(fields=reader.pairs(body))


def own_step(reader: Reader, name: Word, body: Mapping) -> SpontaneousSpec:
    """Read one entry of `on its own`."""
    return SpontaneousSpec(
        name,
        loops=tuple(
            (variable, reader.word(entity))
            for variable, entity in reader.entries(body.get("for each"))
            if not isinstance(entity, Mapping)
        ),
        when=reader.expr(body.get("when")),
        must=reader.expr_or_none(body.get("must")),
        ends_call=body.get("before") is not None,
        does=reader.expr_or_none(body.get("does")),
        effects=effects(reader, body),
    )


# ── What a step does ──


def _assignments(reader: Reader, node: Node | None) -> tuple[Assignment, ...]:
    """Read `set`: each key is itself an expression, the field that is set."""
    entries = cast(Mapping, node).entries if node is not None else ()
    return tuple(_assignment(reader, key, value) for key, value in entries)


def _assignment(reader: Reader, key: Scalar, node: Node) -> Assignment:
    target, word = reader.expr(key), Word(key.text, key.where)
    if not isinstance(node, Mapping):
        return Assignment(target, reader.expr(node), word)
    return Assignment(target, reader.expr(node.get("to")), word, reader.expr(node.get("when")))


def _signals(reader: Reader, body: Mapping) -> tuple[SignalUse, ...]:
    """Read `signal` and `may signal`."""
    must = [_signal(reader, name, value) for name, value in reader.entries(body.get("signal"))]
    return (*must, *_permitted_signals(reader, body))


def _permitted_signals(reader: Reader, body: Mapping) -> tuple[SignalUse, ...]:
    """Read `may signal`."""
    uses = reader.entries(body.get("may signal"))
    return tuple(_signal(reader, name, value, permitted=True) for name, value in uses)


def _signal(reader: Reader, name: Word, node: Node, *, permitted: bool = False) -> SignalUse:
    body = node if isinstance(node, Mapping) else Mapping((), node.where, True)
    repeats = reader.text(body.get("times")) == "at least once"
    fields = reader.pairs(body.get("with"))
    return SignalUse(name, fields, reader.expr_or_none(body.get("when")), repeats, permitted)


def _creations(reader: Reader, node: Node | None) -> tuple[Creation, ...]:
    """Read `create`: the fields of each record."""
    return tuple(Creation(name, reader.pairs(value)) for name, value in reader.entries(node))


def _loops(reader: Reader, node: Node | None) -> tuple[ForEachSpec, ...]:
    """Read `for each` with effects; what a step of its own names beside them are the records that it is about."""
    return tuple(
        ForEachSpec(name, reader.expr(body.get("in")), reader.expr_or_none(body.get("when")), effects(reader, body))
        for name, body in reader.entries(node)
        if isinstance(body, Mapping)
    )


def effects(reader: Reader, body: Mapping) -> Effects:
    """Read what follows: the same words wherever a record, a list or a time has consequences."""
    return Effects(
        moves=_moves(reader, body.get("move"), short=True),
        assignments=_assignments(reader, body.get("set")),
        creations=_creations(reader, body.get("create")),
        loops=_loops(reader, body.get("for each")),
        removes=body.get("remove") is not None,
        signals=_signals(reader, body),
    )


def otherwise(reader: Reader, node: Node | None) -> Otherwise | None:
    """Read the answer where a guard does not hold."""
    if node is None:
        return None
    permitted = _permitted_signals(reader, node) if isinstance(node, Mapping) else ()
    answer = cast(Scalar, node.get("answer") if isinstance(node, Mapping) else node)
    kind, _, code = answer.text.partition(" ")
    known = cast("Literal['refused', 'unchanged', 'open']", kind)
    any_code = reader.expr_or_none(node.get("any code")) if isinstance(node, Mapping) else None
    return Otherwise(known, code.strip(), answer.where, permitted, any_code)


def _moves(reader: Reader, node: Node | None, *, short: bool = False) -> tuple[MoveSpec, ...]:
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
        reader.fault("bad-move", scalar.at(0), message, "write from -> to, for example running -> completed")
        return ()
    aim = reader.expr(part_of(scalar, len(source) + len(arrow)))
    return (MoveSpec(Word(source.strip(), scalar.at(0)), aim, scalar.where),)
