"""What words mean in a row: operations can be called, and only what a caller sees can be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from statemachines.diagnostics import did_you_mean
from statemachines.expression.check import Checker, Scope
from statemachines.expression.emit import python_name
from statemachines.expression.syntax import Call, ExpressionError, Name, Node
from statemachines.expression.typed import Fresh, Invoke, Repeat, Together, Typed, Var
from statemachines.types import INT, NULL, Id, List, Record, Reply, Text, Type, Unknown, join, present
from statemachines.words import Words

WAIT = "wait"  # the one call that every lifecycle has: it moves the virtual clock


class RowWords(Words):
    """The vocabulary of a lifecycle's rows."""

    rows = True

    def scope(self, names: Mapping[str, Type]) -> Scope:
        """Give the scope of an expression of a row, with these names bound."""
        found: dict[str, Typed] = dict(self.declared_names)
        for name, kind in names.items():
            found[name] = Var(kind, 0, name, python_name(name))
        return Scope(self, found)

    def reply(self, operation: str) -> Type:
        """Give the type of a bound reply of an operation."""
        return Reply(operation, Words(self.lifecycle).given(self.lifecycle.operations[operation]))

    def constant(self, name: str, expected: Type, at: int) -> Typed | None:
        """Give a constant, or `fresh`: a new value of the type that is expected."""
        if name == "fresh":
            return self._fresh(expected, at)
        return super().constant(name, expected, at)

    @staticmethod
    def _fresh(kind: Type, at: int) -> Typed:
        wanted = present(kind)
        if not isinstance(wanted, Text | Id) or wanted == Text():
            raise ExpressionError(
                "expression-type", at, "it is not clear what should be fresh here", "write fresh(Type), with a type of texts or ids"
            )
        return Fresh(wanted, at)

    def called(self, checker: Checker, node: Call, scope: Scope) -> Typed | None:
        """Give a call of an operation, `wait`, `repeat`, `together` or `fresh`."""
        match node.name:
            case "fresh":
                return self._fresh_of(node)
            case "wait":
                return self._wait(checker, node, scope)
            case "repeat" | "together":
                return self._several(checker, node, scope)
            case name if name in self.lifecycle.operations:
                return self._invoke(checker, node, scope)
        return None

    def callables(self) -> Iterable[str]:
        """List the operations and what rows can do beside them."""
        return [*self.lifecycle.operations, "wait", "repeat", "together", "fresh"]

    def _fresh_of(self, node: Call) -> Typed:
        name = node.arguments[0].name if len(node.arguments) == 1 and isinstance(node.arguments[0], Name) else ""
        kind = self.declared.get(name)
        if kind is None:
            hint = did_you_mean(name, self.declared) or f"known: {', '.join(self.declared)}"
            raise ExpressionError("unknown-type", node.at, "fresh takes the name of a type", hint)
        return self._fresh(self.wire(kind), node.at)

    def _wait(self, checker: Checker, node: Call, scope: Scope) -> Typed:
        if len(node.arguments) != 1:
            raise ExpressionError("expression-type", node.at, "wait takes a number of milliseconds", "for example wait(1)")
        return Invoke(Reply(WAIT, NULL), node.at, WAIT, (("ms", checker.expect(node.arguments[0], scope, INT)),))

    def _invoke(self, checker: Checker, node: Call, scope: Scope) -> Typed:
        operation = self.lifecycle.operations[node.name]
        takes = list(operation.takes.items())
        least = sum(1 for _, use in takes if use.default is None)
        if not least <= len(node.arguments) <= len(takes):
            wanted = ", ".join(name for name, _ in takes)
            message = f"{node.name} takes ({wanted}), and {len(node.arguments)} arguments are given"
            raise ExpressionError("expression-type", node.at, message, "arguments stand in the order of `takes`")
        arguments = []
        for (name, use), part in zip(takes, node.arguments, strict=False):
            arguments.append((name, checker.expect(part, scope, self.wire(self.resolve(use)))))
        return Invoke(self.reply(node.name), node.at, node.name, tuple(arguments))

    def _several(self, checker: Checker, node: Call, scope: Scope) -> Typed:
        """Type `repeat(n, call)`, `together(n, call)` and `together(call, call, …)`."""
        first = node.arguments[0] if node.arguments else None
        counted = first is not None and not self._is_call(first)
        if node.name == "repeat" or counted:
            if len(node.arguments) != 2:
                raise ExpressionError("expression-type", node.at, f"{node.name} takes a number and a call", f"{node.name}(3, start(…))")
            count = checker.expect(node.arguments[0], scope, INT)
            body = checker.visit(node.arguments[1], scope)
            return Repeat(List(body.type), node.at, count, body, node.name == "together")
        bodies = tuple(checker.visit(part, scope) for part in node.arguments)
        if len(bodies) < 2:
            raise ExpressionError("expression-type", node.at, "together takes at least two calls", "together(n, call) or together(a, b)")
        return Together(List(_common(bodies)), node.at, bodies)

    def _is_call(self, node: Node) -> bool:
        return isinstance(node, Call) and node.receiver is None and node.name in self.callables()


def _common(bodies: tuple[Typed, ...]) -> Type:
    """Give the type that replies of different operations share: the fields that all of them have."""
    values = [body.type.value if isinstance(body.type, Reply) else body.type for body in bodies]
    names = " | ".join(body.type.operation for body in bodies if isinstance(body.type, Reply))
    shared: Type = values[0]
    for value in values[1:]:
        if isinstance(shared, Record) and isinstance(value, Record):
            kinds = [(name, join(kind, value.field(name) or kind)) for name, kind in shared.fields if value.field(name)]
            shared = Record(tuple((name, kind) for name, kind in kinds if kind is not None))
        elif shared != value and not isinstance(shared, Unknown):
            shared = NULL
    return Reply(names, shared)
