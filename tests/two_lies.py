"""Long: two lies in one system, of different clauses; each has to be shown by a counterexample of its own (`python -m tests.two_lies 60`)."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from conformance.budget import USUAL
from conformance.suite import read, replay, save
from conformance.suite.run import Run
from conformance.verdict import Counterexample, Verdict
from conformance.workers import spread
from tests.conformance.lifecycles import SUITES, Suite
from tests.conformance.systems import adapted, row_result

LIMIT = 1.0  # seconds for a call: some of the lies are deadlocks
SAID = {"row", "calls", "right"}  # what a lie says of itself
ATTEMPTS = 3  # at playing a counterexample with calls at once
Pair = tuple[str, int, int]  # a lifecycle, and which two of its lies


def main() -> int:
    """Draw pairs, and count in how many both lies were shown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    options = parser.parse_args()
    shown = 0
    with spread(options.workers) as ask:
        for pair, missed in ask(tried, [(pair,) for pair in islice(pairs(options.seed), options.count)]):
            shown += not missed
            name, *lies = pair
            names = " and ".join(SUITES[name].faulty[each].__name__ for each in lies)
            print(f"{name}: {names}: {f'{missed} not shown' if missed else 'both shown'}", flush=True)
    print(f"{shown} of {options.count} pairs: both shown")
    return 0


def pairs(seed: int) -> Iterator[Pair]:
    """Walk pairs of lies that can be joined and that different clauses tell of."""
    chooser = random.Random(seed)
    suites = [suite for suite in SUITES.values() if any(map(plain, suite.faulty))]
    while True:
        suite = chooser.choice(suites)
        one, other = chooser.sample([number for number, lie in enumerate(suite.faulty) if plain(lie)], 2)
        if joinable(suite.faulty[one], suite.faulty[other]) and clause(suite, one) != clause(suite, other):
            yield suite.name, one, other


def plain(lie: type) -> bool:
    """Whether a lie changes nothing but methods of its reference."""
    return "declares" not in vars(lie) and "__init__" not in vars(lie) and len(lie.__mro__) >= 3


def joinable(one: type, other: type) -> bool:
    """Whether two lies change different methods of the same system."""
    own, its = ({name for name in vars(lie) if not name.startswith("__")} - SAID for lie in (one, other))
    return one.__bases__ == other.__bases__ and bool(own and its) and not own & its


def clause(suite: Suite, number: int) -> str:
    """The clause that the row of a lie tells; an empty text where it tells none."""
    lie = suite.faulty[number]
    found = row_result(lie, lie.row, suite.compiled, limit=LIMIT, shortest=False).counterexample
    return found.clause if found is not None else ""


def tried(pair: Pair) -> tuple[Pair, str]:
    """Run two lies in one system; return the pair, and the names of those that no counterexample shows."""
    suite, first, second = SUITES[pair[0]], *pair[1:]
    lies = [suite.faulty[first], suite.faulty[second]]
    missed = lies
    for budget in (USUAL.quick(), USUAL):  # a race may take more schedules than a quick run makes
        with adapted(type("Both", tuple(lies), {}), suite.compiled, limit=LIMIT) as adapter:
            results = Run(suite.compiled, adapter, budget=budget).go().rows
        failing = [each for each in results if each.verdict in (Verdict.FAIL, Verdict.FLAKY)]
        found = [(each.id, each.counterexample) for each in failing if each.counterexample is not None]
        missed = [lie for lie in missed if not any(shows(suite, lie, *each) for each in found)]
        if not missed:
            break
    return pair, " and ".join(lie.__name__ for lie in missed)


def shows(suite: Suite, lie: Any, row: str, found: Counterexample) -> bool:
    """Whether a counterexample fails on a lie alone."""
    with tempfile.TemporaryDirectory() as folder:
        saved = read(str(save(Path(folder), suite.name, lie.__name__, row, found)))
        with adapted(lie, suite.compiled, limit=LIMIT) as adapter:
            return any(replay(saved, adapter).rows[0].failed for _ in range(ATTEMPTS if found.at_once else 1))


if __name__ == "__main__":
    sys.exit(main())
