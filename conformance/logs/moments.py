"""Which calls were made at once, and which signals can have come of them.

A moment is a call, or calls that overlap one another, with the signals that were logged until they were over and are not of an
earlier moment, and those that were logged after them, which they may have caused as well as what comes next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.logs.reading import MS, Item, LoggedCall, LoggedSignal, LogMap, Unended

MOST_AT_ONCE = 60  # calls that overlap one another; of more the orders are not searched


@dataclass(slots=True)
class LogMoment:
    """What is judged as one: no calls stand for the time until the last of the signals.

    must     the signals that come of it, or of something before it
    may      those that come of it, or of something later
    crowded  more calls overlap than are looked at together
    unended  a call of which no end was logged had begun by then
    """

    calls: list[LoggedCall]
    must: list[LoggedSignal]
    may: list[LoggedSignal] = field(default_factory=list)
    crowded: bool = False
    unended: Unended | None = None

    @property
    def items(self) -> list[LoggedCall | LoggedSignal]:
        """All that is explained with it, in the order of the log."""
        found: list[LoggedCall | LoggedSignal] = [*self.calls, *self.must]
        return sorted(found, key=lambda each: each.number)

    @property
    def began(self) -> int:
        """The instant at which it began; without calls, that at which it was over."""
        return min((each.began for each in self.calls), default=self.ended)

    @property
    def ended(self) -> int:
        """The instant at which it was over."""
        return max(each.ended for each in (self.calls or self.must))


class Gathering:
    """Gathers the items of one system, which come in their order, to moments."""

    def __init__(self, log_map: LogMap) -> None:
        self._settles = log_map.declaration.settles * MS
        self._exact = log_map.clock == "virtual"
        self._in_place = not (log_map.window or log_map.places)
        self._waiting: list[LogMoment] = []  # that are over, and may have caused what comes yet
        self._group: list[LoggedCall] = []
        self._before: list[LoggedSignal] = []
        self._after: list[LoggedSignal] = []
        self._unended: Unended | None = None

    def put(self, item: Item) -> Iterator[LogMoment]:
        """Walk the moments that are complete, now that one more item is known."""
        if isinstance(item, Unended):
            self._unended = item
        elif isinstance(item, LoggedSignal):
            (self._after if self._group else self._before).append(item)
            for moment in self._waiting:
                if item.began <= moment.ended + self._settles:
                    moment.may.append(item)
        elif not self._group or self._overlaps(item):
            if len(self._group) == MOST_AT_ONCE:
                self._close(crowded=True)
            self._group.append(item)
        else:
            self._close()
            self._group.append(item)
        while self._waiting and (not self._settles or item.began > self._waiting[0].ended + self._settles):
            yield self._waiting.pop(0)

    def end(self) -> Iterator[LogMoment]:
        """Walk the moments that are left when nothing more comes."""
        if self._group:
            self._close()
        yield from self._waiting
        left, self._waiting = self._before, []
        if left:
            yield LogMoment([], left)

    def _overlaps(self, call: LoggedCall) -> bool:
        ended = max(each.ended for each in self._group)
        known = self._in_place and call.at_once and all(each.at_once for each in self._group)
        return call.began < ended or (call.began == ended and not known)

    def _close(self, *, crowded: bool = False) -> None:
        """End the moment: what was logged while its calls went on is theirs at the latest."""
        ended = max(each.ended for each in self._group)
        last = max(each.number for each in self._group)
        within = [each for each in self._after if (each.began, each.number) < (ended, last)]
        later = [each for each in self._after if each not in within]
        may = [each for each in later if not self._exact or each.began <= ended + self._settles]
        moment = LogMoment(self._group, [*self._before, *within], may, crowded=crowded, unended=self._unended)
        self._waiting.append(moment)
        self._group, self._before, self._after = [], later, []
