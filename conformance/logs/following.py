"""A model beside the log of one system: the configurations that explain it so far, one moment after the other.

One idea: a signal may come of the call before it or of the one after it, so beside each configuration stands which of the
signals it has explained ahead of their turn.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.budget import Budget
from conformance.judge import Configuration, Event, Finding, History, Lockstep, calls_of
from conformance.logs.hidden import HiddenCalls
from conformance.logs.moments import LogMoment
from conformance.logs.reading import MS, LoggedCall, LoggedSignal, LogMap
from conformance.system import Declaration, Within
from statemachines.compile import Compiled
from statemachines.expression import python_name
from statemachines.rows import WAIT, Observed

FEW_SIGNALS = 4  # of which every choice is tried; of more, the first ones
UNKNOWN = 10**12  # milliseconds: an instant that nobody knows is before this one
RESOLVED = 1  # milliseconds by which whole ones may differ from the instant itself


@dataclass(frozen=True, slots=True)
class Followed:
    """An explanation of the log so far; `ahead` are the signals that it has explained before their turn, by number."""

    configuration: Configuration
    ahead: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Unexplained:
    """A moment that nothing explains, and why; `points` are the explanations of all before it."""

    moment: LogMoment
    event: Event
    finding: Finding
    points: tuple[Followed, ...]


class Following:
    """Follows the log of one system; `take` returns what is not explained.

    doubt  why what is not explained from here on need not be a fault; empty where it is one
    """

    def __init__(
        self,
        compiled: Compiled,
        log_map: LogMap,
        budget: Budget,
        instants: frozenset[int] | None = None,
    ) -> None:
        declaration = _as_late_as_may_be(log_map)
        compiled = compiled.without(declaration.unsent) if declaration.unsent else compiled
        self._map = log_map
        self._exact = declaration.clock == "virtual"
        self.lockstep = Lockstep(compiled, declaration, budget, instants)
        self._kernel = compiled.kernel
        self._hidden = HiddenCalls(compiled, log_map.hidden, self.lockstep)
        self.points: list[Followed] = [Followed(each) for each in self.lockstep.decided()]
        self.doubt = ""
        self._count = 0  # of instants at which calls began or ended

    @property
    def unsure(self) -> bool:
        """Whether something unexplained need not be a fault."""
        return self.lockstep.unsure or bool(self.doubt)

    def take(self, moment: LogMoment) -> Unexplained | None:
        """Take a moment; where nothing explains it, everything stays as it was before, but that time has passed until then."""
        for each in moment.calls:
            self._begin(each.call)
        if moment.unended is not None:
            self.doubt = (
                f"a call of {moment.unended.operation} began at {moment.unended.line.place}, and no end is logged"
            )
        if moment.crowded:
            self.doubt = f"at {moment.calls[0].line.place} more calls overlap than are looked at together"
        if self._exact:
            before = self.points
            if (unexplained := self._waited(moment)) is not None:
                self.points = before
                return unexplained
        event = self._event(moment)
        found = self._stepped(moment, event, moment.must, moment.may)
        if isinstance(found, Unexplained):
            return found
        over = {each.number for each in moment.must}
        self.points = [replace(each, ahead=each.ahead - over) for each in found]
        most = self.lockstep.budget.configurations
        if len(self.points) > most:
            self.points, self.lockstep.unsure = self.points[:most], True
        return None

    def skip(self, moment: LogMoment) -> None:
        """Leave out a moment that is not judged; what its signals came of, nobody knows then."""
        if moment.must:
            self.doubt = self.doubt or f"signals at {moment.must[0].line.place} are about what was forgotten"
        over = {each.number for each in moment.must}
        self.points = [replace(each, ahead=each.ahead - over) for each in self.points]

    def change(self, change: Callable[[Configuration], Configuration]) -> None:
        """Change every configuration."""
        self.points = [replace(each, configuration=change(each.configuration)) for each in self.points]

    def witnessed(self) -> frozenset[str]:
        """Return the clauses that came to pass."""
        self.lockstep.configurations = [each.configuration for each in self.points]
        return self.lockstep.witnessed()

    def _begin(self, call: Observed) -> None:
        """Let records be there that exist from the start: a spec names a few to try, and the log of a system has its own."""
        takes = next((each.parameters for each in self._kernel.operations if each.name == call.operation), ())
        for parameter in takes:
            entity = self._kernel.entity(parameter.entity) if parameter.entity else None
            word = call.arguments.get(parameter.name)
            if entity is None or not entity.fixed or not isinstance(word, str):
                continue
            for each in self.points:
                model = each.configuration.model
                if word not in getattr(model, python_name(entity.collection)):
                    getattr(model, f"begin_{python_name(entity.variable)}")(word)

    # ── Events ──

    def _waited(self, moment: LogMoment) -> Unexplained | None:
        """Let all time pass until a moment begins, from signal to signal; where that is not explained, return it."""
        end = (moment.began if moment.calls else moment.ended) // MS
        instants = sorted({each.began // MS for each in moment.must if each.began // MS < end})
        for instant in (*instants, end):
            ms = instant - int(self.points[0].configuration.model.now)
            if ms <= 0:
                continue
            due = [each for each in moment.must if each.began // MS < instant]
            also = [each for each in moment.must if each.began // MS == instant]
            found = self._stepped(moment, Observed(WAIT, {"ms": ms}), due, also)
            if isinstance(found, Unexplained):
                return found
            self.points = found
        return None

    def _event(self, moment: LogMoment) -> Event:
        """Return what is judged, its calls numbered in the order in which they began and ended."""
        instants = sorted({instant for each in moment.calls for instant in (each.began, each.ended)})
        places = {instant: self._count + place for place, instant in enumerate(instants, start=1)}
        self._count += len(places) + 1
        calls = [self._observed(each, places[each.began], places[each.ended]) for each in moment.calls]
        if not calls:
            return Observed(WAIT, {"ms": 0}, began=self._count, ended=self._count, within=self._within(moment))
        if len(calls) == 1:
            return calls[0]
        return History(tuple((each,) for each in calls), within=self._within(moment))

    def _observed(self, logged: LoggedCall, began: int, ended: int) -> Observed:
        at, elapsed = (logged.began // MS, (logged.ended - logged.began) // MS) if self._exact else (0, 0)
        within = self._within(logged)
        return replace(logged.call, began=began, ended=ended, at=at, elapsed=elapsed, within=within)

    def _within(self, of: LoggedCall | LogMoment) -> Within | None:
        if self._exact:
            return None
        if self._map.clock == "none":
            return 0, UNKNOWN
        return max(of.began // MS - RESOLVED, 0), max(math.ceil(of.ended / MS) + RESOLVED, 0)

    # ── One event on every point ──

    def _stepped(
        self, moment: LogMoment, event: Event, must: Sequence[LoggedSignal], may: Sequence[LoggedSignal]
    ) -> list[Followed] | Unexplained:
        """Return the points that an event leads to, whichever of the signals it explains, those that it must among them."""
        reasons: list[Finding] = []
        found: list[Followed] = []
        for ahead, configurations in self._by_signals():
            needed = [each for each in must if each.number not in ahead]
            free = [each for each in may if each.number not in ahead]
            choices = list(_choices(free))
            frozen = [each.model.freeze() for each in configurations] if len(choices) > 1 or self._hidden.any else []
            for chosen in choices:
                fresh = _thawed(configurations, frozen) if frozen else configurations
                signals = tuple(each.signal for each in (*needed, *chosen))
                also = ahead | {each.number for each in chosen}
                for one, starts in self._hidden.before(fresh, replace(event, signals=signals)):
                    after, reason = self.lockstep.led_to(starts, one)
                    found += [Followed(each, also) for each in after]
                    reasons += [reason] if reason is not None and not after else []
        if found:
            return _distinct(found)
        return Unexplained(moment, event, _likeliest(reasons, event), tuple(self.points))

    def _by_signals(self) -> Iterator[tuple[frozenset[int], list[Configuration]]]:
        """Walk the configurations that have explained the same signals ahead."""
        groups: dict[frozenset[int], list[Configuration]] = {}
        for each in self.points:
            groups.setdefault(each.ahead, []).append(each.configuration)
        yield from groups.items()


def _as_late_as_may_be(log_map: LogMap) -> Declaration:
    """Return what a system declares, where what comes of a call may come as late as the times of its log may be wrong."""
    declaration = log_map.declaration
    settles = UNKNOWN if declaration.clock == "none" else declaration.settles + 2 * math.ceil(log_map.slack / MS)
    return replace(declaration, settles=settles)


def _thawed(configurations: Sequence[Configuration], frozen: Sequence[Any]) -> list[Configuration]:
    """Return the same configurations with models of their own, in these states."""
    pairs = zip(configurations, frozen, strict=True)
    return [replace(each, model=each.model.thawed(state)) for each, state in pairs]


def _choices(signals: Sequence[LoggedSignal]) -> Iterator[tuple[LoggedSignal, ...]]:
    """Walk what an event may have caused of some signals, nothing first."""
    if len(signals) <= FEW_SIGNALS:
        for count in range(len(signals) + 1):
            yield from itertools.combinations(signals, count)
    else:
        yield from (tuple(signals[:count]) for count in range(len(signals) + 1))


def _distinct(points: Sequence[Followed]) -> list[Followed]:
    if len(points) == 1:
        return list(points)
    found: dict[Any, Followed] = {}
    for each in points:
        one = each.configuration
        key = type(one.model), one.model.freeze(), one.standing, one.unordered, each.ahead
        found.setdefault((*key, *vars(one.model.policies).values()), each)
    return list(found.values())


def _likeliest(reasons: Sequence[Finding], event: Event) -> Finding:
    """Return what is told of an event: that it is wrong by itself, before that a signal is."""
    operation = calls_of(event)[0].operation
    unsaid = Finding("order", f"operations.{operation}", operation, "something that can follow", "nothing explains it")
    return next((each for each in reasons if each.kind != "signal"), reasons[0] if reasons else unsaid)
