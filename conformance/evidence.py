"""From a case that failed to its counterexample: the shortest trace that shows the fault, or the row as it ran."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from conformance.adapter import Adapter, HarnessError
from conformance.case import CallFailed, Case, calls_made
from conformance.counterexample import as_row, row_as_it_ran
from conformance.divergence import Divergence
from conformance.shrink import Shrinker, Shrunk
from conformance.trace import Played, Trace, play, symbolic
from conformance.verdict import Counterexample
from statemachines.compile import Compiled
from statemachines.lifecycle import Row
from statemachines.proof import holds
from statemachines.rows import Program, RowFailure

SHRINK_SECONDS = 3.0  # for a trace or a row; four times as long with calls at once
SURE = 3  # times that a trace or a row shows its fault when it is run again, or it depends on chance
MORE = 4  # times as many schedules, where a fault has not shown again
HANG_SECONDS = 0.4  # how long a call may take while a hang is shrunk


class Fails(AssertionError):
    """One run of a row that does not hold."""

    def __init__(self, case: Case, values: Mapping[str, Any], failure: RowFailure | None) -> None:
        message = failure.message if failure is not None else str(case.divergence)
        super().__init__(message)
        self.case = case
        self.values = values
        self.failure = failure
        self.transcript = case.adapter.transcript()


def shrink_seconds(adapter: Adapter) -> float:
    """Give how long a trace or a row may be shortened: five times as long where calls are costly."""
    return SHRINK_SECONDS * (5 if adapter.costly else 1)


def shrunk(compiled: Compiled, adapter: Adapter, case: Case, *, rounds: int = 1) -> Counterexample | None:
    """Shrink what a case recorded; None when playing it again does not show the fault, or cannot be done."""
    limit = adapter.limit
    try:
        return _shrunk(compiled, adapter, case, rounds)
    except HarnessError:  # a system that is broken beyond a fresh start; the fault stands all the same
        return None
    finally:
        adapter.limit = limit


def _shrunk(compiled: Compiled, adapter: Adapter, case: Case, rounds: int) -> Counterexample | None:
    must = case.divergence is not None and not case.divergence.should

    def once(trace: Trace, seed: int) -> Played:
        """Play a trace: of a fault, what is only a finding of level SHOULD shows nothing."""
        played = play(compiled, adapter, trace, seed)
        only_recommended = played.divergence is not None and played.divergence.should
        return Played(None, Trace(())) if must and only_recommended else played

    def attempt(trace: Trace, seconds: float = 0.6, tries: int = rounds) -> Played:
        end = time.monotonic() + seconds
        played = Played(None, Trace(()))
        for number in range(tries):
            played = once(trace, case.seed + number)
            if played.divergence is not None or time.monotonic() > end:
                break
        return played

    hangs = case.divergence is not None and case.divergence.kind == "hang"
    first = attempt(symbolic(compiled, case.trace), 10, 4 * rounds)
    if first.divergence is None:
        return None
    if hangs:
        adapter.limit = min(adapter.limit, HANG_SECONDS)
    best = Shrinker(compiled, attempt, shrink_seconds(adapter) * (4 if rounds > 1 else 1)).shrink(first)
    hits, rounds = _reproduced(partial(once, best.trace), rounds, enough=2 if hangs else rounds)
    if hangs and not hits:  # what was called a hang was only slow
        best = Shrunk(first.trace, first, best.tries)
    if hits < rounds and not any(each.at_once for each in case.trace):  # what was left out made it sure
        again = [attempt(first.trace, tries=1).divergence is not None for _ in range(SURE)]
        if all(again):
            best, hits, rounds = Shrunk(first.trace, first, best.tries), 1, 1
    divergence = best.played.divergence
    assert divergence is not None  # the shrinker keeps what shows the fault
    written = as_row(compiled, best.played)
    if not holds(compiled, written.text, adapter.declaration.limits, adapter.declaration.policies):
        written = as_row(
            compiled, best.played, asserting=False
        )  # a right system may do something else as well
    return Counterexample(
        row=written.text,
        calls=len(best.trace),
        clause=divergence.clause,
        expected=written.expected,
        seen=written.seen,
        rounds=rounds,
        reproduced=hits,
        transcript=best.played.transcript,
    )


def _reproduced(once: Callable[[int], Played], rounds: int, enough: int) -> tuple[int, int]:
    """Count in how many of how many schedules a trace shows a fault: in so many, or more until it does once."""
    hits = 0
    for number in range(MORE * rounds):
        hits += once(number).divergence is not None
        if hits >= enough or (hits and number + 1 >= rounds):
            return hits, number + 1
    return hits, MORE * rounds


def row_itself(compiled: Compiled, program: Program, failed: Fails) -> Counterexample:
    """Give the row as it ran, for what only its own assertion can tell."""
    expected, seen = because(program.row, failed.failure, None if failed.failure else failed.case.divergence)
    text = row_as_it_ran(compiled, program, failed.values)
    clause, calls = program.row.covers[0].text, calls_made(failed.case.trace)
    return Counterexample(text, calls, clause, expected, seen, transcript=failed.transcript)


def because(row: Row, failure: RowFailure | None, divergence: Divergence | None) -> tuple[str, str]:
    """Say what was expected and what was seen: by the model, of a call without a proper answer, or by an assertion."""
    if divergence is None and isinstance(failure, CallFailed):
        divergence = failure.divergence
    if divergence is not None:
        return divergence.expected, divergence.seen
    if failure is not None and failure.expr is not None:
        return " ".join(failure.expr.text.split()), failure.message
    return row.about, "it does not hold" if failure is None else failure.message
