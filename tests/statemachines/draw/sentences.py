"""The arrows of a lifecycle, read from its sentences a second time: neither the kernel nor the generated model is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from statemachines.draw.chart import TO, Arrow
from statemachines.expression import Binary, Conditional, Field, FunctionCall, Name, Node, children
from statemachines.lifecycle import (
    EntitySpec,
    Expr,
    ForEachSpec,
    Lifecycle,
    MoveSpec,
    OperationSpec,
    SpontaneousSpec,
    TypeUse,
    Word,
)

Takes = Mapping[str, TypeUse]


def said(lifecycle: Lifecycle, entity: str) -> Iterator[Arrow]:
    """What moves an entity's records: operations in the order of the file, then timers, then own steps."""
    record = lifecycle.entities[entity]
    for operation in lifecycle.operations.values():
        name, takes = operation.name.text, operation.takes
        if moved_by(operation, lifecycle) == entity:
            yield from led(name, operation.moves, takes, record, lifecycle)
        for loop in operation.loops:
            if walked(operation.reads, loop, lifecycle) == entity:
                yield from led(name, loop.effects.moves, takes, record, lifecycle)
    for timer in record.timers:
        for source in meant(timer.states, record):
            for arrow in led(f"after_{timer.states.text}", timer.effects.moves, {}, record, lifecycle):
                if arrow.source == source:
                    yield arrow
            if timer.effects.removes:
                yield Arrow(f"after_{timer.states.text}", source, ())
    for step in lifecycle.spontaneous.values():
        yield from stepped(step, record, lifecycle)


def stepped(step: SpontaneousSpec, record: EntitySpec, lifecycle: Lifecycle) -> Iterator[Arrow]:
    """What a step of its own moves: the records that it is about, then those of its loops."""
    entity = record.name.text
    if [word.text for _, word in step.loops] == [entity]:
        found = led(step.name.text, step.effects.moves, {}, record, lifecycle)
        asks = {*asked(step.when.node, [name.text for name, _ in step.loops])}
        yield from (arrow for arrow in found if asks <= {arrow.source})
    for loop in step.effects.loops:
        if walked((), loop, lifecycle) == entity:
            yield from led(step.name.text, loop.effects.moves, {}, record, lifecycle)


def led(
    trigger: str, moves: Sequence[MoveSpec], takes: Takes, record: EntitySpec, lifecycle: Lifecycle
) -> Iterator[Arrow]:
    for move in moves:
        for source in record.states if move.source is None else meant(move.source, record):
            targets, chosen_by = Target(source, takes, record, lifecycle).of(move.target.node, {})
            yield Arrow(trigger, source, targets, chosen_by)


def asked(condition: Node, about: Sequence[str]) -> Iterator[str]:
    """The states that a condition asks of a record: `job.state == running`, alone or beside other things."""
    match condition:
        case Binary(operator="&&", left=left, right=right):
            yield from asked(left, about)
            yield from asked(right, about)
        case Binary(operator="==", left=Field(of=Name(name=name), name="state"), right=Name(name=state)):
            if name in about:
                yield state


def moved_by(operation: OperationSpec, lifecycle: Lifecycle) -> str:
    """The entity whose record an operation moves: the first that it takes and that has states."""
    taken = (lifecycle.entities.get(use.name.text) for use in operation.takes.values() if use.item is None)
    return next((entity.name.text for entity in taken if entity and entity.states), "")


def walked(reading: Sequence[tuple[Word, Expr]], loop: ForEachSpec, lifecycle: Lifecycle) -> str:
    """The entity whose records a loop walks over, by the name of all of them: `jobs`, `jobs.filter(…)`.

    That name may stand in what is read before, or in a definition.
    """
    plurals = {entity.plural: name for name, entity in lifecycle.entities.items()}
    reads = {word.text: expr.node for word, expr in reading}
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


@dataclass(frozen=True)
class Target:
    """Where a move may lead from one state, by the words of its target."""

    source: str
    takes: Takes
    record: EntitySpec
    lifecycle: Lifecycle

    def of(self, node: Node, named: Mapping[str, Node]) -> tuple[tuple[str, ...], str]:
        """The states that may follow, and what picks one of them; in a definition its parameters stand for `named`."""
        match node:
            case Conditional(value=one, otherwise=other):
                both = [self.of(one, named), self.of(other, named)]
                targets = tuple(dict.fromkeys(state for found, _ in both for state in found))
                return targets, TO if len(targets) > 1 else ""
            case FunctionCall(name=name, arguments=given):
                definition = self.lifecycle.definitions[name]
                inside = {word.text: each for word, each in zip(definition.parameters, given, strict=True)}
                return self.of(definition.body.node, inside)
            case Name(name=name) if name in named:
                return self.of(named[name], {})
            case Name(name="same"):
                return (self.source,), ""
            case Name(name=name) if name in self.takes:
                return self.choices(self.takes[name]), name
            case Name(name=name):
                assert name in self.record.states
                return (name,), ""
            case Field(name=name):
                return self.choices(self.record.fields[name]), TO
        raise AssertionError(node)

    def choices(self, use: TypeUse) -> tuple[str, ...]:
        """The states that a value of the type `Job.terminal`, `Job.state` or of some states can name."""
        declaration = self.lifecycle.types.get(use.name.text)
        if declaration is not None and declaration.of is not None:
            return tuple(word.text for word in declaration.members)
        owner, _, group = use.name.text.partition(".")
        assert owner == self.record.name.text
        return self.record.states if group == "state" else meant(Word(group, use.name.where), self.record)


def meant(word: Word, record: EntitySpec) -> tuple[str, ...]:
    """The states that the name of a state or group stands for."""
    groups = record.groups
    return tuple(state.text for state in groups[word.text]) if word.text in groups else (word.text,)
