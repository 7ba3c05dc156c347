"""Random walks: long cases in which most calls do something, from a registry that is empty, nearly full, or too full.

Hypothesis varies a few cases a great deal, so that what it finds is simple. A walk goes on and on: every operation is
as likely as any other at each step, and every state of a record as any other.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from conformance.budget import Budget
from conformance.judge import case_seed
from conformance.search.faults import Diverged, Faults
from conformance.search.prefill import prefills
from conformance.search.stateful import Driver
from conformance.system import MOVED, Adapter
from statemachines.compile import Compiled

IDLY = 0.25  # of the calls are made whether they do anything or not
FAITHFULLY = 0.5  # of the calls are about what the call before was about, so that much happens to one record
CHANGING = 3  # as often as one that only looks, an operation is chosen that changes something


def search(
    compiled: Compiled,
    adapter: Adapter,
    number: int,
    budget: Budget,
    *,
    after: Callable[[Driver], None],
    faults: Faults,
) -> None:
    """Walk as often as the budget says, or until enough is found."""
    ways = prefills(compiled, adapter.declaration, budget.prefilled)
    offered = [each for each in compiled.kernel.operations if adapter.offers(each.name)]
    names = [each.name for each in offered for _ in range(CHANGING if each.effects else 1)]
    names += ["wait"] if adapter.declaration.clock in MOVED else []
    for index in range(budget.walks):
        if faults.over:
            break
        driver = Driver(compiled, adapter, budget, seed=case_seed(number, index), faults=faults)
        chooser = random.Random(f"{number}/{index}")
        try:
            ways[index % len(ways)](driver)
            about: set[Any] = set()
            for _ in range(budget.walk_steps):
                about = _step(driver, chooser, names, about)
            faults.stood(driver.case)
        except Diverged:
            pass
        after(driver)


def _step(driver: Driver, chooser: random.Random, names: list[str], about: set[Any]) -> set[Any]:
    """Make a call of any operation, with arguments with which it does something if some are soon found.

    `about` is what the call before was given, and the ids that it gave; gives that of this one.
    """
    name, idly, faithfully = chooser.choice(names), chooser.random() < IDLY, chooser.random() < FAITHFULLY
    wanted = about if faithfully else set()
    arguments = driver.drawn(
        name,
        chooser,
        lambda given: not wanted or not wanted.isdisjoint(_texts(given)),
        tries=1 if idly else None,
    )
    driver.take(name, arguments)
    return {*_texts(arguments or {}), *driver.ids()} or about


def _texts(arguments: dict[str, Any]) -> set[str]:
    return {value for value in arguments.values() if isinstance(value, str)}
