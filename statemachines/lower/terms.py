"""Typed expressions that no spec writes out: what its sentences imply."""

from __future__ import annotations

from statemachines.expression import Attribute, Const, Operate, Typed, Var, python_name
from statemachines.lifecycle import EntitySpec
from statemachines.types import BOOL, TIME, Enum, List, Ref, Type


def local(name: str, kind: Type) -> Typed:
    """Read a local name."""
    return Var(kind, 0, name, python_name(name))


def state_type(entity: EntitySpec) -> Enum:
    """Return the type of a state of an entity's records."""
    return Enum(f"{entity.name.text}.state", entity.states)


def state(entity: EntitySpec, name: str) -> Const:
    """Name one state."""
    return Const(Enum(f"{entity.name.text}.state", (name,)), 0, name)


def in_one_of(entity: EntitySpec, name: str, states: tuple[str, ...]) -> Typed:
    """Ask whether a record is in one of some states."""
    kind = state_type(entity)
    record = local(name, Ref(entity.name.text))
    return Operate(BOOL, 0, "in", Attribute(kind, 0, record, "state"), Const(List(kind), 0, states))


def equal(left: Typed, right: Typed) -> Typed:
    """Ask whether two values are equal."""
    return Operate(BOOL, 0, "==", left, right)


def negated(value: Typed) -> Typed:
    """Ask whether a condition does not hold."""
    return Operate(BOOL, 0, "!", None, value)


def later(instant: Typed, duration: Typed) -> Typed:
    """Return the instant that a duration ends."""
    return Operate(TIME, 0, "+", instant, duration)
