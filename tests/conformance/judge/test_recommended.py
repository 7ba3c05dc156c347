"""What a system may leave: what a sentence of level SHOULD says, and what follows from that; nothing else is excused."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.references.background_tasks import BackgroundTasks
from conformance.references.job import Jobs
from conformance.references.task_progress import TaskProgress
from conformance.refused import Refused
from conformance.verdict import MACHINE, Verdict
from statemachines.compile import Compiled, load
from tests.checking import compile_text
from tests.conformance.systems import BRIEF, Watched, explained, whole_run
from tests.faulty.job.choices import OwnWays, SlotsForEachOwner, TakenIdsAreRefused, choosing

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


NEWEST_TEXT = """
lifecycle: newest
version: 1
about: Which of two ended jobs stays is only recommended.
should: [entities.Job.retain]
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [ended]}
    retain: {newest: 1, of: terminal, by: job.completion}
    shows: {job_id: job.id, status: job.state}
operations:
  make: {create: {Job: {}}, gives: {job_id: job.id}}
  end: {takes: {job: Job}, move: running -> ended}
  has: {takes: {job: Job | null}, gives: job != null}
  look: {gives: {unordered: jobs}}
matrix: {}
"""
NEWEST = compile_text(NEWEST_TEXT, "newest.yaml")
ONCE = compile_text(NEWEST_TEXT.replace("id: minted", "id: minted once"), "newest.yaml")


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


class SpawnWakes(BackgroundTasks):
    """Who waits is woken by a task that starts, too."""

    async def spawn(self, label: str) -> Any:
        spawned = await super().spawn(label)
        self._wake(self._handles[0])
        return spawned


@pytest.mark.thorough
def test_a_fault_is_found_beside_recommendations_that_the_system_follows() -> None:
    _, (result,) = whole_run(ThirdStartIsLost, PROGRESS, only=[MACHINE])
    assert result.verdict is Verdict.FAIL
    assert result.counterexample is not None
    assert result.counterexample.clause in ("operations.status.gives", "operations.start.move")


class InWordsOfItsOwn(TakenIdsAreRefused):
    """The same, and the code is not that of the spec."""

    def _free_id(self, preferred: str) -> str:
        try:
            return super()._free_id(preferred)
        except Refused:
            raise Refused("id_in_use") from None


@pytest.mark.thorough
@pytest.mark.parametrize(
    "system",
    [
        NothingIsDisposed,
        OnlyNewJobsAreDisposed,
        HalfIsDisposed,
        SlotsForEachOwner,
        InWordsOfItsOwn,
        OwnWays,
    ],
)
def test_who_does_not_follow_a_recommendation_is_not_accused_of_what_comes_of_it(system: type) -> None:
    _, (result, *recommended) = whole_run(system, load("job"), only=[MACHINE], budget=BRIEF)
    assert result.verdict is Verdict.PASS, explained(result)
    assert recommended
    assert {each.level for each in recommended} == {"should"}


@pytest.mark.thorough
@pytest.mark.parametrize("system", [SlotsForEachOwner, InWordsOfItsOwn, OwnWays])
def test_no_must_is_missed_by_who_only_follows_no_recommendation(system: type) -> None:
    rows = [
        "N1",
        "N15",
        "N16",
        "E3",
        "E13",
        "E14",
        "E16",
        "E24",
        "E40",
        "E42",
        "B1",
        "B18",
        "B19",
        "B23",
        "B25",
    ]
    _, results = whole_run(system, load("job"), only=rows, budget=BRIEF)
    failed = [each for each in results if each.verdict is not Verdict.PASS]
    assert failed
    assert [explained(each) for each in failed if each.level == "must"] == []


@pytest.mark.thorough
def test_a_wake_up_with_nothing_to_drain_is_allowed_for_whatever_reason() -> None:
    _, results = whole_run(SpawnWakes, load("background-tasks"), budget=BRIEF)
    failed = [each for each in results if each.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)]
    assert [explained(each) for each in failed if each.level == "must"] == []


@pytest.mark.thorough
@pytest.mark.parametrize(("choice", "verdict"), [("everyones", Verdict.FAIL), ("the_owners", Verdict.PASS)])
def test_a_choice_that_is_declared_is_held_to(choice: str, verdict: Verdict) -> None:
    class TwoSlots(choosing(SlotsForEachOwner, limit_counts=choice)):  # type: ignore[misc]  # a base that is made
        def __init__(self) -> None:
            super().__init__(max_running=2)

    TwoSlots.declares = {**TwoSlots.declares, "limits": {"max_running": 2}}
    _, (result, *_) = whole_run(TwoSlots, load("job"), only=[MACHINE], budget=BRIEF)
    assert result.verdict is verdict, explained(result)


@pytest.mark.thorough
def test_where_no_one_knows_what_comes_the_rows_still_look_for_themselves() -> None:
    _, results = whole_run(UnregisteredAreAborted, PROGRESS, budget=BRIEF)
    assert [explained(each) for each in results if each.verdict is Verdict.FAIL and each.level == "must"] == []
    assert [each.id for each in results if each.verdict is Verdict.NOT_EXERCISED] == []


def test_a_sentence_that_the_system_follows_excuses_nothing_elsewhere() -> None:
    watched = Watched(TWO)
    for job in "ab":
        watched.must("make", gives={"job_id": job})
    watched.must("mark", "a")
    watched.must("look", gives=[{"job_id": "a", "k": 1}, {"job_id": "b", "k": 0}])
    assert watched("look", gives=[{"job_id": "a", "k": 1}, {"job_id": "b", "k": 7}]) is not None


def unmarked() -> Watched:
    """Two jobs, of which the first was marked, and the system does not follow that: it shows what it likes."""
    watched = Watched(TWO)
    for job in "ab":
        watched.must("make", gives={"job_id": job})
    watched.must("mark", "a")
    watched.must("look", gives=[{"job_id": "a", "k": 0}, {"job_id": "b", "k": 0}])
    return watched


@pytest.mark.parametrize(
    "jobs",
    [
        [{"job_id": "a", "k": 0}, {"job_id": "b", "k": 7}],
        [{"job_id": "a", "k": 0}],
        [{"job_id": "b", "k": 0}],
    ],
    ids=["another job is marked", "another job is lost", "the job is lost"],
)
def test_a_sentence_that_the_system_leaves_excuses_nothing_about_anything_else(
    jobs: list[dict[str, Any]],
) -> None:
    assert unmarked()("look", gives=jobs) is not None


def test_a_sentence_that_the_system_leaves_excuses_calls_at_once_that_show_what_it_is_about() -> None:
    watched = unmarked()
    looked = [watched.call("look", gives=[{"job_id": "a", "k": k}, {"job_id": "b", "k": 0}]) for k in (3, 3)]
    assert watched.group(*looked) is None


@pytest.mark.parametrize("lifecycle", ["two", "task-progress"])
def test_a_sentence_that_the_system_leaves_excuses_nothing_about_other_calls_at_once(lifecycle: str) -> None:
    if lifecycle == "two":
        watched = unmarked()
        made = [watched.call("make", gives={"job_id": "c"}) for _ in range(2)]
    else:
        watched = Watched(PROGRESS)
        watched.must("create_task", "x", None, False, gives={"task_id": "a", "status": "pending"})
        gives = {"task_id": "c", "status": "pending"}
        made = [watched.call("create_task", label, gives=gives) for label in "yz"]
    assert watched.group(*made) is not None


def test_after_a_finding_the_model_stands_where_it_did() -> None:
    watched = Watched(TWO)
    before = watched.judge.model.freeze()
    assert watched("make", gives={"job_id": None}) is not None
    assert watched("put", 1, refused="never") is not None
    assert watched.judge.model.freeze() == before


def test_which_of_two_sentences_a_system_leaves_can_show_later() -> None:
    watched = Watched(TWO)
    watched.must("put", 1)
    watched.must("sum", gives=1)
    assert [each.clause for each in watched.judge.findings] == ["operations.put.set.a"]
    watched.must("first", gives=1)
    assert [each.clause for each in watched.judge.findings] == ["operations.put.set.b"]
    watched.must("sum", gives=1)
    assert watched("first", gives=0) is not None


def ended_in_another_order(spec: Compiled = NEWEST) -> Watched:
    """Three jobs, the last of which runs; of the others the second one to start was the first to end."""
    watched = Watched(spec)
    for job in "abc":
        watched.must("make", gives={"job_id": job})
    watched.must("end", "b")
    watched.must("end", "a")
    return watched


def test_what_stays_instead_of_what_is_recommended_may_show_in_two_replies() -> None:
    watched = ended_in_another_order()
    watched.must("has", "b", gives=True)
    watched.must("look", gives=[{"job_id": "b", "status": "ended"}, {"job_id": "c", "status": "running"}])
    assert {each.clause for each in watched.judge.findings} == {"entities.Job.retain"}


def test_a_fault_that_has_nothing_to_do_with_what_stays_is_one() -> None:
    watched = ended_in_another_order()
    watched.must("has", "b", gives=True)
    assert watched("has", "c", gives=False) is not None


@pytest.mark.parametrize("again", ["a", "b", "c"])
def test_an_id_that_was_given_stays_given_whichever_record_stays(again: str) -> None:
    found = ended_in_another_order(ONCE)("make", gives={"job_id": again})
    assert found is not None
    assert (found.kind, found.clause, found.should) == ("identity", "entities.Job.id", False)


@pytest.mark.parametrize("again", ["a", "b"])
def test_an_id_that_a_record_has_no_more_may_be_given_again_and_which_has_left_is_open(again: str) -> None:
    assert ended_in_another_order()("make", gives={"job_id": again}) is None


def test_two_choices_that_show_in_one_call_are_excused_together() -> None:
    watched = Watched(load("job"))
    watched.must("register", "bash", "x", "mine", gives={"job_id": "mine", "handle": "h1"})
    left = watched.call("register", "bash", "x", "wanted", gives={"job_id": "other", "handle": "h2"})
    told = [
        ("delivery_attempted", (("at", 0), ("job", "mine"))),
        ("delivered", (("job", "mine"), ("text", ""))),
    ]
    signals = [("abort_signalled", (("job", "mine"),)), *told]
    assert watched.group(left, watched.call("cancel", "mine"), signals=signals) is None
    assert {each.clause for each in watched.judge.findings} <= {
        "policies.wanted_id",
        "policies.cancelled_told",
    }


def test_the_order_of_messages_binds_calls_at_once_unless_it_is_only_recommended() -> None:
    watched = Watched(load("background-tasks"))
    given = []
    for task in "ab":
        watched.must("spawn", "x", gives={"task_id": task})
        watched.must("finish", task, "completed", "x")
        given.append({"task_id": task, "label": "x", "result": {"status": "completed", "text": "x"}})
    drained = watched.call("drain_completed", gives=given[::-1])
    assert watched.group(drained, watched.call("running_count", gives=0)) is None
    assert [each.clause for each in watched.judge.findings] == ["messages.Completion.order"]


def drained_of_two_bodies_that_oblige(order: str) -> Watched:
    """Two tasks that end as soon as all are cancelled, in an order that nobody sees; then both outcomes are drained, in `order`."""
    watched = Watched(load("background-tasks"), limits={"retained": 1})
    for task in "ab":
        watched.must("spawn_with", "obliges", "x", "x", gives={"task_id": task})
    watched.must("cancel_all", signals=[("CancelSeen", (("task_id", task),)) for task in "ab"])
    result = {"status": "failed", "text": "x"}
    watched.must("drain_completed", gives=[{"task_id": task, "label": "x", "result": result} for task in order])
    return watched


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_an_order_that_is_right_by_one_explanation_is_not_noted(order: str) -> None:
    """...until it shows that it was not that one: the newest row stays."""
    watched = drained_of_two_bodies_that_oblige(order)
    assert not watched.judge.findings
    first, newest = tuple(order)
    watched.must("peek", newest, None, gives={"blocks": [], "total": 0})
    watched.must("peek", first, None, gives=None)
    assert not watched.judge.findings
    other = drained_of_two_bodies_that_oblige(order)
    other.must("peek", first, None, gives={"blocks": [], "total": 0})
    other.must("peek", newest, None, gives=None)
    assert [each.clause for each in other.judge.findings] == ["messages.Completion.order"]


def waiting(*jobs: str, **policies: str) -> Watched:
    """Jobs that have ended, the first of which is in flight."""
    watched = Watched(load("job"), policies=policies)
    for job in jobs:
        watched.must("register", "bash", "x", gives={"job_id": job, "handle": f"of {job}"})
    watched.must("sink", "block")
    for job in jobs:
        watched.must("settle", f"of {job}", "ok", "x", signals=attempted(job) if job == jobs[0] else [])
    return watched


def attempted(*jobs: str) -> list[Any]:
    return [("delivery_attempted", (("at", 0), ("job", job))) for job in jobs]


def arrived(*jobs: str) -> list[Any]:
    return [("delivered", (("job", job), ("text", "x"))) for job in jobs]


@pytest.mark.parametrize("declared", [{}, {"delivery_order": "free"}], ids=["undeclared", "declared"])
def test_of_steps_that_have_to_be_taken_any_may_come_first_where_the_order_is_free(
    declared: dict[str, str],
) -> None:
    watched = waiting("a", "b", "c", **declared)
    watched.must("release_sink", signals=[*arrived("a"), *attempted("c")])
    watched.must("release_sink", signals=[*arrived("c"), *attempted("b")])
    if not declared:
        assert [each.clause for each in watched.judge.findings] == ["policies.delivery_order"]
    held = waiting("a", "b", "c", delivery_order="settled")
    assert held("release_sink", signals=[*arrived("a"), *attempted("c")]) is not None


@pytest.mark.parametrize("arrives", [False, True])
def test_what_is_in_flight_when_all_is_disposed_may_arrive_or_not(arrives: bool) -> None:
    watched = waiting("a")
    watched.must("dispose")
    watched.must("register", "bash", "y", refused="disposed")
    watched.must("release_sink", signals=arrived("a") if arrives else [])
    assert watched("release_sink", signals=arrived("a")) is not None


def test_three_choices_that_show_in_one_call_are_excused_together() -> None:
    watched = Watched(load("job"))
    for job in "ab":
        watched.must("register", "bash", "x", gives={"job_id": job, "handle": f"of {job}"})
    for _ in range(2):
        watched.must("watch", ["a"])
    watched.must("unwatch", ["a"])
    watched.must("sink", "block")
    watched.must("settle", "of b", "ok", "x", signals=attempted("b"))
    signals = [("abort_signalled", (("job", "a"),)), *attempted("a")]
    watched.must("cancel", "a", gives="cancelled", signals=signals)


def test_who_declares_a_refusal_is_held_to_it() -> None:
    watched = Watched(load("job"), policies={"wanted_id": "refused_if_taken"})
    watched.must("register", "bash", "x", "mine", gives={"job_id": "mine", "handle": "h1"})
    assert watched("register", "bash", "x", "mine", gives={"job_id": "mine-2", "handle": "h2"}) is not None


def test_a_list_under_a_watch_ends_it_for_nobody() -> None:
    watched = Watched(load("job"), policies={"watching": "ends_with_the_first"})
    watched.must("register", "bash", "x", gives={"job_id": "a", "handle": "of a"})
    watched.must("watch", ["a"])
    watched.must("tool", None, None, True, gives={"token": "t"})
    assert watched("settle", "of a", "ok", "x", signals=[*attempted("a"), *arrived("a")]) is not None


def test_asking_whether_a_call_is_allowed_witnesses_nothing() -> None:
    watched = Watched(PROGRESS)
    before = watched.judge.lockstep.witnessed()
    made = watched.call("create_task", "x", None, False, gives={"task_id": "a", "status": "failed"})
    watched.judge.allows(made)
    assert watched.judge.lockstep.witnessed() == before


def test_without_a_recommended_sentence_a_case_goes_on_as_if_it_were_not_there() -> None:
    watched = Watched(PROGRESS)
    watched.must("create_task", "x", None, False, gives={"task_id": "a", "status": "pending"})
    assert not watched.judge.findings  # it may fail a moment later
    watched.must("status", "a", gives="pending")
    (finding,) = watched.judge.findings
    assert (finding.clause, finding.should) == (UNREGISTERED, True)
    watched.must("create_task", "y", gives={"task_id": "b", "status": "pending"})
    assert watched("status", "b", gives="failed") is not None


def test_what_a_system_does_later_instead_of_a_recommended_sentence_nobody_knows_either() -> None:
    watched = Watched(PROGRESS)
    watched.must("create_task", "x", None, False, gives={"task_id": "a", "status": "pending"})
    watched.must("status", "a", gives="aborted")
    (finding,) = watched.judge.findings
    assert (finding.clause, finding.should, finding.excused) == (
        UNREGISTERED,
        True,
        "operations.status.gives",
    )


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
    watched = Watched(PROGRESS)
    watched.must("create_task", "x", "one", True, gives={"task_id": "a", "status": "pending"})
    before = watched.judge.lockstep.witnessed()
    made = watched.call("create_task", "x", "two", True, gives={"task_id": "b", "status": "pending"})
    asked = watched.call("batch_status", "one", gives={"complete": True})
    finding = watched.group(made, asked)
    assert finding is not None
    assert finding.kind == "order"
    assert watched.judge.lockstep.witnessed() == before


def test_looking_witnesses_nothing() -> None:
    watched = Watched(PROGRESS)
    before = watched.judge.lockstep.witnessed()
    assert watched.judge.lockstep.decision("batch_status", {"batch": "nobody's"}).refuse
    assert watched.judge.model.fork().witnessed() == frozenset()
    assert watched.judge.lockstep.witnessed() == before
