"""A way through the configurations as a row of the matrix, in the spec's own words."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from statemachines.compile import Compiled
from statemachines.explore import Violation, scopes
from statemachines.model import Impossible
from statemachines.rows import Call, Names, Observed, row_text, symbolic, written

MOST_STEPS: Final = 50
_TOLD: Final = {
    "invariant": "{} - does not hold afterwards.",
    "livelock": "The implementation never rests afterwards.",
    "failure": "The last step cannot be carried out.",
}


def as_row(compiled: Compiled, violation: Violation) -> str:
    """Return the shortest way to a violation as a row that can be put into the matrix.

    Its one assertion is `true`: what does not hold is an invariant, and no caller sees that. Steps that
    the implementation takes unasked are comments, for a row cannot ask for them.
    """
    limits = scopes(compiled, {})[0].limits
    trace = symbolic(compiled.kernel, _made(compiled, limits, violation.trace.calls()))
    clauses = compiled.kernel.clauses
    text = row_text(
        "X0",
        _TOLD[violation.kind].format(violation.name),
        "must",
        "the search of the small scope",
        [next((each.path for each in clauses if each.where == violation.where), violation.name)],
        written(trace.steps, Names(compiled, trace.calls()), set()),
        needs=[f"limits.{name} == {size}" for name, size in limits.items()],
    )
    return "\n".join(f"  {line}" for line in text.splitlines())


def _made(compiled: Compiled, limits: Mapping[str, int], steps: Iterable[Call]) -> Iterator[Observed]:
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
            else:
                reply = model.do(step.operation, arguments).value
            for forced in itertools.islice(model.to_rest(), MOST_STEPS):
                model.take(*forced)
        except (ArithmeticError, LookupError, ValueError, Impossible):
            pass
        yield Observed(step.operation, arguments, reply)
