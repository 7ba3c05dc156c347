"""`python -m benchmarks.finding`: how many wrong systems each search finds when no row is run, by life cycle.

A wrong system counts as found when a case shows something wrong, be it only recommended. Right systems are tried as well. Beside the
searches stand, if asked for, Hypothesis with the same rules, and calls that nobody chooses: `--by Hypothesis`, `--by random`.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.baselines import BASELINES, search_as
from conformance.budget import USUAL, never
from conformance.judge import BrokenCalls
from conformance.search import Faults
from conformance.stand_ins import Race, races_of, racing_system
from conformance.suite.machine import GOES_ON, SEARCHES, SearchTally, search, searches_of
from conformance.suite.rows import RowRunner
from conformance.system import HarnessError
from conformance.targets import open_system
from conformance.workers import spread
from statemachines.compile import Compiled
from statemachines.rows import RowCompiler
from tests.conformance.lifecycles import SUITES

LIMIT = 1.0  # seconds for a call of a wrong system: some deadlock
KINDS = ("one caller", "at once", "right", "planted", "planted async")
"""The last two are models with a mistake about locks each (`conformance prove --races`), some of which change nothing that shows."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One system, asked by some searches under one seed."""

    lifecycle: str
    kind: str
    index: int
    seed: int
    searches: tuple[str, ...]
    seconds: float | None  # in which searches go on in ever more rounds; one round of each where it is None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which search found something, in which round, after how many seconds, and what; no name where none did.

    `broken` are the searches that could not be made.
    """

    name: str
    by: str
    seconds: float
    seen: str
    round: int = 0
    broken: int = 0


def main() -> int:
    """Try a sample, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.finding", description=__doc__, allow_abbrev=False)
    parser.add_argument("lifecycles", nargs="*", metavar="LIFECYCLE", help="which of them; all by default")
    parser.add_argument("--every", type=int, default=6, help="one wrong system in so many (default: 6)")
    parser.add_argument("--named", nargs="+", metavar="SYSTEM", help="only these")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--of", nargs="+", choices=KINDS, default=KINDS[:2], help="what is tried")
    parser.add_argument(
        "--by", nargs="+", choices=(*SEARCHES, *BASELINES), default=SEARCHES, help="the searches; all by default"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="go on for so long with each system, and tell what one round finds as well (default: one round)",
    )
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--missed", action="store_true", help="name what was not found")
    options = parser.parse_args()
    wanted = [trial for name in options.lifecycles or SUITES for trial in _trials(name, options)]
    found: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    with spread(options.workers) as ask:
        for trial, outcome in zip(wanted, ask(tried, [(trial,) for trial in wanted]), strict=True):
            found[trial.lifecycle, trial.kind].append(outcome)
            if options.missed and bool(outcome.by) == (trial.kind == "right"):
                print(f"  {trial.lifecycle} {outcome.name} seed {trial.seed} {outcome.by} {outcome.seen}", flush=True)
    for (lifecycle, kind), outcomes in found.items():
        print(f"{lifecycle:16} {kind:10} {_told(outcomes, options.seconds)}")
    for kind in options.of:
        every = [each for (_, known), outcomes in found.items() if known == kind for each in outcomes]
        if every:
            print(f"{'all':16} {kind:10} {_told(every, options.seconds)}")
    return 0


def _told(outcomes: list[Outcome], limit: float | None) -> str:
    hits = [each for each in outcomes if each.by]
    at_first = [each for each in hits if not each.round]
    first = "" if limit is None else f"{_share(at_first, outcomes)}, in {limit:g} s "
    seconds = f"{statistics.median(each.seconds for each in outcomes):6.2f} s in the middle"
    counts = ((name, sum(each.by == name for each in hits)) for name in (*SEARCHES, *BASELINES))
    by = ", ".join(f"{name} {count}" for name, count in counts if count)
    broken = sum(bool(each.broken) for each in outcomes)
    return f"{first}{_share(hits, outcomes)} {seconds}; {by}{f'; {broken} could not be asked everything' if broken else ''}"


def _share(hits: list[Outcome], of: list[Outcome]) -> str:
    return f"{len(hits):4} of {len(of):4} ({100 * len(hits) // len(of):3} %)"


def _trials(name: str, options: argparse.Namespace) -> Iterator[Trial]:
    for kind in options.of:
        systems = _systems(name, kind)
        for index in range(0, len(systems), 1 if kind == "right" or options.named else options.every):
            if options.named and systems[index].__name__ not in options.named:
                continue
            for seed in range(options.seeds):
                yield Trial(name, kind, index, seed, tuple(options.by), options.seconds)


def _systems(name: str, kind: str) -> list[Any]:
    suite = SUITES[name]
    if kind.startswith("planted"):
        return [_planted(suite.compiled, race, asynchronous=kind != "planted") for race in races_of(suite.compiled)]
    if kind == "right":
        return [*suite.right]
    alone = suite.sequential
    return alone if kind == "one caller" else [lie for lie in suite.faulty if lie not in alone]


def _planted(compiled: Compiled, race: Race, *, asynchronous: bool) -> type:
    system = racing_system(compiled, race, asynchronous=asynchronous)
    system.__name__ = f"{race.operation}: {race.mistake}"
    return system


def _is_over(end: float) -> bool:
    return time.monotonic() > end


def _searched(
    trial: Trial, runner: RowRunner, faults: Faults, tally: SearchTally
) -> Iterator[tuple[str, int, Callable[[], None]]]:
    """Walk the searches that a trial asks for, then the baselines: once, or in ever more rounds where it has a time."""
    names = [name for name in searches_of(runner.adapter) if name in trial.searches]
    baselines = [name for name in BASELINES if name in trial.searches]
    for round_ in itertools.count() if trial.seconds is not None else range(1):
        again = [name for name in names if not round_ or name in GOES_ON]
        yield from ((name, round_, partial(search, runner, name, faults, tally, round_)) for name in again)
        yield from ((name, round_, partial(search_as, name, runner, faults, tally.count, round_)) for name in baselines)
        if not (again or baselines):
            return


def tried(trial: Trial) -> Outcome:
    """Ask one system until something is found."""
    compiled = SUITES[trial.lifecycle].compiled
    system, began = _systems(trial.lifecycle, trial.kind)[trial.index], time.monotonic()
    by, seen, round_, broken = "", "", 0, 0
    with suppress(HarnessError), closing(open_system(compiled, system)) as adapter:
        if trial.kind != "right":
            adapter.limit = LIMIT
        runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter, number=trial.seed, budget=USUAL)
        late = never if trial.seconds is None else partial(_is_over, began + trial.seconds)
        faults = Faults(BrokenCalls(adapter), late=late)
        tally = SearchTally()
        for name, number, work in _searched(trial, runner, faults, tally):
            try:
                work()
            except HarnessError:  # some wrong systems do not even come back from `close`
                broken += 1
            seen = faults.found[0].finding.clause if faults.found else next(iter(tally.recommended), "")
            by, round_ = name if seen else "", number
            if seen or late():
                break
    return Outcome(getattr(system, "__name__", str(system)), by, time.monotonic() - began, seen, round_, broken)


if __name__ == "__main__":
    sys.exit(main())
