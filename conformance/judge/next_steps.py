"""What comes next among calls made at once: a call, a message that one sends, a step that the system takes on its own.

A call that sends messages is not one step: every message it sends is one; nor is a call that ends with a step on its own,
nor a step on its own that sends. One idea: the step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from conformance.judge.finding import FaultKey, Finding
from conformance.judge.matching import Sending, comparable, permitted, required
from conformance.judge.passing import AT_ONCE, Moment
from conformance.judge.step import Configuration, Stepper, noted
from conformance.system import earliest
from conformance.transcripts import (
    NOTHING_YET,
    Apart,
    MessageKey,
    Own,
    OwnStep,
    OwnTelling,
    Senders,
    Stretch,
    Teller,
    ToCome,
    Unordered,
    due_of,
    is_earlier,
    key_of,
    sent_of,
    with_keys,
)
from statemachines.model import BaseModel, Impossible, Outcome, Signal
from statemachines.quiescence import Ending, made_due, still_due, telling, unasked
from statemachines.rows import Observed


@dataclass(frozen=True, slots=True)
class SearchPoint:
    """A point in a search: the calls done, the messages that each call has sent, the state, the signals owed.

    stretch    the messages sent last whose order is open
    unordered  such stretches that are over
    passed_over  what is due that a call has told a later message before, by the place of that call: it does not tell that any more
    ending     what calls that are done still have to end with
    own        what steps of its own are about to tell
    noted      the faults that only clauses of level SHOULD forbid
    """

    done: frozenset[int]
    sent: tuple[tuple[MessageKey, ...], ...]
    frozen: Any
    must: tuple[Signal, ...] = ()
    may: frozenset[Signal] = frozenset()
    stretch: Stretch = ()
    unordered: tuple[Unordered, ...] = ()
    passed_over: frozenset[tuple[int, MessageKey]] = frozenset()
    ending: Ending = ()
    own: Own = NOTHING_YET
    noted: frozenset[FaultKey] = frozenset()


class NextSteps:
    """The steps that one history can be taken in."""

    def __init__(
        self, stepper: Stepper, calls: Sequence[Observed], signals: Sequence[Signal], start: Configuration
    ) -> None:
        self.calls = calls
        self._ahead = earliest(start.model.now) - min((call.span[0] for call in self.calls), default=0)
        self._timed = any(call.elapsed for call in self.calls)
        self.signals = signals
        self.stepper = stepper
        self.facts = stepper.facts
        self.start = start
        self.faults: dict[FaultKey, Finding] = {}
        self._own = OwnTelling(self.facts.messages, self.facts.recommended)
        self.sending = [stepper.sending(call) for call in self.calls]
        silent = {index: stepper.sending(call, listed=False) for index, call in enumerate(self.calls)}
        self._attempts = {index: each for index, each in silent.items() if each is not None}
        observes = self.facts.observes
        self._to_come = ToCome(self.calls, self.sending, self._attempts, observes, self._own.numbers)
        self._shortens = True
        self._apart = Apart(self.facts.messages, self.calls, self.sending)
        self._senders = Senders(self.facts.messages)
        self._tellers = [Teller(self._since(call), index, self._until(call)) for index, call in enumerate(self.calls)]
        self._partial = False

    def came(self, must: Sequence[Signal]) -> bool:
        """Return whether signals that have to come were seen; who takes a step whose signal was not, is on no way to an end."""
        return not must or self.stepper.signals.left(must, self.signals)[1] is None

    def next(self, node: SearchPoint, like: BaseModel) -> Iterator[SearchPoint]:
        """Walk the nodes one step on: a call that may come first, a message sent, a step of the system's own."""
        calls = self.calls
        left = [index for index in range(len(calls)) if index not in node.done]
        ends = [until for _, until in node.ending]
        horizon = min([*ends, *(self._until(calls[index]) for index in left)], default=0)
        begun = [index for index in left if self._since(calls[index]) <= horizon]
        shortens = self._shortens and not node.own.possible
        first = self._apart.first(like.thawed(node.frozen), node.sent, begun, left) if shortens else ()
        for index, sure in first:
            sending = self.sending[index]
            steps = list(_possible(self._sent(node, index, sending, like))) if sending is not None else []
            if steps or sure:
                yield from steps
                return
        for index in begun:
            sending = self.sending[index]
            for one in self._likes(node, like):
                yield from _possible(
                    self._made(node, index, one) if sending is None else self._sent(node, index, sending, one)
                )
        for other, outcomes in unasked(node.frozen, like, self._own.numbers):
            yield self.after(self.closed(node, like), other, outcomes)
        for step, _ in node.own.possible:
            yield from _possible(self._told_unasked(node, step, like))
        if told := telling(node.frozen, like):
            yield self.after(node, like.thawed(node.frozen), told)

    def _likes(self, node: SearchPoint, like: BaseModel) -> Iterator[BaseModel]:
        """Walk the models by which one call may be judged: those without what the system deviates from, where it need not each time."""
        yield like
        kinds = (kind for kind in self.stepper.each_as if kind is not type(like))
        yield from (like.thawed_as(kind, node.frozen) for kind in kinds)

    def _since(self, call: Observed) -> int:
        """Return the earliest instant at which a call can have taken its step: one that waited for a time took it at its end.

        That is when its last millisecond began: what is done within it may come after, though the call comes back later.
        By a clock that runs on it may have come back late: then only what was over long before is over for sure.
        """
        if self.facts.wait(call.operation) is None:
            return call.began
        last = 1 if self.stepper.declaration.clock == "virtual" else AT_ONCE
        over = (each.ended for each in self.calls if each.span[1] + last <= call.span[1])
        return max([call.began, *(ended + 1 for ended in over)])

    def _until(self, call: Observed) -> float:
        """Return the latest instant at which a call can have taken its step: its end.

        What gives nothing may come about when it is over, where a system says that its effects come later.
        """
        late = self.stepper.declaration.settles and not call.refused and self.facts.gives_nothing(call.operation)
        return math.inf if late else call.ended

    def _made(self, node: SearchPoint, index: int, like: BaseModel) -> Iterator[SearchPoint]:
        """Walk a call that is one step; what it would send may have been claimed."""
        yield from self._made_now(node, index, like)
        attempt = self._attempts.get(index)
        model = like.thawed(node.frozen)
        if (
            attempt is None
            or not node.own.possible
            or not model.decide(attempt.call.operation, attempt.call.arguments).accept
        ):
            return
        with self._own.without_claimed(node.own, model, attempt.name):
            owed = attempt.owed(model)
        claimed = self._own.claimed(node.own, model, attempt.name, owed)
        if owed and claimed is not None:
            yield from self._made_now(replace(node, own=claimed), index, like)

    def _made_now(self, node: SearchPoint, index: int, like: BaseModel) -> Iterator[SearchPoint]:
        """Walk a call that is one step."""
        call, messages = self.calls[index], self.facts.messages
        name = messages.sends_quietly(call.operation) if not call.elapsed else ""
        model = like.thawed(node.frozen)
        if not (self._senders.takes_none(model, node.stretch, name, call) if name else self._apart.only_reads(call)):
            node = self.closed(node, like)
        before, teller = len(sent_of(model, name)) if name else 0, self._tellers[index]
        model, unordered = self.stepper.transcripts.bound(model, node.unordered, call)
        for then, outcomes in self._ways(node, model, index):
            sent = len(sent_of(then, name)) - before if name else 0
            stretch = self._senders.sent(then, node.stretch, name, teller, sent) if name else node.stretch
            yield self.after(node, then, outcomes, index, stretch=stretch, unordered=unordered)

    def moment(self, node: SearchPoint, call: Observed) -> Moment | None:
        """Return when a call was made before which others are done; None where no clock was moved meanwhile."""
        if not (self._timed or call.within):
            return None
        return Moment(self._ahead, max([call.span[0], *(self.calls[each].span[1] for each in node.done)]))

    def _ways(self, node: SearchPoint, model: BaseModel, index: int) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk what a call that is one step leads to; it sends nothing that was claimed."""
        call, attempt = self.calls[index], self._attempts.get(index)
        moment = self.moment(node, call)
        if attempt is None or call.elapsed:
            yield from self.stepper.ways(model, call, self.signals, [], moment)
            return
        with self._own.without_claimed(node.own, model, attempt.name):
            found = list(self.stepper.ways(model, call, self.signals, [], moment))
        yield from found

    def closed(self, node: SearchPoint, like: BaseModel) -> SearchPoint:
        """Return a node at which what was sent so far comes before all that will be."""
        if not node.stretch:
            return node
        over = self._senders.over(like.thawed(node.frozen), node.stretch)
        return replace(node, stretch=(), unordered=(*node.unordered, *over))

    def _sent(self, node: SearchPoint, index: int, sending: Sending, like: BaseModel) -> Iterator[SearchPoint]:
        """Walk a call that sends: its next message, or its end when all of them are sent."""
        call = self.calls[index]
        model = like.thawed(node.frozen)
        if not model.decide(call.operation, call.arguments).accept:
            return
        before = node if self.facts.messages.sends_quietly(call.operation) else self.closed(node, like)
        if len(node.sent[index]) < len(call.given):
            yield from self._next_sent(before, index, sending, model)
        else:
            yield from self._all_sent(before, index, sending, model)

    def _next_sent(self, node: SearchPoint, index: int, sending: Sending, model: BaseModel) -> Iterator[SearchPoint]:
        """Walk the next message that a call sends, by what its reply shows."""
        sent = node.sent[index]
        with self._own.without_claimed(node.own, model, sending.name):
            message = sending.due_like(model, self.calls[index].given[len(sent)])
        if message is None or (index, key_of(message)) in node.passed_over:
            return
        more = len(sent) + 1 < len(self.calls[index].given)
        passed_over = {each for each in node.passed_over if more or each[0] != index}
        if more and not self.facts.recommended(sending.order):  # or else it binds each sender, for what is due by then
            due_now = due_of(model, sending.name)
            passed_over |= {(index, key_of(each)) for each in due_now if is_earlier(each.key, message.key)}
        sending.send(model, message)
        due = {key_of(each) for each in due_of(model, sending.name)} if passed_over else set()
        still = frozenset(each for each in passed_over if each[1] in due)
        stretch = self._senders.sent(model, node.stretch, sending.name, self._tellers[index])
        changed = (*node.sent[:index], (*sent, key_of(message)), *node.sent[index + 1 :])
        yield self.after(node, model, [], sent=changed, stretch=stretch, passed_over=still)

    def _all_sent(self, node: SearchPoint, index: int, sending: Sending, model: BaseModel) -> Iterator[SearchPoint]:
        """Walk the end of a call that has sent all its messages; what else it would send has to be claimed."""
        call = self.calls[index]
        with self._own.without_claimed(node.own, model, sending.name):
            owed = self._to_come.left_owed(node.done, node.sent, model, sending.owed(model), call.ended)
        own = self._own.claimed(node.own, model, sending.name, owed)
        if own is None:
            return
        told = with_keys(sending.sent(model), node.sent[index])
        outcome = model.do(call.operation, {**call.arguments, sending.variable: told})
        yield self.after(node, model, [outcome], index, own=own)

    # ── What steps of its own tell ──

    def _told_unasked(self, node: SearchPoint, step: OwnStep, like: BaseModel) -> Iterator[SearchPoint]:
        """Walk what a step of its own tells next, by the one who has begun to, or by another one.

        Two of them have the signals of two; how many more there are makes no difference.
        """
        name = self._own.send(step).message
        here = like.thawed(node.frozen)
        told_before = node.own.told_by(step)
        for message in self._told_next(node, here, step):
            model = like.thawed(node.frozen)
            (told,) = (each for each in self._own.owed(model, step) if key_of(each) == key_of(message))
            once = here.fork().take(*step, [message])
            getattr(model, f"send_{name.lower()}")([told])
            new = self._own.begun(node.own, step, node.stretch, len(self.calls))
            ways: list[tuple[Teller | None, Teller, list[Outcome]]]
            if told_before is None:
                ways = [(new, new, [once])]
            else:
                again = [Outcome(may=(*once.may, *once.again))]
                first = told_before.teller
                last = told_before.last[1]
                follows = message.key == last or is_earlier(last, message.key)
                overtaken = self._own.in_order(step) and not follows
                ways = [(first, first, again)] if first is not None and not overtaken else []
                ways += [(None, new, [once] if first is not None else again)]
            for known_as, teller, outcomes in ways:
                yield from self._told_by(node, model, step, told, known_as, teller, outcomes)

    def _told_by(
        self,
        node: SearchPoint,
        model: BaseModel,
        step: OwnStep,
        message: Any,
        known_as: Teller | None,
        teller: Teller,
        outcomes: list[Outcome],
    ) -> Iterator[SearchPoint]:
        """Walk what follows when a message was told: all else that is owed it claims, or that was all."""
        caused = [*node.must, *map(comparable, required(outcomes))]
        if not self.came(caused):
            return
        name = self._own.send(step).message
        after = model.thawed(model.freeze())
        own = self._own.told(node.own, step, known_as, message)
        stretch = self._senders.sent(after, node.stretch, name, teller)
        owed = [each for each in self._own.owed(after, step) if (name, key_of(each)) not in own.claimed]
        attempted = self._to_come.attempted(node.done, after)
        owed = self._to_come.left_owed(node.done, node.sent, after, owed)
        left = [each for each in owed if key_of(each) not in attempted]
        claimed = self._own.claimed(own, after, name, left)
        if claimed is not None and self.came([*caused, *self._needed(node, after, message)]):
            if not claimed.claimed:
                after.take(*step, [message])
            yield self.after(node, after, outcomes, own=claimed, stretch=stretch)

    def _told_next(self, node: SearchPoint, model: BaseModel, step: OwnStep) -> Iterator[Any]:
        """Walk the messages that a step of its own may tell next: of many the oldest comes first."""
        owed, due = self._own.owed(model, step), due_of(model, self._own.send(step).message)
        given_away = self._to_come.given_away(node.done, node.sent, model, due, self._own.send(step).message)
        may = [each for each in owed if key_of(each) not in given_away]
        few = len(may) <= self.stepper.budget.few_told
        attempted = set() if few else self._to_come.attempted(node.done, model)
        # When nothing else is to come, nobody can tell in which order they tell.
        in_turn = len(node.done) == len(self.calls) and not self._to_come.more_may_be_due(node.done, model)
        for message in may:
            yield message
            if in_turn or (not few and key_of(message) not in attempted):
                break
        if not few:
            once = required([model.fork().take(*step, may[:1])])
            needed = [*map(comparable, [*once, *once]), *self._needed(node, model, may[0])]
            self._partial = self._partial or self.came([*node.must, *needed])

    def _needed(self, node: SearchPoint, model: BaseModel, message: Any) -> list[Signal]:
        """Return the signals that calls will have to send which have sent something, or will; a message stands for any."""
        outcomes = [
            model.fork().do(each.call.operation, {**each.call.arguments, each.variable: [message]})
            for index, each in enumerate(self.sending)
            if each is not None and index not in node.done and each.call.given
            if self.facts.messages.signals_alike(each.call.operation)
            and model.decide(each.call.operation, each.call.arguments).accept
        ]
        return list(map(comparable, required(outcomes)))

    def _made_due(self, node: SearchPoint, model: BaseModel, call: Observed) -> Ending:
        """Return with what calls still have to end when one more was made."""
        moment = self.moment(node, call)

        def again(other: BaseModel) -> Iterator[BaseModel]:
            return (then for then, _ in self.stepper.ways(other, call, self.signals, [], moment))

        return made_due(node.ending, node.frozen, model, self._until(call), again)

    def after(
        self, node: SearchPoint, model: BaseModel, outcomes: list[Outcome], made: int | None = None, **changed: Any
    ) -> SearchPoint:
        """Return the node that some outcomes lead to, with which a call is `made`, or what else is `changed`."""
        must = sorted((*node.must, *map(comparable, required(outcomes))), key=repr)
        may = node.may | permitted(outcomes)
        done = node.done if made is None else node.done | {made}
        ending = node.ending if made is None else self._made_due(node, model, self.calls[made])
        own = changed.pop("own", node.own)
        faults = {each.key: each for each in noted(outcomes)}
        self.faults |= faults
        if self._own.numbers:
            since = max((self._tellers[index].began for index in done), default=-math.inf)
            own = self._own.noticed(own, model, since)
        then = replace(
            node,
            frozen=model.freeze(),
            must=tuple(must),
            may=may,
            done=done,
            ending=ending,
            own=own,
            noted=node.noted.union(faults),
            **changed,
        )
        return replace(then, ending=still_due(ending, model)) if ending else then


def _possible(steps: Iterator[SearchPoint]) -> Iterator[SearchPoint]:
    """Walk steps as far as a model has an answer, which one that lacks a sentence may not have: others are taken all the same."""
    with suppress(Impossible):
        yield from steps
