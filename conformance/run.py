"""A whole run: every row of the matrix, then the machine, told to whoever watches as it goes."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from conformance.adapter import Adapter, HarnessError
from conformance.case import Case
from conformance.evidence import shrunk
from conformance.judge import Judge
from conformance.report import Coverage, Footer, Header, Planned, Watcher, declares, tally
from conformance.rows import RowRunner, schedules
from conformance.verdict import UNSURE, RowResult, Verdict, exit_code
from statemachines.check_coverage import avoided
from statemachines.compile import Compiled
from statemachines.diagnostics import did_you_mean
from statemachines.lifecycle import Level, Row
from statemachines.rows import RowCompiler

if TYPE_CHECKING:
    from conformance.stateful import Diverged, Driver  # Hypothesis is slow to import

MACHINE = (
    "machine"  # the id under which the random searches are reported: Hypothesis, walks, any two calls at once
)
ABOUT_MACHINE = "Random calls in any order: after each, the system shows what the model shows."


class NoSuchRow(ValueError):
    """A filter that matches no row."""


class Run:
    """One run of a lifecycle against an adapter; raises SpecError where a row has faults."""

    def __init__(
        self,
        compiled: Compiled,
        adapter: Adapter,
        *,
        only: Sequence[str] = (),
        seed: int = 0,
        quick: bool = False,
        fail_on: Level = "must",
    ) -> None:
        self.compiled = compiled
        self.adapter = adapter
        self.seed = seed
        self.quick = quick
        self.fail_on = fail_on
        self.rows, self.with_machine = selected(compiled, only)
        self.results: list[RowResult] = []
        programs = RowCompiler(compiled.lifecycle).checked()
        self._runner = RowRunner(compiled, programs, adapter, number=seed, quick=quick)

    def go(self, watchers: Iterable[Watcher] = ()) -> int:
        """Run everything; give the exit code."""
        told = list(watchers)
        began = time.monotonic()
        header = self._header()
        for watcher in told:
            watcher.header(header)
        for row in self.rows:
            self._tell(told, row.id.text, partial(self._runner.run, row))
        if self.with_machine:
            self._tell(told, MACHINE, partial(run_machine, self._runner))
        code = exit_code(self.results, self.fail_on)
        witnessed = self._runner.witnessed
        unasked = avoided(self.compiled)  # where the source says nothing no call goes
        clauses = {
            clause.path: witnessed[clause.path]
            for clause in self.compiled.kernel.clauses
            if clause.path not in unasked
        }
        whole = self.with_machine and len(self.rows) == len(self.compiled.lifecycle.rows)
        lacking = tuple(f"operations.{name}." for name in self.adapter.declaration.lacks)
        coverage = Coverage(
            clauses,
            tuple(path for path, count in clauses.items() if not count and not path.startswith(lacking))
            if whole
            else (),
        )
        footer = Footer(tally(self.results), code, time.monotonic() - began, self._strays())
        for watcher in told:
            watcher.finish(coverage, footer)
        return code

    def _strays(self) -> tuple[str, ...]:
        """Give the clauses of faults that rows saw without being about them, where no machine reports those."""
        if self.with_machine:
            return ()
        told = {each.counterexample.clause for each in self.results if each.counterexample is not None}
        seen = [case.divergence.clause for case in self._runner.strays if case.divergence is not None]
        return tuple(sorted({*seen} - told))

    def _header(self) -> Header:
        planned = [Planned(row.id.text, row.level, row.about, str(row.id.where)) for row in self.rows]
        if self.with_machine:
            planned.append(Planned(MACHINE, "must", ABOUT_MACHINE))
        spec = self.compiled.lifecycle
        return Header(
            spec.name,
            spec.version,
            self.adapter.name,
            self.seed,
            declares(self.adapter.declaration),
            tuple(planned),
            spec=None if self.compiled.called == spec.name else self.compiled.called,
        )

    def _tell(self, told: list[Watcher], row_id: str, work: Callable[[], RowResult]) -> None:
        for watcher in told:
            watcher.began(row_id)
        result = work()
        self.results.append(result)
        for watcher in told:
            watcher.row(result)


# ── The machine ──

# Where one case in so many of a search cannot be judged, and not just one, the machine could not tell.
UNJUDGED = 10


def run_machine(runner: RowRunner) -> RowResult:
    """Search at random; a fault that a row saw without being about it is reported here too.

    A case that nobody can judge counts as not made. Where a search has many of those, the machine could not tell.
    """
    began = time.monotonic()
    result = RowResult(MACHINE, ABOUT_MACHINE, "must", Verdict.PASS)
    missing = [
        name
        for name, operation in runner.compiled.lifecycle.operations.items()
        if not operation.optional and not runner.adapter.offers(name)
    ]
    try:
        if missing:
            result.verdict = Verdict.NOT_EXERCISED
            result.reason = f"the system has no operation {', '.join(missing)}"
        else:
            tallies = [_Tally(search) for search in (_searched, _walked, _paired)]
            found = next(filter(None, (tally.search(runner) for tally in tallies)), None)
            result.runs = sum(tally.judged for tally in tallies)
            case = found.case if found is not None else next(iter(runner.strays), None)
            if case is not None:
                _fails(runner, result, case)
            elif any(tally.could_not_tell(runner) for tally in tallies):
                result.verdict, result.reason = Verdict.COULD_NOT_TELL, UNSURE
    except HarnessError as error:
        result.verdict, result.reason = Verdict.HARNESS_ERROR, str(error)
    result.seconds = time.monotonic() - began
    return result


@dataclass(slots=True)
class _Tally:
    """How many cases of one search were judged, and how many diverged where nobody can judge it."""

    made: Callable[[RowRunner, Told], Diverged | None]
    judged: int = 0
    unjudged: int = 0

    def search(self, runner: RowRunner) -> Diverged | None:
        return self.made(runner, self._told)

    def _told(self, driver: Driver) -> None:
        if driver.case.judge.unsure and driver.case.divergence is not None:
            self.unjudged += 1
        else:
            self.judged += 1

    def could_not_tell(self, runner: RowRunner) -> bool:
        """Tell whether too much was left unjudged: any of it, where no case of this system can be judged to its end."""
        if Judge(runner.compiled, runner.adapter.declaration).blind:
            return self.unjudged > 0
        return self.unjudged > 1 and self.unjudged * UNJUDGED >= self.judged + self.unjudged


Told = Callable[["Driver"], None]  # of every case that came to its end


def _searched(runner: RowRunner, told: Told) -> Diverged | None:
    """Let Hypothesis make calls; give the first case that diverges."""
    from conformance import stateful  # Hypothesis is slow to import

    examples = _many(runner, stateful.EXAMPLES, stateful.EXAMPLES_IF_COSTLY)
    after = _counting(runner, told)
    return stateful.search(runner.compiled, runner.adapter, runner.number, examples=examples, after=after)


def _walked(runner: RowRunner, told: Told) -> Diverged | None:
    """Walk at random; give the first case that diverges."""
    from conformance import walks

    many, after = _many(runner, walks.WALKS, 0), _counting(runner, told)
    return walks.search(runner.compiled, runner.adapter, runner.number, walks=many, after=after)


def _paired(runner: RowRunner, told: Told) -> Diverged | None:
    """Make any two calls at once, where the system allows it; what is witnessed there, their schedule decides."""
    from conformance import pairs

    if runner.adapter.declaration.concurrency == "none":
        return None
    rounds = _many(runner, pairs.ROUNDS, pairs.ROUNDS_IF_COSTLY)
    return pairs.search(runner.compiled, runner.adapter, runner.number, rounds=rounds, after=told)


def _many(runner: RowRunner, usually: int, costly: int) -> int:
    """Give how many cases a search makes of this system."""
    if runner.adapter.costly:
        return costly
    return usually // 4 if runner.quick else usually


def _counting(runner: RowRunner, told: Told) -> Told:
    """Tell of a case, and take note of what it witnessed."""

    def after(driver: Driver) -> None:
        told(driver)
        runner.witnessed.update(driver.case.judge.witnessed())

    return after


def _fails(runner: RowRunner, result: RowResult, case: Case) -> None:
    divergence = case.divergence
    if divergence is None:
        return
    result.verdict = Verdict.FAIL
    result.reason = f"expected {divergence.expected}; seen {divergence.seen}"
    rounds = schedules(runner.adapter) if any(each.at_once for each in case.trace) else 1
    found = result.counterexample = shrunk(runner.compiled, runner.adapter, case, rounds=rounds)
    if found is None:
        result.verdict = Verdict.FLAKY
        result.reason = f"{divergence.operation}: {result.reason}; played again, it did not show"
    else:
        result.reason = f"expected {found.expected}; seen {found.seen}"


def selected(compiled: Compiled, only: Sequence[str]) -> tuple[list[Row], bool]:
    """Give the rows that patterns such as `N1` or `E*` name, and whether they name the machine; all without any.

    Raises NoSuchRow for a pattern that names nothing.
    """
    rows = compiled.lifecycle.rows
    names = [*rows, MACHINE]
    for pattern in only:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names) or f"there are {', '.join(rows)} and {MACHINE}"
            raise NoSuchRow(f"no row of {compiled.lifecycle.name} is called {pattern!r}; {hint}")
    chosen = {name for pattern in only or "*" for name in names if fnmatch.fnmatchcase(name, pattern)}
    return [row for name, row in rows.items() if name in chosen], MACHINE in chosen
