"""A row that fails, without the steps that its failure does not need: a claim of its own tells, and no rule.

Where the rules tell what is wrong, the trace is shrunk instead, call by call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from conformance.adapter import HarnessError
from conformance.counterexample import row_as_it_ran
from conformance.declaration import Declaration
from conformance.evidence import Fails
from statemachines.compile import Compiled
from statemachines.lifecycle import Expr, Row
from statemachines.proof import holds
from statemachines.rows import Program, RowCompiler, RowTooLong


def without_idle_steps(
    compiled: Compiled,
    declaration: Declaration,
    program: Program,
    failed: Fails,
    once: Callable[[Program], None],
    seconds: float,
) -> tuple[Program, Fails]:
    """Leave out what can go, the last step first, while the same claim fails and the model still keeps it.

    `once` runs a row, and raises Fails where it does not hold. What is left out is never put back.
    """
    claim = failed.failure.expr if failed.failure is not None else None
    if claim is None or claim not in program.row.asserts:
        return program, failed
    until = time.monotonic() + seconds
    steps = [*program.row.arrange, *program.row.act]
    for step in reversed(list(steps)):
        if time.monotonic() > until:
            break
        fewer = [each for each in steps if each is not step]
        shorter = _typed(
            compiled, replace(program.row, arrange=(), act=tuple(fewer), asserts=(claim,), open=())
        )
        if shorter is None or not _is_right(compiled, declaration, shorter, failed):
            continue
        again = _fails(once, shorter, claim)
        if again is not None:
            steps, program, failed = fewer, shorter, again
    return program, failed


def _typed(compiled: Compiled, row: Row) -> Program | None:
    """Type a row; None where a step is gone whose reply another one needs."""
    compiler = RowCompiler(compiled.lifecycle)
    program = compiler.program(row)
    return None if compiler.faults else program


def _is_right(compiled: Compiled, declaration: Declaration, program: Program, failed: Fails) -> bool:
    """Tell whether a right system keeps the row, whatever it chooses."""
    text = row_as_it_ran(compiled, program, failed.values)
    return holds(compiled, text, declaration.limits, declaration.policies)


def _fails(once: Callable[[Program], None], program: Program, claim: Expr) -> Fails | None:
    """Run a row; give what came of it if this claim fails. What cannot be run tells nothing, and the fault stands."""
    try:
        once(program)
    except Fails as failed:
        return failed if failed.failure is not None and failed.failure.expr is claim else None
    except (HarnessError, RowTooLong):
        return None
    return None
