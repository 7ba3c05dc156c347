"""A row that failed: the shortest that shows it, and whether it fails when it is tried again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from conformance.budget import Budget, never
from conformance.counterexample import Fails, row_itself, shrunk, without_needless_steps
from conformance.judge import NO_REPLY, BrokenCalls, CallFailed, Finding, kernel_facts
from conformance.suite.levels import in_order
from conformance.suite.row_facts import makes_calls_at_once
from conformance.system import HarnessError
from conformance.verdict import Counterexample, Judged, Verdict, came_back, verdict_of
from statemachines.lifecycle import Row
from statemachines.rows import Program, RowTooLong


@dataclass(frozen=True, slots=True)
class FailedRow:
    """A row that failed, and what it takes to try it again.

    once      runs a row with the values with which it failed, under a seed; raises Fails where it does not hold
    shortest  whether somebody wants a shorter counterexample than the row itself
    fits      whether another choice of a policy makes no other row wrong
    late      whether the time of the whole run is used up
    """

    program: Program
    failed: Fails
    once: Callable[[Program, int], None]
    budget: Budget
    shortest: bool
    fits: Callable[[str, str], bool]
    late: Callable[[], bool] = never

    @property
    def at_once(self) -> bool:
        """Whether it makes calls at once."""
        return makes_calls_at_once(self.program.row)

    def judged(self, told: dict[str, Counterexample], broken_calls: BrokenCalls) -> Judged:
        """Return the verdict; a cause and a call that hung or crashed are added to what rows have shown before."""
        finding = broke(self.failed)
        hangs, known = finding is not None and finding.kind == "hang", False
        if finding is not None:
            known = broken_calls.knows(finding)
            broken_calls.note(self.program.row.id.text, finding)
        if hangs and len(broken_calls.hung) > BrokenCalls.ENOUGH:  # it is like the others, but for the call
            return verdict_of(row_itself(self.program, self.failed))
        with broken_calls.hurried(self.budget.hang_seconds if hangs and known else math.inf):
            found = self._shortest(told)
        if hangs and found is not None:
            return verdict_of(found)
        found = found or self._seen_again(row_itself(*self._cut()))
        if self.at_once:
            return verdict_of(found)
        reason, held = f"expected {found.expected}; seen {found.seen}", self._held()
        if not held:
            return Judged(Verdict.FAIL, reason, found)
        times = "once" if held == 1 else f"{held} times"
        return came_back(f"{reason}; tried again {times}, it held", found, hangs=hangs)

    def _shortest(self, told: dict[str, Counterexample]) -> Counterexample | None:
        wanted = _wanted(self.program.row, self.failed)
        cause = wanted[0].clause if wanted and wanted[0].spoke_of else ""
        if cause in told and (not self.shortest or self._shows(wanted[0], told[cause])):
            return told[cause]
        if not self.shortest or not wanted:
            return None
        rounds = self.budget.reproductions if self.at_once else 1
        case, late = self.failed.case, self.late
        found = shrunk(case, rounds=rounds, wanted=wanted, fits=self.fits, by_any=True, late=late)
        if found is not None and found.cause:
            told.setdefault(found.cause, found)
        return found

    def _shows(self, finding: Finding, shown: Counterexample) -> bool:
        """Return whether the row shows what another row has shown of the same cause: else it is broken in a way of its own.

        It makes the calls of that one, and where a state was seen in place of another one, it sees the same.
        """
        case, facts = self.failed.case, kernel_facts.of(self.failed.case.compiled)
        same = shown.expected == finding.expected and shown.seen.startswith(finding.seen)
        told = finding.word_seen not in facts.states or same
        calls = ((each.operation, each.arguments.items()) for each in case.calls)
        return told and in_order(shown.changing, facts.story(calls))

    def _held(self) -> int:
        """Count how often what failed holds when it is tried again; 0 when it fails again, or cannot be tried."""
        for held in range(self.budget.repeats):
            try:
                self.once(self.program, self.failed.case.seed)
            except Fails:
                return 0
            except (HarnessError, RowTooLong):
                return held
        return self.budget.repeats

    def _seen_again(self, found: Counterexample) -> Counterexample:
        """Say in how many schedules a row with calls at once was tried again until it failed; never, if it did not."""
        if not self.at_once:
            return found
        rounds, until = 0, time.monotonic() + self.budget.reproduce_seconds
        for number in range(self.budget.reproductions):
            if number and time.monotonic() > until:
                break
            rounds = number + 1
            try:
                self.once(self.program, self.failed.case.seed + number)
            except Fails:
                return replace(found, reproduced=1, rounds=rounds)
            except (HarnessError, RowTooLong):
                return found
        return replace(found, reproduced=0, rounds=rounds)

    def _cut(self) -> tuple[Program, Fails]:
        """Leave out the steps of a row that a claim of its own fails without."""
        if not self.shortest or self.at_once:
            return self.program, self.failed
        return without_needless_steps(
            self.program, self.failed, lambda shorter: self.once(shorter, self.failed.case.seed)
        )


def broke(failed: Fails) -> Finding | None:
    """Return what a row fails by, if that is a call that hung or crashed."""
    finding = failed.failure.finding if isinstance(failed.failure, CallFailed) else failed.case.finding
    return finding if finding is not None and finding.kind in NO_REPLY else None


def _wanted(row: Row, failed: Fails) -> list[Finding]:
    """Return what a row failed by, as the judge saw it: that of a MUST row is nothing which is only recommended."""
    if failed.finding is not None:
        return [failed.finding]
    return [] if row.level == "must" or failed.case.judge.deviations else failed.case.judge.findings
