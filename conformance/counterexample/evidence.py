"""From a case that failed to its counterexample: the shortest trace that shows the fault, or the row as it ran."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.budget import never
from conformance.counterexample.again import Again
from conformance.counterexample.as_played import as_played, partly_explained
from conformance.counterexample.choice import choice_that_explains
from conformance.counterexample.diagnosis import diagnosed
from conformance.judge import Case, Finding, kernel_facts
from conformance.system import HarnessError
from conformance.verdict import Counterexample
from statemachines.rows import RowFailure


class Fails(AssertionError):
    """One run of a row that does not hold: because of a finding, or only because of its own claim."""

    def __init__(
        self, case: Case, values: Mapping[str, Any], failure: RowFailure | None, finding: Finding | None
    ) -> None:
        message = failure.message if failure is not None else str(finding)
        super().__init__(message)
        self.case = case
        self.finding = finding
        self.values = values
        self.failure = failure
        self.transcript = case.adapter.transcript()


def shrunk(
    case: Case,
    *,
    rounds: int = 1,
    wanted: Sequence[Finding] = (),
    others: Sequence[Finding] = (),
    fits: Callable[[str, str], bool] = lambda *_: True,
    by_any: bool = False,
    late: Callable[[], bool] = never,
) -> Counterexample | None:
    """Shrink what a case recorded; None when playing it again does not show the fault, or cannot be done.

    `wanted` are the findings of which one has to show, in place of the first one of the case, and `others` are faults that are
    shown elsewhere. `fits` tells whether another choice of a policy makes nothing else wrong: then it may be told that it
    would make this right. `by_any`: whichever clause explains the shortest trace is told, not only one that is known to be broken. `late`
    tells whether the time of the whole run is used up: then nobody looks longer for the shortest than the budget says.
    """
    found = case.faults or ([case.finding] if case.finding is not None else case.judge.findings)
    limit = case.adapter.limit
    try:
        left_out = case.judge.deviating
        again = Again(case, list(wanted or found), rounds, left_out, others=others, by_any=by_any, late=late)
        return _shrunk(again, fits)
    except HarnessError:  # a system that is broken beyond a fresh start; the fault stands all the same
        return None
    finally:
        case.adapter.limit = limit


def _shrunk(again: Again, fits: Callable[[str, str], bool]) -> Counterexample | None:
    case, adapter, budget = again.case, again.case.adapter, again.case.budget
    until = time.monotonic() + budget.reproduce_seconds
    first = again.first()
    if first.finding is None or again.contradicts(first):
        plain = again.unexplained()
        shown = plain.first()
        again, first = (plain, shown) if shown.finding is not None else (again, first)
    if first.finding is None:
        return None
    first = again.alone(first)
    again = replace(again, beside=first.given)
    if again.hangs:
        adapter.limit = min(adapter.limit, budget.hang_seconds)
    again, first = again.one_caller(first, until)
    best = again.shortest(first)
    by_one, shown = again.one_caller(best, time.monotonic() + budget.reproduce_seconds)
    if by_one is not again:
        again, first, best = by_one, shown, by_one.shortest(shown)
    best, hits, rounds = again.confirmed(first, best)
    best, written = again.in_words(again.with_its_cause(best))
    choice = (
        choice_that_explains(case, best, again.once, fits)
        if again.rounds == 1 and not (again.hangs or adapter.costly)
        else ""
    )
    finding = best.finding
    assert finding is not None  # the shrinker keeps what shows the fault
    cause = finding.clause if finding.spoke_of else ""
    order = partly_explained(case.compiled, adapter.declaration, budget, best.made, again.left_out)
    return Counterexample(
        row=written.text,
        calls=len(best.trace),
        clause=finding.clause,
        cause=cause,
        changing=kernel_facts.of(case.compiled).story((each.operation, each.arguments) for each in best.trace.calls()),
        matter=finding.matter,
        given=best.given,
        expected=written.expected,
        seen=f"{written.seen}; it would be right if {choice} were declared" if choice else written.seen,
        rounds=rounds,
        reproduced=hits,
        transcript=best.transcript,
        played=as_played(best.made, finding, order),
        ids=written.ids,
        diagnosis=None if again.rounds > 1 or again.hangs or choice else diagnosed(case, best, written.ids),
    )
