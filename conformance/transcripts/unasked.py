"""Steps of its own with which a system tells messages, beside calls made at once.

Such a step is a sender as a call is that sends: it tells its messages one by one, and those of others may come in between.
No reply says which were its own. It may begin wherever it is possible, and goes on where it no longer is; and what it
has claimed nobody else tells. It may be taken several times at once: then each tells some of the messages, and the order
among them is open.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from conformance.transcripts.order import Stretch, Teller, due_of, in_turn, sent_of
from statemachines import kernel
from statemachines.explore import MessageFacts
from statemachines.model import BaseModel

MessageKey = tuple[Any, Any]  # a message: what it is about, and where it stands in the order
OwnStep = tuple[int, tuple[Any, ...]]  # a step of its own: its number, and the keys of its records


@dataclass(frozen=True, slots=True)
class Telling:
    """A step of its own that has told something, by one who tells in order; `teller` is None where several take it at once.

    last  what it told last
    """

    step: OwnStep
    teller: Teller | None
    last: MessageKey


@dataclass(frozen=True, slots=True)
class Own:
    """What is known of steps of its own that tell, at a point of a search.

    possible  those that were possible at some time so far, each with the earliest instant at which it can have begun
    claimed   messages, each with its kind, that one of them has to tell: nobody else does
    telling   those that have told something
    """

    possible: tuple[tuple[OwnStep, float], ...] = ()
    claimed: frozenset[tuple[str, MessageKey]] = frozenset()
    telling: tuple[Telling, ...] = ()

    def told_by(self, step: OwnStep) -> Telling | None:
        """Return what is known of a step that has told something; None if it has not."""
        return next((each for each in self.telling if each.step == step), None)


NOTHING_YET = Own()


class OwnTelling:
    """The steps of its own that tell messages, of one lifecycle; `numbers` are theirs.

    `recommended` tells whether a clause is only that.
    """

    def __init__(self, facts: MessageFacts, recommended: Callable[[str], bool]) -> None:
        self._recommended = recommended
        self._sends = facts.told_unasked()
        self.numbers = frozenset(self._sends)

    def send(self, step: OwnStep) -> kernel.Send:
        """Return how a step sends."""
        return self._sends[step[0]]

    def in_order(self, step: OwnStep) -> bool:
        """Return whether one that takes the step has to tell its messages in their order."""
        return not self._recommended(f"messages.{self.send(step).message}.order")

    def noticed(self, own: Own, model: BaseModel, since: float) -> Own:
        """Return what is known where a model has come to, which it came to at some instant at the earliest."""
        known = {step for step, _ in own.possible}
        new = [(index, keys) for index, keys, _ in model.own_steps() if index in self.numbers]
        new = [step for step in new if step not in known]
        return replace(own, possible=(*own.possible, *((step, since) for step in new))) if new else own

    def owed(self, model: BaseModel, step: OwnStep) -> list[Any]:
        """Return the messages that a step would tell now, in their order; none where a record of it has left."""
        other, name = model.fork(), self.send(step).message
        before = len(sent_of(other, name))
        try:
            other.take(*step)
        except KeyError:
            return []
        told = {message.about for message in sent_of(other, name)[before:]}
        return in_turn((each for each in due_of(model, name) if each.about in told), name)

    def claimed(self, own: Own, model: BaseModel, name: str, messages: Iterable[Any]) -> Own | None:
        """Return what is known when steps of its own have to tell these messages; None where none of them could."""
        keys = {key_of(each) for each in messages}
        if not keys:
            return own
        could = {
            key_of(message)
            for step, _ in own.possible
            if self.send(step).message == name
            for message in self.owed(model, step)
        }
        return replace(own, claimed=own.claimed | {(name, key) for key in keys}) if keys <= could else None

    @contextmanager
    def without_claimed(self, own: Own, model: BaseModel, name: str) -> Iterator[None]:
        """Let a model be one in which nothing is due of what steps of its own have claimed."""
        due = due_of(model, name) if own.claimed else []
        kept = [(place, each) for place, each in enumerate(due) if (name, key_of(each)) in own.claimed]
        for _, message in kept:
            due.remove(message)
        yield
        if kept:
            due = due_of(model, name)
            for place, message in kept:
                due.insert(place, message)

    def begun(self, own: Own, step: OwnStep, stretch: Stretch, calls: int) -> Teller:
        """Return one more who takes a step, beside so many calls."""
        (since,) = (since for each, since in own.possible if each == step)
        known = {entry[1].number for entry in stretch}
        known |= {each.teller.number for each in own.telling if each.teller is not None}
        return Teller(since, next(number for number in itertools.count(calls) if number not in known), math.inf)

    def told(self, own: Own, step: OwnStep, teller: Teller | None, message: Any) -> Own:
        """Return what is known when a step has told one more message."""
        others = (each for each in own.telling if each.step != step)
        telling = sorted((*others, Telling(step, teller, key_of(message))), key=lambda each: each.step)
        claimed = own.claimed - {(self.send(step).message, key_of(message))}
        return replace(own, claimed=claimed, telling=tuple(telling))


def key_of(message: Any) -> MessageKey:
    """Return what stands for a message."""
    return message.about, message.key


def with_keys(messages: Sequence[Any], keys: Sequence[MessageKey]) -> list[Any]:
    """Return the messages that keys stand for, each once: of two with one key the first comes first."""
    rest = list(messages)
    found = []
    for key in keys:
        message = next((each for each in rest if key_of(each) == key), None)
        if message is not None:
            rest = [each for each in rest if each is not message]
            found.append(message)
    return found
