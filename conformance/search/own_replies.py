"""A caller that goes on with what its own call has given, while another one is under way: it ends the job that it has just started.

Who looks round only once when it begins, at what runs or at what is due, never sees that.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.judge import kernel_facts
from conformance.search.clashes import Asked, Calls, comes_to
from conformance.search.stateful import Driver
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Impossible, Restless
from statemachines.rows import Given, Observed, RowFailure, filled, part_of

BEFORE_IT = 0  # the number of the call before it of the same caller
# Of so many calls that may follow one is made: one that makes a difference to the other caller, if there is one.
FOLLOWING_TRIED = 6
FOLLOWING_DRAWS = 8  # times until a call is found that does something, or the last one is taken


def filled_in(arguments: Mapping[str, Any], before: Observed | None) -> dict[str, Any] | None:
    """Return arguments with what the call before has given; None where it has given no such thing."""
    replies = {} if before is None else {BEFORE_IT: before}
    try:
        return {
            name: filled(value, replies) if isinstance(value, Given) else value for name, value in arguments.items()
        }
    except RowFailure:
        return None


class OwnReplies:
    """Finds calls about what a call of the same caller gives."""

    def __init__(self, compiled: Compiled, operations: Sequence[kernel.Operation], chooser: random.Random) -> None:
        """Find calls of some operations: those that change something and name a record."""
        self._facts, self._chooser = kernel_facts.of(compiled), chooser
        about = [(each, named) for each in operations if each.effects for named in each.parameters if named.entity]
        self._about: dict[str, list[tuple[kernel.Operation, str]]] = {}
        for operation, named in about:
            self._about.setdefault(named.entity, []).append((operation, named.name))

    def gives(self, operation: str) -> bool:
        """Return whether a caller may go on with what a call of an operation gives."""
        return bool(self._given(operation))

    def going_on(self, driver: Driver, calls: Calls) -> tuple[int, Asked] | None:
        """Return which of two callers goes on with what its call gives, and how; None where none can.

        In whichever order the calls come, the spec has to say what comes of them. Which waits without an end, nobody knows before.
        """
        giving = [(caller, way, entity) for caller, (name, _) in enumerate(calls) for way, entity in self._given(name)]
        if not giving or any(self._facts.blocks(name) for name, _ in calls):
            return None
        caller, way, entity = self._chooser.choice(giving)
        one, other = calls[caller], calls[1 - caller]
        first: Asked | None = None
        tried = self._chooser.choices(self._about[entity], k=FOLLOWING_TRIED)
        shunned = {name for name in dict.fromkeys(each.name for each, _ in tried) if driver.faults.broken.shuns(name)}
        for operation, parameter in tried:
            if self._facts.blocks(operation.name) or operation.name in shunned:
                continue
            with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
                drawn = self._drawn(driver, one, operation, parameter, way)
                if drawn is None or self._may_go_astray(driver, one, other, *drawn, way):
                    continue
                found, own = drawn
                if _matters(driver.case.judge.model, one, _about(own, found), other):
                    return caller, found
                first = first or found
        return None if first is None else (caller, first)

    def _given(self, operation: str) -> list[tuple[str, str]]:
        """Return the ways to the ids of new records in what an operation gives that some call is about, each with its entity."""
        return [each for each in self._facts.minted_in(operation).items() if each[1] in self._about]

    def _drawn(
        self, driver: Driver, one: Asked, operation: kernel.Operation, parameter: str, way: str
    ) -> tuple[Asked, str] | None:
        """Draw a call after another one, about what that has given, such that it does something if one is found; and what the model gives.

        Wherever the call names that, it takes it out of the reply: the system gives something else.
        """
        model = driver.case.judge.model.fork()
        own = _id_given(model, one, way)
        if own is None:
            return None
        draws, found = driver.draws_for(model, operation.name, self._chooser), None
        for _ in range(FOLLOWING_DRAWS):
            drawn = next(draws)
            found = found if drawn is None else {**drawn, parameter: own}
            if found is not None and model.decide(operation.name, found).accept:
                break
        if found is None or any(isinstance(value, list) and own in value for value in found.values()):
            return None
        given = {name: Given(BEFORE_IT, way) if value == own else value for name, value in found.items()}
        return (operation.name, given), own

    @staticmethod
    def _may_go_astray(driver: Driver, one: Asked, other: Asked, then: Asked, own: str, way: str) -> bool:
        """Return whether calls come in some order to where the spec leaves open what happens: `then` is about what `one` has given.

        Or to where nothing is given, and so nothing follows: a row that makes these calls would not hold then.
        """
        if driver.astray([one, _about(own, then), other]) or driver.astray([one, other, _about(own, then)]):
            return True
        model = driver.case.judge.model.fork()
        comes_to(model, other)
        later = _id_given(model, one, way)  # another one, if the other call creates something as well
        return later is None or driver.astray([other, one, _about(later, then)])


def _about(own: str, call: Asked) -> Asked:
    """Return a call with what was given in the places where it takes that out of a reply."""
    return call[0], {name: own if isinstance(value, Given) else value for name, value in call[1].items()}


def _matters(model: BaseModel, one: Asked, then: Asked, other: Asked) -> bool:
    """Return whether a call comes to something else after both calls of another caller than after the first of them."""
    between, after = model.fork(), model.fork()
    comes_to(between, one)
    comes_to(after, one)
    comes_to(after, then)
    return comes_to(between, other) != comes_to(after, other)


def _id_given(model: BaseModel, call: Asked, way: str) -> str | None:
    """Make a call on a model; return the id that it gives at the end of a way, if it does."""
    if not model.decide(*call).accept:
        return None
    done = model.do(*call)
    model.settle()
    found = part_of(done.value, way)
    return found if isinstance(found, str) else None
