"""All vectors of a life cycle, for the limits and choices that somebody names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.system import declared
from conformance.vectors.rows import RowVectors
from conformance.vectors.tour import Tour
from conformance.vectors.vector import Oracle, Vector
from statemachines.compile import Compiled
from statemachines.requirements import requirements_of


@dataclass(frozen=True, slots=True)
class Export:
    """Vectors, and what they are for.

    rules        the digest of the rules and rows that they come from
    policies     the choices; `any` where each is right that a system need not declare
    left_out     how many cases there are no vectors for, by reason
    not_covered  the clauses of operations and records that no vector comes to
    """

    lifecycle: str
    revision: int
    rules: str
    limits: Mapping[str, int | None]
    policies: Mapping[str, Any]
    left_out: Mapping[str, int]
    not_covered: Sequence[str]
    vectors: Sequence[Vector]


def exported(compiled: Compiled, limits: Mapping[str, int | None], policies: Mapping[str, Any]) -> Export:
    """Return the vectors of a life cycle for some limits and choices, the defaults for all others.

    Raises DeclarationError for what the life cycle does not have.
    """
    words = {"limits": limits, "policies": policies, "clock": "virtual"}
    oracle = Oracle(compiled, declared(compiled, words, has_wait=True, asynchronous=False))
    rows = RowVectors(oracle)
    vectors = [*rows.vectors()]
    tour = Tour(oracle, rows.witnessed)
    vectors += tour.vectors()
    spec = compiled.lifecycle
    free = dict.fromkeys(compiled.kernel.undeclared, "any")
    return Export(
        spec.name,
        spec.version,
        requirements_of(spec).rules,
        {**dict(compiled.kernel.limits), **limits},
        {**dict(compiled.kernel.policies), **free, **policies},
        rows.left_out + tour.left_out,
        tour.not_covered,
        vectors,
    )
