"""How cases begin by calls that are found on the model: with many records in one state, or with one that has grown old.

So there is a store of dead letters, say, that is fuller than somebody may have thought it would get. Or a look has put off when a
record leaves; or what was begun for one that is gone comes to the next one that has its id. One idea: records are brought somewhere.
"""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from conformance.search.clashes import Asked
from statemachines import kernel
from statemachines.explore import Instants
from statemachines.expression import python_name
from statemachines.model import BaseModel, Impossible, Restless
from statemachines.rows import WAIT

GATHERED = (6, 12, 30)  # records of a state
ENOUGH_CALLS = 60  # after so many no other state is begun with
MOST_TRIED = 400  # calls on the model, until a way is found
MOST_TRIED_SET = 100  # the same after each setting
OF_ENDED = 2.0  # by which a state is put off in which a record has ended: the least that is drawn comes first
TRIES_OF_EACH = 2  # times each call is tried from a state, each time with other arguments
BETWEEN = (7, 1000)  # milliseconds before a call about a record that grows old
HALVES = 0.6  # of those calls come half the way to the last instant at which something may change
PAST_FIRST = 0.5  # of the lives begin in another state than the first
LEFT_ALONE = 0.2  # of the lives: nothing is done
ONE_WAY = 0.4  # of them: it is called about in one way again and again; in the others in several ways
TIMES_IN_A_ROW = 2  # times before something may change
MOST_WAITS = 6  # until it has left
WAYS_TRIED = 8  # in which it may come
DRAWN = 12  # arguments that are tried for a call, to find some with which it is accepted


def gathered(source: kernel.Kernel, creations: Sequence[str], entity: kernel.Entity) -> Callable[[Any], None]:
    """Return what makes calls on a driver that bring many records, one after the other, to a state but the first, then to others.

    With one of the `creations` a way begins: that of such a record, or of one that it is about. Which states these are of those
    that calls alone lead to, and how many records, the seed of the case says.
    """

    def begin(driver: Any) -> None:
        chooser = random.Random(driver.case.seed)
        count, ended = chooser.choice(GATHERED), {*entity.terminal}
        # Others begin a case with many records that have ended.
        states = sorted(entity.states[1:], key=lambda state: chooser.random() * (OF_ENDED if state in ended else 1.0))
        calls = 0
        for state in states:
            bringing = _Bringing(source, driver, chooser, entity, {state})
            way = bringing.way(driver.case.judge.model.fork(), creations) if calls < ENOUGH_CALLS else []
            calls += sum(bringing.brought(way) for _ in range(count if way else 0))

    return begin


def gathered_by_others(
    source: kernel.Kernel, creations: Sequence[str], entity: kernel.Entity, settings: Sequence[str]
) -> Callable[[Any], None]:
    """Return what makes calls on a driver that bring many records which nobody asks about by themselves: what is owed, say.

    They come of what is done to others, with which a way begins, and are gathered in states but ended ones. If nothing leads
    there as things are, one of the `settings` is called before, operations that are about no record.
    """

    def begin(driver: Any) -> None:
        chooser = random.Random(driver.case.seed)
        bringing = _Bringing(source, driver, chooser, entity, {*entity.states} - {*entity.terminal})
        before, way = next(bringing.ways_after(settings, creations), (None, []))
        if way and (before is None or driver.made(*before)):
            for _ in range(max(GATHERED)):
                bringing.brought(way)

    return begin


def grown_old(
    source: kernel.Kernel, creations: Sequence[str], entity: kernel.Entity, instants: Instants, lives: int
) -> Callable[[Any], None]:
    """Return what has so many records come and grow old, one after the other.

    Each is called about now and then, and looked at whenever something may change.
    What is done on the way must not put off what time brings. Has it left at last, another one comes by the same calls, under its
    id if it may ask for one, and nothing that began in the life of the first one may come to it.
    """
    about = _about_one_of(source)
    creating = [each.name for each in source.operations if _creates(each, entity)]
    letting_go = [each.name for each in source.operations if lets_go(each)]

    def begin(driver: Any) -> None:
        chooser = random.Random(driver.case.seed)
        for _ in range(lives):
            # Some begin where others come to late, if ever: what has ended leaves when its time is over.
            later = entity.states[1:] and chooser.random() < PAST_FIRST
            states = {chooser.choice(entity.states[1:])} if later else {*entity.states}
            by = [*chooser.sample(creating, min(1, len(creating))), *creations]
            bringing = _Bringing(source, driver, chooser, entity, states)
            _Life(bringing, instants, letting_go).go(by, _what_is_done(about, chooser))

    return begin


@dataclass(slots=True)
class _Life:
    """The life of one record that grows old. `letting_go` is called whenever time has passed, of which so many milliseconds have."""

    bringing: _Bringing
    instants: Instants
    letting_go: Sequence[str]
    passed: int = 0

    def go(self, creations: Sequence[str], names: Sequence[str]) -> None:
        """Have the record come, and grow old while operations are called about it; then have the next one come, if it has left."""
        bringing, driver = self.bringing, self.bringing.driver
        ways = [bringing.way(driver.case.judge.model.fork(), creations, MOST_TRIED_SET) for _ in range(WAYS_TRIED)]
        # So that an id is asked for, if one may be.
        way = max(ways, key=lambda way: (_given(way), bringing.chooser.random()))
        if not way or bringing.brought(way) < len(way):
            return
        kinds = [each for each in bringing.source.entities if not each.fixed]
        newest = [(kind, bringing.newest(driver.case.judge.model, kind)) for kind in kinds]
        self._grow_old(names)
        model = driver.case.judge.model
        left = any(key is not None and key not in bringing.records(model, kind) for kind, key in newest)
        if left and bringing.brought(way) == len(way):
            driver.made(WAIT, {"ms": max(self.passed, 1)})
            driver.observe_all()

    def _grow_old(self, names: Sequence[str]) -> None:
        driver, chooser = self.bringing.driver, self.bringing.chooser
        for name in names:
            half = max(self.instants.coming(driver.case.judge.model), default=0) // 2
            ms = half if half and chooser.random() < HALVES else chooser.choice(BETWEEN)
            self.passed += ms if self._waited(ms) else 0
            self._call(name)
        for _ in range(MOST_WAITS):
            coming = [*self.instants.coming(driver.case.judge.model)]
            if not coming or not self._waited(max(coming[0], 1)):
                break
            driver.observe_all()
            for name in dict.fromkeys(names):  # not all that tells of a record is a look
                self._call(name)

    def _waited(self, ms: int) -> bool:
        driver = self.bringing.driver
        done: bool = driver.made(WAIT, {"ms": ms})
        for name in self.letting_go:
            driver.made(name, {})
        return done

    def _call(self, name: str) -> None:
        driver = self.bringing.driver
        driver.made(name, self.bringing.accepted(driver.case.judge.model, name))


@dataclass(slots=True)
class _Bringing:
    """Brings one record after the other to one of some states."""

    source: kernel.Kernel
    driver: Any
    chooser: random.Random
    entity: kernel.Entity
    states: Collection[str]

    def ways_after(
        self, settings: Sequence[str], creations: Sequence[str]
    ) -> Iterator[tuple[Asked | None, list[Asked]]]:
        """Walk ways that begin with a creation, each with what is called once before it; None for nothing."""
        model = self.driver.case.judge.model
        draws = [(name, self.driver.draws_for(model, name, self.chooser)) for name in settings]
        drawn = [(name, given) for name, each in draws for given in itertools.islice(each, DRAWN) if given is not None]
        for before in [None, *self.chooser.sample(drawn, len(drawn))]:
            start = model.fork()
            if before is None or (is_accepted(start, *before) and carried_out(start, *before)):
                way = self.way(start, creations, MOST_TRIED_SET)
                if way:
                    yield before, way

    def way(self, start: BaseModel, creations: Sequence[str], most: int = MOST_TRIED) -> list[Asked]:
        """Return calls that bring a new record to one of the states, the shortest way that is found; none where none is."""
        names = [each.name for each in self.source.operations if each.effects and self.driver.offers(each.name)]
        waiting: deque[tuple[Any, list[Asked]]] = deque([(start.freeze(), [])])
        known, tries, before = {start.freeze()}, 0, self.newest(start, self.entity)
        while waiting and tries < most:
            frozen, way = waiting.popleft()
            for name in [*(names if way else creations)] * TRIES_OF_EACH:
                tries += 1
                model = start.thawed(frozen)
                arguments = self.accepted(model, name)
                if arguments is None or not carried_out(model, name, arguments):
                    continue
                longer, then = [*way, (name, arguments)], model.freeze()
                if self._is_there(model, before):
                    return longer
                if then not in known:
                    known.add(then)
                    waiting.append((then, longer))
        return []

    def brought(self, way: list[Asked]) -> int:
        """Make the calls of a way once more, as far as they are accepted; return how many were made."""
        before = self.newest(self.driver.case.judge.model, self.entity)
        for place, (name, given) in enumerate(way):
            wanted = partial(self._is_there, before=before) if place == len(way) - 1 else None
            arguments = self.accepted(self.driver.case.judge.model, name, given, wanted)
            if not self.driver.made(name, arguments):
                return place
        return len(way)

    def accepted(
        self,
        model: BaseModel,
        name: str,
        given: dict[str, Any] | None = None,
        wanted: Callable[[BaseModel], bool] | None = None,
    ) -> dict[str, Any] | None:
        """Return arguments, about the newest records, with which a call is accepted, and leads to what is `wanted` if anything.

        Those that are `given` come first. None where none were found.
        """
        newest = {each.name: self.newest(model, each) for each in self.source.entities if not each.fixed}
        asked = (each for each in self.source.operation(name).parameters if each.default is None)
        about = {each.name: newest[each.entity] for each in asked if each.entity in newest}
        if None in about.values():
            return None
        draws = itertools.islice(self.driver.draws_for(model, name, self.chooser), DRAWN)
        for drawn in itertools.chain([given], draws):
            if drawn is None:
                continue
            arguments = {**drawn, **about}
            if not is_accepted(model, name, arguments):
                continue
            after = model.fork()
            if wanted is None or (carried_out(after, name, arguments) and wanted(after)):
                return arguments
        return None

    def _is_there(self, model: BaseModel, before: str | None) -> bool:
        """Return whether the newest record is in one of the states, if it has states, and is another one than was `before`."""
        key = self.newest(model, self.entity)
        if key in (None, before):
            return False
        return not self.states or self.records(model, self.entity)[key].state in self.states

    @staticmethod
    def records(model: BaseModel, entity: kernel.Entity) -> dict[str, Any]:
        """Return the records of an entity, by their ids, the oldest first."""
        found: dict[str, Any] = getattr(model, python_name(entity.collection))
        return found

    def newest(self, model: BaseModel, entity: kernel.Entity) -> str | None:
        """Return the id of the record that came last; None where there is none."""
        return next(reversed(self.records(model, entity)), None)


def _what_is_done(about: Sequence[str], chooser: random.Random) -> list[str]:
    """Choose the operations that are called about a record which grows old, in turn."""
    which = chooser.random()
    if not about or which < LEFT_ALONE:
        return []
    if which < LEFT_ALONE + ONE_WAY:
        return [chooser.choice(about)] * TIMES_IN_A_ROW
    return chooser.sample(about, chooser.randint(1, len(about)))


def _given(way: Sequence[Asked]) -> int:
    """Return how many arguments of the calls of a way say something."""
    return sum(bool(value) for _, arguments in way for value in arguments.values()) if way else -1


def is_accepted(model: BaseModel, name: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a call is accepted, and the spec says what comes of it."""
    decision = model.decide(name, arguments)
    return decision.accept and not decision.avoid


def _creates(operation: kernel.Operation, entity: kernel.Entity) -> bool:
    return any(
        isinstance(each, kernel.Create) and each.entity == entity.name for each in kernel.walk(operation.effects)
    )


def _about_one_of(source: kernel.Kernel) -> list[str]:
    """List the operations that are about a record which comes and goes, and create none."""
    kinds = {each.name for each in source.entities if not each.fixed}
    about = [each for each in source.operations if any(one.entity in kinds for one in each.parameters)]
    return [each.name for each in about if not any(isinstance(it, kernel.Create) for it in kernel.walk(each.effects))]


def lets_go(operation: kernel.Operation) -> bool:
    """Return whether an operation takes nothing, and does nothing but let go of what may go by now."""
    effects = list(kernel.walk(operation.effects))
    removes = any(isinstance(each, kernel.Remove) for each in effects)
    return (
        removes
        and not operation.parameters
        and all(isinstance(each, kernel.ForEach | kernel.Remove) for each in effects)
    )


def carried_out(model: BaseModel, name: str, arguments: Mapping[str, Any]) -> bool:
    """Make a call on a model; return whether it is accepted, and can be followed."""
    with suppress(Impossible, Restless):  # the model may be one that lacks a sentence
        if model.decide(name, arguments).accept:
            model.do(name, arguments)
            model.settle()
            return True
    return False
