"""Which calls may wait long where that takes no time: who is woken comes back long before, and who is not does not.

One idea: what a spec says that an argument may be. Of a type with bounds these are the ends; but a row that binds, and gives more,
shows that they are only what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from conformance.judge import AT_ONCE, kernel_facts
from statemachines.compile import Compiled
from statemachines.explore import bounds_of
from statemachines.expression import FunctionCall, Literal, Var, nodes
from statemachines.rows import said_in

LONG_WAIT: Final = 2 * AT_ONCE
"""Milliseconds that such a call waits."""


@lru_cache(maxsize=8)
def waits_long(compiled: Compiled) -> frozenset[tuple[str, str]]:
    """Return the operations with the parameter that says how long each may wait, as far as that may be so long."""
    return frozenset(
        (operation, name) for operation, name in _lasting(compiled) if _may_be_long(compiled, operation, name)
    )


def _lasting(compiled: Compiled) -> Iterator[tuple[str, str]]:
    facts = kernel_facts.of(compiled)
    for operation in compiled.lifecycle.operations:
        wait = facts.wait(operation)
        if wait is not None and isinstance(wait.lasts, Var):
            yield operation, wait.lasts.name


def _may_be_long(compiled: Compiled, operation: str, name: str) -> bool:
    takes = compiled.lifecycle.operations[operation].takes
    bounds = bounds_of(compiled, takes[name])
    given = _given(compiled, operation, [*takes].index(name))
    return bounds is None or bounds[0] <= LONG_WAIT <= max((bounds[1], *given))


def _given(compiled: Compiled, operation: str, place: int) -> Iterator[int]:
    """Walk the numbers that rows of level MUST say in an argument of an operation."""
    for row in (each for each in compiled.lifecycle.rows.values() if each.level == "must"):
        for call in said_in(row):
            if isinstance(call, FunctionCall) and call.name == operation and len(call.arguments) > place:
                said = nodes(call.arguments[place])
                yield from (each.value for each in said if isinstance(each, Literal) and isinstance(each.value, int))
