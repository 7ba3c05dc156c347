"""The kernel: a few verbs (require, set, move, create, remove, send, emit), each with the clause it comes from.

What runs, explores, explains or draws a lifecycle reads these values. The order of the effects of a step is the
order in which they happen. One idea: the verbs make sense only together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from statemachines.diagnostics import Where
from statemachines.expression import Const, Minted, Operate, Typed, every_part, parts
from statemachines.lifecycle import Level
from statemachines.types import BOOL, NULL, Optional, Type


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

    @property
    def conditions(self) -> tuple[Typed, ...]:
        """What holds while it runs: one without a beginning or a duration does not run, nor one whose `when` does not hold."""
        null = [part for part in parts(self.deadline) if isinstance(part.type, Optional)]  # the two that are added
        begun = (Operate(BOOL, 0, "!=", part, Const(NULL, 0, None)) for part in null)
        return (*begun, *(() if self.when is None else (self.when,)))


@dataclass(frozen=True, slots=True)
class Entity:
    """A kind of record: how its records are kept, and what follows from the state they are in.

    ranked  something goes by the order in which its records have ended: who ended first is a part of the state
    """

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
    ranked: bool = True


@dataclass(frozen=True, slots=True)
class Message:
    """A kind of message. A path is empty where the spec does not have the sentence.

    told_again  what was told stays due, and is told whenever that comes up again: only a mistake says so
    """

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
    told_again: bool = False


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
class Wait:
    """A call that may block, for `lasts` milliseconds at most; no longer than `until` holds, where `clause` says so."""

    lasts: Typed
    until: Typed | None = None
    clause: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its guards, what it reads before its effects, those, and its reply.

    copies   the clause that what it gave stays as it was
    control  it belongs to whoever tests, and not to the system
    waits    how a call may block for a time
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
    waits: Wait | None
    effects: tuple[Effect, ...]
    reply: Reply | None

    @property
    def observes(self) -> bool:
        """Whether it changes nothing and gives something."""
        return self.reply is not None and not self.effects

    @property
    def may_wait(self) -> bool:
        """Whether a call may wait for something else to happen, be it for a time only."""
        return self.blocks or self.waits is not None

    @property
    def blocks(self) -> bool:
        """Whether a call may wait without an end, for what others do."""
        return any(require.answer == "awaited" for require in self.requires)


@dataclass(frozen=True, slots=True)
class Spontaneous:
    """A step taken unasked: `must` hold for it to be due, `may` for it to be allowed.

    ends_call  it is part of the call that makes it due
    loose      the states of its record in which it may be taken at any time: nothing says when
    """

    clause: str
    name: str
    loops: tuple[tuple[str, str], ...]
    may: Typed
    must: Typed | None
    ends_call: bool
    operation: str
    arguments: tuple[Typed, ...]
    effects: tuple[Effect, ...]
    loose: tuple[str, ...] = ()

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

    def sending(self, step: Spontaneous) -> Send | None:
        """Return how a step of its own sends messages; None where it sends none, or in more than one way."""
        found = next((each for each in self.operations if each.name == step.operation), None)
        sends = [each for each in walk(found.effects if found else ()) if isinstance(each, Send)]
        return sends[0] if len(sends) == 1 else None

    def clause(self, path: str) -> Clause:
        """Return the clause of this path."""
        return next(clause for clause in self.clauses if clause.path == path)


def within(path: str, word: str) -> bool:
    """Return whether a clause is the one that a path names, or below it."""
    return path == word or path.startswith(f"{word}.")


def walk(effects: tuple[Effect, ...]) -> Iterator[Effect]:
    """Walk effects and those within loops, in order."""
    for effect in effects:
        yield effect
        if isinstance(effect, ForEach):
            yield from walk(effect.effects)


def everything(value: Any) -> Iterator[Any]:
    """Walk the values of which something is made, itself first: rules, effects and expressions, each before its parts."""
    if is_dataclass(value):
        yield value
        yield from (part for field in fields(value) for part in everything(getattr(value, field.name)))
    elif isinstance(value, tuple):
        yield from (part for each in value for part in everything(each))
