"""The kernel: a few verbs (require, set, move, create, remove, send, emit), each with the clause it comes from.

What runs, explores, explains or draws a lifecycle reads these values. The order of the effects of a step is the
order in which they happen. One idea: the verbs make sense only together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from statemachines.diagnostics import Where
from statemachines.expression import Const, Minted, Typed, every_part
from statemachines.lifecycle import Level
from statemachines.types import Type


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence of a spec: its path is its address everywhere."""

    path: str
    where: Where
    level: Level
    text: str


ANY_CODE = "*"  # a refusal with whatever code

How = Literal["once", "repeats", "permitted"]
"""How a signal comes: it must come once, it must come and may come again, or it may come."""


# ── The verbs ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Emit:
    """Make a signal happen: it must come, come at least once, or it may come."""

    clause: str
    signal: str
    fields: tuple[tuple[str, Typed], ...]
    when: Typed | None
    how: How


@dataclass(frozen=True, slots=True)
class Require:
    """Go on only when the guard holds; otherwise give the answer.

    answer  'refused' with `code` · 'open': refused with `code`, or carried out, where the guard does NOT
            hold · 'unchanged': refused or accepted, nothing changes · 'avoided': anything may happen, so nobody
            goes there · 'awaited': the call does not come back before the guard holds
    guard   None = the record that an argument names exists
    free    the condition under which any code will do
    """

    clause: str
    guard: Typed | None
    answer: Literal["refused", "open", "unchanged", "avoided", "awaited"]
    code: str = ""
    permitted: tuple[Emit, ...] = ()
    parameter: str = ""
    entity: str = ""
    free: Typed | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """Set a field of a record, or a variable when `record` is None; where `when` does not hold, it stays as it is."""

    clause: str
    record: Typed | None
    entity: str
    field: str
    value: Typed
    when: Typed | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """Set a record's state, by a table from its present state.

    sentences  the clause of each arrow, where the spec writes a table of them
    guarded    the step itself looks whether the record is in one of the states: an operation did so before
    """

    clause: str
    record: str
    entity: str
    arrows: tuple[tuple[str, Typed], ...]
    sentences: tuple[str, ...] = ()
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    """Create a record, known from then on as `variable`.

    Without an `id` the implementation mints one; without a `state` it is in the first of its states.
    `elsewhere` is the clause of being created in another one. Where `when` does not hold there is none: `variable` is null.
    """

    clause: str
    entity: str
    variable: str
    fields: tuple[tuple[str, Typed], ...]
    id: Typed | None
    state: Typed | None = None
    elsewhere: str = ""
    when: Typed | None = None

    @property
    def mints(self) -> bool:
        """Whether the implementation may choose the id, if there is one."""
        return self.id is None or any(isinstance(node, Minted) for node in every_part(self.id))


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove one record, every record of an entity, or every message still due.

    name    of what is removed: the variable that holds the record, the entity, or the message
    entity  of that one record
    """

    clause: str
    kind: Literal["record", "entity", "due"]
    name: str
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Send:
    """Send messages that are due, in order, one a step; those sent are known as `variable`."""

    clause: str
    message: str
    variable: str
    messages: Typed


@dataclass(frozen=True, slots=True)
class ForEach:
    """Do effects for every item of a list for which `when` holds."""

    clause: str
    variable: str
    over: Typed
    when: Typed | None
    effects: tuple[Effect, ...]


Effect = Set | Move | Create | Remove | Emit | Send | ForEach


# ── What the verbs are gathered in ───────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class FieldOf:
    """A field of a record or a variable: its name, type and first value."""

    name: str
    type: Type
    default: Typed | None


@dataclass(frozen=True, slots=True)
class Entered:
    """What happens as a record enters one of these states."""

    clause: str
    states: tuple[str, ...]
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Retain:
    """Keep the newest so many records in `states` for each value of `per`, by `order`."""

    clause: str
    newest: Typed
    states: tuple[str, ...]
    per: Typed | None
    order: tuple[Typed | str, ...]


@dataclass(frozen=True, slots=True)
class Timer:
    """Effects on a record that has been in one of these states until an instant; it runs while `when` holds.

    within  for how many milliseconds from then on the implementation may choose the instant
    """

    clause: str
    states: tuple[str, ...]
    deadline: Typed
    within: Typed | None
    when: Typed | None
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Entity:
    """A kind of record: how its records are kept, and what follows from the state they are in."""

    name: str
    variable: str
    collection: str
    fixed: tuple[str, ...]
    fields: tuple[FieldOf, ...]
    states: tuple[str, ...]
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    terminal: tuple[str, ...]
    minted: str
    once: bool
    by_content: bool
    key: str
    entered: tuple[Entered, ...]
    retain: Retain | None
    timers: tuple[Timer, ...]
    shows_clause: str
    shows: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A kind of message. A path is empty where the spec does not have the sentence."""

    name: str
    entity: str
    variable: str
    states: tuple[str, ...]
    due: str
    to: Typed | None
    to_clause: str
    order: tuple[Typed | str, ...]
    order_clause: str
    once_clause: str
    outlives_clause: str
    carries: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of an operation; `entity` names the records that it looks up by id."""

    name: str
    type: Type
    wire: Type
    default: Typed | None = None
    default_clause: str = ""
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an operation gives: `fields`, the first of `branches` whose guard holds, or one of `options`."""

    clause: str
    type: Type
    fields: tuple[tuple[str, Typed], ...] | None
    branches: tuple[tuple[Typed | None, Typed], ...]
    options: tuple[Typed, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its guards, what it reads before its effects, those, and its reply.

    copies   the clause that what it gave stays as it was
    control  it belongs to whoever tests, and not to the system
    waits    the milliseconds for which a call may block
    """

    name: str
    about: str
    optional: bool
    control: bool
    loses_files: str
    copies: str
    parameters: tuple[Parameter, ...]
    requires: tuple[Require, ...]
    reads: tuple[tuple[str, Typed], ...]
    waits: Typed | None
    effects: tuple[Effect, ...]
    reply: Reply | None

    @property
    def observes(self) -> bool:
        """Whether it changes nothing and gives something."""
        return self.reply is not None and not self.effects

    @property
    def blocks(self) -> bool:
        """Whether a call may wait without an end, for what others do."""
        return any(require.answer == "awaited" for require in self.requires)


@dataclass(frozen=True, slots=True)
class Spontaneous:
    """A step taken unasked: `must` hold for it to be due, `may` for it to be allowed."""

    clause: str
    name: str
    loops: tuple[tuple[str, str], ...]
    may: Typed
    must: Typed | None
    operation: str
    arguments: tuple[Typed, ...]
    effects: tuple[Effect, ...]

    @property
    def tells(self) -> bool:
        """Whether it changes nothing, and only tells something."""
        return not self.operation and all(isinstance(effect, Emit) for effect in self.effects)


@dataclass(frozen=True, slots=True)
class Definition:
    """A named expression, as a function of the model."""

    name: str
    parameters: tuple[str, ...]
    body: Typed


@dataclass(frozen=True, slots=True)
class Invariant:
    """What has to hold in every configuration, for every record of `loops`; `was` is one step earlier."""

    clause: str
    name: str
    loops: tuple[tuple[str, str], ...]
    holds: Typed
    looks_back: str


@dataclass(frozen=True, slots=True)
class OrderPolicy:
    """A policy that chooses ordering keys of a record."""

    clause: str
    name: str
    entity: str
    variable: str
    keys: tuple[tuple[str, Typed], ...]
    fields: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A whole lifecycle in the verbs.

    undeclared   the policies of which any choice is right where none is declared
    recommended  those of which the default is recommended
    """

    name: str
    about: str
    clauses: tuple[Clause, ...]
    limits: tuple[tuple[str, int | None], ...]
    policies: tuple[tuple[str, str], ...]
    undeclared: tuple[str, ...]
    recommended: tuple[str, ...]
    orders: tuple[OrderPolicy, ...]
    entities: tuple[Entity, ...]
    variables: tuple[FieldOf, ...]
    messages: tuple[Message, ...]
    signals: tuple[tuple[str, tuple[tuple[str, Type], ...]], ...]
    definitions: tuple[Definition, ...]
    operations: tuple[Operation, ...]
    spontaneous: tuple[Spontaneous, ...]
    invariants: tuple[Invariant, ...]

    def effects(self) -> Iterator[Effect]:
        """Walk the effects of every step, of entering a state and of timers, and those within loops."""
        steps = [each.effects for each in self.operations]
        steps += [each.effects for each in self.spontaneous]
        for entity in self.entities:
            steps += [rule.effects for rule in entity.entered] + [timer.effects for timer in entity.timers]
        for effects in steps:
            yield from walk(effects)

    def entity(self, name: str) -> Entity:
        """Return the entity of this name."""
        return next(entity for entity in self.entities if entity.name == name)

    def message(self, name: str) -> Message:
        """Return the message of this name."""
        return next(message for message in self.messages if message.name == name)

    def operation(self, name: str) -> Operation:
        """Return the operation of this name."""
        return next(operation for operation in self.operations if operation.name == name)

    def clause(self, path: str) -> Clause:
        """Return the clause of this path."""
        return next(clause for clause in self.clauses if clause.path == path)


Step = TypeVar("Step", Entered, Timer, Operation, Spontaneous)
Own = TypeVar("Own", Timer, Spontaneous)


def without(source: Kernel, paths: frozenset[str]) -> Kernel:
    """Return a kernel that does not do what some clauses say: no effect, no retention, no message that outlives its record.

    Of a recommended policy, `policies.NAME`, any choice is right then. An operation carries out what it would refuse
    because a condition does not hold (`requires`, `only if`, `unique`), or because of a record's state (`otherwise`): it
    moves the record then to where it would have moved it.

    What an operation sends, creates and gives stays as it is, but for the state that a record begins in; what it
    creates beside that need not come. A step of the system's own, and a timer, is not taken at all without what ends it.
    """

    def shorter(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(replace(step, effects=_left(step.effects, paths)) for step in steps)

    def taken(steps: tuple[Own, ...]) -> tuple[Own, ...]:
        ending = (Move, Remove, Create, Set)
        return shorter(
            tuple(
                step
                for step in steps
                if not any(isinstance(each, ending) and _clauses_of(each) & paths for each in walk(step.effects))
            )
        )

    def laxer(operation: Operation) -> Operation:
        gone = [each for each in operation.requires if each.clause in paths and _can_be_ignored(each, operation)]
        records = {each.parameter for each in gone if each.parameter}
        effects = tuple(_from_anywhere(each, source) if _moves(each) in records else each for each in operation.effects)
        return replace(
            operation, requires=tuple(each for each in operation.requires if each not in gone), effects=effects
        )

    return replace(
        source,
        undeclared=(*source.undeclared, *(each for each in source.recommended if f"policies.{each}" in paths)),
        messages=tuple(
            replace(each, outlives_clause="" if each.outlives_clause in paths else each.outlives_clause)
            for each in source.messages
        ),
        entities=tuple(
            replace(
                each,
                retain=None if each.retain is not None and each.retain.clause in paths else each.retain,
                entered=shorter(each.entered),
                timers=taken(each.timers),
            )
            for each in source.entities
        ),
        operations=tuple(map(laxer, shorter(source.operations))),
        spontaneous=taken(source.spontaneous),
    )


def _can_be_ignored(require: Require, operation: Operation) -> bool:
    """Return whether an operation can be carried out although it is required not to be."""
    if require.guard is None or require.answer not in ("refused", "unchanged"):
        return False
    moves = [each for each in operation.effects if _moves(each) == require.parameter]
    return not require.parameter or (len(moves) == 1 and len({*_targets(moves[0])}) == 1)


def _moves(effect: Effect) -> str | None:
    """Name the record that an effect moves, if it moves one."""
    return effect.record if isinstance(effect, Move) else None


def _targets(effect: Effect) -> list[Typed]:
    return [replace(target, at=0) for _, target in effect.arrows] if isinstance(effect, Move) else []


def _from_anywhere(effect: Effect, source: Kernel) -> Effect:
    """Let a move lead from every state to where it leads from any."""
    if not isinstance(effect, Move):
        return effect
    arrows, states = dict(effect.arrows), source.entity(effect.entity).states
    every = tuple((state, arrows.get(state, effect.arrows[0][1])) for state in states)
    sentences = dict(zip(arrows, effect.sentences, strict=True)) if effect.sentences else {}
    named = tuple(sentences.get(state, effect.sentences[0]) for state in states) if effect.sentences else ()
    return replace(effect, arrows=every, sentences=named)


def _clauses_of(effect: Effect) -> frozenset[str]:
    """Return the clauses that an effect comes from: a table of moves has one for each arrow."""
    return frozenset((effect.clause, *(effect.sentences if isinstance(effect, Move) else ())))


def _left(effects: tuple[Effect, ...], paths: frozenset[str]) -> tuple[Effect, ...]:
    """Return what is left of effects without some clauses."""
    return tuple(left for effect in effects for left in _left_of(effect, paths))


def _left_of(effect: Effect, paths: frozenset[str]) -> Iterator[Effect]:
    """Walk what is left of an effect without some clauses: nothing, or one effect."""
    match effect:
        case Create(elsewhere=clause) if clause and clause in paths:
            yield replace(effect, state=None, elsewhere="")
        case Create() | Send():
            yield effect
        case _ if effect.clause in paths:
            return
        case ForEach(effects=(Create(clause=clause),)) if clause in paths:
            return
        case ForEach(effects=inner):
            yield replace(effect, effects=_left(inner, paths))
        case Move(arrows=arrows, sentences=sentences) if sentences:
            kept = tuple(
                (state, Const(target.type, target.at, state) if clause in paths else target)
                for (state, target), clause in zip(arrows, sentences, strict=True)
            )
            yield replace(effect, arrows=kept)
        case _:
            yield effect


def within(path: str, word: str) -> bool:
    """Return whether a clause is the one that a path names, or below it."""
    return path == word or path.startswith(f"{word}.")


def walk(effects: tuple[Effect, ...]) -> Iterator[Effect]:
    """Walk effects and those within loops, in order."""
    for effect in effects:
        yield effect
        if isinstance(effect, ForEach):
            yield from walk(effect.effects)
