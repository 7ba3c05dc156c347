"""A row that fails, without the steps that its failure does not need.

It is for what only a claim of the row tells, and for a trace that did not show its fault when it was played again;
else the trace is shrunk, call by call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.counterexample.cutter import Cutter
from conformance.counterexample.evidence import Fails
from conformance.system import HarnessError
from statemachines.checks import holds
from statemachines.compile import Compiled
from statemachines.lifecycle import Row
from statemachines.rows import Program, RowCompiler, RowFailure, RowTooLong, row_as_it_ran


def without_needless_steps(program: Program, failed: Fails, once: Callable[[Program], None]) -> tuple[Program, Fails]:
    """Leave out what can go while the same claim fails, each time, and the model still keeps it.

    `once` runs a row, and raises Fails where it does not hold.
    """
    budget = failed.case.budget
    wrong = failed.failure.expr if failed.failure is not None else None
    claim = next((each for each in program.row.asserts if each.expr == wrong), None)
    if claim is None:
        return program, failed
    row, steps = program.row, (*program.row.arrange, *program.row.act)

    def test(kept: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[Program, Fails]] | None:
        act = tuple(steps[number] for number in kept)
        cut = _typed(failed.case.compiled, replace(row, arrange=(), act=act, asserts=(claim,), open=()))
        if cut is None or not _is_right(cut, failed):
            return None
        again = _fails(once, cut, failed)
        return (kept, (cut, again)) if again is not None else None

    cutter = Cutter(tuple(range(len(steps))), (program, failed), test, budget.shrink_seconds, alike=tuple)
    cutter.repeat(lambda: cutter.drop(_each, _without))
    shorter, _ = cutter.shown
    sure = shorter is program or all(_fails(once, shorter, failed) for _ in range(budget.confirmations))
    return cutter.shown if sure else (program, failed)


def _each(kept: tuple[int, ...]) -> list[set[int]]:
    return [{number} for number in kept]


def _without(kept: tuple[int, ...], gone: set[int]) -> tuple[int, ...]:
    return tuple(number for number in kept if number not in gone)


def _typed(compiled: Compiled, row: Row) -> Program | None:
    """Type a row; None where a step is gone whose reply another one needs."""
    compiler = RowCompiler(compiled.lifecycle)
    program = compiler.program(row)
    return None if compiler.faults else program


def _is_right(program: Program, failed: Fails) -> bool:
    """Return whether the model keeps the row, whatever it chooses."""
    compiled, declaration = failed.case.compiled, failed.case.adapter.declaration
    text = row_as_it_ran(compiled, program, failed.values)
    return holds(compiled, text, declaration.limits, declaration.policies)


def _fails(once: Callable[[Program], None], program: Program, failed: Fails) -> Fails | None:
    """Run a row; return what came of it if it fails as before. What cannot be run tells nothing, and the fault stands."""
    try:
        once(program)
    except Fails as again:
        return again if _alike(again.failure, failed.failure) else None
    except (HarnessError, RowTooLong):
        return None
    return None


def _alike(one: RowFailure | None, other: RowFailure | None) -> bool:
    """Return whether the same claim fails in the same way: it is false, cannot be evaluated, or a call has no answer."""
    return one is not None and other is not None and one.expr is other.expr and type(one) is type(other)
