"""From the text of a spec to a model: the processor's time, by stage, and the size of the module."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable
from time import thread_time
from typing import Any

from benchmarks.measure import Finding, seconds
from statemachines import generate
from statemachines.compile import Compiled, load, spec_tree
from statemachines.lower.spec import lower
from statemachines.surface.spec import read_lifecycle
from statemachines.surface.structure import check_structure


class Compiling:
    """Loads thread-job, then takes the same way stage by stage."""

    rounds = 9

    def __init__(self) -> None:
        self._load: list[float] = []
        self._model: list[float] = []
        self._stages: defaultdict[str, list[float]] = defaultdict(list)
        self._source = ""

    def once(self) -> None:
        """Time the whole and the parts."""
        self._load.append(seconds(lambda: load("thread-job"), thread_time) * 1000)
        tree = self._stage("read", lambda: spec_tree("thread-job"))
        self._stage("structure", lambda: check_structure(tree))
        lifecycle = self._stage("sentences", lambda: read_lifecycle(tree, tree.where.file))
        kernel, words = self._stage("kernel", lambda: lower(lifecycle))
        self._source = self._stage("generate", lambda: generate.module(kernel))
        fresh = Compiled(lifecycle, kernel, words)
        self._model.append(seconds(fresh.model, thread_time) * 1000)

    def _stage(self, name: str, work: Callable[[], Any]) -> Any:
        found: list[Any] = []
        self._stages[name].append(seconds(lambda: found.append(work()), thread_time) * 1000)
        return found[0]

    def findings(self) -> list[Finding]:
        """Return the time to a compiled lifecycle, to a model of it, and the size of the module."""
        stages = ", ".join(
            f"{name} {statistics.median(times):.1f}" for name, times in self._stages.items() if name != "generate"
        )
        generating = statistics.median(self._stages["generate"])
        lines = self._source.count("\n")
        return [
            Finding("load thread-job", statistics.median(self._load), "ms", note=f"{stages} ms"),
            Finding(
                "  then a first model of it",
                statistics.median(self._model),
                "ms",
                note=f"{generating:.1f} ms to generate, the rest to compile",
            ),
            Finding("  the generated module", len(self._source.encode()) / 1024, "KiB", note=f"{lines:,} lines"),
        ]
