"""The matrix: each row as its witness, then enumerated, then drawn; concurrent rows under many schedules."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.adapter import Adapter, HarnessError
from conformance.case import Case, case_seed
from conformance.evidence import Fails, row_itself, shrink_seconds, shrunk
from conformance.row_cut import without_needless_steps
from conformance.row_facts import covers, inapplicable, lacking, makes_calls_at_once
from conformance.verdict import UNSURE, Counterexample, RowResult, Verdict
from statemachines.compile import Compiled
from statemachines.kernel import within
from statemachines.lifecycle import Row
from statemachines.rows import Program, RowCompiler, RowFailure, RowTooLong, enumerated, witnesses

ROUNDS = 40  # schedules of a concurrent row
ROUNDS_IN_ALL = 160  # the same, of all combinations of its values together
ROUNDS_EACH = 3  # but of each combination so many: of three schedules one counts instructions
MANY_CALLS = 500  # calls at once of a row that is run under fewer schedules, because each shows as much
ROUNDS_OF_MANY = 3
ROUNDS_IF_COSTLY = 2  # where each call takes long
# At most so many more, while calls at once never overlapped, or showed nothing that the row is about.
MORE_ROUNDS = 200
EXAMPLES = 12  # drawn values of a row, beside its witness
EXAMPLES_AT_ONCE = 3  # the same of a concurrent row
AGAIN = 3  # how often a failure is tried again before it is called flaky


@dataclass(slots=True)
class Tally:
    """What the runs of a row have shown so far."""

    runs: int = 0
    witnesses: Counter[str] = field(default_factory=Counter)
    overlaps: int = 0
    groups: int = 0
    at_once: int = 0
    unsure: bool = False
    strays: list[Case] = field(default_factory=list)


class RowRunner:
    """Runs the rows of a lifecycle against one adapter.

    `strays` are cases in which the judge saw a fault that the row is not about; the run as a whole
    reports them, so that one fault does not fail every row.
    """

    def __init__(
        self,
        compiled: Compiled,
        rows: RowCompiler,
        adapter: Adapter,
        *,
        number: int = 0,
        quick: bool = False,
        shortest: bool = True,
    ) -> None:
        """Run rows under the seed `number`; `quick` draws less, and without `shortest` a counterexample is the row."""
        self.compiled = compiled
        self.rows = rows
        self.adapter = adapter
        self.number = number
        self.quick = quick
        self.shortest = shortest
        self.strays: list[Case] = []
        self.witnessed: Counter[str] = Counter()

    def run(self, row: Row) -> RowResult:
        """Give the verdict of one row."""
        began = time.monotonic()
        result = self._result(row)
        result.seconds = time.monotonic() - began
        return result

    def _result(self, row: Row) -> RowResult:
        result = RowResult(row.id.text, row.about, row.level, Verdict.PASS, where=str(row.id.where))
        program = self.rows.program(row)
        if reason := inapplicable(self.compiled, self.rows.words, self.adapter, row):
            result.verdict, result.reason = Verdict.NOT_APPLICABLE, reason
            return result
        if reason := lacking(self.compiled, self.adapter, row):
            result.verdict, result.reason = Verdict.NOT_EXERCISED, reason
            return result
        tally = Tally()
        try:
            self._all(program, tally)
        except Fails as failed:
            self._failed(result, program, failed)
        except RowTooLong as long:
            result.verdict, result.reason = Verdict.COULD_NOT_TELL, f"with what is declared, {long.message}"
        except HarnessError as error:
            result.verdict, result.reason = Verdict.HARNESS_ERROR, str(error)
        result.runs, result.overlaps = tally.runs, tally.overlaps
        result.witnesses = {word.text: _count(tally.witnesses, word.text) for word in row.covers}
        self.witnessed.update(
            {
                path: count
                for path, count in tally.witnesses.items()
                if not tally.groups or _is_covered(row, path)
            }
        )
        self.strays += tally.strays[:1]
        if result.verdict is Verdict.PASS:
            self._exercised(result, row, tally)
        return result

    def _exercised(self, result: RowResult, row: Row, tally: Tally) -> None:
        """Let a row pass only when something happened in it."""
        idle = self._idle(row, tally)
        if idle:
            result.verdict, result.reason = Verdict.NOT_EXERCISED, idle
        elif tally.unsure:
            result.verdict, result.reason = Verdict.COULD_NOT_TELL, UNSURE

    def _idle(self, row: Row, tally: Tally) -> str:
        """Say what of a row has not happened yet; an empty text when it was exercised."""
        if tally.groups and not tally.overlaps and self.adapter.declaration.concurrency != "none":
            return "the calls made at once never overlapped"
        unseen = [word.text for word in row.covers if not _count(tally.witnesses, word.text)]
        return f"nothing witnessed {', '.join(unseen)}" if unseen else ""

    # ── Running ──

    def _all(self, program: Program, tally: Tally) -> None:
        declared = self.compiled.model(self.adapter.declaration.limits, self.adapter.declaration.policies)
        first = witnesses(self.rows.words, program.row, declared)
        combinations = list(enumerated(self.compiled.lifecycle, program))
        share = max(ROUNDS_IN_ALL // len(combinations), ROUNDS_EACH)
        for values in combinations:
            self._rounds(program, {**values, **first}, tally, share)
            if self.quick and not makes_calls_at_once(program.row):
                break
        if program.row.drawn and not (self.quick or self.adapter.costly):
            self._drawn(program, declared, tally)
        self._until_exercised(program, first, tally)

    def _rounds(self, program: Program, values: Mapping[str, Any], tally: Tally, most: int) -> None:
        """Run once; a concurrent row under several schedules, so many at most."""
        self._once(program, values, tally, case_seed(self.number, 0))
        if not makes_calls_at_once(program.row):
            return
        rounds = min(schedules(self.adapter), ROUNDS_OF_MANY if tally.at_once > MANY_CALLS else most)
        rounds = max(rounds // 4, 1) if self.quick and not self.adapter.costly else rounds
        for round_ in range(1, rounds):
            self._once(program, values, tally, case_seed(self.number, round_))

    def _until_exercised(self, program: Program, first: Mapping[str, Any], tally: Tally) -> None:
        """Try more schedules of calls at once as long as what the row is about has not come to pass."""
        if not makes_calls_at_once(program.row) or self.adapter.costly or tally.at_once > MANY_CALLS:
            return
        combinations = itertools.cycle(enumerated(self.compiled.lifecycle, program))
        for round_, values in zip(range(ROUNDS, ROUNDS + MORE_ROUNDS), combinations, strict=False):
            if not self._idle(program.row, tally):
                return
            self._once(program, {**values, **first}, tally, case_seed(self.number, round_))

    def _drawn(self, program: Program, declared: Any, tally: Tally) -> None:
        from conformance.strategies import Falsified, draw  # Hypothesis is slow to import, and few rows draw

        combinations = list(enumerated(self.compiled.lifecycle, program))

        def test(chosen: dict[str, Any]) -> None:
            for values in combinations:
                self._once(program, {**values, **chosen}, tally, case_seed(self.number, 0))

        examples = EXAMPLES_AT_ONCE if makes_calls_at_once(program.row) else EXAMPLES
        try:
            draw(
                self.compiled,
                self.rows,
                program.row.drawn,
                declared,
                test,
                number=self.number,
                examples=examples,
            )
        except Falsified as falsified:
            if isinstance(falsified.cause, Fails):
                raise falsified.cause from None
            raise

    def _once(self, program: Program, values: Mapping[str, Any], tally: Tally, seed: int) -> None:
        """Run a row once; raise Fails when it does not hold."""
        case = Case(self.compiled, self.adapter, seed)
        failure: RowFailure | None = None
        too_long: RowTooLong | None = None
        try:
            program.run(case, values)
        except RowFailure as error:
            failure = error
        except RowTooLong as error:  # what was seen until then counts
            too_long = error
        tally.runs += 1
        tally.overlaps += case.overlaps
        tally.groups += case.groups
        tally.at_once = max(tally.at_once, *(sum(map(len, each.at_once)) for each in case.trace), 0)
        tally.witnesses.update(case.judge.witnessed())
        mine = case.divergence is not None and covers(program.row, case.divergence)
        in_doubt = case.divergence is not None and case.judge.unsure
        tally.unsure = tally.unsure or (in_doubt and (mine or not case.judge.blind))
        if failure is not None or (mine and not case.judge.unsure):
            raise Fails(case, values, failure)
        if case.divergence is not None and not case.judge.unsure:
            tally.strays.append(case)
        if too_long is not None:
            raise too_long

    # ── Failures ──

    def _failed(self, result: RowResult, program: Program, failed: Fails) -> None:
        found = self._counterexample(program, failed)
        result.verdict, result.counterexample = Verdict.FAIL, found
        result.reason = f"expected {found.expected}; seen {found.seen}"
        if not makes_calls_at_once(program.row) and (held := self._held(program, failed)):
            result.verdict = Verdict.FLAKY
            result.reason += f"; tried again {'once' if held == 1 else f'{held} times'}, it held"

    def _held(self, program: Program, failed: Fails) -> int:
        """Count how often what failed holds when it is tried again; 0 when it fails again, or cannot be tried."""
        for held in range(AGAIN):
            try:
                self._once(program, failed.values, Tally(), failed.case.seed)
            except Fails:
                return 0
            except (HarnessError, RowTooLong):
                return held
        return AGAIN

    def _counterexample(self, program: Program, failed: Fails) -> Counterexample:
        found = None
        if self.shortest and _was_judged(program.row, failed.case):
            several = makes_calls_at_once(program.row)
            rounds = schedules(self.adapter) if several else 1
            found = shrunk(self.compiled, self.adapter, failed.case, rounds=rounds)
        return found or row_itself(self.compiled, *self._cut(program, failed))

    def _cut(self, program: Program, failed: Fails) -> tuple[Program, Fails]:
        """Leave out the steps of a row that a claim of its own fails without."""
        if not self.shortest or makes_calls_at_once(program.row):
            return program, failed

        def once(shorter: Program) -> None:
            self._once(shorter, failed.values, Tally(), failed.case.seed)

        seconds = shrink_seconds(self.adapter)
        return without_needless_steps(self.compiled, self.adapter.declaration, program, failed, once, seconds)


def _was_judged(row: Row, case: Case) -> bool:
    """Tell whether the judge saw what a row failed by: that of a MUST row is nothing which is only recommended."""
    if row.level == "must":
        return case.divergence is not None and not case.divergence.should
    return case.divergence is not None or bool(case.judge.findings)


def schedules(adapter: Adapter) -> int:
    """Give under how many schedules calls at once are tried."""
    return ROUNDS_IF_COSTLY if adapter.costly else ROUNDS


def _count(witnessed: Counter[str], path: str) -> int:
    return sum(count for clause, count in witnessed.items() if within(clause, path))


def _is_covered(row: Row, path: str) -> bool:
    """Tell whether a row covers a clause: what else comes to pass among calls at once, their schedule decides."""
    return any(within(path, word.text) for word in row.covers)
