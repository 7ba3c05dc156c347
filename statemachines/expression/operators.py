"""The types of operators: which values can be compared, ordered, joined, calculated with and chosen from."""

from __future__ import annotations

from statemachines.expression.scope import Checker, Scope, facts
from statemachines.expression.syntax import Binary, Conditional, ListOf, Name, Node, Unary
from statemachines.expression.typed import Choose, Operate, Typed
from statemachines.types import (
    BOOL,
    INT,
    TEXT,
    TIME,
    UNKNOWN,
    Int,
    List,
    Optional,
    Text,
    Time,
    Type,
    Unknown,
    comparable,
    join,
    replied,
    underlying,
)

_ORDER = ("<", "<=", ">", ">=")


def unary(checker: Checker, node: Unary, scope: Scope) -> Typed:
    """Type `!condition` or `-number`."""
    if node.operator == "!":
        return Operate(BOOL, node.at, "!", None, checker.expect(node.operand, scope, BOOL))
    operand = checker.expect(node.operand, scope, INT)
    return Operate(replied(operand.type), node.at, node.operator, None, operand)


def binary(checker: Checker, node: Binary, scope: Scope) -> Typed:
    """Type an operator between two values."""
    match node.operator:
        case "&&" | "||":
            return _logic(checker, node, scope)
        case "==" | "!=":
            return _equality(checker, node, scope)
        case "in":
            return _membership(checker, node, scope)
    left, right = checker.visit(node.left, scope), checker.visit(node.right, scope)
    if node.operator in _ORDER:
        _ordered(checker, node, left, right)
        return Operate(BOOL, node.at, node.operator, left, right)
    return _arithmetic(checker, node, left, right)


def conditional(checker: Checker, node: Conditional, scope: Scope, expected: Type) -> Typed:
    """Type `if condition then value else otherwise`: each value knows what the condition has settled for it."""
    condition = checker.expect(node.condition, scope, BOOL)
    first = checker.visit(node.value, scope.with_present(facts(node.condition, True)), expected)
    wanted = expected if expected != UNKNOWN else first.type
    second = checker.visit(node.otherwise, scope.with_present(facts(node.condition, False)), wanted)
    kind = join(replied(first.type), replied(second.type))
    if kind is None:
        return checker.mistyped(node.at, f"this gives {first.type} or {second.type}", "both values need one type")
    return Choose(kind, node.at, condition, first, second)


def _logic(checker: Checker, node: Binary, scope: Scope) -> Typed:
    """Type `&&` or `||`: the right side knows what the left one has settled."""
    left = checker.expect(node.left, scope, BOOL)
    known = scope.with_present(facts(node.left, node.operator == "&&"))
    return Operate(BOOL, node.at, node.operator, left, checker.expect(node.right, known, BOOL))


def _equality(checker: Checker, node: Binary, scope: Scope) -> Typed:
    left, right = _pair(checker, node.left, node.right, scope)
    if not comparable(left.type, right.type):
        hint = "compare values of one type; only what may be null can be compared with null"
        checker.mistyped(node.at, f"{left.type} and {right.type} are never equal", hint)
    return Operate(BOOL, node.at, node.operator, left, right)


def _pair(checker: Checker, first: Node, second: Node, scope: Scope) -> tuple[Typed, Typed]:
    """Type two sides that are compared: a bare word takes the type of the other side."""
    bare = isinstance(first, Name) and first.name not in scope.names
    if bare or (isinstance(first, Name | ListOf) and not isinstance(second, Name | ListOf)):
        right = checker.visit(second, scope)
        return checker.visit(first, scope, underlying(right.type)), right
    left = checker.visit(first, scope)
    return left, checker.visit(second, scope, underlying(left.type))


def _membership(checker: Checker, node: Binary, scope: Scope) -> Typed:
    left = checker.visit(node.left, scope)
    right = checker.visit(node.right, scope, List(underlying(left.type)))
    kind = replied(right.type)
    if isinstance(kind, Optional) and isinstance(kind.item, List):
        message = "this may be null, and null holds nothing"
        checker.fault("field-of-null", right.at, message, "guard it first: … != null && …")
    elif isinstance(kind, List) and not comparable(kind.item, left.type):
        checker.mistyped(node.at, f"{left.type} is never in a {kind}", "compare values of one type")
    elif not isinstance(kind, List | Unknown):
        checker.mistyped(right.at, f"{right.type} is not a list", "`in` asks whether a list holds a value")
    return Operate(BOOL, node.at, "in", left, right)


def _ordered(checker: Checker, node: Binary, left: Typed, right: Typed) -> None:
    """Tell when two values have no order."""
    for side in (left, right):
        if isinstance(replied(side.type), Optional):
            message = "this may be null, and null has no order"
            checker.fault("field-of-null", side.at, message, "guard it first: … != null && …")
            return
    both: tuple[Type, Type] = (replied(left.type), replied(right.type))
    if any(isinstance(kind, Unknown) for kind in both) or all(isinstance(kind, Int | Time) for kind in both):
        return
    if not (all(isinstance(kind, Text) for kind in both) and comparable(*both)):
        checker.mistyped(node.at, f"{left.type} and {right.type} have no common order", "order numbers, times or texts")


def _arithmetic(checker: Checker, node: Binary, left: Typed, right: Typed) -> Typed:
    kind = join(replied(left.type), replied(right.type))
    joins = node.operator == "+" and isinstance(kind, List | Text)
    if kind is None or not (joins or isinstance(kind, Int | Time | Unknown)):
        message = f"{node.operator} does not work on {left.type} and {right.type}"
        return checker.mistyped(node.at, message, "numbers can be calculated with; + also joins lists and texts")
    if isinstance(kind, Int) and TIME in (left.type, right.type):
        kind = TIME
    if isinstance(kind, Text):
        kind = TEXT
    return Operate(kind, node.at, node.operator, left, right)
