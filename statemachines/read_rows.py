"""Tree → rows: the steps of a scenario, and how its parameters are enumerated or drawn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, cast

from statemachines.lifecycle import Drawn, Expr, Level, Row, Step, Word
from statemachines.tree import Mapping, Node, Scalar, Sequence, Spot

if TYPE_CHECKING:  # the reader calls this module; here it is only an argument
    from statemachines.read import Reader

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
        each=tuple((key, reader.type_use(value)) for key, value in reader.entries(body.get("each"))),
        drawn=tuple(_drawn(reader, key, value) for key, value in reader.entries(body.get("any"))),
        arrange=_steps(reader, body.get("arrange")),
        act=_steps(reader, body.get("act")),
        asserts=reader.exprs(body.get("assert")),
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
    return Drawn(name, "type", type=reader.type_use(cast(Node, body.get("type"))), witness=witness, where=node.where)


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
        reader.fault("bad-step", key, f"{key.text!r} is not a step", "write a call, name = call(…), or for each x in xs:")
        return Step(reader.expr(Scalar(None, "null", key.where, "plain")))
    over = reader.expr(part_of(key, match.start(2), match.end(2)))
    return Step(over, loop=Word(match[1], key.at(match.start(1))), body=_steps(reader, body))


def part_of(scalar: Scalar, start: int, end: int | None = None) -> Scalar:
    """Give a piece of a scalar as a scalar that still knows where its characters stand."""
    text = scalar.text[start:end]
    place = scalar.at(start)
    spots = [Spot(0, place.line, place.column)]
    spots += [Spot(spot.index - start, spot.line, spot.column) for spot in scalar.spots if spot.index > start]
    return Scalar(text, text, place, "plain", tuple(spots))
