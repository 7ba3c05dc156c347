"""A kernel that leaves something out: what a system does that does not follow some clauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from statemachines.expression import Const, Minted, Operate, Typed, Var, parts, replaced
from statemachines.kernel import (
    Create,
    Effect,
    Entered,
    Entity,
    ForEach,
    Kernel,
    Move,
    Operation,
    Remove,
    Require,
    Send,
    Set,
    Spontaneous,
    Timer,
    Wait,
    walk,
)
from statemachines.model import NO_ANSWER, BaseModel, Decision, Impossible, Outcome, Restless
from statemachines.model import Timer as RunningTimer
from statemachines.types import BOOL, TIME

Step = TypeVar("Step", Entered, Timer, Operation, Spontaneous)
Own = TypeVar("Own", Timer, Spontaneous)


def without(source: Kernel, paths: frozenset[str]) -> Kernel:
    """Return a kernel that does not do what some clauses say: no effect, no retention, no message that outlives its record.

    Of a recommended policy, `policies.NAME`, any choice is right then. An operation carries out what it would refuse
    because a condition does not hold (`requires`, `only if`, `unique`), or because of a record's state (`otherwise`): it
    moves the record then to where it would have moved it.

    What an operation sends, creates and gives stays as it is, but for the state that a record begins in and the form of its id; what it
    creates beside that need not come. A step of the system's own is not taken at all without what ends it. Without a timer, or
    a retention, that is no recommendation, what it does to a record may be done at any time after it began, or never: it may fire
    early, others may be kept, and not always as many. What is recommended is excused anyhow where a system does otherwise.
    """
    must = {each.path for each in source.clauses if each.level == "must"}

    def shorter(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(replace(step, effects=_left(step.effects, paths)) for step in steps)

    def taken(steps: tuple[Own, ...]) -> tuple[Own, ...]:
        return shorter(tuple(step for step in steps if not _lacks_its_end(step, paths)))

    def laxer(operation: Operation) -> Operation:
        gone = [each for each in operation.requires if each.clause in paths and _can_be_ignored(each, operation)]
        records = {each.parameter for each in gone if each.parameter}
        effects = tuple(
            _from_anywhere(each, source) if isinstance(each, Move) and each.record in records else each
            for each in operation.effects
        )
        kept = tuple(each for each in operation.requires if each not in gone)
        wait = operation.waits
        if wait is not None and wait.clause in paths:
            wait = Wait(wait.lasts)
        return replace(operation, requires=kept, effects=effects, waits=wait)

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
                retain=None if _is_loose(each, paths) else each.retain,
                entered=shorter(each.entered),
                timers=taken(each.timers),
            )
            for each in source.entities
        ),
        operations=tuple(map(laxer, shorter(source.operations))),
        spontaneous=(
            *taken(source.spontaneous),
            *(step for each in source.entities for step in _at_any_time(each, paths & must)),
        ),
    )


def _is_loose(entity: Entity, paths: frozenset[str]) -> bool:
    """Return whether nothing says how many records of an entity are kept, although the spec does."""
    return entity.retain is not None and entity.retain.clause in paths


def _at_any_time(entity: Entity, paths: frozenset[str]) -> Iterator[Spontaneous]:
    """Walk the steps by which a record leaves at any time that a retention is about, or what a timer does is done then."""
    variable, always = entity.variable, Const(BOOL, 0, True)

    def step(clause: str, states: tuple[str, ...], may: Typed, effects: tuple[Effect, ...]) -> Spontaneous:
        loops = ((variable, entity.name),)
        return Spontaneous(clause, f"{variable} at any time", loops, may, None, False, "", (), effects, states)

    if entity.retain is not None and _is_loose(entity, paths):
        clause = entity.retain.clause
        yield step(clause, entity.retain.states, always, (Remove(clause, "record", variable, entity.name),))
    for timer in entity.timers:
        if _lacks_its_end(timer, paths):
            yield step(timer.clause, timer.states, _has_begun(timer), timer.effects)


def _has_begun(timer: Timer) -> Typed:
    """Return the condition that a timer runs, and that some time has passed since it began: a fault at once is none of it."""
    since, *_ = parts(timer.deadline)  # the beginning, and for how long from then on
    condition: Typed = Operate(BOOL, 0, "<", since, Var(TIME, 0, "", "self.now"))
    for part in reversed(timer.conditions):
        condition = Operate(BOOL, 0, "&&", part, condition)
    return condition


def _lacks_its_end(step: Timer | Spontaneous, paths: frozenset[str]) -> bool:
    """Return whether a step does not do what ends it."""
    ending = (each for each in walk(step.effects) if isinstance(each, Move | Remove | Create | Set))
    return any(_clauses_of(each) & paths for each in ending)


def _can_be_ignored(require: Require, operation: Operation) -> bool:
    """Return whether an operation can be carried out although it is required not to be."""
    if require.guard is None or require.answer not in ("refused", "unchanged"):
        return False
    moves = [each for each in operation.effects if isinstance(each, Move) and each.record == require.parameter]
    targets = {replace(target, at=0) for each in moves for _, target in each.arrows}
    return not require.parameter or len(moves) == len(targets) == 1


def _from_anywhere(move: Move, source: Kernel) -> Move:
    """Let a move lead from every state to where it leads from any."""
    arrows, states = dict(move.arrows), source.entity(move.entity).states
    every = tuple((state, arrows.get(state, move.arrows[0][1])) for state in states)
    sentences = dict(zip(arrows, move.sentences, strict=True)) if move.sentences else {}
    named = tuple(sentences.get(state, move.sentences[0]) for state in states) if move.sentences else ()
    return replace(move, arrows=every, sentences=named)


def _clauses_of(effect: Effect) -> frozenset[str]:
    """Return the clauses that an effect comes from: a table of moves has one for each arrow."""
    return frozenset((effect.clause, *(effect.sentences if isinstance(effect, Move) else ())))


def _left(effects: tuple[Effect, ...], paths: frozenset[str]) -> tuple[Effect, ...]:
    """Return what is left of effects without some clauses."""
    return tuple(left for effect in effects for left in _left_of(effect, paths))


def _left_of(effect: Effect, paths: frozenset[str]) -> Iterator[Effect]:
    """Walk what is left of an effect without some clauses: nothing, or one effect."""
    match effect:
        case Create():
            yield _made_otherwise(effect, paths)
        case Send():
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


def _made_otherwise(effect: Create, paths: frozenset[str]) -> Create:
    """Return the same record, in whatever state and with an id of whatever form where the clauses about these are left out."""

    def any_form(part: Typed) -> Typed | None:
        return replace(part, arguments=()) if isinstance(part, Minted) else None

    if effect.elsewhere and effect.elsewhere in paths:
        effect = replace(effect, state=None, elsewhere="")
    if effect.id is not None and f"entities.{effect.entity}.id" in paths:
        effect = replace(effect, id=replaced(effect.id, any_form))
    return effect


def lacking(kind: type[BaseModel]) -> type[BaseModel]:
    """Return a model of a kernel that leaves something out, for which what its rules have no answer to cannot be.

    A sentence may rely on another one: there is no order by an instant that nothing sets.
    """
    return type("Model", (_Lacking, kind), {"__slots__": ()})


class _Lacking(BaseModel):
    """What is otherwise about such a model. A call of which nobody can say what comes of it had better not be made.

    What may come at any time comes to records that are doubted: as long as nothing speaks against it, it may as well come later.
    """

    __slots__ = ()

    def decide(self, operation: str, arguments: Mapping[str, Any]) -> Decision:
        try:
            return super().decide(operation, arguments)
        except NO_ANSWER:
            return Decision(avoid=True)

    def blocks_for(self, operation: str, arguments: Mapping[str, Any]) -> int | None:
        try:
            return super().blocks_for(operation, arguments)
        except NO_ANSWER:
            return None

    def ends_wait(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        try:
            return super().ends_wait(operation, arguments)
        except NO_ANSWER:
            return False

    def do(self, operation: str, arguments: Mapping[str, Any], mint: Any = None) -> Outcome:
        with _impossible(f"operations.{operation}"):
            return super().do(operation, arguments, mint)

    def take(self, index: int, keys: tuple[Any, ...], already: Any = None) -> Outcome:
        with _impossible("on its own"):
            return super().take(index, keys, already)

    def fire(self, index: int, key: Any) -> Outcome:
        with _impossible("entities"):
            return super().fire(index, key)

    def settle(self, but: Any = ()) -> list[Outcome]:
        with _impossible("on its own"):
            return super().settle(but)

    def wait(self, ms: int, *, prompt: bool = False, most: int | None = None) -> list[Outcome]:
        with _impossible("on its own"):
            return super().wait(ms, prompt=prompt, most=most)

    def own_steps(self) -> list[tuple[int, tuple[Any, ...], bool]]:
        try:
            steps = super().own_steps()
        except NO_ANSWER:
            return []
        return [*self._but_undoubted(steps)] if self.LOOSE else steps

    def _but_undoubted(
        self, steps: list[tuple[int, tuple[Any, ...], bool]]
    ) -> Iterator[tuple[int, tuple[Any, ...], bool]]:
        few = sum(index in self.LOOSE for index, _, _ in steps) <= self.doubted.all_of
        missing = self.doubted.missing
        for step in steps:
            index, keys, _ = step
            if index not in self.LOOSE:
                yield step
            elif keys[0] in self.doubted.sure:
                continue
            elif few or keys[0] in self.doubted.named:
                yield step
            elif missing and (keys[0] in missing or not isinstance(keys[0], str)):  # no other keys are ever seen
                missing = frozenset()  # it has come to all of them, so that the order does not matter
                yield step

    def deadlines(self) -> list[RunningTimer]:
        try:
            return super().deadlines()
        except NO_ANSWER:
            return []


@contextmanager
def _impossible(clause: str) -> Iterator[None]:
    try:
        yield
    except (*NO_ANSWER, Restless) as error:
        raise Impossible(clause, str(error), "what the other rules allow") from error
