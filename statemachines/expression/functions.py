"""The listed functions: what each takes and gives. Their meaning is in `statemachines.model`.

Among them are the macros, whose arguments are typed one after the other: a body for every item of a list.
"""

from __future__ import annotations

from statemachines.diagnostics import did_you_mean
from statemachines.expression.scope import Checker, Scope
from statemachines.expression.syntax import FunctionCall, Name, Node
from statemachines.expression.typed import Apply, Each, Minted, Typed, Var, local_name
from statemachines.types import (
    BOOL,
    DOCUMENT,
    INT,
    TEXT,
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
    comparable,
    replied,
    underlying,
)

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
    "trim": ((), TEXT),
}
_ALONE: dict[str, tuple[tuple[Type, ...], int, Type]] = {  # name → (arguments, how many are needed, result)
    "range": ((INT,), 1, List(INT)),
    "text": ((TEXT, INT, INT), 2, TEXT),
    "document": ((TEXT, Optional(INT), Optional(INT)), 3, DOCUMENT),
    "string": ((INT,), 1, TEXT),
}
_BY_ITEM = ("sum", "min", "max", "flatten", "sameItems", "join", "contains")  # the items' type decides
MACROS = ("all", "exists", "filter", "map", "sortBy")
ALONE = (*_ALONE, "such_as", "minted")
KNOWN = sorted({*_OF_LIST, *_OF_TEXT, *ALONE, *_BY_ITEM, *MACROS})


def method(checker: Checker, node: FunctionCall, receiver: Node, scope: Scope) -> Typed:
    """Type a listed function of a value: `value.function(…)`."""
    of = checker.visit(receiver, scope)
    kind = underlying(of.type)
    if isinstance(kind, Unknown):
        _visited(checker, node, scope)
        return of
    if isinstance(replied(of.type), Optional):
        message = f"this may be null, and null has no {node.name}()"
        return checker.fault("field-of-null", node.at, message, "guard it first with != null &&")
    if isinstance(kind, List) and node.name in _OF_LIST:
        wanted, result = _OF_LIST[node.name]
        arguments = _arguments(checker, node, scope, wanted, len(wanted))
        return Apply(result or List(kind.item), node.at, node.name, (of, *arguments))
    if isinstance(kind, List) and node.name in _BY_ITEM:
        return _by_item(checker, node, scope, of, kind)
    if isinstance(kind, Text | Id) and node.name in _OF_TEXT:
        wanted, result = _OF_TEXT[node.name]
        arguments = _arguments(checker, node, scope, wanted, len(wanted))
        return Apply(result, node.at, node.name, (of, *arguments))
    message = f"{of.type} has no function {node.name!r}"
    return checker.fault("unknown-function", node.at, message, _method_hint(node.name, kind))


def _method_hint(name: str, kind: Type) -> str:
    known: list[str] = []
    if isinstance(kind, List):
        known = [*_OF_LIST, *_BY_ITEM, *MACROS]
    elif isinstance(kind, Text | Id):
        known = [*_OF_TEXT]
    return did_you_mean(name, known) or (f"known: {', '.join(sorted(known))}" if known else "it has no functions")


def _visited(checker: Checker, node: FunctionCall, scope: Scope) -> None:
    """Type the arguments of a faulty call: their own faults are told as well."""
    for part in node.arguments:
        checker.visit(part, scope)


def function(checker: Checker, node: FunctionCall, scope: Scope) -> Typed:
    """Type a listed function that stands alone: `function(…)`."""
    if node.name in _ALONE:
        wanted, least, result = _ALONE[node.name]
        return Apply(result, node.at, node.name, _arguments(checker, node, scope, wanted, least))
    _visited(checker, node, scope)
    known = [*_ALONE, "such_as", *scope.words.callables()]
    hint = did_you_mean(node.name, known)
    if node.name == "minted":
        hint = "only an id of `create` is minted"
    if not hint and node.name in KNOWN:
        hint = f"{node.name} belongs after a value: value.{node.name}(…)"
    hint = hint or f"known: {', '.join(sorted(known))}"
    return checker.fault("unknown-function", node.at, f"there is no function {node.name!r}", hint)


def minted(checker: Checker, node: FunctionCall, scope: Scope, new: Typed) -> Typed:
    """Type `minted(prefix)` or `minted(prefix, size)`, where a new record gets its id."""
    arguments = _arguments(checker, node, scope, (TEXT, INT), 1)
    kind = new.type
    assert isinstance(kind, Id)
    return Minted(kind, node.at, kind.entity, arguments)


def _arguments(
    checker: Checker, node: FunctionCall, scope: Scope, wanted: tuple[Type, ...], least: int
) -> tuple[Typed, ...]:
    """Type the arguments, of which at least so many have to be given."""
    given = len(node.arguments)
    if not least <= given <= len(wanted):
        many = str(least) if least == len(wanted) else f"{least} to {len(wanted)}"
        checker.mistyped(node.at, f"{node.name} takes {many} arguments, and {given} are given", "see spec/README.md")
        return ()
    return tuple(checker.expect(part, scope, kind) for part, kind in zip(node.arguments, wanted, strict=False))


def _by_item(checker: Checker, node: FunctionCall, scope: Scope, of: Typed, kind: List) -> Typed:
    """Type the functions whose result, or argument, depends on what the list holds."""
    match node.name:
        case "sameItems":
            return _alike(checker, node, scope, of, List(kind.item))
        case "contains":
            return _alike(checker, node, scope, of, kind.item)
        case "join":
            arguments = _arguments(checker, node, scope, (TEXT,), 1)
            if not isinstance(kind.item, Text | Unknown):
                return checker.mistyped(node.at, f"join needs texts, not {kind.item}", "map the items to texts first")
            return Apply(TEXT, node.at, "join", (of, *arguments))
    _arguments(checker, node, scope, (), 0)
    if node.name == "flatten":
        return _flatten(checker, node, of, kind)
    if not isinstance(kind.item, Int | Time | Unknown):
        message = f"{node.name} needs numbers, not {kind.item}"
        return checker.mistyped(node.at, message, "map the items to numbers first")
    return Apply(INT if isinstance(kind.item, Unknown) else kind.item, node.at, node.name, (of,))


def _alike(checker: Checker, node: FunctionCall, scope: Scope, of: Typed, expected: Type) -> Typed:
    """Type a comparison of a list, or of its items, with one argument, which need not be of the same type."""
    if len(node.arguments) != 1:
        return Apply(BOOL, node.at, node.name, (of, *_arguments(checker, node, scope, (expected,), 1)))
    other = checker.visit(node.arguments[0], scope, expected)
    if node.name == "sameItems" and isinstance(other.type, Optional):
        message = "this may be null, and null holds nothing"
        return checker.fault("field-of-null", other.at, message, "guard it first with != null &&")
    if not comparable(expected, other.type):
        return checker.mistyped(node.at, f"{of.type} and {other.type} are never alike", "compare values of one type")
    return Apply(BOOL, node.at, node.name, (of, other))


def _flatten(checker: Checker, node: FunctionCall, of: Typed, kind: List) -> Typed:
    inner = replied(kind.item)
    if not isinstance(inner, List | Unknown):
        return checker.mistyped(node.at, f"flatten needs lists in the list, not {inner}", "remove it")
    item = inner.item if isinstance(inner, List) else UNKNOWN
    return Apply(List(item), node.at, "flatten", (of,))


# ── Macros ──


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
        return checker.mistyped(node.at, f"{over.type} is not a list", f"{node.name} works on lists")
    match node.arguments:
        case (Name(at=at, name=name), written):
            pass
        case _:
            return checker.mistyped(node.at, f"{node.name} takes a name and an expression", f"jobs.{node.name}(j, …)")
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
        checker.mistyped(key.at, f"{kind} has no order", "sort by numbers, times, texts or lists of them")
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
        return checker.mistyped(node.at, "such_as takes one value", "such_as(an example)")
    example = checker.visit(node.arguments[0], scope, expected)
    return Apply(example.type, node.at, "such_as", (example,))
