"""Random and long: every right and every wrong system under many seeds (`python -m tests.soak --seeds 50`)."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from conformance.dead import dead_systems
from conformance.references.thread_job import ThreadJobs
from conformance.rows import RowRunner
from conformance.run import Run
from conformance.targets import open_class
from conformance.verdict import EXIT_CONFORMS, Verdict
from statemachines.compile import load
from statemachines.rows import RowCompiler
from tests.faulty.thread_job import FAULTY
from tests.right.thread_job import RIGHT

Job = tuple[str, int, int]  # what kind of system, which one of them, the seed


def main() -> int:
    """Run everything on both cores; give 1 when a verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    seeds = range(parser.parse_args().seeds)
    jobs: list[Job] = [("right", index, seed) for index in range(len(RIGHT) + 1) for seed in seeds]
    jobs += [("faulty", index, seed) for index in range(len(FAULTY)) for seed in seeds]
    jobs += [("dead", index, 0) for index in range(5)]
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for kind, said in pool.map(verdict, jobs, chunksize=4):
            counts[kind] += 1
            if said:
                wrong.append(said)
                print(said, flush=True)
    print(", ".join(f"{count} runs of {kind} systems" for kind, count in counts.items()))
    print(f"{len(wrong)} wrong verdicts")
    return 1 if wrong else 0


def verdict(job: Job) -> tuple[str, str]:
    """Run one system under one seed; say what is wrong about the verdict, or give an empty text."""
    kind, index, seed = job
    compiled = load("thread-job")
    if kind == "faulty":
        lie = FAULTY[index]
        adapter = open_class(compiled, lie)
        runner = RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter, number=seed)
        found = runner.run(compiled.lifecycle.rows[lie.row])
        adapter.close()
        fails = found.verdict is Verdict.FAIL
        return kind, "" if fails else f"{lie.__name__}, seed {seed}: {lie.row} is {found.verdict}"
    systems = [ThreadJobs, *RIGHT] if kind == "right" else list(dead_systems(compiled).values())
    adapter = open_class(compiled, systems[index])
    run = Run(compiled, adapter, seed=seed, quick=True)
    code = run.go()
    adapter.close()
    name = f"{systems[index].__name__}, seed {seed}"
    if kind == "right":
        return kind, "" if code == EXIT_CONFORMS else f"{name} is accused"
    alive = [each.id for each in run.results if each.level == "must" and each.verdict is not Verdict.FAIL]
    return kind, f"{name}: {', '.join(alive)} do not fail" if alive else ""


if __name__ == "__main__":
    sys.exit(main())
