"""Which calls tell two revisions apart: what a system by the one does, and what the judge says of it by the other."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, Final

from conformance.budget import USUAL as USUAL_BUDGET
from conformance.counterexample import Shown, shown_as_played, shown_as_row, shrunk
from conformance.differing.facts import BOTH, Direction
from conformance.differing.settings import DeclaredPair, declares_of, declaring, settings, small, usual_choices
from conformance.differing.witness import ToldApart, Witness
from conformance.stand_ins import model_system
from conformance.suite import RowRunner, makes_calls_at_once, operations
from conformance.system import Adapter
from conformance.targets import open_system
from statemachines.bounds import USUAL, Bounds
from statemachines.compare import UNSAID, WAITS, Declared, Parting, RevisionComparison, Way, alike
from statemachines.compile import Compiled
from statemachines.kernel import within
from statemachines.lifecycle import Level, Row
from statemachines.mutants import mutants
from statemachines.requirements import row_hash
from statemachines.rows import RowCompiler, Trace

STAND_IN_SECONDS: Final = 10.0  # for one call of a stand-in, which takes no time
WAIT_SECONDS: Final = 0.5  # for one call of one that is known to wait
BOUNDS: Final = replace(USUAL, states=3_000)
"""How many configurations are reached from which two revisions are compared."""
ELSEWHERE: Final = replace(USUAL, states=1_000, transitions=10_000)
"""How many are with other choices than the default ones."""
PLAIN_CALLS: Final = 16_000
"""Calls that are made where systems do what they must, and no more."""
FURTHER: Final = 6_000
"""Calls that are made where they choose in another way."""
OF_A_KIND: Final = 3  # partings of the same operation with the same answers of which the judge is asked
MOST_JUDGED: Final = 40  # partings of one comparison
MOST_MISTAKES: Final = 12  # mistakes about a clause that are tried for calls that show its level
WAYS: Final[tuple[Way, ...]] = (
    {},
    {"lenient": False},
    {"eager": True},
    {"prompt": False},
    {"lenient": False, "eager": True},
)
"""What systems choose where a revision leaves it to them, as far as they stand in here."""
ROW_WAYS: Final[tuple[Way, ...]] = ({}, {"prompt": False})
"""What they choose while rows are played on them: a timer that may take its time fires at once, or at the last instant."""


class Revisions:
    """Two revisions, of which systems by the one are judged by the other."""

    def __init__(self, old: Compiled, new: Compiled) -> None:
        self.old, self.new = old, new
        others = {each.name: each for each in new.kernel.operations}
        self.common = {each.name for each in old.kernel.operations if alike(each, others.get(each.name))}

    def told_apart(self, told: Callable[[int, int], object]) -> ToldApart:
        """Look for the shortest calls in each direction; `told` is told with how many settings systems were compared, and of how many."""
        found = ToldApart()
        first, *others = settings(self.old, self.new)
        told(0, 1 + len(others))
        self._compare(found, first, BOUNDS, WAYS, counted=True)
        if not found.touched:
            return found
        for number, each in enumerate(others, 1):
            told(number, 1 + len(others))
            if not all(map(found.has, each.directions)):
                self._compare(found, each, ELSEWHERE, WAYS[:1])
        if not found.witnesses:
            self._compare(found, first, BOUNDS, WAYS[:1], counted=True, wide=True)
        for direction, way in itertools.product(BOTH, ROW_WAYS):
            if not found.has(direction):
                found.note(self._by_rows(direction, first, way))
        return found

    def _compare(
        self,
        found: ToldApart,
        setting: DeclaredPair,
        bounds: Bounds,
        ways: tuple[Way, ...],
        *,
        counted: bool = False,
        wide: bool = False,
    ) -> None:
        """Compare from where systems by the one revision come to, then from where those by the other one do."""
        touched = False
        sides = (self.old, self.new, setting.old, setting.new), (self.new, self.old, setting.new, setting.old)
        for one, other, ours, theirs in sides:
            comparison = RevisionComparison(one, other, ours, theirs, bounds, wide=wide)
            touched = touched or bool(comparison.touched)
            if setting.chosen and setting.chosen not in comparison.touched.policies:
                continue  # by no choice anything is another
            if counted and touched:
                found.configurations = max(found.configurations, comparison.exploration.states)
                found.whole = found.whole and comparison.exploration.complete
            for way in ways:
                self._ask(found, setting, comparison, way)
        found.touched = touched or not counted

    def _ask(self, found: ToldApart, setting: DeclaredPair, comparison: RevisionComparison, way: Way) -> None:
        """Ask the judge about where both part when they choose in one way, until there is nothing more to know."""
        calls = PLAIN_CALLS if way == WAYS[0] else FURTHER
        wanted = [each for each in setting.directions if not found.has(each)]
        for parting in itertools.islice(comparison.partings(way, calls, OF_A_KIND), MOST_JUDGED if wanted else 0):
            for direction in wanted:
                swapped = comparison.one is self.new
                found.note(self.witness(direction, setting, way, parting, swapped=swapped))
                if not found.has(direction):
                    shown = partial(self.witness, direction, way=way, parting=parting, swapped=swapped)
                    found.note(self._where_usual_is_declared(direction, setting, shown))
            wanted = [each for each in wanted if not found.has(each)]
            if not wanted:
                break
        found.whole = found.whole and (not comparison.ended_early or bool(found.witnesses))

    # ── One parting ──

    def witness(
        self, direction: Direction, setting: DeclaredPair, way: Way, parting: Parting, *, swapped: bool
    ) -> Witness | None:
        """Return what a parting shows in one direction, if it shows anything."""
        assert parting.trace is not None  # every way is one of calls
        acting = parting.other if (direction == "less") == swapped else parting.one
        seconds = WAIT_SECONDS if acting.refused == WAITS else STAND_IN_SECONDS
        found = self.judged(direction, setting, way, parting.limits, parting.trace, seconds)
        if found is None:
            return None
        plain = self.judged(direction, setting, way, {}, parting.trace, seconds) if found.words else None
        found = plain if plain is not None and plain.level == found.level else found
        words = _SAID.get(acting.refused or "", "")
        return replace(found, row=_about(found.row, words), seen=words) if words else found

    def _where_usual_is_declared(
        self, direction: Direction, setting: DeclaredPair, shown: Callable[[DeclaredPair], Witness | None]
    ) -> Witness | None:
        """Return the must that is shown of systems which declare the usual choices where others are right as well; few, if these will do."""

        def must(chosen: Mapping[str, Any]) -> Witness | None:
            found = shown(declaring(setting, chosen)) if chosen else None
            return found if found is not None and found.level == "must" else None

        choices = usual_choices(self.old, self.new, setting)
        found = must(choices)
        while found is not None and len(choices) > 1:  # by halves: each choice alone would take long
            names, half = [*choices], len(choices) // 2
            halves = [{name: choices[name] for name in part} for part in (names[:half], names[half:])]
            enough = next(((each, less) for each in halves if (less := must(each)) is not None), None)
            if enough is None:
                break
            choices, found = enough
        return found

    def judged(
        self,
        direction: Direction,
        setting: DeclaredPair,
        way: Way,
        limits: Mapping[str, int | None],
        trace: Trace,
        seconds: float = STAND_IN_SECONDS,
    ) -> Witness | None:
        """Play calls on a system by one revision, judged by the other; None where nothing is wrong about it."""
        acting, judging = (self.old, self.new) if direction == "less" else (self.new, self.old)
        does, says = (setting.old, setting.new) if direction == "less" else (setting.new, setting.old)
        if any(call.operation not in {*self.common, "wait"} for call in trace.calls()):
            return None
        with closing(self._opened(acting, judging, does, says, limits, way)) as adapter:
            adapter.limit = seconds
            shown = shown_as_row(judging, adapter, trace, 0)
        if shown is None:
            return None
        words = "; ".join(filter(None, (setting.words, small(judging, says, limits))))
        level: Level = "should" if shown.should else "must"
        asked = (setting, way, limits, trace)
        return Witness(direction, shown.row, shown.calls, shown.expected, shown.seen, words, level, asked)

    def _opened(
        self,
        acting: Compiled,
        judging: Compiled,
        does: Declared,
        says: Declared,
        limits: Mapping[str, int | None],
        way: Way,
    ) -> Adapter:
        """Open a system by the one revision for a judge by the other."""
        system = model_system(acting, declares_of(acting, does, limits), **way)
        declares = {**system.declares, **declares_of(judging, says, limits)}
        return open_system(judging, type(system.__name__, (system,), {"declares": declares}))

    def _by_rows(self, direction: Direction, setting: DeclaredPair, way: Way) -> Witness | None:
        """Return what a row of the one revision shows of a system by the other: it may lead further than a small scope.

        Those that the other revision does not have come first. Where no row shows a must of systems that declare nothing else, they
        declare the usual choices where others are right as well; few of these, if they will do.
        """
        acting, judging = (self.old, self.new) if direction == "less" else (self.new, self.old)
        theirs = {row_hash(row) for row in acting.lifecycle.rows.values()}
        programs = RowCompiler(judging.lifecycle)
        common = (row for row in judging.lifecycle.rows.values() if {*operations(row, judging)} <= self.common)
        typed = (row for row in common if _is_typed(programs, row) and not makes_calls_at_once(row))
        rows = sorted(typed, key=lambda each: row_hash(each) in theirs)

        def shown(declared: DeclaredPair) -> Witness | None:
            return self._shown_by_first(direction, declared, way, programs, rows)

        found = shown(setting)
        if found is not None and found.level == "must":
            return found
        return self._where_usual_is_declared(direction, setting, shown) or found

    def _shown_by_first(
        self, direction: Direction, setting: DeclaredPair, way: Way, programs: RowCompiler, rows: Sequence[Row]
    ) -> Witness | None:
        """Return the must that the first of some rows shows; where none shows one, the should that the first shows."""
        acting, judging = (self.old, self.new) if direction == "less" else (self.new, self.old)
        does, says = (setting.old, setting.new) if direction == "less" else (setting.new, setting.old)
        should: Witness | None = None
        with closing(self._opened(acting, judging, does, says, {}, way)) as adapter:
            adapter.limit = STAND_IN_SECONDS
            runner = RowRunner(judging, programs, adapter, budget=USUAL_BUDGET.quick())
            for row in rows:
                shown = _shown_by(runner, row)
                if shown is None:
                    continue
                level: Level = "should" if shown.should else "must"
                found = Witness(direction, shown.row, shown.calls, shown.expected, shown.seen, setting.words, level)
                if level == "must":
                    return found
                should = should or found
        return should

    # ── Levels ──

    def of_level(self, path: str) -> Witness | None:
        """Return calls that show another level of a clause: what a system does that does not follow it."""
        for direction in BOTH:
            lax, strict = (self.old, self.new) if direction == "less" else (self.new, self.old)
            if _level(strict, path) != "must" or _level(lax, path) == "must":
                continue
            for mutant in [each for each in mutants(lax.kernel) if within(each.clause, path)][:MOST_MISTAKES]:
                acting = Compiled(lax.lifecycle, mutant.kernel, lax.words)
                found = _excused(strict, lax, acting)
                if found is not None:
                    return replace(found, direction=direction)
        return None


def _is_typed(programs: RowCompiler, row: Row) -> bool:
    """Return whether a row has no faults: it may be about another change than the one that is made alone."""
    before = len(programs.faults)
    programs.program(row)
    return len(programs.faults) == before


def _shown_by(runner: RowRunner, row: Row) -> Shown | None:
    """Return what a row, or the judge beside it, shows of a system; None where that is nothing."""
    found, should = runner.run(row).counterexample, row.level != "must"
    if found is None and runner.strays:
        finding, case = runner.strays.pop(0)
        found, should = shrunk(case, rounds=1), finding.should
        if found is None:
            return shown_as_played(case, finding)
    return None if found is None else Shown(found.row, found.calls, found.expected, found.seen, should)


def _excused(strict: Compiled, lax: Compiled, acting: Compiled) -> Witness | None:
    """Return calls of a system that are wrong by one spec, and at most not as recommended by another one."""
    forbidden, allowed = Revisions(strict, acting), Revisions(lax, acting)
    comparison = RevisionComparison(strict, acting, Declared(), Declared())
    for parting in itertools.islice(comparison.partings({}, PLAIN_CALLS, OF_A_KIND), OF_A_KIND):
        assert parting.trace is not None  # every way is one of calls
        wrong = forbidden.judged("more", DeclaredPair(), {}, parting.limits, parting.trace)
        if wrong is None or wrong.level != "must":
            continue
        mild = allowed.judged("more", DeclaredPair(), {}, parting.limits, parting.trace)
        if mild is None or mild.level != "must":
            return replace(wrong, asked=None)
    return None


def _level(compiled: Compiled, path: str) -> str:
    return next((each.level for each in compiled.kernel.clauses if each.path == path), "")


_SAID: Final = {UNSAID: "whatever it is, for nobody asks", WAITS: "no answer before something else happens"}
"""What a system answers where the spec does not say that, or has it wait."""


def _about(row: str, seen: str) -> str:
    """Return a row that says otherwise what was seen."""
    return re.sub(r"(?m)^(  about: .*; seen ).*$", lambda found: f'{found[1]}{seen}."', row, count=1)
