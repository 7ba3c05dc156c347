"""Long: every right and every wrong system under many seeds (`python -m tests.soak --seeds 50 --of right`)."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from conformance.budget import USUAL
from conformance.suite.row_facts import makes_calls_at_once
from conformance.suite.run import Run
from conformance.system.adapter import Adapter
from conformance.targets import open_system
from conformance.verdict import EXIT_CONFORMS, MACHINE, Verdict
from conformance.workers import cluster_at, spread
from tests.conformance.lifecycles import SUITES, Lie, Suite, named
from tests.conformance.suite.test_other_ways import MORE
from tests.conformance.systems import explained, row_result

TOOL = f"cli:{Path(__file__).parent / 'tools' / 'reference.yaml'}"
KINDS = ("right", "faulty", "dead")
LIMIT = 1.0  # seconds for a call: some of the lies are deadlocks
Trial = tuple[str, str, int, int, bool]
"""A lifecycle, what kind of system, which one of them, the seed, and whether all rows are run."""


def main() -> int:
    """Run everything; give 1 when a verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lifecycles", nargs="*", metavar="LIFECYCLE", help="which of them; all by default")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds (default: 0)")
    parser.add_argument("--of", nargs="+", choices=KINDS, default=KINDS, help="the kinds of systems; all by default")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--cluster", default="", metavar="ADDRESS", help="the workers of a Dask cluster instead")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    wrong = 0
    with cluster_at(options.cluster) as cluster, spread(options.workers, cluster) as ask:
        for name in options.lifecycles or SUITES:
            counts: Counter[str] = Counter()
            wanted = [each for each in trials(name, seeds) if each[1] in options.of]
            for kind, said in ask(verdict, wanted):
                counts[kind] += 1
                if said:
                    wrong += 1
                    print(said, flush=True)
            told = ", ".join(f"{count} runs of {kind} systems" for kind, count in counts.items())
            print(f"{name}, seeds {seeds.start} to {seeds.stop - 1}: {told}", flush=True)
    print(f"{wrong} wrong verdicts")
    return 1 if wrong else 0


def trials(name: str, seeds: range) -> list[Trial]:
    """List what is run of a lifecycle: dead systems once, for they do the same whatever comes.

    Right ones run all rows under the first seed. A quick run draws no values, so that under others only rows that make
    calls at once do something else, and the searches.
    """
    suite, first = SUITES[name], seeds[:1]
    right = [(name, "right", index, seed, seed in first) for index in range(len(_right(suite))) for seed in seeds]
    faulty = [(name, "faulty", index, seed, True) for index in range(len(suite.faulty)) for seed in seeds]
    dead = [(name, "dead", index, 0, True) for index in range(len(suite.dead))]
    tools = [(name, "right", len(_right(suite)), seed, True) for seed in seeds[:2]] if name == "cli-job" else []
    return [*right, *faulty, *dead, *tools]


def verdict(lifecycle: str, kind: str, index: int, seed: int, whole: bool) -> tuple[str, str]:
    """Run one system under one seed; say what is wrong about the verdict, or give an empty text."""
    suite = SUITES[lifecycle]
    if kind == "faulty":
        return kind, _missed(suite, suite.faulty[index], seed)
    systems = [*_right(suite), TOOL] if kind == "right" else list(suite.dead.values())
    with closing(_opened(suite, systems[index])) as adapter:
        budget = USUAL.quick() if kind == "right" else USUAL
        run = Run(suite.compiled, adapter, rows=None if whole else _by_chance(suite), seed=seed, budget=budget)
        code = run.go().exit
    said = f"{named(systems[index])} of {lifecycle}, seed {seed}"
    if kind == "right":
        held = (Verdict.PASS, Verdict.NOT_APPLICABLE)
        wrong = "\n\n".join(explained(each) for each in run.results if each.verdict not in held)
        return kind, "" if code == EXIT_CONFORMS and not wrong else f"{said} is accused:\n{wrong}"
    fine = (Verdict.FAIL, Verdict.NOT_APPLICABLE)  # some rows need a policy that is not the default
    alive = [each.id for each in run.results if each.level == "must" and each.verdict not in fine]
    return kind, f"{said}: {', '.join(alive)} do not fail" if alive else ""


def _by_chance(suite: Suite) -> list[str]:
    rows = suite.compiled.lifecycle.rows.values()
    return [*(row.id.text for row in rows if makes_calls_at_once(row)), MACHINE]


def _right(suite: Suite) -> list[Any]:
    """List the right systems, those that do otherwise what is left to them included."""
    return [*suite.right, *MORE.get(suite.name, ())]


def _missed(suite: Suite, lie: type[Lie], seed: int) -> str:
    found = row_result(lie, lie.row, suite.compiled, seed=seed, limit=LIMIT, shortest=False)
    fails = found.verdict is Verdict.FAIL
    return "" if fails else f"{lie.__name__}, seed {seed}: {lie.row} is {found.verdict}"


def _opened(suite: Suite, system: Any) -> Adapter:
    """Open a class, or the reference program of cli-job as processes."""
    if system is not TOOL:
        return open_system(suite.compiled, system)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    adapter = open_system(suite.compiled, TOOL)
    adapter.limit = 30.0  # seconds for one process, however busy the machine is
    return adapter


if __name__ == "__main__":
    sys.exit(main())
