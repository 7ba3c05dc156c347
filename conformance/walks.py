"""Random walks: long cases in which most calls do something, from a registry that is empty, nearly full, or too full.

Hypothesis varies a few cases a great deal, so that what it finds is simple. A walk goes on and on: every operation is
as likely as any other at each step, and every state of a record as any other.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from conformance.adapter import Adapter
from conformance.prefill import prefills
from conformance.stateful import Diverged, Driver
from statemachines.compile import Compiled

WALKS, STEPS = 20, 30
IDLY = 0.25  # of the calls are made whether they do anything or not


def search(
    compiled: Compiled, adapter: Adapter, number: int, *, walks: int = WALKS, after: Callable[[Driver], None]
) -> Diverged | None:
    """Walk so many times; give the first case that diverges."""
    ways = prefills(compiled, adapter.declaration)
    names = [operation.name for operation in compiled.kernel.operations if adapter.offers(operation.name)]
    names += ["wait"] if adapter.declaration.clock == "virtual" else []
    for index in range(walks):
        driver, chooser = Driver(compiled, adapter, seed=number + index), random.Random(f"{number}/{index}")
        try:
            ways[index % len(ways)](driver)
            for _ in range(STEPS):
                _step(driver, chooser, names)
        except Diverged as diverged:
            return diverged
        after(driver)
    return None


def _step(driver: Driver, chooser: random.Random, names: list[str]) -> None:
    """Make a call of any operation, with arguments with which it does something if some are soon found."""
    name, idly = chooser.choice(names), chooser.random() < IDLY
    driver.take(name, driver.drawn(name, chooser, tries=1 if idly else None))
