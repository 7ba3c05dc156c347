"""Whether every state can be reached, every record can end, and what has ended stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.diagnostics import Diagnostic, Where
from statemachines.expression import Const, Typed
from statemachines.lifecycle import EntitySpec, MoveSpec
from statemachines.types import Enum, Ref, present


@dataclass(frozen=True, slots=True)
class _Way:
    """A way from some states: each with those that may follow, none when the record goes."""

    where: Where
    text: str
    targets: dict[str, frozenset[str]]


def faults(compiled: Compiled) -> Iterator[Diagnostic]:
    """Tell of states that no record reaches or leaves, and of terminal ones that it leaves."""
    for name, entity in compiled.lifecycle.entities.items():
        if not entity.fixed and not _is_created(compiled.kernel, name):
            hint = "create it in an operation, name its `fixed` records, or remove it"
            yield Diagnostic("never-created", entity.name.where, f"nothing creates a {name}", hint)
        elif entity.states:
            yield from _of_entity(compiled, entity)


def _is_created(source: kernel.Kernel, name: str) -> bool:
    return any(True for _ in _creations(source, name))


def _creations(source: kernel.Kernel, name: str) -> Iterator[kernel.Create]:
    for effect in _everything(source):
        if isinstance(effect, kernel.Create) and effect.entity == name:
            yield effect


def _initial(source: kernel.Kernel, entity: EntitySpec) -> set[str]:
    """Return the states in which records are created."""
    found: set[str] = set()
    for create in _creations(source, entity.name.text):
        found |= {entity.states[0]} if create.state is None else _values(create.state)
    return found


def _of_entity(compiled: Compiled, entity: EntitySpec) -> Iterator[Diagnostic]:
    name = entity.name.text
    arrows = list(_arrows(compiled, entity))
    reached = _reached(_initial(compiled.kernel, entity), arrows)
    ended = compiled.kernel.entity(name).terminal
    for group, words in entity.groups.items():
        for word in words:
            if word.text not in reached:
                hint = f"no move leads to it from {entity.states[0]!r}: add one, or remove the state"
                yield Diagnostic("unreachable-state", word.where, f"no {name} can become {word.text!r}", hint)
            elif group != "terminal" and not _is_left(word.text, arrows):
                hint = "add a move or an `after` that leads on, or put it into the group `terminal`"
                message = f"a {name} that is {word.text!r} stays so for ever"
                yield Diagnostic("dead-end", word.where, message, hint)
    for arrow in arrows:
        yield from _of_arrow(arrow, name, reached, ended)


def _of_arrow(arrow: _Way, name: str, reached: set[str], ended: tuple[str, ...]) -> Iterator[Diagnostic]:
    sources = list(arrow.targets)
    left = [source for source in sources if source in ended and arrow.targets[source] - {source}]
    if left:
        message = f"{arrow.text} takes a {name} out of {left[0]!r}, which is terminal"
        hint = "what has ended stays as it is: start from other states, or take the state out of `terminal`"
        yield Diagnostic("terminal-exit", arrow.where, message, hint)
    if sources and reached.isdisjoint(sources):
        message = f"{arrow.text} starts where no {name} ever is: {' or '.join(map(repr, sources))}"
        yield Diagnostic("unreachable-move", arrow.where, message, "start from a state that can be reached")


def _reached(initial: set[str], arrows: list[_Way]) -> set[str]:
    reached, waiting = set(initial), list(initial)
    while waiting:
        state = waiting.pop()
        for arrow in arrows:
            new = arrow.targets.get(state, frozenset()) - reached
            reached |= new
            waiting += new
    return reached


def _is_left(state: str, arrows: list[_Way]) -> bool:
    return any(state in arrow.targets and arrow.targets[state] != {state} for arrow in arrows)


# ── Arrows ───────────────────────────────────────────────────────────────────────────────────────


def _arrows(compiled: Compiled, entity: EntitySpec) -> Iterator[_Way]:
    """List what moves or removes an entity's records: operations, timers, and what is set or removed."""
    source, name = compiled.kernel, entity.name.text
    for operation in source.operations:
        surface = compiled.lifecycle.operations[operation.name]
        for effect in operation.effects:
            if isinstance(effect, kernel.Move) and effect.entity == name:
                for move in surface.moves:
                    yield _moved(move, effect, entity, operation.name)
    yield from _timed(source.entity(name), source)
    for effect in _others(source):
        yield from _changed(effect, entity, source)


def _moved(move: MoveSpec, effect: kernel.Move, entity: EntitySpec, operation: str) -> _Way:
    source = move.source.text if move.source is not None else ""
    group = entity.groups.get(source)
    meant = {word.text for word in group} if group else {source}
    targets = {state: _values(target) for state, target in effect.arrows if state in meant}
    return _Way(move.where, f"`{source} -> {move.target.text}` of {operation}", targets)


def _timed(entity: kernel.Entity, source: kernel.Kernel) -> Iterator[_Way]:
    for timer in entity.timers:
        targets: dict[str, frozenset[str]] = {}
        for effect in timer.effects:
            if isinstance(effect, kernel.Move):
                targets |= {state: _values(target) for state, target in effect.arrows}
            elif isinstance(effect, kernel.Remove):
                targets |= dict.fromkeys(timer.states, frozenset())
        text = f"`after` of {timer.clause.rpartition('.')[2]}"
        yield _Way(source.clause(timer.clause).where, text, targets)


def _everything(source: kernel.Kernel) -> Iterator[kernel.Effect]:
    """Walk the effects of every step, of entering a state and of timers."""
    for operation in source.operations:
        yield from kernel.walk(operation.effects)
    for step in source.spontaneous:
        yield from kernel.walk(step.effects)
    for entity in source.entities:
        for effects in [
            *(each.effects for each in entity.entered),
            *(each.effects for each in entity.timers),
        ]:
            yield from kernel.walk(effects)


def _others(source: kernel.Kernel) -> Iterator[kernel.Effect]:
    """Walk the effects of every step, those of entering a state included; not what an operation moves itself."""
    for operation in source.operations:
        for effect in operation.effects:
            if not isinstance(effect, kernel.Move):
                yield from kernel.walk((effect,))
    for step in source.spontaneous:
        yield from kernel.walk(step.effects)
    for entity in source.entities:
        for rule in entity.entered:
            yield from kernel.walk(rule.effects)
        loops = (each for timer in entity.timers for each in timer.effects if isinstance(each, kernel.ForEach))
        yield from kernel.walk(tuple(loops))


def _changed(effect: kernel.Effect, entity: EntitySpec, source: kernel.Kernel) -> Iterator[_Way]:
    """Yield the arrow of setting `record.state`, or of removing the records of a list."""
    name = entity.name.text
    match effect:
        case kernel.Move(entity=owner, arrows=arrows, clause=clause) if owner == name:
            yield _Way(source.clause(clause).where, "`move`", {state: _values(target) for state, target in arrows})
        case kernel.Set(entity=owner, field="state", value=value, when=when, clause=clause) if owner == name:
            targets = {state: _values(value) | ({state} if when else set()) for state in entity.states}
            yield _Way(source.clause(clause).where, "`set`", targets)
        case kernel.ForEach(over=over, effects=effects, clause=clause):
            removes = any(isinstance(inner, kernel.Remove) for inner in effects)
            if removes and getattr(over.type, "item", None) == Ref(name):
                targets = dict.fromkeys(entity.states, frozenset[str]())
                yield _Way(source.clause(clause).where, "`for each`", targets)


def _values(target: Typed) -> frozenset[str]:
    """Return the states that a target can be."""
    if isinstance(target, Const):
        return frozenset((str(target.value),))
    kind = present(target.type)
    return frozenset(kind.members if isinstance(kind, Enum) else ())
