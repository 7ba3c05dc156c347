"""Ways that are planned on the model: they lead to what lies deep, with the ids that a system gives, and cases go them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge import BrokenCalls
from conformance.search import plans, walks
from conformance.search.ahead import Intended, ahead_of
from conformance.search.faults import Faults
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
        yield driver, situations, planned(ahead_of(driver, situations, random.Random(seed)))


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


def test_the_same_ways_are_planned_under_the_same_seed() -> None:
    def told(seed: int) -> list[Any]:
        with begun(seed) as (_, _, ways):
            return [[each.operation for each in way.calls] for way in ways]

    assert told(1) == told(1) != told(2)


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
        for operation, arguments in as_given(way, lambda: situations.ids(driver.case.judge.model)):
            driver.make(operation, arguments)
        _, started, cancelled = driver.case.calls
        assert cancelled.arguments["job"] == started.given["job_id"] != job
        assert cancelled.refused is None


UNDERWAY = {"queued", "in_flight", "backing_off"}


def test_walks_come_to_more_where_they_go_as_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """More is done while a delivery is under way, which the next few calls seldom lead to."""

    def came_to(share: float) -> int:
        monkeypatch.setattr(walks, "AS_PLANNED", share)
        came = set[tuple[str, str]]()

        class Watching(Driver):
            def make(self, operation: str, arguments: dict[str, Any]) -> None:
                model: Any = self.case.judge.model
                came.update((operation, each.state) for each in model.deliveries.values() if each.state in UNDERWAY)
                super().make(operation, arguments)

        monkeypatch.setattr(walks, "Driver", Watching)
        with adapted(JOB.reference, JOB.compiled) as adapter:
            faults = Faults(BrokenCalls(adapter))
            walks.search(JOB.compiled, adapter, 0, replace(USUAL, walks=12), after=lambda _: None, faults=faults)
        return len(came)

    assert came_to(walks.AS_PLANNED) > 1.3 * came_to(0.0)
