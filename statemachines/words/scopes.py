"""What names mean in the expressions of the model: limits, records, variables, messages, local names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from statemachines.expression import Scope, Typed, Var, Vocabulary, check, python_name
from statemachines.lifecycle import Lifecycle, OperationSpec
from statemachines.types import INT, TIME, UNKNOWN, List, MessageType, Ref, Type, optional
from statemachines.words.types import Types, name_of_new, variable_of


class Scopes:
    """Gives the scope of every place in a spec where an expression can stand."""

    def __init__(self, words: Vocabulary, types: Types) -> None:
        self._words = words
        self._types = types
        self._lifecycle: Lifecycle = types.lifecycle

    def model(self, names: Mapping[str, Type] | None = None) -> Scope:
        """Return the scope of an expression of the model, with local names of these types."""
        found = {**self.declared, **self._state}
        for name, kind in (names or {}).items():
            found[name] = Var(kind, 0, name, python_name(name))
        return Scope(self._words, found)

    def about(self, message: str) -> Scope:
        """Return the scope of a message's expressions: the record that it is about; of any type where there is no such entity."""
        entity = self._lifecycle.messages[message].about.text
        return self.model({variable_of(entity): Ref(entity) if entity in self._lifecycle.entities else UNKNOWN})

    def definition(self, name: str, kinds: tuple[Type, ...]) -> Scope:
        """Return the scope of a named expression's body, for arguments of these types."""
        parameters = self._lifecycle.definitions[name].parameters
        return self.model({word.text: kind for word, kind in zip(parameters, kinds, strict=True)})

    def arguments(self, operation: OperationSpec) -> Scope:
        """Return the scope of what an operation asks and sets: its parameters, and what it reads before its effects."""
        return self.model(self._given(operation))

    def _given(self, operation: OperationSpec) -> dict[str, Type]:
        names: dict[str, Type] = {name: self._types.resolve(use) for name, use in operation.takes.items()}
        for word, expr in operation.reads:  # each may use those before it
            names[word.text] = check(expr.node, self.model(names))[0].type
        return names

    def operation(self, operation: OperationSpec) -> Scope:
        """Return the scope of an operation's effects and reply: its parameters, what it creates and sends."""
        names = self._given(operation)
        for creation in operation.creations:
            entity = creation.entity.text
            if entity in self._lifecycle.entities:
                declared = self._lifecycle.entities[entity]
                kind = Ref(entity) if creation.condition(declared) is None else optional(Ref(entity))
                names.setdefault(name_of_new(creation, declared), kind)
        scope = self.model(names)
        for sending in operation.sends:
            name = sending.name.text
            kind = check(sending.messages.node, scope)[0].type
            scope = scope.with_names({name: Var(kind, 0, name, python_name(name))})
        return scope

    @cached_property
    def declared(self) -> dict[str, Typed]:
        """Limits and policies, which both the model and the rows can read."""
        found: dict[str, Typed] = {}
        for name, limit in self._lifecycle.limits.items():
            number = optional(INT) if limit.optional else INT
            found[f"limits.{name}"] = Var(number, 0, f"limits.{name}", f"self.limits.{python_name(name)}")
        for name in self._lifecycle.policies:
            kind = self._types.declared[f"policies.{name}"]
            found[f"policies.{name}"] = Var(kind, 0, f"policies.{name}", f"self.policies.{python_name(name)}")
        return found

    @cached_property
    def _state(self) -> dict[str, Typed]:
        """The clock, the records of every entity, the variables, and the messages due and sent."""
        found: dict[str, Typed] = {"now": Var(TIME, 0, "now", "self.now")}
        for name, entity in self._lifecycle.entities.items():
            source = f"self.{python_name(entity.plural)}.values()"
            found[entity.plural] = Var(List(Ref(name)), 0, entity.plural, source)
        for name, use in self._lifecycle.variables.items():
            found[name] = Var(self._types.resolve(use), 0, name, f"self.{python_name(name)}")
        for name in self._lifecycle.messages:
            for box in ("due", "sent"):
                source = f"self.{box}_{name.lower()}"
                found[f"{box}.{name}"] = Var(List(MessageType(name)), 0, f"{box}.{name}", source)
        return found
