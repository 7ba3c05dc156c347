"""Many records in one state: the calls that bring one there are found on the model, and made again and again.

So a case begins with a store of dead letters, say, that is fuller than somebody may have thought it would get.
"""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from statemachines import kernel
from statemachines.model import BaseModel, Impossible, Restless

GATHERED = (6, 12, 30)  # records of a state
ENOUGH_CALLS = 60  # after so many no other state is begun with
MOST_TRIED = 400  # calls on the model, until a way is found
OF_ENDED = 2.0  # by which a state is put off in which a record has ended: the least that is drawn comes first
TRIES_OF_EACH = 2  # times each call is tried from a state, each time with other arguments
DRAWN = 12  # arguments that are tried for a call, to find some with which it is accepted

_Asked = tuple[str, dict[str, Any]]  # an operation, and what it is called with


def gathered(source: kernel.Kernel, creation: str, entity: kernel.Entity) -> Callable[[Any], None]:
    """Return what makes calls on a driver that bring many records, one after the other, to a state but the first, then to others.

    Which states these are of those that calls alone lead to, and how many records, the seed of the case says.
    """

    def begin(driver: Any) -> None:
        chooser = random.Random(driver.case.seed)
        count, ended = chooser.choice(GATHERED), {*entity.terminal}
        # Others begin a case with many records that have ended.
        states = sorted(entity.states[1:], key=lambda state: chooser.random() * (OF_ENDED if state in ended else 1.0))
        calls = 0
        for state in states:
            bringing = _Bringing(source, driver, chooser, entity, state)
            way = bringing.way(creation) if calls < ENOUGH_CALLS else []
            calls += sum(bringing.brought(way) for _ in range(count if way else 0))

    return begin


@dataclass(slots=True)
class _Bringing:
    """Brings one record after the other to a state."""

    source: kernel.Kernel
    driver: Any
    chooser: random.Random
    entity: kernel.Entity
    state: str

    def way(self, creation: str) -> list[_Asked]:
        """Return calls that bring a new record to the state, the shortest way that is found; none where none is."""
        names = [each.name for each in self.source.operations if each.effects and self.driver.offers(each.name)]
        start = self.driver.case.judge.model.fork()
        waiting: deque[tuple[Any, list[_Asked]]] = deque([(start.freeze(), [])])
        known, tries = {start.freeze()}, 0
        while waiting and tries < MOST_TRIED:
            frozen, way = waiting.popleft()
            for name in (names if way else [creation]) * TRIES_OF_EACH:
                tries += 1
                model = start.thawed(frozen)
                arguments = self.accepted(model, name)
                if arguments is None or not _done(model, name, arguments):
                    continue
                longer, then = [*way, (name, arguments)], model.freeze()
                if self._is_there(model):
                    return longer
                if then not in known:
                    known.add(then)
                    waiting.append((then, longer))
        return []

    def brought(self, way: list[_Asked]) -> int:
        """Make the calls of a way once more, as far as they are accepted; return how many were made."""
        for place, (name, given) in enumerate(way):
            arguments = self.accepted(self.driver.case.judge.model, name, given, last=place == len(way) - 1)
            if not self.driver.made(name, arguments):
                return place
        return len(way)

    def accepted(
        self, model: BaseModel, name: str, given: dict[str, Any] | None = None, *, last: bool = False
    ) -> dict[str, Any] | None:
        """Return arguments, about the newest records, with which a call is accepted, and if it is the `last` brings one there.

        Those that are `given` come first. None where none were found.
        """
        newest = {each.name: self._newest(model, each) for each in self.source.entities if not each.fixed}
        asked = (each for each in self.source.operation(name).parameters if each.default is None)
        about = {each.name: newest[each.entity] for each in asked if each.entity in newest}
        if None in about.values():
            return None
        draws = itertools.islice(self.driver.draws_for(model, name, self.chooser), DRAWN)
        for drawn in itertools.chain([given], draws):
            if drawn is None:
                continue
            arguments = {**drawn, **about}
            decision = model.decide(name, arguments)
            if not decision.accept or decision.avoid:
                continue
            after = model.fork()
            if not last or (_done(after, name, arguments) and self._is_there(after)):
                return arguments
        return None

    def _is_there(self, model: BaseModel) -> bool:
        """Return whether the newest record is in the state."""
        key = self._newest(model, self.entity)
        return key is not None and getattr(model, self.entity.collection)[key].state == self.state

    @staticmethod
    def _newest(model: BaseModel, entity: kernel.Entity) -> str | None:
        return next(reversed(getattr(model, entity.collection)), None)


def _done(model: BaseModel, name: str, arguments: dict[str, Any]) -> bool:
    """Carry a call out on a model; return whether it can."""
    with suppress(Impossible, Restless):  # the model may be one that lacks a sentence
        model.do(name, arguments)
        model.settle()
        return True
    return False
