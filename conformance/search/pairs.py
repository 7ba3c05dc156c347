"""Any two calls at once: in a random situation two calls overlap, of any two operations; sooner or later everybody looks.

A row makes calls at once where its source speaks of it. What nobody thought of comes here: a list beside a start,
a cancel of all beside an ending, two endings of different jobs. Some order of the two calls, one after the other,
has to explain what they gave, and whatever the observers see afterwards. Of what could be called in a situation the model
tells what comes to most: calls of which each makes a difference to the other, and that seldom met so far.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from conformance.budget import Budget
from conformance.judge import CallFailed, case_seed, endless
from conformance.search.faults import Diverged, Faults
from conformance.search.prefill import prefills
from conformance.search.stateful import Driver
from conformance.system import Adapter
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.expression import python_name
from statemachines.model import BaseModel, Impossible, Restless

CANDIDATES = 10  # meetings that are tried on the model in a situation, of which one is made
CLASHING = 8.0  # as much as others those are worth in which one call makes a difference to the other, or both change one record
ALIKE = 0.8  # of the pairs are about one record, if they can be
CREATING = 4  # as often as others a situation has calls that create something
WAITING_DRAWS = 4  # of arguments, to find some with which a call waits
WAITING = 0.7  # of the pairs in which a call can wait are made where it does
BOTH_CHANGE = 2  # as often as others pairs come that both change something
LOOKED_BETWEEN = 0.5  # how often the observers look after a meeting that others follow
FULL = 0.15  # of the situations begin with as many records as there may be, or about as many
MOST_FULL = 24  # records that may be there at most, for such a situation to be made: each costs a call or more


def search(
    compiled: Compiled,
    adapter: Adapter,
    number: int,
    budget: Budget,
    *,
    after: Callable[[Driver], object],
    faults: Faults,
    first: int = 0,
) -> None:
    """Make pairs of calls at once, as many as the budget says, or until enough is found; `first` is the number of the first situation."""
    chooser = random.Random(f"{number}/{first}")
    pairs = list(_pairs(compiled, adapter))
    chooser.shuffle(pairs)
    meetings = _Meetings(compiled, pairs, chooser)
    full = prefills(compiled, adapter.declaration, min(MOST_FULL, budget.prefilled))[1:]
    for index, pair in zip(range(first, first + budget.pairs), itertools.cycle(pairs), strict=False):
        if faults.over:
            break
        if any(faults.broken.shuns(each.name) for each in pair):
            continue
        driver = Driver(compiled, adapter, budget, seed=case_seed(number, index), faults=faults)
        try:
            if full and chooser.random() < FULL:
                chooser.choice(full)(driver)
            waits = any(each.blocks for each in pair) and chooser.random() < WAITING
            until = partial(_waiting, driver, pair, chooser) if waits else dict
            _situation(compiled, driver, chooser, budget.calls_before, until)
            if not _meet(driver, meetings, pair, until(), budget.meetings, chooser):
                continue
            _aftermath(compiled, driver, chooser, budget.calls_after)
            faults.stood(driver.case)
        except Diverged:
            pass
        after(driver)


Pair = tuple[kernel.Operation, kernel.Operation]
Asked = tuple[str, dict[str, Any]]  # an operation, and what it is called with
Calls = tuple[Asked, Asked]
Changes = set[tuple[int, int]]


def _pairs(compiled: Compiled, adapter: Adapter) -> list[Pair]:
    """List every two operations of which one changes something; not those of whoever tests."""
    offered = [each for each in compiled.kernel.operations if adapter.offers(each.name) and not each.control]
    every = itertools.combinations_with_replacement(offered, 2)
    found = [(one, other) for one, other in every if one.effects or other.effects]
    return [pair for pair in found for _ in range(BOTH_CHANGE if all(each.effects for each in pair) else 1)]


def _situation(
    compiled: Compiled, driver: Driver, chooser: random.Random, calls: tuple[int, int], until: Callable[[], object]
) -> None:
    """Make some calls, at least and at most so many, one after the other, of which most do something; or until it is time."""
    offered = [each for each in compiled.kernel.operations if each.effects and driver.offers(each.name)]
    creating = {
        each.name for each in offered if any(isinstance(does, kernel.Create) for does in kernel.walk(each.effects))
    }
    names = [each.name for each in offered for _ in range(CREATING if each.name in creating else 1)]
    for _ in range(chooser.randint(*calls)):
        if until():
            return
        _made(driver, chooser.choice(names), chooser)


def _waiting(driver: Driver, pair: Pair, chooser: random.Random) -> dict[str, dict[str, Any]]:
    """Return arguments with which calls of a pair wait now, by operation."""
    found = {}
    for operation in (each for each in pair if each.blocks):
        drawn = (driver.drawn(operation.name, chooser, tries=1) for _ in range(WAITING_DRAWS))
        waiting = (each for each in drawn if each is not None and driver.avoided(operation.name, each))
        if (arguments := next(waiting, None)) is not None:
            found[operation.name] = arguments
    return found


def _meet(
    driver: Driver,
    meetings: _Meetings,
    pair: Pair,
    waiting: dict[str, dict[str, Any]],
    most: int,
    chooser: random.Random,
) -> int:
    """Let two calls meet, then others in what comes of it, so many times at most; return how many times.

    The observers look at once or later, but always before anything else is done.
    """
    met, unseen = 0, list[dict[str, Any]]()
    while met < most and (calls := meetings.best(driver, pair, {} if met else waiting)) is not None:
        met += 1
        _at_once(driver, calls)
        unseen += [arguments for _, arguments in calls]
        if chooser.random() < LOOKED_BETWEEN:
            driver.observe(*unseen)
            unseen = []
    if unseen:
        driver.observe(*unseen)
    return met


class _Meetings:
    """Chooses which two calls meet in a situation; knows how often which have met."""

    def __init__(self, compiled: Compiled, pairs: Sequence[Pair], chooser: random.Random) -> None:
        self._entities = {each.name: python_name(each.collection) for each in compiled.kernel.entities}
        self._pairs, self._chooser = pairs, chooser
        self._met: Counter[Hashable] = Counter()

    def best(self, driver: Driver, pair: Pair, waiting: dict[str, dict[str, Any]]) -> Calls | None:
        """Return what two calls are made now: of this pair where one of them shall wait (`waiting`); None where there are none."""
        if driver.case.judge.unsure:
            return None
        tried = [pair, *self._chooser.choices(self._pairs, k=CANDIDATES - 1)] if not waiting else [pair]
        worth: list[tuple[tuple[float, Hashable], Calls]] = []
        for each in (each for each in tried if waiting or not self._shunned(driver, each)):
            with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
                calls = self._possible(driver, each, waiting)
                worth += [(self._worth(driver.case.judge.model.fork(), calls), calls)] if calls is not None else []
        if not worth:
            return None
        (_, what), calls = max(worth, key=lambda each: each[0][0])
        self._met[what] += 1
        return calls

    def _shunned(self, driver: Driver, pair: Pair) -> bool:
        return any(driver.faults.broken.shuns(each.name) for each in pair)

    def _possible(self, driver: Driver, pair: Pair, waiting: dict[str, dict[str, Any]]) -> Calls | None:
        """Return two calls that may be made at once, mostly about one record; None where there are none to make."""
        one, other = pair
        first, second = (waiting.get(each.name) or driver.drawn(each.name, self._chooser) for each in pair)
        if first is None or second is None:
            return None
        if self._chooser.random() < ALIKE:
            second = _about_the_same(driver, (one, first), (other, second))
        calls = ((one.name, first), (other.name, second))
        if endless(driver.case.judge.lockstep, [[call] for call in calls]):
            return None
        return None if driver.astray(calls) or driver.astray(calls[::-1]) else calls

    def _worth(self, model: BaseModel, calls: Calls) -> tuple[float, Hashable]:
        """Return how much a meeting is worth now, and what it is: the operations, what they come to, and the records' states."""
        changes = [_changes(model, each) for each in calls]
        clashes = matters(model, calls, changes)
        standing = Counter(self._standing(model, *each, does) for each, does in zip(calls, changes, strict=True))
        what = (clashes, frozenset(standing.items()))
        return (CLASHING if clashes else 1.0) / (1 + self._met[what]), what

    def _standing(self, model: BaseModel, operation: str, arguments: dict[str, Any], does: Changes) -> Hashable:
        """Return what distinguishes a call: what it changes when it is made alone, and in which states the records are."""
        decision = model.decide(operation, arguments)
        records = (
            getattr(model, collection).get(value)
            for value in arguments.values()
            if isinstance(value, str)
            for collection in self._entities.values()
        )
        states = sorted({getattr(each, "state", "") for each in records if each is not None})
        return (operation, decision.accept, decision.refuse, frozenset(part for part, _ in does), *states)


def matters(model: BaseModel, calls: Calls, changes: Sequence[Changes] | None = None) -> bool:
    """Return whether it matters to one call which of them comes first, or both change one thing; `changes` is what each does."""
    first, second = changes or [_changes(model, each) for each in calls]
    return not first.isdisjoint(second) or _came(model, calls) != _came(model, calls[::-1])


def _changes(model: BaseModel, call: Asked) -> Changes:
    """Return what a call changes when it is made alone: the parts of a state, each with the number of what is changed in it."""
    return _changed(model.freeze(), _came(model, [call])[1])


def _came(model: BaseModel, calls: Sequence[Asked]) -> tuple[Counter[str], tuple[Any, ...]]:
    """Return what comes of calls one after the other on a model: of each of them, and the state at last."""
    after, found = model.fork(), Counter[str]()
    for operation, arguments in calls:
        decision = after.decide(operation, arguments)
        reply = after.do(operation, arguments).value if decision.accept else None
        after.settle()
        found[f"{operation} {arguments} {decision.accept} {decision.refuse} {reply}"] += 1
    return found, after.freeze()


def _changed(before: tuple[Any, ...], after: tuple[Any, ...]) -> Changes:
    """Return where two states of a model differ: in which of its parts, and which record of it."""
    found: set[tuple[int, int]] = set()
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        if isinstance(old, tuple) and isinstance(new, tuple):
            pairs = enumerate(itertools.zip_longest(old, new))
            found |= {(place, index) for index, (one, other) in pairs if one != other}
        elif old != new:
            found.add((place, 0))
    return found


def _at_once(driver: Driver, calls: Calls) -> None:
    """Make two calls at once."""
    bodies = [lambda call=call: driver.case.call(*call) for call in calls]
    try:
        driver.case.together(bodies)
    except CallFailed as failed:
        raise driver.diverged(failed.finding) from None
    driver.look()


def _aftermath(compiled: Compiled, driver: Driver, chooser: random.Random, calls: int) -> None:
    """Make so many calls more, and look: what no observer shows may come out by what is done next."""
    names = [chooser.choice(compiled.kernel.operations).name for _ in range(calls)]
    made = [_made(driver, name, chooser) for name in names if driver.offers(name)]
    driver.observe(*(arguments for arguments in made if arguments is not None))


def _made(driver: Driver, name: str, chooser: random.Random) -> dict[str, Any] | None:
    """Make a call of an operation, unless it is better not made; give what it was called with."""
    arguments = driver.drawn(name, chooser)
    if arguments is None or not driver.may(name, arguments):
        return None
    driver.make(name, arguments)
    return arguments


def _about_the_same(
    driver: Driver,
    one: tuple[kernel.Operation, dict[str, Any]],
    other: tuple[kernel.Operation, dict[str, Any]],
) -> dict[str, Any]:
    """Return the arguments of the other call, about the records of the first and those that these belong to."""
    records: dict[str, Any] = {}
    for each in one[0].parameters:
        value = one[1].get(each.name)
        if each.entity and isinstance(value, str):
            records = {**driver.owners(each.entity, value), **records, each.entity: value}
    changed = {each.name: records[each.entity] for each in other[0].parameters if each.entity in records}
    return {**other[1], **changed}
