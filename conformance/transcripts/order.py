"""The order of messages that calls at once sent: it stays open until a look tells it.

What each sender sent comes in its own order, and after all that those sent who were done before it began. All orders
that keep to this are one configuration, as long as nothing but a look at the messages can tell them apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from statemachines.explore import MessageFacts
from statemachines.model import BaseModel, Impossible
from statemachines.rows import Observed


@dataclass(frozen=True, slots=True)
class Unordered:
    """A stretch of the messages that were sent, in one of its orders.

    name    the message
    start   how many were sent before the first of them
    before  of each of them those that come before it in any order: places in this stretch
    """

    name: str
    start: int
    before: tuple[frozenset[int], ...]

    @property
    def settled(self) -> bool:
        """Whether only one order is left."""
        return all(len(places) == place for place, places in enumerate(self.before))

    def order_among(self, candidates: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return an order of some of them that keeps to what comes before what; None if there is none.

        candidates  for each position those that may stand there
        """
        among = frozenset(place for places in candidates for place in places)
        known: dict[frozenset[int], tuple[int, ...]] = {frozenset(): ()}
        for places in candidates:
            known = {
                taken | {place}: (*order, place)
                for taken, order in known.items()
                for place in places
                if place not in taken and self.before[place] & among <= taken
            }
        return next(iter(known.values()), None)

    def arranged(self, order: Sequence[int]) -> tuple[Unordered, tuple[int, ...]]:
        """Return the stretch as it is once the order of some of them is known, and where each of its messages was."""
        direct = [set(places) for places in self.before]
        for earlier, later in itertools.pairwise(order):
            direct[later].add(earlier)
        then: list[int] = []
        before: dict[int, frozenset[int]] = {}
        while len(then) < len(direct):
            place = next(each for each in range(len(direct)) if each not in before and direct[each] <= before.keys())
            then.append(place)
            before[place] = frozenset(direct[place]).union(*(before[each] for each in direct[place]))
        now = {place: number for number, place in enumerate(then)}
        places = tuple(frozenset(now[each] for each in before[place]) for place in then)
        return Unordered(self.name, self.start, places), tuple(then)


@dataclass(frozen=True, slots=True, order=True)
class Teller:
    """One that sends, among calls at once: the first and the last instant at which it can have sent something.

    Senders are in the order in which they began, so that the messages of an open stretch stand in one of their orders;
    `number` tells those apart that began together.
    """

    began: float
    number: int
    until: float


Stretch = tuple[tuple[str, Teller], ...]
"""The messages sent last of which the order is open, as the model has them: each as its kind and who sent it."""


class Senders:
    """Those at once that send: whose messages may come in which order."""

    def __init__(self, facts: MessageFacts) -> None:
        self._facts = facts

    def sent(self, model: BaseModel, stretch: Stretch, name: str, sender: Teller, count: int = 1) -> Stretch:
        """Put the last messages that a model sent, which one has sent, in their place; return the stretch with them.

        Where other things than looks can tell their order they stay where they are, and belong to no stretch.
        """
        if name not in self._facts.open:
            return stretch
        sent = sent_of(model, name)
        later = sum(entry[0] == name and entry[1] > sender for entry in stretch)
        first = len(sent) - count - later
        sent[first:] = [*sent[len(sent) - count :], *sent[first : len(sent) - count]]
        return tuple(sorted((*stretch, *[(name, sender)] * count)))

    def takes_none(self, model: BaseModel, stretch: Stretch, name: str, call: Observed) -> bool:
        """Return whether a call that sends would send none of the messages of a stretch if it came before them."""
        count = sum(entry[0] == name for entry in stretch)
        if not count:
            return True
        earlier = model.fork()
        sent = sent_of(earlier, name)
        others = sent[-count:]
        del sent[-count:]
        due_of(earlier, name).extend(others)
        if not earlier.decide(call.operation, call.arguments).accept:
            return False
        earlier.do(call.operation, call.arguments)
        return not any(message in sent for message in others)

    def over(self, model: BaseModel, stretch: Stretch) -> tuple[Unordered, ...]:
        """Return what stays open of a stretch that is over, until somebody looks."""
        found = []
        for name in sorted({entry[0] for entry in stretch if self._facts.looks_at(entry[0])}):
            senders = [sender for each, sender in stretch if each == name]
            before = tuple(
                frozenset(place for place, other in enumerate(senders) if _precedes(place, other, number, sender))
                for number, sender in enumerate(senders)
            )
            found.append(Unordered(name, len(sent_of(model, name)) - len(senders), before))
        return tuple(each for each in found if not each.settled)


def _precedes(place: int, sender: Teller, other_place: int, other: Teller) -> bool:
    """Return whether a message was sent before another one: by the same sender, or by one that was over."""
    return place < other_place if sender == other else sender.until < other.began


class Transcripts:
    """What looks tell of an order that was open; `may_show` tells of an operation whether it may show a message so."""

    def __init__(self, facts: MessageFacts, may_show: Callable[[str, Any, Any], bool]) -> None:
        self._facts = facts
        self._may_show = may_show

    def bound(
        self, model: BaseModel, unordered: tuple[Unordered, ...], call: Observed
    ) -> tuple[BaseModel, tuple[Unordered, ...]]:
        """Return a model in which messages have the order that a look shows, and what is still open then.

        Where no order that is open is shown, they stay as they are.
        """
        name = self._facts.looked_at(call.operation)
        shows = call.refused is None and isinstance(call.given, list)
        if not shows or all(each.name != name for each in unordered):
            return model, unordered
        model = model.thawed(model.freeze())
        if not model.fork().decide(call.operation, call.arguments).accept:
            return model, unordered
        left = [self._told(model, each, call) if each.name == name else each for each in unordered]
        return model, tuple(each for each in left if not each.settled)

    def _told(self, model: BaseModel, stretch: Unordered, call: Observed) -> Unordered:
        """Put a stretch of a model's messages in the order that a look shows, if it shows one; return what is open then."""
        sent = sent_of(model, stretch.name)
        end = stretch.start + len(stretch.before)
        first = len(self._shown(model, stretch.name, sent[: stretch.start], call))
        here = sent[stretch.start : end]
        shown = {
            place: item
            for place, message in enumerate(here)
            for item in self._shown(model, stretch.name, [message], call)
        }
        given = call.given[first : first + len(shown)]
        order = stretch.order_among(
            [[place for place, item in shown.items() if self._may_show(call.operation, item, each)] for each in given]
        )
        if order is None or len(given) < len(shown):
            return stretch
        told, places = stretch.arranged(order)
        sent[stretch.start : end] = [here[place] for place in places]
        return told

    def _shown(self, model: BaseModel, name: str, messages: Iterable[Any], call: Observed) -> list[Any]:
        """Return what a look would show if only these messages had been sent."""
        other = model.fork()
        about = {id(message) for message in messages}
        kept = [
            there for here, there in zip(sent_of(model, name), sent_of(other, name), strict=True) if id(here) in about
        ]
        sent_of(other, name)[:] = kept
        shown: list[Any] = other.do(call.operation, call.arguments).value
        return shown


def sent_of(model: BaseModel, name: str) -> list[Any]:
    """Return all messages of a kind that were sent so far, as the model holds them."""
    found: list[Any] = getattr(model, f"sent_{name.lower()}")
    return found


def due_of(model: BaseModel, name: str) -> list[Any]:
    """Return all messages of a kind that are due, as the model holds them."""
    found: list[Any] = getattr(model, f"due_{name.lower()}")
    return found


def in_turn(messages: Iterable[Any], name: str) -> list[Any]:
    """Return messages of a kind in the order in which they have to be sent.

    Raises `Impossible` where a model has no answer, as one may that lacks a sentence: its order is by what nothing has set.
    """
    try:
        return sorted(messages, key=lambda message: message.key)
    except TypeError as error:
        raise Impossible(f"messages.{name}.order", str(error), "what the other rules allow") from error


def is_earlier(key: Any, other: Any) -> bool:
    """Return whether one place in an order is before another; neither is where a model has no answer."""
    try:
        return bool(key < other)
    except TypeError:
        return False
