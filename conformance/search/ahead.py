"""Looking ahead: ways to go on are tried on the model, and of these the one is taken that comes to most that is new.

A call of the model costs microseconds, one of the system far more.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.search.gathering import lets_go
from conformance.search.records import Story, named_by
from conformance.search.situations import Situation, Situations
from conformance.search.stateful import MOST_FIRED, WAITS, Driver, fires_soon
from conformance.system import MOVED
from statemachines import kernel
from statemachines.explore import TIMER, Instants, instants_of
from statemachines.model import BaseModel, Impossible, Restless
from statemachines.rows import WAIT

LIKED = (0.2, 1.0, 1.0, 3.0)  # how much more often than others an operation is tried, by case
WAITED = 3.0  # how often a wait is tried: as time passes much may happen that no call does
LOOKING, SELDOM = 0.5, 0.3  # the same of those that change nothing, and of those that are about everything
SELDOM_GIVEN = (
    0.6  # of the arguments that may be left out, in one case: with many at once most calls are the same or refused
)
WAYS = 6  # to go on that are tried
CALLS = 3  # of each of them
TRIES = 4  # of arguments, to find some with which a call does something
UNTIL = 0.7  # of the waits end at an instant at which something may change, or beside it, where there is one
LEFT_OUT = 0.85  # of the arguments are left out that a walk seldom gives
ALONE = 0.2  # of the calls have only one of the arguments that may be left out: one of them may exclude the others
SAID_AGAIN = 0.15  # of the calls say what the last one of their operation said: who compares with what was there takes it for no news
ABOUT_ONE = 0.5  # of the ways are about one record and its kin, as far as their calls can be: what a system mixes up takes several of them
ANYHOW = 0.15  # of the calls are taken that do nothing, though another might
OF_LAST = 0.6  # of them are about the record of the last call
LATER = 0.8  # what a call is worth less for each one before it
NEW = 1.0  # a call that is worth as much comes to something new
MOST_OPEN = 5  # timers and steps of its own that may come at an instant; each makes twice as many ways
MOST_TIMERS = 5  # timers of one instant; what more of them do one after the other takes long to follow, so nobody waits for longer
MOST_LOOSE = 2  # timers of which nobody knows when they fire; more of them fire in too many ways while a call waits

Ids = Mapping[str, Sequence[str]]  # of records, by entity


@dataclass(frozen=True, slots=True)
class Intended:
    """A call that was tried on the model, and the ids of the records that it made there."""

    operation: str
    arguments: dict[str, Any]
    made: Ids


@dataclass(slots=True)
class Descent:
    """Calls that were tried on the model, what they are worth, and how many of them lead to the last that is new."""

    calls: list[Intended] = field(default_factory=list)
    worth: float = 0.0
    until: int = 1


@dataclass(slots=True)
class Ahead:
    """Looks ahead of one case. `names` are the operations that may be tried, with how much each of them is liked.

    `optional` are the arguments that may be left out, each with the operation that takes it, and `seldom` those that mostly are;
    `said` is by operation what the last call of it said, but for ids and names.
    """

    driver: Driver
    situations: Situations
    instants: Instants
    chooser: random.Random
    names: Sequence[str]
    weights: Sequence[float]
    optional: Collection[tuple[str, str]] = ()
    seldom: Collection[tuple[str, str]] = ()
    said: dict[str, dict[str, Any]] = field(default_factory=dict)

    def named(self) -> str:
        """Choose an operation."""
        return self.chooser.choices(self.names, self.weights)[0]

    def best(self, story: Story) -> list[Intended]:
        """Return the calls to go on with; none where none was found."""
        here = self.driver.case.judge.model.fork()
        frozen = here.freeze()
        ways = [self._tried(here.thawed(frozen), story.fork()) for _ in range(WAYS)]
        best = max(ways, key=lambda way: way.worth)
        return best.calls[: best.until]

    def _tried(self, model: BaseModel, story: Story) -> Descent:
        """Go one way on a model, at random."""
        way = Descent()
        one = self._one_record(model, story)
        for number in range(CALLS):
            call = self._called(model, one)
            if call is None:
                continue
            name, arguments = call
            before = self.situations.ids(model)
            found = self.thought(model, name, arguments, story)
            if found is None:
                break
            worth = self.situations.worth(found)
            way.worth += worth * LATER**number
            way.calls.append(Intended(name, arguments, made_since(before, self.situations.ids(model))))
            way.until = len(way.calls) if worth >= NEW else way.until
        return way

    def call(self, model: BaseModel, story: Story) -> tuple[str, dict[str, Any]] | None:
        """Choose a call to make on a model, at random; None where there is none of the operation that was chosen."""
        return self._called(model, self._one_record(model, story))

    def _called(self, model: BaseModel, one: str) -> tuple[str, dict[str, Any]] | None:
        name = self.named()
        arguments = self.arguments(model, name, one)
        if arguments is not None and self.chooser.random() < SAID_AGAIN:
            arguments = {**arguments, **self.said.get(name, {})}
        return None if arguments is None else (name, arguments)

    def thought(
        self, model: BaseModel, operation: str, arguments: Mapping[str, Any], story: Story
    ) -> list[Situation] | None:
        """Make a call on a model; return the situations that it comes to, or None where it is better not made.

        That is so where the spec does not say what comes of it, or so much may come of it that following it takes long.
        """
        model.seen = bytearray(len(model.seen))
        before = model.deadlines() if self.driver.soon else []
        try:
            found = self._came(model, operation, arguments, story)
        except (Impossible, Restless):  # the model may be one that lacks a sentence
            return None
        is_open = len(model.due()) + len(model.own_steps()) > MOST_OPEN
        unknown = bool(self.driver.soon) and fires_soon(model, before, self.driver.soon)
        return None if found is None or is_open or unknown else [*found, *self.situations.sentences(model)]

    def _came(
        self, model: BaseModel, operation: str, arguments: Mapping[str, Any], story: Story
    ) -> list[Situation] | None:
        if operation == WAIT:
            until = model.now + arguments["ms"]
            due = [(first, last) for first, last, _, _ in model.deadlines() if first <= until]
            loose = sum(first < last for first, last in due)
            crowds = (first for first, count in Counter(first for first, _ in due).items() if count > MOST_TIMERS)
            if loose > MOST_LOOSE or any(until > first + 1 for first in crowds):
                return None
            return self._waited(model, arguments["ms"], story)
        decision = model.decide(operation, arguments)
        if decision.avoid or decision.blocks:
            return None
        found = self.situations.of(model, operation, arguments, decision, story)
        if decision.accept:
            before = self.situations.standing(model) if self.situations.names_none(operation) else {}
            model.do(operation, arguments)
            model.settle()
            found += self.situations.became(before, model, operation, story)
        return found

    def _waited(self, model: BaseModel, ms: int, story: Story) -> list[Situation]:
        coming, timers = self.instants.coming(model), len(model.deadlines())
        near = next(((coming[ms + away], away) for away in (0, 1, -1) if ms + away in coming), None)
        passed = sum(end < ms for end, of in coming.items() if of[0] == TIMER)
        label = (WAIT, timers, near if near is not None else ("passes", passed))
        found, before = self.situations.of_wait(model, label, story), self.situations.standing(model)
        model.wait(ms, most=MOST_FIRED)
        return [*found, *self.situations.became(before, model, WAIT, story)]

    def _one_record(self, model: BaseModel, story: Story) -> str:
        """Choose the id of a record that calls are about: that of the last call, or any; an empty text for none."""
        if self.chooser.random() >= ABOUT_ONE:
            return ""
        ids = [each for each in self.situations.ids(model).values() if each]
        if self.chooser.random() < OF_LAST and any(story.about in each for each in ids):
            return str(story.about)
        return self.chooser.choice(self.chooser.choice(ids)) if ids else ""

    def arguments(self, model: BaseModel, name: str, one: str = "") -> dict[str, Any] | None:
        """Draw arguments for a call on a model, about `one` record or its kin if there is one: mostly such that it does something.

        None where there are none.
        """
        if name == WAIT:
            until = self.instants.waits(model) if self.chooser.random() < UNTIL else []
            return {"ms": self.chooser.choice(until or WAITS)}
        found: dict[str, Any] | None = None
        related = self.situations.related(model, one) if one else {}
        for drawn in itertools.islice(self.driver.draws_for(model, name, self.chooser), TRIES):
            found = self._few(name, drawn)
            if found is not None and related:
                found |= self._about(name, found, related)
            if found is None or self.chooser.random() < ANYHOW or model.decide(name, found).accept:
                break
        return found

    def _about(self, name: str, drawn: Mapping[str, Any], related: Mapping[str, list[str]]) -> dict[str, Any]:
        """Return those of some arguments that name a record, or several, with some that are related in their place."""
        found = dict[str, Any]()
        for parameter, entity, several in self.situations.records_named[name]:
            if drawn.get(parameter) is not None and entity in related:
                one = self.chooser.choice(related[entity])
                found[parameter] = [one] if several else one
        return found

    def _few(self, name: str, drawn: dict[str, Any] | None) -> dict[str, Any] | None:
        """Leave out most of the arguments that are seldom given, or now and then all but one of those that may be left out."""
        if drawn is None:
            return drawn
        optional = [each for each in drawn if (name, each) in self.optional]
        if len(optional) > 1 and self.chooser.random() < ALONE:
            kept = self.chooser.choice(optional)
            return {each: value for each, value in drawn.items() if each == kept or each not in optional}
        seldom = {each for each in drawn if (name, each) in self.seldom and self.chooser.random() < LEFT_OUT}
        return {each: value for each, value in drawn.items() if each not in seldom}


def ahead_of(driver: Driver, situations: Situations, chooser: random.Random) -> Ahead:
    """Return what looks ahead of a case, which likes other operations and leaves out other arguments than in other cases."""
    source, optional = driver.case.compiled.kernel, list[tuple[str, str]]()
    weights = dict[str, float]()
    for operation in (each for each in source.operations if driver.offers(each.name)):
        weights[operation.name] = chooser.choice(LIKED) * usual(operation)
        optional += [(operation.name, each.name) for each in operation.parameters if each.default is not None]
    if driver.case.adapter.declaration.clock in MOVED:
        weights[WAIT] = chooser.choice(LIKED) * WAITED
    seldom = {each for each in optional if chooser.random() < SELDOM_GIVEN}
    instants = instants_of(driver.case.compiled)
    return Ahead(driver, situations, instants, chooser, [*weights], [*weights.values()], optional, seldom)


def usual(operation: kernel.Operation) -> float:
    """Return how often an operation is tried: seldom one that names no record, and ends what there is or changes a setting.

    What whoever tests changes around the system is no setting of it; and to let go of what may go ends nothing.
    """
    effects = list(kernel.walk(operation.effects))
    named = any(map(named_by, operation.parameters))
    if named or lets_go(operation) or any(isinstance(each, kernel.Create) for each in effects):
        return 1.0
    ends = any(isinstance(each, kernel.ForEach | kernel.Remove) for each in effects)
    sets = any(isinstance(each, kernel.Set) and each.record is None for each in effects)
    if ends or (sets and not operation.control):
        return SELDOM
    return 1.0 if effects else LOOKING


def made_since(before: Ids, now: Ids) -> dict[str, list[str]]:
    """Return the ids that are new now."""
    known = {entity: {*ids} for entity, ids in before.items()}
    return {entity: [each for each in ids if each not in known[entity]] for entity, ids in now.items()}
