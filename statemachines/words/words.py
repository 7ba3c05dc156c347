"""What the words of one lifecycle mean: its types, constants, fields and named expressions.

Expressions stand in one of two worlds. In the *model*, which is here, a job is a record whose fields can
be read; in a *row* there are only replies, ids and constants: what a caller could see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from statemachines.expression import (
    Attribute,
    Build,
    Checker,
    Const,
    Defined,
    ExpressionError,
    Found,
    FunctionCall,
    InGroup,
    Member,
    Operate,
    Scope,
    Typed,
    Var,
    check,
    every_part,
    python_name,
)
from statemachines.lifecycle import Lifecycle
from statemachines.types import (
    BOOL,
    NULL,
    TEXT,
    UNKNOWN,
    DocumentType,
    Identity,
    List,
    MessageType,
    Optional,
    RecordType,
    Ref,
    Type,
    accepts,
    optional,
)
from statemachines.words.caller import Caller
from statemachines.words.constants import Constants
from statemachines.words.scopes import Scopes
from statemachines.words.types import Types

_DOCUMENT: Mapping[str, Type] = {"text": TEXT, "inline": BOOL, "file": optional(TEXT)}


class Words:
    """The vocabulary of a lifecycle in the model's world."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.lifecycle = lifecycle
        self.types = Types(lifecycle)
        self.meanings = Constants(self.types)
        self.scopes = Scopes(self, self.types)
        self.caller = Caller(self.types, self.scopes)
        self.used: dict[str, tuple[Type, ...]] = {}  # named expression → types of its first use
        self._bodies: dict[str, Type | None] = {}  # → type of its value; None until it is known

    # ── The vocabulary of the expression checker ──

    def field(self, of: Typed, name: str, at: int) -> Typed | None:
        """Read a field of a record, a message, a document or a plain value."""
        match of.type:
            case Ref(entity=entity):
                return self._record_field(of, entity, name, at)
            case MessageType(name=message):
                kind = self._message_fields(message).get(name)
                return None if kind is None else Attribute(kind, at, of, name)
        return plain_field(of, name, at)

    def _record_field(self, of: Typed, entity: str, name: str, at: int) -> Typed | None:
        kind = self.types.record_fields(entity).get(name)
        if kind is not None:
            return Attribute(kind, at, of, name)
        return InGroup(BOOL, at, of, entity, name) if name in self.lifecycle.entities[entity].groups else None

    def _message_fields(self, message: str) -> dict[str, Type]:
        about = Identity(self.lifecycle.messages[message].about.text)
        return {"about": about, "to": self.caller.receiver(message), **self.caller.carried(message)}

    def fields(self, kind: Type) -> Iterable[str]:
        """List the fields that a value of this type has."""
        match kind:
            case Ref(entity=entity):
                return [*self.types.record_fields(entity), *self.lifecycle.entities[entity].groups]
            case MessageType(name=message):
                return self._message_fields(message)
        return plain_fields(kind)

    def constant(self, name: str, expected: Type, at: int) -> Typed | None:
        """Return the state, group, enum member, policy choice, code or fixed record of this name."""
        meaning = self.meanings.meaning(name, expected, at)
        if meaning is None and name == "anything":  # whatever the implementation chooses
            return Var(UNKNOWN, at, name, "ANYTHING")
        if meaning is None:
            return None
        kind, value = meaning
        if isinstance(kind, Ref):
            collection = python_name(self.lifecycle.entities[kind.entity].plural)
            return Var(kind, at, name, f"self.{collection}[{value!r}]")
        return Const(kind, at, value)

    def constants(self) -> Iterable[str]:
        """List every word that is a constant somewhere."""
        return self.meanings.names()

    def called(self, checker: Checker, node: FunctionCall, scope: Scope) -> Typed | None:
        """Return the use of a named expression, typed by its arguments. Raises ExpressionError for a wrong number."""
        name, at = node.name, node.at
        kind = self.types.declared.get(name)
        if isinstance(kind, RecordType):
            built = record_literal(checker, node, scope, kind)
            left_out = kind.fields[len(built.given) :]
            return replace(built, given=(*built.given, *((each, Const(NULL, at, None)) for each, _ in left_out)))
        definition = self.lifecycle.definitions.get(name)
        if definition is None:
            return None
        arguments = tuple(checker.visit(part, scope) for part in node.arguments)
        if len(arguments) != len(definition.parameters):
            message = f"{name} takes {len(definition.parameters)} arguments, and {len(arguments)} are given"
            raise ExpressionError("expression-type", at, message, f"it is defined at {definition.name.where}")
        kinds = tuple(argument.type for argument in arguments)
        first = self.used.setdefault(name, kinds)
        for wanted, argument in zip(first, arguments, strict=True):
            if not accepts(wanted, argument.type):
                message = f"{wanted} is expected here, as where {name} is first used, and this is {argument.type}"
                hint = "a named expression takes the same types everywhere"
                raise ExpressionError("expression-type", argument.at, message, hint)
        return Defined(self._body_type(name, first, at), at, name, arguments)

    def _body_type(self, name: str, kinds: tuple[Type, ...], at: int) -> Type:
        """Return the type of a named expression's value, looking at its body once."""
        if name not in self._bodies:
            self._bodies[name] = None
            body = self.lifecycle.definitions[name].body.node
            value, faults = check(body, self.scopes.definition(name, kinds))
            if all(fault.code != "endless-definition" for fault in faults):
                self._bodies[name] = value.type
        kind = self._bodies[name]
        if kind is None:
            hint = "expressions have no loops: use all, exists, map or filter"
            raise ExpressionError("endless-definition", at, f"{name} is defined by itself", hint)
        return kind

    def callables(self) -> Iterable[str]:
        """List the named expressions, and the types whose values can be written out."""
        return [*self.lifecycle.definitions, *self.types.records]

    def narrowed(self, macro: str, over: Typed, variable: str, body: Typed) -> tuple[Typed, Typed]:
        """Return the same records and condition, looking records up by their key where that is possible.

        So `jobs.exists(j, j.id == id)` need not walk over all jobs.
        """
        if macro not in ("exists", "filter") or not isinstance(over, Var) or not over.source.endswith(".values()"):
            return over, body
        if not (isinstance(over.type, List) and isinstance(over.type.item, Ref)):
            return over, body
        first: Typed = body
        rest: Typed = Const(BOOL, body.at, True)
        if isinstance(body, Operate) and body.operator == "&&" and body.left is not None:
            first, rest = body.left, body.right
        match first:
            case Operate(operator="==", left=Attribute(of=Var(name=name), name=field), right=wanted):
                by_key = name == variable and field == self.types.key(over.type.item.entity)
                if by_key and not any(isinstance(part, Var) and part.name == variable for part in every_part(wanted)):
                    return Found(over.type, over.at, over.source.removesuffix(".values()"), wanted), rest
        return over, body


def plain_field(of: Typed, name: str, at: int) -> Typed | None:
    """Read a field of a document or of a plain value."""
    match of.type:
        case RecordType() as record:
            kind = record.field(name)
            return None if kind is None else Member(kind, at, of, name)
        case DocumentType() if name in _DOCUMENT:
            return Attribute(_DOCUMENT[name], at, of, name)
    return None


def plain_fields(kind: Type) -> Iterable[str]:
    """List the fields of a document or of a plain value."""
    match kind:
        case RecordType(fields=fields):
            return [name for name, _ in fields]
        case DocumentType():
            return _DOCUMENT
    return ()


def record_literal(checker: Checker, node: FunctionCall, scope: Scope, kind: RecordType) -> Build:
    """Type a record that is written out, such as `Usage(10, 5)`: its values in order, nulls at the end left out. Raises ExpressionError."""
    least = max((index for index, (_, each) in enumerate(kind.fields, 1) if not isinstance(each, Optional)), default=0)
    if not least <= len(node.arguments) <= len(kind.fields):
        message = f"{node.name} takes ({', '.join(name for name, _ in kind.fields)}), and {len(node.arguments)} values are given"
        raise ExpressionError("expression-type", node.at, message, "values stand in the order of the type's fields")
    given = tuple(
        (name, checker.expect(part, scope, each))
        for (name, each), part in zip(kind.fields, node.arguments, strict=False)
    )
    return Build(kind, node.at, given)
