"""Syntax tree → typed tree: every name known, every comparison possible, no field of a null."""

from __future__ import annotations

from dataclasses import replace

from statemachines.diagnostics import did_you_mean
from statemachines.expression import functions, operators
from statemachines.expression.scope import Checker, Scope, path_of
from statemachines.expression.syntax import (
    Binary,
    Conditional,
    ExpressionError,
    Field,
    FunctionCall,
    Index,
    ListOf,
    Literal,
    Name,
    Node,
    Unary,
)
from statemachines.expression.typed import At, Const, Items, Typed
from statemachines.types import (
    BOOL,
    INT,
    NULL,
    TEXT,
    UNKNOWN,
    Enum,
    List,
    Optional,
    Several,
    Type,
    Unknown,
    accepts,
    join,
    present,
    replied,
)

_LITERALS: dict[type, Type] = {bool: BOOL, int: INT, str: TEXT, type(None): NULL}


def check(node: Node, scope: Scope, expected: Type = UNKNOWN) -> tuple[Typed, list[ExpressionError]]:
    """Type one expression against what is expected where it stands; give every fault found in it."""
    checker = Checker(_typed)
    value = checker.visit(node, scope, expected)
    if not accepts(expected, value.type):
        message = f"{expected} is expected here, and this is {value.type}"
        checker.mistyped(value.at, message, "compare or convert it, or change the declared type")
    return value, checker.faults


def _typed(checker: Checker, node: Node, scope: Scope, expected: Type) -> Typed:
    """Type a node by its kind."""
    match node:
        case Literal():
            return Const(_LITERALS[type(node.value)], node.at, node.value)
        case Name():
            return _name(checker, node, scope, expected)
        case Field():
            return _field(checker, node, scope)
        case Index():
            return _index(checker, node, scope)
        case ListOf():
            return _list(checker, node, scope, expected)
        case Unary():
            return operators.unary(checker, node, scope)
        case Binary():
            return operators.binary(checker, node, scope)
        case Conditional():
            return operators.conditional(checker, node, scope, expected)
        case FunctionCall():
            return _call(checker, node, scope, expected)
        case _:
            raise TypeError(node)


def _name(checker: Checker, node: Name, scope: Scope, expected: Type) -> Typed:
    found = scope.names.get(node.name)
    if found is not None:
        return replace(found, at=node.at)
    value = scope.words.constant(node.name, present(expected), node.at)
    if value is not None:
        return value
    hint = _name_hint(node.name, scope, present(expected))
    return checker.fault("unknown-name", node.at, f"nothing here is called {node.name!r}", hint)


def _name_hint(name: str, scope: Scope, wanted: Type) -> str:
    if isinstance(wanted, Enum):  # most likely a misspelt word of this type
        known = [*wanted.members, *scope.names]
        return did_you_mean(name, known) or f"one of {', '.join(wanted.members)}"
    known = [*scope.names, *scope.words.constants()]
    return did_you_mean(name, known) or f"known here: {', '.join(sorted(scope.names))}"


def _field(checker: Checker, node: Field, scope: Scope) -> Typed:
    whole, path = path_of(node), path_of(node.of)
    if whole in scope.names:
        return replace(scope.names[whole], at=node.at)
    if isinstance(node.of, Name) and path not in scope.names:
        space = [name.split(".", 1)[1] for name in scope.names if name.startswith(f"{path}.")]
        if space:
            hint = did_you_mean(node.name, space) or f"known: {', '.join(sorted(space))}"
            return checker.fault("unknown-name", node.at, f"{path} has no {node.name!r}", hint)
    of = checker.visit(node.of, scope)
    if isinstance(of.type, Unknown):
        return of
    if isinstance(of.type, Optional):
        return checker.fault(
            "field-of-null",
            node.at,
            f"{path or 'this value'} may be null, and null has no {node.name!r}",
            f"guard it first: {path or 'value'} != null && …, or if {path or 'value'} == null then '' else …",
        )
    value = scope.words.field(of, node.name, node.at)
    if value is not None:
        return value
    names = sorted(scope.words.fields(of.type))
    known = f"known: {', '.join(names)}" if names else "it has no fields"
    hint = did_you_mean(node.name, names) or known
    return checker.fault("unknown-field", node.at, f"{of.type} has no {node.name!r}", hint)


def _index(checker: Checker, node: Index, scope: Scope) -> Typed:
    of = checker.visit(node.of, scope)
    index = checker.expect(node.index, scope, INT)
    kind = replied(of.type)
    if isinstance(kind, Unknown):
        return of
    if not isinstance(kind, List):
        return checker.mistyped(node.at, f"{of.type} is not a list", "only lists have positions")
    if isinstance(kind, Several) and isinstance(index, Const) and isinstance(index.value, int):
        if not 0 <= index.value < len(kind.kinds):
            message = f"there is no position {index.value} in a list of {len(kind.kinds)}"
            return checker.mistyped(node.at, message, "positions are counted from 0")
        return At(kind.kinds[index.value], node.at, of, index)
    return At(kind.item, node.at, of, index)


def _list(checker: Checker, node: ListOf, scope: Scope, expected: Type) -> Typed:
    wanted = present(expected)
    item = wanted.item if isinstance(wanted, List) else UNKNOWN
    items = [checker.visit(part, scope, item) for part in node.items]
    kind: Type = UNKNOWN
    for value in items:
        joined = join(kind, replied(value.type))
        if joined is None:
            checker.mistyped(value.at, f"a list of {kind} cannot hold {value.type}", "lists hold one type")
            break
        kind = joined
    return Items(List(kind if items else item), node.at, tuple(items))


def _call(checker: Checker, node: FunctionCall, scope: Scope, expected: Type) -> Typed:
    """Type a call: a macro, what the vocabulary names, or a listed function."""
    if node.receiver is not None and node.name in functions.MACROS:
        return functions.macro(checker, node, node.receiver, scope)
    if node.receiver is not None:
        return functions.method(checker, node, node.receiver, scope)
    if node.name == "such_as":
        return functions.such_as(checker, node, scope, expected)
    if node.name == "minted" and (new := scope.names.get("minted")) is not None:
        return functions.minted(checker, node, scope, new)
    return scope.words.called(checker, node, scope) or functions.function(checker, node, scope)
