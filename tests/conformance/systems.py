"""What the tests of the kit share: a lifecycle, ways to run systems against it, and a judge fed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from conformance.budget import USUAL, Budget
from conformance.judge.finding import Finding
from conformance.judge.history import History
from conformance.judge.judge import Judge
from conformance.references.thread_job import ThreadJobs
from conformance.suite.rows import RowRunner
from conformance.suite.run import Run
from conformance.system.adapter import Adapter
from conformance.system.declaration import Declaration
from conformance.targets import open_system
from conformance.verdict import MACHINE, RowResult, Verdict
from statemachines.compile import Compiled, load
from statemachines.model import Document, Signal
from statemachines.rows import Observed, RowCompiler
from tests.checking import compile_text

REFERENCE = ThreadJobs
BRIEF = USUAL.quick().quick()
"""Every row once and a sixteenth of the searches: enough to see whether anything goes wrong. How much luck finds, the soak asks."""
EVERY_STATUS = ("running", "pending_cancel", "completed", "failed", "cancelled", "timed_out")


@cache
def thread_job() -> Compiled:
    """The lifecycle, compiled once in this process."""
    return load("thread-job")


@contextmanager
def adapted(system: Any, compiled: Compiled | None = None, *, limit: float | None = None) -> Iterator[Adapter]:
    """An adapter of a system, closed at the end; `limit` is how long a call may take, in seconds."""
    adapter = open_system(compiled or thread_job(), system)
    if limit is not None:
        adapter.limit = limit
    try:
        yield adapter
    finally:
        adapter.close()


def shrinking(seconds: float) -> Budget:
    """A budget with so much time for each counterexample; four times as much for calls at once."""
    return replace(USUAL, shrink_seconds=seconds, shrink_seconds_at_once=4 * seconds)


def row_result(
    system: Any,
    row: str,
    compiled: Compiled | None = None,
    *,
    seed: int = 0,
    quick: bool = False,
    budget: Budget = USUAL,
    limit: float | None = None,
    shortest: bool = True,
) -> RowResult:
    """The verdict of one row; a counterexample is cut short unless that is not asked for."""
    compiled = compiled or thread_job()
    with adapted(system, compiled, limit=limit) as adapter:
        rows = RowCompiler(compiled.lifecycle)
        budget = budget.quick() if quick else budget
        runner = RowRunner(compiled, rows, adapter, number=seed, budget=budget, shortest=shortest)
        return runner.run(compiled.lifecycle.rows[row])


def whole_run(
    system: Any,
    compiled: Compiled | None = None,
    *,
    seed: int = 0,
    quick: bool = False,
    budget: Budget = USUAL,
    only: Sequence[str] | None = None,
) -> tuple[int, list[RowResult]]:
    """The exit code and the results of a run."""
    compiled = compiled or thread_job()
    with adapted(system, compiled) as adapter:
        run = Run(compiled, adapter, rows=only, seed=seed, budget=budget.quick() if quick else budget)
        return run.go().exit, run.results


class Watched:
    """A judge, told by hand what might have been observed: `watched("start", "t1", "c1", "bash", gives=…)`."""

    def __init__(self, compiled: Compiled | None = None, budget: Budget = USUAL, **declared: Any) -> None:
        self.compiled = compiled or thread_job()
        words: dict[str, Any] = {"clock": "virtual", "concurrency": "threads", **declared}
        self.judge = Judge(self.compiled, Declaration(**words), budget)
        self._instant = 0

    def __call__(self, operation: str, *arguments: Any, **came: Any) -> Finding | None:
        return self.step(self.call(operation, *arguments, **came))

    def step(self, event: Observed | History) -> Finding | None:
        """Judge what was observed; a finding, also where the case goes on because one clause left out explains it."""
        known = len(self.judge.deviations)
        return self.judge.step(event) or next(iter(self.judge.deviations[known:]), None)

    def call(
        self,
        operation: str,
        *arguments: Any,
        gives: Any = None,
        refused: str | None = None,
        signals: Sequence[Signal] = (),
        during: tuple[int, int] | None = None,
    ) -> Observed:
        """A call as it was observed; `during` says when, for calls made at once."""
        takes = ["ms"] if operation == "wait" else list(self.compiled.lifecycle.operations[operation].takes)
        self._instant += 1
        began, ended = during or (self._instant, self._instant)
        return Observed(
            operation,
            dict(zip(takes, arguments, strict=False)),
            gives,
            refused,
            tuple(signals),
            began=began,
            ended=ended,
        )

    def group(self, *calls: Observed, signals: Sequence[Signal] = ()) -> Finding | None:
        """Calls that were made at once, each by a caller of its own; those without a time of their own all overlap."""
        first = self._instant - len(calls)
        made = (replace(call, began=first, ended=self._instant) if call.began == call.ended else call for call in calls)
        return self.step(at_once(made, signals))

    def must(self, operation: str, *arguments: Any, **came: Any) -> None:
        """The same, where nothing is wrong."""
        finding = self(operation, *arguments, **came)
        assert finding is None, finding

    def start(self, job: str, thread: str = "t1", **came: Any) -> None:
        """A start, under this id, that nobody objects to."""
        self.must("start", thread, f"call of {job}", "bash", gives=started(job), **came)

    def ended(self, job: str, thread: str = "t1", *, payload: str = "x") -> None:
        """A start and an end that nobody objects to."""
        self.start(job, thread)
        self.must("finish", job, "completed", payload)


def at_once(calls: Iterable[Observed], signals: Sequence[Signal] = ()) -> History:
    """Calls that were made at once, each by a caller of its own."""
    return History(tuple((call,) for call in calls), tuple(signals))


def started(job: str) -> dict[str, Any]:
    """The reply to a start."""
    return {"mode": "background", "job_id": job, "status": "running"}


def shown(job: str, **other: Any) -> dict[str, Any]:
    """A job as a caller sees it."""
    record = {
        "job_id": job,
        "thread": "t1",
        "tool_call": f"call of {job}",
        "tool": "bash",
        "status": "running",
        "started_at": 0,
        "completed_at": None,
        "cancel_requested_at": None,
    }
    return record | other


def message(job: str, text: str = "x", *, file: str | None = None, **other: Any) -> dict[str, Any]:
    """A message about a job that completed."""
    content = Document(text, inline=file is None, file=file)
    return {"job_id": job, "tool": "bash", "status": "completed", "content": content} | other


def signal(name: str, **fields: Any) -> Signal:
    """A signal as the judge sees it."""
    return name, tuple(sorted(fields.items()))


def turn(thread: str = "t1") -> Signal:
    """The signal that a turn was triggered."""
    return signal("TurnTriggered", thread=thread)


def explained(result: RowResult) -> str:
    """A result with all that it says, for an assertion's message."""
    found = result.counterexample
    row = "" if found is None else f"\nexpected {found.expected}\nseen {found.seen}\n{found.row}"
    return f"{result.id} {result.verdict}: {result.reason}{row}"


def verdicts(results: Sequence[RowResult]) -> Mapping[str, str]:
    """The verdict of each row that did not pass."""
    return {result.id: result.verdict.value for result in results if result.verdict.value != "pass"}


def failing(spec: str, system: Any, *, pairs: int = 120) -> set[str]:
    """Return what of a small spec a system fails in a short run, `machine` for all that random calls show.

    If that is nothing, each row passes or does not apply.
    """
    compiled = compile_text(spec, "spec.yaml")
    budget = replace(BRIEF, stateful_tests=4, walks=4, pairs=pairs, shrink_seconds=0.5, shrink_seconds_at_once=1)
    with adapted(system, compiled, limit=0.4) as adapter:
        run = Run(compiled, adapter, budget=budget)
        run.go()
    failed = {
        MACHINE if each.id.startswith(MACHINE) else each.id for each in run.results if each.verdict is Verdict.FAIL
    }
    assert failed or {each.verdict for each in run.results} <= {Verdict.PASS, Verdict.NOT_APPLICABLE}
    return failed
