"""What a caller sees: records as what they show, messages as what they carry, and replies."""

from __future__ import annotations

from collections.abc import Iterable

from statemachines.expression import Scope, check, facts
from statemachines.lifecycle import Expr, OperationSpec, Word
from statemachines.types import NULL, Id, List, MessageType, Optional, RecordType, Ref, Type, optional, present
from statemachines.words.scopes import Scopes
from statemachines.words.types import Types, variable_of


class Caller:
    """Gives the types of what a caller of one lifecycle sees."""

    def __init__(self, types: Types, scopes: Scopes) -> None:
        self._types = types
        self._scopes = scopes
        self._lifecycle = types.lifecycle
        self._carried: dict[str, dict[str, Type]] = {}
        self._shown: dict[str, RecordType] = {}
        self._told: dict[str, RecordType] = {}

    def sees(self, kind: Type) -> Type:
        """Return the type of a value as a caller sees it: a record as what it shows, or by its id."""
        match kind:
            case Ref(entity=entity) if self._lifecycle.entities[entity].shows:
                return self._record(entity)
            case Ref(entity=entity) if not self._lifecycle.entities[entity].fixed:
                return Id(entity)
            case MessageType(name=name):
                return self._message(name)
            case List(item=item, unordered=unordered):
                return List(self.sees(item), unordered)
            case Optional(item=item):
                return optional(self.sees(item))
            case _:
                return kind

    def _record(self, entity: str) -> RecordType:
        if entity not in self._shown:
            self._shown[entity] = RecordType((), entity)  # a record that shows itself ends here
            scope = self._scopes.model({variable_of(entity): Ref(entity)})
            shows = self._lifecycle.entities[entity].shows
            self._shown[entity] = self._fields(shows, scope, entity)
        return self._shown[entity]

    def _message(self, name: str) -> RecordType:
        if name not in self._told:
            self._told[name] = RecordType((), name)  # a message that carries itself ends here
            fields = tuple((key, self.sees(value)) for key, value in self.carried(name).items())
            self._told[name] = RecordType(fields, name)
        return self._told[name]

    def _fields(self, pairs: tuple[tuple[Word, Expr], ...], scope: Scope, name: str) -> RecordType:
        return RecordType(tuple((key.text, self.sees(_kind(expr, scope))) for key, expr in pairs), name)

    def carried(self, message: str) -> dict[str, Type]:
        """Return the types of what a message carries."""
        if message not in self._carried:
            self._carried[message] = {}  # a message that carries itself ends here
            scope = self._scopes.about(message)
            carries = self._lifecycle.messages[message].carries
            self._carried[message] = {key.text: _kind(expr, scope) for key, expr in carries}
        return self._carried[message]

    def leads_to(self, kind: Type, message: str, on_the_way: frozenset[str] = frozenset()) -> bool:
        """Return whether a value has messages of a kind within it, in whatever depth."""
        inner: Iterable[Type] = ()
        match kind:
            case MessageType(name=name):
                if name == message:
                    return True
                inner = self.carried(name).values() if name not in on_the_way else ()
                on_the_way |= {name}
            case Ref(entity=name) if name not in on_the_way:
                scope = self._scopes.model({variable_of(name): Ref(name)})
                inner = [_kind(expr, scope) for _, expr in self._lifecycle.entities[name].shows]
                on_the_way |= {name}
            case List(item=item) | Optional(item=item):
                inner = (item,)
        return any(self.leads_to(each, message, on_the_way) for each in inner)

    def receiver(self, message: str) -> Type:
        """Return the type of a message's receiver."""
        to = self._lifecycle.messages[message].to
        return NULL if to is None else _kind(to, self._scopes.about(message))

    def given(self, operation: OperationSpec) -> Type:
        """Return the type of what an operation replies; null when nothing is compared."""
        gives = operation.gives
        if gives is None:
            return NULL
        scope = self._scopes.operation(operation)
        if gives.fields is not None:
            return self._fields(gives.fields, scope, operation.name.text)
        if gives.value is not None:
            kind = self.sees(_kind(gives.value, scope))
            return List(kind.item, gives.unordered) if isinstance(kind, List) else kind
        kinds = [self.sees(_kind(expr, scope)) for expr in gives.any_of]
        for when, expr in gives.branches:
            here = scope if when is None else scope.with_present(facts(when.node, True))
            kinds.append(self.sees(_kind(expr, here)))
            scope = scope if when is None else scope.with_present(facts(when.node, False))
        first = next((present(kind) for kind in kinds if kind != NULL), NULL)
        return optional(first) if any(isinstance(kind, Optional) or kind == NULL for kind in kinds) else first

    def signals(self) -> RecordType:
        """Return the type of the signals that come with a reply: by name, the fields of each that came."""
        kinds = []
        for signal, fields in self._lifecycle.signals.items():
            seen = tuple((key, self.sees(self._types.resolve(use))) for key, use in fields.items())
            kinds.append((signal, List(RecordType(seen, signal))))
        return RecordType(tuple(kinds), "the signals")


def _kind(expr: Expr, scope: Scope) -> Type:
    return check(expr.node, scope)[0].type
