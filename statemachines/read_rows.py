"""Tree → rows: the steps of a scenario, and how its parameters are enumerated or drawn."""

from __future__ import annotations

import re
from typing import Literal, cast

from statemachines.lifecycle import Drawn, Expr, Level, Row, Step, Word
from statemachines.read_types import type_use
from statemachines.reader import Reader, part_of
from statemachines.tree import Mapping, Node, Scalar, Sequence

_BINDING = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*")
_LOOP = re.compile(r"\s*for each\s+([A-Za-z_]\w*)\s+in\s+(.+?)\s*", re.DOTALL)


def row(reader: Reader, name: Word, node: Node) -> Row:
    """Read one row of the matrix."""
    body = cast(Mapping, node)
    return Row(
        id=name,
        about=reader.text(body.get("about")),
        level=cast(Level, reader.text(body.get("level"))),
        source=reader.text(body.get("source")),
        covers=reader.words(body.get("covers")),
        needs=reader.exprs(body.get("needs")),
        each=tuple((key, type_use(reader, value)) for key, value in reader.entries(body.get("each"))),
        drawn=tuple(_drawn(reader, key, value) for key, value in reader.entries(body.get("any"))),
        arrange=_steps(reader, body.get("arrange")),
        act=_steps(reader, body.get("act")),
        asserts=reader.exprs(body.get("assert")),
        open=reader.exprs(body.get("open")),
    )


def _drawn(reader: Reader, name: Word, node: Node) -> Drawn:
    body = cast(Mapping, node)
    written = body.get("witness")
    witness: Expr | Literal["reversed"] | None = reader.expr_or_none(written)
    if isinstance(written, Scalar) and written.text == "reversed":
        witness = "reversed"
    count = body.get("permutation of")
    if count is not None:
        return Drawn(name, "permutation", high=reader.expr(count), witness=witness, where=node.where)
    low, high = body.get("from"), body.get("to")
    if low is not None and high is not None:
        return Drawn(name, "range", reader.expr(low), reader.expr(high), witness=witness, where=node.where)
    return Drawn(name, "type", type=type_use(reader, body.get("type")), witness=witness, where=node.where)


def _steps(reader: Reader, node: Node | None) -> tuple[Step, ...]:
    items = cast(Sequence, node).items if node is not None else ()
    return tuple(step for item in items for step in _step(reader, item))


def _step(reader: Reader, node: Node) -> tuple[Step, ...]:
    """Read one step; a mapping is `for each x in xs:` with the steps of its body."""
    if isinstance(node, Mapping):
        return tuple(_loop(reader, key, value) for key, value in node.entries)
    scalar = cast(Scalar, node)
    match = _BINDING.match(scalar.text)
    if match is None:
        return (Step(reader.expr(scalar)),)
    name = Word(match[1], scalar.at(match.start(1)))
    return (Step(reader.expr(part_of(scalar, match.end())), binding=name),)


def _loop(reader: Reader, key: Scalar, body: Node) -> Step:
    match = _LOOP.fullmatch(key.text)
    if match is None:
        message = f"{key.text!r} is not a step"
        reader.fault("bad-step", key, message, "write a call, name = call(…), or for each x in xs:")
        return Step(reader.expr(Scalar(None, "null", key.where, "plain")))
    over = reader.expr(part_of(key, match.start(2), match.end(2)))
    return Step(over, loop=Word(match[1], key.at(match.start(1))), body=_steps(reader, body))
