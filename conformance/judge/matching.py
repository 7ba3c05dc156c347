"""What a system showed beside what a model tells of: replies, the messages that a call sends one by one, signals.

One idea: what of the one side answers to what of the other, and what is left over on either.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.judge.differences import Difference, InOrder, differences, unlike
from conformance.judge.finding import Finding, at, either
from conformance.judge.kernel_facts import Facts
from conformance.transcripts import in_turn
from statemachines import kernel
from statemachines.model import ANYTHING, AnyOf, BaseModel, Outcome, Signal
from statemachines.rows import Observed
from statemachines.types import NULL, RecordType, Time, Type, present


@dataclass(frozen=True, slots=True)
class Replies:
    """Compares the replies of one lifecycle; without `instants` times are not compared."""

    facts: Facts
    instants: bool

    def faults(self, call: Observed, expected: Any) -> Iterator[Finding]:
        """Walk what is wrong about a reply; where several are expected, beside the one that is nearest."""
        kind = self.facts.gives(call.operation)
        if kind == NULL or call.reply is ANYTHING:
            return
        options = expected.options if isinstance(expected, AnyOf) else (expected,)
        found = [list(self.differences(kind, each, call.reply)) for each in options]
        others = [self.fault(call, kind, each[0]) for each in found if each] if len(options) > 1 else []
        for difference in min(found, key=len):
            yield either(self.fault(call, kind, difference), others)

    def unlike(self, call: Observed, expected: Any) -> Iterator[Any]:
        """Walk what of a reply is missing, or looks otherwise, than any that was expected."""
        options = expected.options if isinstance(expected, AnyOf) else (expected,)
        kind = self.facts.gives(call.operation)
        if kind != NULL and call.reply is not ANYTHING:
            yield from itertools.chain(*(unlike(kind, each, call.reply, instants=self.instants) for each in options))

    def differences(self, kind: Type, expected: Any, seen: Any) -> Iterator[Difference]:
        """Walk every part in which two values of one type differ."""
        return differences(kind, expected, seen, instants=self.instants)

    def may_show(self, operation: str, expected: Any, seen: Any) -> bool:
        """Return whether an item of a list may be shown so: nothing differs but what is only recommended."""
        item = getattr(self.facts.gives(operation), "item", NULL)
        clauses = (self.clause(operation, each) for each in self.differences(item, expected, seen))
        return all(map(self.facts.recommended, clauses))

    def fault(self, call: Observed, kind: Type, difference: Difference) -> Finding:
        """Return what is told of a part of a reply that differs."""
        clause = self.clause(call.operation, difference)
        return Finding(
            "reply",
            clause,
            call.operation,
            at(difference.path, difference.expected),
            at(difference.path, difference.seen),
            self.facts.recommended(clause),
            difference.path,
            difference.expected,
            self.facts.setters(kind, difference),
        )

    def clause(self, operation: str, difference: Difference) -> str:
        """Return the clause that a part of a reply comes from: what a message carries, its order, or what is given."""
        name = difference.path.rpartition(".")[2].partition("[")[0]
        kind = self.facts.gives(operation)
        message = f"messages.{getattr(getattr(kind, 'item', kind), 'name', '')}"
        if isinstance(difference.expected, InOrder) and f"{message}.order" in self.facts.levels:
            return f"{message}.order"
        carried = f"{message}.carries.{name}"
        return carried if carried in self.facts.levels else f"operations.{operation}.gives"


class Sending:
    """A call that gave the messages which it sent, one by one: of calls made at once each may send some of what is owed.

    name      the message, as the spec names it
    variable  what the model calls these messages
    order     the clause that orders them
    """

    def __init__(self, call: Observed, send: kernel.Send, replies: Replies) -> None:
        self.call = call
        self.name = send.message
        self.variable = send.variable
        self.order = f"messages.{send.message}.order"
        self._name = send.message.lower()
        self._replies = replies
        self._list = replies.facts.gives(call.operation)
        self._item = getattr(self._list, "item", NULL)

    def owed(self, model: BaseModel) -> list[Any]:
        """Return the messages that the call would send now."""
        other = model.fork()
        before = len(self.sent(other))
        other.do(self.call.operation, self.call.arguments)
        told = {message.about for message in self.sent(other)[before:]}
        return [message for message in getattr(model, f"due_{self._name}") if message.about in told]

    def sent(self, model: BaseModel) -> list[Any]:
        """Return all messages of this kind that were sent so far."""
        found: list[Any] = getattr(model, f"sent_{self._name}")
        return found

    def send(self, model: BaseModel, message: Any) -> None:
        """Send one message."""
        getattr(model, f"send_{self._name}")([message])

    def due_like(self, model: BaseModel, given: Any) -> Any:
        """Return the message owed that the call may have shown so, the nearest to it, or None."""
        return self._nearest(model, self.owed(model), given)

    def _nearest(self, model: BaseModel, messages: Sequence[Any], given: Any) -> Any:
        """Return the message that may be shown so and differs least, for an id may be used again while a message is owed; or None."""
        like = [each for each in messages if self.may_show(model, each, given)]
        return min(like, key=lambda each: len([*self._differing(model, each, given)]), default=None)

    def may_show(self, model: BaseModel, message: Any, given: Any) -> bool:
        """Return whether a message may be shown so: nothing differs but what is only recommended."""
        return self._replies.may_show(self.call.operation, self._shown(model, message), given)

    def faults(self, model: BaseModel) -> Iterator[Finding]:
        """Walk what is wrong, if only by a recommendation, about the messages that the call gave, and about their order."""
        first: list[Any] = []
        for given in self.call.given:
            message = self._nearest(model, self.sent(model), given)
            first += [message] if message is not None else []
            for difference in self._differing(model, message, given) if message is not None else ():
                yield self._replies.fault(self.call, self._item, difference)
        if self._replies.facts.recommended(self.order):
            due = [self._shown(model, each) for each in in_turn(first, self.name)]
            for difference in self._replies.differences(self._list, due, self.call.given):
                if isinstance(difference.expected, InOrder):
                    yield self._replies.fault(self.call, self._list, difference)

    def _differing(self, model: BaseModel, message: Any, given: Any) -> Iterator[Difference]:
        return self._replies.differences(self._item, self._shown(model, message), given)

    def _shown(self, model: BaseModel, message: Any) -> dict[str, Any]:
        """Return a message as a caller sees it."""
        found: dict[str, Any] = getattr(model, f"shown_{self._name}")(message)
        return found


# ── Signals ──


def comparable(signal: Signal) -> Signal:
    """Return a signal as a value that can be compared and hashed, whatever the order of its fields."""
    name, fields = signal
    return name, tuple(sorted((field, _hashable(value)) for field, value in fields))


class _Fields(dict[str, Any]):
    """A plain value that can be hashed: nobody changes it."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(frozenset(self.items()))


def _hashable(value: Any) -> Any:
    match value:
        case dict():
            return _Fields({name: _hashable(part) for name, part in value.items()})
        case list() | tuple():
            return tuple(map(_hashable, value))
        case _:
            return value


def required(outcomes: Iterable[Outcome]) -> list[Signal]:
    """Return the signals that have to come, as the model tells of them."""
    return [signal for each in outcomes for signal in (*each.signals, *each.again)]


def permitted(outcomes: Iterable[Outcome]) -> frozenset[Signal]:
    """Return the signals that may come, be it once more; all of them `comparable`."""
    return frozenset(comparable(signal) for each in outcomes for signal in (*each.may, *each.again))


def silent(outcome: Outcome) -> bool:
    """Return whether no signal comes of an outcome, or may."""
    return not (outcome.signals or outcome.again or outcome.may)


def texts(value: Any) -> Iterator[str]:
    """Walk every text in a value, or in one of those that it may be."""
    match value:
        case str():
            yield value
        case AnyOf(options=parts) | (list() | tuple() as parts):
            yield from itertools.chain(*map(texts, parts))
        case dict():
            yield from itertools.chain(*map(texts, value.values()))


@dataclass(frozen=True, slots=True)
class Signals:
    """Matches the signals of one lifecycle: `kinds` are their types by name; without `instants` times are not compared.

    The signals of one call are matched again and again, with each explanation of it, and a call may send thousands: what was
    made of the last ones is kept.
    """

    kinds: Mapping[str, RecordType]
    instants: bool
    _last: list[tuple[tuple[Signal, ...], Seen]] = field(default_factory=list, compare=False)

    def times(self, seen: Iterable[Signal]) -> tuple[int, ...]:
        """Return the instants that some signals tell of, in order; none where times are not compared."""
        found = {
            value
            for name, fields in (seen if self.instants else ())
            for field, value in fields
            if isinstance(present(self.kinds[name].field(field) or NULL), Time) and value is not None
        }
        return tuple(sorted(found))

    def fits(self, wanted: Signal, seen: Signal) -> bool:
        """Return whether a signal that was seen may be one that is wanted; both of them `comparable`."""
        if wanted == seen or wanted[0] != seen[0]:
            return wanted == seen
        kind = self.kinds[wanted[0]]
        return not any(differences(kind, dict(wanted[1]), dict(seen[1]), instants=self.instants))

    def only_same(self, wanted: Signal) -> bool:
        """Return whether no other signal fits a `comparable` one: each of its fields is compared, and is a plain value."""
        fields = self.kinds[wanted[0]].fields
        compared = self.instants or not any(isinstance(present(kind), Time) for _, kind in fields)
        return compared and all(isinstance(value, str | int | None) for _, value in wanted[1])

    def seen(self, signals: Iterable[Signal]) -> Seen:
        """Return signals that were seen, to be matched."""
        if not isinstance(signals, tuple):  # what may change is not known again
            return Seen(self, signals)
        last = next((each for each in self._last if each[0] is signals), None)
        if last is None:
            last = signals, Seen(self, signals)
            self._last[:] = [last]
        return last[1]

    def left(self, needed: Iterable[Signal], seen: Iterable[Signal]) -> tuple[list[Signal], Signal | None]:
        """Match signals that have to come: return those seen that are left, and the first that did not come, or None."""
        found = self.seen(seen)
        rest, unseen = found.left(needed, found.all)
        return found.of(rest), unseen

    def stranger(self, seen: Iterable[Signal], allowed: Iterable[Signal]) -> Signal | None:
        """Return the first of the signals seen that is none of those allowed, or None; all of them `comparable`."""
        known = frozenset(allowed)
        return next((one for one in seen if one not in known and not any(self.fits(each, one) for each in known)), None)


class Seen:
    """Signals that were seen, of which many may be matched one after the other.

    Some of them are a number, with a bit for the place of each, so that it is quick to tell whether they are the same.

    all  the number of all of them
    """

    def __init__(self, signals: Signals, seen: Iterable[Signal]) -> None:
        self._signals = signals
        self._seen = tuple(map(comparable, seen))
        self.all = (1 << len(self._seen)) - 1
        self._same: dict[Signal, list[int]] = defaultdict(list)
        self._named: dict[str, list[int]] = defaultdict(list)
        for place, signal in enumerate(self._seen):
            self._same[signal].append(place)
            self._named[signal[0]].append(place)
        self._vague = {name for name, fields in self._seen if any(value is ANYTHING for _, value in fields)}

    def of(self, some: int) -> list[Signal]:
        """Return some of the signals, all of them `comparable`."""
        bits = reversed(f"{some:b}")  # a shift for each of thousands of places would copy the number as often
        return [signal for signal, bit in zip(self._seen, bits, strict=False) if bit == "1"]

    def left(self, needed: Iterable[Signal], among: int) -> tuple[int, Signal | None]:
        """Match signals that have to come among some: return those that are left, and the first that did not come, or None.

        Those that are the same are matched first; then each of the others with the first that fits.
        """
        others = []
        for signal in needed:
            wanted = comparable(signal)
            place = next(_among(self._same.get(wanted, ()), among), None)
            if place is not None:
                among ^= 1 << place
            elif self._fits_others(wanted):
                others.append((wanted, signal))
            else:
                return among, signal
        for wanted, signal in others:
            named = _among(self._named.get(wanted[0], ()), among)
            place = next((each for each in named if self._signals.fits(wanted, self._seen[each])), None)
            if place is None:
                return among, signal
            among ^= 1 << place
        return among, None

    def contested(self, needed: Iterable[Signal]) -> bool:
        """Return whether one that was seen may be either of two different signals that have to come."""
        wanted = {comparable(signal) for signal in needed}
        loose = {each[0] for each in wanted if self._fits_others(each)}
        return any(
            sum(each[0] == seen[0] and self._signals.fits(each, seen) for each in wanted) > 1
            for seen in (self._same if loose else ())
            if seen[0] in loose
        )

    def _fits_others(self, wanted: Signal) -> bool:
        return wanted[0] in self._vague or not self._signals.only_same(wanted)


def _among(places: Sequence[int], some: int) -> Iterator[int]:
    """Walk those places of which there is a bit in a number; most often they begin with its first one."""
    first = (some & -some).bit_length() - 1
    later = (places[index] for index in range(bisect_left(places, first), len(places)))
    return (place for place in later if some >> place & 1)
