"""What a step does, in the order in which it happens."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from statemachines import kernel
from statemachines.expression import (
    Attribute,
    Const,
    InGroup,
    Typed,
    Var,
    emit,
    emit_iterable,
    every_part,
    python_name,
)
from statemachines.generate.creations import create
from statemachines.generate.page import Page, inside, negated
from statemachines.generate.shown import seen
from statemachines.generate.writer import tuple_of
from statemachines.types import BOOL, Enum

LISTS: dict[kernel.How, str] = {"once": "signals", "permitted": "may", "repeats": "again"}
"""The local lists, and arguments of an Outcome, that gather signals by how they come."""


def effects(page: Page, wanted: tuple[kernel.Effect, ...]) -> None:
    """Write effects in order; what follows from the states that records entered comes after them.

    Signals among them go to the lists of their kinds.
    """
    taken = _taken_before(page, wanted)
    for effect in wanted:
        match effect:
            case kernel.Move():
                _move(page, effect)
            case kernel.Set():
                _set(page, effect, taken.get(effect.clause))
            case kernel.Create():
                create(page, effect)
            case kernel.Remove():
                _remove(page, effect)
            case kernel.Send():
                _send(page, effect)
            case kernel.Emit():
                signal(page, effect, LISTS[effect.how])
            case kernel.ForEach():
                _loop(page, effect)
    for effect in wanted:
        if isinstance(effect, kernel.Move | kernel.Create) and _enters(page.source, effect):
            record, before = (effect.record, "before") if isinstance(effect, kernel.Move) else (effect.variable, "''")
            method = f"self.entered_{python_name(page.source.entity(effect.entity).variable)}"
            call = f"{method}({', '.join([python_name(record), before, *of_consequences(page.source)])})"
            if isinstance(effect, kernel.Create) and effect.when is not None:
                call = f"{python_name(record)} is None or {call}"
            page.line(call)


def signal(page: Page, emitted: kernel.Emit, into: str) -> None:
    """Write that a signal comes."""
    fields = tuple_of(f"({key!r}, {seen(page, value)})" for key, value in emitted.fields)
    with page.where(emitted.when):
        page.saw(emitted.clause)
        page.line(f"{into}.append(({emitted.signal!r}, {fields}))")


def step(page: Page, wanted: tuple[kernel.Effect, ...]) -> None:
    """Write a whole step: its signals come last, each into the list of its kind."""
    effects(page, tuple(effect for effect in wanted if not isinstance(effect, kernel.Emit)))
    for effect in wanted:
        if isinstance(effect, kernel.Emit):
            signal(page, effect, LISTS[effect.how])


def lists_of(source: kernel.Kernel, wanted: tuple[kernel.Effect, ...]) -> list[str]:
    """Return the local lists that a step gathers its signals in."""
    found = {LISTS[effect.how] for effect in kernel.walk(wanted) if isinstance(effect, kernel.Emit)}
    if any(_enters(source, effect) for effect in kernel.walk(wanted)):
        found.update(of_consequences(source))
    return [name for name in LISTS.values() if name in found]


def of_consequences(source: kernel.Kernel) -> list[str]:
    """Return the lists that signals are gathered in which follow from the state that a record has entered."""
    follows = [each for entity in source.entities for rule in entity.entered for each in kernel.walk(rule.effects)]
    found = {"signals", *(LISTS[each.how] for each in follows if isinstance(each, kernel.Emit))}
    return [name for name in LISTS.values() if name in found]


def begin_lists(page: Page, names: Iterable[str]) -> None:
    """Write that the lists of signals are empty."""
    for name in names:
        page.line(f"{name}: list[Signal] = []")


def returned(given: str, lists: list[str]) -> str:
    """Write that a step ends: what it gives, with the signals it gathered."""
    if given == "None" and not lists:
        return "return NOTHING"
    return f"return Outcome({', '.join([given, *(f'{name}=tuple({name})' for name in lists)])})"


def consequential(source: kernel.Kernel, name: str) -> set[str]:
    """Return the states of an entity from which something follows when a record has entered one."""
    entity = source.entity(name)
    rules = [rule.states for rule in entity.entered]
    rules += [message.states for message in source.messages if message.entity == name]
    rules += [entity.retain.states] if entity.retain is not None else []
    return {state for states in (entity.terminal if entity.ranked else (), *rules) for state in states}


def _enters(source: kernel.Kernel, effect: kernel.Effect) -> bool:
    """Return whether an effect can bring a record into a state from which something follows."""
    match effect:
        case kernel.Move() if not _stays(effect):
            targets: list[Typed | None] = [target for _, target in effect.arrows]
        case kernel.Create(state=state):
            targets = [state]
        case _:
            return False
    followed = consequential(source, effect.entity)
    return any(followed.intersection(_reached(source.entity(effect.entity), target)) for target in targets)


def _reached(entity: kernel.Entity, target: Typed | None) -> Collection[str]:
    """Return the states that a target may be: the first one where a record is created without any."""
    match target:
        case None:
            return entity.states[:1]
        case Const(value=str(state)):
            return (state,)
        case Typed(type=Enum(members=members)):
            return members
        case _:
            return entity.states


def _stays(effect: kernel.Move) -> bool:
    """Return whether a move never leaves the state it is in."""
    return all(isinstance(target, Const) and target.value == state for state, target in effect.arrows)


def _taken_before(page: Page, wanted: tuple[kernel.Effect, ...]) -> dict[str, str]:
    """Write the values to set, if their condition holds now, that the effects before them would change.

    Return their names by clause.
    """
    changed: set[str] = set()
    taken: dict[str, str] = {}
    for effect in wanted:
        match effect:
            case kernel.Move():
                changed.add("state")
            case kernel.Set(clause=clause, field=field, value=value, when=when):
                if changed & (_reads(value) | (_reads(when) if when is not None else set())):
                    taken[clause] = f"new_{python_name(field)}"
                    then = f" if {emit(when)} else ABSENT" if when is not None else ""
                    page.line(f"{taken[clause]} = {emit(value)}{then}")
                changed.add(field)
    return taken


def _reads(value: Typed) -> set[str]:
    """Return the names of the fields and variables that an expression reads."""
    every = list(every_part(value))
    named = {part.name for part in every if isinstance(part, Attribute | Var)}
    return named | {"state" for part in every if isinstance(part, InGroup)}


def _move(page: Page, effect: kernel.Move) -> None:
    record = python_name(effect.record)
    if effect.guarded:
        page.line(f"before = {record}.state")
        with page.block(
            f"if {inside(page.source.entity(effect.entity), record, tuple(state for state, _ in effect.arrows))}:"
        ):
            page.saw(effect.clause)
            _moved(page, effect, record)
        return
    page.saw(effect.clause)
    if _stays(effect):
        return
    if _enters(page.source, effect) or not _is_one(effect):
        page.line(f"before = {record}.state")
    _moved(page, effect, record)


def _is_one(effect: kernel.Move) -> bool:
    """Return whether a move leads to one state from wherever it starts."""
    return not effect.sentences and len({emit(target) for _, target in effect.arrows}) == 1


def _moved(page: Page, effect: kernel.Move, record: str) -> None:
    targets = [emit(target) for _, target in effect.arrows]
    if _is_one(effect):
        page.line(f"{record}.state = {targets[0]}")
        return
    sentences = effect.sentences or ("",) * len(targets)
    for index, ((state, _), target, clause) in enumerate(zip(effect.arrows, targets, sentences, strict=True)):
        with page.block(f"{'elif' if index else 'if'} before == {state!r}:"):
            if clause:
                page.saw(clause)
            page.line(f"{record}.state = {target}")


def _set(page: Page, effect: kernel.Set, taken: str | None) -> None:
    holder = "self" if effect.record is None else emit(effect.record)
    when = effect.when
    if taken and when is not None:
        when = Var(BOOL, 0, "", f"{taken} is not ABSENT")
    with page.where(when):
        page.saw(effect.clause)
        page.line(f"{holder}.{python_name(effect.field)} = {taken or emit(effect.value)}")


def _remove(page: Page, effect: kernel.Remove) -> None:
    page.saw(effect.clause)
    if effect.kind == "due":
        page.line(f"self.due_{effect.name.lower()} = []")
        return
    if effect.kind == "record":
        variable = python_name(page.source.entity(effect.entity).variable)
        page.line(f"self.removed_{variable}({python_name(effect.name)})")
        return
    variable = python_name(page.source.entity(effect.name).variable)
    with page.block(f"for {variable} in [*{page.collection(effect.name)}.values()]:"):
        page.line(f"self.removed_{variable}({variable})")


def _send(page: Page, effect: kernel.Send) -> None:
    variable = python_name(effect.variable)
    with page.block(f"if {variable} is None:"):
        page.line(f"{variable} = self.send_{effect.message.lower()}({emit(effect.messages)})")
    with page.block(f"if {variable}:"):
        page.saw(effect.clause)


def _loop(page: Page, effect: kernel.ForEach) -> None:
    with page.block(f"for {python_name(effect.variable)} in [*{emit_iterable(effect.over)}]:"):
        if effect.when is not None:
            with page.block(f"if {negated(effect.when)}:"):
                page.line("continue")
        page.saw(effect.clause)
        effects(page, effect.effects)
