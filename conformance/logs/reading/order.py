"""The entries of a log in the order of their times, as far as they may be out of it; no more is held than that takes."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from conformance.logs.reading.items import Item
from conformance.logs.reading.lines import BadLine
from conformance.logs.reading.mapping import LogMap

MOST_HELD = 50_000  # entries that wait for an end, or for those that may stand before them


class Ordering:
    """Puts items in the order in which they began.

    oldest_open  the instant at which the first call began of which no end was read
    give_up      gives the calls whose end will not come any more
    """

    def __init__(
        self, log_map: LogMap, oldest_open: Callable[[], int | None], give_up: Callable[[], Iterator[Item]]
    ) -> None:
        self._map = log_map
        self._oldest_open = oldest_open
        self._give_up = give_up
        self._held: list[tuple[int, int, Item]] = []
        self._latest: int | None = None
        self._last: Item | None = None

    def put(self, item: Item) -> Iterator[Item]:
        """Walk the items that can come next, now that one more was read. Raises BadLine for one that comes too late."""
        self._push(item)
        self._latest = item.ended if self._latest is None else max(self._latest, item.ended)
        if len(self._held) > MOST_HELD:
            for each in self._give_up():
                self._push(each)
            while len(self._held) > MOST_HELD // 2:
                yield self._popped()
        yield from self._ready()

    def end(self) -> Iterator[Item]:
        """Walk what is left when there are no more."""
        for each in self._give_up():
            self._push(each)
        while self._held:
            yield self._popped()

    def _push(self, item: Item) -> None:
        last = self._last
        if last is not None and item.began < last.began:
            behind = f"{(last.began - item.began) / 10**6:g} ms before {last.line.place}, which stands above it"
            raise BadLine(
                f"it was {behind}", "say in a map how far entries may be from their place: `out of order: 1 s`"
            )
        heapq.heappush(self._held, (item.began, item.number, item))

    def _popped(self) -> Item:
        self._last = heapq.heappop(self._held)[2]
        return self._last

    def _ready(self) -> Iterator[Item]:
        oldest = self._oldest_open()
        waits = bool(self._map.window)
        while len(self._held) > self._map.places and (oldest is None or self._held[0][0] < oldest):
            if waits and self._latest is not None and self._held[0][0] >= self._latest - self._map.window:
                return
            yield self._popped()
