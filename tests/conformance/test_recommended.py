"""What a system may leave: what a sentence of level SHOULD says, and what follows from that; nothing else is excused."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.references.job import Jobs
from conformance.references.task_progress import TaskProgress
from conformance.run import MACHINE
from conformance.verdict import Verdict
from statemachines.compile import compile_text, load
from tests.conformance.systems import Watched, explained, whole_run

PROGRESS = load("task-progress")
UNREGISTERED = "operations.create_task.create.Task.state"
TWO = compile_text(
    """
lifecycle: two
version: 1
about: Two sentences are only recommended, and a job is marked by one of them.
should: [operations.put.set.a, operations.put.set.b, operations.mark.set.job.k]
variables:
  a: {type: int, default: 0}
  b: {type: int, default: 0}
entities:
  Job:
    id: minted
    fields: {k: {type: int, default: 0}}
    shows: {job_id: job.id, k: job.k}
operations:
  make: {create: {Job: {}}, gives: {job_id: job.id}}
  mark: {takes: {job: Job}, missing: unchanged, set: {job.k: 1}}
  look: {gives: {unordered: jobs}}
  put: {takes: {x: int}, set: {a: 1, b: 1}}
  sum: {gives: a + b}
  first: {gives: a}
matrix: {}
""",
    "two.yaml",
)


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


class UnregisteredAreAborted(TaskProgress):
    """What a task without a registration is taken for is only recommended: here it is aborted."""

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Any:
        made = super().create_task(label, batch, registers)
        if not registers:
            self._tasks[made["task_id"]].status = "aborted"
        return made if registers else {**made, "status": "aborted"}


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


def test_where_no_one_knows_what_comes_the_rows_still_look_for_themselves() -> None:
    _, results = whole_run(UnregisteredAreAborted, PROGRESS, quick=True)
    assert [
        explained(each) for each in results if each.verdict is Verdict.FAIL and each.level == "must"
    ] == []
    assert [each.id for each in results if each.verdict is Verdict.NOT_EXERCISED] == []


def test_a_sentence_that_the_system_follows_excuses_nothing_elsewhere() -> None:
    watched = Watched(TWO)
    for job in "ab":
        watched.must("make", gives={"job_id": job})
    watched.must("mark", "a")
    watched.must("look", gives=[{"job_id": "a", "k": 1}, {"job_id": "b", "k": 0}])
    assert watched("look", gives=[{"job_id": "a", "k": 1}, {"job_id": "b", "k": 7}]) is not None


def test_which_of_two_sentences_a_system_leaves_can_show_later() -> None:
    watched = Watched(TWO)
    watched.must("put", 1)
    watched.must("sum", gives=1)
    assert [each.clause for each in watched.judge.findings] == ["operations.put.set.a"]
    watched.must("first", gives=1)
    assert [each.clause for each in watched.judge.findings] == ["operations.put.set.b"]
    watched.must("sum", gives=1)
    assert watched("first", gives=0) is not None


def test_asking_whether_a_call_is_allowed_witnesses_nothing() -> None:
    watched = Watched(PROGRESS)
    before = watched.judge.witnessed()
    made = watched.call("create_task", "x", None, False, gives={"task_id": "a", "status": "failed"})
    watched.judge.allows(made)
    assert watched.judge.witnessed() == before


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
