"""Walks that the model steers: long cases, each call chosen for what no case has come to yet.

Every so often a call is made for no reason, or once more, or the last few are made many times over. Each walk prefers other
operations, and every other one begins with a registry that is nearly full, or too full.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from conformance.budget import Budget
from conformance.judge import case_seed
from conformance.search.ahead import Ahead, Intended
from conformance.search.faults import Diverged, Faults
from conformance.search.prefill import prefills
from conformance.search.situations import Situations, Story
from conformance.search.stateful import Driver
from conformance.system import MOVED, Adapter
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.types import Text, present

IDLY = 0.15  # of the calls are made whatever comes of them
REPEATED = 0.3  # of those are the same as one shortly before
FLOODS = 0.3  # of those are the last few calls, many times over
MOST_FLOODED = 4  # calls that are the last few
FLOODED = (10, 60, 120)  # calls, more or less, of all those times
LIKED = (0.2, 1.0, 1.0, 3.0)  # how much more often than others an operation is tried, by walk
LOOKING, SELDOM = 0.5, 0.1  # the same of those that change nothing, and of those that are about everything
MOST_EXPLANATIONS = 32  # of what was seen, beyond which a walk ends: each call takes as many times as long


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
    situations = Situations(compiled)
    for index in range(budget.walks):
        if faults.over:
            break
        driver = Driver(compiled, adapter, budget, seed=case_seed(number, index), faults=faults)
        chooser = random.Random(f"{number}/{index}")
        try:
            ways[chooser.randrange(len(ways)) if index % 2 else 0](driver)
            SteeredWalk(compiled, driver, situations, chooser).go(budget.walk_steps)
            faults.stood(driver.case)
        except Diverged:
            pass
        after(driver)


class SteeredWalk:
    """One case of a walk."""

    def __init__(self, compiled: Compiled, driver: Driver, situations: Situations, chooser: random.Random) -> None:
        self._driver, self._situations, self._chooser = driver, situations, chooser
        self._story = Story()
        self._made: list[tuple[str, dict[str, Any]]] = []
        self._texts = compiled.lifecycle.types
        self._operations = {each.name: each for each in compiled.kernel.operations if driver.offers(each.name)}
        weights = {name: chooser.choice(LIKED) * _usual(each) for name, each in self._operations.items()}
        if driver.case.adapter.declaration.clock in MOVED:
            weights["wait"] = chooser.choice(LIKED)
        self._ahead = Ahead(driver, situations, chooser, [*weights], [*weights.values()])

    def go(self, steps: int) -> None:
        """Make so many calls."""
        lockstep = self._driver.case.judge
        tried = 0
        while len(self._made) < steps and tried < 2 * steps:
            if len(lockstep.lockstep.configurations) > MOST_EXPLANATIONS:
                return
            tried += 1
            if self._chooser.random() < IDLY:
                self._go_idly()
                continue
            for intended, arguments in self._as_given(self._ahead.best(self._story)):
                self._make(intended.operation, arguments)

    def _go_idly(self) -> None:
        """Make any call, one of the last once more, or the last few many times over."""
        which = self._chooser.random() if self._made else 1.0
        if which < REPEATED:
            self._make(*self._chooser.choice(self._made[-2:]))
        elif which < REPEATED + FLOODS:
            calls = self._made[-self._chooser.randint(1, MOST_FLOODED) :]
            self._flood(calls, self._chooser.choice(FLOODED) // len(calls))
        else:
            name = self._ahead.named()
            self._make(name, self._ahead.arguments(self._driver.case.judge.model, name))

    def _make(self, operation: str, arguments: dict[str, Any] | None) -> None:
        """Make a call, unless the model tells that it is better not made."""
        if arguments is None:
            return
        model = self._driver.case.judge.model.fork()
        found = self._ahead.thought(model, operation, arguments, self._story)
        if found is not None:
            self._made.append((operation, arguments))
            self._situations.note(found)
            self._driver.take(operation, arguments)

    def _as_given(self, calls: Sequence[Intended]) -> Iterator[tuple[Intended, dict[str, Any]]]:
        """Walk calls as they were tried, with the ids that the system gave by then instead of those of the model."""
        given: dict[str, str] = {}
        for intended in calls:
            before = self._situations.ids(self._driver.case.judge.model)
            yield intended, {name: _with(value, given) for name, value in intended.arguments.items()}
            now = self._situations.ids(self._driver.case.judge.model)
            for entity, ids in intended.made.items():
                new = [each for each in now[entity] if each not in before[entity]]
                given.update(zip(ids, new, strict=False))

    # ── The same many times over ──

    def _flood(self, calls: Sequence[tuple[str, dict[str, Any]]], times: int) -> None:
        """Make calls so often, each time about what is new then; until so many ways of what may come would be too many."""
        judge, broken = self._driver.case.judge, self._driver.faults.broken
        for operation, arguments in (call for _ in range(times) for call in calls):
            again = self._anew(operation, arguments)
            if again is None or broken.shuns(operation) or self._driver.avoided(operation, again):
                return
            if len(judge.lockstep.configurations) > 1:
                return
            self._driver.make(operation, again)

    def _anew(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the same arguments, but the newest record for one that comes and goes, and a new text for one that was new."""
        found = dict(arguments)
        newest = {name: ids[-1:] for name, ids in self._situations.ids(self._driver.case.judge.model).items()}
        fresh = self._driver.arguments(operation, 0) or {}
        for parameter in self._operations[operation].parameters if operation != "wait" else ():
            if not isinstance(found.get(parameter.name), str):
                continue
            if parameter.entity in newest:
                if not newest[parameter.entity]:
                    return None
                found[parameter.name] = newest[parameter.entity][0]
            elif parameter.name in fresh and self._may_be_new(parameter):
                found[parameter.name] = fresh[parameter.name]
        return found

    def _may_be_new(self, parameter: kernel.Parameter) -> bool:
        kind = present(parameter.type)
        declared = self._texts.get(kind.name) if isinstance(kind, Text) else None
        return declared is not None and declared.text == "fresh or reused"


def _usual(operation: kernel.Operation) -> float:
    """Return how often an operation is tried: seldom one that names no record, and ends what there is or changes a setting."""
    effects = list(kernel.walk(operation.effects))
    named = any(each.entity for each in operation.parameters)
    if named or any(isinstance(each, kernel.Create) for each in effects):
        return 1.0
    ends = any(isinstance(each, kernel.ForEach | kernel.Remove) for each in effects)
    if ends or any(isinstance(each, kernel.Set) and each.record is None for each in effects):
        return SELDOM
    return 1.0 if effects else LOOKING


def _with(value: Any, given: Mapping[str, str]) -> Any:
    match value:
        case str():
            return given.get(value, value)
        case list():
            return [_with(each, given) for each in value]
        case dict():
            return {name: _with(each, given) for name, each in value.items()}
        case _:
            return value
