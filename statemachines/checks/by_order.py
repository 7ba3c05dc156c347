"""What a row witnesses in whichever order its calls at once come; of the rest a right implementation may witness nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statemachines.bounds import USUAL
from statemachines.checks.choices import orders, watched
from statemachines.compile import Compiled
from statemachines.rows import ModelSubject, Program


def witnessed_in_each_order(
    compiled: Compiled,
    program: Program,
    values: Mapping[str, Any],
    limits: Mapping[str, int | None],
    policies: Mapping[str, Any],
) -> frozenset[str]:
    """Return the paths of the clauses that a row which holds witnesses on the model, in each order of its calls at once.

    `values` are those of its parameters.
    """
    model: Any = watched(compiled, USUAL)(limits, policies)

    def witnessed(subject: ModelSubject) -> frozenset[str]:
        model.seen = bytearray(len(compiled.kernel.clauses))
        program.run(subject, values)
        found: frozenset[str] = model.witnessed()
        return found

    first = ModelSubject(model, compiled.kernel)
    found = witnessed(first)
    for order in orders(first.widest, USUAL.orders):
        model.reset()
        found &= witnessed(ModelSubject(model, compiled.kernel, order))
    return found
