"""What runs on an event loop after its case is over comes to its end with the case."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

from conformance.references.job import Jobs
from conformance.system import Broken
from conformance.system.event_loop import Loop
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
