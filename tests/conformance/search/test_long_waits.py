"""A search has a call wait long only where the spec lets it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge import BrokenCalls
from conformance.judge.history import History
from conformance.references.background_tasks import BackgroundTasks, TaskTable
from conformance.search import Faults, pairs
from conformance.search.odd_values import LONG_WAIT, waits_long
from conformance.search.stateful import Driver
from statemachines.compile import load
from tests.checking import compile_text
from tests.conformance.judge.test_passing import LENT
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import adapted
from tests.faulty.background_tasks.waiting import QueueKeepsFromWaking, WaitersFindThePermitAtTheEnd

ROW = """
matrix:
  N1:
    about: Who waits for a book that is there has it.
    level: must
    source: the library
    covers: [operations.lend]
    act: [lend(), wait_for_one({ms})]
    assert: shelf().size() == 1
"""


@pytest.mark.parametrize(
    ("kind", "given", "long"),
    [
        ("int", 5, True),
        ("{from: 1, to: 20}", 5, False),
        ("{from: 1, to: 999}", 5, False),
        ("{from: 1, to: 1000}", 5, True),
        ("{from: 1001, to: 2000}", 1500, False),
        ("{from: 1, to: 20}", 1500, True),  # so 20 is only as far as values are drawn
        ("{from: 1, to: 20}", 999, False),
    ],
)
def test_a_call_waits_long_where_its_type_or_a_row_says_so(kind: str, given: int, long: bool) -> None:
    text = LENT.replace("timeout: int", f"timeout: {kind}") + ROW.replace("{ms}", f"{given} + 0")
    assert waits_long(compile_text(text, "lent.yaml")) == ({("wait_for_one", "timeout")} if long else set())
    assert LONG_WAIT == 1000


def test_the_shipped_call_that_waits_may_wait_long() -> None:
    assert waits_long(load("background-tasks")) == {("wait_for_completion", "timeout")}


def test_what_no_spec_says_may_wait_long_does_not() -> None:
    assert not waits_long(load("thread-job"))


def test_a_row_that_is_only_recommended_makes_no_bound_wider() -> None:
    text = LENT.replace("timeout: int", "timeout: {from: 1, to: 20}") + ROW.replace("{ms}", "1500")
    assert waits_long(compile_text(text, "lent.yaml"))
    assert not waits_long(compile_text(text.replace("level: must", "level: should"), "lent.yaml"))


def paired(system: Any, number: int) -> tuple[bool, list[Driver]]:
    """Whether calls of background-tasks that were made at once showed something wrong, and the cases."""
    compiled, drivers = load("background-tasks"), list[Driver]()
    with adapted(system, compiled) as adapter:
        faults = Faults(BrokenCalls(adapter))
        pairs.search(compiled, adapter, number, USUAL, after=drivers.append, faults=faults)
    return faults.first is not None, drivers


def test_who_is_woken_only_when_the_time_is_over_is_found() -> None:
    assert all(paired(WaitersFindThePermitAtTheEnd, number)[0] for number in range(8))


def test_who_is_not_woken_where_something_waits_to_be_drained_is_found_from_some_seeds() -> None:
    """It takes one that waits again: the first completion that nobody drains wakes whoever waits then."""
    assert sum(paired(QueueKeepsFromWaking, number)[0] for number in range(6)) >= 2


class WokenOnlyAtFirst(BackgroundTasks):
    """Who has waited for 100 ms looks for a permit only when its time is over."""

    async def _wait(self, table: TaskTable, ms: int) -> bool:
        if await super()._wait(table, min(ms, 100)):
            return True
        await asyncio.sleep(max(0, ms - 100) / 1000)
        return self._take_permit(table)


def test_what_ends_a_wait_comes_later_too() -> None:
    assert any(paired(WokenOnlyAtFirst, number)[0] for number in range(5))


def waiting_met(drivers: list[Driver]) -> Iterator[tuple[int, int]]:
    """Walk the meetings in which a call waits for long: how many such calls its case made before, and of how many calls it is."""
    for driver in drivers:
        before = 0
        for step in (each for each in driver.case.trace if isinstance(each, History)):
            long = [call for call in step.calls if call.arguments.get("timeout") == LONG_WAIT]
            yield from [(before, len(step.calls))] * bool(long)
            before += bool(long)


def test_calls_that_wait_for_a_time_meet_others_and_wait_again() -> None:
    searches = [paired(SUITES["background-tasks"].reference, number) for number in range(3)]
    met = [each for _, drivers in searches for each in waiting_met(drivers)]
    assert not any(found for found, _ in searches)
    assert len(met) > 90
    assert sum(before > 0 for before, _ in met) > 60
    assert sum(calls > 2 for _, calls in met) > 24, "another one often waits beside it"
