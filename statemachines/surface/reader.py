"""The small parts that all sections of a spec are made of: names, texts, expressions, mappings of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from statemachines.diagnostics import Diagnostic, Where
from statemachines.expression import ExpressionError, ListOf, Literal, parse
from statemachines.lifecycle import Expr, Word
from statemachines.yaml import Mapping, Node, Scalar, Sequence, Spot


class Reader:
    """Reads the parts of one tree and gathers every fault.

    The structure is known to be right, so a node is taken for what it has to be.
    """

    def __init__(self) -> None:
        self.faults: list[Diagnostic] = []

    def fault(self, code: str, where: Where, message: str, hint: str) -> None:
        """Add a fault."""
        self.faults.append(Diagnostic(code, where, message, hint))

    # ── Names, texts and numbers ──

    def word(self, node: Node | None) -> Word:
        """Read a name."""
        scalar = cast(Scalar, node)
        return Word(scalar.text, scalar.where)

    def word_or_none(self, node: Node | None) -> Word | None:
        """Read a name that may be left out."""
        return None if node is None else self.word(node)

    def words(self, node: Node | None) -> tuple[Word, ...]:
        """Read a name or a list of names."""
        return tuple(self.word(item) for item in _items(node))

    def text(self, node: Node | None) -> str:
        """Read a text for people."""
        return cast(Scalar, node).text if node is not None else ""

    def number(self, node: Node | None) -> int:
        """Read a whole number; 0 where it is left out."""
        return cast(int, cast(Scalar, node).value) if node is not None else 0

    def true(self, node: Node | None) -> bool:
        """Read whether something is so."""
        return isinstance(node, Scalar) and node.value is True

    def entries(self, node: Node | None) -> Iterator[tuple[Word, Any]]:
        """Walk a mapping; of each value whoever reads it says what kind of node it has to be."""
        for key, value in cast(Mapping, node).entries if node is not None else ():
            yield Word(key.text, key.where), value

    # ── Expressions ──

    def expr(self, node: Node | None) -> Expr:
        """Read an expression, or a YAML list of them as one list; a faulty one is told, and read as null."""
        if isinstance(node, Sequence):
            items = [self.expr(item) for item in node.items]
            text = f"[{', '.join(item.text for item in items)}]"
            whole = ListOf(0, tuple(item.node for item in items))
            return Expr(Scalar(None, text, node.where, "plain"), whole)
        scalar = cast(Scalar, node)
        try:
            return Expr(scalar, parse(scalar.text))
        except ExpressionError as error:
            self.fault(error.code, scalar.at(error.at), error.message, error.hint)
            return Expr(scalar, Literal(0, None))

    def expr_or_none(self, node: Node | None) -> Expr | None:
        """Read an expression that may be left out."""
        return None if node is None else self.expr(node)

    def exprs(self, node: Node | None) -> tuple[Expr, ...]:
        """Read an expression or a list of them."""
        return tuple(self.expr(item) for item in _items(node))

    def pairs(self, node: Node | None) -> tuple[tuple[Word, Expr], ...]:
        """Read a mapping from names to expressions."""
        return tuple((name, self.expr(value)) for name, value in self.entries(node))


def _items(node: Node | None) -> tuple[Node, ...]:
    """Return the items of a list, or the one value that stands for a list of one."""
    if node is None:
        return ()
    return node.items if isinstance(node, Sequence) else (node,)


def part_of(scalar: Scalar, start: int, end: int | None = None) -> Scalar:
    """Return a piece of a scalar as a scalar that still knows where its characters stand."""
    text = scalar.text[start:end]
    place = scalar.at(start)
    spots = [Spot(0, place.line, place.column)]
    spots += [Spot(spot.index - start, spot.line, spot.column) for spot in scalar.spots if spot.index > start]
    return Scalar(text, text, place, "plain", tuple(spots))
