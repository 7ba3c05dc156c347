"""What a system may leave: what a sentence of level SHOULD says, and what follows from that; nothing else is excused."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.references.job import Jobs
from conformance.references.task_progress import TaskProgress
from conformance.run import MACHINE
from conformance.verdict import Verdict
from statemachines.compile import load
from tests.conformance.systems import Watched, explained, whole_run

PROGRESS = load("task-progress")
UNREGISTERED = "operations.create_task.create.Task.state"


class ThirdStartIsLost(TaskProgress):
    """The third start is taken, and the task is shown as waiting for ever."""

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self._starts = 0
        self._lost: set[str] = set()

    def start(self, task: str) -> None:
        super().start(task)
        self._starts += 1
        if self._starts >= 3:
            self._lost.add(task)

    def status(self, task: str) -> str:
        found = super().status(task)
        return "pending" if task in self._lost else found


class NothingIsDisposed(Jobs):
    """Disposing is only recommended, and this manager has nothing to dispose of."""

    async def dispose(self) -> None:
        return


class OnlyNewJobsAreDisposed(Jobs):
    """What runs goes on after dispose, and is still told of; no further job is taken."""

    async def dispose(self) -> None:
        self._disposed = True


class HalfIsDisposed(Jobs):
    """Every second job is left running."""

    async def dispose(self) -> None:
        for job in [job for job in self._jobs.values() if job.status == "running"][::2]:
            self._cancel(job)


def test_a_fault_is_found_beside_recommendations_that_the_system_follows() -> None:
    _, (result,) = whole_run(ThirdStartIsLost, PROGRESS, only=[MACHINE])
    assert result.verdict is Verdict.FAIL
    assert result.counterexample is not None
    assert result.counterexample.clause in ("operations.status.gives", "operations.start.move")


@pytest.mark.parametrize("system", [NothingIsDisposed, OnlyNewJobsAreDisposed, HalfIsDisposed])
def test_who_does_not_follow_a_recommendation_is_not_accused_of_what_comes_of_it(system: type) -> None:
    _, (result,) = whole_run(system, load("job"), only=[MACHINE], quick=True)
    assert result.verdict is Verdict.PASS, explained(result)


def test_without_a_recommended_sentence_a_case_goes_on_as_if_it_were_not_there() -> None:
    watched = Watched(PROGRESS)
    watched.must("create_task", "x", None, False, gives={"task_id": "a", "status": "pending"})
    (finding,) = watched.judge.findings
    assert (finding.clause, finding.should) == (UNREGISTERED, True)
    watched.must("status", "a", gives="pending")
    assert watched("status", "a", gives="failed") is not None


def test_what_else_a_system_does_instead_nobody_knows() -> None:
    watched = Watched(PROGRESS)
    watched.must("create_task", "x", None, False, gives={"task_id": "a", "status": "running"})
    (finding,) = watched.judge.findings
    assert (finding.clause, finding.should, finding.excused) == (
        UNREGISTERED,
        True,
        "operations.create_task.gives",
    )
    watched.must("status", "a", gives="completed")


def test_a_recommendation_excuses_nothing_where_it_makes_no_difference() -> None:
    watched = Watched(PROGRESS)
    watched.must("create_task", "x", None, True, gives={"task_id": "a", "status": "pending"})
    assert watched("status", "a", gives="running") is not None


def test_what_no_order_of_calls_explains_witnesses_nothing() -> None:
    """A refusal that is only recommended is looked at on the way, and excuses nothing."""
    watched = Watched(PROGRESS)
    watched.must("create_task", "x", "one", True, gives={"task_id": "a", "status": "pending"})
    before = watched.judge.witnessed()
    made = watched.call("create_task", "x", "two", True, gives={"task_id": "b", "status": "pending"})
    asked = watched.call("batch_status", "two", gives={"complete": True})
    divergence = watched.group(made, asked)
    assert divergence is not None
    assert divergence.kind == "order"
    assert "operations.batch_status.requires.not_found" not in watched.judge.witnessed() - before


def test_looking_witnesses_nothing() -> None:
    watched = Watched(PROGRESS)
    before = watched.judge.witnessed()
    assert watched.judge.decision("batch_status", {"batch": "nobody's"}).refuse
    assert watched.judge.copy().witnessed() == frozenset()
    assert watched.judge.witnessed() == before
