"""Walks that the model steers: they come to more than walks that nobody steers, and repeat what a system may forget."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge import BrokenCalls
from conformance.references.task_progress import DelegatedTask, TaskProgress
from conformance.references.thread_job import Reply, ThreadJobs
from conformance.search import ahead, stateful, walks
from conformance.search.ahead import Ahead, ahead_of
from conformance.search.faults import Faults
from conformance.search.records import Story
from conformance.search.situations import Situations
from conformance.search.stateful import Driver
from statemachines.compile import Compiled, load
from statemachines.explore import Instants
from statemachines.model import Restless
from statemachines.rows import Observed
from tests.conformance.lifecycles import SUITES
from tests.conformance.search.searching import searched
from tests.conformance.systems import REFERENCE, adapted, thread_job
from tests.faulty.thread_job.derived import RemembersFiftyCalls

FEW = replace(USUAL, walks=10)


def situations_met(monkeypatch: pytest.MonkeyPatch, compiled: Compiled, system: Any, ways: int) -> int:
    """How many situations ten walks come to that choose between so many ways to go on."""
    monkeypatch.setattr(ahead, "WAYS", ways)
    monkeypatch.setattr(walks, "AS_PLANNED", 0.0)  # who goes as planned comes to as much
    kept: list[Situations] = []

    class Kept(Situations):
        def __init__(self, compiled: Compiled, *, wide: bool = False) -> None:
            super().__init__(compiled, wide=wide)
            kept.append(self)

    monkeypatch.setattr(walks, "Situations", Kept)
    with adapted(system, compiled) as adapter:
        walks.search(compiled, adapter, 0, FEW, after=lambda driver: None, faults=Faults(BrokenCalls(adapter)))
    narrow, wide, _ = kept  # the last one is that of the plan
    assert len(wide.met) > len(narrow.met)
    return len(narrow.met)


@pytest.mark.parametrize("name", ["thread-job", "task-progress"])
def test_who_looks_ahead_comes_to_more(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    suite = SUITES[name]
    steered, unsteered = (situations_met(monkeypatch, suite.compiled, suite.reference, ways) for ways in (8, 1))
    assert steered > 1.1 * unsteered


class ForgetsFifty(ThreadJobs):
    """A call that was resolved is forgotten when fifty others were since."""

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        with self._locked():
            for old in [*self._calls][:-50]:
                del self._calls[old]
            return super().complete_inline(thread, tool_call, tool, result)


@pytest.mark.thorough
def test_what_only_many_calls_show_is_found() -> None:
    assert any(searched(walks.search, ForgetsFifty, seed, USUAL)[0] is not None for seed in range(4))


class SameSummaryIsSilent(TaskProgress):
    """Nobody is told of a summary that is the one that was told last."""

    _last: str | None = None

    def _announce(self, task: DelegatedTask) -> None:
        if task.summary != self._last:
            self._last = task.summary if self._subscribed else self._last
            super()._announce(task)


class FirstTwoOfBatch(TaskProgress):
    """A batch is what becomes of the first two tasks of it."""

    def _tasks_of(self, batch: str) -> list[DelegatedTask]:
        return super()._tasks_of(batch)[:2]


@pytest.mark.thorough
@pytest.mark.parametrize("system", [SameSummaryIsSilent, FirstTwoOfBatch])
def test_what_takes_the_same_value_again_or_a_third_of_a_group_is_found_as_often_as_not(system: type) -> None:
    task_progress, forty = load("task-progress"), replace(USUAL, walks=40)

    def found(number: int) -> bool:
        with adapted(system, task_progress) as adapter:
            faults = Faults(BrokenCalls(adapter))
            walks.search(task_progress, adapter, number, forty, after=lambda driver: None, faults=faults)
            return bool(faults.found)

    assert sum(map(found, range(16))) >= 8


class OddIds(ThreadJobs):
    """Gives ids that nobody could foresee."""

    def _mint_id(self) -> str:
        return f"job-{random.Random(self._starts).getrandbits(64):x}"


def test_what_was_planned_about_a_new_record_is_done_with_the_id_that_it_got() -> None:
    diverged, cases = searched(walks.search, OddIds, 0, FEW)
    assert diverged is None
    calls = [call for case in cases for call in case.without_looks if getattr(call, "operation", "") == "finish"]
    known = [call for call in calls if call.refused != "not_found"]  # type: ignore[union-attr]  # calls, as asked above
    assert len(known) > 0.6 * len(calls) > 5


def planner(system: type = REFERENCE) -> Iterable[tuple[Driver, Ahead]]:
    with adapted(system) as adapter:
        driver = Driver(thread_job(), adapter)
        situations = Situations(thread_job())
        yield (
            driver,
            Ahead(driver, situations, Instants(thread_job()), random.Random(0), ["start", "finish"], [1.0, 1.0]),
        )


def test_looking_ahead_changes_nothing() -> None:
    for driver, planned in planner():
        model = driver.case.judge.model
        before, seen, story = model.freeze(), bytes(model.seen), Story()
        assert planned.best(story)
        assert (model.freeze(), bytes(model.seen), story) == (before, seen, Story())
        assert not planned.situations.met


def test_what_was_come_to_is_worth_less() -> None:
    for driver, planned in planner():
        start = {"thread": "t1", "tool_call": "c", "tool": "bash"}
        found = planned.thought(driver.case.judge.model.fork(), "start", start, Story())
        assert found is not None
        first = planned.situations.worth(found)
        planned.situations.note(found)
        assert planned.situations.worth(found) == pytest.approx(first / 4)


def test_what_records_become_unnamed_is_a_situation_and_what_was_refused_is_remembered() -> None:
    compiled = load("job")
    model: Any = compiled.model()
    situations, story = Situations(compiled), Story()
    given = {"type": "bash", "label": "x", "id": "alice", "owner": None}
    for _ in range(2):  # the second time the id is taken
        situations.of(model, "register", given, model.decide("register", given), story)
        model.do("register", given)
    assert [label[0] for label in story.last["alice"] if isinstance(label, tuple)] == ["register", "register"]
    assert situations.names_none("cancel_all")
    assert not situations.names_none("cancel")
    before = situations.standing(model)
    model.do("cancel_all", {"owner": None})
    model.settle()
    found = situations.became(before, model, "cancel_all", story)
    assert {what[:3] for _, what in found} >= {("became", "cancel_all", "Job")}
    assert not situations.became(situations.standing(model), model, "cancel_all", story)


def test_what_follows_a_call_that_was_made_twice_is_a_situation() -> None:
    compiled = load("job")
    model: Any = compiled.model()
    situations, story = Situations(compiled), Story()

    def met(operation: str, **given: Any) -> set[Any]:
        found = situations.of(model, operation, given, model.decide(operation, given), story)
        return {what[1] for _, what in found if what[0] == "after twice"}

    register = {"type": "bash", "label": "x", "id": None, "owner": "alice"}
    assert [met("cancel_all", owner="alice"), met("cancel_all", owner="alice")] == [set(), set()]
    assert len(met("register", **register)) == 1
    assert met("cancel_all", owner="alice") == set()


def test_a_call_about_many_records_is_worth_no_more_than_one_about_few() -> None:
    situations = Situations(load("job"))
    few: list[Any] = [(2.0, ("kin", 1)), (1.0, ("counts", 1))]
    assert situations.worth([*few, (2.0, ("kin", 2)), (2.0, ("kin", 3))]) == situations.worth(few) == 3.0


def test_what_a_call_meets_is_a_situation_and_many_of_it_count_as_one() -> None:
    compiled = load("job")
    model: Any = compiled.model()
    situations = Situations(compiled)
    for name in "abc":
        model.do("register", {"type": "bash", "label": name, "id": None, "owner": None})
    model.do("cancel", {"job": next(iter(model.jobs))})
    given = {"owner": None}
    found = situations.of(model, "cancel_all", given, model.decide("cancel_all", given), Story())
    met = [(weight, what) for weight, what in found if what[0] == "holds"]
    assert {what[2:] for _, what in met} >= {("Job", "running"), ("Job", "cancelled"), ("sink_is", "accept")}
    assert situations.worth(met) == 2.0


@pytest.mark.parametrize(("chosen", "told"), [(5_000, 5_000), (60_000, 60_000), (4_999, "another"), (7, "another")])
def test_a_setting_is_another_one_where_a_rule_compares_it_with_its_number(chosen: int, told: Any) -> None:
    """A poll waits for one of five times; of what is none of these it is all the same which it is."""
    compiled = load("job")
    model: Any = compiled.model()
    situations = Situations(compiled)
    model.do("configure", {"max_running": 2, "retention_ms": 9, "poll_wait": chosen})
    given = {"owner": None}
    found = situations.of(model, "cancel_all", given, model.decide("cancel_all", given), Story())
    assert {what[2:] for _, what in found if what[0] == "holds"} == {
        ("sink_is", "accept"),
        ("disposed", False),
        ("poll_wait", told),
    }
    assert ("poll_wait", told) in situations.features(model)


def test_a_situation_is_another_beside_other_records_and_after_another_call() -> None:
    for driver, planned in planner():
        model: Any = driver.case.judge.model.fork()
        story = Story()

        def met(operation: str, **given: Any) -> set[Any]:
            found = planned.thought(model, operation, given, story)  # noqa: B023 - called within the loop alone
            assert found is not None
            return {what for _, what in found}

        met("start", thread="t1", tool_call="a", tool="bash")
        one = met("start", thread="t1", tool_call="b", tool="bash")
        first, second = model.jobs
        ended = met("finish", job=first, outcome="completed", payload="x")
        again = met("finish", job=first, outcome="completed", payload="x")
        other = met("finish", job=second, outcome="completed", payload="x")
        assert one
        assert ended - again
        assert ended - other


def test_what_happened_to_the_kin_of_a_record_makes_a_situation_another() -> None:
    """A body, which `settle` names, is of a job, which `watch` names."""
    suite = SUITES["job"]
    compiled = suite.compiled

    def settled(*before: str) -> set[Any]:
        model: Any = compiled.model()
        situations, story = Situations(compiled), Story()
        model.do("register", {"type": "bash", "label": "x", "id": None, "owner": None})
        (job,), (body,) = model.jobs, model.bodies
        given: dict[str, Any] = {"jobs": [job]}
        for operation in before:
            situations.of(model, operation, given, model.decide(operation, given), story)
            model.do(operation, given)
        given = {"handle": body, "outcome": "ok", "text": "x"}
        found = situations.of(model, "settle", given, model.decide("settle", given), story)
        return {what for _, what in found if what[0] == "kin"}

    assert settled()
    assert (
        len({frozenset(settled(*before)) for before in ((), ("watch",), ("watch", "unwatch"), ("acknowledge",))}) == 4
    )


def test_what_names_a_list_of_records_is_called_as_often_as_what_names_one() -> None:
    usual = {each.name: ahead.usual(each) for each in SUITES["job"].compiled.kernel.operations}
    assert usual["watch"] == usual["acknowledge"] == usual["cancel"] == 1
    assert usual["cancel_all"] == usual["dispose"] == ahead.SELDOM


def test_a_walk_leaves_out_most_of_the_arguments_that_it_seldom_gives() -> None:
    suite = SUITES["job"]
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        situations, instants = Situations(suite.compiled), Instants(suite.compiled)

        def given(*seldom: tuple[str, str]) -> int:
            look = Ahead(driver, situations, instants, random.Random(0), ["tool"], [1.0], seldom=seldom)
            drawn = [look.arguments(driver.case.judge.model, "tool") or {} for _ in range(200)]
            return sum("owner" in each for each in drawn)

        assert 0 < given(("tool", "owner")) < given() / 3
        assert given(("cancel", "owner")) == given()


def test_an_argument_that_excludes_others_is_given_alone_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = SUITES["job"]

    def listed(alone: float) -> int:
        """How often all jobs are asked for, which nobody may together with some of them."""
        monkeypatch.setattr(ahead, "ALONE", alone)
        monkeypatch.setattr(ahead, "SELDOM_GIVEN", 0.0)
        with adapted(suite.reference, suite.compiled) as adapter:
            driver = Driver(suite.compiled, adapter)
            driver.make("register", {"type": "bash", "label": "x"})
            look, model = ahead_of(driver, Situations(suite.compiled), random.Random(0)), driver.case.judge.model
            drawn = [look.arguments(model, "tool") or {} for _ in range(400)]
        return sum(each.get("list") is True and not each.keys() & {"poll", "cancel"} for each in drawn)

    assert listed(ahead.ALONE) > 2 * listed(0.0)


def test_what_goes_on_about_one_record_names_it_or_its_kin() -> None:
    suite = SUITES["job"]
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        for label in "xyz":
            driver.make("register", {"type": "bash", "label": label})
        model: Any = driver.case.judge.model
        look = Ahead(driver, Situations(suite.compiled), Instants(suite.compiled), random.Random(0), ["settle"], [1.0])
        job = next(iter(model.jobs.values()))

        def named(operation: str, one: str) -> set[str]:
            drawn = [look.arguments(model, operation, one) or {} for _ in range(50)]
            return {str(value) for each in drawn for name, value in each.items() if name in ("handle", "job", "jobs")}

        assert named("settle", job.id) == {job.body.id}
        assert named("cancel", job.body.id) - {"None"} == {job.id}
        assert f"['{job.id}']" in named("watch", job.id)
        assert len(named("settle", "")) > 2


def test_in_half_of_the_ways_all_calls_are_about_one_record(monkeypatch: pytest.MonkeyPatch) -> None:
    suite, bodies = SUITES["job"], dict[float, list[set[str]]]()
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        for label in "xyzxyz":
            driver.make("register", {"type": "bash", "label": label})
        model = driver.case.judge.model
        for share in (0.0, 1.0):
            monkeypatch.setattr(ahead, "ABOUT_ONE", share)
            monkeypatch.setattr(ahead, "ANYHOW", 1.0)
            look = Ahead(
                driver, Situations(suite.compiled), Instants(suite.compiled), random.Random(0), ["settle"], [1.0]
            )
            ways = [look._tried(model.fork(), Story()).calls for _ in range(20)]
            bodies[share] = [{each.arguments["handle"] for each in way} for way in ways]
    assert all(len(each) == 1 for each in bodies[1.0])
    assert sum(len(each) > 1 for each in bodies[0.0]) > 10


def test_the_records_that_a_record_belongs_to_are_known_by_their_ids() -> None:
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        driver.make("start", {"thread": "t2", "tool_call": "c", "tool": "bash"})
        (job,) = driver.case.judge.model.jobs  # type: ignore[attr-defined]  # a model of thread-job has them
        assert Situations(thread_job()).related(driver.case.judge.model, job) == {"Job": [job], "Thread": ["t2"]}


def test_no_walk_goes_where_too_much_may_come_unasked() -> None:
    suite = SUITES["job"]
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        look = Ahead(
            driver, Situations(suite.compiled), Instants(suite.compiled), random.Random(0), ["register"], [1.0]
        )
        model: Any = driver.case.judge.model.fork()
        story = Story()
        retention = vars(model.limits)["retention"]
        for _ in range(8):
            given = {"type": "bash", "label": "x"}
            assert look.thought(model, "register", given, story) is not None
        for each in [*model.jobs]:
            model.do("settle", {"handle": model.jobs[each].body.id, "outcome": "ok", "text": "x"})
            model.settle()
        assert look.thought(model.fork(), "wait", {"ms": retention - 1}, story) is not None
        assert look.thought(model.fork(), "wait", {"ms": retention}, story) is None


def test_a_model_that_never_rests_is_no_way_to_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def restless(*_: Any) -> Any:
        raise Restless

    for driver, planned in planner():
        monkeypatch.setattr(Situations, "of", restless)
        start = {"thread": "t1", "tool_call": "c", "tool": "bash"}
        assert planned.thought(driver.case.judge.model.fork(), "start", start, Story()) is None
        assert planned.best(Story()) == []


def test_what_is_made_many_times_over_is_about_what_is_new_each_time_and_the_same_within_one() -> None:
    suite = SUITES["task-progress"]
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        walk = walks.SteeredWalk(suite.compiled, driver, Situations(suite.compiled), random.Random(0))
        assert walk._make("create_task", {"label": "a", "batch": "first"})
        assert walk._make("start", {"task": next(iter(walk._situations.ids(driver.case.judge.model)["Task"]))})
        assert walk._make("batch_status", {"batch": "first"})
        made = [*walk._made]
        walk._flood(made, 3)
    calls = [call for call in driver.case.without_looks if isinstance(call, Observed)][len(made) :]
    rounds = [calls[first : first + len(made)] for first in range(0, len(calls), len(made))]
    assert len(rounds) == 3
    for create, start, status in rounds:
        assert create.arguments["batch"] == status.arguments["batch"]
        assert start.arguments["task"] == create.given["task_id"]
    assert len({create.arguments["batch"] for create, _, _ in rounds}) == 3


def test_after_the_same_many_times_over_the_first_call_comes_again_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, chosen in {
        "REPEATED": 0.0,
        "FLOODS": 1.0,
        "AFTER_FLOOD": 1.0,
        "FLOODED": (10,),
        "MOST_FLOODED": 1,
    }.items():
        monkeypatch.setattr(walks, name, chosen)
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        walk = walks.SteeredWalk(thread_job(), driver, Situations(thread_job()), random.Random(0))
        first = {"thread": "t1", "tool_call": "c", "tool": "bash"}
        assert walk._make("start", first)
        walk._go_idly()
    starts = [call.arguments["tool_call"] for call in driver.case.calls if call.operation == "start"]
    assert starts[0] == starts[-1] == "c"
    assert len(starts) == len({*starts}) + 1 == 12


@pytest.mark.thorough
def test_walks_find_what_shows_only_long_after() -> None:
    found = [searched(walks.search, RemembersFiftyCalls, seed, USUAL)[0] for seed in range(3)]
    assert sum(each is not None for each in found) >= 2


def test_some_calls_are_made_with_nothing_in_all_that_may_hold_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = SUITES["local-agent"]
    with adapted(suite.reference, suite.compiled) as adapter:
        driver = Driver(suite.compiled, adapter)
        driver.make("start_background_session", {"messages": [], "description": "x"})
        monkeypatch.setattr(stateful, "NOTHING", 1.0)
        drawn = [*itertools.islice(driver.draws_for(driver.case.judge.model, "progress", random.Random(0)), 20)]
        emptied = [{name: value for name, value in each.items() if name != "task"} for each in drawn if each]
        assert emptied == [{"tool_uses": 0, "tokens": 0, "activities": []}] * 20
