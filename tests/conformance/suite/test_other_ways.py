"""Right systems that keep each sentence in another way than the references do: none of them is accused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

import conformance
from conformance.judge import Case
from conformance.references.job import Jobs
from conformance.references.job_delivery import Completion, call_at, now
from conformance.references.task_progress import TaskProgress
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, MACHINE, Verdict
from statemachines.compile import load
from tests.conformance.systems import BRIEF, adapted, explained, whole_run
from tests.other_ways import background_tasks, cancelling, job, local_agent, telling, thread_job

pytestmark = pytest.mark.thorough


class SleepsOn(Jobs):
    """The loop sleeps until the next attempt of the first in line, also when that one is acknowledged meanwhile."""

    async def _empty_queue(self) -> None:
        while self._queue:
            completion = self._queue[0]
            if completion.due > now():
                await asyncio.sleep((completion.due - now()) / 1000)
            else:
                await self._attempt(completion)


class SomeAtOnce(Jobs):
    """At most so many completions are in flight at a time, the ones that settled first."""

    workers: ClassVar[int] = 2
    declares: ClassVar[dict[str, Any]] = {
        **Jobs.declares,
        "policies": {
            **Jobs.declares["policies"],
            "delivery_order": "at_once",
            "retry_order": "overtaking",
        },
    }

    def __init__(self) -> None:
        super().__init__(retry_order="overtaking")
        self._busy: dict[Completion, asyncio.Task[None]] = {}

    def _deliver(self) -> None:
        waiting = [each for each in self._queue if each not in self._busy]
        ready = [each for each in waiting if each.due <= now()]
        for completion in ready[: self.workers - len(self._busy)]:
            self._busy[completion] = asyncio.create_task(self._attempted(completion))
        later = [each.due for each in waiting if each.due > now()]
        if later:
            call_at(min(later), self._deliver)

    async def _attempted(self, completion: Completion) -> None:
        if completion in self._queue:  # it may have been acknowledged
            await self._attempt(completion)
        del self._busy[completion]
        self._deliver()

    def _stop_delivering(self) -> None:
        super()._stop_delivering()
        for task in self._busy.values():
            task.cancel()


class InOrder(Jobs):
    """Completions are delivered in the order of settlement, and that is declared."""

    declares: ClassVar[dict[str, Any]] = {
        **Jobs.declares,
        "policies": {**Jobs.declares["policies"], "delivery_order": "settled"},
    }


class All(SomeAtOnce):
    """Every completion is attempted as soon as it may be."""

    workers = 1000


class UnknownIsNothing(TaskProgress):
    """Of a task that never was there is no status and no progress, and nothing to say of a batch without any."""

    def status(self, task: str) -> Any:
        return super().status(task) if task in self._tasks else None

    def progress(self, task: str) -> Any:
        return super().progress(task) if task in self._tasks else None

    def batch_status(self, batch: str) -> Any:
        with self._locked():
            return super().batch_status(batch) if self._tasks_of(batch) else None


MORE: dict[str, dict[type, tuple[str, ...]]] = {
    "job": {
        job.AtLeastOne: ("B31", "B32", MACHINE),
        job.NoneAtAll: ("B31", "B32"),
        job.ListsWhatItCancels: ("N6", MACHINE),
        job.LeavesOutWhatItCancels: ("N6",),
        job.DrainsAtDispose: ("E11",),
        job.ClosedAtDispose: ("E11", MACHINE),
        job.OwedLeaves: ("E70", "E32"),
        job.ReturnedLeaves: ("E72", "B10"),
        job.LeavesWhenAnotherComes: ("E72", MACHINE),
        job.TextOnce: ("E71",),
        job.EarlyAbortWaits: ("E91",),
        cancelling.ListsTextsOnce: ("E71", MACHINE),
        cancelling.ListedLeaves: ("E72", MACHINE),
        cancelling.LeavesAsReturned: ("E72", "E85", "B28", MACHINE),
        cancelling.OwedLeavesAsReturned: ("E72", "E85", MACHINE),
        cancelling.UpdatesListWhatIsCancelled: ("N8", "B15"),
        cancelling.UpdatesOmitWhatIsCancelled: ("N8", "B15"),
        cancelling.UpdatesHaveTexts: ("E71", "N8"),
        cancelling.LeavesOutWhatHasLeft: ("B28", "E36", MACHINE),
        cancelling.WithoutManager: ("N13",),
        cancelling.NothingIsFoundWithoutManager: ("N13",),
        cancelling.ShownIsNotTold: ("E82", MACHINE),
        cancelling.LeavesOutWhatWasReturned: ("B10", "E72", MACHINE),
        cancelling.ReturnsAtTheFirstCancel: ("E49", "E82"),
        cancelling.LeavesAtTheFirstCancel: ("E49", "E72"),
        cancelling.AcknowledgesBesideACancel: ("N6", MACHINE),
        cancelling.UnwatchLoses: ("E10", MACHINE),
        job.ResultOnce: ("E71",),
    },
    "background-tasks": {
        background_tasks.KeepsAll: ("N1", "X33", MACHINE),
        background_tasks.EndsLate: ("X9",),
        background_tasks.SpawnTakesTime: ("B9", "B10", "X8"),
        background_tasks.IdsOutsideTheLock: ("X22", MACHINE),
        background_tasks.LooksNowAndThen: ("N5", "B4", "X9", "X18", MACHINE),
        background_tasks.LooksByTheClock: ("N5", "B4", "X9", "X18", MACHINE),
        background_tasks.LooksThenAsks: ("E2", "E12", "B6", "X4", "X42", "X43", "X44", "X45", MACHINE),
    },
    "local-agent": {
        local_agent.RefusesTooLate: ("X24", "B4"),
        local_agent.NoticesAtItsEnd: ("X29", MACHINE),
    },
    "thread-job": {
        thread_job.IdsOutsideTheLock: ("B1", "B2", "X22"),
        thread_job.ClaimsThenTells: ("X6", "X26", "X57", "B4"),
        telling.ClaimsInFinish: ("X30", "X57", "B4", "X64", "X65"),
        telling.TellsInAThreadOfItsOwn: ("X30", "X57"),
        telling.AllClaim: ("X6", "X26", "X27", "X57", "X64", "X65"),
        telling.AllShare: ("X30", "X57", "B4"),
        thread_job.CodeOfItsOwn: ("E8", "X2"),
        thread_job.TellsItsText: ("N7", "B5", "X15", "X35", "X46"),
        thread_job.TellsPayload: ("N7", "B5", "X46"),
    },
}
"""Each with the rows that ask about it."""


@pytest.mark.parametrize(
    ("lifecycle", "system", "rows"),
    [
        pytest.param(lifecycle, system, only, marks=marks, id=f"{system.__name__}-{run}")
        for lifecycle, systems in MORE.items()
        for system, rows in systems.items()
        for run, only, marks in (("rows", rows, ()), ("whole", None, pytest.mark.soak))
    ],
)
def test_what_is_open_or_declared_accuses_nobody(lifecycle: str, system: type, rows: tuple[str, ...] | None) -> None:
    """What asks about it; the soak makes whole runs."""
    code, results = whole_run(system, load(lifecycle), budget=BRIEF, only=rows)
    held = (Verdict.PASS, Verdict.NOT_APPLICABLE) if rows is None else (Verdict.PASS,)
    assert [explained(each) for each in results if each.verdict not in held] == []
    assert code == EXIT_CONFORMS


def test_a_poll_may_list_a_job_that_it_cancels_before_its_last_words_have_come() -> None:
    compiled = load("job")
    with adapted(job.ListsWhatItCancels, compiled) as adapter:
        case = Case(compiled, adapter)
        words = {"type": "bash", "label": "x", "text": "x"}
        polled = case.call("register_with", {"does": "throws", **words}).value["job_id"]
        cancelled = case.call("register_with", {"does": "obliges", **words}).value["job_id"]
        call = case.call("tool", {"poll": [polled], "cancel": [cancelled]}).value["token"]
        told = case.call("tool_result", {"token": call}).value["jobs"]
        assert [each["id"] for each in told] == [polled, cancelled]
        assert case.faults == []


CANCELLED = ["a = register(bash, 'x')", "b = register(bash, 'y')"]
ENDED = [*CANCELLED, "settle(b.handle, ok, 'done')"]
WATCHED = ["a = register(bash, 'x')", "watch([a.job_id])", "settle(a.handle, ok, 'x')"]
POLLED_TWICE = ["a = register(bash, 'x')", "one = tool([a.job_id])", "two = tool([a.job_id])"]
RESULTS = ["tool_result(one.token)", "tool_result(two.token)"]
BOTH_POLLED = [*CANCELLED, "one = tool([a.job_id, b.job_id])"]
AT_ONCE = ["a = register_with(obliges, bash, 'x', 'x')"]
ONCE_ACCUSED: list[tuple[type, Sequence[str]]] = [
    (
        cancelling.ListsTextsOnce,
        [
            *[*CANCELLED, "t = tool([a.job_id], [b.job_id])", "settle(b.handle, ok, 'late')"],
            *[
                "settle(a.handle, ok, 'x')",
                "tool_result(t.token)",
                "l = tool(null, null, true)",
                "tool_result(l.token)",
            ],
        ],
    ),
    (cancelling.ListedLeaves, [*CANCELLED, "tool([a.job_id], [a.job_id, b.job_id])", "list()"]),
    (cancelling.LeavesAsReturned, [*ENDED, "t = tool(null, [b.job_id])", "tool_result(t.token)", "list()"]),
    (cancelling.LeavesAsReturned, [*ENDED, "t = tool(null, null, true)", "tool_result(t.token)", "list()"]),
    (cancelling.LeavesAsReturned, [*WATCHED, "tool(null, null, true)", "list()"]),
    (
        cancelling.UpdatesListWhatIsCancelled,
        [*CANCELLED, "tool([a.job_id], [b.job_id], false, null, true)", "wait(600)"],
    ),
    (
        cancelling.UpdatesOmitWhatIsCancelled,
        [*CANCELLED, "tool([a.job_id, b.job_id], [b.job_id], false, null, true)", "wait(600)"],
    ),
    (
        cancelling.UpdatesHaveTexts,
        [*ENDED, "tool(null, null, true)", "tool([a.job_id, b.job_id], null, false, null, true)", "wait(600)"],
    ),
    (cancelling.WithoutManager, ["t = tool(null, ['x'], false, null, false, none)", "tool_result(t.token)"]),
    (
        cancelling.NothingIsFoundWithoutManager,
        ["t = tool(null, ['x'], false, null, false, none)", "tool_result(t.token)"],
    ),
    (
        cancelling.ShownIsNotTold,
        [
            *[*CANCELLED, "sink(refuse)", "t = tool([a.job_id], [b.job_id])"],
            *["settle(a.handle, ok, 'x')", "sink(accept)", "wait(60000)"],
        ],
    ),
    (cancelling.LeavesOutWhatWasReturned, [*POLLED_TWICE, "settle(a.handle, ok, 'x')", *RESULTS]),
    (
        cancelling.ReturnsAtTheFirstCancel,
        [*BOTH_POLLED, "cancel_all()", "tool_result(one.token)", "list()", "wait(60000)"],
    ),
    (
        cancelling.LeavesAtTheFirstCancel,
        [*BOTH_POLLED, "cancel_all()", "list()", "tool_result(one.token)", "wait(60000)"],
    ),
    (
        cancelling.AcknowledgesBesideACancel,
        [
            *["sink(raise)", *WATCHED[:1], "settle(a.handle, ok, 'x')", "t = tool(null, [a.job_id])"],
            *["tool_result(t.token)", "sink(accept)", "wait(1000)"],
        ],
    ),
    (
        cancelling.UnwatchLoses,
        [
            *["sink(refuse)", *WATCHED[:1], "settle(a.handle, ok, 'x')", "watch([a.job_id])"],
            *["unwatch([a.job_id])", "sink(accept)", "wait(1000)"],
        ],
    ),
    (
        Jobs,  # what it has shown beside a cancel is attempted again all the same, and what settled later waits for it
        [
            *["a = register(bash, 'x')", "b = register(bash, 'y')", "sink(refuse)", "settle(a.handle, ok, 'x')"],
            *["tool(null, [a.job_id])", "settle(b.handle, ok, 'y')", "wait(60000)"],
        ],
    ),
    (Jobs, [*AT_ONCE, "together(get(a.job_id), tool(null, [a.job_id]))"]),
    (Jobs, [*AT_ONCE, "together(get(a.job_id), cancel(a.job_id))"]),
    (Jobs, [*AT_ONCE, "together(list(), cancel_all())", "get(a.job_id)"]),
]
"""Calls for which a right manager was accused."""


@pytest.mark.parametrize(("system", "calls"), ONCE_ACCUSED, ids=lambda value: getattr(value, "__name__", "calls"))
def test_what_is_open_of_jobs_that_a_call_cancels_accuses_nobody(
    tmp_path: Path, system: type, calls: Sequence[str]
) -> None:
    row = {"about": "A right one.", "level": "must", "source": "-", "covers": ["operations.list.gives"]}
    saved = {"lifecycle": "job", "target": "a system", "row": "machine"}
    saved["matrix"] = {"C1": {**row, "act": list(calls), "assert": ["true"]}}  # type: ignore[assignment]  # as YAML has it
    file = tmp_path / "calls.yaml"
    file.write_text(yaml.safe_dump(saved), encoding="utf-8")
    assert [str(each.verdict) for each in conformance.replay(file, system).rows if each.failed] == []


@pytest.mark.parametrize("system", [telling.ForgetsSome, telling.TellsTwice, telling.TellsBackwards])
def test_who_claims_and_then_does_not_tell_it_once_and_in_order_is_found_beside_a_boundary(system: type) -> None:
    code, _ = whole_run(system, load("thread-job"), only=("X57",))
    assert code == EXIT_VIOLATES


def test_who_has_no_limit_is_not_counted_up_to_it_and_is_held_to_that() -> None:
    compiled = load("background-tasks")
    _, results = whole_run(background_tasks.KeepsAll, compiled, budget=BRIEF, only=("B1", "B2", "X27", "X40"))
    assert {(each.verdict, "there is none: null is declared" in each.reason) for each in results} == {
        (Verdict.NOT_APPLICABLE, True)
    }
    more = replace(BRIEF, walks=12)
    _, found = whole_run(background_tasks.SaysThatItKeepsAll, compiled, budget=more, only=(MACHINE,))
    assert {each.verdict for each in found} == {
        Verdict.FAIL
    }  # what left too early is missing from a list, or unknown to a call


@pytest.mark.parametrize("system", [background_tasks.WakesNobody, background_tasks.WakesNobodyByTheClock])
def test_who_is_told_only_when_its_time_is_over_was_not_woken(system: type) -> None:
    _, (row,) = whole_run(system, load("background-tasks"), budget=BRIEF, only=("N5",))
    assert row.verdict is Verdict.FAIL
    assert row.counterexample is not None
    assert row.counterexample.clause == "operations.wait_for_completion.waits"


def test_who_measures_its_texts_otherwise_than_it_declares_is_found() -> None:
    _, results = whole_run(thread_job.MeasuresOtherwise, load("thread-job"), budget=BRIEF, only=("B5", "X46"))
    assert [each.verdict for each in results] == [Verdict.FAIL, Verdict.FAIL]


@pytest.mark.parametrize(
    ("lifecycle", "system"),
    [
        ("job", SleepsOn),
        pytest.param("job", SomeAtOnce, marks=pytest.mark.soak),
        ("job", All),
        pytest.param("job", InOrder, marks=pytest.mark.soak),
        ("task-progress", UnknownIsNothing),
    ],
)
def test_it_conforms(lifecycle: str, system: type) -> None:
    code, results = whole_run(system, load(lifecycle), budget=BRIEF)
    held = (Verdict.PASS, Verdict.NOT_APPLICABLE)
    assert [explained(each) for each in results if each.verdict not in held] == []
    assert code == EXIT_CONFORMS
