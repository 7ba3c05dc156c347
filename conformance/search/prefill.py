"""How a case begins: with as many ended records as retention allows, one fewer, one more, or none.

Derived from the kernel: for every `retain`, the operation that creates a record and the one that
brings it into the group that is retained. A case also begins with something done to one of those before one more ends, which
must not change what leaves; and, where one operation removes all records, and one gives a record an id that is asked for, with what
may be left of records that were removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.system import MOVED, UNLIMITED, Declaration
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.expression import Const, Var
from statemachines.model import BaseModel

Prefill = Callable[[Any], None]  # makes calls on a driver


def prefills(compiled: Compiled, declaration: Declaration, most: int) -> list[Prefill]:
    """Return ways to begin a case: with nothing, then for every retention limit up to `most` around and beyond it.

    Where there is no limit they begin with many records, all of which stay.
    """
    found: list[Prefill] = [lambda driver: None]
    model = compiled.model(declaration.limits, declaration.policies)
    for entity in compiled.kernel.entities:
        source = _asked(compiled.kernel, declaration)
        creation, ending = _creation(source, entity), _ending(source, entity)
        limit = _retained(entity, model)
        if creation is None or ending is None or limit is None or most < limit < UNLIMITED:
            continue
        around = (
            {max(limit - 1, 0), limit, limit + 1} - {0} if limit < UNLIMITED else {most // 2}
        )  # none of which leaves
        for count in sorted(around):
            found += [
                _filled(creation, ending, entity, count, apart and declaration.clock in MOVED)
                for apart in (True, False)
            ]
        if others := _about(source, entity) if 1 < limit < UNLIMITED else []:
            full, one_more = (_filled(creation, ending, entity, count, apart=False) for count in (limit, 1))
            found.append(_touched(full, one_more, others, entity))
        removal, retaking = _removal(source, entity), _retaking(source, entity)
        if removal is not None and retaking is not None and 0 < limit < UNLIMITED:
            first, then = (_filled(creation, ending, entity, count, apart=False) for count in (limit, limit + 1))
            found.append(_afresh(first, then, removal, *retaking, entity))
    return found


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
    """Return the operation that moves a record from its first state into the group that is retained."""
    retained = entity.retain.states if entity.retain is not None else ()
    for operation in source.operations:
        for effect in operation.effects:
            if isinstance(effect, kernel.Move) and effect.entity == entity.name:
                target = dict(effect.arrows).get(entity.states[0])
                if target is not None and (not isinstance(target, Const) or target.value in retained):
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


def _filled(creation: str, ending: kernel.Operation, entity: kernel.Entity, count: int, apart: bool) -> Prefill:
    """Create records, then end them one after the other, last created first, at one instant or apart."""
    name = next(parameter.name for parameter in ending.parameters if parameter.entity == entity.name)

    def begin(driver: Any) -> None:
        before = _keys(driver, entity)
        for _ in range(count):
            if not _made(driver, creation, driver.arguments(creation, 0)):
                return
        for key in (each for each in reversed(_keys(driver, entity)) if each not in before):
            if not _made(driver, ending.name, {**driver.arguments(ending.name, 0), name: key}):
                return
            if apart:
                driver.make("wait", {"ms": 1})

    return begin


def _made(driver: Any, operation: str, arguments: Any) -> bool:
    """Make a call, unless it is better not made; return whether it was."""
    if arguments is None or not driver.may(operation, arguments):
        return False
    driver.make(operation, arguments)
    return True


def _touched(full: Prefill, one_more: Prefill, others: list[tuple[str, str]], entity: kernel.Entity) -> Prefill:
    """Fill up, call each of some operations about another record, and let one more end, then as many as were called about."""

    def begin(driver: Any) -> None:
        full(driver)
        second = _keys(driver, entity)[-2::-1]  # those that do not leave first
        for key, (operation, name) in zip(second, others, strict=False):
            arguments = driver.arguments(operation, 0)
            if arguments is not None and driver.may(operation, {**arguments, name: key}):
                driver.make(operation, {**arguments, name: key})
        for _ in range(1 + len(others)):
            one_more(driver)
            driver.observe({})

    return begin


def _afresh(
    first: Prefill, then: Prefill, removal: str, retaking: str, parameter: str, entity: kernel.Entity
) -> Prefill:
    """Fill up, remove all records, create one under an id that one of them had, and fill up beside it."""

    def begin(driver: Any) -> None:
        first(driver)
        keys = _keys(driver, entity)
        arguments = driver.arguments(retaking, 0)
        if keys and arguments is not None:  # what creates may be refused as long as something else is not there
            driver.make(removal, {})
            driver.make(retaking, {**arguments, parameter: keys[0]})
            then(driver)

    return begin


def _keys(driver: Any, entity: kernel.Entity) -> list[str]:
    return list(getattr(driver.case.judge.model, entity.collection))
