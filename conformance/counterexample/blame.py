"""Which sentences may be broken where something is wrong after a call: those that set what is wrong, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from conformance.judge import NO_SIGNAL, PRESENCE, Event, Finding, InOrder, kernel_facts
from statemachines.compile import Compiled
from statemachines.explore import walked
from statemachines.expression import Attribute, InGroup, Typed, Var
from statemachines.kernel import Create, Effect, ForEach, Kernel, Move, Remove, Send, Set, walk
from statemachines.rows import Observed
from statemachines.types import Ref, Type

Place = tuple[str, str]
"""An entity and a field of its records, or a variable, which is no entity's."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The first call after which something is wrong.

    at_work   the clauses that were at work in it
    findings  what was found, of the call itself or seen afterwards
    right     what was seen afterwards and is right
    is_last   whether no later call changes something
    was_right whether all that can be seen was looked at before it, and was right
    is_end    whether no call comes after it at all
    earlier   the operations that were called before it
    """

    event: Event
    at_work: frozenset[str]
    findings: tuple[Finding, ...]
    right: tuple[Observed, ...] = ()
    is_last: bool = True
    was_right: bool = True
    is_end: bool = False
    earlier: frozenset[str] = frozenset()


def blamed(compiled: Compiled, turn: Turn) -> list[str]:
    """List the sentences that may be broken, the likeliest first.

    Where a record is missing, or there is one too many, these are sentences at work in the call by which such records come and go.
    Then come those that set what is wrong, those that choose whom it is done to, those that make such a record, and those that let
    the call change nothing. Of a call that should have left it alone, or should have signalled nothing, it is the operation. After a
    wait it may as well be what an earlier call set that the timers go by; or else the only timer of such a record. Where nobody
    can tell where a wrong answer comes from, it is that of the answer; there is none where time alone brought it about.
    """
    call, facts = turn.event, kernel_facts.of(compiled)
    if not isinstance(call, Observed):
        return []
    seen = [each for each in turn.findings if facts.observes(each.operation)]
    own = [each for each in turn.findings if not facts.observes(each.operation)]
    wrong = {place for each in seen for place in _places(compiled, each)}
    if any(each.kind in ("accepted", "refused") for each in own):
        return [each.clause for each in own]
    if (
        seen
        and not own
        and (any(isinstance(each.value, InOrder) for each in seen) or _shown_right(compiled, turn, wrong))
    ):
        return [each.clause for each in seen]
    there = any(each.matter == PRESENCE for each in seen)
    found = list(_at_work(compiled, turn, call.operation, wrong, there))
    told = [each.clause for each in own if each.expected != NO_SIGNAL or each.clause in turn.at_work]
    named = [*found, *told]
    if call.operation == "wait" and wrong:
        return list(
            dict.fromkeys(
                [*named, *_set_for_timers(compiled.kernel, turn.earlier, wrong), *_only_timer(compiled, wrong)]
            )
        )
    if not named and (wrong or own):
        named = [f"operations.{call.operation}"]
    return list(dict.fromkeys(named)) or [each.clause for each in (*own, *seen)]


def _at_work(compiled: Compiled, turn: Turn, called: str, wrong: set[Place], there: bool) -> Iterator[str]:
    """Walk the sentences at work in a call that have to do with what is wrong after it; those of the operation first."""
    source, effects = compiled.kernel, list(_effects(compiled.kernel))
    owners = {owner for owner, _ in wrong}
    loops = [each for each in effects if isinstance(each, ForEach)]
    setting = {path for each in effects for path in _clauses(each) if _sets(each) & wrong}
    coming = {path for path, entity in _presence(source, effects) if entity in owners}
    choosing = {each.clause for each in loops if any(_sets(one) & wrong for one in walk(each.effects))}
    making = {each.clause for each in effects if isinstance(each, Create) and each.entity in owners}
    asking = {each.clause for one in source.operations if one.name == called for each in one.requires}
    own = f"operations.{called}."
    paths = [each.path for each in source.clauses if each.path in turn.at_work]
    for kind in (coming if there else set(), setting, choosing, making, asking):
        yield from sorted((path for path in paths if path in kind), key=lambda path: not path.startswith(own))


def of_messages(source: Kernel, turn: Turn) -> Iterator[str]:
    """Walk the sentences about the messages that a call may send, or brings about."""
    called = turn.event.operation if isinstance(turn.event, Observed) else ""
    effects = next((each.effects for each in source.operations if each.name == called), ())
    sent = {each.message for each in walk(effects) if isinstance(each, Send)}
    for message in source.messages:
        own = f"messages.{message.name}."
        if message.name in sent or any(path.startswith(own) for path in turn.at_work):
            yield from (each.path for each in source.clauses if each.path.startswith(own))


def _set_for_timers(source: Kernel, called: Collection[str], wrong: set[Place]) -> Iterator[str]:
    """Walk the sentences of some operations that set what the timers of wrong records go by."""
    owners = {owner for owner, _ in wrong}
    timers = [each for entity in source.entities if entity.name in owners for each in entity.timers]
    read = {place for each in timers for part in (each.deadline, *each.conditions) for place in _reads(source, part)}
    for operation in (each for each in source.operations if each.name in called):
        for effect in walk(operation.effects):
            if _sets(effect) & read - {(owner, "state") for owner in owners}:
                yield from _clauses(effect)


def _only_timer(compiled: Compiled, wrong: set[Place]) -> list[str]:
    """Return what the timer of wrong records does, where they have but one."""
    owners = {owner for owner, _ in wrong}
    timers = [each for entity in compiled.kernel.entities if entity.name in owners for each in entity.timers]
    effects = [each for timer in timers for each in walk(timer.effects)] if len(timers) == 1 else []
    return [each.clause for each in effects if _sets(each) & wrong][:1]


def is_about(compiled: Compiled, turn: Turn, finding: Finding) -> bool:
    """Return whether what is wrong after a call is what a finding tells of, or is made of the same."""
    places = _places(compiled, finding) if kernel_facts.of(compiled).observes(finding.operation) else set()
    return any(each.key == finding.key or _places(compiled, each) & places for each in turn.findings)


def _shown_right(compiled: Compiled, turn: Turn, wrong: set[Place]) -> bool:
    """Return whether what a call set, and what is wrong is made of, is shown right, as it is, by another operation."""
    facts, source = kernel_facts.of(compiled), compiled.kernel
    at_work = [each for each in _effects(source) if turn.at_work & {*_clauses(each)}]
    made_of = {place for each in at_work for place in _sets(each) & wrong} or wrong
    asked = {each.operation for each in turn.findings}
    right = {each.operation for each in turn.right if each.reply and each.operation not in asked}
    shown = {place for operation in right for place in _shown(source, facts.gives(operation), operation)}
    return bool(made_of) and made_of <= shown


def _shown(source: Kernel, kind: Type, operation: str) -> Iterator[Place]:
    """Walk the fields that a reply shows as they are."""
    reply = source.operation(operation).reply
    name = getattr(getattr(kind, "item", kind), "name", "")
    parts = [value for each in source.entities if each.name == name for _, value in each.shows]
    if reply is not None:
        parts += [*(each for _, each in reply.fields or ()), *(each for _, each in reply.branches), *reply.options]
    for part in parts:
        if isinstance(part, Attribute):
            yield from _reads(source, part)


def _effects(source: Kernel) -> Iterator[Effect]:
    """Walk all that a system does."""
    done = [each.effects for each in source.operations] + [each.effects for each in source.spontaneous]
    for entity in source.entities:
        done += [each.effects for each in entity.entered] + [each.effects for each in entity.timers]
    for effects in done:
        yield from walk(effects)


def _clauses(effect: Effect) -> tuple[str, ...]:
    return (effect.clause, *(effect.sentences if isinstance(effect, Move) else ()))


def _sets(effect: Effect) -> set[Place]:
    match effect:
        case Set(entity=entity, field=field):
            return {(entity, field)}
        case Move(entity=entity):
            return {(entity, "state")}
        case _:
            return set()


def _presence(source: Kernel, effects: list[Effect]) -> Iterator[tuple[str, str]]:
    """Walk the clauses by which records come and go, each with their entity."""
    for each in effects:
        if isinstance(each, Create):
            yield each.clause, each.entity
        elif isinstance(each, Remove) and each.kind != "due":
            yield each.clause, each.entity or each.name
    yield from ((each.retain.clause, each.name) for each in source.entities if each.retain is not None)


def _places(compiled: Compiled, finding: Finding) -> set[Place]:
    """Return what the part of a reply that is wrong is made of."""
    source = compiled.kernel
    reply = next((each.reply for each in source.operations if each.name == finding.operation), None)
    if reply is None:
        return set()
    kind = kernel_facts.of(compiled).gives(finding.operation)
    item = getattr(kind, "item", kind)
    entity = next((each for each in source.entities if each.name == getattr(item, "name", "")), None)
    steps = re.findall(r"[^.\[\]]+(?!\])", finding.path)
    made = [*(each for _, each in reply.fields or ()), *(each for _, each in reply.branches), *reply.options]
    if entity is not None:
        shown = next((each for step in reversed(steps) for name, each in entity.shows if name == step), None)
        if shown is not None:
            return _reads(source, shown)
        return {(entity.name, "")}
    one = next((each for name, each in reply.fields or () if steps and name == steps[0]), None)
    return {place for each in ([one] if one is not None else made) for place in _reads(source, each)}


def _reads(source: Kernel, value: Typed) -> set[Place]:
    found: set[Place] = set()
    for part in walked(source, value):
        match part:
            case Attribute(of=Typed(type=Ref(entity=entity)), name=name):
                found.add((entity, name))
            case InGroup(entity=entity):
                found.add((entity, "state"))
            case Var(name=name, source=written) if written.startswith("self.") and "." not in name:
                found.add(("", name))
    return found
