"""From a case that failed to its counterexample: the shortest trace that shows the fault, or the row as it ran."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from conformance.counterexample.play import NOTHING, Played, play, symbolic
from conformance.counterexample.shrink import shrink
from conformance.counterexample.text import as_row
from conformance.judge import CallFailed, Case, Finding
from conformance.system import HarnessError
from conformance.verdict import Counterexample
from statemachines.checks import holds
from statemachines.lifecycle import Row
from statemachines.rows import Program, RowFailure, Trace, row_as_it_ran


class Fails(AssertionError):
    """One run of a row that does not hold."""

    def __init__(self, case: Case, values: Mapping[str, Any], failure: RowFailure | None) -> None:
        message = failure.message if failure is not None else str(case.finding)
        super().__init__(message)
        self.case = case
        self.values = values
        self.failure = failure
        self.transcript = case.adapter.transcript()


def shrunk(case: Case, *, rounds: int = 1) -> Counterexample | None:
    """Shrink what a case recorded; None when playing it again does not show the fault, or cannot be done."""
    limit = case.adapter.limit
    try:
        return _shrunk(case, rounds)
    except HarnessError:  # a system that is broken beyond a fresh start; the fault stands all the same
        return None
    finally:
        case.adapter.limit = limit


def _shrunk(case: Case, rounds: int) -> Counterexample | None:
    compiled, adapter, budget = case.compiled, case.adapter, case.budget
    must = case.finding is not None and not case.finding.should

    def once(trace: Trace, seed: int) -> Played:
        """Play a trace: of a fault, what is only a finding of level SHOULD shows nothing."""
        played = play(compiled, adapter, trace, seed, budget)
        only_recommended = played.finding is not None and played.finding.should
        return NOTHING if must and only_recommended else played

    def attempt(trace: Trace, seconds: float = budget.attempt_seconds, tries: int = rounds) -> Played:
        end = time.monotonic() + seconds
        played = NOTHING
        for number in range(tries):
            played = once(trace, case.seed + number)
            if played.finding is not None or time.monotonic() > end:
                break
        return played

    hangs = case.finding is not None and case.finding.kind == "hang"
    recorded = symbolic(compiled, case.trace)
    first = attempt(recorded, budget.reproduce_seconds, budget.more_reproductions * rounds)
    if first.finding is None and len(case.made) > len(case.trace):  # a look told that it was no deviation from a SHOULD
        recorded = symbolic(compiled, case.made)
        first = attempt(recorded, budget.reproduce_seconds, budget.more_reproductions * rounds)
    if first.finding is None:
        return None
    if hangs:
        adapter.limit = min(adapter.limit, budget.hang_seconds)
    seconds = budget.shrink_seconds_at_once if rounds > 1 else budget.shrink_seconds
    best = shrink(compiled, attempt, first, seconds).shown
    most = budget.more_reproductions * rounds
    hits, rounds = _reproduced(partial(once, best.trace), rounds, most, enough=2 if hangs else rounds)
    if hangs and not hits:  # what was called a hang was only slow
        best = first
    if hits < rounds and not case.groups:  # what was left out made it sure
        again = [attempt(first.trace, tries=1).finding is not None for _ in range(budget.confirmations)]
        if all(again):
            best, hits, rounds = first, 1, 1
    finding = best.finding
    assert finding is not None  # the shrinker keeps what shows the fault
    written = as_row(compiled, best)
    if not holds(compiled, written.text, adapter.declaration.limits, adapter.declaration.policies):
        written = as_row(compiled, best, asserting=False)  # a right system may do something else as well
    return Counterexample(
        row=written.text,
        calls=len(best.trace),
        clause=finding.clause,
        expected=written.expected,
        seen=written.seen,
        rounds=rounds,
        reproduced=hits,
        transcript=best.transcript,
    )


def _reproduced(once: Callable[[int], Played], rounds: int, most: int, enough: int) -> tuple[int, int]:
    """Count in how many of how many schedules a trace shows a fault: in so many, or more until it does once."""
    hits = 0
    for number in range(most):
        hits += once(number).finding is not None
        if hits >= enough or (hits and number + 1 >= rounds):
            return hits, number + 1
    return hits, most


def row_itself(program: Program, failed: Fails) -> Counterexample:
    """Return the row as it ran, for what only its own assertion can tell."""
    expected, seen = because(program.row, failed.failure, None if failed.failure else failed.case.finding)
    text = row_as_it_ran(failed.case.compiled, program, failed.values)
    clause, calls = program.row.covers[0].text, len(failed.case.calls)
    return Counterexample(text, calls, clause, expected, seen, transcript=failed.transcript)


def because(row: Row, failure: RowFailure | None, finding: Finding | None) -> tuple[str, str]:
    """Say what was expected and what was seen: by the model, of a call without a proper answer, or by an assertion."""
    if finding is None and isinstance(failure, CallFailed):
        finding = failure.finding
    if finding is not None:
        return finding.expected, finding.seen
    if failure is not None and failure.expr is not None:
        return " ".join(failure.expr.text.split()), failure.message
    return row.about, "it does not hold" if failure is None else failure.message
