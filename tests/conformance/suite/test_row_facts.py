"""What a row is about: the clauses that it covers, and the calls that it makes at once."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, ClassVar

import pytest

import conformance
from conformance.judge import Finding, kernel_facts
from conformance.references.background_tasks import BackgroundTasks
from conformance.suite.row_facts import is_about, may_tell, reads_instants
from statemachines.expression import check, parse
from statemachines.rows import RowWords
from tests.conformance.systems import thread_job


@pytest.mark.parametrize(
    ("kind", "clause", "operation", "about"),
    [
        ("reply", "operations.request_cancel.gives", "request_cancel", False),
        ("reply", "operations.list_jobs.gives", "list_jobs", True),
        ("reply", "operations.list_jobs", "list_jobs", False),
        ("order", "operations.finish", "finish ∥ list_jobs", True),
        ("order", "operations.start", "start ∥ request_cancel", False),
    ],
)
def test_a_fault_of_calls_at_once_is_what_a_row_about_one_of_them_is_about(
    kind: str, clause: str, operation: str, about: bool
) -> None:
    rows = thread_job().lifecycle.rows.values()
    row = next(row for row in rows if [word.text for word in row.covers] == ["operations.list_jobs.gives"])
    assert is_about(row, Finding(kind, clause, operation, "1", "2")) is about


@pytest.mark.parametrize(
    ("kind", "operation", "told"),
    [
        ("order", "turn_boundary", True),
        ("order", "turn_boundary ∥ list_jobs", True),  # who looks on need not be there
        ("order", "turn_boundary ∥ finish", False),
        ("order", "list_jobs", False),
        ("reply", "turn_boundary", False),  # one caller shows it
    ],
)
def test_a_row_that_makes_the_calls_at_once_of_a_fault_may_tell_it(kind: str, operation: str, told: bool) -> None:
    compiled = thread_job()
    finding = Finding(kind, operation.partition(" ")[0], operation, "1", "2")
    row = compiled.lifecycle.rows["B4"]
    assert not is_about(row, finding)
    assert may_tell(row, finding, kernel_facts.of(compiled).observes) is told


@pytest.mark.parametrize(
    ("claim", "reads"),
    [
        ("shown.started_at == 3", True),
        ("shown.completed_at != null && shown.completed_at - shown.started_at == 12", True),
        ("[shown].all(j, j.started_at > 5)", True),
        ("shown.completed_at != null", False),
        ("null == shown.completed_at", False),
        ("shown == shown", False),
        ("shown.status == running", False),
    ],
)
def test_a_claim_reads_instants_or_only_whether_there_are_any(claim: str, reads: bool) -> None:
    words = RowWords(thread_job().lifecycle)
    value, faults = check(parse(claim), words.scope({"shown": words.reply("inspect_job")}))
    assert not faults
    assert reads_instants(value) is reads


def throwing(declared: bool) -> type[BackgroundTasks]:
    """A system whose spawn leaves a failed row where its function throws, and says so or not."""
    policies = {**BackgroundTasks.declares["policies"], "spawn_throws": "failed_row"}
    if not declared:
        del policies["spawn_throws"]

    class LeavesRow(BackgroundTasks):
        declares: ClassVar[Any] = {**BackgroundTasks.declares, "policies": policies}

        def __init__(self) -> None:
            super().__init__(spawn_throws="failed_row")

    return LeavesRow


@pytest.mark.parametrize(
    ("declared", "told"),
    [(True, {"E10": "not applicable", "E17": "pass"}), (False, {"E10": "not applicable", "E17": "not applicable"})],
)
def test_a_row_for_one_choice_of_those_that_are_all_right_asks_only_who_has_declared_it(
    declared: bool, told: dict[str, str]
) -> None:
    report = conformance.run("background-tasks", throwing(declared), rows="E10,E17", quick=True)
    assert {each.id: each.verdict for each in report.rows} == told
    reasons = [each.reason for each in report.rows if each.verdict == "not applicable"]
    assert all(("nothing is declared of spawn_throws" in each) is not declared for each in reasons)


class NeverBegins(BackgroundTasks):
    """A task that is spawned after a cancel of all is over at once: it has no body that could hear anything."""

    declares: ClassVar[Any] = {
        **BackgroundTasks.declares,
        "policies": {**BackgroundTasks.declares["policies"], "born_canceled": "never_runs"},
    }

    def _begun(self, row: Any) -> Any:
        if row.token.cancelled:
            self._end(self._handles[0], row, "canceled", self._outcome(row, "canceled", "never ran"))
            row.body.cancel()
        return {"task_id": row.task_id}

    async def _supervise(self, table: Any, row: Any) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await super()._supervise(table, row)


def test_what_never_runs_need_not_hear_that_it_is_to_stop() -> None:
    report = conformance.run("background-tasks", NeverBegins, rows="E23,X51,X52", quick=True)
    assert {each.verdict for each in report.rows} == {"pass"}
