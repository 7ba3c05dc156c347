"""Tree → operations, and the steps that an implementation takes on its own."""

from __future__ import annotations

from typing import cast

from statemachines.lifecycle import Gives, OperationSpec, SendingSpec, SpontaneousSpec, Word
from statemachines.surface.effects import assignments, creations, effects, loops, moves, otherwise, signals
from statemachines.surface.reader import Reader
from statemachines.surface.types import uses
from statemachines.yaml import Mapping, Node, Scalar, Sequence


def operation(reader: Reader, name: Word, node: Node) -> OperationSpec:
    """Read one entry of `operations`."""
    body = cast(Mapping, node)
    optional, loses, copy = body.key("optional"), body.key("may lose"), body.key("copy")
    sends = reader.pairs(body.get("sends"))
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
        moves=moves(reader, body.get("move")),
        is_table=isinstance(body.get("move"), Mapping),
        assignments=assignments(reader, body.get("set")),
        creations=creations(reader, body.get("create")),
        removes=reader.words(body.get("remove")),
        loops=loops(reader, body.get("for each")),
        reads=reader.pairs(body.get("reads")),
        waits=reader.expr_or_none(body.get("waits")),
        sends=tuple(SendingSpec(key, expr) for key, expr in sends),
        signals=signals(reader, body),
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


def own_step(reader: Reader, name: Word, node: Node) -> SpontaneousSpec:
    """Read one entry of `on its own`."""
    body = cast(Mapping, node)
    records = reader.entries(body.get("for each"))
    return SpontaneousSpec(
        name,
        loops=tuple((variable, reader.word(entity)) for variable, entity in records),
        when=reader.expr(body.get("when")),
        must=reader.expr_or_none(body.get("must")),
        does=reader.expr_or_none(body.get("does")),
        effects=effects(reader, body),
    )
