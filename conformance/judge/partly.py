"""The longest part of calls made at once that some order explains, for a person who looks at the whole."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.budget import Budget
from conformance.judge.history import Event, History, longest
from conformance.judge.lockstep import Lockstep
from conformance.system import Declaration
from statemachines.compile import Compiled
from statemachines.model import Restless


def partly_explained(
    compiled: Compiled, declaration: Declaration, budget: Budget, events: Sequence[Event], deviating: Sequence[str] = ()
) -> tuple[int, ...]:
    """Return the places, among the calls made at once at the end, of the most that some order explains, in that order.

    None where the events do not end so, or where what came before is not explained. `deviating` are clauses that the
    system need not keep.
    """
    if not events or not isinstance(events[-1], History):
        return ()
    lockstep = Lockstep(compiled.without(declaration.unsent), declaration, budget, deviating=deviating)
    try:
        if any(lockstep.advance(each) is not None for each in events[:-1]):
            return ()
        return max((longest(lockstep.stepper, each, events[-1]) for each in lockstep.configurations), key=len)
    except Restless:
        return ()
