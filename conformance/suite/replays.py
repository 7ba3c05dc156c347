"""A counterexample again: rows from a file, run against a target, to see whether they still fail."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from conformance.budget import USUAL, Budget
from conformance.counterexample import because
from conformance.judge import Finding
from conformance.report import RAN, declared_text, declares, latest, one_line
from conformance.suite.row_facts import covers, inapplicable, is_about, lacking, makes_calls_at_once, operations
from conformance.suite.rows import NEEDS_STANDING, RowRunner, undecided
from conformance.suite.trace_file import Saved
from conformance.system import Adapter
from conformance.verdict import EXIT_CONFORMS, EXIT_UNKNOWN, EXIT_VIOLATES, UNSURE
from statemachines.diagnostics import SpecError
from statemachines.lifecycle import Row
from statemachines.rows import Program, RowCompiler, RowTooLong


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of one row of a counterexample file: it failed in `failed` of `rounds`, the last time with `reason`.

    of          the row of the matrix that it is a counterexample of, or empty
    unanswered  why it could not be told whether it fails, or empty
    transcript  what a tool's processes were called with and printed when it failed the last time
    """

    id: str
    of: str
    failed: int
    rounds: int
    reason: str = ""
    transcript: tuple[str, ...] = ()
    unanswered: str = ""

    @property
    def name(self) -> str:
        """The row's id, and that of the row that it comes from."""
        return self.id if self.of in ("", self.id) else f"{self.id} of {self.of}"

    @property
    def verdict(self) -> str:
        """`fixed`, `still fails`, or in how many rounds it does; or `could not tell`."""
        if self.unanswered:
            return "could not tell"
        if not self.failed:
            return "fixed" if self.rounds == 1 else f"not reproduced (0 of {self.rounds})"
        return "still fails" if self.rounds == 1 else f"still fails ({self.failed} of {self.rounds})"


@dataclass(frozen=True, slots=True, repr=False)
class Replay:
    """What came of a counterexample file as a whole, row by row; its repr is the text for people.

    otherwise  what was declared when it was saved and what is now, where that differs: what holds now decides
    """

    rows: tuple[Replayed, ...]
    otherwise: str = ""

    @property
    def exit(self) -> int:
        """The exit code: 0 when nothing failed, 1 when a row still does, 4 when it could not be told."""
        if any(each.failed for each in self.rows):
            return EXIT_VIOLATES
        return EXIT_UNKNOWN if any(each.unanswered for each in self.rows) else EXIT_CONFORMS

    @property
    def ok(self) -> bool:
        """Whether every row was played and none failed."""
        return self.exit == EXIT_CONFORMS

    def __repr__(self) -> str:
        lines = [line for each in self.rows for line in _told(each)]
        return "\n".join([*lines, self.otherwise] if self.otherwise else lines)


def _told(row: Replayed) -> list[str]:
    because = row.unanswered or row.reason
    lines = [one_line(f"{row.name}: {row.verdict}{f': {because}' if because else ''}")]
    if row.transcript:
        lines += ["", RAN, "", textwrap.indent(latest(row.transcript), "  "), ""]
    return lines


def replay(saved: Saved, adapter: Adapter, budget: Budget = USUAL) -> Replay:
    """Run every row of a counterexample file; one that makes calls at once, or depends on chance, in several rounds.

    Raises SpecError for faults of a row, RowTooLong for one that makes too many calls with what is declared.
    """
    lifecycle = saved.compiled.lifecycle
    runner = RowRunner(saved.compiled, RowCompiler(lifecycle), adapter, budget=budget)
    today = declared_text(declares(replace(adapter.declaration, deviates={})))
    then = saved.declares if saved.declares != today else ""
    otherwise = f"Otherwise was declared when this was saved: {then}. It was played by what is declared now: {today}."
    rows = tuple(_replayed(saved, runner, row) for row in lifecycle.rows.values())
    return Replay(rows, one_line(otherwise) if then else "")


def _replayed(saved: Saved, runner: RowRunner, row: Row) -> Replayed:
    rows, adapter, compiled = runner.rows, runner.adapter, saved.compiled
    program = rows.program(row)
    if rows.faults:
        raise SpecError(rows.faults)
    prevented = inapplicable(compiled, rows.words, adapter, row) or lacking(adapter, operations(row, compiled))
    found = [] if prevented else list(_rounds(saved, runner, program))
    failures = [each for each in found if each.fails]
    last = failures[-1] if failures else _Round()
    doubts = (each.unanswered for each in found if each.unanswered)
    unanswered = prevented or ("" if failures else next(doubts, ""))
    return Replayed(row.id.text, saved.of, len(failures), len(found), last.reason, last.transcript, unanswered)


def _is_meant(row: Row, finding: Finding) -> bool:
    """Return whether a fault is what a saved row is about; of a choice, which no row covers, the row names the operation."""
    of_a_choice = finding.clause.startswith("policies.") and covers(row, f"operations.{finding.operation}")
    return of_a_choice or is_about(row, finding)


class _Round(NamedTuple):
    """What came of a row once. It is `unanswered` for a reason, such as that there were too many possibilities."""

    fails: bool = False
    reason: str = ""
    transcript: tuple[str, ...] = ()
    unanswered: str = ""


def _rounds(saved: Saved, runner: RowRunner, program: Program) -> Iterator[_Round]:
    """Run a row in several rounds if it makes calls at once; or else until it fails, in so many at most."""
    budget = runner.budget
    until, failed = time.monotonic() + budget.replay_seconds, False
    at_once = makes_calls_at_once(program.row)
    must = budget.replays if at_once else saved.rounds
    may = must * budget.more_replays if must > 1 else 1
    for number in range(may):
        found = _once(runner, program, number)
        failed = failed or found.fails
        yield found
        late, tried = time.monotonic() > until, not at_once or number + 1 >= must
        if (failed and (late or tried)) or (at_once and late and tried):
            return


def _once(runner: RowRunner, program: Program, seed: int) -> _Round:
    """Run a row once, with all values of its parameters."""
    unanswered = ""
    for values in runner.fixed_values(program):
        case, failure = runner.ran(program, values, seed)
        if isinstance(failure, RowTooLong):
            raise failure
        if case.astray:
            return _Round(unanswered=f"the spec leaves open what {case.astray} does there")
        if undecided(program.row, case, failure):
            failure, unanswered = None, NEEDS_STANDING.format(case.adapter.declaration.clock)
        found = [each for each in (*case.faults, *case.judge.findings) if _is_meant(program.row, each)]
        if failure is not None or (found and (case.faults or not case.judge.unsure)):
            expected, seen = because(program.row, failure, next(iter(found), None))
            return _Round(True, f"expected {expected}; seen {seen}", case.adapter.transcript())
        if case.finding is not None and case.judge.unsure:
            unanswered = UNSURE
        elif case.faults:
            other = case.faults[0]
            said = f"expected {other.expected}; seen {other.seen}"
            # Whoever saved it may have known that the system leaves another clause out which explains the same.
            same = said.casefold() in program.row.about.casefold()
            reason = said if same else f"breaks another rule now, {other.clause}: {said}"
            return _Round(True, reason, case.adapter.transcript())
    return _Round(unanswered=unanswered)
