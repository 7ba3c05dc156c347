"""Compiled → what is wrong with its meaning: every fault of names, states, rows and invariants at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from statemachines import check_coverage, check_exploration, check_rows, check_states, check_unused
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, SpecError
from statemachines.lower import lower
from statemachines.read import read_lifecycle
from statemachines.rows import RowCompiler
from statemachines.source import read
from statemachines.structure import check_structure

__all__ = ["Checked", "check", "check_file", "check_text"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found: every fault, sorted by position; and how much was looked at.

    clauses, rows        how many the spec has
    runs                 how often a row was run on the model
    states, transitions  the configurations of the small scope that were reached, and the steps between them
    seconds              how long it took
    """

    diagnostics: tuple[Diagnostic, ...]
    clauses: int = 0
    rows: int = 0
    runs: int = 0
    states: int = 0
    transitions: int = 0
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        """Tell whether nothing is wrong."""
        return not self.diagnostics

    def render(self) -> str:
        """Write every fault, one below the other."""
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


def check(compiled: Compiled, *, explored: bool = True) -> Checked:
    """Check a lifecycle that compiles; `explored=False` leaves out the search of the small scope."""
    start = time.perf_counter()
    ran = check_rows.run_rows(compiled)
    found = check_exploration.Found()
    if explored:
        found = check_exploration.search(compiled, ran.witnessed if ran.complete else None)
    faults = [
        *check_states.faults(compiled),
        *check_unused.faults(compiled.lifecycle),
        *check_coverage.faults(compiled, found.dead),
        *ran.faults,
        *check_coverage.unwitnessed(compiled, ran, found.dead),
        *found.faults,
    ]
    return Checked(
        SpecError(faults).diagnostics,
        clauses=len(compiled.kernel.clauses),
        rows=len(compiled.lifecycle.rows),
        runs=ran.runs,
        states=found.states,
        transitions=found.transitions,
        seconds=time.perf_counter() - start,
    )


def check_text(text: str, file: str, *, explored: bool = True) -> Checked:
    """Compile and check the text of a spec; what cannot be compiled is told like everything else."""
    start = time.perf_counter()
    try:
        tree = read(text, file)
        check_structure(tree)
        lifecycle = read_lifecycle(tree, file)
    except SpecError as error:
        return _refused(error.diagnostics, start)
    try:
        kernel, words = lower(lifecycle)
    except SpecError as error:
        rows = RowCompiler(lifecycle)
        for row in lifecycle.rows.values():
            rows.program(row)
        return _refused([*error.diagnostics, *rows.faults], start)
    return check(Compiled(lifecycle, kernel, words), explored=explored)


def check_file(path: str | Path, *, explored: bool = True) -> Checked:
    """Compile and check a spec from a file."""
    from statemachines.source import read_file

    start = time.perf_counter()
    try:
        read_file(path)
    except SpecError as error:
        return _refused(error.diagnostics, start)
    return check_text(Path(path).read_text(encoding="utf-8"), str(path), explored=explored)


def _refused(diagnostics: Sequence[Diagnostic], start: float) -> Checked:
    return Checked(SpecError(diagnostics).diagnostics, seconds=time.perf_counter() - start)
