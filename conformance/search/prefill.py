"""How a case begins: with as many ended records as retention allows, one fewer, one more, or none; with full and crowded registries.

Derived from the kernel: for every `retain`, the operation that creates a record and the one that
brings it into the group that is retained. A case also begins with something done to one of those before one more ends, which
must not change what leaves; and, where one operation gives a record an id that is asked for, with what may be left of a record that
has left, and of records that one operation removed. Where no more than so many records may be created one after the other, a case
begins with as many, or with one fewer, as the model tells. And it begins far beyond whatever somebody may have thought enough.
One idea: how a case begins.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.search.gathering import (
    GATHERED,
    carried_out,
    gathered,
    gathered_by_others,
    grown_old,
    is_accepted,
)
from conformance.system import MOVED, UNLIMITED, Declaration
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import choosers, instants_of
from statemachines.expression import Const, Var, python_name
from statemachines.model import ABSENT, BaseModel
from statemachines.rows import WAIT

# Records far beyond what somebody may have thought enough: mostly so many, seldom more.
MANY_CREATED = (60, 60, 60, 130)
# Of them that have ended, where all of those stay: some systems keep what they are asked in the bits of a number.
MANY_ENDED = (30, 30, 66)
MANY_CALLS = (60, 60, 130)  # of one operation about one record: mostly so many, seldom more
TWICE = 2  # calls of it change something before it is called so often
FAR = 3  # times a retention limit, that many records have ended
MADE_ALIKE = 0.5  # of the crowds are of records that were created by one call, made again and again
EARLIER = (1, 7, 1000)  # milliseconds until a case begins that is set up
SET = (1, 1, 2)  # operations that are called then
ROOM_TRIES = 4  # arguments of an operation that are tried to make room for another record
OF_IT = 4  # arguments of a call about one record that are tried, to find some with which it does something

LIVES = 6  # of records that grow old one after the other, where a call takes next to no time
OFTEN_OLD = 3  # as often as with others cases begin with records that grow old: the calls are few, and time brings much

Prefill = Callable[[Any], None]  # makes calls on a driver


def prefills(compiled: Compiled, declaration: Declaration, most: int) -> list[Prefill]:
    """Return ways to begin a case: with nothing, then full and crowded, then for every retention limit up to `most` around and beyond it.

    Where there is no limit they begin with many records, all of which stay.
    """
    found: list[Prefill] = [lambda driver: None]
    model = compiled.model(declaration.limits, declaration.policies)
    far = declaration.clock != "none" and not declaration.settles  # else so many calls take longer than a case may
    counted: set[str] = set()
    instants = instants_of(compiled)
    for entity in compiled.kernel.entities:
        source = _asked(compiled.kernel, declaration)
        creation, ending = _creation(source, entity), _ending(source, entity)
        named = any(parameter.entity == entity.name for each in source.operations for parameter in each.parameters)
        if creation is not None and creation not in counted and named:
            counted.add(creation)
            if most >= max(GATHERED) and declaration.clock in MOVED and instants.are_there:
                lives, often = (LIVES, OFTEN_OLD) if far else (1, 1)
                found += [grown_old(source, creations(source, entity), entity, instants, lives)] * often
            room = _room(compiled, creation, model.fork(), most)
            found += [_created(creation, count) for count in (room - 1, room) if count > 0] if room is not None else []
            others = [each.name for each in source.operations if each.effects]
            many = [count for count in MANY_CREATED if count <= most]
            found += [_crowd(creation, many, others)] if far and many else []
            if far and most >= MANY_CALLS[0] and _about(source, entity):
                found.append(_repeated(creation, entity, _about(source, entity)))
            if ending is not None and entity.retain is None and far and most >= max(MANY_ENDED):
                found.append(_ended(creation, ending, entity))
        asked_about = creation is not None and named
        found += _gathered(source, entity, asked_about=asked_about) if far and most >= max(GATHERED) else []
        limit = _retained(entity, model)
        if creation is None or ending is None or limit is None or most < limit < UNLIMITED:
            continue
        around = (
            {max(limit - 1, 0), limit, limit + 1} - {0} if limit < UNLIMITED else {most // 2}
        )  # none of which leaves
        for count in sorted(around):
            for apart in (declaration.clock in MOVED, False):
                found.append(_filled(creation, ending, entity, count, apart))
        if far and 0 < FAR * limit <= most:
            found.append(_filled(creation, ending, entity, FAR * limit, apart=False, varied=True))
        removal, retaking, about = _removal(source, entity), _retaking(source, entity), _about(source, entity)
        one_more = _filled(creation, ending, entity, 1, apart=False)
        if retaking is not None and 0 < limit < UNLIMITED:
            # It ends after all else that is asked of it.
            at_last = sorted(about, key=lambda each: each[0] == ending.name)
            found.append(_retaken(creation, one_more, limit, at_last, *retaking, entity))
        if about and 1 < limit < UNLIMITED:
            full = _filled(creation, ending, entity, limit, apart=False)
            found.append(_touched(full, one_more, about, entity))
        if removal is not None and retaking is not None and 0 < limit < UNLIMITED:
            first, then = (_filled(creation, ending, entity, count, apart=False) for count in (limit, limit + 1))
            found.append(_afresh(first, then, removal, *retaking, entity))
    return found


def one_place_left(compiled: Compiled, declaration: Declaration, most: int) -> list[tuple[kernel.Operation, Prefill]]:
    """Return what brings a system to where one more record may be created, and no other; with the operation that creates it.

    Or to where one more may end before any leaves, and two are about to, with the operation that ends them. There is one for each
    limit to how many there are at once, of up to so many.
    """
    source, model = _asked(compiled.kernel, declaration), compiled.model(declaration.limits, declaration.policies)
    created = dict.fromkeys(filter(None, (_creation(source, entity) for entity in source.entities)))
    rooms = ((name, _room(compiled, name, model.fork(), most)) for name in created)
    found = [(source.operation(name), _created(name, room - 1)) for name, room in rooms if room]
    for entity in source.entities:
        creation, ending, limit = _creation(source, entity), _ending(source, entity), _retained(entity, model)
        if creation is not None and ending is not None and limit is not None and 0 < limit <= most:
            found.append(
                (ending, _in_turn(_filled(creation, ending, entity, limit - 1, apart=False), _created(creation, 2)))
            )
    return found


def _in_turn(*begins: Prefill) -> Prefill:
    """Begin in several ways, one after the other."""

    def begin(driver: Any) -> None:
        for each in begins:
            each(driver)

    return begin


def _gathered(source: kernel.Kernel, entity: kernel.Entity, *, asked_about: bool) -> list[Prefill]:
    """Return how a case begins with many records of an entity, about which somebody may ask who creates them, or which come of others."""
    if len(entity.states) < 2 or entity.fixed:
        return []
    if asked_about:
        return [gathered(source, creations(source, entity), entity)]
    return [gathered_by_others(source, creations(source, entity), entity, about_no_record(source))]


def creations(source: kernel.Kernel, first: kernel.Entity | None = None) -> list[str]:
    """List the operations that create records under an id of the system's own, one for each entity, that of the `first` one first."""
    entities = [*([] if first is None else [first]), *source.entities]
    return [*dict.fromkeys(filter(None, (_creation(source, entity) for entity in entities)))]


def set_up(compiled: Compiled, declaration: Declaration) -> Prefill:
    """Return what lets some time pass, so that no instant is 0, and calls one or two operations that are about no record.

    Some change what can only be changed before there is a record, and some what only matters where there are many. None is called
    that takes it away that records can be created.
    """
    source = _asked(compiled.kernel, declaration)
    operations = about_no_record(source)
    creating = creations(source)

    def begin(driver: Any) -> None:
        chooser = random.Random(f"{driver.case.seed}/set up")
        if declaration.clock in MOVED:
            driver.made(WAIT, {"ms": chooser.choice(EARLIER)})
        for name in chooser.sample(operations, min(len(operations), chooser.choice(SET))):
            given = _some(source.operation(name), driver.drawn(name, chooser), chooser)
            if given is not None and not _takes_away(driver, name, given, creating):
                driver.made(name, given)

    return begin


def _some(
    operation: kernel.Operation, drawn: Mapping[str, Any] | None, chooser: random.Random
) -> Mapping[str, Any] | None:
    """Leave out some arguments that may be left out: with all settings changed at once little goes on as usual."""
    if drawn is None:
        return None
    optional = {each.name for each in operation.parameters if each.default is not None and each.name in drawn}
    kept = set(chooser.sample(sorted(optional), chooser.randint(1, len(optional)))) if optional else set()
    return {name: value for name, value in drawn.items() if name not in optional or name in kept}


def about_no_record(source: kernel.Kernel) -> list[str]:
    """List the operations that set something, create nothing, and are about no record that comes and goes, nor about each of many."""
    fixed = {"", *(entity.name for entity in source.entities if entity.fixed)}
    found = []
    for operation in source.operations:
        sets = any(isinstance(does, kernel.Set) for does in operation.effects)  # not what is set of each record
        creates = any(isinstance(does, kernel.Create) for does in kernel.walk(operation.effects))
        if sets and not creates and all(parameter.entity in fixed for parameter in operation.parameters):
            found.append(operation.name)
    return found


def _takes_away(driver: Any, name: str, given: Mapping[str, Any], creating: Sequence[str]) -> bool:
    """Return whether after a call a record cannot be created any more that could be before it."""
    model = driver.case.judge.model.fork()
    asked = [(each, arguments) for each in creating if (arguments := driver.arguments(each, 0)) is not None]
    before = [each for each in asked if is_accepted(model, *each)]
    return not (carried_out(model, name, given) and all(is_accepted(model, *each) for each in before))


def _room(compiled: Compiled, creation: str, model: BaseModel, most: int) -> int | None:
    """Return after how many records the next one is refused; None where up to so many none is."""
    operation = compiled.kernel.operation(creation)
    given = [*zip(operation.parameters, choosers(compiled, operation, {}), strict=True)]
    for count in range(most + 1):
        values = {parameter.name: next(iter(chooser(model)), ABSENT) for parameter, chooser in given}
        arguments = {name: value for name, value in values.items() if value is not ABSENT}
        decision = model.decide(creation, arguments)
        if not decision.accept or decision.avoid:
            return count if decision.refuse else None
        model.do(creation, arguments)
        model.settle()
    return None


def _created(creation: str, count: int, others: Sequence[str] = (), alike: Mapping[str, Any] | None = None) -> Prefill:
    """Create so many records, with `alike` arguments if there are any.

    Where one is refused, some call of the other operations may make room for it.
    """

    def begin(driver: Any) -> None:
        for _ in range(count):
            arguments = driver.arguments(creation, 0) if alike is None else alike
            if arguments is None or not (
                driver.enabled(creation, arguments) or _room_made(driver, creation, arguments, others)
            ):
                return
            if not driver.made(creation, arguments):
                return

    return begin


def _crowd(creation: str, many: Sequence[int], others: Sequence[str]) -> Prefill:
    """Create many records: how many of those counts, and whether all in one way, as those of one batch or parent, the seed of the case says."""

    def begin(driver: Any) -> None:
        chooser = random.Random(driver.case.seed)
        count, alike = chooser.choice(many), _one_way(driver, creation, chooser)
        _created(creation, count, others, alike)(driver)

    return begin


def _one_way(driver: Any, operation: str, chooser: random.Random) -> Mapping[str, Any] | None:
    """Return arguments with which an operation is called for all records of a case; None where each has others, by the chooser."""
    given: Mapping[str, Any] | None = driver.drawn(operation, chooser) if chooser.random() < MADE_ALIKE else None
    return given if given is not None and driver.enabled(operation, given) else None


def _room_made(driver: Any, creation: str, wanted: Mapping[str, Any], others: Sequence[str]) -> bool:
    """Make the first call after which the model creates the record that is wanted; return whether there is one."""
    model = driver.case.judge.model.fork()
    frozen = model.freeze()
    for operation, number in itertools.product(others, range(ROOM_TRIES)):
        arguments = driver.arguments(operation, number)
        if arguments is None:
            continue
        model.thaw(frozen)
        makes_room = carried_out(model, operation, arguments) and model.decide(creation, wanted).accept
        if makes_room and driver.made(operation, arguments):
            return True
    return False


def _asked(source: kernel.Kernel, declaration: Declaration) -> kernel.Kernel:
    """Return a kernel with the operations alone that a system is asked for."""
    return replace(source, operations=tuple(each for each in source.operations if each.name not in declaration.absent))


def _retained(entity: kernel.Entity, model: BaseModel) -> int | None:
    """Return how many records are retained, when a limit alone says so."""
    newest = entity.retain.newest if entity.retain is not None else None
    if not isinstance(newest, Var):
        return None
    found: int | None = vars(model.limits).get(newest.name.removeprefix("limits."))
    return found


def _creation(source: kernel.Kernel, entity: kernel.Entity) -> str | None:
    """Return the operation that creates a record under an id of the system's own."""
    for operation in source.operations:
        created = (effect for effect in operation.effects if isinstance(effect, kernel.Create) and effect.mints)
        if not operation.optional and any(effect.entity == entity.name for effect in created):
            return operation.name
    return None


def _ending(source: kernel.Kernel, entity: kernel.Entity) -> kernel.Operation | None:
    """Return the operation that moves a record from its first state into the group that is retained, or to its end where all are."""
    group = entity.retain.states if entity.retain is not None else entity.terminal
    for operation in (each for each in source.operations if any(one.entity == entity.name for one in each.parameters)):
        for effect in operation.effects:
            if isinstance(effect, kernel.Move) and effect.entity == entity.name:
                target = dict(effect.arrows).get(entity.states[0])
                if isinstance(target, Const) and target.value in group:
                    return operation
                if target is not None and not isinstance(target, Const) and entity.retain is not None:
                    return operation
    return None


def _about(source: kernel.Kernel, entity: kernel.Entity) -> list[tuple[str, str]]:
    """List the operations that change something and are about one record, each with the name of that parameter."""
    return [
        (operation.name, parameter.name)
        for operation in source.operations
        for parameter in operation.parameters
        if parameter.entity == entity.name and not operation.observes
    ]


def _removal(source: kernel.Kernel, entity: kernel.Entity) -> str | None:
    """Return the operation that removes every record, and is about none of them."""
    for operation in source.operations:
        removes = (effect for effect in operation.effects if isinstance(effect, kernel.Remove))
        if not operation.parameters and any(each.kind == "entity" and each.name == entity.name for each in removes):
            return operation.name
    return None


def _retaking(source: kernel.Kernel, entity: kernel.Entity) -> tuple[str, str] | None:
    """Return the operation that creates a record under an id that it takes, and the name of that parameter."""
    for operation in source.operations:
        for effect in operation.effects:
            if isinstance(effect, kernel.Create) and effect.entity == entity.name and isinstance(effect.id, Var):
                return operation.name, effect.id.name
    return None


def _filled(
    creation: str, ending: kernel.Operation, entity: kernel.Entity, count: int, apart: bool, *, varied: bool = False
) -> Prefill:
    """Create records, then end them one after the other, last created first, at one instant or apart.

    `varied`: each with other arguments than the one before; else by the seed of the case all with the first, or with some others.
    """
    name = _parameter(ending, entity)

    def begin(driver: Any) -> None:
        before = _keys(driver, entity)
        chooser = random.Random(f"{driver.case.seed}/{count}")
        for _ in range(count):
            if not driver.made(creation, driver.arguments(creation, 0)):
                return
            if apart:
                driver.made(WAIT, {"ms": 1})
        new = [each for each in reversed(_keys(driver, entity)) if each not in before]
        alike = None if varied else _one_way(driver, ending.name, chooser)
        for number, key in enumerate(new):
            arguments = driver.arguments(ending.name, number if varied else 0) if alike is None else alike
            if not driver.made(ending.name, {**arguments, name: key}):
                return
            if apart:
                driver.made(WAIT, {"ms": 1})

    return begin


def _ended(creation: str, ending: kernel.Operation, entity: kernel.Entity) -> Prefill:
    """Create many records, and end each before the next one comes; by the seed of the case the first or the last one stays as it is.

    By the seed, too, they are made in one way, as those of one batch are.
    """
    name = _parameter(ending, entity)

    def begin(driver: Any) -> None:
        chooser = random.Random(driver.case.seed)
        alike, count = _one_way(driver, creation, chooser), chooser.choice(MANY_ENDED)
        stays = chooser.choice((None, 0, count - 1))
        for number in range(count):
            before = _keys(driver, entity)
            given = alike if alike is not None and driver.enabled(creation, alike) else None
            if not driver.made(creation, driver.arguments(creation, number) if given is None else given):
                return
            new = [each for each in _keys(driver, entity) if each not in before]
            for key in () if number == stays else new:
                arguments = driver.arguments(ending.name, number)
                driver.made(ending.name, {**arguments, name: key} if arguments is not None else None)

    return begin


def _repeated(creation: str, entity: kernel.Entity, about: list[tuple[str, str]]) -> Prefill:
    """Create a record, let it begin, and call one operation about it again and again, with other arguments each time."""

    def begin(driver: Any) -> None:
        chooser = random.Random(driver.case.seed)
        before = _keys(driver, entity)
        driver.made(creation, driver.arguments(creation, 0))
        key = next((each for each in _keys(driver, entity) if each not in before), "")

        def drawn(operation: str, name: str) -> dict[str, Any] | None:
            given: dict[str, Any] | None = None
            for _ in range(OF_IT):
                found = driver.drawn(operation, chooser)
                given = None if found is None else {**found, name: key}
                if given is None or driver.enabled(operation, given):
                    break
            return given

        def states(each: tuple[str, str], calls: int) -> list[str]:
            """Return the states that the record comes to by some calls, as long as each changes something and it does not end."""
            model, found = driver.case.judge.model.fork(), [_state(driver.case.judge.model, entity, key)]
            for given in (drawn(*each) for _ in range(calls)):
                frozen = model.freeze()
                if given is None or not carried_out(model, each[0], given):
                    break
                state = _state(model, entity, key)
                if model.freeze() == frozen or state in (None, *entity.terminal):
                    break
                found.append(state)
            return found

        for each in about if key else ():
            if len({*states(each, calls=1)}) > 1:
                driver.made(each[0], drawn(*each))
        useful = [each for each in about if key and len(states(each, calls=TWICE)) > TWICE]
        if useful:
            repeated = chooser.choice(useful)
            for _ in range(chooser.choice(MANY_CALLS)):
                driver.made(repeated[0], drawn(*repeated))

    return begin


def _state(model: BaseModel, entity: kernel.Entity, key: str) -> Any:
    """Return the state of a record, an empty text where it has none; None where it is gone."""
    record = getattr(model, python_name(entity.collection)).get(key)
    return None if record is None else getattr(record, "state", "")


def _parameter(operation: kernel.Operation, entity: kernel.Entity) -> str:
    """Name the parameter by which an operation is about one record."""
    return next(parameter.name for parameter in operation.parameters if parameter.entity == entity.name)


def _touched(full: Prefill, one_more: Prefill, others: list[tuple[str, str]], entity: kernel.Entity) -> Prefill:
    """Fill up, call each of some operations about another record, and let one more end, then as many as were called about."""

    def begin(driver: Any) -> None:
        full(driver)
        second = _keys(driver, entity)[-2::-1]  # those that do not leave first
        for key, (operation, name) in zip(second, others, strict=False):
            arguments = driver.arguments(operation, 0)
            if arguments is not None:
                driver.made(operation, {**arguments, name: key})
        for _ in range(1 + len(others)):
            one_more(driver)
            driver.observe({})

    return begin


def _retaken(
    creation: str,
    one_more: Prefill,
    limit: int,
    others: list[tuple[str, str]],
    retaking: str,
    parameter: str,
    entity: kernel.Entity,
) -> Prefill:
    """Call each of some operations about a record, let it leave as others end after it, and do the same to one under its id."""

    def begin(driver: Any) -> None:
        driver.made(creation, driver.arguments(creation, 0))
        if not (keys := _keys(driver, entity)):
            return
        key = keys[-1]
        _live(driver, key, others)
        for _ in range(limit):
            one_more(driver)
        arguments = driver.arguments(retaking, 0)
        if key not in _keys(driver, entity) and arguments is not None:
            driver.made(retaking, {**arguments, parameter: key})
            driver.observe({})
            _live(driver, key, others)

    return begin


def _live(driver: Any, key: str, operations: list[tuple[str, str]]) -> None:
    """Call each of some operations about a record, and those that were refused again: some are refused until another was called."""
    for operation, name in (*operations, *operations):
        arguments = driver.arguments(operation, 0)
        if arguments is not None and driver.enabled(operation, {**arguments, name: key}):
            driver.made(operation, {**arguments, name: key})


def _afresh(
    first: Prefill, then: Prefill, removal: str, retaking: str, parameter: str, entity: kernel.Entity
) -> Prefill:
    """Fill up, remove all records, create one under an id that one of them had, and fill up beside it."""

    def begin(driver: Any) -> None:
        first(driver)
        keys = _keys(driver, entity)
        arguments = driver.arguments(retaking, 0)
        if keys and arguments is not None:  # what creates may be refused as long as something else is not there
            driver.made(removal, {})
            driver.made(retaking, {**arguments, parameter: keys[0]})
            then(driver)

    return begin


def _keys(driver: Any, entity: kernel.Entity) -> list[str]:
    return list(getattr(driver.case.judge.model, python_name(entity.collection)))
