"""Whether another choice of a policy fits a system: a row that holds now, or that is about that choice, may speak against it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from conformance.suite.row_facts import inapplicable, lacking, makes_calls_at_once, operations
from conformance.system import Adapter, Declaration
from statemachines.compile import Compiled
from statemachines.rows import Program, RowCompiler


def fits(
    compiled: Compiled,
    rows: RowCompiler,
    adapter: Adapter,
    chosen: tuple[str, str],
    fails: Callable[[Program], bool],
    seconds: float,
) -> bool:
    """Return whether no row that one caller runs fails by a policy `chosen` so, and does not fail as things are.

    `fails` runs a row, by what the adapter declares then. Where so many seconds do not suffice for all of them, nobody knows.
    """
    usual = adapter.declaration
    other = replace(usual, policies={**usual.policies, chosen[0]: chosen[1]})
    until = time.monotonic() + seconds

    def fails_by(declared: Declaration, program: Program) -> bool:
        adapter.declaration = declared
        try:
            return not inapplicable(compiled, rows.words, adapter, program.row) and fails(program)
        finally:
            adapter.declaration = usual

    for row in compiled.lifecycle.rows.values():
        if time.monotonic() > until:
            return False
        if makes_calls_at_once(row) or lacking(adapter, operations(row, compiled)):
            continue
        program = rows.program(row)
        if fails_by(other, program) and not fails_by(usual, program):
            return False
    return True
