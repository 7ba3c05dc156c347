"""Tree → rows: the steps of a scenario, how its parameters are enumerated or drawn, and what a group shares."""

from __future__ import annotations

import re
from typing import Literal, cast

from statemachines.diagnostics import SpecError, Where
from statemachines.lifecycle import Claim, Drawn, Expr, Level, Row, RowGroup, RowStep, Word
from statemachines.surface.files import no_such_rows
from statemachines.surface.reader import Reader, part_of
from statemachines.surface.types import type_use
from statemachines.yaml import Mapping, Node, Scalar, Sequence, Spot

_BINDING = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*")
_LOOP = re.compile(r"\s*for each\s+([A-Za-z_]\w*)\s+in\s+(.+?)\s*", re.DOTALL)
UNGROUPED = RowGroup()


def matrix(reader: Reader, node: Node | None) -> dict[str, Row]:
    """Read every row, in the order of the groups."""
    if not isinstance(node, Sequence):
        return {name.text: row(reader, name, body) for name, body in reader.entries(node)}
    found: dict[str, Row] = {}
    for item in node.items:
        group, rows = _group(reader, item)
        for name, body in reader.entries(rows):
            if name.text in found:
                message = f"there is another row {name.text}, at {found[name.text].id.where}"
                hint = "give it a name that no row has"
                reader.fault("duplicate-row", name.where, message, hint)
            found.setdefault(name.text, row(reader, name, body, group))
    return found


def _group(reader: Reader, node: Node) -> tuple[RowGroup, Node | None]:
    """Read what the rows of a group share; give it and the rows, none if the file that it names is not there."""
    if isinstance(node, Scalar):
        reader.faults.append(no_such_rows(node))
        return UNGROUPED, None
    body = cast(Mapping, node)
    shared = RowGroup(
        reader.text(body.get("title")),
        reader.text(body.get("level")),
        reader.exprs(body.get("needs")),
        _steps(reader, body.get("arrange")),
    )
    return shared, body.get("rows")


def row(reader: Reader, name: Word, body: Mapping, group: RowGroup = UNGROUPED) -> Row:
    """Read one row of the matrix, with what all of its group share."""
    level = cast(Level, reader.text(body.get("level")) or group.level)
    derived = body.get("derived")
    if derived is not None and reader.true(derived) and level == "must":
        message, hint = (
            f"{name.text} is a must, and derived",
            "what the source does not state is recommended: level should",
        )
        reader.fault("derived-must", derived.where, message, hint)
    return Row(
        id=name,
        group=group,
        about=reader.text(body.get("about")),
        level=level,
        source=reader.text(body.get("source")),
        covers=reader.words(body.get("covers")),
        needs=group.needs + reader.exprs(body.get("needs")),
        each=tuple((key, type_use(reader, value)) for key, value in reader.entries(body.get("each"))),
        drawn=tuple(_drawn(reader, key, value) for key, value in reader.entries(body.get("any"))),
        arrange=group.arrange + _steps(reader, body.get("arrange")),
        act=_steps(reader, body.get("act")),
        asserts=_claims(reader, body.get("assert")),
        open=reader.exprs(body.get("open")),
        derived=reader.true(derived),
    )


def _drawn(reader: Reader, name: Word, body: Mapping) -> Drawn:
    written = body.get("witness")
    witness: Expr | Literal["reversed"] | None = reader.expr_or_none(written)
    if isinstance(written, Scalar) and written.text == "reversed":
        witness = "reversed"
    count, low, high = body.get("permutation of"), body.get("from"), body.get("to")
    if count is not None:
        return Drawn(name, "permutation", high=reader.expr(count), witness=witness, where=body.where)
    if low is not None and high is not None:
        return Drawn(name, "range", reader.expr(low), reader.expr(high), witness=witness, where=body.where)
    return Drawn(name, "type", type=type_use(reader, body.get("type")), witness=witness, where=body.where)


def _claims(reader: Reader, node: Node | None) -> tuple[Claim, ...]:
    """Read what a row asserts: expressions, and those that stand below `when CONDITION:`."""
    if not isinstance(node, Sequence):
        return tuple(Claim(expr) for expr in reader.exprs(node))
    found: list[Claim] = []
    for item in node.items:
        if not isinstance(item, Mapping):
            found.append(Claim(reader.expr(item)))
            continue
        for key, body in item.entries:
            when = reader.expr(part_of(key, len("when ")))
            found += [Claim(expr, when) for expr in reader.exprs(body)]
    return tuple(found)


def _steps(reader: Reader, node: Node | None) -> tuple[RowStep, ...]:
    items = cast(Sequence, node).items if node is not None else ()
    return tuple(step for item in items for step in _step(reader, item))


def _step(reader: Reader, node: Node) -> tuple[RowStep, ...]:
    """Read one step; a mapping is `for each x in xs:` with the steps of its body."""
    if isinstance(node, Mapping):
        return tuple(_loop(reader, key, value) for key, value in node.entries)
    scalar = cast(Scalar, node)
    match = _BINDING.match(scalar.text)
    if match is None:
        return (RowStep(reader.expr(scalar)),)
    name = Word(match[1], scalar.at(match.start(1)))
    return (RowStep(reader.expr(part_of(scalar, match.end())), binding=name),)


def step_of(text: str, file: str) -> RowStep:
    """Return a step of a row that somebody has typed: a call, or `name = call(…)`. Raises SpecError."""
    reader = Reader()
    (step,) = _step(reader, Scalar(None, text, Where(file, 1, 1), "plain", (Spot(0, 1, 1),)))
    if reader.faults:
        raise SpecError(reader.faults)
    return step


def _loop(reader: Reader, key: Scalar, body: Node) -> RowStep:
    match = _LOOP.fullmatch(key.text)
    if match is None:
        message = f"{key.text!r} is not a step"
        reader.fault("bad-step", key.at(0), message, "write a call, name = call(…), or for each x in xs:")
        return RowStep(reader.expr(Scalar(None, "null", key.where, "plain")))
    over = reader.expr(part_of(key, match.start(2), match.end(2)))
    return RowStep(over, loop=Word(match[1], key.at(match.start(1))), body=_steps(reader, body))
