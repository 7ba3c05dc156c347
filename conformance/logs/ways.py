"""Several ways through a log: as the spec says, and without what it only recommends."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.budget import USUAL, Budget
from conformance.judge import kernel_facts
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
    best = Check(compiled, source, log_map, budget)
    best.go()
    left_out: tuple[str, ...] = ()
    ways = 0
    if best.refused is not None and best.told:
        other = Check(compiled, source, log_map, budget, told=frozenset(best.told))
        other.go()
        best = _farther(best, other)
    facts, declared = kernel_facts.of(compiled), log_map.declaration.policies
    while best.refused is not None and ways < MOST_WAYS:
        at_work = [each for each in facts.recommended_effects if each in best.tally.witnessed]
        at_work += [each for each in facts.recommended_policies if each.removeprefix("policies.") not in declared]
        candidates = [(*left_out, each) for each in at_work if each not in left_out]
        candidates += [(*left_out, *(each for each in at_work if each not in left_out))] if len(candidates) > 1 else []
        before = best
        for candidate in candidates[: MOST_WAYS - ways]:
            ways += 1
            other = Check(compiled, source, log_map, budget, candidate)
            other.go()
            if _farther(best, other) is other:
                best, left_out = other, candidate
                break
        if best is before:
            break
    return LogResult(
        compiled.lifecycle.name,
        source.name,
        best.tally,
        best.refused,
        best.refused.uncertain if best.refused is not None else "",
        left_out,
        len(compiled.kernel.clauses),
    )


def _farther(one: Check, other: Check) -> Check:
    """Return the way that explains more of the log, the first of two that explain as much."""
    if other.refused is None:
        return other
    return other if one.refused is not None and other.number > one.number else one
