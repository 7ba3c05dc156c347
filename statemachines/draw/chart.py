"""The states and arrows of a lifecycle, read from its sentences a second time.

Neither the kernel nor the generated model is asked. What `statemachines.lower` and this module make of
a `move` has to agree, and a test compares them cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from statemachines.diagnostics import Diagnostic, SpecError, did_you_mean
from statemachines.expression import Conditional, Field, FunctionCall, Literal, Name, Node, children
from statemachines.lifecycle import (
    EntitySpec,
    Expr,
    ForEachSpec,
    Lifecycle,
    MoveSpec,
    OperationSpec,
    TimerSpec,
    TypeUse,
    Word,
)

Takes = Mapping[str, tuple[TypeUse, tuple[str, ...]]]

TO = "to"  # the argument by which a product says where a condition of the spec leads it


@dataclass(frozen=True, slots=True)
class Arrow:
    """What one trigger does to a record that is in one state.

    trigger    an operation; for a timer `after_STATES`, by the state or group it is declared on
    targets    the states that may follow: only `source` when nothing moves, none when the record goes
    chosen_by  the parameter that picks the target, `to` where a condition picks it, or ""
    after      how long a timer waits, as a reader says it (`5m`); "" for an operation
    """

    trigger: str
    source: str
    targets: tuple[str, ...]
    chosen_by: str = ""
    after: str = ""


def arrows(lifecycle: Lifecycle, entity: str) -> tuple[Arrow, ...]:
    """List what moves an entity's records: operations in the order of the file, then timers, then own steps.

    A state given by `set: {job.state: failed}` is no arrow: the sentence does not say from where it leads.
    Raises LookupError for an entity that is not declared, SpecError for a move that leads nowhere.
    """
    record = _declared(lifecycle, entity)
    found: list[Arrow] = []
    for operation in lifecycle.operations.values():
        if _moved_by(operation, lifecycle) == entity:
            found += _arrows_of(operation.name.text, operation.moves, _taken(operation, lifecycle), record, lifecycle)
        for loop in operation.loops:
            if _walked(operation, loop, lifecycle) == entity:
                found += _arrows_of(
                    operation.name.text, loop.effects.moves, _taken(operation, lifecycle), record, lifecycle
                )
    for timer in record.timers:
        found += _arrows_of_timer(timer, record, lifecycle)
    for step in lifecycle.spontaneous.values():
        if [word.text for _, word in step.loops] == [entity]:
            found += _arrows_of(step.name.text, step.effects.moves, {}, record, lifecycle)
    return tuple(found)


def _taken(operation: OperationSpec, lifecycle: Lifecycle) -> Takes:
    """Return the parameters of an operation, each with the states that it can name, if it names some."""
    return {name: (use, _some(use, lifecycle)) for name, use in operation.takes.items()}


def _some(use: TypeUse, lifecycle: Lifecycle) -> tuple[str, ...]:
    """Return the states that are the words of a type, if it is declared to be some of them."""
    declaration = lifecycle.types.get(use.name.text)
    some = declaration.members if declaration is not None and declaration.of is not None else ()
    return tuple(word.text for word in some)


def _declared(lifecycle: Lifecycle, entity: str) -> EntitySpec:
    found = lifecycle.entities.get(entity)
    if found is None:
        hint = did_you_mean(entity, lifecycle.entities) or f"known: {', '.join(lifecycle.entities)}"
        raise LookupError(f"{lifecycle.name} has no entity {entity!r}; {hint}")
    return found


def _moved_by(operation: OperationSpec, lifecycle: Lifecycle) -> str:
    """Return the entity whose record an operation moves: the first that it takes and that has states."""
    taken = (lifecycle.entities.get(use.name.text) for use in operation.takes.values() if use.item is None)
    return next((entity.name.text for entity in taken if entity and entity.states), "")


def _walked(operation: OperationSpec, loop: ForEachSpec, lifecycle: Lifecycle) -> str:
    """Return the entity whose records a loop walks over, by the name of all of them: `jobs`, `jobs.filter(…)`.

    That name may stand in what the operation reads, or in a definition.
    """
    plurals = {entity.plural: name for name, entity in lifecycle.entities.items()}
    reads = {word.text: expr.node for word, expr in operation.reads}
    waiting = [loop.over.node]
    while waiting:
        match waiting.pop(0):
            case Name(name=name) if name in plurals:
                return plurals[name]
            case Name(name=name) if name in reads:
                waiting.append(reads[name])
            case FunctionCall(name=name, arguments=given) if name in lifecycle.definitions:
                waiting += [*given, lifecycle.definitions[name].body.node]
            case node:
                waiting += children(node)
    return ""


def _arrows_of(
    trigger: str, moves: Sequence[MoveSpec], takes: Takes, record: EntitySpec, lifecycle: Lifecycle
) -> Iterator[Arrow]:
    for move in moves:
        for source in _sources(move, record):
            targets, chosen_by = _Targets(move.target, source, takes, record, lifecycle).all()
            yield Arrow(trigger, source, targets, chosen_by)


def _sources(move: MoveSpec, record: EntitySpec) -> tuple[str, ...]:
    return record.states if move.source is None else _meant(move.source, record)


def _arrows_of_timer(timer: TimerSpec, record: EntitySpec, lifecycle: Lifecycle) -> Iterator[Arrow]:
    trigger, after = f"after_{timer.states.text}", _spoken(timer.duration, lifecycle)
    for source in _meant(timer.states, record):
        for move in timer.effects.moves:
            if move.source is None or source in _meant(move.source, record):
                targets, chosen_by = _Targets(move.target, source, {}, record, lifecycle).all()
                yield Arrow(trigger, source, targets, chosen_by, after)
        if timer.effects.removes:
            yield Arrow(trigger, source, (), after=after)


@dataclass(frozen=True, slots=True)
class _Targets:
    """Where a move may lead from one state, by the words of its target."""

    target: Expr
    source: str
    takes: Takes
    record: EntitySpec
    lifecycle: Lifecycle

    def all(self) -> tuple[tuple[str, ...], str]:
        """Return the states that may follow, and what picks one of them: a parameter, or `to` where a condition does."""
        return self._of(self.target.node, {})

    def _of(self, node: Node, named: Mapping[str, Node], call: Node | None = None) -> tuple[tuple[str, ...], str]:
        """Return the same of a part, or of a part of the definition that `call` uses, whose parameters stand for `named`."""
        target = Word(self.target.text, self.target.scalar.at((call or node).at))
        match node:
            case Conditional(value=one, otherwise=other):
                both = [self._of(one, named, call), self._of(other, named, call)]
                targets = tuple(dict.fromkeys(state for found, _ in both for state in found))
                return targets, TO if len(targets) > 1 else ""
            case FunctionCall(name=name, arguments=given) if name in self.lifecycle.definitions:
                definition = self.lifecycle.definitions[name]
                inside = {word.text: each for word, each in zip(definition.parameters, given, strict=False)}
                return self._of(definition.body.node, inside, call or node)
            case Name(name=name) if name in named:
                return self._of(named[name], {}, call)
            case Name(name=name):
                return self._named(Word(name, target.where))
            case Field(name=name) if self._holds_a_state(name):
                use = self.record.fields[name]
                return _choices(use, _some(use, self.lifecycle), target, self.record), TO
            case _:
                hint = "a move leads to a state, a parameter, `same`, or by `if … then … else …` to one of them"
                raise _nowhere(target, self.record, hint)

    def _holds_a_state(self, name: str) -> bool:
        use = self.record.fields.get(name)
        some = _some(use, self.lifecycle) if use is not None else ()
        return bool(some) or (use is not None and use.name.text.startswith(f"{self.record.name.text}."))

    def _named(self, target: Word) -> tuple[tuple[str, ...], str]:
        """Return the states that a word stands for."""
        if target.text == "same":
            return (self.source,), ""
        if target.text in self.takes:
            return _choices(*self.takes[target.text], target, self.record), target.text
        if target.text in self.record.groups:
            raise _nowhere(target, self.record, "a move leads to one state, not to a group")
        if target.text not in self.record.states:
            raise _nowhere(target, self.record, did_you_mean(target.text, [*self.record.states, *self.takes]))
        return (target.text,), ""


def _choices(use: TypeUse, some: tuple[str, ...], target: Word, record: EntitySpec) -> tuple[str, ...]:
    """Return the states that a parameter of the type `Job.terminal`, `Job.state` or of some states can name."""
    if some and set(some) <= set(record.states):
        return some
    owner, _, group = use.name.text.partition(".")
    if owner != record.name.text or not group or use.item is not None:
        raise _nowhere(target, record, f"give the parameter a group as its type, or {record.name.text}.state")
    return record.states if group == "state" else _meant(Word(group, use.name.where), record)


def _meant(word: Word, record: EntitySpec) -> tuple[str, ...]:
    """Return the states that the name of a state or group stands for."""
    groups = record.groups or {}
    if word.text in groups:
        return tuple(state.text for state in groups[word.text])
    if word.text not in record.states:
        raise _nowhere(word, record, did_you_mean(word.text, [*groups, *record.states]))
    return (word.text,)


def _nowhere(word: Word, record: EntitySpec, hint: str) -> SpecError:
    message = f"{word.text!r} is nothing that a {record.name.text} can move from or to"
    hint = hint or f"known: {', '.join(record.states)}"
    return SpecError([Diagnostic("bad-move", word.where, message, hint)])


def terminal_states(record: EntitySpec) -> tuple[str, ...]:
    """List the states of an entity in which its records have ended."""
    return tuple(word.text for word in record.groups.get("terminal", ()))


def _spoken(duration: Expr, lifecycle: Lifecycle) -> str:
    """Return a duration as a reader says it: a number or a limit's default in units, else as it is written."""
    match duration.node:
        case Literal(value=int(ms)):
            return _units(ms)
        case Field(of=Name(name="limits"), name=name) if limit := lifecycle.limits.get(name):
            return duration.text if limit.default is None else f"{_units(limit.default)} ({duration.text})"
    return duration.text


def _units(ms: int) -> str:
    """Milliseconds in the units that they are made of: 5m, 1h30m, 500ms."""
    found = ""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, ms = divmod(ms, size)
        found += f"{count}{unit}" if count else ""
    return found or "0ms"
