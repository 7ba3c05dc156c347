"""Every configuration of a small scope: what one step of the explorer costs beside the same step of a bare model, and what one keeps."""

from __future__ import annotations

import statistics
import tracemalloc
from time import thread_time

from benchmarks.measure import Finding, Pair, seconds, spread
from statemachines.compile import Compiled
from statemachines.explore import explore

BARE_STEPS = 5_000


class Exploring:
    """Explores thread-job as `check` does; a bare model is put back, called, and read as often."""

    rounds = 10

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._found = explore(compiled)
        self._kept = self._bytes()
        self._model = compiled.model()
        self._job = self._model.do("start", {"thread": "t1", "tool_call": "a", "tool": "bash"}).value["job_id"]
        self._begun = self._model.freeze()
        self._rates: list[float] = []
        self._pair = Pair(self._explored, self._bare, pairs=1)

    def once(self) -> None:
        """Time both."""
        self._pair.once()

    def _explored(self) -> float:
        """Return the seconds of one step of the explorer: it puts a configuration back, tries a call, and looks whether it is new."""
        took = seconds(lambda: explore(self._compiled), thread_time) / self._found.transitions
        self._rates.append(1 / took)
        return took

    def _bare(self) -> float:
        """Return the seconds of a step that is always the same: a model is put back, called, and read."""
        model, arguments = self._model, {"job": self._job, "outcome": "completed", "payload": "x"}

        def work() -> None:
            for _ in range(BARE_STEPS):
                model.thaw(self._begun)
                model.do("finish", arguments)
                model.freeze()

        return seconds(work, thread_time) / BARE_STEPS

    def _bytes(self) -> float:
        """Return how many bytes one configuration keeps, its way included."""
        tracemalloc.start()
        try:
            kept = explore(self._compiled)
            size, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        return size / kept.states

    def findings(self) -> list[Finding]:
        """Return the steps per second, what they cost beside those of a bare model, and what a configuration keeps."""
        found = self._found
        return [
            Finding(
                f"explorer, thread-job: {found.states:,} configurations",
                statistics.median(self._rates),
                "steps/s",
                note=f"{found.transitions:,} steps; {spread(self._rates, 'steps/s')}",
            ),
            Finding("  a step beside one of a bare model", self._pair.ratio, "times", note=self._pair.spread),
            Finding(
                "  what a configuration keeps", self._kept, "bytes", note="with its way, as the interpreter counts"
            ),
        ]
