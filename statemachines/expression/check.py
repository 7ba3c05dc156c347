"""Syntax tree → typed tree: every name known, every comparison possible, no field of a null."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from statemachines.diagnostics import did_you_mean
from statemachines.expression import functions
from statemachines.expression.syntax import (
    Binary,
    Call,
    ExpressionError,
    Field,
    Index,
    ListOf,
    Literal,
    Name,
    Node,
    Unary,
)
from statemachines.expression.typed import At, Const, Each, Items, Operate, Typed, Var
from statemachines.types import (
    BOOL,
    INT,
    NULL,
    TEXT,
    TIME,
    UNKNOWN,
    Bool,
    Enum,
    Int,
    List,
    Null,
    Optional,
    Reply,
    Text,
    Time,
    Type,
    Unknown,
    accepts,
    comparable,
    join,
    present,
)

MACROS = ("all", "exists", "exists_one", "filter", "map", "sortBy")
_ARITHMETIC = ("+", "-", "*", "/", "%")
_ORDER = ("<", "<=", ">", ">=")


class Vocabulary(Protocol):
    """What a lifecycle means by its words: fields, constants and named expressions."""

    def field(self, of: Typed, name: str, at: int) -> Typed | None:
        """Read a field of a record, a message or a plain value; None when there is none."""

    def fields(self, kind: Type) -> Iterable[str]:
        """List the fields that a value of this type has, for hints."""

    def constant(self, name: str, expected: Type, at: int) -> Typed | None:
        """Give the state, group, enum member or policy choice of this name, or None.

        With an expected type only that type's words are meant; without one the word has to be
        unambiguous, or ExpressionError is raised.
        """

    def constants(self) -> Iterable[str]:
        """List every such word, for hints."""

    def called(self, checker: Checker, node: Call, scope: Scope) -> Typed | None:
        """Give the use of what the lifecycle itself names: a named expression, an operation; or None."""

    def callables(self) -> Iterable[str]:
        """List what can be called by name, for hints."""

    def narrowed(self, macro: str, over: Typed, variable: str, body: Typed) -> tuple[Typed, Typed]:
        """Give the same records and condition, looking records up by their key where that is possible."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean where an expression stands, and which nullables are known to hold a value."""

    words: Vocabulary
    names: Mapping[str, Typed] = field(default_factory=dict)
    present: frozenset[str] = frozenset()

    def with_names(self, names: Mapping[str, Typed]) -> Scope:
        """Give this scope with more names."""
        return replace(self, names={**self.names, **names})

    def with_present(self, paths: Iterable[str]) -> Scope:
        """Give this scope, knowing that these nullables hold a value."""
        return replace(self, present=self.present | frozenset(paths))


def check(node: Node, scope: Scope, expected: Type = UNKNOWN) -> tuple[Typed, list[ExpressionError]]:
    """Type one expression against what is expected where it stands; give every fault found in it."""
    checker = Checker()
    value = checker.visit(node, scope, expected)
    if not accepts(expected, value.type):
        checker.fault(
            "expression-type",
            value.at,
            f"{expected} is expected here, and this is {value.type}",
            "compare or convert it, or change the declared type",
        )
    return value, checker.faults


def facts(node: Node, truth: bool) -> frozenset[str]:
    """Give the nullables that surely hold a value once `node` is known to be true, or false."""
    match node:
        case Unary(operator="!", operand=operand):
            return facts(operand, not truth)
        case Binary(operator="&&", left=left, right=right) if truth:
            return facts(left, True) | facts(right, True)
        case Binary(operator="||", left=left, right=right) if not truth:
            return facts(left, False) | facts(right, False)
        case Binary(operator=("!=" | "==") as operator, left=left, right=right) if (operator == "!=") is truth:
            for one, other in ((left, right), (right, left)):
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


class Checker:
    """Types one expression and gathers its faults."""

    def __init__(self) -> None:
        self.faults: list[ExpressionError] = []

    def fault(self, code: str, at: int, message: str, hint: str) -> Typed:
        self.faults.append(ExpressionError(code, at, message, hint))
        return Const(UNKNOWN, at, None)

    def visit(self, node: Node, scope: Scope, expected: Type = UNKNOWN) -> Typed:
        try:
            value = self._visit(node, scope, expected)
        except ExpressionError as error:
            return self.fault(error.code, error.at, error.message, error.hint)
        path = path_of(node)
        if path and path in scope.present and isinstance(value.type, Optional):
            return replace(value, type=present(value.type))
        return value

    def _visit(self, node: Node, scope: Scope, expected: Type) -> Typed:
        match node:
            case Literal():
                return self._literal(node)
            case Name():
                return self._name(node, scope, expected)
            case Field():
                return self._field(node, scope)
            case Index():
                return self._index(node, scope)
            case ListOf():
                return self._list(node, scope, expected)
            case Unary():
                return self._unary(node, scope)
            case Binary():
                return self._binary(node, scope)
            case Call():
                return self._call(node, scope, expected)
            case _:
                raise TypeError(node)

    @staticmethod
    def _literal(node: Literal) -> Typed:
        kinds: dict[type, Type] = {bool: BOOL, int: INT, str: TEXT}
        return Const(kinds.get(type(node.value), NULL), node.at, node.value)

    def _name(self, node: Name, scope: Scope, expected: Type) -> Typed:
        found = scope.names.get(node.name)
        if found is not None:
            return replace(found, at=node.at)
        value = scope.words.constant(node.name, present(expected), node.at)
        if value is not None:
            return value
        known = [*scope.names, *scope.words.constants()]
        return self.fault(
            "unknown-name",
            node.at,
            f"nothing here is called {node.name!r}",
            did_you_mean(node.name, known) or f"known here: {', '.join(sorted(scope.names))}",
        )

    def _field(self, node: Field, scope: Scope) -> Typed:
        whole = path_of(node)
        if whole in scope.names:
            return replace(scope.names[whole], at=node.at)
        space = [name for name in scope.names if name.startswith(path_of(node.of) + ".")] if path_of(node.of) else []
        if space and isinstance(node.of, Name) and node.of.name not in scope.names:
            short = [name.split(".", 1)[1] for name in space]
            hint = did_you_mean(node.name, short) or f"known: {', '.join(sorted(short))}"
            return self.fault("unknown-name", node.at, f"{node.of.name} has no {node.name!r}", hint)
        of = self.visit(node.of, scope)
        if isinstance(of.type, Unknown):
            return of
        if isinstance(of.type, Optional):
            return self.fault(
                "field-of-null",
                node.at,
                f"{path_of(node.of) or 'this value'} may be null, and null has no {node.name!r}",
                f"guard it first: {path_of(node.of) or 'value'} != null && …",
            )
        value = scope.words.field(of, node.name, node.at)
        if value is not None:
            return value
        names = sorted(scope.words.fields(of.type))
        hint = did_you_mean(node.name, names) or (f"known: {', '.join(names)}" if names else "it has no fields")
        return self.fault("unknown-field", node.at, f"{of.type} has no {node.name!r}", hint)

    def _index(self, node: Index, scope: Scope) -> Typed:
        of = self.visit(node.of, scope)
        index = self._expect(node.index, scope, INT)
        kind = of.type.value if isinstance(of.type, Reply) else of.type
        if isinstance(kind, Unknown):
            return of
        if not isinstance(kind, List):
            return self.fault("expression-type", node.at, f"{of.type} is not a list", "only lists have positions")
        return At(kind.item, node.at, of, index)

    def _list(self, node: ListOf, scope: Scope, expected: Type) -> Typed:
        wanted = present(expected)
        item = wanted.item if isinstance(wanted, List) else UNKNOWN
        items = [self.visit(part, scope, item) for part in node.items]
        kind: Type = item
        if isinstance(item, Unknown) and items:
            kind = items[0].type
            for value in items[1:]:
                joined = join(kind, value.type)
                if joined is None:
                    self.fault(
                        "expression-type", value.at, f"a list of {kind} cannot hold {value.type}", "lists hold one type"
                    )
                    break
                kind = joined
        return Items(List(kind), node.at, tuple(items))

    def _unary(self, node: Unary, scope: Scope) -> Typed:
        kind: Type = BOOL if node.operator == "!" else INT
        operand = self._expect(node.operand, scope, kind)
        return Operate(kind if kind == BOOL else operand.type, node.at, node.operator, None, operand)

    def _binary(self, node: Binary, scope: Scope) -> Typed:
        if node.operator in ("&&", "||"):
            left = self._expect(node.left, scope, BOOL)
            known = scope.with_present(facts(node.left, node.operator == "&&"))
            return Operate(BOOL, node.at, node.operator, left, self._expect(node.right, known, BOOL))
        if node.operator in ("==", "!="):
            return self._equality(node, scope)
        if node.operator == "in":
            return self._membership(node, scope)
        left, right = self.visit(node.left, scope), self.visit(node.right, scope)
        if node.operator in _ORDER:
            self._ordered(node, left, right)
            return Operate(BOOL, node.at, node.operator, left, right)
        return self._arithmetic(node, left, right)

    def _equality(self, node: Binary, scope: Scope) -> Typed:
        left, right = self._pair(node.left, node.right, scope)
        if not comparable(left.type, right.type):
            self.fault(
                "expression-type",
                node.at,
                f"{left.type} and {right.type} are never equal",
                "compare values of one type; only what may be null can be compared with null",
            )
        return Operate(BOOL, node.at, node.operator, left, right)

    def _pair(self, first: Node, second: Node, scope: Scope) -> tuple[Typed, Typed]:
        """Type two sides that are compared: a bare word takes the type of the other side."""
        if isinstance(first, Name | ListOf) and not isinstance(second, Name | ListOf):
            right = self.visit(second, scope)
            return self.visit(first, scope, _plain(right.type)), right
        if isinstance(first, Name) and first.name not in scope.names:
            right = self.visit(second, scope)
            return self.visit(first, scope, _plain(right.type)), right
        left = self.visit(first, scope)
        return left, self.visit(second, scope, _plain(left.type))

    def _membership(self, node: Binary, scope: Scope) -> Typed:
        left = self.visit(node.left, scope)
        right = self.visit(node.right, scope, List(_plain(left.type)))
        kind = _plain(right.type)
        if isinstance(kind, List) and not comparable(kind.item, left.type):
            self.fault("expression-type", node.at, f"{left.type} is never in a {kind}", "compare values of one type")
        elif not isinstance(kind, List | Unknown):
            self.fault("expression-type", right.at, f"{right.type} is not a list", "`in` asks whether a list holds a value")
        return Operate(BOOL, node.at, "in", left, right)

    def _ordered(self, node: Binary, left: Typed, right: Typed) -> None:
        for side in (left, right):
            if isinstance(side.type, Optional):
                self.fault("field-of-null", side.at, "this may be null, and null has no order", "guard it first: … != null && …")
                return
        both = (left.type, right.type)
        if any(isinstance(kind, Unknown) for kind in both):
            return
        if not all(isinstance(kind, Int | Time) for kind in both) and not (
            all(isinstance(kind, Text) for kind in both) and comparable(*both)
        ):
            self.fault("expression-type", node.at, f"{left.type} and {right.type} have no common order", "order numbers, times or texts")

    def _arithmetic(self, node: Binary, left: Typed, right: Typed) -> Typed:
        kind = join(left.type, right.type)
        fits = isinstance(kind, Int | Time | Unknown) or (node.operator == "+" and isinstance(kind, List | Text))
        if kind is None or not fits or node.operator not in _ARITHMETIC:
            return self.fault(
                "expression-type",
                node.at,
                f"{node.operator} does not work on {left.type} and {right.type}",
                "numbers can be calculated with; + also joins lists and texts",
            )
        if isinstance(kind, Int) and TIME in (left.type, right.type):
            kind = TIME
        if isinstance(kind, Text):
            kind = TEXT
        return Operate(kind, node.at, node.operator, left, right)

    def _call(self, node: Call, scope: Scope, expected: Type) -> Typed:
        if node.receiver is not None and node.name in MACROS:
            return self._macro(node, scope)
        if node.name == "pick" and node.receiver is None:
            return self._pick(node, scope, expected)
        if node.receiver is None:
            value = scope.words.called(self, node, scope)
            if value is not None:
                return value
        return functions.apply(self, node, scope)

    def _pick(self, node: Call, scope: Scope, expected: Type) -> Typed:
        if len(node.arguments) != 3:
            return self.fault("expression-type", node.at, "pick takes a condition and two values", "pick(condition, then, otherwise)")
        guard, then, other = node.arguments
        condition = self._expect(guard, scope, BOOL)
        first = self.visit(then, scope.with_present(facts(guard, True)), expected)
        second = self.visit(other, scope.with_present(facts(guard, False)), expected if expected != UNKNOWN else first.type)
        kind = join(first.type, second.type)
        if kind is None:
            return self.fault("expression-type", node.at, f"pick gives {first.type} or {second.type}", "both values need one type")
        return functions.applied("pick", kind, node.at, condition, first, second)

    def _macro(self, node: Call, scope: Scope) -> Typed:
        assert node.receiver is not None  # the caller has looked
        over = self.visit(node.receiver, scope)
        kind = _plain(over.type)
        if isinstance(kind, Unknown):
            return over
        if not isinstance(kind, List):
            return self.fault("expression-type", node.at, f"{over.type} is not a list", f"{node.name} works on lists")
        if len(node.arguments) != 2 or not isinstance(node.arguments[0], Name):
            return self.fault(
                "expression-type", node.at, f"{node.name} takes a name and an expression", f"jobs.{node.name}(j, …)"
            )
        name = node.arguments[0].name
        if name in scope.names:
            return self.fault("shadowed-name", node.arguments[0].at, f"{name!r} already means something here", "choose another name")
        item = Var(kind.item, node.arguments[0].at, name, name)
        inner = scope.with_names({name: item})
        if node.name in ("map", "sortBy"):
            body = self.visit(node.arguments[1], inner)
        else:
            body = self._expect(node.arguments[1], inner, BOOL)
        over, body = scope.words.narrowed(node.name, over, name, body)
        results: dict[str, Callable[[], Type]] = {
            "map": lambda: List(body.type),
            "filter": lambda: List(kind.item),
            "sortBy": lambda: List(kind.item),
        }
        return Each(results.get(node.name, lambda: BOOL)(), node.at, node.name, over, name, body)

    def expect(self, node: Node, scope: Scope, kind: Type) -> Typed:
        """Type a part that has to be of one kind."""
        return self._expect(node, scope, kind)

    def _expect(self, node: Node, scope: Scope, kind: Type) -> Typed:
        value = self.visit(node, scope, kind)
        fits = accepts(kind, value.type) and not (isinstance(value.type, Optional) and not isinstance(kind, Optional))
        if isinstance(kind, Bool) and isinstance(value.type, Null):
            fits = False
        if not fits:
            self.fault("expression-type", value.at, f"{kind} is expected here, and this is {value.type}", _hint(kind, value.type))
        return value


def _hint(wanted: Type, given: Type) -> str:
    if isinstance(given, Optional):
        return "it may be null: guard it first with != null &&"
    if isinstance(wanted, Bool):
        return "write a condition, such as a comparison"
    if isinstance(wanted, Enum):
        return f"one of {', '.join(wanted.members)}"
    return "the types have to agree"


def _plain(kind: Type) -> Type:
    """Give the type behind null and behind a reply."""
    kind = present(kind)
    return kind.value if isinstance(kind, Reply) else kind
