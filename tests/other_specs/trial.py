"""One generated spec, tried with all that the kit does: checked, run against right and wrong systems, shrunk, replayed.

`python -m tests.other_specs.trial COUNT [SEED]` tries many and counts.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.budget import USUAL, Budget
from conformance.stand_ins import model_system
from conformance.suite.replays import replay
from conformance.suite.run import Run
from conformance.suite.trace_file import read, save
from conformance.targets import open_system
from conformance.verdict import RowResult, Verdict
from statemachines.bounds import Bounds
from statemachines.checks.spec import check_compiled
from statemachines.compile import Compiled, load
from statemachines.diagnostics import SpecError
from statemachines.mutants import mutants
from tests.other_specs.generating import data_of, text_of
from tests.other_specs.ways import WAYS

BRIEF = replace(
    USUAL.quick().quick(),
    stateful_tests=3,
    stateful_steps=12,
    walks=3,
    walk_steps=20,
    pairs=20,
    shrink_seconds=0.7,
    shrink_seconds_at_once=1.5,
    reproductions=8,
)
"""Every row once and a few searches: a spec takes about a second."""
SMALL = Bounds(states=60, transitions=600)
GLANCE = replace(BRIEF, stateful_tests=2, walks=1, pairs=6, shrink_seconds=0.3, shrink_seconds_at_once=0.5)
FEW = Bounds(states=25, transitions=250)
FINE = (Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_EXERCISED, Verdict.COULD_NOT_TELL)
CONTRADICTIONS = {"step-fails", "row-fails", "never-rests", "row-needs-more", "invariant-broken", "open-call"}


@dataclass
class Found:
    """What came of some specs: counts, and what should not have been."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def fault(self, kind: str, said: str) -> None:
        """Take note of what should not have been."""
        self.counts[kind] += 1
        self.faults.append(f"{kind}: {said}")


def tried(
    number: int, found: Found, *, right: int = 2, wrong: int = 3, budget: Budget = BRIEF, bounds: Bounds = SMALL
) -> None:
    """Try the spec of a number; what the kit raises is a crash of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"other-{number}.yaml"
        path.write_text(text_of(data_of(number)), encoding="utf-8")
        found.counts["specs"] += 1
        where = f"spec {number}"
        try:
            compiled = load(path)
            where = f"spec {number}, check"
            codes = {each.code for each in check_compiled(compiled, bounds).diagnostics}
            if codes & CONTRADICTIONS:
                found.counts["contradictory specs"] += 1
                return
            chooser = random.Random(number)
            for way in chooser.sample(WAYS, right):
                where = f"spec {number}, right {way}"
                _right(compiled, number, way, _declares(compiled, chooser), budget, found, where)
            every = mutants(compiled.kernel)
            for mutant in chooser.sample(every, min(wrong, len(every))):
                where = f"spec {number}, {mutant.operator} {mutant.clause}: {mutant.does}"
                kernel = Compiled(compiled.lifecycle, mutant.kernel, compiled.words)
                _wrong(compiled, kernel, number, _declares(compiled, chooser), budget, found, where)
        except SpecError as error:
            found.fault("unreadable", f"{where}: {error.diagnostics[0].render()}")
        except Exception:  # noqa: BLE001 - whatever the kit raises is a fault of it
            found.fault("crash", f"{where}: {traceback.format_exc()}")


def glanced_at(number: int, found: Found) -> None:
    """Try the spec of a number in half a second: one right system and one wrong one."""
    tried(number, found, right=1, wrong=1, budget=GLANCE, bounds=FEW)


def _declares(compiled: Compiled, chooser: random.Random) -> dict[str, Any]:
    """Draw what a system declares: another choice than the default, and threads."""
    found: dict[str, Any] = {"clock": "virtual"}
    policies = {
        name: chooser.choice([word.text for word in each.choices])
        for name, each in compiled.lifecycle.policies.items()
        if chooser.random() < 0.5
    }
    if policies:
        found["policies"] = policies
    if chooser.random() < 0.3:
        found["concurrency"] = "threads"
    lacking = [each.name for each in compiled.kernel.operations if each.optional and chooser.random() < 0.3]
    if lacking:
        found["lacks"] = lacking
    if compiled.lifecycle.parts and chooser.random() < 0.3:
        found["parts"] = ["core"]
    if "kept" in compiled.lifecycle.limits and chooser.random() < 0.3:
        found["limits"] = {"kept": chooser.randrange(4)}
    return found


def _results(compiled: Compiled, made: type, number: int, budget: Budget) -> list[RowResult]:
    with closing(open_system(compiled, made)) as adapter:
        run = Run(compiled, adapter, seed=number, budget=budget)
        run.go()
        return run.results


def _right(
    compiled: Compiled,
    number: int,
    way: dict[str, Any],
    declares: dict[str, Any],
    budget: Budget,
    found: Found,
    where: str,
) -> None:
    """Run a right system: no row accuses it."""
    found.counts["right systems"] += 1
    for result in _results(compiled, model_system(compiled, declares, **way), number, budget):
        found.counts[f"right: {result.verdict.value}"] += 1
        if result.verdict is Verdict.HARNESS_ERROR:
            found.fault("crash", f"{where} {declares}, {result.id}: {result.reason}")
        elif result.verdict not in FINE:
            row = result.counterexample.row if result.counterexample else ""
            found.fault("accusation", f"{where} {declares}, {result.id}: {result.verdict} {result.reason}\n{row}")


def _wrong(
    compiled: Compiled,
    kernel: Compiled,
    number: int,
    declares: dict[str, Any],
    budget: Budget,
    found: Found,
    where: str,
) -> None:
    """Run a wrong system: what is found of it fails again when it is replayed."""
    made = model_system(kernel, declares)
    failed = 0
    found.counts["wrong systems"] += 1
    for result in _results(compiled, made, number, budget):
        if result.verdict is Verdict.HARNESS_ERROR:
            found.fault("crash", f"{where} {declares}, {result.id}: {result.reason}")
        elif result.verdict is Verdict.FLAKY:
            found.fault("flaky", f"{where} {declares}, {result.id}: {result.reason}")
        elif result.verdict is Verdict.FAIL and result.counterexample is not None:
            failed += 1
            found.counts["counterexamples"] += 1
            found.counts["calls of them"] += result.counterexample.calls
            said = _replayed(compiled, made, result, budget)
            if said:
                found.fault("not replayed", f"{where} {declares}, {result.id}: {said}\n{result.counterexample.row}")
    found.counts["wrong systems that were found"] += bool(failed)


def _replayed(compiled: Compiled, made: type, result: RowResult, budget: Budget) -> str:
    """Save a counterexample and replay it; say what came of it where it does not fail."""
    assert compiled.origin is not None  # it was loaded
    assert result.counterexample is not None  # it failed
    folder = compiled.origin.parent / "saved"
    saved = read(str(save(folder, str(compiled.origin), "a system", result.id, result.counterexample)))
    with closing(open_system(saved.compiled, made)) as adapter:
        played = replay(saved, adapter, budget)
    return "" if any(each.failed for each in played.rows) else repr(played)


def main() -> int:
    """Try many specs; give 1 when the kit crashed, accused a right system, or could not replay what it found."""
    parser = argparse.ArgumentParser(prog="python -m tests.other_specs.trial", description=__doc__)
    parser.add_argument("count", type=int, help="how many specs")
    parser.add_argument("seed", type=int, nargs="?", default=0, help="the number of the first one")
    parser.add_argument("--quick", action="store_true", help="a glance at one right and one wrong system of each")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no further spec after so long")
    options = parser.parse_args()
    found, told, until = Found(), 0, time.monotonic() + 60 * options.minutes
    for number in range(options.seed, options.seed + options.count):
        if time.monotonic() > until:
            print(f"time is over before spec {number}")
            break
        glanced_at(number, found) if options.quick else tried(number, found)
        for fault in found.faults[told:]:
            print(fault, flush=True)
        told = len(found.faults)
    print("\n".join(f"{count:6} {what}" for what, count in found.counts.items()))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
