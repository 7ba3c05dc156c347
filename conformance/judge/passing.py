"""Time that passes on a model, in every way in which a right system may have spent it; and calls that took too much of it.

Timers due at one instant fire in any order, each to rest; one whose window is open fires when the system
says that it did, or when the window closes. A step that it may take unasked it takes at once or when a signal comes.
What is due at the very end may come before the next call, or after it. Of a clock that runs on nobody knows the end to
the millisecond: what may be due by then fires or does not, unless it is over for sure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from conformance.judge.finding import Finding
from conformance.judge.kernel_facts import Facts
from conformance.judge.matching import Signals, required
from conformance.system import Instant, earliest, latest
from statemachines.commuting import Commuting
from statemachines.model import BaseModel, Impossible, Outcome, Signal, Timer
from statemachines.quiescence import settled, telling
from statemachines.rows import Observed

AT_ONCE = 500
"""Milliseconds within which a call comes back once nothing keeps it: who only looks now and then takes that long, or a busy machine."""
FEW_AT_ONE_INSTANT = 5
"""Timers of one instant; of more of them it is only asked whether their order matters at all."""
EACH_SIGNAL = 6
"""Timers that fire, of which so many more are looked at for each signal that was seen: it takes one, and those beside it."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When one of calls made at once was made.

    ahead  milliseconds by which the model's clock is ahead of the one by which calls are observed
    since  the last instant by the latter at which what was done before it can have been done
    """

    ahead: int
    since: int


def too_long(facts: Facts, model: BaseModel, call: Observed, since: int) -> Finding | None:
    """Tell of a call that blocked for longer than it may, or to the end of its time although nothing kept it any more.

    `since` is the last instant since which the system can be as the model is. Who comes back late is right as long as the
    time that the call may take is not over.
    """
    wait = facts.wait(call.operation)
    if wait is None:
        return None
    other = model.fork()
    lasts = other.blocks_for(call.operation, call.arguments)
    if lasts is None:
        return None
    if call.elapsed > lasts:
        expected, seen = f"it comes back within {lasts} ms", f"it came back after {call.elapsed} ms"
        return Finding("late", facts.reply_of(call.operation), call.operation, expected, seen)
    began, ended = call.span
    if ended - began < lasts or ended - since < AT_ONCE or not other.ends_wait(call.operation, call.arguments):
        return None
    seen = f"it came back when its {lasts} ms were over, {ended - since} ms after nothing kept it any more"
    return Finding("late", wait.clause, call.operation, "what ends its wait wakes it", seen)


@dataclass(frozen=True, slots=True)
class _Done:
    """What was done last on a way, and the way before that: thousands of timers may fire on one."""

    taken: Sequence[Outcome]
    before: _Done | None


@dataclass(frozen=True, slots=True)
class _Point:
    """A point on the way: the state, which of the signals seen are not explained by it, and what was done to get there."""

    frozen: Any
    rest: int
    way: _Done | None = None

    def taken(self) -> list[Outcome]:
        """List all that was done on the way."""
        steps, way = [], self.way
        while way is not None:
            steps.append(way.taken)
            way = way.before
        return [done for each in reversed(steps) for done in each]


class Passing:
    """One stretch of time on one model, of which so many configurations and timers that fire are looked at, at most.

    seen     the signals that were seen meanwhile
    told     instants that replies told of later on; with them a timer may also fire as soon as its window opens
    missing  signals that were not seen and that some way would have needed: one that explains more than those before it
    partial  not every way was looked at
    looked   so many configurations, or timers that fire, were
    late     milliseconds by which a timer may fire too late by a clock that runs on
    """

    def __init__(
        self,
        signals: Signals,
        model: BaseModel,
        seen: Sequence[Signal],
        most: int,
        told: frozenset[int] | None = None,
        late: int = 0,
    ) -> None:
        self.signals = signals
        self.model = model
        self.seen = signals.seen(seen)
        self.at = tuple(sorted({*signals.times(seen), *(told or ())}))
        self._soon = told is not None
        self.missing: list[Signal] = []
        self.partial = False
        self.looked = 0
        self._late = late
        self._most = most + EACH_SIGNAL * len(seen)
        self._fires = 0
        self._orders = Commuting(model, self._alike)
        self._left = len(seen)

    def ways(self, end: int) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk the models at the end, each with what was done on its way; where nothing can be, that is the model itself."""
        if not (self.model.deadlines() or self.model.own_steps()):
            self.model.now = end
            yield self.model, []
            return
        start = _Point(self.model.freeze(), self.seen.all)
        waiting, known = [start], {(start.frozen, start.rest)}
        newest = self.model.now  # of the points that were looked at
        while waiting:
            point = waiting.pop()
            model = self.model.thawed(point.frozen)
            if not waiting and model.now > newest:  # no way comes back to any of them
                known = {(point.frozen, point.rest)}
            newest = max(newest, model.now)
            if told := telling(point.frozen, model):
                point = replace(point, way=_Done(told, point.way))
            if all(self._fires_by(timer, model) >= earliest(end) for timer in model.deadlines()):
                model.now = end
                yield model, point.taken()
                model = self.model.thawed(point.frozen)
            self.looked = max(self.looked, len(known), self._fires + self._orders.tried)
            if self.looked > self._most:
                self.partial = True
                continue
            for following in self._next(point, model, end):
                if (following.frozen, following.rest) not in known:
                    known.add((following.frozen, following.rest))
                    waiting.append(following)

    def _next(self, point: _Point, model: BaseModel, end: int) -> Iterator[_Point]:
        """Walk what may happen next; what has to happen at this instant, and commutes with everything else of it, happens first."""
        events = [(instant, timer) for timer in model.deadlines() for instant in self._instants(model, timer, end)]
        bound = min((self._fires_by(timer, model) for timer in model.deadlines()), default=latest(end))
        events = [event for event in events if earliest(event[0]) <= bound]
        at_one_instant = len({instant for instant, _ in events}) == 1
        certain = [event for event in events if self._is_certain(event, model)]
        many = at_one_instant and len(events) > FEW_AT_ONE_INSTANT and len(certain) == len(events)
        if many and (after := self._orders.in_any_order(point.frozen, events)) is not None:
            yield from self._led_to(point, *after)
            return
        if len(events) > 1 and certain and at_one_instant:
            first = certain[0]
            if self._orders.may_go_first(point.frozen, first, [event for event in events if event is not first]):
                events = [first]
        for event in events:
            yield from self._after(point, event)
        if model.own_steps():
            yield from self._unasked(point, model, min(bound, latest(end)))

    def _unasked(self, point: _Point, model: BaseModel, bound: int) -> Iterator[_Point]:
        """Walk the steps that it may take unasked, now or when a signal came."""
        for instant in sorted({model.now, *self._told_within(model.now, bound + 1)}):
            model.now = instant
            for index, keys, _ in model.own_steps():
                other = self.model.thawed(point.frozen)
                other.now = instant
                with suppress(Impossible):
                    yield from self._rested(point, other, other.take(index, keys), must=False)

    def _fires_by(self, timer: Timer, model: BaseModel) -> int:
        """Return the last instant at which a timer fires; one that is overdue may do so now."""
        return max(latest(timer[1]) + self._late, latest(model.now))

    def _is_certain(self, event: tuple[int, Timer], model: BaseModel) -> bool:
        """Return whether a timer fires at its instant at the latest: its window does not stay open any longer."""
        instant, timer = event
        return self._fires_by(timer, model) <= latest(instant)

    def _instants(self, model: BaseModel, timer: Timer, end: int) -> list[int]:
        """List the instants before the end at which a timer may have fired, as far as they make a difference."""
        if isinstance(end, Instant):
            soon = max(earliest(timer[0]), earliest(model.now))
            by = max(min(self._fires_by(timer, model), end.late), soon)
            return [Instant((soon, by), ("fired", timer[2:], soon, by))] if soon < earliest(end) else []
        first, last = max(timer[0], model.now), max(timer[1], model.now)
        said = self._told_within(first, last)
        if self._soon and last > first:
            said.add(first)
        # The last of them is looked at first: while nothing was told at the time, as soon as can be.
        found = [instant for instant in (*sorted(said), last) if instant < end]
        return found[::-1] if self._soon else found

    def _told_within(self, first: int, end: int) -> set[int]:
        """Return the instants that something tells of, from the first to before the end."""
        return set(self.at[bisect_left(self.at, first) : bisect_left(self.at, end)])

    def _after(self, point: _Point, event: tuple[int, Timer]) -> Iterator[_Point]:
        """Walk the points after an event, unless it would have sent what was not seen."""
        self._fires += 1
        model = self.model.thawed(point.frozen)
        model.now, (_, _, index, key) = event
        with suppress(Impossible):  # a model that lacks a sentence may have no answer to what comes of it
            yield from self._rested(point, model, model.fire(index, key))

    def _rested(self, point: _Point, model: BaseModel, done: Outcome, *, must: bool = True) -> Iterator[_Point]:
        """Walk the points where a model comes to rest after a step; not where a signal was not seen.

        It is missing if the step `must` be taken.
        """
        for then, forced in settled(model):
            yield from self._led_to(point, then.freeze(), [done, *forced], must=must)

    def _led_to(self, point: _Point, frozen: Any, done: Sequence[Outcome], *, must: bool = True) -> Iterator[_Point]:
        """Walk the point to which leads what was done, as `_rested` does: one, or none."""
        rest, unseen = self.seen.left(required(done), point.rest)
        if unseen is None:
            yield _Point(frozen, rest, _Done(done, point.way))
        elif must:
            self._miss(unseen, rest.bit_count())

    def _alike(self, here: Sequence[Outcome], there: Sequence[Outcome]) -> bool:
        """Return whether two orders need the same signals, each of which is seen as one that no other of them may be."""
        needed = required(here)
        same = sorted(map(repr, needed)) == sorted(map(repr, required(there)))
        return same and not self.seen.contested(needed)

    def _miss(self, signal: Signal, left: int) -> None:
        """Note a signal that a way would have needed which leaves so many of those seen unexplained."""
        if left < self._left:
            self.missing.clear()
            self._left = left
        if left == self._left:
            self.missing.append(signal)
