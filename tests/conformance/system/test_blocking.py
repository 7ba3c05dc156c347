"""A call that blocks on a virtual clock has somebody who moves it, to the millisecond, alone and beside others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.system.adapter import Adapter
from conformance.system.blocking import Clock
from conformance.system.broken import Broken
from conformance.verdict import Verdict
from statemachines.compile import Compiled, load
from tests.conformance.systems import adapted, explained, row_result, whole_run
from tests.right.background_tasks import BlockingTasks

LIMIT = 0.4  # seconds for a call of a wrong system


@pytest.fixture(scope="module")
def tasks() -> Compiled:
    """The life cycle in which a call takes time."""
    return load("background-tasks")


def instants(lasts: int) -> list[int]:
    """All instants that a clock stops at during a call of so many milliseconds that never comes back."""
    moved: list[int] = []
    clock = Clock(moved.append)
    found = []
    with clock.during(lasts):
        while clock.step():
            found.append(clock.milliseconds)
    assert sum(moved) == clock.milliseconds
    return found


@pytest.mark.parametrize("lasts", [1, 2, 3, 20, 1000, 86_400_000])
def test_a_clock_stops_a_millisecond_before_a_call_is_over_when_it_is_and_one_after(lasts: int) -> None:
    found = instants(lasts)
    assert {lasts - 1, lasts, lasts + 1} - {0} <= set(found)
    assert found[0] == 1
    assert len(found) < 100


def test_who_waits_for_the_clock_beside_a_call_goes_on_at_its_own_instant() -> None:
    clock = Clock(lambda ms: None)
    woken: list[int] = []

    def sleep() -> None:
        clock.sleep(7)
        woken.append(clock.milliseconds)

    sleeper = threading.Thread(target=sleep, daemon=True)
    sleeper.start()
    end = time.monotonic() + 10
    while not clock.blocks:
        assert time.monotonic() < end
        sleeper.join(0.001)
    assert clock.step()
    assert clock.milliseconds == 7
    sleeper.join(10)
    assert woken == [7]
    assert not clock.step()


def blocked(adapter: Adapter, timeout: int) -> int:
    """How many milliseconds a wait for nothing takes by the clock of the system."""
    before = adapter.milliseconds
    assert adapter.call("wait_for_completion", {"timeout": timeout}, timeout) is False
    return adapter.milliseconds - before


def test_a_wait_for_nothing_takes_its_time_exactly(tasks: Compiled) -> None:
    with adapted(BlockingTasks, tasks) as adapter:
        adapter.reset()
        assert [blocked(adapter, timeout) for timeout in (1, 2, 20, 1000)] == [1, 2, 20, 1000]


def test_a_wait_beside_others_lasts_until_they_wake_it(tasks: Compiled) -> None:
    with adapted(BlockingTasks, tasks) as adapter:
        for seed in range(6):
            adapter.reset()
            task = adapter.call("spawn", {"label": "x"})["task_id"]

            def later(task: str = task) -> None:
                adapter.call("wait", {"ms": 300})
                adapter.call("finish", {"task": task, "outcome": "completed", "text": ""})

            def wait() -> tuple[bool, int]:
                return adapter.call("wait_for_completion", {"timeout": 1000}, 1000), adapter.milliseconds

            assert adapter.together([wait, later], seed)[0] == (True, 300)


def test_a_clock_that_raises_is_a_crash_of_the_system(tasks: Compiled) -> None:
    class NoClock(BlockingTasks):
        def wait(self, ms: int) -> None:
            raise RuntimeError("no clock")

    with adapted(NoClock, tasks) as adapter:
        adapter.reset()
        with pytest.raises(Broken, match=r"wait\(\) raised RuntimeError: no clock"):
            adapter.call("wait_for_completion", {"timeout": 20}, 20)
        adapter.reset()
        with pytest.raises(Broken, match=r"wait\(\) raised RuntimeError: no clock"):
            adapter.together([lambda: adapter.call("wait_for_completion", {"timeout": 20}, 20)] * 2, 0)


class TooEarly(BlockingTasks):
    """It gives up when half of the time is over."""

    def _allowed(self, timeout: int) -> int:
        return timeout // 2


class AMillisecondEarly(BlockingTasks):
    """It gives up a millisecond before the time is over."""

    def _allowed(self, timeout: int) -> int:
        return timeout - 1


class AMillisecondLate(BlockingTasks):
    """It gives up a millisecond after the time is over."""

    def _allowed(self, timeout: int) -> int:
        return timeout + 1


class InSeconds(BlockingTasks):
    """It takes milliseconds for seconds."""

    def _allowed(self, timeout: int) -> int:
        return timeout * 1000


class NeverGivesUp(BlockingTasks):
    """It looks at no clock."""

    def _block(self, waiter: Any) -> None:
        while not waiter.woken:
            self._moved.wait()


class ClockWakesNobody(BlockingTasks):
    """Who waits does not hear that the clock has moved."""

    def wait(self, ms: int) -> None:
        with self._moved:
            self._now += ms


class MissesWakeUp(BlockingTasks):
    """An ending is remembered for the next one who waits, and wakes nobody who waits already."""

    def _wake(self) -> None:
        self._kept = True


WRONG: list[tuple[type, str, Callable[[str], bool]]] = [
    (TooEarly, "B9", lambda said: "raced[0] == true" in said),
    (AMillisecondEarly, "B9", lambda said: "raced[0] == true" in said),
    (AMillisecondLate, "X8", lambda said: said == "expected it comes back within 20 ms; seen it came back after 21 ms"),
    (InSeconds, "X8", lambda said: "within 20 ms" in said),
    (NeverGivesUp, "X8", lambda said: "did not come back in time" in said),
    (ClockWakesNobody, "X8", lambda said: "did not come back in time" in said),
    (MissesWakeUp, "N5", lambda said: "raced[0] == true" in said or "wait_for_completion → False" in said),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("system", "row", "fits"), WRONG, ids=[system.__name__ for system, _, _ in WRONG])
def test_a_wrong_wait_is_found(tasks: Compiled, system: type, row: str, fits: Callable[[str], bool]) -> None:
    result = row_result(system, row, tasks, limit=LIMIT, shortest=False)
    assert result.verdict is Verdict.FAIL, explained(result)
    assert fits(result.reason), result.reason


@pytest.mark.thorough
@pytest.mark.parametrize("row", ["N5", "X8", "X9", "B9"])
def test_a_right_one_is_left_alone(tasks: Compiled, row: str) -> None:
    result = row_result(BlockingTasks, row, tasks)
    assert result.verdict is Verdict.PASS, explained(result)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_a_right_one_conforms_under_any_seed(tasks: Compiled, seed: int) -> None:
    code, results = whole_run(BlockingTasks, tasks, seed=seed, budget=USUAL.quick())
    assert code == 0, "\n".join(explained(each) for each in results if each.verdict is Verdict.FAIL)
