"""A log checked against a life cycle, entry by entry, in room that does not grow with it."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.budget import USUAL, Budget
from conformance.errors import UsageError
from conformance.judge import Finding, kernel_facts
from conformance.logs.following import Following, Unexplained
from conformance.logs.forgetting import Faded, Forgetting
from conformance.logs.moments import Gathering, LogMoment
from conformance.logs.reading import (
    FIRST_SHOWN,
    BadLine,
    EntryReader,
    Item,
    LoggedCall,
    LoggedSignal,
    LogLine,
    LogMap,
    Ordering,
    Source,
    parsed,
)
from conformance.logs.telling import Refusal, ToldEntry, refusal
from statemachines.compile import Compiled

LAST_SHOWN = 5  # entries before one that is not explained
MOST_SYSTEMS = 500  # that are followed side by side; the one that was quiet for longest is let go
MOST_TOLD = 10_000  # instants that replies tell of, where they say when something was done before
LOOK_AFTER = 32  # moments between two looks at how much is remembered


@dataclass(slots=True)
class _System:
    """One of the systems that wrote a log: what follows it, and the last that was explained."""

    gathering: Gathering
    following: Following
    forgetting: Forgetting
    last: deque[ToldEntry] = field(default_factory=lambda: deque(maxlen=LAST_SHOWN))
    moments: int = 0
    gave_up: bool = False


@dataclass(slots=True)
class LogTally:
    """What a log came to; `text` says how it is told.

    not_judged  entries about what was forgotten
    doubts      why what follows them need not be a fault, each once
    """

    calls: Counter[str] = field(default_factory=Counter)
    signals: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    systems: int = 0
    not_judged: int = 0
    forgotten: int = 0
    bad: list[tuple[LogLine, BadLine]] = field(default_factory=list)
    bad_lines: int = 0
    unmatched: int = 0
    unmatched_first: tuple[LogLine, ...] = ()
    ignored: int = 0
    unended: int = 0
    witnessed: frozenset[str] = frozenset()
    recommended: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)

    @property
    def explained(self) -> int:
        """How many entries are explained."""
        return self.calls.total() + self.signals.total()


class Check:
    """One way through a log, from its first line on: `refused` tells of the first entry that nothing explains.

    left_out  clauses that are only recommended, and that the system is taken not to follow
    instants  when something was done that replies told of later on; None as long as nobody has looked for them
    told      those that the replies of this way told of
    """

    def __init__(
        self,
        compiled: Compiled,
        source: Source,
        log_map: LogMap,
        budget: Budget = USUAL,
        left_out: tuple[str, ...] = (),
        instants: frozenset[int] | None = None,
    ) -> None:
        self.compiled = compiled.without(left_out) if left_out else compiled
        self.facts = kernel_facts.of(compiled)
        self.left_out = left_out
        self.instants = instants
        self.tally = LogTally()
        self.refused: Refusal | None = None
        self.number = 0  # of the entry that is not explained, in the order of the log
        self.told: set[int] = set()
        self._source = source
        self._map = log_map
        self._budget = budget
        self._systems: OrderedDict[str, _System] = OrderedDict()
        self._left = Faded()
        self._reading = EntryReader(compiled, log_map)
        self._order = Ordering(log_map, lambda: self._reading.oldest_open, self._reading.give_up)

    def go(self) -> None:
        """Go through the log, to its end or to an entry that nothing explains. Raises UsageError for a bad line."""
        for line, raw in self._source.lines():
            self.tally.lines += 1
            for item in self._items(line, raw):
                if not self._put(item):
                    return self._sum_up()
        for item in self._order.end():
            if not self._put(item):
                return self._sum_up()
        for name, system in self._systems.items():
            for moment in system.gathering.end():
                if not self._judged(name, system, moment):
                    return self._sum_up()
        return self._sum_up()

    def _sum_up(self) -> None:
        counts, tally = self._reading.counts, self.tally
        for system in self._systems.values():
            self._gather(system)
        tally.unmatched, tally.unmatched_first = counts["unmatched"], tuple(self._reading.unmatched)
        tally.ignored, tally.unended = counts["ignored"], counts["unended"]

    # ── Lines and items ──

    def _items(self, line: LogLine, raw: bytes | None) -> Iterator[Item]:
        try:
            data = parsed(raw)
            for item in self._reading.items(line, data) if data is not None else ():
                yield from self._order.put(item)
        except BadLine as bad:
            if not self._map.skips:
                raise UsageError(f"{line.place}: {bad.message}\n  {line.shown}\n  hint: {bad.hint}") from None
            self.tally.bad_lines += 1
            self.tally.bad += [(line, bad)] if len(self.tally.bad) < FIRST_SHOWN else []

    def _put(self, item: Item) -> bool:
        """Take an item; return whether all is explained so far."""
        system = self._systems.get(item.system)
        if system is None:
            if item.system in self._left:
                self.tally.not_judged += 1
                return True
            system = self._new(item.system)
            if len(self._systems) > MOST_SYSTEMS and not self._let_go():
                return False
        self._systems.move_to_end(item.system)
        return all(self._judged(item.system, system, moment) for moment in system.gathering.put(item))

    def _new(self, name: str) -> _System:
        following = Following(self.compiled, self._map, self._budget, self.instants)
        forgetting = Forgetting(self.compiled, self._map.remember)
        system = self._systems[name] = _System(Gathering(self._map), following, forgetting)
        self.tally.systems += 1
        return system

    def _let_go(self) -> bool:
        name, system = next(iter(self._systems.items()))
        held = all(self._judged(name, system, moment) for moment in system.gathering.end())
        if held:
            del self._systems[name]
            self._left.add(name)
            self._gather(system)
        return held

    def _gather(self, system: _System) -> None:
        """Take down what a system has shown."""
        self.tally.witnessed |= system.following.witnessed()
        self.tally.forgotten += system.forgetting.faded.count
        self.tally.recommended |= {each.key: each for each in system.following.lockstep.noted}
        if system.following.doubt:
            self.tally.doubts[system.following.doubt] = None

    # ── Moments ──

    def _judged(self, name: str, system: _System, moment: LogMoment) -> bool:
        """Judge a moment; return whether it is explained, or is not to be."""
        following = system.following
        unexplained = None if system.gave_up else following.take(moment)
        if system.gave_up or (unexplained is not None and self._is_forgotten(system, moment)):
            following.skip(moment)
            self.tally.not_judged += len(moment.calls) + len(moment.must)
            return True
        if unexplained is not None:
            return self._unexplained(name, system, unexplained)
        self._took(system, moment)
        return True

    def _unexplained(self, name: str, system: _System, found: Unexplained) -> bool:
        clauses = (found.finding.clause, *found.finding.related)
        if found.finding.kind == "accepted" and all(map(self._need_not_refuse, clauses)):
            doubt = f"at {found.moment.calls[0].line.place} it did not follow {clauses[0]}, which is only recommended"
            self.tally.doubts[f"{doubt}: what comes of that nobody knows"] = None
            system.gave_up = True
            return True
        self.refused = refusal(self.compiled, system.following, found, list(system.last), name)
        self.number = max(each.number for each in found.moment.items)
        return False

    def _need_not_refuse(self, clause: str) -> bool:
        declared = any(each in self._map.declaration.policies for each in self.facts.policies_of(clause))
        return self.facts.recommended(clause) and not declared and not clause.endswith((".missing", ".private to"))

    def _took(self, system: _System, moment: LogMoment) -> None:
        for call in moment.calls:
            self.tally.calls[call.call.operation] += 1
            if self.facts.chooses_instants and self._map.clock == "virtual" and len(self.told) < MOST_TOLD:
                self.told.update(system.following.lockstep.stepper.instants(call.call))
        self.tally.signals.update(each.signal[0] for each in moment.must)
        system.last += [ToldEntry.of(each) for each in moment.items]
        system.moments += 1
        if system.moments % LOOK_AFTER == 0:
            self._shorten(system)

    def _shorten(self, system: _System) -> None:
        following, forgetting = system.following, system.forgetting
        following.lockstep.forget_files(self._map.remember)
        if any(forgetting.full(each.configuration.model) for each in following.points):
            following.change(forgetting.shortened)

    def _is_forgotten(self, system: _System, moment: LogMoment) -> bool:
        told: list[LoggedCall | LoggedSignal] = [*moment.items, *moment.may]
        texts = (text for each in told for text in each.texts)
        return system.forgetting.about(texts, [each.call.operation for each in moment.calls])
