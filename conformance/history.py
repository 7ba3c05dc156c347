"""Calls made at once: whether an order, one after the other, explains what they gave.

Linearizability after Wing and Gong, with states seen before cut off. A call that sends messages is
not one step: every message it sends is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from conformance.observed import Observed, SignalKey, signal_key
from conformance.step import Configuration, Stepper, unasked
from statemachines.model import BaseModel, Outcome

SMALL = (
    12  # histories up to this many calls are searched; longer ones are followed in the order of their ends
)
FEW, LONG = 3, 60  # so are those of so few callers with so many calls: their orders are few
NODES = 20_000  # steps of a search before it gives up


@dataclass(slots=True)
class Group:
    """Calls made at once, with the signals of all of them together."""

    calls: list[Observed]
    signals: list[SignalKey] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """What each call gave, in one line."""
        parts = [
            f"{call.operation} → {f'refused {call.refused}' if call.refused else call.given!r}"
            for call in self.calls
        ]
        text = "; ".join(parts)
        return text if len(text) <= 400 else f"{text[:397]}…"

    @property
    def clause(self) -> str:
        """The operation that the calls are of."""
        return f"operations.{self.calls[0].operation}" if self.calls else "operations"


@dataclass(slots=True)
class Explained:
    """The configurations that a history can end in; `partial` when not all of them were looked for."""

    ends: list[Configuration]
    partial: bool


def explanations(stepper: Stepper, start: Configuration, group: Group, most: int) -> Explained:
    """Search for orders of the calls that explain every reply and all signals."""
    search = _Search(stepper, group, start.standing)
    if len(group.calls) > (LONG if len({call.caller for call in group.calls}) <= FEW else SMALL):
        return search.follow(start.model)
    return search.all(start.model, most)


_MessageKey = tuple[Any, Any]  # a message: what it is about, and where it stands in the order


@dataclass(frozen=True, slots=True)
class _Node:
    """A point in a search: the calls done, the messages that each call has sent, the state, the signals owed."""

    done: frozenset[int]
    sent: tuple[tuple[int, tuple[_MessageKey, ...]], ...]
    frozen: Any
    must: tuple[SignalKey, ...]
    may: frozenset[SignalKey]


def _gather(outcomes: Sequence[Outcome], must: list[SignalKey], may: set[SignalKey]) -> None:
    """Add the signals that have to come, and those that may."""
    for each in outcomes:
        must += [signal_key(signal) for signal in (*each.signals, *each.again)]
        may |= {signal_key(signal) for signal in (*each.may, *each.again)}


class _Search:
    def __init__(self, stepper: Stepper, group: Group, standing: frozenset[SignalKey]) -> None:
        self.group = group
        self.stepper = stepper
        self.facts = stepper.facts
        self.standing = standing

    def follow(self, model: BaseModel) -> Explained:
        """Take the calls in the order in which they ended; enough for long histories whose calls commute."""
        if self._gives_an_id_twice():
            return Explained([], False)
        calls = sorted(range(len(self.group.calls)), key=lambda index: self.group.calls[index].ended)
        must: list[SignalKey] = []
        may: set[SignalKey] = set()
        for index in calls:
            way = next(self._whole(model, self.group.calls[index]), None)
            if way is None:
                return Explained([], True)
            model, outcomes = way
            _gather([*outcomes, *model.settle()], must, may)
        standing = self._signals(must, frozenset(may))
        return Explained([] if standing is None else [Configuration(model, standing)], True)

    def _gives_an_id_twice(self) -> bool:
        """Tell whether two records were given one id while none could leave, which no order explains."""
        calls = self.group.calls
        given = [(call.operation, place, each) for call in calls for place, each in enumerate(call.minted)]
        twice = len(set(given)) < len(given)
        return twice and all(self.facts.only_adds(call.operation) for call in calls)

    def all(self, model: BaseModel, most: int) -> Explained:
        """Search every order, depth first, cutting off states seen before."""
        root = _Node(frozenset(), (), model.freeze(), (), frozenset())
        waiting, known, nodes = [root], {root}, 0
        ends: dict[Any, Configuration] = {}
        while waiting:
            node = waiting.pop()
            nodes += 1
            if len(node.done) == len(self.group.calls):
                end = self._end(node, model)
                if end is not None:
                    ends.setdefault((end.model.freeze(), end.standing), end)
                if len(ends) >= most:
                    return Explained(list(ends.values()), True)
            if nodes > NODES:
                return Explained(list(ends.values()), True)
            for following in self._next(node, model):
                if following not in known:
                    known.add(following)
                    waiting.append(following)
        return Explained(list(ends.values()), False)

    def _end(self, node: _Node, like: BaseModel) -> Configuration | None:
        model = like.thawed(node.frozen)
        must, may = list(node.must), set(node.may)
        _gather(model.settle(), must, may)
        standing = self._signals(must, frozenset(may))
        return None if standing is None else Configuration(model, standing)

    def _signals(self, must: Sequence[SignalKey], may: frozenset[SignalKey]) -> frozenset[SignalKey] | None:
        """Match the signals of the whole group; order and number of those that may come do not count."""
        rest = list(map(signal_key, self.group.signals))
        matching = partial(self.facts.matching, instants=self.stepper.declaration.instants)
        for key in must:
            seen = matching(key, rest)
            if seen is None:
                return None
            rest.remove(seen)
        allowed = may | self.standing
        if any(not any(matching(each, [key]) for each in allowed) for key in rest):
            return None
        return self.standing | may

    def _next(self, node: _Node, like: BaseModel) -> Iterator[_Node]:
        """Walk the nodes one step on: a call that may come first, a message sent, a step of the system's own."""
        calls = self.group.calls
        left = [index for index in range(len(calls)) if index not in node.done]
        horizon = min((calls[index].ended for index in left), default=0)
        for index in left:
            if self._since(calls[index]) > horizon:
                continue
            if self.facts.sends(calls[index]):
                yield from self._sending(node, index, like)
            else:
                model = like.thawed(node.frozen)
                for then, outcomes in self._whole(model, calls[index]):
                    yield self._after(node, then, outcomes, done=index)
        for other, outcomes in unasked(node.frozen, like):
            yield self._after(node, other, outcomes)

    def _since(self, call: Observed) -> int:
        """Give the earliest instant at which a call can have taken its step: one that waited took it at its end.

        By a real clock it may have given up before, and come back late.
        """
        waited = self.facts.waits(call.operation) and self.stepper.declaration.clock == "virtual"
        return call.ended if waited else call.began

    def _sending(self, node: _Node, index: int, like: BaseModel) -> Iterator[_Node]:
        """Walk a call that sends: its next message, or its end when all of them are sent."""
        call = self.group.calls[index]
        model = like.thawed(node.frozen)
        if not self.stepper.decision(model, call.operation, call.arguments).accept:
            return
        sent = dict(node.sent).get(index, ())
        if len(sent) < len(call.given):
            message = self.stepper.due_like(model, call, call.given[len(sent)])
            # The order binds each sender, unless it is only recommended.
            bound = bool(sent) and not self.stepper.recommended(self.facts.order(call))
            overtaken = bound and message is not None and message.key < sent[-1][1]
            if message is not None and not overtaken:
                self.facts.send(model, call, message)
                yield self._after(node, model, [], sent=(index, (*sent, (message.about, message.key))))
            return
        if self._leaves_owed(node, model, call):
            return
        told = _messages(self.facts.sent(model, call), sent)
        outcome = getattr(model, f"do_{call.operation}")(
            **call.arguments, **{self.facts.variable(call): told}
        )
        yield self._after(node, model, [outcome], done=index)

    def _leaves_owed(self, node: _Node, model: BaseModel, call: Observed) -> bool:
        """Tell whether a call that sends would end while a message is owed that nobody else is about to send.

        Another that began after this one ended was not about to do anything yet.
        """
        others = [
            other
            for index, other in enumerate(self.group.calls)
            if index not in node.done and other is not call and other.began <= call.ended
        ]
        about_to = [given for other in others if self.facts.sends(other) for given in other.given]
        return not all(
            any(self.stepper.may_show(model, call, message, given) for given in about_to)
            for message in self.facts.owed(model, call)
        )

    def _after(
        self,
        node: _Node,
        model: BaseModel,
        outcomes: list[Outcome],
        *,
        done: int | None = None,
        sent: tuple[int, tuple[_MessageKey, ...]] | None = None,
    ) -> _Node:
        must, may = list(node.must), set(node.may)
        _gather(outcomes, must, may)
        sent_by = dict(node.sent)
        if sent is not None:
            sent_by[sent[0]] = sent[1]
        finished = node.done if done is None else node.done | {done}
        return _Node(
            finished,
            tuple(sorted(sent_by.items())),
            model.freeze(),
            tuple(sorted(must, key=repr)),
            frozenset(may),
        )

    def _whole(self, model: BaseModel, call: Observed) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk what a call taken as one step leads to; nothing when the model does not allow what it gave."""
        return self.stepper.ways(model, call, self.group.signals, [])


def _messages(sent: Sequence[Any], keys: Sequence[_MessageKey]) -> list[Any]:
    """Give the messages that keys stand for, each once: of two with one key the first comes first."""
    rest = list(sent)
    found = []
    for key in keys:
        message = next((each for each in rest if (each.about, each.key) == key), None)
        if message is not None:
            rest = [each for each in rest if each is not message]
            found.append(message)
    return found
