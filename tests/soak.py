"""Random and long: every right and every wrong system under many seeds (`python -m tests.soak --seeds 50`)."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context

from conformance.rows import RowRunner
from conformance.run import Run
from conformance.targets import open_class
from conformance.verdict import EXIT_CONFORMS, Verdict
from statemachines.rows import RowCompiler
from tests.conformance.lifecycles import SUITES, named
from tests.conformance.systems import explained

Job = tuple[str, str, int, int]  # a lifecycle, what kind of system, which one of them, the seed


def main() -> int:
    """Run everything on both cores; give 1 when a verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lifecycles", nargs="*", metavar="LIFECYCLE", help="which of them; all by default")
    parser.add_argument("--seeds", type=int, default=50)
    options = parser.parse_args()
    wrong = 0
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for name in options.lifecycles or SUITES:
            counts: Counter[str] = Counter()
            for kind, said in pool.map(verdict, jobs(name, range(options.seeds)), chunksize=4):
                counts[kind] += 1
                if said:
                    wrong += 1
                    print(said, flush=True)
            told = ", ".join(f"{count} runs of {kind} systems" for kind, count in counts.items())
            print(f"{name}, {options.seeds} seeds: {told}", flush=True)
    print(f"{wrong} wrong verdicts")
    return 1 if wrong else 0


def jobs(name: str, seeds: range) -> list[Job]:
    """List what is run of a lifecycle: dead systems once, for they do the same whatever comes."""
    suite = SUITES[name]
    right = [(name, "right", index, seed) for index in range(len(suite.right)) for seed in seeds]
    faulty = [(name, "faulty", index, seed) for index in range(len(suite.faulty)) for seed in seeds]
    return [*right, *faulty, *((name, "dead", index, 0) for index in range(len(suite.dead)))]


def verdict(job: Job) -> tuple[str, str]:
    """Run one system under one seed; say what is wrong about the verdict, or give an empty text."""
    lifecycle, kind, index, seed = job
    suite = SUITES[lifecycle]
    compiled = suite.compiled
    if kind == "faulty":
        lie = suite.faulty[index]
        with closing(open_class(compiled, lie)) as adapter:
            runner = RowRunner(
                compiled, RowCompiler(compiled.lifecycle), adapter, number=seed, shortest=False
            )
            found = runner.run(compiled.lifecycle.rows[lie.row])
        fails = found.verdict is Verdict.FAIL
        return kind, "" if fails else f"{lie.__name__}, seed {seed}: {lie.row} is {found.verdict}"
    system = (suite.right if kind == "right" else list(suite.dead.values()))[index]
    with closing(open_class(compiled, system)) as adapter:
        run = Run(compiled, adapter, seed=seed, quick=kind == "right")
        code = run.go()
    said = f"{named(system)} of {lifecycle}, seed {seed}"
    if kind == "right":
        held = (Verdict.PASS, Verdict.NOT_APPLICABLE)
        wrong = "\n\n".join(explained(each) for each in run.results if each.verdict not in held)
        return kind, "" if code == EXIT_CONFORMS else f"{said} is accused:\n{wrong}"
    fine = (Verdict.FAIL, Verdict.NOT_APPLICABLE)  # some rows need a policy that is not the default
    alive = [each.id for each in run.results if each.level == "must" and each.verdict not in fine]
    return kind, f"{said}: {', '.join(alive)} do not fail" if alive else ""


if __name__ == "__main__":
    sys.exit(main())
