"""The syntax tree of an expression. Every node knows the offset in the text where it begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeVar

Part = TypeVar("Part")


class ExpressionError(Exception):
    """An expression that cannot be read or has no meaning; `at` is an offset into its text."""

    def __init__(self, code: str, at: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.code = code
        self.at = at
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Node:
    """The common base: `at` is the offset of the token that names the node."""

    at: int


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """`null`, `true`, `12` or `'text'`."""

    value: str | int | bool | None


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name that stands alone."""

    name: str


@dataclass(frozen=True, slots=True)
class Field(Node):
    """`of.name`."""

    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`of[index]`."""

    of: Node
    index: Node


@dataclass(frozen=True, slots=True)
class FunctionCall(Node):
    """`name(arguments)`, or `receiver.name(arguments)`."""

    name: str
    receiver: Node | None
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    """`[a, b]`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`!operand` or `-operand`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`left operator right`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`if condition then value else otherwise`."""

    condition: Node
    value: Node
    otherwise: Node


def held(value: Any, kind: type[Part]) -> Iterator[Part]:
    """Walk the values of a kind that a node's fields hold, or tuples in them, in order."""
    for each in value if isinstance(value, tuple) else [getattr(value, field.name) for field in fields(value)]:
        if isinstance(each, kind):
            yield each
        elif isinstance(each, tuple):
            yield from held(each, kind)


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of a node, in the order they are written."""
    return tuple(held(node, Node))


def nodes(node: Node) -> Iterator[Node]:
    """Walk a tree: a node, and all below it in the order they are written."""
    yield node
    for child in children(node):
        yield from nodes(child)
