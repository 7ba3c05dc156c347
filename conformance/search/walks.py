"""Walks that the model steers: long cases, each call chosen for what no case has come to yet.

A call of the model costs microseconds, one of the system far more. So some ways to go on are tried on the model first, at
random, and of these the one is taken that comes to most that is new. Every so often a call is made for no reason, or one is made
many times over, and each walk prefers other operations. It begins with a registry that is empty, nearly full, or too full.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.budget import Budget
from conformance.judge import case_seed
from conformance.search.faults import Diverged, Faults
from conformance.search.prefill import prefills
from conformance.search.situations import Situations, Story
from conformance.search.stateful import WAITS, Driver
from conformance.system import MOVED, Adapter
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Impossible, Restless

IDLY = 0.15  # of the calls are made whatever comes of them
WAYS = 8  # to go on that are tried on the model
AHEAD = 3  # calls of each of them
TRIES = 4  # of arguments, to find some with which a call does something
LATER = 0.8  # what a call is worth less for each one before it
LIKED = (0.2, 1.0, 1.0, 3.0)  # how much more often than others an operation is tried, by walk
SELDOM = 0.1  # the same of those that are about everything
FLOODS = 0.03  # of the calls are made many times over
FLOODED = (3, 12, 55, 110)


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
        walk = Walk(compiled, driver, situations, random.Random(f"{number}/{index}"))
        try:
            ways[walk.chooser.randrange(len(ways)) if index % 2 else 0](driver)
            walk.go(budget.walk_steps)
            faults.stood(driver.case)
        except Diverged:
            pass
        after(driver)


@dataclass(slots=True)
class _Planned:
    """A call that was tried on the model, and the ids of the records that it made there."""

    operation: str
    arguments: dict[str, Any]
    made: dict[str, list[str]]


@dataclass(slots=True)
class Walk:
    """One case of a walk."""

    compiled: Compiled
    driver: Driver
    situations: Situations
    chooser: random.Random
    story: Story = field(default_factory=Story)
    _names: list[str] = field(init=False)
    _weights: list[float] = field(init=False)
    _steps: int = 0

    def __post_init__(self) -> None:
        offered = [each for each in self.compiled.kernel.operations if self.driver.offers(each.name)]
        self._names = [each.name for each in offered]
        self._weights = [
            self.chooser.choice(LIKED) * (SELDOM if is_about_everything(each) else 1.0 if each.effects else 0.5)
            for each in offered
        ]
        if self.driver.case.adapter.declaration.clock in MOVED:
            self._names.append("wait")
            self._weights.append(self.chooser.choice(LIKED))

    def go(self, steps: int) -> None:
        """Make so many calls."""
        while self._steps < steps:
            if self.chooser.random() < IDLY:
                self._idly()
                continue
            for planned, renamed in self._renamed(self._way()):
                self._make(planned.operation, _with(planned.arguments, renamed))

    def _idly(self) -> None:
        """Make any call, or one that does something many times over."""
        name = self._named()
        if self.chooser.random() < FLOODS / IDLY and name != "wait":
            for _ in range(self.chooser.choice(FLOODED)):
                arguments = self.driver.drawn(name, self.chooser)
                if arguments is None or self.driver.avoided(name, arguments) or self.driver.faults.broken.shuns(name):
                    break
                self.driver.make(name, arguments)
        self._make(name, self.driver.drawn(name, self.chooser, tries=1))

    def _make(self, operation: str, arguments: dict[str, Any] | None) -> None:
        self._steps += 1
        if arguments is None:
            return
        model = self.driver.case.judge.model.fork()
        self.situations.note(self._thought(model, operation, arguments, self.story) or [])
        self.driver.take(operation, arguments)

    def _named(self) -> str:
        return self.chooser.choices(self._names, self._weights)[0]

    # ── Trying on the model ──

    def _way(self) -> list[_Planned]:
        """Return the calls to go on with: of some ways, tried on the model, the one that comes to most that is new."""
        best: list[_Planned] = []
        most = 0.0
        for _ in range(WAYS):
            worth, calls, until = self._tried()
            if worth > most or not best:
                most, best = worth, calls[:until]
        return best

    def _tried(self) -> tuple[float, list[_Planned], int]:
        """Go one way on the model; return what it is worth, its calls, and how many of them lead to the last that is new."""
        model, story = self.driver.case.judge.model.fork(), self.story.fork()
        worth, calls, until = 0.0, list[_Planned](), 1
        for ahead in range(AHEAD):
            name = self._named()
            arguments = self._arguments(model, name)
            if arguments is None:
                continue
            before = self.situations.ids(model)
            try:
                found = self._thought(model, name, arguments, story)
            except (Impossible, Restless):
                break
            if found is None:
                continue
            here = self.situations.worth(found)
            worth += here * LATER**ahead
            made = {
                entity: [each for each in ids if each not in before[entity]]
                for entity, ids in self.situations.ids(model).items()
            }
            calls.append(_Planned(name, arguments, made))
            until = len(calls) if here >= 1.0 else until
        return worth, calls, until

    def _thought(
        self, model: BaseModel, operation: str, arguments: Mapping[str, Any], story: Story
    ) -> list[tuple[float, Any]] | None:
        """Make a call on a model; return the situations that it comes to, or None where the spec does not say what comes."""
        model.seen = bytearray(len(model.seen))
        if operation == "wait":
            label = ("wait", len(model.deadlines()), _until(model, arguments["ms"]))
            found: list[tuple[float, Any]] = [(4.0, label), (2.0, (story.before, label))]
            story.before = label
            model.wait(arguments["ms"])
            return found + self.situations.came(model, operation, {}, story)
        decision = model.decide(operation, arguments)
        if decision.avoid or decision.blocks:
            return None
        found = self.situations.of(model, operation, arguments, decision, story)
        if decision.accept:
            model.do(operation, arguments)
            model.settle()
        return found + self.situations.came(model, operation, arguments, story)

    def _arguments(self, model: BaseModel, name: str) -> dict[str, Any] | None:
        """Draw arguments for a model: mostly such that the call does something."""
        if name == "wait":
            return {"ms": self.chooser.choice([*WAITS, *_deadlines(model)])}
        found: dict[str, Any] | None = None
        for _ in range(TRIES):
            found = self.driver.drawn_for(model, name, self.chooser)
            if found is None or self.chooser.random() < IDLY or model.decide(name, found).accept:
                break
        return found

    def _renamed(self, calls: Sequence[_Planned]) -> Any:
        """Walk calls as they were tried, with the ids that the system gave by then instead of those of the model."""
        renamed: dict[str, str] = {}
        for planned in calls:
            before = self.situations.ids(self.driver.case.judge.model)
            yield planned, renamed
            now = self.situations.ids(self.driver.case.judge.model)
            for entity, ids in planned.made.items():
                new = [each for each in now[entity] if each not in before[entity]]
                renamed.update(zip(ids, new, strict=False))


def is_about_everything(operation: kernel.Operation) -> bool:
    """Return whether an operation names no record, and ends what there is or changes a setting: it comes seldom."""
    if any(each.entity for each in operation.parameters):
        return False
    effects = list(kernel.walk(operation.effects))
    return any(
        isinstance(each, kernel.ForEach | kernel.Remove) or (isinstance(each, kernel.Set) and each.record is None)
        for each in effects
    ) and not any(isinstance(each, kernel.Create) for each in effects)


def _with(arguments: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    def other(value: Any) -> Any:
        match value:
            case str():
                return renamed.get(value, value)
            case list():
                return [other(each) for each in value]
            case dict():
                return {name: other(each) for name, each in value.items()}
            case _:
                return value

    return {name: other(value) for name, value in arguments.items()}


def _deadlines(model: BaseModel) -> list[int]:
    """List the waits to each deadline, to one millisecond before it, and to one after it."""
    ends = {end - model.now for first, last, _, _ in model.deadlines() for end in (first, last)}
    return sorted(ms for end in ends for ms in (end - 1, end, end + 1) if ms > 0)


def _until(model: BaseModel, ms: int) -> str:
    """Say how long a wait is beside the next deadline."""
    ends = [end - model.now for first, last, _, _ in model.deadlines() for end in (first, last)]
    near = next((ms - end for end in ends if abs(ms - end) <= 1), None)
    return str(near) if near is not None else str(sum(end < ms for end in ends))
