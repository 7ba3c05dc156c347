"""The generated model of thread-job against `transitions`: single moves, and a walk beyond retention."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import MORE, Finding, Pair
from benchmarks.registry import TERMINAL, LeanRegistry, Registry
from statemachines.chart import machine
from statemachines.compile import Compiled

MOVES = 5_000
WALKS = 15
JOBS = 30


class PlainMoves:
    """One trigger of `transitions` against one operation of the model, its decision and its reply included."""

    rounds = 15

    def __init__(self, compiled: Compiled) -> None:
        self._job: Any = type("Job", (), {})()
        machine(compiled.lifecycle, "Job", self._job)
        self._model: Any = compiled.model()
        self._id = self._model.start("t1", "call", "bash").value["job_id"]
        self._record = self._model.jobs[self._id]
        self._same = Pair(self._trigger_same, self._model_same)
        self._cancel = Pair(self._trigger_cancel, self._model_cancel)

    def once(self) -> None:
        """Time both moves."""
        self._job.state = self._record.state = "running"
        self._same.once()
        self._cancel.once()

    def findings(self) -> list[Finding]:
        """Give a line for each move."""
        return [
            _times("model against a trigger: report_progress, active → same", self._same, 8, MOVES),
            _times(
                "model against a trigger: request_cancel, running → pending_cancel", self._cancel, 8, MOVES
            ),
        ]

    def _trigger_same(self) -> float:
        trigger = self._job.report_progress
        begin = time.perf_counter()
        for _ in range(MOVES):
            trigger()
        return time.perf_counter() - begin

    def _model_same(self) -> float:
        operation, job = self._model.report_progress, self._id
        begin = time.perf_counter()
        for _ in range(MOVES):
            operation(job)
        return time.perf_counter() - begin

    def _trigger_cancel(self) -> float:
        job, trigger = self._job, self._job.request_cancel
        begin = time.perf_counter()
        for _ in range(MOVES):
            job.state = "running"
            trigger()
        return time.perf_counter() - begin

    def _model_cancel(self) -> float:
        record, operation, job = self._record, self._model.request_cancel, self._id
        begin = time.perf_counter()
        for _ in range(MOVES):
            record.state = "running"
            operation("t1", job, "user")
        return time.perf_counter() - begin


class Walk:
    """30 starts, 30 endings in another order, a boundary after every tenth; at 20 ended jobs the first leave."""

    rounds = 15

    def __init__(self, compiled: Compiled) -> None:
        self._model: Any = compiled.model()
        self._registry = Registry()
        self._lean = LeanRegistry()
        self._same_answers()
        self._pair = Pair(self._walks(self._registry, _by_registry), self._walks(self._model, _by_model))
        self._lean_pair = Pair(self._walks(self._lean, _by_registry), self._walks(self._model, _by_model))

    def once(self) -> None:
        """Time the walk in all three ways."""
        self._pair.once()
        self._lean_pair.once()

    def findings(self) -> list[Finding]:
        """Give a line for a registry as `transitions` advises, and one for the leanest there can be."""
        calls = WALKS * (2 * JOBS + 3)
        return [
            _times("model against a transitions registry: walk beyond retention", self._pair, 4, calls),
            _times("  the same, jobs that are no models of the machine", self._lean_pair, None, calls),
        ]

    def _same_answers(self) -> None:
        """See that all three tell and keep the same jobs, so that what is compared is comparable."""
        self._model.reset()
        told = [
            [(m["job_id"], m["tool"], m["status"], m["content"].text, m["content"].inline) for m in each]
            for each in _by_model(self._model)
        ]
        kept = [job["job_id"] for job in self._model.list_jobs("t1", TERMINAL).value]
        ids = {
            key: position
            for position, key in enumerate(dict.fromkeys(each[0] for tell in told for each in tell))
        }
        expected = [[(ids[key], *rest) for key, *rest in each] for each in told]
        for registry in (self._registry, self._lean):
            registry.reset()
            answers = _by_registry(registry)
            others = {
                key: position
                for position, key in enumerate(dict.fromkeys(m["job_id"] for tell in answers for m in tell))
            }
            seen = [
                [
                    (
                        others[m["job_id"]],
                        m["tool"],
                        m["status"],
                        m["content"]["text"],
                        m["content"]["inline"],
                    )
                    for m in each
                ]
                for each in answers
            ]
            left = {others[key] for key in registry.list_jobs("t1", TERMINAL)}
            if (seen, left) != (expected, {ids[key] for key in kept}):
                raise AssertionError(f"{type(registry).__name__} and the model differ: {seen} and {expected}")

    @staticmethod
    def _walks(system: Any, walk: Callable[[Any], object]) -> Callable[[], float]:
        def timed() -> float:
            total = 0.0
            for _ in range(WALKS):
                system.reset()
                begin = time.perf_counter()
                walk(system)
                total += time.perf_counter() - begin
            return total

        return timed


_OUTCOMES = [TERMINAL[number % 4] for number in range(JOBS)]
_CALLS = [f"call-{number}" for number in range(JOBS)]
_ORDER = [number * 7 % JOBS for number in range(JOBS)]  # 7 and 30 share no factor: every job once


def _by_model(model: Any) -> list[list[dict[str, Any]]]:
    """Make the calls on the model."""
    ids = [model.start("t1", call, "bash").value["job_id"] for call in _CALLS]
    told = []
    for number, index in enumerate(_ORDER, 1):
        model.finish(ids[index], _OUTCOMES[index], "done")
        if number % 10 == 0:
            told.append(model.turn_boundary("t1").value)
    return told


def _by_registry(registry: Registry) -> list[list[dict[str, Any]]]:
    """Make the same calls on a registry."""
    ids = [registry.start("t1", call, "bash")["job_id"] for call in _CALLS]
    told = []
    for number, index in enumerate(_ORDER, 1):
        registry.finish(ids[index], _OUTCOMES[index], "done")
        if number % 10 == 0:
            told.append(registry.turn_boundary("t1"))
    return told


def _times(what: str, pair: Pair, target: float | None, calls: int) -> Finding:
    note = f"{pair.slow / calls * 1e6:.2f} and {pair.fast / calls * 1e6:.2f} µs a call; {pair.spread}"
    return Finding(what, pair.ratio, "×", MORE if target else "", target, note)
