"""Long and random, where `make test` is short and fixed: every system, many seeds, on all cores.

    python -m tests.soak [--seeds 50] [--first SEED] [--workers N] [--only PATTERN]

Right systems have to conform with every seed. The row that names a lie has to fail with every seed, and a
dead system has to fail every MUST row. What is wrong is printed as it shows; at the end stands a table.
"""

from __future__ import annotations

import argparse
import faulthandler
import fnmatch
import multiprocessing
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from conformance import rows
from conformance.dead import dead_systems
from conformance.references.thread_job import ThreadJobs
from conformance.run import Run
from conformance.targets import open_class
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, RowResult, Verdict
from statemachines.compile import Compiled, load
from tests.conformance.lies import MORE
from tests.faulty.thread_job import FAULTY
from tests.right.thread_job import RIGHT

WHOLE = 2  # seeds for which a lie is run against the whole matrix, and a dead system too
SOME = 10  # seeds of one task that runs a single row: a task of its own for each would cost more than the row
LIMIT = 0.5  # seconds for a call of a lie, some of which never come back
STUCK = 900  # seconds after which a task shows its stacks and ends
LINE = 5.0  # seconds between lines of progress

COMPILED: Compiled = load("thread-job")
SYSTEMS: dict[str, dict[str, Any]] = {
    "right": {each.__name__: each for each in [ThreadJobs, *RIGHT]},
    "lies": {each.__name__: each for each in [*FAULTY, *MORE]},
    "dead": dead_systems(COMPILED),
}
TITLES = {
    ("right", True): "right systems, whole runs",
    ("lies", False): "lies, the row that names each",
    ("lies", True): "lies, whole runs",
    ("dead", True): "dead systems, whole runs",
}


@dataclass(frozen=True)
class Task:
    """A system to be run with some seeds: all rows and the machine, or the one row that names its lie."""

    kind: str
    system: str
    seeds: tuple[int, ...]
    whole: bool


@dataclass
class Tally:
    """What came of tasks: how many rows had which verdict, and in words what should not have come."""

    systems: set[str] = field(default_factory=set)
    seeds: set[int] = field(default_factory=set)
    runs: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Count another one in."""
        self.systems |= other.systems
        self.seeds |= other.seeds
        self.runs += other.runs
        self.verdicts += other.verdicts
        self.wrong += other.wrong
        self.seconds += other.seconds


def tasks(seeds: int, first: int) -> Iterator[Task]:
    """Plan everything, the longest tasks first, so that no core is idle at the end."""
    every = range(first, first + seeds)
    for seed in every:
        for name in SYSTEMS["right"]:
            yield Task("right", name, (seed,), whole=True)
    for kind in ("dead", "lies"):
        for name in SYSTEMS[kind]:
            yield Task(kind, name, tuple(every[:WHOLE]), whole=True)
    for name in SYSTEMS["lies"]:
        for start in range(0, seeds, SOME):
            yield Task("lies", name, tuple(every[start : start + SOME]), whole=False)


def carried_out(task: Task) -> Tally:
    """Run a task in this process."""
    faulthandler.dump_traceback_later(STUCK, exit=True)
    tally = Tally({task.system}, set(task.seeds))
    began = time.monotonic()
    for seed in task.seeds:
        code, results = ran(task, seed)
        tally.runs += 1
        tally.verdicts.update(result.verdict.value for result in results)
        tally.wrong += [f"{task.system}, seed {seed}: {each}" for each in wrong(task, code, results)]
    tally.seconds = time.monotonic() - began
    faulthandler.cancel_dump_traceback_later()
    return tally


def ran(task: Task, seed: int) -> tuple[int, list[RowResult]]:
    """Run a system once; give the exit code and the results."""
    system = SYSTEMS[task.kind][task.system]
    adapter = open_class(COMPILED, system)
    if task.kind != "right":  # many fail here, and how short a counterexample gets is tested elsewhere
        adapter.limit = LIMIT
        rows.shrunk = unshrunk
    try:
        run = Run(COMPILED, adapter, only=() if task.whole else (system.row,), seed=seed)
        return run.go(), run.results
    finally:
        adapter.close()


def unshrunk(*arguments: Any, **options: Any) -> None:
    """Leave a counterexample as it was found."""


def wrong(task: Task, code: int, results: Sequence[RowResult]) -> Iterator[str]:
    """Say what should not have come of a run."""
    verdicts = {result.id: result.verdict for result in results}
    if task.kind == "right":
        accused = [each for each in results if each.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)]
        yield from (f"{each.id} {each.verdict}: {each.reason}{_row(each)}" for each in accused)
        if code != EXIT_CONFORMS and not accused:
            yield f"exit {code}"
    elif task.kind == "dead":
        spared = [each for each in results if each.level == "must" and each.verdict is not Verdict.FAIL]
        yield from (f"{each.id} {each.verdict}: {each.reason}" for each in spared)
        if code != EXIT_VIOLATES:
            yield f"exit {code}"
    else:
        row = SYSTEMS["lies"][task.system].row
        if verdicts[row] is not Verdict.FAIL:
            yield f"{row} {verdicts[row]}, and this lie is its own"
        elif code != EXIT_VIOLATES and COMPILED.lifecycle.rows[row].level == "must":
            yield f"exit {code}"
        yield from (
            f"{each.id} {each.verdict}: {each.reason}"
            for each in results
            if each.verdict is Verdict.HARNESS_ERROR
        )


def _row(result: RowResult) -> str:
    return "" if result.counterexample is None else f"\n{result.counterexample.row}"


# ── Many at once ──


def soak(planned: Sequence[Task], workers: int) -> dict[str, Tally]:
    """Run tasks in processes of their own; print progress and whatever is wrong."""
    found: dict[str, Tally] = {title: Tally() for title in TITLES.values()}
    began, line, done = time.monotonic(), 0.0, 0
    waiting = list(reversed(planned))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), max_tasks_per_child=25) as pool:
        running: dict[Future[Tally], Task] = {}
        while waiting or running:
            while waiting and len(running) < 2 * workers:
                task = waiting.pop()
                running[pool.submit(carried_out, task)] = task
            ended, _ = wait(running, timeout=LINE, return_when=FIRST_COMPLETED)
            for future in ended:
                task = running.pop(future)
                tally = _result(future, task)
                found[TITLES[task.kind, task.whole]].add(tally)
                done += 1
                for each in tally.wrong:
                    print(f"WRONG  {each}", flush=True)
            if time.monotonic() - line > LINE:
                line = time.monotonic()
                print(f"{line - began:6.0f} s  {done} of {len(planned)} tasks", flush=True)
    return found


def _result(future: Future[Tally], task: Task) -> Tally:
    try:
        return future.result()
    except BrokenProcessPool:
        raise SystemExit(f"a process died, perhaps at {task.system}, seeds {task.seeds}") from None
    except Exception as error:  # noqa: BLE001 - whatever the kit raises here is a finding
        return Tally({task.system}, set(task.seeds), wrong=[f"{task.system}, {task.seeds}: {error!r}"])


def table(found: dict[str, Tally]) -> str:
    """Write the summary."""
    columns = ["", "systems", "seeds", "runs", "rows run", "pass", "fail", "n/a", "other", "WRONG", "seconds"]
    lines = [columns]
    for title, tally in found.items():
        shown = [tally.verdicts[each] for each in (Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE)]
        total = sum(tally.verdicts.values())
        counts = [
            len(tally.systems),
            len(tally.seeds),
            tally.runs,
            total,
            *shown,
            total - sum(shown),
            len(tally.wrong),
        ]
        lines.append([title, *(f"{each:,}" for each in counts), f"{tally.seconds:,.0f}"])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
            ]
        )
        for line in lines
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak; give 1 when anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=50, help="how many seeds each system gets (default: 50)")
    parser.add_argument("--first", type=int, default=None, help="the first of them (default: a random one)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="how many processes (default: the cores)"
    )
    parser.add_argument("--only", default="*", metavar="PATTERN", help="only systems with such a name")
    options = parser.parse_args(arguments)
    first = random.SystemRandom().randrange(10**6) if options.first is None else options.first
    planned = [task for task in tasks(options.seeds, first) if fnmatch.fnmatchcase(task.system, options.only)]
    if not planned:
        parser.error(f"no system is called {options.only!r}")
    print(
        f"{len(planned)} tasks on {options.workers} processes; seeds {first} to {first + options.seeds - 1}",
        flush=True,
    )
    began = time.monotonic()
    found = soak(planned, options.workers)
    print(f"\n{table(found)}\n\n{time.monotonic() - began:.0f} s, first seed {first}")
    failed = sum(len(tally.wrong) for tally in found.values())
    print(f"{failed} wrong" if failed else "nothing wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
