"""What words mean in a row: operations can be called, and only what a caller sees can be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from statemachines.diagnostics import Diagnostic, did_you_mean
from statemachines.expression import (
    Attribute,
    Checker,
    Const,
    ExpressionError,
    Fresh,
    FunctionCall,
    Invoke,
    ListOf,
    Member,
    Name,
    Node,
    Repeat,
    Scope,
    Together,
    Typed,
    Var,
    python_name,
)
from statemachines.lifecycle import Lifecycle, TypeUse
from statemachines.types import (
    INT,
    NULL,
    Enum,
    Id,
    List,
    Optional,
    RecordType,
    Ref,
    ReplyType,
    Several,
    Text,
    Type,
    Unknown,
    join,
    present,
    replied,
)
from statemachines.words import Words, plain_field, plain_fields, record_literal

WAIT = "wait"  # the one call that every lifecycle has: it moves the virtual clock


class RowWords:
    """The vocabulary of a lifecycle's rows."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.lifecycle = lifecycle
        self._model = Words(lifecycle)
        self._replies: dict[str, Type] = {}  # each found once: rows make the same calls

    @property
    def faults(self) -> list[Diagnostic]:
        """What is wrong with the types that were resolved so far."""
        return self._model.types.faults

    def scope(self, names: Mapping[str, Type]) -> Scope:
        """Return the scope of an expression of a row, with these names bound."""
        bound = {name: Var(kind, 0, name, python_name(name)) for name, kind in names.items()}
        return Scope(self, {**self._model.scopes.declared, **bound})

    def resolve(self, use: TypeUse) -> Type:
        """Return the type that is meant; an unknown one is told."""
        return self._model.types.resolve(use)

    def reply(self, operation: str) -> Type:
        """Return the type of a bound reply of an operation."""
        if operation not in self._replies:
            given = self._model.caller.given(self.lifecycle.operations[operation])
            self._replies[operation] = ReplyType(operation, given)
        return self._replies[operation]

    # ── The vocabulary of the expression checker ──

    def field(self, of: Typed, name: str, at: int) -> Typed | None:
        """Read a field of a reply, of what it gave, or of a document."""
        if not isinstance(of.type, ReplyType):
            return plain_field(of, name, at)
        if name == "refused":
            return Attribute(Optional(Enum("refusal", self._model.types.codes)), at, of, name)
        if name == "signals":
            return Attribute(self._model.caller.signals(), at, of, "signalled")
        value = present(of.type.value)  # of a reply that may be null a row reads what is there
        kind = value.field(name) if isinstance(value, RecordType) else None
        return None if kind is None else Member(kind, at, of, name)

    def fields(self, kind: Type) -> Iterable[str]:
        """List the fields that a value of this type has."""
        return ["refused", "signals", *plain_fields(kind.value)] if isinstance(kind, ReplyType) else plain_fields(kind)

    def constant(self, name: str, expected: Type, at: int) -> Typed | None:
        """Return a constant, or `fresh`: a new value of the type that is expected."""
        if name == "fresh":
            return _fresh(expected, at)
        meaning = self._model.meanings.meaning(name, expected, at)
        if meaning is None:
            return None
        kind, value = meaning
        return Var(kind, at, name, repr(value)) if isinstance(kind, Ref) else Const(kind, at, value)

    def constants(self) -> Iterable[str]:
        """List every word that is a constant somewhere."""
        return self._model.constants()

    def called(self, checker: Checker, node: FunctionCall, scope: Scope) -> Typed | None:
        """Return a call of an operation, `wait`, `repeat`, `together` or `fresh`."""
        match node.name:
            case "fresh":
                return self._fresh_of(node)
            case "wait":
                return _wait(checker, node, scope)
            case "repeat" | "together":
                return self._several(checker, node, scope)
            case name if name in self.lifecycle.operations:
                return self._invoke(checker, node, scope)
        kind = self._model.types.declared.get(node.name)
        return record_literal(checker, node, scope, kind) if isinstance(kind, RecordType) else None

    def callables(self) -> Iterable[str]:
        """List the operations and what rows can do beside them."""
        return [*self.lifecycle.operations, *self._model.types.records, "wait", "repeat", "together", "fresh"]

    def narrowed(self, macro: str, over: Typed, variable: str, body: Typed) -> tuple[Typed, Typed]:
        """Leave a list as it is: a row has no records to look up."""
        return over, body

    def _fresh_of(self, node: FunctionCall) -> Typed:
        argument = node.arguments[0] if len(node.arguments) == 1 else None
        name = argument.name if isinstance(argument, Name) else ""
        declared = self._model.types.declared
        if name not in declared:
            hint = did_you_mean(name, declared) or f"known: {', '.join(declared)}"
            raise ExpressionError("unknown-type", node.at, "fresh takes the name of a type", hint)
        return _fresh(self._model.types.wire(declared[name]), node.at)

    def _invoke(self, checker: Checker, node: FunctionCall, scope: Scope) -> Typed:
        takes = list(self.lifecycle.operations[node.name].takes.items())
        least = sum(1 for _, use in takes if use.default is None)
        if not least <= len(node.arguments) <= len(takes):
            wanted = ", ".join(name for name, _ in takes)
            given = "1 argument is" if len(node.arguments) == 1 else f"{len(node.arguments)} arguments are"
            message = f"{node.name} takes ({wanted}), and {given} given"
            raise ExpressionError("expression-type", node.at, message, "arguments stand in the order of `takes`")
        arguments = tuple(
            (name, checker.expect(part, scope, self._model.types.passed(use)))
            for (name, use), part in zip(takes, node.arguments, strict=False)
        )
        return Invoke(self.reply(node.name), node.at, node.name, arguments)

    def _several(self, checker: Checker, node: FunctionCall, scope: Scope) -> Typed:
        """Type `repeat(n, call)`, `together(n, call)` and `together(call, [call, call], …)`."""
        given, name = node.arguments, node.name
        if name == "repeat" or (given and not self._makes_calls(given[0])):
            if len(given) != 2:
                message = f"{name} takes a number and a call"
                raise ExpressionError("expression-type", node.at, message, f"{name}(3, start(…))")
            count = checker.expect(given[0], scope, INT)
            body = checker.visit(given[1], scope)
            return Repeat(List(body.type), node.at, count, body, name == "together")
        bodies = tuple(checker.visit(part, scope) for part in given)
        if len(bodies) < 2:
            message = "together takes at least two calls"
            raise ExpressionError("expression-type", node.at, message, "together(n, call) or together(a, b)")
        return Together(Several(_common(bodies), kinds=tuple(body.type for body in bodies)), node.at, bodies)

    def _makes_calls(self, node: Node) -> bool:
        """Return whether a part is a call, or the calls of one caller: `[finish(…), messages(…)]`, `[start(…)].map(job, finish(…))`."""
        if isinstance(node, ListOf):
            return bool(node.items) and all(map(self._makes_calls, node.items))
        if isinstance(node, FunctionCall) and node.name == "map" and isinstance(node.receiver, ListOf):
            return self._makes_calls(node.receiver)
        return isinstance(node, FunctionCall) and node.receiver is None and node.name in self.callables()


def _fresh(expected: Type, at: int) -> Typed:
    wanted = present(expected)
    if not isinstance(wanted, Text | Id) or wanted == Text():
        message = "it is not clear what should be fresh here"
        raise ExpressionError("expression-type", at, message, "write fresh(Type), with a type of texts or ids")
    return Fresh(wanted, at)


def _wait(checker: Checker, node: FunctionCall, scope: Scope) -> Typed:
    if len(node.arguments) != 1:
        message = "wait takes a number of milliseconds"
        raise ExpressionError("expression-type", node.at, message, "for example wait(1)")
    return Invoke(ReplyType(WAIT, NULL), node.at, WAIT, (("ms", checker.expect(node.arguments[0], scope, INT)),))


def _common(bodies: tuple[Typed, ...]) -> Type:
    """Return the type that replies of different operations share: the fields that all of them have."""
    values = [replied(body.type) for body in bodies]
    names = " | ".join(body.type.operation for body in bodies if isinstance(body.type, ReplyType))
    shared: Type = values[0]
    for value in values[1:]:
        if isinstance(shared, RecordType) and isinstance(value, RecordType):
            kinds = [(name, join(kind, other)) for name, kind in shared.fields if (other := value.field(name))]
            shared = RecordType(tuple((name, kind) for name, kind in kinds if kind is not None))
        elif shared != value and not isinstance(shared, Unknown):
            shared = NULL
    return ReplyType(names, shared)
