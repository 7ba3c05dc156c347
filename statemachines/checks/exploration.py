"""What the search of the small scope shows: invariants that break, and clauses that nothing comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from statemachines.bounds import Bounds
from statemachines.checks.coverage import said, silent
from statemachines.checks.example import as_row
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic
from statemachines.explore import Exploration, Violation, explore


@dataclass(slots=True)
class Explored:
    """What the search found; `dead` are the clauses that neither it nor a row came to, if it was `whole`."""

    faults: list[Diagnostic] = field(default_factory=list)
    dead: frozenset[str] = frozenset()
    states: int = 0
    transitions: int = 0
    whole: bool = True


def search(compiled: Compiled, witnessed: frozenset[str] | None, bounds: Bounds) -> Explored:
    """Explore the small scope. `witnessed` are the clauses that rows came to; None: not all rows were run."""
    exploration = explore(compiled, bounds=bounds)
    found = Explored(states=exploration.states, transitions=exploration.transitions, whole=exploration.complete)
    if exploration.violation is not None:
        found.faults.append(_violated(compiled, exploration.violation))
    elif exploration.complete and witnessed is not None:
        dead = list(_dead(compiled, exploration, witnessed))
        found.dead = frozenset(path for path, _ in dead)
        found.faults += [fault for _, fault in dead]
    return found


def _dead(compiled: Compiled, exploration: Exploration, witnessed: frozenset[str]) -> Iterator[tuple[str, Diagnostic]]:
    """Tell of clauses that neither the search nor a row came to."""
    known = witnessed | exploration.witnessed | silent(compiled)
    for clause in said(compiled):
        path = clause.path
        if path not in known:
            message = f"nothing ever comes to {path}: {clause.text}"
            hint = "its condition never holds with the limits and policies by default: correct it, or remove the clause"
            yield path, Diagnostic("dead-clause", clause.where, message, hint)


def _violated(compiled: Compiled, violation: Violation) -> Diagnostic:
    hint = f"the shortest way there, as a row:\n{as_row(compiled, violation)}"
    match violation.kind:
        case "invariant":
            message = f"{violation.name!r} does not hold after {len(violation.trace)} steps"
            return Diagnostic("invariant-broken", violation.where, message, hint)
        case "livelock":
            message = f"steps that must be taken follow one another for ever: {violation.name}"
            return Diagnostic("never-rests", violation.where, message, hint)
        case _:
            message = f"a step cannot be carried out: {violation.name}"
            return Diagnostic("step-fails", violation.where, message, hint)
