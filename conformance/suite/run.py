"""A whole run: every row of the matrix, then the machine, told to whoever watches as it goes."""

from __future__ import annotations

import fnmatch
import itertools
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.budget import USUAL, Budget
from conformance.counterexample import shrunk
from conformance.errors import UsageError
from conformance.gating import Measure, measured_by
from conformance.judge import Case, Finding, Judge
from conformance.report import Coverage, Footer, Header, Planned, Report, Watcher, declares, named, tally
from conformance.suite.baseline import Baseline, Known
from conformance.suite.row_facts import lacking, unasked
from conformance.suite.rows import RowRunner
from conformance.system import Adapter, HarnessError
from conformance.verdict import UNSURE, Counterexample, Judged, RowResult, Verdict, exit_code, verdict_of
from statemachines.checks import avoided
from statemachines.compile import Compiled
from statemachines.diagnostics import did_you_mean
from statemachines.lifecycle import Level, Row
from statemachines.rows import RowCompiler

if TYPE_CHECKING:
    from conformance.search import Driver  # Hypothesis is slow to import

MACHINE = "machine"  # the id under which the random searches are reported: Hypothesis, walks, any two calls at once
ABOUT_MACHINE = "Random calls in any order: after each, the system shows what the model shows."


class Run:
    """One run of a lifecycle against an adapter.

    Raises UsageError for rows that there are not, and SpecError where a row has faults.
    """

    def __init__(
        self,
        compiled: Compiled,
        adapter: Adapter,
        *,
        rows: str | Sequence[str] | None = None,
        seed: int = 0,
        budget: Budget = USUAL,
        fail_on: Level = "must",
        known: Known | None = None,
        measure: Measure | None = None,
    ) -> None:
        self.compiled = compiled
        self.adapter = adapter
        self.seed = seed
        self.fail_on = fail_on
        self.rows, self.with_machine = selected(compiled, rows)
        self.results: list[RowResult] = []
        self._measure = measured_by(compiled) if measure is None else measure
        self.faults: tuple[str, ...] = ()  # of the spec, a line for each: it can be run, and is not right
        programs = RowCompiler(compiled.lifecycle).checked()
        self._runner = RowRunner(compiled, programs, adapter, number=seed, budget=budget)
        all_known = {**adapter.declaration.deviates, **(known or {})}
        self._baseline = Baseline(compiled, all_known, whole=budget.whole)

    def go(self, watchers: Iterable[Watcher] = ()) -> Report:
        """Run everything, telling the watchers as it goes; return the report."""
        told = list(watchers)
        began = time.monotonic()
        header = self._header()
        for watcher in told:
            watcher.header(header)
        for row in self.rows:
            self._tell(told, row.id.text, partial(run_row, self._runner, row))
        if self.with_machine:
            self._tell(told, MACHINE, partial(run_machine, self._runner, self._baseline.known))
        witnessed = self._runner.witnessed
        stale = self._baseline.stale(self.results, witnessed, MACHINE)
        strays = self._strays()
        code = exit_code(self.results, self.fail_on, (*stale, *strays))
        nowhere = avoided(self.compiled)  # where the source says nothing no call goes
        clauses = {
            clause.path: witnessed[clause.path] for clause in self.compiled.kernel.clauses if clause.path not in nowhere
        }
        whole = self.with_machine and len(self.rows) == len(self.compiled.lifecycle.rows)
        idle = tuple(path for path, count in clauses.items() if not count) if whole else ()
        beyond = unasked(self.compiled, self.adapter.declaration, self.results)
        coverage = Coverage(
            clauses,
            tuple(path for path in idle if path not in beyond),
            tuple(path for path in idle if path in beyond),
        )
        footer = Footer(tally(self.results), code, time.monotonic() - began, strays, stale)
        for watcher in told:
            watcher.finish(coverage, footer)
        return Report(header, tuple(self.results), coverage, footer)

    def _strays(self) -> tuple[str, ...]:
        """Return the clauses of faults that rows saw without being about them, where no machine reports those."""
        if self.with_machine:
            return ()
        told = {each.counterexample.clause for each in self.results if each.counterexample is not None}
        seen = {finding.clause for finding, _ in self._runner.strays if not finding.should}
        return tuple(sorted(seen - told - {*self._baseline.known}))

    def _header(self) -> Header:
        planned = [Planned(row.id.text, row.level, row.about, str(row.id.where), row.group.title) for row in self.rows]
        if self.with_machine:
            planned.append(Planned(MACHINE, "must", ABOUT_MACHINE))
        planned = [self._measure.planned(row) for row in planned]
        spec = self.compiled.lifecycle
        return Header(
            spec.name,
            spec.version,
            self.adapter.name,
            self.seed,
            declares(replace(self.adapter.declaration, deviates=self._baseline.known)),
            tuple(planned),
            spec=None if self.compiled.called == spec.name else self.compiled.called,
            faults=self.faults,
            judged_by=self._measure.revision,
        )

    def _tell(self, told: list[Watcher], row_id: str, work: Callable[[], Iterable[RowResult]]) -> None:
        for watcher in told:
            watcher.began(row_id)
        for each in work():
            result = self._measure.judged(self._baseline.judged(each))
            self.results.append(result)
            for watcher in told:
                watcher.row(result)


# ── The machine ──

# Where one case in so many of a search cannot be judged, and not just one, the machine could not tell.
UNJUDGED = 10
MOST_FAULTS = 5  # that are told of one run, beside those of rows


def run_row(runner: RowRunner, row: Row) -> list[RowResult]:
    """Run a row; its one result stands in a list, as what the searches give does."""
    return [runner.run(row)]


def run_machine(runner: RowRunner, known: Collection[str] = ()) -> list[RowResult]:
    """Search at random; give a result for each fault that no row has told, `machine`, `machine-2` and so on, or one in all.

    A fault that a row saw without being about it is one of them. One of a clause that is `known` to be broken, or that
    rows have told, is only reported where there is no other. A case that nobody can judge counts as not made. Where a
    search has many of those, the machine could not tell.
    """
    began = time.monotonic()
    tallies: list[_SearchTally] = []
    try:
        judged = _searches(runner, tallies, known)
    except HarnessError as error:
        judged = [Judged(Verdict.HARNESS_ERROR, str(error))]
    runs, seconds = sum(tally.judged for tally in tallies), time.monotonic() - began
    return [
        RowResult(
            f"{MACHINE}-{number}" if number > 1 else MACHINE,
            ABOUT_MACHINE,
            "must",
            each.verdict,
            each.reason,
            runs=runs if number == 1 else 0,
            counterexample=each.counterexample,
            seconds=seconds if number == 1 else 0.0,
        )
        for number, each in enumerate(judged, 1)
    ]


def _searches(runner: RowRunner, tallies: list[_SearchTally], known: Collection[str]) -> list[Judged]:
    """Make the searches one after the other; each adds what it came of to the tallies."""
    from conformance.search import Diverged, Faults, pairs, stateful, walks  # Hypothesis is slow to import

    asked, adapter = runner.compiled.lifecycle.operations, runner.adapter
    mandatory = (name for name, operation in asked.items() if not operation.optional)
    if missing := lacking(adapter, (name for name in mandatory if name not in adapter.declaration.absent)):
        return [Judged(Verdict.NOT_EXERCISED, missing)]
    faults = Faults(runner.broken_calls, MOST_FAULTS, known=runner.told)
    faults.found += itertools.starmap(Diverged, runner.strays[: MOST_FAULTS - 1])
    for search in (stateful.search, walks.search, pairs.search):
        at_once = search is pairs.search  # what is witnessed there, its schedules decide
        if at_once and adapter.declaration.concurrency == "none":
            continue
        tallies.append(_SearchTally(Counter() if at_once else runner.witnessed))
        search(runner.compiled, adapter, runner.number, runner.budget, after=tallies[-1].count, faults=faults)
    if faults.found:
        return _told(runner, [(each.case, each.finding) for each in faults.found], {*known})
    blind = Judge(runner.compiled, adapter.declaration).lockstep.blind
    unsure = any(tally.could_not_tell(blind=blind) for tally in tallies)
    return [Judged(Verdict.COULD_NOT_TELL, UNSURE) if unsure else Judged(Verdict.PASS)]


def _told(runner: RowRunner, seen: Sequence[tuple[Case, Finding]], known: Collection[str]) -> list[Judged]:
    """Return what there is to tell of faults: each that is new, or else the first; beside it what one story leads to as well."""
    new = [each for each in seen if each[1].clause not in known and each[1].clause not in runner.told]
    told = list(runner.shown)
    found: list[Judged] = []
    beside: list[str] = []  # the clauses of faults to which the story of another leads as well
    for case, finding in new or seen[:1]:
        judged = _failed(runner, case, finding)
        shown = judged.counterexample
        if not found or (shown is not None and not any(_is_one(shown, each) for each in told)):
            found.append(judged)
            told += [shown] if shown is not None else []
        elif shown is not None:
            beside.append(shown.clause)
    first, *others = [each for each in found if each.verdict is Verdict.FAIL] or found[:1]
    if left := sorted({*beside} - {each.clause for each in told}):
        first = first._replace(reason=f"{first.reason}; what leads there broke {named(left)} as well")
    return [first, *others]


def _is_one(one: Counterexample, other: Counterexample) -> bool:
    """Return whether two counterexamples show one fault: they have one cause, or one story leads to both.

    Where nobody knows the cause of either, the calls of one that change something are calls of the other, in their order;
    where somebody knows that of one, they are just those of the other.
    """
    if one.cause and other.cause:
        return one.cause == other.cause
    if one.cause or other.cause:
        return one.changing == other.changing
    few, many = sorted((one.changing, other.changing), key=len)
    rest = iter(many)
    return bool(few) and all(each in rest for each in few)


@dataclass(slots=True)
class _SearchTally:
    """How many cases of one search were judged, and how many diverged where nobody can judge it; and what they witnessed."""

    witnessed: Counter[str]
    judged: int = 0
    unjudged: int = 0

    def count(self, driver: Driver) -> None:
        """Take note of a case that came to its end."""
        judge = driver.case.judge
        if judge.unsure and driver.case.finding is not None:
            self.unjudged += 1
        else:
            self.judged += 1
        self.witnessed.update(judge.lockstep.witnessed())

    def could_not_tell(self, *, blind: bool) -> bool:
        """Return whether too much was left unjudged: any of it, where no case of this system can be judged to its end."""
        many = self.unjudged > 1 and self.unjudged * UNJUDGED >= self.judged + self.unjudged
        return many or (blind and self.unjudged > 0)


def _failed(runner: RowRunner, case: Case, finding: Finding) -> Judged:
    if finding.clause in runner.told:
        return verdict_of(runner.told[finding.clause])
    found = shrunk(case, rounds=runner.budget.reproductions if case.groups else 1, wanted=[finding])
    if found is not None:
        return verdict_of(found)
    seen = f"expected {finding.expected}; seen {finding.seen}"
    return Judged(Verdict.FLAKY, f"{finding.operation}: {seen}; played again, it did not show")


def selected(compiled: Compiled, rows: str | Sequence[str] | None = None) -> tuple[list[Row], bool]:
    """Return the rows that patterns such as `N1`, `E*` or "N1,E*" name, and whether they name the machine.

    None names all. Raises UsageError for a pattern that names nothing, and where there is no pattern.
    """
    known = compiled.lifecycle.rows
    names = [*known, MACHINE]
    chosen: set[str] = set()
    for pattern in ["*"] if rows is None else _patterns(rows):
        found = fnmatch.filter(names, pattern)
        if not found:
            hint = did_you_mean(pattern, names) or f"there are {', '.join(known)} and {MACHINE}"
            raise UsageError(f"no row of {compiled.lifecycle.name} is called {pattern!r}; {hint}")
        chosen.update(found)
    return [row for name, row in known.items() if name in chosen], MACHINE in chosen


def _patterns(rows: str | Sequence[str]) -> list[str]:
    texts = [rows] if isinstance(rows, str) else rows
    if not isinstance(texts, list | tuple | set | frozenset) or not all(isinstance(each, str) for each in texts):
        raise UsageError(f'rows is {rows!r}, and it is a pattern or a list of patterns: "N1,E*" or ["N1", "machine"]')
    found = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if not found:
        raise UsageError("name at least one row, for example N1,E*")
    return found
