"""Macros, whose arguments are typed one after the other: a body for every item, a value by a condition."""

from __future__ import annotations

from statemachines.expression.facts import facts
from statemachines.expression.scope import Checker, Scope
from statemachines.expression.syntax import Call, Name, Node
from statemachines.expression.typed import Apply, Each, Typed, Var
from statemachines.types import BOOL, UNKNOWN, List, Type, Unknown, join, underlying

MACROS = ("all", "exists", "exists_one", "filter", "map", "sortBy")


def macro(checker: Checker, node: Call, receiver: Node, scope: Scope) -> Typed:
    """Type `list.macro(name, body)`."""
    over = checker.visit(receiver, scope)
    kind = underlying(over.type)
    if isinstance(kind, Unknown):
        return over
    if not isinstance(kind, List):
        message = f"{over.type} is not a list"
        return checker.fault("expression-type", node.at, message, f"{node.name} works on lists")
    match node.arguments:
        case (Name(at=at, name=name), written):
            pass
        case _:
            message = f"{node.name} takes a name and an expression"
            return checker.fault("expression-type", node.at, message, f"jobs.{node.name}(j, …)")
    if name in scope.names:
        message = f"{name!r} already means something here"
        return checker.fault("shadowed-name", at, message, "choose another name")
    inner = scope.with_names({name: Var(kind.item, at, name, name)})
    if node.name in ("map", "sortBy"):
        body = checker.visit(written, inner)
    else:
        body = checker.expect(written, inner, BOOL)
    over, body = scope.words.narrowed(node.name, over, name, body)
    return Each(_result(node.name, kind, body.type), node.at, node.name, over, name, body)


def _result(name: str, kind: List, body: Type) -> Type:
    match name:
        case "map":
            return List(body)
        case "filter" | "sortBy":
            return List(kind.item)
        case _:
            return BOOL


def pick(checker: Checker, node: Call, scope: Scope, expected: Type) -> Typed:
    """Type `pick(condition, then, otherwise)`: each value knows what the condition has settled for it."""
    if len(node.arguments) != 3:
        message = "pick takes a condition and two values"
        return checker.fault("expression-type", node.at, message, "pick(condition, then, otherwise)")
    guard, then, other = node.arguments
    condition = checker.expect(guard, scope, BOOL)
    first = checker.visit(then, scope.with_present(facts(guard, True)), expected)
    wanted = expected if expected != UNKNOWN else first.type
    second = checker.visit(other, scope.with_present(facts(guard, False)), wanted)
    kind = join(first.type, second.type)
    if kind is None:
        message = f"pick gives {first.type} or {second.type}"
        return checker.fault("expression-type", node.at, message, "both values need one type")
    return Apply(kind, node.at, "pick", (condition, first, second))
