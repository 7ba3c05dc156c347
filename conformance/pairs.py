"""Any two calls at once: in a random situation two calls overlap, of any two operations; then everybody looks.

A row makes calls at once where its source speaks of it. What nobody thought of comes here: a list beside a start,
a cancel of all beside an ending, two endings of different jobs. Some order of the two calls, one after the other,
has to explain what they gave, and whatever the observers see afterwards.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

from conformance.adapter import Adapter
from conformance.case import CallFailed, case_seed
from conformance.stateful import Diverged, Driver
from statemachines import kernel
from statemachines.compile import Compiled

ROUNDS_IF_COSTLY = 10  # where each call takes long
ROUNDS = 800  # situations in which two calls are made at once, of all operations together
ALIKE = 0.8  # of the pairs are about one record, if they can be
LEAST, MOST = 2, 7  # calls that lead to a situation
AFTER = 3  # calls that follow it
OFTEN = 4  # as often as others a situation has calls that create something
TWICE = 2  # as often as others pairs come that both change something


def search(
    compiled: Compiled, adapter: Adapter, number: int, *, rounds: int, after: Callable[[Driver], None]
) -> Diverged | None:
    """Make pairs of calls at once; give the first case that diverges."""
    chooser = random.Random(number)
    pairs = list(_pairs(compiled, adapter))
    chooser.shuffle(pairs)
    for index, (one, other) in zip(range(rounds), itertools.cycle(pairs), strict=False):
        driver = Driver(compiled, adapter, seed=case_seed(number, index))
        try:
            _situation(compiled, driver, chooser)
            if not _at_once(driver, one, other, chooser):
                continue
            _aftermath(compiled, driver, chooser)
        except Diverged as diverged:
            return diverged
        after(driver)
    return None


def _pairs(compiled: Compiled, adapter: Adapter) -> list[tuple[kernel.Operation, kernel.Operation]]:
    """List every two operations of which one changes something; not those of whoever tests."""
    offered = [each for each in compiled.kernel.operations if adapter.offers(each.name) and not each.control]
    every = itertools.combinations_with_replacement(offered, 2)
    found = [(one, other) for one, other in every if one.effects or other.effects]
    return [pair for pair in found for _ in range(TWICE if all(each.effects for each in pair) else 1)]


def _situation(compiled: Compiled, driver: Driver, chooser: random.Random) -> None:
    """Make some calls, one after the other, of which most do something."""
    offered = [each for each in compiled.kernel.operations if each.effects and driver.offers(each.name)]
    names = [each.name for each in offered for _ in range(OFTEN if _creates(each) else 1)]
    for _ in range(chooser.randint(LEAST, MOST)):
        _made(driver, chooser.choice(names), chooser)


def _at_once(driver: Driver, one: kernel.Operation, other: kernel.Operation, chooser: random.Random) -> bool:
    """Make two calls at once, mostly about one record, and let the observers look; tell whether there were two to make."""
    first = driver.drawn(one.name, chooser)
    second = driver.drawn(other.name, chooser)
    if first is None or second is None or driver.case.judge.unsure:
        return False
    if chooser.random() < ALIKE:
        second = _about_the_same(driver, (one, first), (other, second))
    calls = ((one.name, first), (other.name, second))
    if driver.astray(calls) or driver.astray(calls[::-1]):
        return False
    bodies = [lambda call=call: driver.case.call(*call) for call in calls]
    try:
        driver.case.together(bodies)
    except CallFailed as failed:
        raise Diverged(failed.divergence, driver.case) from None
    driver.look()
    driver.observe(first, second)
    return True


def _aftermath(compiled: Compiled, driver: Driver, chooser: random.Random) -> None:
    """Make some calls more, and look: what no observer shows may come out by what is done next."""
    names = [chooser.choice(compiled.kernel.operations).name for _ in range(AFTER)]
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
    """Give the arguments of the other call, about the records of the first and those that these belong to."""
    records: dict[str, Any] = {}
    for each in one[0].parameters:
        value = one[1].get(each.name)
        if each.entity and isinstance(value, str):
            records = {**driver.owners(each.entity, value), **records, each.entity: value}
    changed = {each.name: records[each.entity] for each in other[0].parameters if each.entity in records}
    return {**other[1], **changed}


def _creates(operation: kernel.Operation) -> bool:
    return any(isinstance(effect, kernel.Create) for effect in kernel.walk(operation.effects))
