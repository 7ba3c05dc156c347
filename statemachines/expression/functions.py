"""The listed functions: what each takes and gives. Their meaning is in `statemachines.runtime`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statemachines.diagnostics import did_you_mean
from statemachines.expression.syntax import Call, Node
from statemachines.expression.typed import Apply, Typed
from statemachines.types import (
    BOOL,
    DOCUMENT,
    INT,
    TEXT,
    UNKNOWN,
    Int,
    List,
    Optional,
    Reply,
    Text,
    Time,
    Type,
    Unknown,
    comparable,
    present,
)

if TYPE_CHECKING:  # the checker imports this module; only its types are needed here
    from statemachines.expression.check import Scope, Checker

# Functions of a list: name → (types of further arguments, type of the result; None = the list's own).
_OF_LIST: dict[str, tuple[tuple[Type, ...], Type | None]] = {
    "size": ((), INT),
    "distinct": ((), None),
    "take": ((INT,), None),
    "drop": ((INT,), None),
    "reversed": ((), None),
}
_OF_TEXT: dict[str, tuple[tuple[Type, ...], Type]] = {
    "size": ((), INT),
    "contains": ((TEXT,), BOOL),
    "startsWith": ((TEXT,), BOOL),
    "endsWith": ((TEXT,), BOOL),
    "bytes": ((), INT),
    "lines": ((), INT),
    "trim": ((), TEXT),
}
_ALONE: dict[str, tuple[tuple[Type, ...], int, Type]] = {  # name → (arguments, how many are needed, result)
    "range": ((INT,), 1, List(INT)),
    "text": ((TEXT, INT, INT), 2, TEXT),
    "document": ((TEXT, Optional(INT), Optional(INT)), 3, DOCUMENT),
    "string": ((INT,), 1, TEXT),
    "number": ((TEXT,), 1, INT),
}
_OWN_LIST = ("sum", "min", "max", "flatten", "sameItems", "join", "contains")
KNOWN = sorted({*_OF_LIST, *_OF_TEXT, *_ALONE, *_OWN_LIST, "pick", "all", "exists", "exists_one", "filter", "map", "sortBy"})


def applied(function: str, kind: Type, at: int, *arguments: Typed) -> Typed:
    """Give the use of a function whose arguments are typed already."""
    return Apply(kind, at, function, arguments)


def apply(checker: Checker, node: Call, scope: Scope) -> Typed:
    """Type a call of a listed function."""
    if node.receiver is None:
        return _alone(checker, node, scope)
    of = checker.visit(node.receiver, scope)
    kind = present(of.type)
    kind = kind.value if isinstance(kind, Reply) else kind
    if isinstance(kind, Unknown):
        return of
    if isinstance(of.type, Optional):
        return checker.fault("field-of-null", node.at, f"this may be null, and null has no {node.name}()", "guard it first with != null &&")
    if isinstance(kind, List) and node.name in _OF_LIST:
        wanted, result = _OF_LIST[node.name]
        arguments = _arguments(checker, node, scope, wanted, len(wanted))
        return Apply(result or List(kind.item), node.at, node.name, (of, *arguments))
    if isinstance(kind, List) and node.name in _OWN_LIST:
        return _of_list(checker, node, scope, of, kind)
    if isinstance(kind, Text) and node.name in _OF_TEXT:
        wanted, result = _OF_TEXT[node.name]
        return Apply(result, node.at, node.name, (of, *_arguments(checker, node, scope, wanted, len(wanted))))
    known = [*_OF_LIST, *_OWN_LIST] if isinstance(kind, List) else [*_OF_TEXT] if isinstance(kind, Text) else []
    hint = did_you_mean(node.name, known) or (f"known: {', '.join(sorted(known))}" if known else "it has no functions")
    return checker.fault("unknown-function", node.at, f"{of.type} has no function {node.name!r}", hint)


def _alone(checker: Checker, node: Call, scope: Scope) -> Typed:
    if node.name not in _ALONE:
        known = [*_ALONE, "pick", *scope.words.callables()]
        hint = did_you_mean(node.name, known) or (
            f"{node.name} belongs after a value: value.{node.name}(…)" if node.name in KNOWN else f"known: {', '.join(sorted(known))}"
        )
        return checker.fault("unknown-function", node.at, f"there is no function {node.name!r}", hint)
    wanted, least, result = _ALONE[node.name]
    return Apply(result, node.at, node.name, _arguments(checker, node, scope, wanted, least))


def _arguments(checker: Checker, node: Call, scope: Scope, wanted: tuple[Type, ...], least: int) -> tuple[Typed, ...]:
    given: tuple[Node, ...] = node.arguments
    if not least <= len(given) <= len(wanted):
        many = str(least) if least == len(wanted) else f"{least} to {len(wanted)}"
        checker.fault("expression-type", node.at, f"{node.name} takes {many} arguments, and {len(given)} are given", "see spec/README.md")
        return ()
    return tuple(checker.expect(part, scope, kind) for part, kind in zip(given, wanted, strict=False))


def _of_list(checker: Checker, node: Call, scope: Scope, of: Typed, kind: List) -> Typed:
    """Type the functions whose result depends on what the list holds."""
    if node.name in ("sameItems", "contains"):
        expected: Type = List(kind.item) if node.name == "sameItems" else kind.item
        (other,) = _arguments(checker, node, scope, (UNKNOWN,), 1) or (of,)
        if node.arguments:
            other = checker.visit(node.arguments[0], scope, expected)
        if not comparable(expected, other.type):
            return checker.fault("expression-type", node.at, f"{of.type} and {other.type} are never alike", "compare values of one type")
        return Apply(BOOL, node.at, node.name, (of, other))
    if node.name == "join":
        arguments = _arguments(checker, node, scope, (TEXT,), 1)
        if not isinstance(kind.item, Text | Unknown):
            return checker.fault("expression-type", node.at, f"join needs texts, not {kind.item}", "map the items to texts first")
        return Apply(TEXT, node.at, "join", (of, *arguments))
    _arguments(checker, node, scope, (), 0)
    if node.name == "flatten":
        if not isinstance(kind.item, List | Reply | Unknown):
            return checker.fault("expression-type", node.at, f"flatten needs lists in the list, not {kind.item}", "remove it")
        inner = kind.item.value if isinstance(kind.item, Reply) else kind.item
        if not isinstance(inner, List | Unknown):
            return checker.fault("expression-type", node.at, f"flatten needs lists in the list, not {inner}", "remove it")
        return Apply(List(inner.item) if isinstance(inner, List) else UNKNOWN, node.at, "flatten", (of,))
    if not isinstance(kind.item, Int | Time | Unknown):
        return checker.fault("expression-type", node.at, f"{node.name} needs numbers, not {kind.item}", "map the items to numbers first")
    return Apply(kind.item, node.at, node.name, (of,))
