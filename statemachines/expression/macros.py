"""Macros, whose arguments are typed one after the other: a body for every item of a list."""

from __future__ import annotations

from statemachines.expression.scope import Checker, Scope
from statemachines.expression.syntax import FunctionCall, Name, Node
from statemachines.expression.typed import Apply, Each, Typed, Var, local_name
from statemachines.types import (
    BOOL,
    UNKNOWN,
    Bool,
    Enum,
    Id,
    Int,
    List,
    Optional,
    Text,
    Time,
    Type,
    Unknown,
    replied,
)

MACROS = ("all", "exists", "filter", "map", "sortBy")


def macro(checker: Checker, node: FunctionCall, receiver: Node, scope: Scope) -> Typed:
    """Type `list.macro(name, body)`."""
    over = checker.visit(receiver, scope)
    kind = replied(over.type)
    if isinstance(kind, Unknown):
        _unknown_items(checker, node, scope)
        return over
    if isinstance(kind, Optional):
        message = f"this may be null, and null has no {node.name}()"
        return checker.fault("field-of-null", node.at, message, "guard it first with != null &&")
    if not isinstance(kind, List):
        message = f"{over.type} is not a list"
        return checker.fault("expression-type", node.at, message, f"{node.name} works on lists")
    match node.arguments:
        case (Name(at=at, name=name), written):
            pass
        case _:
            message = f"{node.name} takes a name and an expression"
            return checker.fault("expression-type", node.at, message, f"jobs.{node.name}(j, …)")
    if name in scope.names or name in set(scope.words.constants()):
        message = f"{name!r} already means something here"
        return checker.fault("shadowed-name", at, message, "choose another name")
    inner = scope.with_names({name: Var(kind.item, at, name, local_name(name))})
    body = _body(checker, node.name, written, inner)
    over, body = scope.words.narrowed(node.name, over, name, body)
    return Each(_result(node.name, kind, body.type), node.at, node.name, over, name, body)


def _unknown_items(checker: Checker, node: FunctionCall, scope: Scope) -> None:
    """Type a body whose list is faulty: its own faults are told as well."""
    match node.arguments:
        case (Name(at=at, name=name), written):
            checker.visit(written, scope.with_names({name: Var(UNKNOWN, at, name, local_name(name))}))


def _body(checker: Checker, name: str, written: Node, scope: Scope) -> Typed:
    match name:
        case "map":
            return checker.visit(written, scope)
        case "sortBy":
            return _key(checker, written, scope)
        case _:
            return checker.expect(written, scope, BOOL)


def _key(checker: Checker, written: Node, scope: Scope) -> Typed:
    """Type what a list is sorted by, which needs an order."""
    key = checker.visit(written, scope)
    kind = replied(key.type)
    if isinstance(kind, Optional):
        message = "this may be null, and null has no order"
        checker.fault("field-of-null", key.at, message, "guard it first: if … != null then … else …")
    elif not _has_order(kind):
        message = f"{kind} has no order"
        checker.fault("expression-type", key.at, message, "sort by numbers, times, texts or lists of them")
    return key


def _has_order(kind: Type) -> bool:
    if isinstance(kind, List):
        return _has_order(kind.item)
    return isinstance(kind, Int | Time | Text | Id | Bool | Enum | Unknown)


def _result(name: str, kind: List, body: Type) -> Type:
    match name:
        case "map":
            return List(replied(body))
        case "filter" | "sortBy":
            return List(kind.item)
        case _:
            return BOOL


def such_as(checker: Checker, node: FunctionCall, scope: Scope, expected: Type) -> Typed:
    """Type `such_as(value)`: an example of what the implementation may choose."""
    if len(node.arguments) != 1:
        message = "such_as takes one value"
        return checker.fault("expression-type", node.at, message, "such_as(an example)")
    example = checker.visit(node.arguments[0], scope, expected)
    return Apply(example.type, node.at, "such_as", (example,))
