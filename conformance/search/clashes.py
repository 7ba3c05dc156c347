"""What two calls do to each other, found on the model: whether it matters which comes first, and what both change.

Numbers and ids that the system chooses, and what stands in an order, follow from the order of the calls, and make no difference.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Self

from statemachines.model import NOTHING, BaseModel, Impossible, Restless
from statemachines.rows import Call

APART = 1000  # between the numbers of the records that one call creates and those of another: no call creates as many
COUNTED = 3  # with which a frozen state begins: the time, how many records there were and have ended; what order calls came in tells of these

Asked = tuple[str, dict[str, Any]]  # an operation, and what it is called with
Calls = tuple[Asked, Asked]
Changes = set[tuple[int, Hashable]]
"""The parts of a state that a call changes, by their place, each with the number of the record; ADDED for what is new there."""
ADDED = None


def calls_of(*asked: Asked) -> list[Call]:
    """Return calls that one caller makes, numbered from 0: a later one may take something out of the reply of an earlier one."""
    return [Call(number, name, tuple(given.items())) for number, (name, given) in enumerate(asked)]


class WhatCame(NamedTuple):
    """What a call comes to: its answer, and the signals that it has to send."""

    answer: str
    signals: tuple[str, ...]


class Here(NamedTuple):
    """Where calls may meet: a model, and its state."""

    model: BaseModel
    frozen: tuple[Any, ...]

    @classmethod
    def of(cls, model: BaseModel) -> Self:
        """Return the state in which a model is now, whatever it will come to."""
        return cls(model.fork(), model.freeze())

    def again(self) -> BaseModel:
        """Return a model in this state."""
        return self.model.thawed(self.frozen)


def only_a_look_tells(model: BaseModel, one: Asked, other: Asked, look: Asked) -> bool:
    """Return whether who makes one call knows only by a look after it that it came before the other: either way it is answered alike."""
    first, later = model.fork(), model.fork()
    with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
        answered = comes_to(first, one).answer
        comes_to(later, other)
        return answered == comes_to(later, one).answer and comes_to(first, look).answer != comes_to(later, look).answer
    return False


def a_look_tells(model: BaseModel, one: Asked, other: Asked, look: Asked) -> bool:
    """Return whether a look after one call tells of that call or of the other: it is answered otherwise before both, or between them.

    Who has read before the calls, or is half done with one of them, gives what was once right.
    """
    before, between, after = model.fork(), model.fork(), model.fork()
    with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
        comes_to(between, one)
        comes_to(after, other)
        comes_to(after, one)
        return len({comes_to(each, look).answer for each in (before, between, after)}) > 1
    return False


def clash(here: Here, calls: Calls, changes: Sequence[Changes]) -> bool:
    """Return whether calls change one thing, as `changes` tells, or come to something else in another order."""
    first, second = changes
    if any(which is not ADDED for _, which in first & second):
        return True
    numbered = [*enumerate(calls)]
    (gave, after), (gave_then, after_then) = _came(here, numbered), _came(here, numbered[::-1])
    return gave != gave_then or not all(map(_is_same, after, after_then))


def changes_of(here: Here, call: Asked) -> Changes:
    """Return what a call changes when it is made alone."""
    after = here.again()
    comes_to(after, call)
    return set(_changed(here.frozen, after.freeze()))


def _came(
    here: Here, calls: Sequence[tuple[int, Asked]]
) -> tuple[tuple[dict[int, str], Counter[str]], tuple[Any, ...]]:
    """Return what calls give one after the other, each by its number, with the signals of all of them, and the state then.

    New records have numbers, and so ids, that go with their call: these follow from the order of the calls, and make no
    difference to anybody.
    """
    after: Any = here.again()
    begun, found, signals = after.serials, dict[int, str](), Counter[str]()
    for number, call in calls:
        after.serials = begun + number * APART
        found[number], sent = comes_to(after, call)
        signals.update(sent)
    after.serials = begun
    return (found, signals), after.freeze()


def _is_same(part: Any, other: Any) -> bool:
    """Return whether two parts of a state are the same, in whatever order they stand: that follows from the order of the calls."""
    return part == other or (isinstance(part, tuple) and Counter(part) == Counter(other))


def comes_to(model: BaseModel, call: Asked) -> WhatCame:
    """Make a call on a model; return what it comes to."""
    operation, arguments = call
    decision = model.decide(operation, arguments)
    done = model.do(operation, arguments) if decision.accept else NOTHING
    signals = (repr(signal) for each in (done, *model.settle()) for signal in each.signals)
    return WhatCame(f"{decision.accept} {decision.refuse} {done.value}", tuple(signals))


def _changed(before: tuple[Any, ...], after: tuple[Any, ...]) -> Iterator[tuple[int, Hashable]]:
    """Walk where two states of a model differ: in which of its parts, and which record of it."""
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if isinstance(old, tuple | frozenset):
            there, then = _by_number(old), _by_number(new)
            yield from ((place, key) for key, each in there.items() if then.get(key) != each)
            if then.keys() - there.keys():
                yield place, ADDED
        elif place >= COUNTED:
            yield place, 0


def _by_number(part: Collection[Any]) -> dict[Hashable, Counter[Any]]:
    """Return the records of a part of a state by their numbers, messages by that of the record they are about, and others as they are."""
    found: dict[Hashable, Counter[Any]] = {}
    for each in part:
        found.setdefault(each[0] if isinstance(each, tuple) and each else each, Counter())[each] += 1
    return found
