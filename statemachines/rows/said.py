"""All that a row says: the nodes of the expressions in its steps, and in what it asserts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from statemachines.expression import Node, nodes
from statemachines.lifecycle import Row, RowStep


def said_in(row: Row) -> Iterator[Node]:
    """Walk all that a row says, in its steps and in what it asserts."""
    for each in (*said_in_steps((*row.arrange, *row.act)), *(claim.expr.node for claim in row.asserts)):
        yield from nodes(each)


def said_in_steps(steps: Iterable[RowStep]) -> Iterator[Node]:
    """Walk what each of some steps says, as one node, those within it too."""
    for step in steps:
        yield step.expr.node
        yield from said_in_steps(step.body)
