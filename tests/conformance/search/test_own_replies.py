"""A caller goes on with what its own call gave, while another one is under way."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.counterexample import shrunk
from conformance.judge import BrokenCalls
from conformance.references.background_tasks import BackgroundTasks, TaskTable
from conformance.references.thread_job import ThreadJobs
from conformance.search import Driver, Faults, clashes, meetings, pairs
from conformance.search.own_replies import BEFORE_IT, OwnReplies, filled_in
from statemachines.compile import load
from statemachines.rows import Given, Observed
from tests.checking import compile_text
from tests.conformance.systems import adapted, thread_job


class WaitsForWhatRuns(BackgroundTasks):
    """Waits for one of the tasks that run when it begins: what is spawned later wakes nobody."""

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        bodies = [row.supervisor for row in table.rows.values() if row.status == "running" and row.supervisor]
        if bodies:
            await asyncio.wait(bodies, timeout=ms / 1000, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(ms / 1000)
        return self._take_permit(table)

    def _wake(self, table: TaskTable) -> None:
        table.permit = True


def searched(system: Any, number: int) -> Faults:
    compiled = load("background-tasks")
    with adapted(system, compiled) as adapter:
        faults = Faults(BrokenCalls(adapter))
        pairs.search(compiled, adapter, number, USUAL, after=lambda driver: None, faults=faults)
    return faults


def test_who_waits_only_for_what_ran_when_it_began_is_found() -> None:
    assert any(searched(WaitsForWhatRuns, number).first for number in range(6))


def test_it_is_not_found_where_nobody_goes_on_with_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOES_ON_WITH_ITS_OWN", "GOES_ON_THOUGH_IT_MATTERS"):
        monkeypatch.setattr(meetings, name, 0.0)
    assert not any(searched(WaitsForWhatRuns, number).first for number in range(3))


@pytest.mark.thorough
def test_its_counterexample_makes_both_calls_of_one_caller() -> None:
    rows = []
    for number in range(6):
        first = searched(WaitsForWhatRuns, number).first
        with adapted(WaitsForWhatRuns, load("background-tasks")) as adapter:
            if first is not None:
                first.case.adapter = adapter
                found = shrunk(first.case, rounds=40, wanted=[first.finding])
                rows += [found.row] if found is not None else []
    assert any("[spawn('x')].map(task, finish(task.task_id, " in row for row in rows), "\n".join(rows)


START: clashes.Asked = ("start", {"thread": "t1", "tool_call": "a", "tool": "bash"})
BOUNDARY: clashes.Asked = ("turn_boundary", {"thread": "t1"})


def going_on(*calls: clashes.Asked, tries: int = 60) -> Counter[tuple[int, str, str]]:
    """What follows calls at once, and how often: of which caller, which operation, and about what."""
    compiled, found = thread_job(), Counter[tuple[int, str, str]]()
    with adapted(ThreadJobs, compiled) as adapter:
        driver = Driver(compiled, adapter)
        own = OwnReplies(compiled, compiled.kernel.operations, random.Random(0))
        one, other = calls
        for _ in range(tries):
            going = own.going_on(driver, (one, other))
            if going is not None:
                caller, (operation, given) = going
                found.update(
                    (caller, operation, name) for name, each in given.items() if each == Given(BEFORE_IT, "job_id")
                )
    return found


def test_a_caller_goes_on_with_what_matters_to_the_other() -> None:
    """At a boundary the end of a job that was started meanwhile is told; its progress is not."""
    found = going_on(START, BOUNDARY)
    assert found[0, "finish", "job"] > found.total() / 2
    assert {(caller, name) for caller, _, name in going_on(BOUNDARY, START)} == {(1, "job")}
    beside = going_on(START, ("list_jobs", {"thread": "t2"}))
    assert beside[0, "finish", "job"] < beside.total() / 2, "nothing matters to it"


def test_nobody_goes_on_where_nothing_new_was_given() -> None:
    assert not going_on(BOUNDARY, ("list_jobs", {"thread": "t1"}))


CRATES = """
lifecycle: crates
version: 1
about: What is in a crate is put into another one.
entities:
  Crate:
    id: minted
    fields: {count: {type: int, default: 1}}
operations:
  make:
    create: {Crate: {}}
    gives: {crate_id: crate.id}
  empty:
    takes: {crate: Crate, into: Crate}
    set: {into.count: into.count + crate.count, crate.count: 0}
  counts:
    gives: crates.sortBy(c, c.serial).map(c, c.count)
"""


class Crates:
    """Makes crates."""

    def __init__(self) -> None:
        self.made = 0

    def make(self) -> dict[str, str]:
        self.made += 1
        return {"crate_id": f"crate-{self.made}"}

    def empty(self, crate: str, into: str) -> None: ...

    def counts(self) -> list[int]:
        return [1] * self.made


def test_what_is_about_a_new_record_twice_takes_its_id_twice_out_of_the_reply() -> None:
    compiled = compile_text(CRATES, "crates.yaml")
    make: clashes.Asked = ("make", {})
    with adapted(Crates, compiled) as adapter:
        driver = Driver(compiled, adapter)
        driver.case.call("make", {})
        own = OwnReplies(compiled, compiled.kernel.operations, random.Random(0))
        going = [own.going_on(driver, (make, make)) for _ in range(60)]
        coming = driver.case.judge.model.fork().do("make", {}).value["crate_id"]
    given = [each[1][1] for each in going if each is not None]
    out_of_the_reply = Given(BEFORE_IT, "crate_id")
    assert any([*each.values()].count(out_of_the_reply) == 2 for each in given)
    assert not any(coming in each.values() for each in given), "the system may give another one"


def test_a_call_is_made_with_what_the_one_before_it_has_given() -> None:
    started = Observed("start", {}, {"job_id": "7"})
    wanted = {"job": Given(BEFORE_IT, "job_id"), "outcome": "failed"}
    assert filled_in(wanted, started) == {"job": "7", "outcome": "failed"}
    assert filled_in(wanted, Observed("start", {}, refused="full")) is None
    assert filled_in(wanted, None) is None
    assert filled_in({"outcome": "failed"}, None) == {"outcome": "failed"}
