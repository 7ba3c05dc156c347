"""Which calls meet in a situation: of many that could, two that matter to each other and have met least; others may join them.

It matters which comes first where that changes what they give or leave behind, or where both change one record; and one may ask
for the id that the other is about to be given. One idea: which calls matter to each other.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from conformance.judge import endless, kernel_facts
from conformance.search.ahead import usual
from conformance.search.clashes import Asked, Calls, Changes, Here, calls_of, changes_of, clash
from conformance.search.own_replies import OwnReplies
from conformance.search.situations import Situations
from conformance.search.stateful import Driver
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.expression import python_name
from statemachines.model import BaseModel, Impossible, Restless
from statemachines.types import List, Ref, present

CLASHING = 24.0  # as much as others those are worth in which one call makes a difference to the other, or both change one record
# As much as others that make no difference to each other are those where both create something, for an id may be given twice; both add
# to one thing, such as what an owner is told; or one operation changes two records: of what both write, one may be lost.
MAY_BE_LOST = 12.0
# And so much those of which one changes nothing here, but does elsewhere: it may write back what it has read, or take back what it has done.
TO_NO_EFFECT = 4.0
# The same where the other one creates something with which its caller may go on: that may have the first one do something.
MAY_BE_SEEN = 8.0
# Of those whose call creates something go on with that: where the order of the two calls makes no difference, and where it does.
GOES_ON_WITH_ITS_OWN, GOES_ON_THOUGH_IT_MATTERS = 0.8, 0.2
TAKING = 32.0  # as much as others where one asks for the id that the other may be given
GIVEN = 0.5  # of the calls are given all that was drawn
DROPPED = 0.7  # of what may be left out is, in the others
ALIKE = 0.8  # of the pairs are about one record, or about what has to do with it, if they can be
CHANGED = 0.5  # of these are about what the first call changes beside its own record, if it does
LIKE = 0.25  # and so many are about another record in the same state, of the same owner
SEVERAL = 0.5  # of those that name several name others as well
FORESEEN = 0.5  # of those of which one may choose an id while the other is given one: it chooses the one that looks as if it came next
ONE_OF_BOTH = 0.5  # of the third calls are one of the two once more
EACH_ITS_OWN = 0.5  # of the meetings of two that wait have two that end a wait
CANDIDATES = 10  # meetings that are tried on the model in a situation, of which one is made

Pair = tuple[kernel.Operation, kernel.Operation]


class Meetings:
    """Chooses which calls meet in a situation; knows how often which have met."""

    def __init__(self, compiled: Compiled, pairs: Sequence[Pair], chooser: random.Random) -> None:
        self._entities = {each.name: python_name(each.collection) for each in compiled.kernel.entities}
        self._operations = {each.name: each for each in compiled.kernel.operations}
        self._creating = kernel_facts.of(compiled).creating
        self._pairs, self._chooser = pairs, chooser
        self._situations = Situations(compiled)
        offered = {each.name: each for pair in pairs for each in pair}
        self._own = OwnReplies(compiled, [each for each in offered.values() if not each.control], chooser)
        self._met: Counter[Hashable] = Counter()
        self._partners: dict[str, list[kernel.Operation]] = {}
        for one, other in pairs:
            self._partners.setdefault(one.name, []).append(other)
            self._partners.setdefault(other.name, []).append(one)

    def best(
        self, driver: Driver, pair: Pair, waiting: dict[str, dict[str, Any]], *, only: bool = False
    ) -> Calls | None:
        """Return what two calls are made now; None where there are none.

        One of them is one that shall wait (`waiting`), if there is one. Where no other is wanted (`only`) they are of this pair, and about
        two records if they are about any.
        """
        if driver.case.judge.unsure:
            return None
        here = Here.of(driver.case.judge.model)
        worth: list[tuple[tuple[float, Hashable], Calls]] = []
        for each in self._tried(driver, pair, waiting, only=only):
            with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
                calls = self._possible(driver, here, each, waiting)
                worth += [(self._worth(driver, here, calls), calls)] if calls is not None else []
        if not worth:
            return None
        (_, what), calls = max(worth, key=lambda each: (only and self._are_of_two(each[1]), each[0][0]))
        self._met[what] += 1
        return calls

    def _comes(self, pair: Pair) -> bool:
        """Return whether a pair comes now: calls about everything come seldom, and then count as much as others."""
        return self._chooser.random() < math.prod(map(usual, pair))

    def _tried(self, driver: Driver, pair: Pair, waiting: Mapping[str, Any], *, only: bool) -> list[Pair]:
        """Return the pairs of which one meets: this one and some others, such as have one that shall wait, if there is one.

        Whether an operation is shunned is asked once for each pair, for each time counts; and of one that waits it has been asked.
        """
        if only:
            return [] if self._shunned(driver, pair) else [pair] * CANDIDATES
        name = next(iter(waiting), None)
        if name is None:
            some = [pair, *self._chooser.choices(self._pairs, k=CANDIDATES - 1)]
            coming = [each for each in some if self._comes(each)] or some
            return [each for each in coming if not self._shunned(driver, each)]
        partners = self._chooser.choices(self._partners[name], k=CANDIDATES - 1)
        others = [(self._operations[name], each) for each in partners]
        return [pair, *(each for each in others if not self._shunned(driver, each))]

    def joining(self, driver: Driver, calls: Calls, waiting: Mapping[str, Any]) -> list[Asked]:
        """Return calls that are made at once with two others: one of them once more, or one that meets it; none where none may be.

        If one is `waiting`, another one waits beside it, and sometimes one more comes that is like the one for which they wait: of two
        that end a wait in one moment each has somebody to wake. Of whoever tests there is one at most.
        """
        waits = next((each for each in calls if each[0] in waiting), None)
        one = waits or self._chooser.choice(calls)
        if waits is not None or self._chooser.random() < ONE_OF_BOTH:
            asked: Asked | None = one
        else:
            asked = self._meeting(driver, one, self._partners[one[0]])
        if asked is None or not self._may_join(driver, (*calls, asked)):
            return []
        others = (name for name, _ in calls if waits is not None and name != waits[0])
        ending = next((name for name in others if self._operations[name].effects), None)
        if ending is not None and self._chooser.random() < EACH_ITS_OWN:
            another = self._meeting(driver, one, [self._operations[ending]])
            if another is not None and self._may_join(driver, (*calls, asked, another)):
                return [asked, another]
        return [asked]

    def _may_join(self, driver: Driver, calls: Sequence[Asked]) -> bool:
        """Return whether calls may be made at once, the last of which joins the others."""
        if self._tested(*calls) > 1:
            return False
        with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
            astray = any(map(driver.astray, itertools.permutations(calls)))
            return not astray and not endless(driver.case.judge.lockstep, list(map(calls_of, calls)))
        return False

    def further(self, driver: Driver, calls: Calls) -> tuple[int, Asked] | None:
        """Return which of two callers makes another call that changes something, and which: about what the other one is about."""
        changing = [caller for caller, (name, _) in enumerate(calls) if self._operations[name].effects]
        caller = self._chooser.choice(changing)
        one = calls[1 - caller]
        asked = self._meeting(driver, one, [each for each in self._partners[one[0]] if each.effects])
        return None if asked is None or self._tested(*calls, asked) > 1 else (caller, asked)

    def going_on(self, driver: Driver, calls: Calls) -> tuple[int, Asked] | None:
        """Return which of two callers goes on with what its own call gives, and how; None where none does, or can.

        What goes on may undo what was begun before the other caller has met it: mostly it does so where nothing would come of it else.
        """
        chance = self._chooser.random()
        if chance >= max(GOES_ON_WITH_ITS_OWN, GOES_ON_THOUGH_IT_MATTERS) or not any(
            self._own.gives(name) for name, _ in calls
        ):
            return None
        with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
            here = Here.of(driver.case.judge.model)
            matters = clash(here, calls, [changes_of(here, each) for each in calls])
            if chance < (GOES_ON_THOUGH_IT_MATTERS if matters else GOES_ON_WITH_ITS_OWN):
                return self._own.going_on(driver, calls)
        return None

    def _tested(self, *calls: Asked) -> int:
        """Return how many calls are of whoever tests."""
        return sum(self._operations[name].control for name, _ in calls)

    def _meeting(self, driver: Driver, one: Asked, operations: Sequence[kernel.Operation]) -> Asked | None:
        """Return a call of one of these operations about what another call is about; None where there is none to make."""
        chosen = self._chooser.choice(operations) if operations else None
        if chosen is None or driver.faults.broken.shuns(chosen.name):
            return None
        drawn = self._without_some(chosen, driver.drawn(chosen.name, self._chooser))
        with contextlib.suppress(Impossible, Restless):
            here = Here.of(driver.case.judge.model)
            return None if drawn is None else (chosen.name, self._about_the_same(here, one, (chosen.name, drawn)))
        return None

    def _are_of_two(self, calls: Calls) -> bool:
        """Return whether two calls of one operation are about two records."""
        (operation, first), (_, second) = calls
        return any(first.get(name) != second.get(name) for name, _, _ in self._situations.records_named[operation])

    def _shunned(self, driver: Driver, pair: Pair) -> bool:
        return any(driver.faults.broken.shuns(each.name) for each in pair)

    def _possible(self, driver: Driver, here: Here, pair: Pair, waiting: dict[str, dict[str, Any]]) -> Calls | None:
        """Return two calls that may be made at once, mostly about one record; None where there are none to make."""
        one, other = pair
        first, second = (
            waiting.get(each.name) or self._without_some(each, driver.drawn(each.name, self._chooser)) for each in pair
        )
        if first is None or second is None:
            return None
        if self._chooser.random() < ALIKE:
            second = self._about_the_same(here, (one.name, first), (other.name, second))
        foreseen = _foreseen(driver, (one, first), (other, second))
        if foreseen is not None and self._chooser.random() < FORESEEN:
            first, second = foreseen
        calls = ((one.name, first), (other.name, second))
        if endless(driver.case.judge.lockstep, list(map(calls_of, calls))):
            return None
        return None if driver.astray(calls) or driver.astray(calls[::-1]) else calls

    def _without_some(self, operation: kernel.Operation, drawn: dict[str, Any] | None) -> dict[str, Any] | None:
        """Leave out, of half of the calls, most of what may be left out: with all of it at once most of them are refused, or alike."""
        if drawn is None or self._chooser.random() < GIVEN:
            return drawn
        optional = {each.name for each in operation.parameters if each.default is not None}
        return {
            name: value for name, value in drawn.items() if name not in optional or self._chooser.random() > DROPPED
        }

    def _about_the_same(self, here: Here, one: Asked, other: Asked) -> dict[str, Any]:
        """Return the arguments of the other call, about the records of the first, those that these belong to, and their kin.

        Or about what else the first call changes, or about another record that is like its own. What takes a name takes the
        same one.
        """
        records: dict[str, list[str]] = {}
        model, by_chance = here.model, self._chooser.random()
        for parameter, entity, _ in self._situations.records_named[one[0]]:
            value = one[1].get(parameter)
            for each in (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)):
                related = {entity: [each], **self._situations.related(model, each)}
                if by_chance < LIKE:
                    related |= {name: ids for name, ids in self._situations.like(model, each).items() if ids}
                for name, ids in related.items():
                    records.setdefault(name, []).extend(ids)
        if by_chance > 1 - CHANGED:
            records |= {name: ids for name, ids in self._changed_by(here, one).items() if ids}
        names = {present(each.type): one[1].get(each.name) for each in self._situations.names[one[0]]}
        taken = ((each.name, names.get(present(each.type))) for each in self._situations.names[other[0]])
        changed: dict[str, Any] = {name: value for name, value in taken if isinstance(value, str) and name in other[1]}
        for parameter, entity, several in self._situations.records_named[other[0]]:
            if entity in records and other[1].get(parameter) is not None:
                same = self._chooser.choice(records[entity])
                more = other[1][parameter] if several and self._chooser.random() < SEVERAL else []
                changed[parameter] = list(dict.fromkeys([*more, same])) if several else same
        return {**other[1], **changed}

    def _changed_by(self, here: Here, call: Asked) -> dict[str, list[str]]:
        """Return the records that a call changes, or takes away, and does not name, by entity."""
        changes = {which for _, which in changes_of(here, call)}
        named = [text for value in call[1].values() for text in (value if isinstance(value, list) else [value])]
        found = self._situations.of_serials(here.model, changes)
        return {name: [each for each in ids if each not in named] for name, ids in found.items()}

    def _worth(self, driver: Driver, here: Here, calls: Calls) -> tuple[float, Hashable]:
        """Return how much a meeting is worth now, and what it is: the operations, what they come to, and the records' states."""
        changes = [changes_of(here, each) for each in calls]
        clashing = clash(here, calls, changes)
        taken = all(changes) and self._may_take(driver, here.model, calls)
        standing = Counter(self._standing(here.model, *each, does) for each, does in zip(calls, changes, strict=True))
        what = (clashing, taken, frozenset(standing.items()))
        worth = TAKING if taken else CLASHING if clashing else self._lost(calls, changes)
        return worth / (1 + self._met[what]), what

    def _lost(self, calls: Calls, changes: Sequence[Changes]) -> float:
        """Return how much calls are worth of which the order makes no difference: what one of them writes the other may undo.

        That is so where both create something, add to one part of the state, or are of one operation and change something; and where
        one changes nothing here, but does elsewhere, and the other one changes something or only looks.
        """
        (one, _), (other, _) = calls
        if all(changes):
            creates = one in self._creating and other in self._creating
            return MAY_BE_LOST if one == other or creates or changes[0] & changes[1] else 1.0
        in_vain = [
            not does and bool(self._operations[name].effects) for (name, _), does in zip(calls, changes, strict=True)
        ]
        if in_vain.count(True) != 1:
            return 1.0
        return MAY_BE_SEEN if self._own.gives(calls[in_vain.index(False)][0]) else TO_NO_EFFECT

    def _may_take(self, driver: Driver, model: BaseModel, calls: Calls) -> bool:
        """Return whether one call asks for the id that the other may be given meanwhile."""
        asked = ((_coming(driver, model, self._operations[name]), given) for name, given in calls)
        return any(given.get(name) == coming for known, given in asked for name, coming in known.items())

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


def _foreseen(
    driver: Driver,
    one: tuple[kernel.Operation, dict[str, Any]],
    other: tuple[kernel.Operation, dict[str, Any]],
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the arguments of two calls of which one asks for the id that the other may be given meanwhile; None where none can."""
    model = driver.case.judge.model
    for asking, given in ((other, one), (one, other)):
        coming = _coming(driver, model, asking[0])
        if not coming or not _mints(given[0]):
            continue
        chosen = _coming(driver, model, given[0])
        optional = {each.name for each in given[0].parameters if each.name in chosen and each.default is not None}
        asked = {**asking[1], **coming}
        minting = {name: value for name, value in given[1].items() if name not in optional}
        return (minting, asked) if given is one else (asked, minting)
    return None


def _coming(driver: Driver, model: BaseModel, operation: kernel.Operation) -> dict[str, str]:
    """Return for each parameter of an operation that may name a new record the id that looks as if it came next."""
    found = {
        each.name: driver.gone.coming(model, each.type)
        for each in operation.parameters
        if not isinstance(present(each.type), Ref | List)
    }
    return {name: coming for name, coming in found.items() if coming is not None}


def _mints(operation: kernel.Operation) -> bool:
    """Return whether an operation may create a record under an id of the system's own."""
    return any(isinstance(does, kernel.Create) and does.mints for does in kernel.walk(operation.effects))
