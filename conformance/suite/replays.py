"""A counterexample again: rows from a file, run against a target, to see whether they still fail."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from conformance.budget import USUAL, Budget
from conformance.counterexample import because
from conformance.judge import Case
from conformance.report import RAN, latest, one_line
from conformance.suite.row_facts import fixed_values, inapplicable, is_about, lacking, makes_calls_at_once, operations
from conformance.suite.trace_file import Saved
from conformance.system import Adapter
from conformance.verdict import EXIT_CONFORMS, EXIT_UNKNOWN, EXIT_VIOLATES, UNSURE
from statemachines.compile import Compiled
from statemachines.diagnostics import SpecError
from statemachines.rows import Program, RowCompiler, RowFailure


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
    """What came of a counterexample file as a whole, row by row; its repr is the text for people."""

    rows: tuple[Replayed, ...]

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
        return "\n".join(line for each in self.rows for line in _told(each))


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
    return Replay(tuple(_replayed(saved, adapter, budget)))


def _replayed(saved: Saved, adapter: Adapter, budget: Budget) -> Iterator[Replayed]:
    compiled = saved.compiled
    rows = RowCompiler(compiled.lifecycle)
    for row in compiled.lifecycle.rows.values():
        program = rows.program(row)
        if rows.faults:
            raise SpecError(rows.faults)
        prevented = inapplicable(compiled, rows.words, adapter, row) or lacking(adapter, operations(row, compiled))
        found = [] if prevented else list(_rounds(saved, rows, adapter, program, budget))
        failures = [each for each in found if each.fails]
        last = failures[-1] if failures else _Round()
        doubts = (each.unanswered for each in found if each.unanswered)
        unanswered = prevented or ("" if failures else next(doubts, ""))
        yield Replayed(row.id.text, saved.of, len(failures), len(found), last.reason, last.transcript, unanswered)


class _Round(NamedTuple):
    """What came of a row once. It is `unanswered` for a reason, such as that there were too many possibilities."""

    fails: bool = False
    reason: str = ""
    transcript: tuple[str, ...] = ()
    unanswered: str = ""


def _rounds(saved: Saved, rows: RowCompiler, adapter: Adapter, program: Program, budget: Budget) -> Iterator[_Round]:
    """Run a row in several rounds if it makes calls at once; or else until it fails, in so many at most."""
    until, failed = time.monotonic() + budget.replay_seconds, False
    at_once = makes_calls_at_once(program.row)
    must = budget.replays if at_once else saved.rounds
    may = must * budget.more_replays if must > 1 else 1
    for number in range(may):
        found = _once(saved.compiled, rows, adapter, program, number, budget)
        failed = failed or found.fails
        yield found
        late, tried = time.monotonic() > until, not at_once or number + 1 >= must
        if (failed and (late or tried)) or (at_once and late and tried):
            return


def _once(
    compiled: Compiled, rows: RowCompiler, adapter: Adapter, program: Program, seed: int, budget: Budget
) -> _Round:
    """Run a row once, with all values of its parameters."""
    unanswered = ""
    for values in fixed_values(compiled, rows.words, adapter, program):
        case = Case(compiled, adapter, seed, budget)
        failure: RowFailure | None = None
        try:
            program.run(case, values)
        except RowFailure as error:
            failure = error
        if case.astray:
            return _Round(unanswered=f"the spec leaves open what {case.astray} does there")
        found = [each for each in (case.finding, *case.judge.findings) if each and is_about(program.row, each)]
        if failure is not None or (found and not case.judge.unsure):
            expected, seen = because(program.row, failure, next(iter(found), None))
            return _Round(True, f"expected {expected}; seen {seen}", adapter.transcript())
        if case.finding is not None and case.judge.unsure:
            unanswered = UNSURE
        elif case.finding is not None:
            other = case.finding
            reason = f"breaks another rule now, {other.clause}: expected {other.expected}; seen {other.seen}"
            return _Round(True, reason, adapter.transcript())
    return _Round(unanswered=unanswered)
