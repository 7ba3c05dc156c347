"""A row that fails as its own counterexample, without the steps that its failure does not need.

It is for what only a claim of the row tells, and for a trace that did not show its fault when it was played again;
else the trace is shrunk, call by call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from conformance.counterexample.as_played import as_played
from conformance.counterexample.evidence import Fails
from conformance.counterexample.shrink import Cutter
from conformance.judge import CallFailed, Finding
from conformance.system import HarnessError
from conformance.verdict import Counterexample
from statemachines.checks import holds
from statemachines.lifecycle import Row
from statemachines.rows import Program, RowCompiler, RowFailure, RowTooLong, row_as_it_ran


def without_needless_steps(program: Program, failed: Fails, once: Callable[[Program], None]) -> tuple[Program, Fails]:
    """Leave out what can go while the same claim fails, each time, and the model still keeps it.

    `once` runs a row, and raises Fails where it does not hold.
    """
    case = failed.case
    compiled, budget, declaration = case.compiled, case.budget, case.adapter.declaration
    wrong = failed.failure.expr if failed.failure is not None else None
    claim = next((each for each in program.row.asserts if each.expr == wrong), None)
    if claim is None:
        return program, failed
    row, steps = program.row, (*program.row.arrange, *program.row.act)

    def test(kept: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[Program, Fails]] | None:
        act = tuple(steps[number] for number in kept)
        rows = RowCompiler(compiled.lifecycle)
        cut = rows.program(replace(row, arrange=(), act=act, asserts=(claim,), open=()))
        if rows.faults:  # a step is gone whose reply another one needs
            return None
        if not holds(compiled, row_as_it_ran(compiled, cut, failed.values), declaration.limits, declaration.policies):
            return None
        again = _fails(once, cut, failed)
        return (kept, (cut, again)) if again is not None else None

    until = time.monotonic() + budget.shrink_seconds
    cutter = Cutter(tuple(range(len(steps))), (program, failed), test, until, alike=tuple)
    cutter.repeat(
        lambda: cutter.drop(
            lambda kept: [{each} for each in kept], lambda kept, gone: tuple(each for each in kept if each not in gone)
        )
    )
    shorter, _ = cutter.shown
    sure = shorter is program or all(_fails(once, shorter, failed) for _ in range(budget.confirmations))
    return cutter.shown if sure else (program, failed)


def _fails(once: Callable[[Program], None], program: Program, failed: Fails) -> Fails | None:
    """Run a row; return what came of it if it fails as before. What cannot be run tells nothing, and the fault stands."""
    try:
        once(program)
    except Fails as again:
        # it fails alike: the same claim is false, cannot be evaluated, or a call has no answer
        one, other = again.failure, failed.failure
        alike = one is not None and other is not None and one.expr is other.expr and type(one) is type(other)
        return again if alike else None
    except (HarnessError, RowTooLong):
        return None
    return None


def row_itself(program: Program, failed: Fails) -> Counterexample:
    """Return the row as it ran, for what only its own assertion can tell."""
    expected, seen = because(program.row, failed.failure, None if failed.failure else failed.finding)
    text = row_as_it_ran(failed.case.compiled, program, failed.values)
    clause, calls = program.row.covers[0].text, len(failed.case.calls)
    played = as_played(failed.case.trace, failed.finding or failed.case.finding)
    return Counterexample(text, calls, clause, expected, seen, transcript=failed.transcript, played=played)


def because(row: Row, failure: RowFailure | None, finding: Finding | None) -> tuple[str, str]:
    """Say what was expected and what was seen: by the model, of a call without a proper answer, or by an assertion."""
    if finding is None and isinstance(failure, CallFailed):
        finding = failure.finding
    if finding is not None:
        return finding.expected, finding.seen
    if failure is not None and failure.expr is not None:
        return " ".join(failure.expr.text.split()), failure.message
    return row.about, "it does not hold" if failure is None else failure.message
