"""A whole run: every row of the matrix, then the machine, told to whoever watches as it goes."""

from __future__ import annotations

import fnmatch
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from conformance.budget import USUAL, Budget
from conformance.errors import UsageError
from conformance.gating import Measure, measured_by
from conformance.report import Coverage, Footer, Header, Planned, Report, Watcher, declares, tally
from conformance.suite.baseline import Baseline, Known
from conformance.suite.charts import charts, sentences
from conformance.suite.machine import ABOUT_MACHINE, goes_on, run_machine, told_beside
from conformance.suite.pace import Pace
from conformance.suite.row_facts import unasked
from conformance.suite.rows import RowRunner
from conformance.suite.sharding import Shards, setting_of
from conformance.system import Adapter
from conformance.verdict import MACHINE, RowResult, Verdict, exit_code
from conformance.workers import Cluster
from statemachines.checks import avoided
from statemachines.compile import Compiled
from statemachines.diagnostics import did_you_mean
from statemachines.lifecycle import Level, Row
from statemachines.rows import RowCompiler

# What came once and not again may have come late.
TIGHT = "what calls cause may come later than the {} ms that your declaration says: try a larger `settles`"


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
        pace: Pace | None = None,
        workers: int = 1,
        cluster: Cluster | None = None,
    ) -> None:
        self.compiled = compiled
        self.adapter = adapter
        self.seed = seed
        self.fail_on = fail_on
        self.rows, self.with_machine = selected(compiled, rows)
        all_known = {**adapter.declaration.deviates, **(known or {})}
        if self.with_machine:  # what the searches find is known where a row shows it that is
            asked = {row.id.text for row in self.rows} | {*all_known}
            self.rows = [row for name, row in compiled.lifecycle.rows.items() if name in asked]
        self.results: list[RowResult] = []
        self._pace = Pace() if pace is None else pace
        self._measure = measured_by(compiled) if measure is None else measure
        self.faults: tuple[str, ...] = ()  # of the spec, a line for each: it can be run, and is not right
        programs = RowCompiler(compiled.lifecycle).checked()
        self._runner = RowRunner(compiled, programs, adapter, number=seed, budget=budget, late=self._pace.late)
        self._workers, self._cluster = workers, cluster
        spread = workers > 1 or cluster is not None
        self._setting = setting_of(self._runner, cluster) if spread else None
        self._baseline = Baseline(compiled, all_known, whole=budget.whole)

    def go(self, watchers: Iterable[Watcher] = ()) -> Report:
        """Run everything, telling the watchers as it goes; return the report."""
        told = list(watchers)
        began = time.monotonic()
        self._pace.begin()
        header = self._header()
        for watcher in told:
            watcher.header(header)
        with self.shards() or nullcontext() as shards:
            stopped = self._everything(told, shards)
        left = self._left(header, stopped)
        witnessed = self._runner.witnessed
        stale = self._baseline.stale(self.results, witnessed, MACHINE)
        strays = self._strays()
        unasked_must = any(row.level == "must" and row.id != MACHINE for row in left)
        code = exit_code(self.results, self.fail_on, (*stale, *strays), unfinished=unasked_must)
        nowhere = avoided(self.compiled)  # where the source says nothing no call goes
        clauses = {
            clause.path: witnessed[clause.path] for clause in self.compiled.kernel.clauses if clause.path not in nowhere
        }
        whole = not left and self.with_machine and len(self.rows) == len(self.compiled.lifecycle.rows)
        idle = tuple(path for path, count in clauses.items() if not count) if whole else ()
        beyond = unasked(self.compiled, self.adapter.declaration, self.results)
        coverage = Coverage(
            clauses,
            tuple(path for path in idle if path not in beyond),
            tuple(path for path in idle if path in beyond),
        )
        names = tuple(row.id for row in left)
        seconds = time.monotonic() - began
        footer = Footer(tally(self.results), code, seconds, strays, stale, names, stopped if left else "")
        for watcher in told:
            watcher.finish(coverage, footer)
        return Report(header, tuple(self.results), coverage, footer)

    def shards(self) -> Shards | None:
        """Return what runs ahead in other processes; None where there are none."""
        if self._setting is None:
            return None
        return Shards(self._setting, self._workers, self._cluster, self._pace.left)

    def _everything(self, told: list[Watcher], shards: Shards | None) -> str:
        """Run the rows, then the searches; return why that ended before all was come to, or an empty text."""
        runner, timed = self._runner, self._pace.seconds is not None
        endless = goes_on(self.adapter, timed=timed) if self.with_machine else None
        ahead = (
            (partial(run_row, runner, row) for row in self.rows)
            if shards is None
            else shards.rows(runner, self.rows, endless=endless)
        )
        work: list[tuple[str, Callable[[], Iterable[RowResult]]]] = [
            (row.id.text, run) for row, run in zip(self.rows, ahead, strict=True)
        ]
        if self.with_machine:
            made: dict[str, Any] = {} if shards is None else {"ahead": partial(shards.search, runner)}
            made |= {"most": 1} if self._pace.at_first else {}
            work.append(
                (
                    MACHINE,
                    partial(run_machine, runner, self._baseline.known, self._pace.left if timed else None, **made),
                )
            )
        for row_id, run in work:
            if stopped := self._pace.stops(self.results, self.fail_on):
                if self.with_machine:  # it would have told of what was seen so far
                    self._tell(told, MACHINE, partial(told_beside, runner, self._baseline.known))
                return stopped
            self._tell(told, row_id, run)
        return ""

    def _left(self, header: Header, stopped: str) -> list[Planned]:
        """Return what the run did not come to: the searches, too, where they only told of what rows had seen."""
        asked = {result.id for result in self.results} - ({MACHINE} if stopped else set())
        return [row for row in header.rows if row.id not in asked]

    def _strays(self) -> tuple[str, ...]:
        """Return the clauses of faults that rows saw without being about them, where no machine reports those.

        What a row tells that is only recommended, no row has told that counts; what is known, one has.
        """
        if self.with_machine:
            return ()
        counting = (each for each in self.results if each.level == "must" or each.verdict is Verdict.KNOWN_FAIL)
        counted = (each.counterexample for each in counting)
        told = {each.clause for each in counted if each is not None}
        runner = self._runner
        if runner.strays:
            runner.ask_derived()
        seen = {stray[0].clause for stray in runner.strays if not stray[0].should and not runner.is_derived(stray)}
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
            sentences=sentences(self.compiled),
            charts=charts(self.compiled),
            date=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            python=f"{platform.python_implementation()} {platform.python_version()}",
            platform=" ".join(filter(None, (platform.system(), platform.release(), platform.machine()))),
        )

    def _tell(self, told: list[Watcher], row_id: str, work: Callable[[], Iterable[RowResult]]) -> None:
        for watcher in told:
            watcher.began(row_id)
        for each in map(self._hinted, work()):
            result = self._measure.judged(self._baseline.judged(each, self.results))
            self.results.append(result)
            for watcher in told:
                watcher.row(result)

    def _hinted(self, result: RowResult) -> RowResult:
        """Add to what did not show again that the system may only have been late, where it says that it may be."""
        settles = self.adapter.declaration.settles
        if result.verdict is not Verdict.FLAKY or not settles:
            return result
        return replace(result, reason=f"{result.reason}; {TIGHT.format(settles)}")


def run_row(runner: RowRunner, row: Row) -> list[RowResult]:
    """Run a row; its one result stands in a list, as what the searches give does."""
    return [runner.run(row)]


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
