"""What conditions and values come to for a record that is in a certain state, as far as the state alone decides it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from statemachines import kernel
from statemachines.expression import (
    Attribute,
    Choose,
    Const,
    Defined,
    InGroup,
    Operate,
    Typed,
    Var,
    every_part,
    renamed,
)
from statemachines.types import UNKNOWN, List, Optional, Ref


@dataclass(frozen=True, slots=True)
class InState:
    """The record of a kind that has this name, in this state."""

    source: kernel.Kernel
    entity: kernel.Entity
    name: str
    state: str

    def all_hold(self, conditions: Iterable[Typed]) -> bool | None:
        """Return whether all of some conditions hold; None where that takes more than the state."""
        found = [self.holds(each) for each in conditions if self._is_about_records(each)]
        return False if False in found else None if None in found else True

    def holds(self, condition: Typed) -> bool | None:
        """Return whether a condition holds; None where that takes more than the state."""
        match condition:
            case Const(value=bool(value)):
                return value
            case InGroup(of=of, group=group) if self._is_it(of):
                return self.state in dict(self.entity.groups)[group]
            case Operate(operator="!", right=right):
                found = self.holds(right)
                return None if found is None else not found
            case Operate(operator="&&", left=Typed() as left, right=right):
                return self.all_hold([left, right])
            case Operate(operator="||", left=Typed() as left, right=right):
                both = [self.holds(left), self.holds(right)]
                return True if True in both else None if None in both else False
            case Operate(operator="==" | "!=" | "in" as operator, left=Typed() as left, right=right):
                return self._compared(operator, left, right)
            case Defined() if (body := self._written_out(condition)) is not None:
                return self.holds(body)
        return None

    def leads(self, value: Typed) -> tuple[str, ...] | None:
        """Return the states that a value can be; None where it may be any."""
        match value:
            case Const(value=str(state)):
                return (state,)
            case Attribute(of=of, name="state") if self._is_it(of):
                return (self.state,)
            case Choose(condition=condition, value=one, otherwise=other):
                held = self.holds(condition)
                both = [self.leads(each) for each, when in ((one, True), (other, False)) if held in (None, when)]
                return None if None in both else tuple(dict.fromkeys(state for each in both for state in each or ()))
            case Defined() if (body := self._written_out(value)) is not None:
                return self.leads(body)
        return None

    def _is_about_records(self, condition: Typed) -> bool:
        """Return whether a condition can tell the record from others of its kind: any other holds in each of its states."""
        kind = Ref(self.entity.name)
        about = (kind, List(kind), Optional(kind), UNKNOWN)
        return any(part.type in about for part in every_part(condition))

    def _is_it(self, value: Typed) -> bool:
        return isinstance(value, Var) and value.name == self.name

    def _compared(self, operator: str, left: Typed, right: Typed) -> bool | None:
        one, other = self._state(left), self._state(right)
        if one is None or other is None:
            return None
        return one in other if operator == "in" else (one == other) == (operator == "==")

    def _state(self, value: Typed) -> str | tuple[str, ...] | None:
        match value:
            case Attribute(of=of, name="state") if self._is_it(of):
                return self.state
            case Const(value=str() | tuple() as words):
                return words
        return None

    def _written_out(self, use: Defined) -> Typed | None:
        """Return the body of a named expression about the record; None where it is given something else as well."""
        found = next(each for each in self.source.definitions if each.name == use.name)
        if not all(map(self._is_it, use.arguments)):
            return None
        body = found.body
        for parameter in found.parameters:
            body = renamed(body, parameter, self.name)
        return body
