"""Several ways through a log: as the spec says, and without what it only recommends."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from conformance.budget import USUAL, Budget
from conformance.logs.checking import Check, LogTally
from conformance.logs.reading import LogMap, Source
from conformance.logs.telling import Refusal
from statemachines.compile import Compiled

MOST_WAYS = 12  # through a log, each without something that is only recommended


@dataclass(frozen=True, slots=True)
class LogResult:
    """What is known of a log when it was checked.

    refused      the entry that nothing explains
    uncertain    that need not be a fault: why
    not_followed what is recommended, and without which it is explained
    """

    lifecycle: str
    log: str
    tally: LogTally
    refused: Refusal | None
    uncertain: str = ""
    not_followed: tuple[str, ...] = ()
    clauses: int = 0


def checked(compiled: Compiled, path: str, log_map: LogMap, budget: Budget = USUAL) -> LogResult:
    """Return what comes of a log. Raises UsageError where it cannot be read, or a line of it.

    Where an entry is not explained, the log is read again without what is only recommended, or by what replies told of earlier
    instants; whatever explains more of it is right.
    """
    source = Source(path)

    def way(left_out: tuple[str, ...] = (), instants: frozenset[int] | None = None) -> Check:
        found = Check(compiled, source, log_map, budget, left_out, instants)
        found.go()
        return found

    best = way()
    if best.refused is not None and best.facts.chooses_instants and log_map.clock == "virtual":
        best = _farther(best, way(instants=frozenset(best.told)))
    tries = iter(range(MOST_WAYS))
    while best.refused is not None:
        candidates = zip(_leaving_out_more(best, log_map.declaration.policies), tries, strict=False)
        others = (way(left_out, best.instants) for left_out, _ in candidates)
        better = next((other for other in others if _farther(best, other) is other), None)
        if better is None:
            break
        best = better
    return LogResult(
        compiled.lifecycle.name,
        source.name,
        best.tally,
        best.refused,
        best.refused.uncertain if best.refused is not None else "",
        best.left_out,
        len(compiled.kernel.clauses),
    )


def _leaving_out_more(way: Check, declared: Collection[str]) -> list[tuple[str, ...]]:
    """Return what else may be left out of what is only recommended and was at work: one clause more, then all of them."""
    at_work = [each for each in way.facts.recommended_effects if each in way.tally.witnessed]
    at_work += [each for each in way.facts.recommended_policies if each.removeprefix("policies.") not in declared]
    more = [each for each in at_work if each not in way.left_out]
    one_more = [(*way.left_out, each) for each in more]
    return [*one_more, (*way.left_out, *more)] if len(more) > 1 else one_more


def _farther(one: Check, other: Check) -> Check:
    """Return the way that explains more of the log, the first of two that explain as much."""
    if other.refused is None:
        return other
    return other if one.refused is not None and other.number > one.number else one
