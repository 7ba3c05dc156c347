"""What the search of the small scope shows: invariants that break, and clauses that nothing comes to."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from statemachines.bounds import Bounds
from statemachines.checks.coverage import said, silent
from statemachines.checks.earlier import Earlier, RightScope
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic
from statemachines.explore import Violation, explore, scopes
from statemachines.kernel import Clause
from statemachines.model import NO_ANSWER, Impossible
from statemachines.rows import Call, Names, Observed, Trace, row_text, symbolic, written

MOST_STEPS: Final = 50
SOURCE: Final = "the search of the small scope"
_TOLD: Final = {
    "invariant": "{} - does not hold afterwards.",
    "livelock": "The implementation never rests afterwards.",
    "failure": "The last step cannot be carried out.",
}


@dataclass(slots=True)
class Explored:
    """What the search found; `dead` are the clauses that neither it nor a row came to, if it was `whole`."""

    faults: list[Diagnostic] = field(default_factory=list)
    dead: frozenset[str] = frozenset()
    states: int = 0
    transitions: int = 0
    whole: bool = True


def search(compiled: Compiled, witnessed: frozenset[str] | None, bounds: Bounds, earlier: Earlier) -> Explored:
    """Explore the small scope, where the bounds say so. `witnessed`: clauses that rows came to; None: not all rows were run.

    One that is known to be without a fault is not explored again.
    """
    if not bounds.small_scope:
        return Explored()
    scope = earlier.scope()
    if scope is None:
        exploration = explore(compiled, bounds=bounds)
        scope = RightScope(exploration.states, exploration.transitions, exploration.complete, exploration.witnessed)
        if exploration.violation is not None:
            return Explored([violated(compiled, exploration.violation)], frozenset(), *scope[:3])
        earlier.note_scope(scope)
    found = Explored([], frozenset(), *scope[:3])
    if scope.whole and witnessed is not None:
        known = witnessed | scope.witnessed | silent(compiled)
        dead = [clause for clause in said(compiled) if clause.path not in known]
        found.dead = frozenset(clause.path for clause in dead)
        found.faults += map(_never_comes, dead)
    return found


def _never_comes(clause: Clause) -> Diagnostic:
    message = f"nothing ever comes to {clause.path}: {clause.text}"
    hint = "in the small scope, with what is declared by default, it never holds: let a row come to it, give `scope` more, or remove it"
    return Diagnostic("dead-clause", clause.where, message, hint)


def violated(compiled: Compiled, violation: Violation) -> Diagnostic:
    """Return what is wrong with a spec in which something does not hold, with the shortest way there."""
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


def as_row(compiled: Compiled, violation: Violation) -> str:
    """Return the shortest way to a violation as a row that can be put into the matrix.

    Its one assertion is `true`: what does not hold is an invariant, and no caller sees that.
    """
    clauses = compiled.kernel.clauses
    covered = next((each.path for each in clauses if each.where == violation.where), violation.name)
    limits = scopes(compiled)[0].limits
    text = way_as_row(compiled, violation.trace, limits, _TOLD[violation.kind].format(violation.name), covered)
    return "\n".join(f"  {line}" for line in text.splitlines())


def way_as_row(
    compiled: Compiled, way: Trace, limits: Mapping[str, int | None], about: str, covered: str, name: str = "X0"
) -> str:
    """Return a way through the model as a row that claims nothing: it leads to what a caller does not see.

    Steps that the implementation takes unasked are comments, for a row cannot ask for them.
    """
    return row_text(
        name,
        about,
        "must",
        SOURCE,
        [covered],
        steps_of(compiled, way, limits),
        needs=[f"limits.{each} == {size}" for each, size in limits.items()],
    )


def steps_of(compiled: Compiled, way: Trace, limits: Mapping[str, int | None]) -> list[str]:
    """Return a way through the model as the steps of a row."""
    trace = symbolic(compiled.kernel, _made(compiled, limits, way.calls()))
    return written(trace.steps, Names(compiled, trace.calls()), set()) if trace.steps else []


def _made(compiled: Compiled, limits: Mapping[str, int | None], steps: Iterable[Call]) -> Iterator[Observed]:
    """Take steps on a model, and those that must follow each; the last one of a way may fail."""
    model: Any = compiled.model(limits)
    own = [step.clause for step in compiled.kernel.spontaneous]
    timers = [timer.clause for entity in compiled.kernel.entities for timer in entity.timers]
    for step in steps:
        arguments = dict(step.arguments)
        keys, reply = tuple(arguments.values()), None
        try:
            if step.operation in own:
                model.take(own.index(step.operation), keys)
            elif step.operation in timers:
                model.fire(timers.index(step.operation), *keys)
            elif step.operation == "wait":
                model.wait(*keys)
            elif model.decide(step.operation, arguments).accept:
                reply = model.do(step.operation, arguments).value
            for forced in itertools.islice(model.to_rest(), MOST_STEPS):
                model.take(*forced)
        except (*NO_ANSWER, Impossible):
            pass
        yield Observed(step.operation, arguments, reply)
