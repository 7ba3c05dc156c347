"""A row that fails, without the steps that its failure does not need.

It is for what only a claim of the row tells, and for a trace that did not show its fault when it was played again;
else the trace is shrunk, call by call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from conformance.adapter import HarnessError
from conformance.counterexample import row_as_it_ran
from conformance.declaration import Declaration
from conformance.evidence import SURE, Fails
from statemachines.compile import Compiled
from statemachines.lifecycle import Row, Step
from statemachines.proof import holds
from statemachines.rows import Program, RowCompiler, RowFailure, RowTooLong


def without_needless_steps(
    compiled: Compiled,
    declaration: Declaration,
    program: Program,
    failed: Fails,
    once: Callable[[Program], None],
    seconds: float,
) -> tuple[Program, Fails]:
    """Leave out what can go while the same claim fails, each time, and the model still keeps it.

    `once` runs a row, and raises Fails where it does not hold. After so many seconds no more is tried.
    """
    claim = failed.failure.expr if failed.failure is not None else None
    if claim is None or claim not in program.row.asserts:
        return program, failed
    until = time.monotonic() + seconds
    shorter, still, before = program, failed, None
    while shorter is not before:  # a step may go now that another one did
        before = shorter
        for step in reversed(_steps(before)):
            left = [each for each in _steps(shorter) if each is not step]
            if not left or time.monotonic() > until:
                break
            cut = _typed(
                compiled, replace(program.row, arrange=(), act=tuple(left), asserts=(claim,), open=())
            )
            if cut is not None and _is_right(compiled, declaration, cut, failed):
                again = _fails(once, cut, failed)
                shorter, still = (cut, again) if again is not None else (shorter, still)
    sure = shorter is program or all(_fails(once, shorter, failed) for _ in range(SURE))
    return (shorter, still) if sure else (program, failed)


def _steps(program: Program) -> list[Step]:
    return [*program.row.arrange, *program.row.act]


def _typed(compiled: Compiled, row: Row) -> Program | None:
    """Type a row; None where a step is gone whose reply another one needs."""
    compiler = RowCompiler(compiled.lifecycle)
    program = compiler.program(row)
    return None if compiler.faults else program


def _is_right(compiled: Compiled, declaration: Declaration, program: Program, failed: Fails) -> bool:
    """Tell whether the model keeps the row, whatever it chooses."""
    text = row_as_it_ran(compiled, program, failed.values)
    return holds(compiled, text, declaration.limits, declaration.policies)


def _fails(once: Callable[[Program], None], program: Program, failed: Fails) -> Fails | None:
    """Run a row; give what came of it if it fails as before. What cannot be run tells nothing, and the fault stands."""
    try:
        once(program)
    except Fails as again:
        return again if _alike(again.failure, failed.failure) else None
    except (HarnessError, RowTooLong):
        return None
    return None


def _alike(one: RowFailure | None, other: RowFailure | None) -> bool:
    """Tell whether the same claim fails in the same way: it is false, cannot be evaluated, or a call has no answer."""
    return one is not None and other is not None and one.expr is other.expr and type(one) is type(other)
