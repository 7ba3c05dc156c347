"""Calls made at once: is there an order, one after the other, that explains what they gave?

Linearizability after Wing and Gong, with states seen before cut off. A call that sends messages is
not one step: every message it sends is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance import kernel_facts
from conformance.declaration import Declaration
from conformance.observation import differences
from conformance.observed import Observed, SignalKey, signal_key
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Decision, Impossible, Outcome, Signal
from statemachines.types import NULL

if TYPE_CHECKING:  # the judge calls this module; here a configuration is only an argument
    from conformance.lockstep import Configuration

SMALL = 12  # histories up to this many calls are searched; longer ones are followed in the order of their ends
NODES = 20_000  # steps of a search before it gives up


@dataclass(slots=True)
class Group:
    """Calls made at once, with the signals of all of them together."""

    calls: list[Observed]
    signals: list[SignalKey] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """What each call gave, in one line."""
        parts = [f"{call.operation} → {f'refused {call.refused}' if call.refused else call.given!r}" for call in self.calls]
        text = "; ".join(parts)
        return text if len(text) <= 400 else f"{text[:397]}…"

    @property
    def clause(self) -> str:
        """The operation that the calls are of."""
        return f"operations.{self.calls[0].operation}" if self.calls else "operations"


@dataclass(slots=True)
class Explained:
    """The configurations that a history can end in; `partial` when not all of them were looked for."""

    ends: list[tuple[BaseModel, frozenset[Signal]]]
    partial: bool


def explanations(compiled: Compiled, start: Configuration, group: Group, declaration: Declaration, most: int) -> Explained:
    """Search for orders of the calls that explain every reply and all signals."""
    search = _Search(compiled, declaration, group, start.standing)
    if len(group.calls) > SMALL:
        return search.follow(start.model)
    return search.all(start.model, most)


@dataclass(frozen=True, slots=True)
class _Node:
    """A point in a search: the calls done, how many messages each call has sent, the state, the signals owed."""

    done: frozenset[int]
    sent: tuple[tuple[int, int], ...]
    frozen: Any
    must: tuple[SignalKey, ...]
    may: frozenset[SignalKey]


class _Search:
    def __init__(self, compiled: Compiled, declaration: Declaration, group: Group, standing: frozenset[Signal]) -> None:
        self.group = group
        self.declaration = declaration
        self.facts = kernel_facts.of(compiled)
        self.compiled = compiled
        self.standing = standing

    def follow(self, model: BaseModel) -> Explained:
        """Take the calls in the order in which they ended; enough for long histories whose calls commute."""
        calls = sorted(range(len(self.group.calls)), key=lambda index: self.group.calls[index].ended)
        must: list[SignalKey] = []
        may: set[SignalKey] = set()
        for index in calls:
            outcome = self._whole(model, self.group.calls[index])
            if outcome is None:
                return Explained([], True)
            for each in (outcome, *model.settle()):
                must += [signal_key(signal) for signal in (*each.signals, *each.again)]
                may |= {signal_key(signal) for signal in (*each.may, *each.again)}
        standing = self._signals(must, frozenset(may))
        return Explained([] if standing is None else [(model, standing)], True)

    def all(self, model: BaseModel, most: int) -> Explained:
        """Search every order, depth first, cutting off states seen before."""
        root = _Node(frozenset(), (), model.freeze(), (), frozenset())
        waiting, known, ends, nodes = [root], {root}, {}, 0
        while waiting:
            node = waiting.pop()
            nodes += 1
            if len(node.done) == len(self.group.calls):
                end = self._end(node, model)
                if end is not None:
                    ends.setdefault((end[0].freeze(), end[1]), end)
                if len(ends) >= most:
                    return Explained(list(ends.values()), True)
            if nodes > NODES:
                return Explained(list(ends.values()), True)
            for following in self._next(node, model):
                if following not in known:
                    known.add(following)
                    waiting.append(following)
        return Explained(list(ends.values()), False)

    def _end(self, node: _Node, like: BaseModel) -> tuple[BaseModel, frozenset[Signal]] | None:
        model = self._thawed(node.frozen, like)
        must, may = list(node.must), set(node.may)
        for each in model.settle():
            must += [signal_key(signal) for signal in (*each.signals, *each.again)]
            may |= {signal_key(signal) for signal in (*each.may, *each.again)}
        standing = self._signals(must, frozenset(may))
        return None if standing is None else (model, standing)

    def _signals(self, must: Sequence[SignalKey], may: frozenset[SignalKey]) -> frozenset[Signal] | None:
        """Match the signals of the whole group; order and number of those that may come do not count."""
        rest = list(self.group.signals)
        for key in must:
            if key not in rest:
                return None
            rest.remove(key)
        if any(key not in may and key not in self.standing for key in rest):
            return None
        return self.standing | may

    def _next(self, node: _Node, like: BaseModel) -> Iterator[_Node]:
        """Walk the nodes one step on: a call that may come first, a message sent, a step of the system's own."""
        calls = self.group.calls
        left = [index for index in range(len(calls)) if index not in node.done]
        horizon = min((calls[index].ended for index in left), default=0)
        for index in left:
            if calls[index].began > horizon:
                continue
            if self.facts.sends(calls[index]):
                yield from self._sending(node, index, like)
            else:
                model = self._thawed(node.frozen, like)
                outcome = self._whole(model, calls[index])
                if outcome is not None:
                    yield self._after(node, model, [outcome], done=index)
        model = self._thawed(node.frozen, like)
        for step, keys, _ in model.own_steps():
            other = self._thawed(node.frozen, like)
            yield self._after(node, other, [other.take(step, keys)])

    def _sending(self, node: _Node, index: int, like: BaseModel) -> Iterator[_Node]:
        """Walk a call that sends: its next message, or its end when all of them are sent."""
        call = self.group.calls[index]
        model = self._thawed(node.frozen, like)
        decision: Decision = getattr(model, f"may_{call.operation}")(**call.arguments)
        if not decision.accept:
            return
        sent = dict(node.sent).get(index, 0)
        if sent < len(call.given):
            message = self.facts.due_like(model, call, call.given[sent])
            if message is not None and not self._overtaken(model, call, sent, message):
                self.facts.send(model, call, message)
                yield self._after(node, model, [], sent=(index, sent + 1))
            return
        if self._leaves_owed(node, model, call):
            return
        told = [message for given in call.given for message in self.facts.sent_like(model, call, given)]
        outcome = getattr(model, f"do_{call.operation}")(**call.arguments, **{self.facts.variable(call): told})
        yield self._after(node, model, [outcome], done=index)

    def _overtaken(self, model: BaseModel, call: Observed, sent: int, message: Any) -> bool:
        """Tell whether a call sent a message before one that comes first: the order binds each sender."""
        if sent == 0:
            return False
        before = self.facts.sent_like(model, call, call.given[sent - 1])
        return any(message.key < other.key for other in before)

    def _leaves_owed(self, node: _Node, model: BaseModel, call: Observed) -> bool:
        """Tell whether a call that sends would end while a message is owed that nobody else is about to send."""
        others = [other for index, other in enumerate(self.group.calls) if index not in node.done and other is not call]
        about_to = [given for other in others if self.facts.sends(other) for given in other.given]
        return any(self.facts.shown(model, call, message) not in about_to for message in self.facts.owed(model, call))

    def _after(
        self, node: _Node, model: BaseModel, outcomes: list[Outcome], *, done: int | None = None, sent: tuple[int, int] | None = None
    ) -> _Node:
        must = [*node.must, *(signal_key(signal) for each in outcomes for signal in (*each.signals, *each.again))]
        may = node.may | {signal_key(signal) for each in outcomes for signal in (*each.may, *each.again)}
        counts = dict(node.sent)
        if sent is not None:
            counts[sent[0]] = sent[1]
        finished = node.done if done is None else node.done | {done}
        return _Node(finished, tuple(sorted(counts.items())), model.freeze(), tuple(sorted(must)), may)

    def _whole(self, model: BaseModel, call: Observed) -> Outcome | None:
        """Take a call as one step; None when the model does not allow what it gave."""
        if call.operation == "wait":
            model.wait(call.arguments["ms"])
            return Outcome()
        decision: Decision = getattr(model, f"may_{call.operation}")(**call.arguments)
        if call.refused is not None:
            fits = decision.idle or "*" in decision.refuse or call.refused in decision.refuse
            return Outcome(None, (), decision.may) if fits else None
        if decision.idle or decision.quiet:
            return Outcome(None, (), decision.may)
        if not decision.accept:
            return None
        minted = iter(call.minted)
        model.mint = lambda entity: next(minted, "")
        try:
            outcome: Outcome = getattr(model, f"do_{call.operation}")(**call.arguments)
        except Impossible:
            return None
        finally:
            model.mint = model.next_ordinal
        kind = self.facts.gives(call.operation)
        if kind != NULL and any(differences(kind, outcome.value, call.given, instants=self.declaration.instants)):
            return None
        return outcome

    def _thawed(self, frozen: Any, like: BaseModel) -> BaseModel:
        model = type(like)(self.declaration.limits, self.declaration.policies)
        model.thaw(frozen)
        model.seen = like.seen
        return model
