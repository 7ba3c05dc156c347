"""The random searches of a run, reported as rows that are called `machine`: Hypothesis, walks, any two calls at once.

One idea: which searches are made, and what of all that they found is told.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from conformance.budget import never
from conformance.counterexample import shrunk
from conformance.judge import NO_WAY, Case, Finding, Judge, kernel_facts
from conformance.report import named
from conformance.suite.levels import as_told, fault_of, is_one_fault, only_derived, only_derived_race, racing
from conformance.suite.row_facts import calls_at_once, inapplicable, lacking, makes_calls_at_once
from conformance.suite.rows import RowRunner
from conformance.system import Adapter, HarnessError
from conformance.verdict import MACHINE, UNSURE, Counterexample, Judged, RowResult, Verdict, came_back, verdict_of
from statemachines.lifecycle import Level

if TYPE_CHECKING:
    from conformance.search import Diverged, Driver, Faults  # Hypothesis is slow to import

ABOUT_MACHINE = "Random calls in any order: whenever somebody looks, the system shows what the model shows."

# Where one case in so many of a search cannot be judged, and not just one, the machine could not tell.
UNJUDGED = 10
WALKS, PAIRS = "walks", "pairs"
SEARCHES = ("stateful", WALKS, PAIRS)
GOES_ON = (WALKS, PAIRS)  # those that make other calls in another round
Ahead = Callable[[Iterator[tuple[str, int]]], "SearchTally | ShowedWrong | None"]
"""Makes the first of the searches to come elsewhere, and others ahead; None where it cannot be made there."""
PART = "a part of the search: its time was used up"
MOST_FAULTS = 5  # that are told of one run, beside those of rows


def run_machine(
    runner: RowRunner,
    known: Collection[str] = (),
    left: Callable[[], float] | None = None,
    ahead: Ahead = lambda coming: None,
    *,
    most: int = MOST_FAULTS,
) -> list[RowResult]:
    """Search at random; give a result for each fault that no row has told, `machine`, `machine-2` and so on.

    Where there is none it is one in all, and one for each recommendation that is broken and that no row has told of.

    A fault that a row saw without being about it is one of them. One of a clause that is `known` to be broken, or that
    rows have told, is only reported where there is no other. A case that nobody can judge counts as not made. Where a
    search has many of those, the machine could not tell.

    left    the seconds that are left: so long searches go on, where they find nothing; None where they end by themselves
    ahead   makes searches elsewhere; returns what the first of those to come came to, or None where it cannot be made there
    most    after so many faults the search ends
    """
    began = time.monotonic()
    tallies: list[SearchTally] = []
    try:
        judged = _searches(runner, tallies, known, left, ahead, most)
    except HarnessError as error:
        judged = [(Judged(Verdict.HARNESS_ERROR, str(error)), "must")]
    return _results(judged, sum(tally.judged for tally in tallies), time.monotonic() - began)


def told_beside(runner: RowRunner, known: Collection[str] = ()) -> list[RowResult]:
    """Return a result for each fault that rows saw without being about it, as `run_machine` does, and search for no other.

    There is none where all that they saw so is `known`, told by a row or only recommended.
    """
    began = time.monotonic()
    seen = [each for each in runner.strays if each[0].clause not in {*known, *runner.told}]
    if seen:
        runner.ask_derived([finding for finding, _ in seen])
    binding = [each for each in seen if not runner.is_derived(each)][:MOST_FAULTS]
    judged = _told(runner, [(case, finding) for finding, case in binding], known) if binding else []
    return _results(judged, 0, time.monotonic() - began)


def _results(judged: Sequence[tuple[Judged, Level]], runs: int, seconds: float) -> list[RowResult]:
    return [
        RowResult(
            f"{MACHINE}-{number}" if number > 1 else MACHINE,
            ABOUT_MACHINE,
            level,
            each.verdict,
            each.reason,
            runs=runs if number == 1 else 0,
            counterexample=each.counterexample,
            seconds=seconds if number == 1 else 0.0,
        )
        for number, (each, level) in enumerate(judged, 1)
    ]


def _searches(
    runner: RowRunner,
    tallies: list[SearchTally],
    known: Collection[str],
    left: Callable[[], float] | None,
    ahead: Ahead,
    most: int,
) -> list[tuple[Judged, Level]]:
    """Make the searches one after the other; each adds what it came of to the tallies. Return what is told, at which level."""
    from conformance.search import Diverged, Faults  # Hypothesis is slow to import

    asked, adapter = runner.compiled.lifecycle.operations, runner.adapter
    mandatory = (name for name, operation in asked.items() if not operation.optional)
    if missing := lacking(adapter, (name for name in mandatory if name not in adapter.declaration.absent)):
        return [(Judged(Verdict.NOT_EXERCISED, missing), "must")]
    strays = sorted(runner.strays, key=runner.is_derived)  # what counts comes first
    strays = strays[: max(most - 1, 1)]
    beside = sum(map(runner.is_derived, strays))
    faults = Faults(runner.broken_calls, most + beside, known=runner.told, declared=known)
    faults.found += itertools.starmap(Diverged, strays)
    whole = _rounds(runner, faults, tallies, {*known}, ahead, left)
    if faults.found:
        runner.ask_derived([each.finding for each in faults.found])
        return _told(runner, [(each.case, each.finding) for each in faults.found], {*known})
    blind = Judge(runner.compiled, adapter.declaration).lockstep.blind
    unsure = any(tally.could_not_tell(blind=blind) for tally in tallies)
    judged = Judged(Verdict.COULD_NOT_TELL, UNSURE) if unsure else Judged(Verdict.PASS, "" if whole else PART)
    return [(judged, "must"), *_recommended(runner, tallies, known, most)]


def _recommended(
    runner: RowRunner, tallies: Sequence[SearchTally], known: Collection[str], most: int
) -> list[tuple[Judged, Level]]:
    """Return what is told of what is only recommended, and broken, and that no row has told: of so many clauses at most."""
    # Reversed, so that of two searches which broke one clause the case of the first is kept.
    seen = {clause: each for tally in reversed(tallies) for clause, each in tally.recommended.items()}
    of_rows = {*known, *runner.told, *(shown.clause for _, shown in runner.shown)}
    new = [each for clause, each in seen.items() if clause not in of_rows]
    told = _told(runner, new[:most], known) if new else []
    return [each for each in told if each[0].verdict is Verdict.FAIL]


def _rounds(
    runner: RowRunner,
    faults: Faults,
    tallies: list[SearchTally],
    known: Collection[str],
    ahead: Ahead,
    left: Callable[[], float] | None,
) -> bool:
    """Make each search, then, in more rounds, those that have other calls to make; return whether the first round was whole.

    In the first round each takes no more than its share of the time. There is no other round once something is found that is
    not known yet and may be a must, or the time is used up. The tallies say what each search came to in all rounds, also
    where one cannot be ended.
    """
    names = searches_of(runner.adapter)
    by_name = {name: SearchTally(runner.witnessed) for name in names}
    tallies += by_name.values()
    rounds = partial(rounds_of, runner.adapter, endless=goes_on(runner.adapter, timed=left is not None))
    last = 0
    for number, (name, round_) in enumerate(rounds()):
        enough = faults.enough or (left is not None and left() <= 0)
        if round_ > last and (enough or any(_is_new(runner, each, known) for each in faults.found)):
            break
        last = round_
        made = ahead(itertools.islice(rounds(), number, None)) if faults.silent else None
        if isinstance(made, SearchTally):
            by_name[name].add(made)
            continue
        if left is not None and made is None:  # what was found in time counts: it is made again to its end
            faults.late = partial(_is_late, left, left() * (1 - share(names, name, round_)))
        search(runner, name, faults, by_name[name], round_)
        faults.late = never
    return not any(each.part for each in tallies)


def _is_late(left: Callable[[], float], least: float) -> bool:
    return left() <= least


def share(names: Sequence[str], name: str, round_: int, lanes: int = 1) -> float:
    """Return how much of the time that is left a search may take: in the first round it leaves some to each that comes after it.

    So many `lanes` search at once.
    """
    return 1.0 if round_ else min(1.0, lanes / (len(names) - names.index(name)))


def _is_new(runner: RowRunner, found: Diverged, known: Collection[str]) -> bool:
    """Return whether a fault is of a clause that is not known to be broken, and not only recommended as far as rows have told."""
    clause = found.finding.clause
    return clause not in known and clause not in runner.told and not runner.is_derived((found.finding, found.case))


def searches_of(adapter: Adapter) -> list[str]:
    """Return the searches that a system can be asked by."""
    return [name for name in SEARCHES if name != PAIRS or adapter.declaration.concurrency != "none"]


def rounds_of(adapter: Adapter, *, endless: bool) -> Iterator[tuple[str, int]]:
    """Walk the searches that a system can be asked by, each with its round; those that go on in ever more rounds, if `endless`."""
    names = searches_of(adapter)
    yield from ((name, 0) for name in names)
    for round_ in itertools.count(1) if endless else ():
        yield from ((name, round_) for name in names if name in GOES_ON)


def goes_on(adapter: Adapter, *, timed: bool) -> bool:
    """Return whether searches go on in ever more rounds: until the time is used up, where a call takes next to none of it."""
    return timed and not adapter.costly


def search(runner: RowRunner, name: str, faults: Faults, tally: SearchTally, round_: int = 0) -> None:
    """Make one search; in a later round it makes other calls."""
    from conformance.search import pairs, stateful, walks  # Hypothesis is slow to import

    of = runner.compiled, runner.adapter, runner.number, runner.budget
    if name == WALKS:
        walks.search(*of, after=tally.count, faults=faults, first=round_ * runner.budget.walks)
    elif name == PAIRS:
        after = tally.count_alone  # what they witness, their schedules decide
        first = round_ * runner.budget.pairs
        pairs.search(*of, after=after, faults=faults, first=first, at_once=_called_at_once(runner))
    else:
        stateful.search(*of, after=tally.count, faults=faults)
    tally.part |= not round_ and faults.late()


def _called_at_once(runner: RowRunner) -> frozenset[str]:
    """Return the operations that some row calls at once which applies to the system: it has to bear them, be they of whoever tests."""
    compiled, words = runner.compiled, runner.rows.words
    rows = (row for row in compiled.lifecycle.rows.values() if makes_calls_at_once(row))
    applying = (row for row in rows if not inapplicable(compiled, words, runner.adapter, row))
    return frozenset[str]().union(*itertools.chain.from_iterable(map(calls_at_once, applying)))


def _told(
    runner: RowRunner, seen: Sequence[tuple[Case, Finding]], known: Collection[str]
) -> list[tuple[Judged, Level]]:
    """Return what there is to tell of faults: each that is new, or else the first; beside it what one story leads to as well."""
    new = [each for each in seen if each[1].clause not in known and each[1].clause not in runner.told]
    told = [_Told(shown, row.level, set()) for row, shown in runner.shown]
    found: list[tuple[Judged, Level]] = []
    creating = kernel_facts.of(runner.compiled).creating
    for case, finding in new or seen[:1]:
        elsewhere = [each for _, each in seen if each is not finding]
        judged, level = _leveled(runner, _failed(runner, case, finding, known, elsewhere), finding, case)
        shown = judged.counterexample
        as_binding = (each for each in told if level in ("should", each.level))  # no must is hidden by a should
        one = next(
            (each for each in as_binding if shown is not None and is_one_fault(shown, each.shown, creating)), None
        )
        if one is not None and shown is not None and found:
            one.beside.add(shown.clause)
            if one.place is not None and level == one.level and _is_shorter(shown, one.shown):
                found[one.place] = (judged, level)
                told[told.index(one)] = one._replace(shown=shown)
            continue
        told += [_Told(shown, level, set(), len(found))] if shown is not None else []
        found.append((judged, level))
    clauses = {each.shown.clause for each in told}
    beside = [sorted(each.beside - clauses) for each in told]
    of_rows = sorted({*itertools.chain(*beside[: len(runner.shown)])})
    own = iter(beside[len(runner.shown) :])
    found = [(_and(each, "the same calls", next(own) if each.counterexample else []), level) for each, level in found]
    (first, level), *others = [each for each in found if each[0].verdict is Verdict.FAIL] or found[:1]
    return [(_and(first, "the calls of rows that fail", of_rows), level), *others]


def _is_shorter(one: Counterexample, other: Counterexample) -> bool:
    """Return whether one tells what another one does in fewer calls, and as surely."""
    return one.clause == other.clause and one.calls < other.calls and one.rounds <= other.rounds


def _and(judged: Judged, calls: str, broken: Sequence[str]) -> Judged:
    """Say which other clauses are broken where some calls are made."""
    more = f"; {calls} also break {named(broken)}" if broken else ""
    return judged._replace(reason=judged.reason + more)


class _Told(NamedTuple):
    """A counterexample that is told, how binding it is, and the other clauses that its story breaks as well.

    place  among those that the search tells; None of one that a row has told
    """

    shown: Counterexample
    level: Level
    beside: set[str]
    place: int | None = None


def _leveled(runner: RowRunner, judged: Judged, finding: Finding, case: Case) -> tuple[Judged, Level]:
    """Return how binding it is what was found: a must, unless its clause is recommended, or only rows ask it that are derived.

    What these ask is no must because it was seen by chance.
    """
    shown = judged.counterexample
    derived = only_derived(runner.shown, fault_of(shown), runner.held) if shown else runner.is_derived((finding, case))
    rows, observes = runner.compiled.lifecycle.rows.values(), kernel_facts.of(runner.compiled).observes
    if not finding.should and not derived and not (shown and only_derived_race(rows, racing(shown, observes))):
        return judged, "must"
    if shown is not None:
        judged = judged._replace(
            counterexample=replace(shown, row=shown.row.replace("level: must", "level: should", 1))
        )
    return judged, "should"


class ShowedWrong(NamedTuple):
    """What a row or a search came to elsewhere that showed something wrong: it is made again where the run is."""


@dataclass(slots=True)
class SearchTally:
    """How many cases of one search were judged, and how many diverged where nobody can judge it; and what they witnessed.

    Of those `unlooked` are cases of which too few ways were looked at to find one. `part`: time ended its first round.
    `recommended` are the first case that surely broke each clause that is only recommended, and how: other calls may bring something wrong yet.
    """

    witnessed: Counter[str] = field(default_factory=Counter)
    judged: int = 0
    unjudged: int = 0
    unlooked: int = 0
    part: bool = False
    recommended: dict[str, tuple[Case, Finding]] = field(default_factory=dict)

    def count(self, driver: Driver) -> None:
        """Take note of a case that came to its end, and of what it witnessed."""
        if self.count_alone(driver):  # what nobody could judge witnesses nothing
            self.witnessed.update(driver.case.judge.lockstep.witnessed())

    def count_alone(self, driver: Driver) -> bool:
        """Take note of a case that came to its end; return whether it was judged."""
        judge, finding = driver.case.judge, driver.case.finding
        if judge.unsure and finding is not None:
            self.unjudged += 1
            self.unlooked += finding.clause == NO_WAY.clause
            return False
        if not judge.unsure:
            for each in judge.findings:
                self.recommended.setdefault(each.clause, (driver.case, each))
        self.judged += 1
        return True

    def add(self, other: SearchTally) -> None:
        """Take note of what the same search has come to elsewhere, where it broke no recommendation: else it is made again here."""
        self.judged += other.judged
        self.unjudged += other.unjudged
        self.unlooked += other.unlooked
        self.part |= other.part
        self.witnessed.update(other.witnessed)

    def could_not_tell(self, *, blind: bool) -> bool:
        """Return whether too much was left unjudged: any of it, where no case of this system can be judged to its end."""
        many = self.unjudged > 1 and self.unjudged * UNJUDGED >= self.judged + self.unjudged
        return many or (blind and self.unjudged > self.unlooked)


def _failed(
    runner: RowRunner, case: Case, finding: Finding, known: Collection[str] = (), others: Sequence[Finding] = ()
) -> Judged:
    if finding.clause in runner.told:
        return verdict_of(runner.told[finding.clause])
    rounds = runner.budget.reproductions if case.groups else 1
    found = shrunk(case, rounds=rounds, wanted=[finding], others=others, fits=runner.fits, late=runner.late)
    if found is not None:
        return verdict_of(as_told(runner.shown, found, known))
    seen = f"{finding.operation}: expected {finding.expected}; seen {finding.seen}; played again, it did not show"
    return came_back(seen, None, hangs=finding.kind == "hang")
