"""Random expressions that are typed by construction, over the variables of `vocabulary`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from statemachines.expression.parser import MAX_CONDITIONALS
from statemachines.expression.syntax import (
    Binary,
    Conditional,
    Field,
    FunctionCall,
    Index,
    ListOf,
    Literal,
    Name,
    Node,
    Unary,
)
from statemachines.types import BOOL, INT, TEXT, List, Optional, Type
from tests.statemachines.expression.vocabulary import RECORD, VARIABLES

INTS, TEXTS, LISTS, ROWS = List(INT), List(TEXT), List(List(INT)), List(RECORD)
KINDS: tuple[Type, ...] = (BOOL, INT, TEXT, INTS, TEXTS, LISTS, RECORD, ROWS)
SAMPLES = (
    "",
    "a",
    "abc",
    "bc",
    "z",
    "é",
    "€",
    "😀",
    "a\nb",
    " a ",
    "it's",
    '"',
    "\\",
    "\t",
    "12",
    "-3",
    "x1",
)
FRESH = ("x", "y", "z", "w", "v")

Make = Callable[[int], Node]


def call(name: str, receiver: Node | None, *arguments: Node) -> Node:
    return FunctionCall(0, name, receiver, arguments)


class Expressions:
    """Draws expressions of a wanted type and depth.

    `listed` adds the functions that CEL does not have. Draw once: an expression has one null guard at most.
    """

    def __init__(self, random: Random, *, listed: bool) -> None:
        self.random = random
        self.listed = listed
        self.guarded = False
        self.conditionals = 0
        self.scope: dict[str, Type] = {name: kind for name, kind in VARIABLES.items() if not isinstance(kind, Optional)}

    def draw(self, kind: Type, depth: int) -> Node:
        """Draw one expression."""
        if depth <= 0:
            return self._leaf(kind)
        ways = [lambda depth: self._leaf(kind), *self._shared(kind), *self._own(kind)]
        return self.random.choice(ways)(depth - 1)

    def _own(self, kind: Type) -> list[Make]:
        if kind == BOOL:
            return self._bools()
        if kind == INT:
            return self._ints()
        if kind == TEXT:
            return self._texts()
        return self._lists_of(kind) if isinstance(kind, List) else []

    # ── What every type has ──

    def _leaf(self, kind: Type) -> Node:
        names = [name for name, found in self.scope.items() if found == kind]
        if names and (self.random.random() < 0.7 or kind == RECORD):
            return Name(0, self.random.choice(names))
        if kind == BOOL:
            return Literal(0, self.random.random() < 0.5)
        if kind == INT:
            return Literal(0, self.random.choice((-3, -1, 0, 1, 2, 3, 5, 10)))
        if kind == TEXT:
            return Literal(0, self.random.choice(SAMPLES))
        assert isinstance(kind, List)
        return ListOf(0, tuple(self._leaf(kind.item) for _ in range(self.random.choice((0, 1, 2, 3)))))

    def _shared(self, kind: Type) -> list[Make]:
        ways: list[Make] = []
        if kind in (INT, TEXT, INTS, RECORD):  # an item of a list
            ways.append(lambda depth: Index(0, self.draw(List(kind), depth), self._position(depth)))
        ways += [partial(self._field, name) for name, found in RECORD.fields if found == kind]
        return [*ways, partial(self._chosen, kind)]

    def _chosen(self, kind: Type, depth: int) -> Node:
        """Choose by a condition; no more conditionals in each other than can be read."""
        if self.conditionals == MAX_CONDITIONALS:
            return self._leaf(kind)
        self.conditionals += 1
        node = Conditional(0, self.draw(BOOL, depth), self.draw(kind, depth), self.draw(kind, depth))
        self.conditionals -= 1
        return node

    def _field(self, name: str, depth: int) -> Node:
        return Field(0, self.draw(RECORD, depth), name)

    def _of_one(self, name: str, kind: Type, depth: int) -> Node:
        return call(name, self.draw(kind, depth))

    def _of_two_texts(self, name: str, depth: int) -> Node:
        return call(name, self.draw(TEXT, depth), self.draw(TEXT, depth))

    def _position(self, depth: int) -> Node:
        """A position that is rarely outside."""
        if self.random.random() < 0.8:
            return Literal(0, self.random.choice((0, 0, 0, 0, 1, 1, 2)))
        return self.draw(INT, depth)

    def _over(self, macro: str, over: Type, body: Type, depth: int) -> Node:
        """Draw a list and something to do with each of its items."""
        values = self.draw(over, depth)
        name = next((name for name in FRESH if name not in self.scope), None)
        if name is None or not isinstance(over, List):
            return self._leaf(BOOL)
        self.scope[name] = over.item
        inner = self.draw(body, depth)
        del self.scope[name]
        return call(macro, values, Name(0, name), inner)

    # ── Truth ──

    def _bools(self) -> list[Make]:
        ways: list[Make] = [
            lambda depth: Unary(0, "!", self.draw(BOOL, depth)),
            lambda depth: self._binary(("&&", "||"), BOOL, depth),
            lambda depth: self._binary(("&&", "||"), BOOL, depth),
            lambda depth: self._binary(("==", "!="), self._any(), depth),
            lambda depth: self._binary(("<", "<=", ">", ">="), self.random.choice((INT, INT, TEXT)), depth),
            self._membership,
            self._quantified,
            self._guarded,
        ]
        ways += [partial(self._of_two_texts, name) for name in ("contains", "startsWith")]
        if self.listed:
            ways += [
                self._same_items,
                self._contains,
                lambda depth: Field(0, self._document(depth), "inline"),
                lambda depth: Binary(0, "==", self._document(depth), self._document(depth)),
            ]
        return ways

    def _any(self) -> Type:
        return self.random.choice(KINDS)

    def _membership(self, depth: int) -> Node:
        kind = self.random.choice((INT, INT, TEXT, INTS, RECORD))
        return Binary(0, "in", self.draw(kind, depth), self.draw(List(kind), depth))

    def _contains(self, depth: int) -> Node:
        kind = self.random.choice((INT, TEXT, INTS, RECORD))
        return call("contains", self.draw(List(kind), depth), self.draw(kind, depth))

    def _same_items(self, depth: int) -> Node:
        kind = self.random.choice((INTS, INTS, TEXTS, LISTS, ROWS))
        left = self.draw(kind, depth)
        right = call("reversed", left) if self.random.random() < 0.3 else self.draw(kind, depth)
        return call("sameItems", left, right)

    def _quantified(self, depth: int) -> Node:
        macro = self.random.choice(("all", "exists"))
        return self._over(macro, self.random.choice((INTS, INTS, TEXTS, LISTS, ROWS)), BOOL, depth)

    def _guarded(self, depth: int) -> Node:
        """Use the nullable where it is known to hold a value."""
        if self.guarded:  # a second guard would be refused where the first has already told
            return self._leaf(BOOL)
        self.guarded = True
        name = Name(0, "m")
        kept = self.scope
        self.scope = {**kept, "m": INT}
        used = self.draw(BOOL, depth)
        self.scope = kept
        if self.random.random() < 0.5:
            return Binary(0, "&&", Binary(0, "!=", name, Literal(0, None)), used)
        return Binary(0, "||", Binary(0, "==", name, Literal(0, None)), used)

    def _binary(self, operators: tuple[str, ...], kind: Type, depth: int) -> Node:
        return Binary(0, self.random.choice(operators), self.draw(kind, depth), self.draw(kind, depth))

    # ── Numbers and texts ──

    def _ints(self) -> list[Make]:
        ways: list[Make] = [
            self._minus,
            lambda depth: self._binary(("+", "-", "*"), INT, depth),
            lambda depth: self._binary(("+", "-", "*"), INT, depth),
            self._divided,
            lambda depth: call("size", self.draw(TEXT, depth)),
            lambda depth: call("size", self.draw(self._list(), depth)),
        ]
        if self.listed:
            ways += [partial(self._of_one, name, INTS) for name in ("sum", "min", "max")]
        return ways

    def _minus(self, depth: int) -> Node:
        operand = self.draw(INT, depth)
        if isinstance(operand, Literal) and isinstance(operand.value, int):
            return Literal(0, -operand.value)
        return Unary(0, "-", operand)

    def _divided(self, depth: int) -> Node:
        by = self.draw(INT, depth) if self.random.random() < 0.3 else Literal(0, self.random.choice((-3, -2, 2, 3, 7)))
        return Binary(0, self.random.choice(("/", "%")), self.draw(INT, depth), by)

    def _texts(self) -> list[Make]:
        ways: list[Make] = [lambda depth: self._binary(("+",), TEXT, depth)]
        if self.listed:
            ways += [
                lambda depth: call("string", None, self.draw(INT, depth)),
                lambda depth: call("trim", self.draw(TEXT, depth)),
                lambda depth: call("join", self.draw(TEXTS, depth), self.draw(TEXT, depth)),
                lambda depth: Field(0, self._document(depth), "text"),
                lambda depth: self._sized(),
            ]
        return ways

    def _sized(self) -> Node:
        piece = Literal(0, self.random.choice(("a", "ab", "é", "😀", "€uro", "")))
        size = Literal(0, self.random.choice((-1, 0, 1, 2, 3, 4, 5, 9, 10)))
        lines = Literal(0, self.random.choice((0, 1, 1, 2, 3, 4)))
        return call("text", None, piece, size, *((lines,) if self.random.random() < 0.6 else ()))

    def _document(self, depth: int) -> Node:
        limits = [
            self.random.choice(
                (Literal(0, None), Name(0, "m"), Literal(0, self.random.randrange(6)), self.draw(INT, depth))
            )
            for _ in range(2)
        ]
        return call("document", None, self.draw(TEXT, depth), *limits)

    # ── Lists ──

    def _list(self) -> Type:
        return self.random.choice((INTS, TEXTS, LISTS, ROWS))

    def _lists_of(self, kind: Type) -> list[Make]:
        assert isinstance(kind, List)
        item = kind.item
        ways: list[Make] = [
            lambda depth: ListOf(0, tuple(self.draw(item, depth) for _ in range(self.random.randrange(4)))),
            lambda depth: self._binary(("+",), kind, depth),
            lambda depth: self._over("filter", kind, BOOL, depth),
            lambda depth: self._over("map", self._list(), item, depth),
        ]
        if self.listed:
            ways += [
                lambda depth: self._over("sortBy", kind, self.random.choice((INT, INT, TEXT, BOOL, INTS)), depth),
                lambda depth: call("distinct", self.draw(kind, depth)),
                lambda depth: call("take", self.draw(kind, depth), self._count(depth)),
                lambda depth: call("drop", self.draw(kind, depth), self._count(depth)),
                lambda depth: call("reversed", self.draw(kind, depth)),
            ]
        if self.listed and kind == INTS:
            ways += [
                lambda depth: call("flatten", self.draw(LISTS, depth)),
                lambda depth: call("range", None, Literal(0, self.random.randrange(-2, 6))),
                lambda depth: call("range", None, call("size", self.draw(self._list(), depth))),
            ]
        return ways

    def _count(self, depth: int) -> Node:
        return Literal(0, self.random.randrange(-2, 5)) if self.random.random() < 0.7 else self.draw(INT, depth)
