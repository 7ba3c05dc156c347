"""Finding and shrinking a bug that shows only behind the 21st job."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

from benchmarks.measure import LESS, Finding, spread
from conformance.budget import USUAL
from conformance.counterexample.play import Played, play, symbolic
from conformance.counterexample.shrink import shrink
from conformance.demo import EvictsFirstStarted
from conformance.judge.avoided import BrokenCalls
from conformance.search.faults import Faults
from conformance.search.stateful import search
from conformance.targets import open_system
from statemachines.compile import Compiled
from statemachines.rows import Call, Given, Trace

BUDGET = 60.0  # seconds, so that the shrinker stops when it is done and not before
SEARCHED = 400  # cases until the machine gives up
RETAINED = 20
_WHAT = "shrink of a bug behind the 21st job"


class Shrinking:
    """Finds `EvictsFirstStarted` by the machine, by another seed each round, and shrinks what was found."""

    rounds = 7

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._adapter = open_system(compiled, EvictsFirstStarted)
        self._known = self._minimum()
        self._seed = 0
        self._missed = 0
        self._model: list[float] = []
        self._whole: list[float] = []
        self._lengths: list[int] = []
        self._found: list[int] = []
        self._tries: list[int] = []

    def once(self) -> None:
        """Find, then shrink."""
        faults, budget = Faults(BrokenCalls(self._adapter)), replace(USUAL, stateful_tests=SEARCHED)
        search(self._compiled, self._adapter, self._seed, budget, after=lambda driver: None, faults=faults)
        self._seed += 1
        found = faults.first
        trace = None if found is None else symbolic(self._compiled, found.case.trace)
        first = None if trace is None else play(self._compiled, self._adapter, trace)
        if first is None or first.finding is None:
            self._missed += 1
            return
        begin, began = time.perf_counter(), time.thread_time()
        best = shrink(self._compiled, self._play, first, BUDGET)
        self._model.append(time.thread_time() - began)  # the system works on a thread of its own
        self._whole.append(time.perf_counter() - begin)
        self._lengths.append(len(best.shown.trace))
        self._found.append(len(first.trace))
        self._tries.append(best.tries)

    def findings(self) -> list[Finding]:
        """Return how long it takes, and how long the result is."""
        missed = f"; NOT FOUND by {self._missed} seeds" if self._missed else ""
        if not self._whole:
            return [Finding(_WHAT, None, "s", LESS, 1, missed[2:])]
        clock, tries = statistics.median(self._whole), statistics.median(self._tries)
        note = f"{spread(self._model, 's', 2)}; {clock:.2f} s by the clock, with the system; {tries:.0f} tries{missed}"
        calls = f"found with {min(self._found)} … {max(self._found)} calls; the known minimum is {self._known}"
        return [
            Finding(f"{_WHAT}, kit and model", statistics.median(self._model), "s", LESS, 1, note),
            Finding("  calls that are left, at most", max(self._lengths), "calls", LESS, self._known + 3, calls),
        ]

    def _play(self, trace: Trace) -> Played:
        return play(self._compiled, self._adapter, trace)

    def _minimum(self) -> int:
        """Return the length of the shortest trace that can show the bug: one more than retained, and a look."""
        numbers = range(1, RETAINED + 2)
        starts = [
            Call(number, "start", (("thread", "t1"), ("tool_call", f"call-{number}"), ("tool", "bash")))
            for number in numbers
        ]
        order = [2, 1, *numbers[2:]]
        ends = [
            Call(
                number + 100,
                "finish",
                (("job", Given(number, "job_id")), ("outcome", "completed"), ("payload", "x")),
            )
            for number in order
        ]
        look = Call(200, "inspect_job", (("thread", "t1"), ("job", Given(1, "job_id"))))
        shortest = Trace((*starts, *ends, look))
        if play(self._compiled, self._adapter, shortest).finding is None:
            raise AssertionError("the shortest trace does not show the bug")
        return len(shortest)
