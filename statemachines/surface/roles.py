"""Tree → roles: what is said of some records of a kind alone, in the words that say it of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from statemachines.expression import Conditional, FunctionCall, Name
from statemachines.lifecycle import DefinitionSpec, EntitySpec, Expr, OperationSpec, Role, TypeUse, Word
from statemachines.surface.reader import Reader
from statemachines.words import variable_of
from statemachines.yaml import Mapping, Node


def role(reader: Reader, entity: Word, name: Word, node: Node) -> Role:
    """Read one entry of `roles`: its condition is a named expression, as `is_agent(task)` of the role Agent."""
    body, variable = cast(Mapping, node), Word(variable_of(entity.text), entity.where)
    asked = Word(f"is_{variable_of(name.text)}", name.where)
    condition = DefinitionSpec(asked, (variable,), reader.expr(body.get("when")))
    return Role(name, condition, reader.pairs(body.get("shows")))


def with_shows(entity: EntitySpec) -> EntitySpec:
    """Return a kind of record that shows also what its roles show: of a record that has not the role, anything."""
    own = tuple((key, _only(each, expr)) for each in entity.roles.values() for key, expr in each.shows)
    return replace(entity, shows=(*entity.shows, *own))


def _only(role: Role, expr: Expr) -> Expr:
    (variable,) = role.condition.parameters
    asked = FunctionCall(0, role.condition.name.text, None, (Name(0, variable.text),))
    return replace(expr, node=Conditional(0, asked, expr.node, Name(0, "anything")))


def with_entities(operation: OperationSpec, entities: Iterable[EntitySpec]) -> OperationSpec:
    """Return an operation whose parameters have the types of the records of which they take a role."""
    owners = {name: entity for entity in entities for name in entity.roles}

    def taken(use: TypeUse) -> TypeUse:
        owner = owners.get(use.name.text)
        return use if owner is None else replace(use, name=Word(owner.name.text, use.name.where), role=use.name)

    return replace(operation, takes={name: taken(use) for name, use in operation.takes.items()})
