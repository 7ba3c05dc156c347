"""What runs on an event loop after its case is over comes to its end with the case."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import pytest

from conformance.references.job import Jobs
from conformance.references.job_delivery import Reply
from conformance.system import Broken
from conformance.system.event_loop import Loop
from conformance.system.interleaving import Gate
from statemachines.compile import load
from tests.conformance.systems import adapted

ENOUGH = 10  # seconds, on whatever machine


class SpinsOn(Jobs):
    """Two tasks never rest, the second from when the first is ended: behind the answer of `dispose`, and in `cancel_all`."""

    close = None  # type: ignore[assignment]  # nobody is asked to end it

    async def dispose(self) -> None:
        await super().dispose()
        for _ in range(2):
            spin(after=10)

    async def cancel_all(self, owner: str | None = None) -> None:
        for _ in range(2):
            spin(after=1)
        await asyncio.Event().wait()


def spin(after: int) -> None:
    """Spin for ever, so many turns of the loop from now."""
    if after:
        asyncio.get_running_loop().call_soon(spin, after - 1)
    while not after:
        pass


@pytest.mark.parametrize("operation", ["dispose", "cancel_all"])
def test_what_spins_in_a_case_ends_with_it(operation: str) -> None:
    before = {*threading.enumerate()}
    with adapted(SpinsOn, load("job"), limit=0.2) as adapter:
        adapter.reset()
        with contextlib.suppress(Broken):
            adapter.call(operation, {})
        adapter.reset()
    left = {*threading.enumerate()} - before
    for thread in left:
        thread.join(ENOUGH)
    assert not any(each.is_alive() for each in left)


@pytest.mark.parametrize("virtual", [False, True])
def test_a_loop_whose_tasks_rest_is_closed_and_they_are_cancelled(virtual: bool) -> None:
    told: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            told.append("cancelled")

    async def starts() -> None:
        kept.append(asyncio.create_task(waits()))
        await asyncio.sleep(0)

    kept: list[asyncio.Task[None]] = []
    loop = Loop(virtual=virtual)
    loop.run(starts, ENOUGH, "starts()")
    loop.end(ENOUGH)
    assert told == ["cancelled"]
    assert loop.stopped.is_set()


class InThreeSteps(Jobs):
    """Each registration is made in three steps, and what is done between them is kept."""

    steps: ClassVar[list[str]] = []

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        for step in range(3):
            self.steps.append(f"{label}{step}")
            await asyncio.sleep(0)
        return await super().register(type, label, id, owner)


def interleaved(seed: int) -> str:
    """In which order two registrations take their steps that are made at once."""
    with adapted(InThreeSteps, load("job")) as adapter:
        adapter.reset()
        InThreeSteps.steps.clear()
        asked = [partial(adapter.call, "register", {"type": "bash", "label": label}, None) for label in "ab"]
        adapter.together(asked, seed)
        return " ".join(InThreeSteps.steps)


def test_calls_at_once_come_in_either_order_and_one_in_the_middle_of_another() -> None:
    seen = {seed: interleaved(seed) for seed in range(30)}
    assert {each[0] for each in seen.values()} == {"a", "b"}
    assert {"a0 b0 a1 b1 a2 b2", "b0 a0 b1 a1 b2 a2", "a0 a1 b0 a2 b1 b2", "a0 a1 a2 b0 b1 b2"} <= {*seen.values()}
    assert seen == {seed: interleaved(seed) for seed in range(30)}


def test_several_calls_of_one_caller_fall_into_the_middle_of_one_call_of_another() -> None:
    def seen(seed: int) -> str:
        with adapted(InThreeSteps, load("job")) as adapter:
            adapter.reset()
            InThreeSteps.steps.clear()
            call = partial(adapter.call, "register")
            adapter.together(
                [
                    lambda: call({"type": "bash", "label": "a"}, None),
                    lambda: [call({"type": "bash", "label": label}, None) for label in "bc"],
                ],
                seed,
            )
            return "".join(InThreeSteps.steps)

    orders = {seed: seen(seed) for seed in range(60)}
    assert any("b0b1b2c0c1c2a" in order and not order.startswith("b") for order in orders.values())
    assert orders == {seed: seen(seed) for seed in range(60)}


class InOrder(Jobs):
    """What a loop promises: tasks begin in the order in which they are made, and those that wait for one lock get it in theirs."""

    steps: ClassVar[list[str]] = []

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        lock = asyncio.Lock()

        async def works(name: str) -> None:
            self.steps.append(f"begin{name}")
            async with lock:
                await asyncio.sleep(0)
                self.steps.append(f"has{name}")

        await asyncio.gather(*(asyncio.create_task(works(name)) for name in "xyz"))
        return await super().register(type, label, id, owner)


def test_who_lingers_keeps_nobody_from_their_turn() -> None:
    for seed in range(20):
        with adapted(InOrder, load("job")) as adapter:
            adapter.reset()
            InOrder.steps.clear()
            asked = [partial(adapter.call, name, {}, None) for name in ("cancel_all",)]
            adapter.together([partial(adapter.call, "register", {"type": "bash", "label": "a"}, None), *asked], seed)
            assert InOrder.steps == ["beginx", "beginy", "beginz", "hasx", "hasy", "hasz"]


def test_a_crowd_on_an_event_loop_makes_its_calls_one_after_the_other() -> None:
    gate = Gate(300, ENOUGH, seed=1)
    entered: list[int] = []

    def enter(caller: int) -> None:
        gate.enter(caller)
        entered.append(caller)
        gate.submitted()

    callers = [threading.Thread(target=enter, args=[caller]) for caller in range(300)]
    for each in callers:
        each.start()
    gate.hold()
    for each in callers:
        each.join(ENOUGH)
    assert sorted(entered) == list(range(300))
    assert entered != sorted(entered)


class Ticks(Jobs):
    """Something is done every second, for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.ticks = 0

    async def list(  # type: ignore[override]  # it may as well take its time
        self, owner: str | None = None
    ) -> list[Reply]:
        if not self.ticks:
            self._tick()
        for _ in range(len(owner or "")):
            await asyncio.sleep(0)
        return super().list(owner)

    def _tick(self) -> None:
        self.ticks += 1
        asyncio.get_running_loop().call_later(1, self._tick)


def test_the_clock_stands_still_when_each_call_at_once_is_answered_however_late_another_caller_ends() -> None:
    with adapted(Ticks, load("job")) as adapter:
        adapter.reset()
        for seed in range(60):
            bodies = [partial(adapter.call, "list", {"owner": owner}, None) for owner in ("a", "a" * (seed % 20))]
            adapter.together(bodies, seed)
        assert adapter.milliseconds == 0


class CancelsItself(Ticks):
    """Somebody cancels the task in which it is called."""

    async def running(self, owner: str | None = None) -> Any:  # type: ignore[override]  # it may as well take its time
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)


def test_the_clock_stands_still_after_a_call_that_is_cancelled_and_that_is_told() -> None:
    with adapted(CancelsItself, load("job")) as adapter:
        adapter.reset()
        adapter.call("list", {"owner": "a"})
        with pytest.raises(Broken, match="CancelledError"):
            adapter.call("running", {})
        time.sleep(0.05)
        assert adapter.milliseconds == 0
        adapter.call("list", {"owner": "a"})
        assert adapter.milliseconds == 0


def test_one_caller_that_does_not_call_holds_up_the_others_once_in_each_group(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, vain = Loop(virtual=True), list[int]()
    assert loop._virtual is not None
    changed = loop._virtual.callers._changed
    waits = changed.wait_for

    def waited(came: Callable[[], bool], seconds: float | None = None) -> bool:
        found = waits(came, seconds)
        vain.append(not found)
        return found

    monkeypatch.setattr(changed, "wait_for", waited)

    async def nothing() -> None:
        await asyncio.sleep(0)

    def calls() -> None:
        for _ in range(5):
            loop.run(nothing, ENOUGH, "nothing()")
        loop.count(-1)

    for _ in range(2):
        vain.clear()
        loop.count(4)  # of five callers one is elsewhere
        threads = [threading.Thread(target=calls) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert 1 <= sum(vain) < 4 * 5 / 2
        loop.run(nothing, ENOUGH, "nothing()")  # one caller alone
    loop.end(ENOUGH)
