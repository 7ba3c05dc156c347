"""Plain values that are written out: `Usage(10, 5)`, the name of a record type with its values in order."""

from __future__ import annotations

from dataclasses import replace

from statemachines.expression import Build, Checker, Const, ExpressionError, FunctionCall, Scope, Typed
from statemachines.types import NULL, Optional, RecordType


def record_literal(checker: Checker, node: FunctionCall, scope: Scope, kind: RecordType) -> Typed:
    """Type a record that is written out; nulls can be left out at its end. Raises ExpressionError."""
    least = max((index for index, (_, each) in enumerate(kind.fields, 1) if not isinstance(each, Optional)), default=0)
    if not least <= len(node.arguments) <= len(kind.fields):
        message = f"{node.name} takes ({', '.join(name for name, _ in kind.fields)}), and {len(node.arguments)} values are given"
        raise ExpressionError("expression-type", node.at, message, "values stand in the order of the type's fields")
    given = tuple(
        (name, checker.expect(part, scope, each))
        for (name, each), part in zip(kind.fields, node.arguments, strict=False)
    )
    return Build(kind, node.at, given)


def filled(value: Typed) -> Typed:
    """Return a record that is written out with null for what is left out."""
    if not isinstance(value, Build) or not isinstance(value.type, RecordType):
        return value
    rest = value.type.fields[len(value.given) :]
    return replace(value, given=(*value.given, *((name, Const(NULL, value.at, None)) for name, _ in rest)))
