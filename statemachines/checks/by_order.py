"""What a row witnesses in each order in which its calls at once can come: a right system may always show one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from statemachines.bounds import USUAL
from statemachines.checks.choices import orders, watched
from statemachines.compile import Compiled
from statemachines.kernel import within
from statemachines.model import Impossible
from statemachines.rows import ModelSubject, Program, RowFailure, RowTooLong


def witnessed_by_order(
    compiled: Compiled,
    program: Program,
    values: Mapping[str, Any],
    limits: Mapping[str, int | None],
    policies: Mapping[str, Any],
) -> list[frozenset[str]]:
    """Return the paths of the clauses that a row witnesses on the model, for each order of its calls at once; none if it fails.

    `values` are those of its parameters.
    """
    model: Any = watched(compiled, USUAL)(limits, policies)

    def witnessed(subject: ModelSubject) -> frozenset[str]:
        model.seen = bytearray(len(compiled.kernel.clauses))
        program.run(subject, values)
        found: frozenset[str] = model.witnessed()
        return found

    first = ModelSubject(model, compiled.kernel)
    try:
        found = [witnessed(first)]
        for order in orders(first.widest, USUAL.orders):
            model.reset()
            found.append(witnessed(ModelSubject(model, compiled.kernel, order)))
    except (RowFailure, RowTooLong, Impossible):
        return []
    return found


def only_in_some_order(
    compiled: Compiled,
    program: Program,
    every: Iterable[Mapping[str, Any]],
    limits: Mapping[str, int | None],
    policies: Mapping[str, Any],
    paths: Sequence[str],
) -> bool:
    """Return whether a row witnesses each of some clauses in one order of its calls at once, and in another one does not.

    `every` are all values of its parameters: by none of them is one of these clauses witnessed in each order.
    """
    sometimes: set[str] = set()
    always: set[str] = set()
    for values in every:
        found = witnessed_by_order(compiled, program, values, limits, policies)
        if not found:
            return False
        sometimes |= frozenset.union(*found)
        always |= frozenset.intersection(*found)

    def witnessed(path: str, among: set[str]) -> bool:
        return any(within(each, path) for each in among)

    return all(witnessed(path, sometimes) and not witnessed(path, always) for path in paths)
