"""The generated model of thread-job against `transitions`: single moves, and a walk beyond retention."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

from benchmarks.measure import MORE, Finding, Pair
from benchmarks.registry import TERMINAL, LeanRegistry, Registry
from statemachines import machine
from statemachines.compile import Compiled

MOVES = 500
WALKS = 3
JOBS = 30


class PlainMoves:
    """One trigger of `transitions` against one operation of the model, with its decision and its reply."""

    rounds = 15

    def __init__(self, compiled: Compiled) -> None:
        self._job: Any = type("Job", (), {})()
        machine(compiled.lifecycle, "Job", self._job)
        self._model = _model(compiled)
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
        """Return a line for each move."""
        what = "model against a trigger of transitions"
        return [
            _times(f"{what}: report_progress, running → same", self._same, 8, MOVES),
            _times(f"{what}: request_cancel, running → pending_cancel", self._cancel, 8, MOVES),
        ]

    def _trigger_same(self) -> float:
        trigger = self._job.report_progress
        begin = thread_time()
        for _ in range(MOVES):
            trigger()
        return thread_time() - begin

    def _model_same(self) -> float:
        operation, job = self._model.report_progress, self._id
        begin = thread_time()
        for _ in range(MOVES):
            operation(job)
        return thread_time() - begin

    def _trigger_cancel(self) -> float:
        job, trigger = self._job, self._job.request_cancel
        begin = thread_time()
        for _ in range(MOVES):
            job.state = "running"
            trigger()
        return thread_time() - begin

    def _model_cancel(self) -> float:
        record, operation, job = self._record, self._model.request_cancel, self._id
        begin = thread_time()
        for _ in range(MOVES):
            record.state = "running"
            operation("t1", job, "user")
        return thread_time() - begin


class Walk:
    """30 starts, 30 endings in another order, a boundary at every tenth; beyond 20 ended jobs some leave."""

    rounds = 15

    def __init__(self, compiled: Compiled) -> None:
        self._model = _model(compiled)
        registry, lean = Registry(), LeanRegistry()
        for each in (registry, lean):
            _compare(self._model, each)
        self._pair = Pair(_timed(registry, _by_registry), _timed(self._model, _by_model))
        self._lean = Pair(_timed(lean, _by_registry), _timed(self._model, _by_model))

    def once(self) -> None:
        """Time the walk in all three ways."""
        self._pair.once()
        self._lean.once()

    def findings(self) -> list[Finding]:
        """Return a line for a registry as `transitions` advises, and one for the leanest there can be."""
        calls = WALKS * (2 * JOBS + 3)
        return [
            _times("model against a registry by transitions: walk beyond retention", self._pair, 4, calls),
            _times("  the same, jobs without triggers of their own", self._lean, None, calls),
        ]


Answers = tuple[list[str], list[list[dict[str, Any]]]]
"""The ids that the starts gave, and what each boundary told."""

_OUTCOMES = [TERMINAL[number % 4] for number in range(JOBS)]
_CALLS = [f"call-{number}" for number in range(JOBS)]
_ORDER = [number * 7 % JOBS for number in range(JOBS)]  # 7 and 30 share no factor: every job once


def _by_model(model: Any) -> Answers:
    """Make the calls on the model."""
    ids = [model.start("t1", call, "bash").value["job_id"] for call in _CALLS]
    told = []
    for number, index in enumerate(_ORDER, 1):
        model.finish(ids[index], _OUTCOMES[index], "done")
        if number % 10 == 0:
            told.append(model.turn_boundary("t1").value)
    return ids, told


def _by_registry(registry: Registry) -> Answers:
    """Make the same calls on a registry."""
    ids = [registry.start("t1", call, "bash")["job_id"] for call in _CALLS]
    told = []
    for number, index in enumerate(_ORDER, 1):
        registry.finish(ids[index], _OUTCOMES[index], "done")
        if number % 10 == 0:
            told.append(registry.turn_boundary("t1"))
    return ids, told


def _timed(system: Any, walk: Callable[[Any], object]) -> Callable[[], float]:
    def timed() -> float:
        total = 0.0
        for _ in range(WALKS):
            system.reset()
            begin = thread_time()
            walk(system)
            total += thread_time() - begin
        return total

    return timed


def _compare(model: Any, registry: Registry) -> None:
    """See that both tell and keep the same jobs, so that it is the same work that is compared."""
    model.reset()
    registry.reset()
    ids, told = _by_model(model)
    others, answers = _by_registry(registry)
    kept = [job["job_id"] for job in model.list_jobs("t1", TERMINAL).value]
    expected = [[(ids.index(m["job_id"]), m["tool"], m["status"], m["content"].text) for m in each] for each in told]
    seen = [
        [(others.index(m["job_id"]), m["tool"], m["status"], m["content"]["text"]) for m in each] for each in answers
    ]
    stay = sorted(map(others.index, registry.list_jobs("t1", TERMINAL)))
    if seen != expected or stay != sorted(map(ids.index, kept)):
        raise AssertionError(f"{type(registry).__name__} and the model differ: {seen}, and {expected}")


def _model(compiled: Compiled) -> Any:
    """Return a model; what is generated is unknown to a type checker."""
    return compiled.model()


def _times(what: str, pair: Pair, target: float | None, calls: int) -> Finding:
    note = f"{pair.slow / calls * 1e6:.2f} and {pair.fast / calls * 1e6:.2f} µs a call; {pair.spread}"
    return Finding(what, pair.ratio, "×", MORE if target else "", target, note)
