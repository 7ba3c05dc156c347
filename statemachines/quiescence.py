"""Every way in which a model comes to rest, what it may do unasked, and by when: on copies, so that the ways stay apart.

`BaseModel.settle` takes one way, in place. A step that cannot be, of a model that lacks a sentence, is no way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from statemachines.model import BaseModel, Impossible, Outcome, Values
from statemachines.undecided import Undecided, read_of

MOST_STATES = 200  # states on the way that are looked at; beyond them one order stands for the rest
FEW_STEPS = (
    8  # steps that have to be taken of which each is tried first; a larger crowd is taken forwards and backwards alone
)
MOST_KEPT = 4_000  # states whose steps are kept for a model
KINDS = 8  # of models, for which they are kept
STEPS_OF_EACH = (
    3  # on average, of the results that are looked for: where many records may each do something, most lead to the same
)


def settled(model: BaseModel) -> Iterator[tuple[BaseModel, list[Outcome]]]:
    """Walk the models at rest that the steps which must be taken lead to, each with what was done on the way.

    Steps are taken in every order that makes a difference.
    """
    if not model.forced():
        yield model, []
        return
    start = model.freeze()
    waiting: list[tuple[Any, list[Outcome], frozenset[Any]]] = [(start, [], frozenset([start]))]
    known = {(start, _signals([]))}
    while waiting:
        frozen, taken, passed = waiting.pop()
        for then, done in _next(model, frozen, one=len(known) > MOST_STATES):
            steps = [*taken, *done]
            if not then.forced():
                yield then, steps
                continue
            point = then.freeze()
            if point not in passed and (point, signals := _signals(steps)) not in known:
                known.add((point, signals))
                waiting.append((point, steps, passed | {point}))


def _next(model: BaseModel, frozen: Any, *, one: bool) -> Iterator[tuple[BaseModel, list[Outcome]]]:
    """Walk what may come next: all the steps that can be taken now, if their order makes no difference, or each of them."""
    steps = model.thawed(frozen).forced()
    if not one and len(steps) > 1:
        there = _in_any_order(model, frozen, steps)
        if there is not None:
            yield there
            return
        for step in steps:
            then = model.thawed(frozen)
            with suppress(Impossible):
                yield then, [then.take(*step)]
        return
    then, taken = model.thawed(frozen), []
    with suppress(Impossible):
        while due := [each for each in then.forced() if each in steps]:
            steps.remove(due[0])
            taken.append(then.take(*due[0]))
        yield then, taken


def _in_any_order(
    model: BaseModel, frozen: Any, steps: Sequence[tuple[int, tuple[Any, ...]]]
) -> tuple[BaseModel, list[Outcome]] | None:
    """Return what steps lead to, where that is the same in each order that is tried; None where it is not, or one takes another away.

    Tried are they as they come, the other way round, and each of a few first. What shows only where three meet in another order
    is not seen, nor is what one in the middle of a crowd does when it comes first.
    """
    first = [[one, *(each for each in steps if each != one)] for one in steps[1:-1]]
    found, ends = None, set()
    for order in (steps, steps[::-1], *(first if len(steps) <= FEW_STEPS else ())):
        came = _all_taken(model, frozen, order)
        if came is None:
            return None
        found = found or came
        ends.add((came[0].freeze(), _signals(came[1])))
        if len(ends) > 1:
            return None
    return found


def _all_taken(
    model: BaseModel, frozen: Any, steps: Iterable[tuple[int, tuple[Any, ...]]]
) -> tuple[BaseModel, list[Outcome]] | None:
    """Return what some steps lead to, one after the other; None where one cannot be, or need not be taken any more in its turn."""
    then, taken = model.thawed(frozen), []
    with suppress(Impossible):
        for step in steps:
            if step not in then.forced():
                return None
            taken.append(then.take(*step))
        return then, taken
    return None


def _signals(taken: Iterable[Outcome]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return what signals steps have to send, in whatever order, and which they may: two ways to one state differ by them."""
    sent = [each for each in taken if each.signals or each.may or each.again]
    needed = sorted(repr(signal) for each in sent for signal in (*each.signals, *each.again))
    return tuple(needed), frozenset(repr(signal) for each in sent for signal in (*each.may, *each.again))


def unasked(frozen: Any, like: BaseModel, but: Container[int] = ()) -> Iterator[tuple[BaseModel, list[Outcome]]]:
    """Walk what may be done unasked: one step of its own, or a timer that is due and all that follows, to rest.

    Steps that only tell something are not among it: they change nothing. Nor are those whose number is in `but`.
    """
    here = like.thawed(frozen)
    for index, keys, _ in here.own_steps():
        if index not in like.TELLING and index not in but:
            other = like.thawed(frozen)
            with suppress(Impossible):
                yield other, [other.take(index, keys)]
    for _, _, index, key in here.due():
        other = like.thawed(frozen)
        with suppress(Impossible):
            fired = other.fire(index, key)
            yield from ((then, [fired, *forced]) for then, forced in settled(other))


def telling(frozen: Any, like: BaseModel) -> list[Outcome]:
    """Return what steps of its own tell that change nothing: it may come or not, and as often as anybody likes."""
    if not like.TELLING:
        return []
    here = like.thawed(frozen)
    told = []
    for index, keys, _ in here.own_steps():
        if index in like.TELLING:
            with suppress(Impossible):
                told.append(here.take(index, keys))
    return [Outcome(may=(*each.may, *each.signals, *each.again)) for each in told]


def of_its_own(
    model: BaseModel, most: int, never: Callable[[list[Outcome]], bool] | None = None
) -> Generator[tuple[BaseModel, list[Outcome]], None, bool]:
    """Walk the model as it is, then every result of what may be done unasked, timers that are due included.

    What was done so far is told to `never`: it says where that cannot have been so. To whom that is all one, one way to each
    state is enough. A step that changes nothing, and only permits signals, is taken wherever it can be. Gives whether there
    were more results than `most`, which were not looked at.
    """
    if not (model.own_steps() or model.due()):
        yield model, []
        return False
    states = reached(model, most, never)
    while True:
        try:
            frozen, taken = next(states)
        except StopIteration as over:
            return bool(over.value)
        yield model.thawed(frozen), taken


def reached(
    model: BaseModel, most: int, never: Callable[[list[Outcome]], bool] | None = None
) -> Generator[tuple[Any, list[Outcome]], None, bool]:
    """Walk the same as frozen states."""
    kept = _kept_for(model)
    start = kept.one(model.freeze())
    known = {(id(start), _signals([])): start}  # by which they are, not by what they hold: that takes long to compare
    waiting: list[tuple[Any, list[Outcome]]] = [(start, [])]
    more, left = False, STEPS_OF_EACH * most
    while waiting:
        frozen, taken = waiting.pop(0)
        taken = [*taken, *telling(frozen, model)]
        yield frozen, taken
        if left <= 0:
            here = model.thawed(frozen)
            more = more or bool(here.own_steps() or here.due())
            continue
        following = kept.steps(frozen, model)
        left -= len(following)
        for result, outcomes in following:
            steps = [*taken, *outcomes]
            point = (id(result), _signals(steps if never is not None else []))  # a signal makes it another one
            if point in known or (never is not None and never(steps)):
                continue
            if len(known) >= most:
                more = True
                continue
            known[point] = result
            waiting.append((result, steps))
    return more


class _Kept:
    """What steps of its own lead to from frozen states, as one look after the other asks the same. Equal states are one object.

    It is kept for a model and its copies of the same kind, with the same choices, until others of that kind are asked.
    """

    def __init__(self, model: BaseModel) -> None:
        self._choices = model.limits, model.policies
        self._states: dict[Any, Any] = {}
        self._steps: dict[int, tuple[list[tuple[Any, list[Outcome]]], list[int], set[str]]] = {}

    def one(self, frozen: Any) -> Any:
        """Return the one object that stands for a state."""
        return self._states.setdefault(frozen, frozen)

    def steps(self, frozen: Any, model: BaseModel) -> list[tuple[Any, list[Outcome]]]:
        """Return what the steps from a state lead to, each with what was done; they witness what they do each time, and read what they read."""
        found = self._steps.get(id(frozen))
        if found is None:
            seen, model.seen = model.seen, bytearray(len(model.seen))
            read = read_of(model.policies)
            before = {*read}
            read.clear()
            try:
                steps = [(self.one(other.freeze()), outcomes) for other, outcomes in unasked(frozen, model)]
                witnessed = [clause for clause, was in enumerate(model.seen) if was]
                found = self._steps[id(frozen)] = steps, witnessed, {*read}
            finally:
                model.seen = seen
                read |= before
        for clause in found[1]:
            model.seen[clause] = 1
        read_of(model.policies).update(found[2])
        return found[0]

    def fits(self, model: BaseModel) -> bool:
        """Return whether it is about such a model, and not so much that it is forgotten before the next look."""
        limits, policies = self._choices
        return model.limits is limits and model.policies is policies and len(self._states) <= MOST_KEPT


def _kept_for(model: BaseModel) -> _Kept:
    """Return what is kept for a model.

    It is nothing where steps depend on more than the state: on what is doubted, or on instants of which it is not known when
    they were; nor where somebody notes what they read.
    """
    if (
        model.LOOSE
        or type(model.now) is not int
        or type(model.limits) is not Values
        or type(model.policies) not in (Values, Undecided)
    ):
        return _Kept(model)
    kept = _KEPT.get(type(model))
    if kept is None or not kept.fits(model):
        if len(_KEPT) >= KINDS:
            _KEPT.clear()
        kept = _KEPT[type(model)] = _Kept(model)
    return kept


_KEPT: dict[type, _Kept] = {}  # beside the models: each case of a search holds many of them, and is freed late


_Step = tuple[int, tuple[Any, ...]]  # a step of its own: its number, and the keys of its records
Ending = tuple[tuple[_Step, float], ...]
"""Steps with which calls that were made still have to end, each with the instant by which it has to come."""


def made_due(
    ending: Ending, frozen: Any, model: BaseModel, until: float, again: Callable[[BaseModel], Iterable[BaseModel]]
) -> Ending:
    """Return with what calls have to end after one that is over at some instant led from a frozen state to a model.

    A step with which several calls end comes before the first of them is over: a call makes a step due that is due already
    if it would as well had the step been taken. What it leads to then, `again` tells.
    """
    now, due = model.ending(), dict(ending)
    before = model.thawed(frozen).ending() if now else []
    for step in now:
        asked = step not in before
        if not asked and until < due.get(step, math.inf):
            other = model.thawed(frozen)
            other.take(*step)
            asked = any(step in then.ending() for then in again(other))
        due.update({step: until} if asked else {})
    return tuple(due.items())


def still_due(ending: Ending, model: BaseModel) -> Ending:
    """Return the steps with which calls still have to end, in one order."""
    due = model.ending() if ending else []
    return tuple(sorted((each for each in ending if each[0] in due), key=repr))
