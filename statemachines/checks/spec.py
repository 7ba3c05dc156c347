"""Compiled → what is wrong with its meaning: every fault of names, states, rows and invariants at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from statemachines.bounds import USUAL, Bounds
from statemachines.checks import coverage, exploration, rows, states, unused
from statemachines.checks.earlier import Earlier
from statemachines.compile import Compiled, path_of, spec_tree
from statemachines.diagnostics import Diagnostic, SpecError, Where
from statemachines.lifecycle import Lifecycle
from statemachines.lower import lower
from statemachines.requirements import frozen_sets, requirements_of, unkept
from statemachines.rows import RowCompiler
from statemachines.surface import check_structure, read_lifecycle, rules_of
from statemachines.yaml import Node


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found: every fault, sorted by position; and how much was looked at.

    clauses, rows        how many the spec has
    runs                 how often a row was run on the model
    unchanged            how many rows were known to hold from before: they were not run again
    states, transitions  the configurations of the small scope that were reached, and the steps between them
    whole                whether that was all of the small scope; if not, no clause is said to be dead
    seconds              how long it took
    outgrown             the spec's own revision, where that is frozen and the spec says something else now; 0 where not
    """

    diagnostics: tuple[Diagnostic, ...]
    clauses: int = 0
    rows: int = 0
    runs: int = 0
    unchanged: int = 0
    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    whole: bool = True
    outgrown: int = 0

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.diagnostics

    @property
    def summary(self) -> str:
        """Say in a line how much was looked at."""
        known = f", {self.unchanged:,} of them unchanged since they held" if self.unchanged else ""
        runs = f"{_counted(self.rows, 'row')} in {_counted(self.runs, 'run')}{known}"
        searched = (
            f"{_counted(self.states, 'state')} and {_counted(self.transitions, 'step')} of the small scope"
            f"{'' if self.whole else ', not all of it'}"
        )
        return f"{_counted(self.clauses, 'clause')}, {runs}, {searched}; {self.seconds:.2f} s"

    def render(self) -> str:
        """Write every fault, one below the other."""
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


def check_compiled(compiled: Compiled, bounds: Bounds = USUAL, cache: Path | None = None) -> Checked:
    """Check a lifecycle that compiles, as thoroughly as the bounds say; `cache` is the folder of what was found right before."""
    earlier = Earlier(compiled.lifecycle, bounds, cache)
    ran = rows.run_rows(compiled, bounds, earlier)
    found = exploration.search(compiled, ran.witnessed if ran.complete else None, bounds, earlier)
    earlier.keep()
    faults = [
        *found.faults,
        *states.faults(compiled),
        *unused.faults(compiled.lifecycle),
        *coverage.faults(compiled, found.dead),
        *ran.faults,
        *coverage.unwitnessed(compiled, ran, found.dead),
    ]
    return Checked(
        SpecError(_without_echoes(faults)).diagnostics,
        clauses=len(compiled.kernel.clauses),
        rows=len(compiled.lifecycle.rows),
        runs=ran.runs,
        unchanged=ran.unchanged,
        states=found.states,
        transitions=found.transitions,
        whole=found.whole,
    )


def check(lifecycle: str | Path, *, quick: bool = False, cache: Path | None = None) -> Checked:
    """Return every fault of a spec: of a shipped life cycle by its name, or of a file by its path.

        statemachines.check("my-jobs.yaml").diagnostics

    Its structure, names and types; its rows, run on the model; its invariants, in a small scope, for which it
    takes some seconds. `quick` leaves the small scope out, and limits and policies other than the defaults. `cache` is
    a folder where what is right is kept: what has not changed since is not looked at again.
    Raises LookupError for a name that there is not; faults, those of reading a file included, are in the result.
    """
    name = str(lifecycle)
    rules = rules_of(path_of(name))
    return check_tree(lambda: spec_tree(name), USUAL.quick() if quick else USUAL, rules, cache)


def check_tree(
    reading: Callable[[], Node], bounds: Bounds = USUAL, rules: Path | None = None, cache: Path | None = None
) -> Checked:
    """Check what is read; a fault for which it cannot be read or compiled is told like everything else.

    `rules` is the file that it is read from, if it is: beside that, the requirements of its revisions are frozen. `cache` is
    the folder of what was found right before.
    """
    start = time.perf_counter()
    return replace(_checked(reading, bounds, rules, cache), seconds=time.perf_counter() - start)


def _checked(reading: Callable[[], Node], bounds: Bounds, rules: Path | None, cache: Path | None) -> Checked:
    try:
        tree = reading()
        check_structure(tree)
        lifecycle = read_lifecycle(tree, tree.where.file)
    except SpecError as error:
        return Checked(error.diagnostics)
    try:
        compiled = Compiled(lifecycle, *lower(lifecycle))
    except SpecError as error:
        compiler = RowCompiler(lifecycle)
        for row in lifecycle.rows.values():
            compiler.program(row)
        return Checked(SpecError([*error.diagnostics, *compiler.faults]).diagnostics)
    found = check_compiled(compiled, bounds, cache)
    return found if rules is None else _measured(found, lifecycle, rules)


def _measured(found: Checked, lifecycle: Lifecycle, rules: Path) -> Checked:
    """Add what of the frozen requirements the spec does not keep, or what is wrong with their files."""
    try:
        sets = frozen_sets(rules, lifecycle)
    except SpecError as error:
        return replace(found, diagnostics=SpecError([*found.diagnostics, *error.diagnostics]).diagnostics)
    version = lifecycle.version
    outgrown = version if version in sets and sets[version] != requirements_of(lifecycle) else 0
    broken = SpecError([*found.diagnostics, *unkept(lifecycle, sets)]).diagnostics
    return replace(found, diagnostics=broken, outgrown=outgrown)


def _without_echoes(faults: list[Diagnostic]) -> list[Diagnostic]:
    """Leave out what only says again what another fault says.

    That an invariant breaks elsewhere too: what the search found is shortest, and first. That nothing comes to a
    sentence of which something else is wrong.
    """
    broken: dict[Where, Diagnostic] = {}
    for fault in faults:
        if fault.code == "invariant-broken":
            broken.setdefault(fault.where, fault)
    wrong = {fault.where for fault in faults if fault.code != "dead-clause"}
    return [
        fault
        for fault in faults
        if broken.get(fault.where, fault) is fault or fault.code != "invariant-broken"
        if fault.code != "dead-clause" or fault.where not in wrong
    ]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
