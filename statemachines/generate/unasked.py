"""What happens unasked: steps that the implementation takes on its own, and timers."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression import Operate, Typed, Var, emit, python_name
from statemachines.generate.effects import LISTS, begin_lists, effects, lists_of, returned, step
from statemachines.generate.page import Page, inside, key_of
from statemachines.generate.shown import passed
from statemachines.generate.writer import tuple_of
from statemachines.types import BOOL


def own_steps(page: Page) -> None:
    """Write which steps may or must be taken unasked, and how one is taken."""
    steps = page.source.spontaneous
    kind = "list[tuple[int, tuple[Any, ...], bool]]"
    with page.method("own_steps", "", kind):
        if steps:
            page.line(f"found: {kind} = []")
        for index, each in enumerate(steps):
            _enabled(page, index, each)
        page.line("return found" if steps else "return []")
    with page.method("take", "index: int, keys: tuple[Any, ...], already: Any = None", "Outcome"):
        used = {name for each in steps for name in lists_of(page.source, each.effects)}
        begin_lists(page, [name for name in LISTS.values() if name in used])
        for index, each in enumerate(steps):
            with page.block(f"if index == {index}:"):
                _taken(page, each)
        page.line("raise LookupError(index)")


def _enabled(page: Page, index: int, own: kernel.Spontaneous) -> None:
    keys = tuple_of(key_of(page.source.entity(entity), python_name(variable)) for variable, entity in own.loops)
    must = emit(own.must) if own.must is not None else "False"
    may = own.may
    if own.loose:
        ((variable, name),) = own.loops
        stands = inside(page.source.entity(name), python_name(variable), own.loose)
        may = Operate(BOOL, 0, "&&", Var(BOOL, 0, "", stands), may)
    with page.for_each(own.loops), page.where(may):
        page.line(f"found.append(({index}, {keys}, {must}))")


def _taken(page: Page, own: kernel.Spontaneous) -> None:
    for index, (variable, entity) in enumerate(own.loops):
        page.line(f"{python_name(variable)} = {page.collection(entity)}[keys[{index}]]")
    page.saw(own.clause)
    step(page, own.effects)
    lists = lists_of(page.source, own.effects)
    if not own.operation:
        page.line(returned("None", lists))
        return
    arguments = [passed(page, argument) for argument in own.arguments]
    if (send := page.source.sending(own)) is not None:
        arguments.append(f"{python_name(send.variable)}=already")
    call = f"self.do_{own.operation}({', '.join(arguments)})"
    if not lists:
        page.line(f"return {call}")
        return
    page.line(f"outcome = {call}")
    parts = [f"(*{name}, *outcome.{name})" if name in lists else f"outcome.{name}" for name in LISTS.values()]
    page.line(f"return Outcome(outcome.value, {', '.join(parts)})")


def timers(page: Page) -> None:
    """Write which timers run, and what happens when one is due."""
    every = [(entity, timer) for entity in page.source.entities for timer in entity.timers]
    kind = "list[Timer]"
    with page.method("deadlines", "", kind):
        if every:
            page.line(f"found: {kind} = []")
        for index, (entity, timer) in enumerate(every):
            record = python_name(entity.variable)
            with page.for_each(((entity.variable, entity.name),)), page.where(_runs(entity, record, timer)):
                page.line(f"first = {emit(timer.deadline)}")
                last = f"first + {emit(timer.within)}" if timer.within is not None else "first"
                page.line(f"found.append((first, {last}, {index}, {key_of(entity, record)}))")
        page.line("return found" if every else "return []")
    with page.method("fire", "index: int, key: Any", "Outcome"):
        used = {"signals", *(name for _, timer in every for name in lists_of(page.source, timer.effects))}
        lists = [name for name in LISTS.values() if name in used]
        if every:
            begin_lists(page, lists)
        for index, (entity, timer) in enumerate(every):
            with page.block(f"if index == {index}:"):
                page.line(f"{python_name(entity.variable)} = {page.collection(entity.name)}[key]")
                if all(effect.clause != timer.clause for effect in timer.effects):
                    page.saw(timer.clause)
                effects(page, timer.effects)
                page.line(returned("None", lists))
        page.line("raise LookupError(index)")


def _runs(entity: kernel.Entity, record: str, timer: kernel.Timer) -> Typed:
    """Return the condition under which a timer runs."""
    condition: Typed = Var(BOOL, 0, "", inside(entity, record, timer.states))
    for part in timer.conditions:
        condition = Operate(BOOL, 0, "&&", condition, part)
    return condition
