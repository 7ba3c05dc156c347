"""Where an expression stands: what its names mean there, and who gives its parts their types.

A scope knows what a condition tells about nullables: `job.ended_at != null && …` knows more on its right side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from statemachines.expression.syntax import (
    Binary,
    ExpressionError,
    Field,
    FunctionCall,
    Index,
    Literal,
    Name,
    Node,
    Unary,
)
from statemachines.expression.typed import Const, Typed
from statemachines.types import UNKNOWN, Bool, Enum, Null, Optional, Type, accepts, guarded


class Vocabulary(Protocol):
    """What a lifecycle means by its words: fields, constants and named expressions."""

    def field(self, of: Typed, name: str, at: int) -> Typed | None:
        """Read a field of a record, a message or a plain value; None when there is none."""

    def fields(self, kind: Type) -> Iterable[str]:
        """List the fields that a value of this type has, for hints."""

    def constant(self, name: str, expected: Type, at: int) -> Typed | None:
        """Return the state, group, enum member or policy choice of this name, or None.

        With an expected type only that type's words are meant; without one the word has to be
        unambiguous, or ExpressionError is raised.
        """

    def constants(self) -> Iterable[str]:
        """List every such word, for hints."""

    def called(self, checker: Checker, node: FunctionCall, scope: Scope) -> Typed | None:
        """Return the use of what the lifecycle itself names: a named expression, an operation; or None."""

    def callables(self) -> Iterable[str]:
        """List what can be called by name, for hints."""

    def narrowed(self, macro: str, over: Typed, variable: str, body: Typed) -> tuple[Typed, Typed]:
        """Return the same records and condition, looking records up by their key where that is possible."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean where an expression stands, and which nullables are known to hold a value."""

    words: Vocabulary
    names: Mapping[str, Typed] = field(default_factory=dict)
    present: frozenset[str] = frozenset()

    def with_names(self, names: Mapping[str, Typed]) -> Scope:
        """Return this scope with more names."""
        return replace(self, names={**self.names, **names})

    def with_present(self, paths: Iterable[str]) -> Scope:
        """Return this scope, knowing that these nullables hold a value."""
        return replace(self, present=self.present | frozenset(paths))


class Checker:
    """Types one expression and gathers its faults.

    `typing` types a node by its kind. It is handed in, as it knows the operators and functions, which in
    turn hand their parts back to the checker.
    """

    def __init__(self, typing: Callable[[Checker, Node, Scope, Type], Typed]) -> None:
        self.faults: list[ExpressionError] = []
        self._typing = typing

    def fault(self, code: str, at: int, message: str, hint: str) -> Typed:
        """Add a fault, and give a value that fits everything, so that it is told once."""
        self.faults.append(ExpressionError(code, at, message, hint))
        return Const(UNKNOWN, at, None)

    def mistyped(self, at: int, message: str, hint: str) -> Typed:
        """Add the fault that the types of some values do not fit."""
        return self.fault("expression-type", at, message, hint)

    def visit(self, node: Node, scope: Scope, expected: Type = UNKNOWN) -> Typed:
        """Type a part; a bare word in it takes the type that is expected."""
        try:
            value = self._typing(self, node, scope, expected)
        except ExpressionError as error:
            return self.fault(error.code, error.at, error.message, error.hint)
        path = path_of(node)
        return replace(value, type=guarded(value.type)) if path and path in scope.present else value

    def expect(self, node: Node, scope: Scope, kind: Type) -> Typed:
        """Type a part that has to be of one kind."""
        value = self.visit(node, scope, kind)
        fits = accepts(kind, value.type)
        if isinstance(value.type, Optional) and not isinstance(kind, Optional):
            fits = False
        if isinstance(value.type, Null) and isinstance(kind, Bool):
            fits = False
        if not fits:
            self.mistyped(value.at, f"{kind} is expected here, and this is {value.type}", _hint(kind, value.type))
        return value


def _hint(wanted: Type, given: Type) -> str:
    if isinstance(given, Optional):
        return "it may be null: guard it first with != null &&, or if … == null then '' else …"
    if isinstance(wanted, Bool):
        return "write a condition, such as a comparison"
    if isinstance(wanted, Enum):
        return f"one of {', '.join(wanted.members)}"
    return "the types have to agree"


def facts(node: Node, truth: bool) -> frozenset[str]:
    """Return the nullables that surely hold a value once `node` is known to be true, or false."""
    match node:
        case Unary(operator="!", operand=operand):
            return facts(operand, not truth)
        case Binary(operator="&&", left=left, right=right) if truth:
            return facts(left, True) | facts(right, True)
        case Binary(operator="||", left=left, right=right) if not truth:
            return facts(left, False) | facts(right, False)
        case Binary(operator="!=" | "==") if (node.operator == "!=") is truth:
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(other, Literal) and other.value is None and (path := path_of(one)):
                    return frozenset((path,))
    return frozenset()


def path_of(node: Node) -> str:
    """Write a name or a chain of fields as one text, or give '' for anything else."""
    match node:
        case Name(name=name):
            return name
        case Field(of=of, name=name) if inner := path_of(of):
            return f"{inner}.{name}"
        case Index(of=of, index=Literal(value=int(index))) if inner := path_of(of):
            return f"{inner}[{index}]"
    return ""
