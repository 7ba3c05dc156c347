"""What the searches are measured beside: Hypothesis as it is, and calls that nobody chooses; both judged as the searches are."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.judge import CallFailed, case_seed
from conformance.search import Diverged, Driver, Faults
from conformance.search.stateful import NUMBERS
from conformance.search.stateful import search as stateful_search
from conformance.suite import RowRunner
from conformance.system import MOVED

HYPOTHESIS, RANDOM = "Hypothesis", "random"
BASELINES = (HYPOTHESIS, RANDOM)

ROUNDS = 1_000_000  # what a round adds to the seed of Hypothesis: nobody asks for such a seed
After = Callable[[Driver], None]


def search_as(name: str, runner: RowRunner, faults: Faults, after: After, round_: int = 0) -> None:
    """Search as a baseline does, in as many cases as the searches of a run make; in a later round others."""
    budget = runner.budget
    cases = budget.stateful_tests + 2 * budget.walks
    if name == HYPOTHESIS:
        plain = replace(budget, stateful_tests=cases, prefilled=0)  # rules alone: nothing is made beforehand
        number = runner.number + ROUNDS * round_
        stateful_search(runner.compiled, runner.adapter, number, plain, after=after, faults=faults)
        return
    apart = runner.adapter.declaration.concurrency != "none"
    chooser = random.Random(f"{runner.number}/{round_}")
    every = cases + (budget.pairs if apart else 0)
    for number in range(every):
        if faults.over:
            return
        driver = Driver(
            runner.compiled,
            runner.adapter,
            budget,
            seed=case_seed(runner.number, every * round_ + number),
            faults=faults,
        )
        try:
            if number < cases:
                _calls(driver, chooser, budget.stateful_steps)
            else:
                _calls(driver, chooser, chooser.randint(*budget.calls_before))
                _two_at_once(driver, chooser)
                _calls(driver, chooser, budget.calls_after)
            faults.stood(driver.case)
        except Diverged:
            pass
        after(driver)


def _calls(driver: Driver, chooser: random.Random, count: int) -> None:
    """Make so many calls, each of any operation, with any arguments that are worth trying."""
    for name, arguments in (_any_call(driver, chooser) for _ in range(count)):
        driver.take(name, arguments)


def _two_at_once(driver: Driver, chooser: random.Random) -> None:
    """Make any two calls at once, and let the observers look."""
    calls = [(name, given) for name, given in (_any_call(driver, chooser) for _ in range(2)) if given is not None]
    if len(calls) < 2 or any(name == "wait" or not driver.may(name, given) for name, given in calls):
        return
    if driver.astray(calls) or driver.astray(calls[::-1]):
        return
    try:
        driver.case.together([partial(driver.case.call, *call) for call in calls])
    except CallFailed as failed:
        raise driver.diverged(failed.finding) from None
    driver.look()
    driver.observe(*(given for _, given in calls))


def _any_call(driver: Driver, chooser: random.Random) -> tuple[str, dict[str, Any] | None]:
    offered = [each.name for each in driver.case.compiled.kernel.operations if driver.offers(each.name)]
    name = chooser.choice([*offered, *(["wait"] if driver.case.adapter.declaration.clock in MOVED else [])])
    return name, driver.arguments(name, chooser.randrange(NUMBERS))
