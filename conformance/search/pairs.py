"""Any two calls at once: in a random situation two calls overlap, of any two operations; then everybody looks.

A row makes calls at once where its source speaks of it. What nobody thought of comes here: a list beside a start,
a cancel of all beside an ending, two endings of different jobs. Some order of the two calls, one after the other,
has to explain what they gave, and whatever the observers see afterwards.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.budget import Budget
from conformance.judge import CallFailed, case_seed, endless
from conformance.search.faults import Diverged, Faults
from conformance.search.stateful import Driver
from conformance.system import Adapter
from statemachines import kernel
from statemachines.compile import Compiled

ALIKE = 0.8  # of the pairs are about one record, if they can be
CREATING = 4  # as often as others a situation has calls that create something
WAITING_DRAWS = 4  # of arguments, to find some with which a call waits
WAITING = 0.7  # of the pairs in which a call can wait are made where it does
BOTH_CHANGE = 2  # as often as others pairs come that both change something


def search(
    compiled: Compiled,
    adapter: Adapter,
    number: int,
    budget: Budget,
    *,
    after: Callable[[Driver], None],
    faults: Faults,
) -> None:
    """Make pairs of calls at once, as many as the budget says, or until enough is found."""
    chooser = random.Random(number)
    pairs = list(_pairs(compiled, adapter))
    chooser.shuffle(pairs)
    for index, (one, other) in zip(range(budget.pairs), itertools.cycle(pairs), strict=False):
        if faults.over:
            break
        if any(map(faults.broken.shuns, {one.name, other.name})):
            continue
        driver = Driver(compiled, adapter, budget, seed=case_seed(number, index), faults=faults)
        try:
            waits = (one.blocks or other.blocks) and chooser.random() < WAITING
            until = partial(_waiting, driver, (one, other), chooser) if waits else dict
            _situation(compiled, driver, chooser, budget.calls_before, until)
            if not _at_once(driver, one, other, chooser, until()):
                continue
            _aftermath(compiled, driver, chooser, budget.calls_after)
            faults.stood(driver.case)
        except Diverged:
            pass
        after(driver)


def _pairs(compiled: Compiled, adapter: Adapter) -> list[tuple[kernel.Operation, kernel.Operation]]:
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


def _waiting(
    driver: Driver, pair: tuple[kernel.Operation, kernel.Operation], chooser: random.Random
) -> dict[str, dict[str, Any]]:
    """Return arguments with which calls of a pair wait now, by operation."""
    found = {}
    for operation in (each for each in pair if each.blocks):
        drawn = (driver.drawn(operation.name, chooser, tries=1) for _ in range(WAITING_DRAWS))
        waiting = (each for each in drawn if each is not None and driver.avoided(operation.name, each))
        if (arguments := next(waiting, None)) is not None:
            found[operation.name] = arguments
    return found


def _at_once(
    driver: Driver,
    one: kernel.Operation,
    other: kernel.Operation,
    chooser: random.Random,
    waiting: dict[str, dict[str, Any]],
) -> bool:
    """Make two calls at once, mostly about one record, and let the observers look; tell whether there were two to make.

    `waiting` are the arguments of those of them that are to wait for the other.
    """
    first = waiting.get(one.name) or driver.drawn(one.name, chooser)
    second = waiting.get(other.name) or driver.drawn(other.name, chooser)
    if first is None or second is None or driver.case.judge.unsure:
        return False
    if chooser.random() < ALIKE:
        second = _about_the_same(driver, (one, first), (other, second))
    calls = ((one.name, first), (other.name, second))
    if endless(driver.case.judge.lockstep, [[call] for call in calls]):
        return False
    if driver.astray(calls) or driver.astray(calls[::-1]):
        return False
    bodies = [lambda call=call: driver.case.call(*call) for call in calls]
    try:
        driver.case.together(bodies)
    except CallFailed as failed:
        raise driver.diverged(failed.finding) from None
    driver.look()
    driver.observe(first, second)
    return True


def _aftermath(compiled: Compiled, driver: Driver, chooser: random.Random, calls: int) -> None:
    """Make so many calls more, and look: what no observer shows may come out by what is done next."""
    names = [chooser.choice(compiled.kernel.operations).name for _ in range(calls)]
    made = [_made(driver, name, chooser) for name in names if driver.offers(name)]
    driver.observe(*(arguments for arguments in made if arguments is not None))


def _made(driver: Driver, name: str, chooser: random.Random) -> dict[str, Any] | None:
    """Make a call of an operation, if the spec says what comes of it; give what it was called with."""
    arguments = driver.drawn(name, chooser)
    if arguments is None or driver.avoided(name, arguments):
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
