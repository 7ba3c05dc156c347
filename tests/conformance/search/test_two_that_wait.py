"""Of two that wait each has its own, also where what they wait for comes twice in one moment."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from conformance.budget import USUAL
from conformance.judge import BrokenCalls
from conformance.search import Faults, pairs
from tests.checking import compile_text
from tests.conformance.systems import adapted

DESK = """
lifecycle: desk
version: 1
about: Whoever waits for a parcel has the oldest one that came.
entities:
  Parcel:
    id: minted
    states: {active: [there], terminal: [taken]}
operations:
  submit:
    create: {Parcel: {}}
    gives: {parcel: parcel.id}
  take:
    takes: {timeout: int}
    waits: {for: timeout, until: "parcels.exists(p, p.state == there)"}
    reads: {oldest: "parcels.filter(p, p.state == there).take(1)"}
    for each: {p: {in: oldest, move: there -> taken}}
    gives: oldest.map(p, p.id)
"""


class Desk:
    """Wakes who has waited longest of those that are not awake yet."""

    declares: ClassVar[dict[str, Any]] = {"clock": "virtual", "concurrency": "async"}

    def __init__(self) -> None:
        self.count = 0
        self.there: list[str] = []
        self.line: list[asyncio.Future[None]] = []

    async def submit(self) -> dict[str, str]:
        self.count += 1
        self.there.append(f"p{self.count}")
        self.wake()
        return {"parcel": f"p{self.count}"}

    def asleep(self) -> list[asyncio.Future[None]]:
        return [each for each in self.line if not each.done()]

    def wake(self) -> None:
        for each in self.asleep()[:1]:
            each.set_result(None)

    async def take(self, timeout: int) -> list[str]:  # noqa: ASYNC109 - the life cycle names it
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout / 1000
        while not self.there and loop.time() < end:
            mine = loop.create_future()
            self.line.append(mine)
            await asyncio.wait([mine], timeout=end - loop.time())
            self.line.remove(mine)
        return [self.there.pop(0)] if self.there else []


class WakesWhoIsAwake(Desk):
    """Wakes the first in line, who leaves the line only when it goes on: what comes twice in one moment wakes it twice."""

    def asleep(self) -> list[asyncio.Future[None]]:
        return [each for each in self.line[:1] if not each.done()]


def is_found(system: Any, number: int) -> bool:
    compiled = compile_text(DESK, "desk.yaml")
    with adapted(system, compiled) as adapter:
        faults = Faults(BrokenCalls(adapter))
        pairs.search(compiled, adapter, number, USUAL, after=lambda driver: None, faults=faults)
    return faults.first is not None


def test_who_wakes_one_that_is_awake_is_found() -> None:
    assert sum(is_found(WakesWhoIsAwake, number) for number in range(3)) > 1
    assert not is_found(Desk, 0)
