"""The matrix: each row as its witness, then enumerated, then drawn; concurrent rows under many schedules.

One idea: the runs of one row, and the verdict that follows from them.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from conformance.budget import USUAL, Budget, never
from conformance.counterexample import Fails
from conformance.judge import BrokenCalls, Case, Finding, History, Suspicion, case_seed, kernel_facts
from conformance.report import named
from conformance.suite.exercised import Stray, Tally
from conformance.suite.failed_row import FailedRow, broke
from conformance.suite.fitting import fits
from conformance.suite.levels import SeenFault, only_derived, operation_of
from conformance.suite.row_facts import (
    covers,
    inapplicable,
    is_about,
    lacking,
    makes_calls_at_once,
    may_tell,
    needs_clock,
    operations,
    reads_instants,
)
from conformance.system import Adapter, HarnessError
from conformance.verdict import OTHER_ORDER, UNSURE, Counterexample, Judged, RowResult, Verdict
from statemachines.checks import holds, only_in_some_order
from statemachines.compile import Compiled
from statemachines.lifecycle import Row
from statemachines.rows import Program, RowCompiler, RowFailure, RowTooLong, enumerated, row_as_it_ran, witnesses

LATE_AT_MOST = 200  # milliseconds in which what came too late for a flaky row is seen to come
MOST_PATIENT = 30  # calls that are made with that patience
WAITS_MOVED = 3  # of a row, one after the other, until it is decided away from its deadlines
MARGIN = 50  # milliseconds by which a deadline is not met, beside those that the calls took
NEEDS_STANDING = (
    "needs a clock that stands still, and clock: {} is declared: while the calls were made, time passed that decides"
)
Combinations = Sequence[Mapping[str, Any]]  # of the values of a row's parameters
Ran = tuple[Case, RowFailure | RowTooLong | None]  # a case, and why its row did not hold or did not come to its end


@dataclass(frozen=True, slots=True)
class KnownWrong:
    """What rows have shown to be wrong: causes, faults beside what rows are about, calls that broke rows, and those asked no more."""

    told: Mapping[str, Counterexample]
    strays: tuple[Finding, ...]
    broken: Mapping[tuple[str, str], Sequence[str]]
    hopeless: frozenset[str]

    @property
    def anything(self) -> bool:
        """Whether there is anything."""
        return bool(self.told or self.strays or self.broken)


@dataclass(eq=False, slots=True)
class RowRunner:
    """Runs the rows of a lifecycle against one adapter, under the seed `number`; without `shortest` a counterexample is the row.

    `strays` are faults that the judge saw and that the row is not about; the run as a whole reports them, so that one
    fault does not fail every row. `told` are the causes that rows have failed for, with the counterexample of each; `shown` are
    all counterexamples, each with its row; `asked` are the rows that were run; `held` are the calls that change something of
    those that held and are not derived. `elsewhere` are strays that a run in another process has seen. `late` tells whether the
    time of the whole run is used up.
    """

    compiled: Compiled
    rows: RowCompiler
    adapter: Adapter
    _: KW_ONLY
    number: int = 0
    budget: Budget = USUAL
    shortest: bool = True
    late: Callable[[], bool] = never
    strays: list[Stray] = field(init=False, default_factory=list)
    elsewhere: tuple[Finding, ...] = field(init=False, default=())
    told: dict[str, Counterexample] = field(init=False, default_factory=dict)
    shown: list[tuple[Row, Counterexample]] = field(init=False, default_factory=list)
    witnessed: Counter[str] = field(init=False, default_factory=Counter)
    asked: set[str] = field(init=False, default_factory=set)
    held: set[tuple[str, ...]] = field(init=False, default_factory=set)
    broken_calls: BrokenCalls = field(init=False)
    _fits: dict[tuple[str, str], bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.broken_calls = BrokenCalls(self.adapter)
        self.budget = self.budget.for_system(self.adapter.declaration.settles, costly=self.adapter.costly)

    def run(self, row: Row) -> RowResult:
        """Return the verdict of one row."""
        began, tally = time.monotonic(), Tally()
        judged = self._judged(row, tally)
        return self._result(row, tally, judged, began)

    def clean(self, row: Row) -> RowResult | None:
        """Return the result of a row that shows nothing wrong; None as soon as it does, and when it cannot be asked.

        What such a row says depends on nothing but what was known to be wrong before it, and changes nothing of that.
        """
        began, tally = time.monotonic(), Tally()
        try:
            judged = self._asked(row, self.rows.program(row), tally)
        except (Fails, HarnessError):
            return None
        return None if tally.strays else self._result(row, tally, judged, began)

    def _result(self, row: Row, tally: Tally, judged: Judged, began: float) -> RowResult:
        self.asked.add(row.id.text)
        self.held |= tally.stories if judged.verdict is Verdict.PASS and not row.derived else set()
        self.shown += [(row, judged.counterexample)] if judged.counterexample is not None else []
        for finding, case in tally.strays:
            if not finding.shows(known for known, _ in self.strays):
                self.strays.append((finding, case))
        for path, count in tally.witnesses.items():
            # What else comes to pass among calls at once, their schedule decides.
            if not tally.groups or covers(row, path):
                self.witnessed[path] += count
        return RowResult(
            row.id.text,
            row.about,
            row.level,
            judged.verdict,
            judged.reason,
            tally.runs,
            {word.text: tally.count(word.text) for word in row.covers} if tally.runs else {},
            tally.overlaps,
            judged.counterexample,
            str(row.id.where),
            time.monotonic() - began,
        )

    # ── What is known to be wrong ──

    @property
    def known(self) -> KnownWrong:
        """What is known to be wrong so far: on nothing else depends what the next row says."""
        seen = (*self.elsewhere, *(finding for finding, _ in self.strays))
        return KnownWrong(dict(self.told), seen, *self.broken_calls.known)

    def ask_derived(self, seen: Sequence[Finding] = ()) -> None:
        """Run the derived rows that were not asked for: what only they ask is recommended, whichever rows a run is made of.

        If one fails, run the other rows that may tell what was `seen` as well, or make the two calls or more by which it failed, or are
        about the clause in which the mistake is that explains it: what they tell is not only recommended. Nothing else is told of
        them, and none is run any more once the time is used up.
        """
        quick = self.budget.quick()
        apart = RowRunner(self.compiled, self.rows, self.adapter, number=self.number, budget=quick, late=self.late)
        apart.broken_calls = self.broken_calls
        observes = kernel_facts.of(self.compiled).observes
        for row in sorted(self.compiled.lifecycle.rows.values(), key=lambda each: not each.derived):
            failed = [shown for each, shown in apart.shown if each.derived and seen]
            binding = any(self._tells_of(row, each) for each in failed)
            binding = binding or (bool(failed) and any(may_tell(row, each, observes) for each in seen))
            if (row.derived or binding) and row.id.text not in self.asked and not self.late():
                self.asked.add(row.id.text)
                apart.run(row)
        self.shown += apart.shown

    def _tells_of(self, row: Row, shown: Counterexample) -> bool:
        """Return whether a row makes the calls of a counterexample that change something, or is about the mistake that it shows."""
        story, mistake = {*map(operation_of, shown.changing)}, shown.diagnosis
        made = len(story) > 1 and story.issubset(operations(row, self.compiled))
        return made or (mistake is not None and covers(row, mistake.clause))

    def is_derived(self, stray: Stray) -> bool:
        """Return whether only rows that are derived tell what was seen beside a row, as far as that is known."""
        finding, _ = stray
        return only_derived(self.shown, SeenFault(finding.clause, finding.matter))

    def go_on_from(self, known: KnownWrong) -> None:
        """Take over what is known to be wrong in another process."""
        self.told, self.strays, self.elsewhere = dict(known.told), [], known.strays
        self.broken_calls.go_on_from(known.broken, known.hopeless)

    def take(self, row: Row, witnessed: Counter[str], answered: Iterable[str], held: Iterable[tuple[str, ...]]) -> None:
        """Take note of what came to pass in a clean row that another process has run."""
        self.asked.add(row.id.text)
        self.held.update(held)
        self.witnessed.update(witnessed)
        self.adapter.answered.update(answered)

    def _judged(self, row: Row, tally: Tally) -> Judged:
        program = self.rows.program(row)
        try:
            return self._asked(row, program, tally)
        except Fails as failed:
            found = self._failed(program, failed).judged(self.told, self.broken_calls)
            late = self._late(program, failed) if found.verdict is Verdict.FLAKY else ""
            return found._replace(reason=found.reason + late)
        except HarnessError as error:
            return Judged(Verdict.HARNESS_ERROR, str(error))

    def _asked(self, row: Row, program: Program, tally: Tally) -> Judged:
        """Return the verdict of a row that does not fail; raise Fails of one that does, and HarnessError."""
        if reason := inapplicable(self.compiled, self.rows.words, self.adapter, row):
            return Judged(Verdict.NOT_APPLICABLE, reason)
        called = operations(row, self.compiled)
        if reason := lacking(self.adapter, called) or self._hopeless(called):
            return Judged(Verdict.NOT_EXERCISED, reason)
        try:
            if hung := self._hung_again(program):
                return Judged(Verdict.NOT_EXERCISED, hung)
            self._all(program, tally)
        except RowTooLong as long:
            return Judged(Verdict.COULD_NOT_TELL, f"with what is declared, {long.message}")
        if tally.undecided == tally.runs:
            return Judged(Verdict.NOT_APPLICABLE, NEEDS_STANDING.format(self.adapter.declaration.clock))
        if tally.unsure:  # before what was not witnessed: what nobody could judge witnesses nothing
            return Judged(Verdict.COULD_NOT_TELL, UNSURE)
        idle = self._idle(row, tally)
        if idle and not self._by_another_order(program, tally):
            return Judged(Verdict.NOT_EXERCISED, idle)
        weak = OTHER_ORDER if idle else tally.weakness(seen_inside=self.adapter.seen_inside)
        return Judged(Verdict.PASS, weak)

    def _failed(self, program: Program, failed: Fails) -> FailedRow:
        def once(row: Program, seed: int) -> None:
            self._once(row, failed.values, Tally(), seed)

        return FailedRow(program, failed, once, self.budget, self.shortest, self.fits, self.late)

    def fits(self, policy: str, choice: str) -> bool:
        """Return whether no row that holds now would be wrong if another choice of a policy were declared."""
        chosen = policy, choice
        if chosen not in self._fits:
            seconds = self.budget.shrink_seconds
            self._fits[chosen] = fits(self.compiled, self.rows, self.adapter, chosen, self._fails, seconds)
        return self._fits[chosen]

    def _fails(self, program: Program) -> bool:
        """Return whether a row fails when it is run once; one that cannot be run does not."""
        with suppress(HarnessError):
            case, error = self.ran(program, self.fixed_values(program)[0], case_seed(self.number, 0))
            return isinstance(error, RowFailure) or bool(case.faults)
        return False

    def _late(self, program: Program, failed: Fails) -> str:
        """Say that what a row missed came later than the system declares; an empty text where that is not seen."""
        declaration = self.adapter.declaration
        if declaration.settles or declaration.rests or len(failed.case.calls) > MOST_PATIENT:
            return ""
        with self.adapter.patient(LATE_AT_MOST), suppress(HarnessError):
            for _ in range(self.budget.repeats):
                if late := self.ran(program, failed.values, failed.case.seed)[0].late:
                    return f"; your declaration says at once; it came {late} ms later: declare settles"
        return ""

    def _hopeless(self, called: Sequence[str]) -> str:
        """Say which operation is asked no more; an empty text where each may answer."""
        found = self.broken_calls.hopeless(called)
        if found is None:
            return ""
        did = "did not come back" if found.kind == "hang" else "crashed"
        return f"{found.operation} is asked no more: it {did} in {named(found.rows)}, and never gave an answer"

    def _hung_again(self, program: Program) -> str:
        """Say that a row hangs as enough rows did before, after a short look; an empty text where it does not, or never was."""
        rows, seconds = self.broken_calls.hung, self.budget.hang_seconds
        if len(rows) < BrokenCalls.ENOUGH:
            return ""
        with self.broken_calls.hurried(seconds):
            for values in self.fixed_values(program):
                try:
                    self._once(program, values, Tally(), case_seed(self.number, 0))
                except Fails as failed:
                    finding = broke(failed)
                    if finding is not None and finding.kind == "hang" and self.broken_calls.knows(finding):
                        return f"{finding.seen}: nobody waits longer than {seconds:g} s for {finding.operation} since {named(rows)} hung"
                    return ""
        return ""

    def _idle(self, row: Row, tally: Tally) -> str:
        return tally.idle(row, at_once=self.adapter.declaration.concurrency != "none")

    def _by_another_order(self, program: Program, tally: Tally) -> bool:
        """Return whether only another order of calls that overlapped would have witnessed the rest: a system may have its own."""
        declared, unseen = self.adapter.declaration, tally.unseen(program.row)
        if not tally.overlaps or not unseen:
            return False
        values = self.fixed_values(program)
        return only_in_some_order(self.compiled, program, values, declared.limits, declared.policies, unseen)

    # ── Running ──

    def declared(self) -> Any:
        """Return the limits and policies of the system, as what a row reads of them."""
        return self.compiled.model(self.adapter.declaration.limits, self.adapter.declaration.policies)

    def fixed_values(self, program: Program) -> Combinations:
        """List every combination of the values that a row names for its parameters; of what is drawn, the witness."""
        first = witnesses(self.rows.words, program.row, self.declared())
        return [{**values, **first} for values in enumerated(self.compiled.lifecycle, program)]

    def ran(self, program: Program, values: Mapping[str, Any], seed: int, sooner: int = 0, after: int = 0) -> Ran:
        """Run a row once, and judge it; return the case, and why the row did not hold or did not come to its end.

        It waits so many milliseconds less than the row says (`sooner`), `after` so many waits that it leaves alone.
        """
        seen = (*self.elsewhere, *(finding for finding, _ in self.strays))
        plain = tuple(finding for finding in seen if not finding.spoke_of)
        suspicion = Suspicion(tuple(self.told), certain=tuple(self.told), plain=plain)
        case = Case(self.compiled, self.adapter, seed, self.budget, suspicion, sooner, after)
        try:
            program.run(case, values)
        except (RowFailure, RowTooLong) as error:
            return case, error
        return case, None

    def _all(self, program: Program, tally: Tally) -> None:
        combinations = self.fixed_values(program)
        at_once = makes_calls_at_once(program.row)
        share = max(self.budget.schedules_of_all // len(combinations), self.budget.schedules_of_each)
        for values in combinations:
            self._rounds(program, values, tally, share)
        examples = self.budget.examples_at_once if at_once else self.budget.examples
        if program.row.drawn and examples:
            self._drawn(program, combinations, tally, examples)
        self._until_exercised(program, combinations, tally)

    def _rounds(self, program: Program, values: Mapping[str, Any], tally: Tally, most: int) -> None:
        """Run once; a concurrent row under several schedules, so many at most."""
        self._once(program, values, tally, case_seed(self.number, 0))
        crowded = tally.at_once > self.budget.crowd
        rounds = min(self.budget.schedules, self.budget.schedules_of_crowd if crowded else most)
        for round_ in range(1, rounds if makes_calls_at_once(program.row) else 1):
            self._once(program, values, tally, case_seed(self.number, round_))

    def _until_exercised(self, program: Program, combinations: Combinations, tally: Tally) -> None:
        """Try more schedules of calls at once as long as what the row is about has not come to pass."""
        if not makes_calls_at_once(program.row) or tally.at_once > self.budget.crowd:
            return
        rounds = range(self.budget.schedules, self.budget.schedules + self.budget.more_schedules)
        for round_, values in zip(rounds, itertools.cycle(combinations), strict=False):
            if not self._idle(program.row, tally):
                return
            self._once(program, values, tally, case_seed(self.number, round_))

    def _drawn(self, program: Program, combinations: Combinations, tally: Tally, examples: int) -> None:
        from conformance.search import Falsified, draw  # Hypothesis is slow to import, and few rows draw

        def test(chosen: dict[str, Any]) -> None:
            for values in combinations:
                self._once(program, {**values, **chosen}, tally, case_seed(self.number, 0))

        try:
            drawn = program.row.drawn
            draw(self.compiled, self.rows, drawn, self.declared(), test, number=self.number, examples=examples)
        except Falsified as falsified:
            if isinstance(falsified.cause, Fails):
                raise falsified.cause from None
            raise

    def _once(self, program: Program, values: Mapping[str, Any], tally: Tally, seed: int) -> None:
        """Run a row once; raise Fails when it does not hold."""
        case, error, stays_open = self._decided(program, values, tally, seed)
        tally.runs += 1
        tally.undecided += stays_open
        tally.overlaps += case.overlaps
        tally.groups += case.groups
        tally.one_step += case.one_step
        tally.at_once = max(tally.at_once, *(len(each.calls) for each in case.trace if isinstance(each, History)), 0)
        tally.witnesses.update(case.judge.lockstep.witnessed())
        calls = ((each.operation, each.arguments.items()) for each in case.calls)
        tally.stories |= {kernel_facts.of(self.compiled).story(calls)} if not case.groups else set()
        row, faults = program.row, case.faults
        mine = next((each for each in faults if is_about(row, each)), None)
        if case.finding is not None and case.judge.unsure:
            tally.unsure = tally.unsure or is_about(row, case.finding) or not case.judge.lockstep.blind
        if isinstance(error, RowFailure):
            mine = mine or self._cause(program, values, case)
        tally.strays += [(each, case) for each in faults if each is not mine or row.level != "must"]
        if mine is not None and row.derived:
            mine = replace(mine, should=True)
        if isinstance(error, RowFailure):
            raise Fails(case, values, error, mine)
        if mine is not None:
            raise Fails(case, values, None, mine)
        if error is not None:  # it was too long, and what was seen until then counts
            raise error

    def _decided(self, program: Program, values: Mapping[str, Any], tally: Tally, seed: int) -> tuple[*Ran, bool]:
        """Run a row once, and judge it; return what `ran` does, and whether what the row claims stays open.

        By a clock that runs on, a row that asks close to a deadline may come too late, and so it is run again, away from it. What
        it claims need not hold then: only what the judge finds counts against the system. By a fault of any clause a claim fails
        that was open before.
        """
        case, error = self.ran(program, values, seed)
        stays_open = undecided(program.row, case, error)
        if not stays_open and (error is not None or case.faults or not self._asks_near_deadlines(program.row)):
            return case, error, False
        away = case.slow + MARGIN
        waits = sum(call.operation == "wait" and call.arguments["ms"] > away for call in case.calls)
        for after in range(min(waits, WAITS_MOVED)):  # which of them the deadline ends, the row does not say
            sooner, its_error = self.ran(program, values, seed, away, after)
            about = any(is_about(program.row, each) for each in sooner.faults)
            if about or (stays_open and (sooner.faults or its_error is None)):
                return sooner, its_error, False
            tally.strays += [(each, sooner) for each in sooner.faults]
        return case, None if stays_open else error, stays_open

    def _asks_near_deadlines(self, row: Row) -> bool:
        """Return whether a row needs a clock that it moves, and this one is moved by the time that passes, too."""
        return self.adapter.declaration.clock == "running" and needs_clock(row)

    def _cause(self, program: Program, values: Mapping[str, Any], case: Case) -> Finding | None:
        """Return the fault that a claim fails by, of those that the row is not about: it is in the way of the row's own.

        It is one that no clause left out explains, or else one without whose clause the claim fails on the model, too.
        """
        deviations = case.judge.deviations
        if len(deviations) < 2 or case.finding is not None:
            return next(iter(deviations), None) if case.finding is None else case.finding
        text, declared = row_as_it_ran(self.compiled, program, values), self.adapter.declaration

        def fails(finding: Finding) -> bool:
            left_out = self.compiled.without([finding.clause])
            return not holds(left_out, text, declared.limits, declared.policies)

        return next(filter(fails, deviations), deviations[0])


def undecided(row: Row, case: Case, error: RowFailure | RowTooLong | None) -> bool:
    """Return whether nobody can tell that a claim of a row fails by the system's fault, although all that was seen is right.

    That is so where the claim reads instants that nobody can compare, or where the replies are right only because of the time
    that passed while the calls were made: the row knows nothing of that time. By a virtual clock none has to pass but in calls
    that wait.
    """
    if not isinstance(error, RowFailure) or case.finding is not None or case.judge.deviations or case.judge.gave_up:
        return False
    read = not case.adapter.declaration.instants and error.part is not None and reads_instants(error.part)
    facts = kernel_facts.of(case.compiled)
    took_time = any(call.elapsed and facts.wait(call.operation) is None for call in case.calls)
    return read or case.judge.hangs_on_time() or (took_time and needs_clock(row))
