"""Ways that are planned on the model: they lead to what lies deep, with the ids that a system gives, and cases go them."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from conformance.search import plans, walks
from conformance.search.ahead import Ahead, Intended, ahead_of
from conformance.search.plans import LONGEST_WAY, PlannedWay, as_given, chosen, planned
from conformance.search.situations import Situations
from conformance.search.stateful import Driver
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import REFERENCE, adapted, thread_job

JOB = SUITES["job"]


@contextmanager
def begun(seed: int = 0) -> Iterator[tuple[Driver, Situations, list[PlannedWay]]]:
    """A case of job in which nothing has been done, and ways that were planned from there."""
    with adapted(JOB.reference, JOB.compiled) as adapter:
        driver, situations = Driver(JOB.compiled, adapter), Situations(JOB.compiled)
        yield driver, situations, planned(ahead_of(driver, situations, random.Random(seed)), 4_000)


def holds(operation: str, entity: str, state: str) -> Callable[[PlannedWay], bool]:
    """Whether a way ends with an operation that is carried out while there is such a record."""

    def comes(what: tuple[Any, ...]) -> bool:
        return what[0] == "holds" and what[1][:2] == (operation, "ok") and what[2:] == (entity, state)

    return lambda way: any(comes(what) for _, what in way.goals)


def test_ways_lead_to_what_takes_several_calls_that_are_nothing_new_each() -> None:
    """A delivery is in flight where the sink blocks, and a job has ended then: what fails or drops it comes last."""
    with begun() as (driver, situations, ways):
        before = driver.case.judge.model.freeze()
        for operation in ("refuse_sink", "release_sink", "acknowledge"):
            way = next(filter(holds(operation, "Delivery", "in_flight"), ways))
            assert way.calls[-1].operation == operation
            assert {"sink", "settle"} <= {each.operation for each in way.calls[:-1]}
            assert len(way.calls) <= LONGEST_WAY
        assert driver.case.judge.model.freeze() == before
        assert not driver.case.calls
        assert not situations.met


def test_each_situation_has_one_way() -> None:
    with begun() as (_, _, ways):
        goals = [what for way in ways for _, what in way.goals]
        assert len(goals) == len({*goals}) > 500
        assert {what[0] for what in goals} == {*plans.GOALS}
        assert all(way.goals for way in ways)


def test_of_several_ways_to_a_situation_the_shortest_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call comes to the same situation: the first one alone is as short as any."""
    with adapted(REFERENCE) as adapter:
        driver, situations = Driver(thread_job(), adapter), Situations(thread_job())
        ahead, numbers = ahead_of(driver, situations, random.Random(0)), itertools.count()

        def call(*_: Any) -> tuple[str, dict[str, str]]:
            return "start", {"thread": "t1", "tool": "bash", "tool_call": f"c{next(numbers)}"}

        met: dict[int, list[Any]] = {}  # by how many jobs there are: three come to what two come to, and one

        def thought(self: Ahead, model: Any, operation: str, arguments: dict[str, Any], story: Any) -> list[Any]:
            model.do(operation, arguments)
            return met.get(len(model.jobs), [(1.0, ("holds", "many"))])

        monkeypatch.setattr(Ahead, "call", call)
        monkeypatch.setattr(Ahead, "thought", thought)
        monkeypatch.setattr(plans, "PLACES_LOOKED_AT", 1)
        ways = planned(ahead, 40)
        assert [len(way.calls) for way in ways] == [1]
        met[1] = [(1.0, ("holds", "one"))]
        assert sorted(len(way.calls) for way in planned(ahead, 40)) == [1, 2]


def test_more_is_found_from_places_that_were_tried_least_and_lie_near(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(places: int) -> int:
        monkeypatch.setattr(plans, "PLACES_LOOKED_AT", places)  # with one it is any place
        goals = 0
        for seed in range(3):
            with begun(seed) as (_, _, ways):
                goals += sum(len(way.goals) for way in ways)
        return goals

    assert found(plans.PLACES_LOOKED_AT) > 1.04 * found(1)


PLAN = """
import random
from tests.conformance.search.test_plans import begun
with begun(int({seed})) as (_, _, ways):
    print([([(each.operation, each.arguments) for each in way.calls], [what[0] for _, what in way.goals]) for way in ways])
"""


def test_the_same_ways_are_planned_under_the_same_seed_in_every_process() -> None:
    def told(seed: int, hashes: str) -> str:
        words = [sys.executable, "-c", PLAN.format(seed=seed)]
        env = {**os.environ, "PYTHONHASHSEED": hashes}
        return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout

    assert told(1, "1") == told(1, "2") != told(2, "1")


def test_a_way_is_gone_with_new_names_where_its_own_are_taken() -> None:
    """The same name in two calls of a way stays the same; who looks ahead may take a name on purpose."""
    start = {"thread": "t1", "tool_call": "c", "tool": "bash"}
    way = [Intended("start", start, {}), Intended("start", start, {})]
    for anew in (True, False):
        with adapted(REFERENCE) as adapter:
            driver = Driver(thread_job(), adapter)
            walk = walks.SteeredWalk(thread_job(), driver, Situations(thread_job()), random.Random(0))
            assert walk._make("start", start)
            walk._play(way, anew=anew)
            first, second, third = (call for call in driver.case.calls if call.operation == "start")
            assert (second.refused is None) == anew
            assert second.arguments == third.arguments
            assert (second.arguments != first.arguments) == anew


def test_a_way_that_few_cases_have_come_to_is_chosen() -> None:
    situations, chooser = Situations(thread_job()), random.Random(0)
    some: list[Any] = [PlannedWay([], [(2.0, ("holds", number))]) for number in range(5)]
    for each in some[1:]:
        situations.note(each.goals)
    assert chosen(some, situations, chooser) is some[0]
    assert chosen([], situations, chooser) is None


def test_a_way_is_gone_with_the_ids_that_the_system_gives() -> None:
    """Another job has here the id that the first one of the way had on the model."""
    situations = Situations(thread_job())
    start = {"thread": "t1", "tool_call": "c", "tool": "bash"}
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        driver.make("start", {"thread": "t2", "tool_call": "other", "tool": "bash"})
        job = driver.case.calls[0].given["job_id"]
        cancel = {"thread": "t1", "job": job, "actor": "user"}
        way = [Intended("start", start, {"Job": [job]}), Intended("request_cancel", cancel, {})]
        nested = Intended("emit", {"jobs": [job, "other"], "of": {"job": job}}, {})
        for operation, arguments in as_given([*way, nested], lambda: situations.ids(driver.case.judge.model)):
            if operation == "emit":
                got = driver.case.calls[1].given["job_id"]
                assert arguments == {"jobs": [got, "other"], "of": {"job": got}}
                continue
            driver.make(operation, arguments)
        _, started, cancelled = driver.case.calls
        assert cancelled.arguments["job"] == started.given["job_id"] != job
        assert cancelled.refused is None


@pytest.mark.parametrize("waits", [0, 2])
def test_a_walk_goes_as_planned_and_lets_time_pass(waits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails while it is in flight is tried again when time has passed, and once more later."""
    monkeypatch.setattr(walks, "AS_PLANNED", 1.0)
    monkeypatch.setattr(walks, "THEN_WAITS", 0.99 if waits else 0.0)  # some timers never end
    with begun() as (driver, situations, ways):
        way = next(filter(holds("refuse_sink", "Delivery", "in_flight"), ways))
        walk = walks.SteeredWalk(JOB.compiled, driver, situations, random.Random(0), [way])
        before = situations.worth(way.goals)
        walk._go(1)
        made = [call.operation for call in walk._made]
        assert made[: len(way.calls)] == [each.operation for each in way.calls]
        assert situations.worth(way.goals) < before
        assert made[len(way.calls) :].count("wait") >= waits
        assert waits or len(made) == len(way.calls)
