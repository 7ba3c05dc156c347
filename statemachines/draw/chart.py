"""The states and arrows of a lifecycle: from where to where its sentences lead a record, read from the kernel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.diagnostics import did_you_mean
from statemachines.draw.in_state import InState
from statemachines.expression import (
    Attribute,
    Choose,
    Const,
    Defined,
    Each,
    Field,
    Literal,
    Name,
    Operate,
    Typed,
    Var,
    renamed,
)
from statemachines.lifecycle import Expr, Lifecycle
from statemachines.types import BOOL, UNKNOWN, Enum, Ref, present

TO = "to"  # the argument by which a product says where a condition of the spec leads it


@dataclass(frozen=True, slots=True)
class Arrow:
    """What one sentence does to a record that is in one state.

    trigger    an operation, or a step of its own; for a timer `after_STATES`, by the state or group it is declared on;
               "" where it only follows from something else, or leads from whatever state the record is in
    targets    the states that may follow: only `source` when nothing moves, none when the record goes
    chosen_by  the parameter that picks the target, `to` where a condition picks it, or ""
    after      how long a timer waits, as a reader says it (`5m`); "" for an operation
    clause     the path of the sentence
    surely     the state alone tells that it leads there: no condition stands before the sentence that may fail
    """

    trigger: str
    source: str
    targets: tuple[str, ...]
    chosen_by: str = ""
    after: str = ""
    clause: str = field(default="", compare=False)
    surely: bool = field(default=True, compare=False)


def drawn(compiled: Compiled, entity: str) -> list[Arrow]:
    """List the arrows that have a trigger. Raises LookupError for an entity that is not declared."""
    return [arrow for arrow in arrows(compiled, entity) if arrow.trigger]


def arrows(compiled: Compiled, entity: str) -> Iterator[Arrow]:
    """Walk what moves or removes an entity's records: operations in the order of the file, timers, own steps, the rest.

    Raises LookupError for an entity that is not declared.
    """
    spec, source = compiled.lifecycle, compiled.kernel
    if entity not in spec.entities:
        hint = did_you_mean(entity, spec.entities) or f"known: {', '.join(spec.entities)}"
        raise LookupError(f"{spec.name} has no entity {entity!r}; {hint}")
    record = source.entity(entity)
    for operation in source.operations:
        parameters = {each.name for each in operation.parameters}
        guards = [each.guard for each in operation.requires if each.guard is not None and each.answer != "open"]
        yield from _led(source, record, operation.effects, operation.name, parameters, guards)
    for timer, declared in zip(record.timers, spec.entities[entity].timers, strict=True):
        own = [effect for effect in timer.effects if not isinstance(effect, kernel.ForEach)]
        trigger, after = f"after_{declared.states.text}", _spoken(declared.duration, spec)
        for arrow in _led(source, record, own, guards=[timer.when] if timer.when else []):
            if arrow.source in timer.states:
                yield replace(arrow, trigger=trigger, after=after, clause=timer.clause)
    for step in source.spontaneous:
        yield from _led(source, record, step.effects, step.name, guards=[step.may])
    for each in source.entities:
        for rule in each.entered:
            yield from _led(source, record, rule.effects, guards=[_is_in(each, rule.states)])
        for timer in each.timers:
            loops = [effect for effect in timer.effects if isinstance(effect, kernel.ForEach)]
            yield from _led(source, record, loops, guards=[_is_in(each, timer.states)])


def _is_in(entity: kernel.Entity, states: tuple[str, ...]) -> Typed:
    """Ask whether the record that a rule of its kind is about is in one of some states."""
    kind = Ref(entity.name)
    state = Attribute(UNKNOWN, 0, Var(kind, 0, entity.variable, entity.variable), "state")
    return Operate(BOOL, 0, "in", state, Const(UNKNOWN, 0, states))


def _led(
    source: kernel.Kernel,
    record: kernel.Entity,
    effects: Iterable[kernel.Effect],
    trigger: str = "",
    parameters: Collection[str] = (),
    guards: Sequence[Typed] = (),
) -> Iterator[Arrow]:
    """Walk where effects lead an entity's records; `guards` are the conditions under which they come to be done."""
    for effect in effects:
        match effect:
            case kernel.ForEach():
                inner = [*guards, *_admitting(effect.over, effect.variable), *([effect.when] if effect.when else [])]
                yield from _led(source, record, effect.effects, trigger, parameters, inner)
            case kernel.Move(entity=record.name):
                sentences = effect.sentences or [effect.clause] * len(effect.arrows)
                named = len(effect.arrows) < len(record.states)  # or it leads from whatever state
                for (state, target), clause in zip(effect.arrows, sentences, strict=True):
                    held = InState(source, record, effect.record, state).all_hold(guards)
                    if held is not False:
                        states, chosen_by = targets(source, target, parameters)
                        yield Arrow(trigger, state, states, chosen_by, clause=clause, surely=named or held is True)
            case kernel.Set(entity=record.name, field="state"):
                name = effect.record.name if isinstance(effect.record, Var) else ""
                conditions = [*guards, *([effect.when] if effect.when else [])]
                states, chosen_by = targets(source, effect.value)
                for state in record.states:
                    here = InState(source, record, name, state)
                    held, led = here.all_hold(conditions), here.leads(effect.value) or states
                    if held is not False:
                        stays = held is None or (effect.when is not None and here.holds(effect.when) is not True)
                        ends = tuple(dict.fromkeys((*led, state))) if stays else led
                        by = TO if stays and len(ends) > 1 else chosen_by
                        yield Arrow("", state, ends, by, clause=effect.clause, surely=held is True)
            case kernel.Remove(kind="record", entity=record.name):
                yield from (Arrow("", state, (), clause=effect.clause) for state in record.states)


def _admitting(over: Typed, name: str) -> Iterator[Typed]:
    """Walk the conditions under which a record is in a list that is walked under a name."""
    match over:
        case Each(macro="filter", over=of, variable=variable, body=body):
            yield from _admitting(of, name)
            yield renamed(body, variable, name)
        case Var():
            pass
        case _:  # which records are in it, its state does not tell
            yield Operate(BOOL, 0, "in", Var(UNKNOWN, 0, name, name), over)


def targets(
    source: kernel.Kernel,
    target: Typed,
    parameters: Collection[str] = (),
    given: Mapping[str, Typed] = MappingProxyType({}),
) -> tuple[tuple[str, ...], str]:
    """Return the states that a target can be, and what picks one of them: a parameter, or `to` where a condition does.

    In a definition its parameters stand for what is `given` to it.
    """
    match target:
        case Const(value=state):
            return (str(state),), ""
        case Choose(value=one, otherwise=other):
            both = [targets(source, each, parameters, given)[0] for each in (one, other)]
            states = tuple(dict.fromkeys(both[0] + both[1]))
            return states, TO if len(states) > 1 else ""
        case Defined(name=name, arguments=arguments):
            definition = next(each for each in source.definitions if each.name == name)
            inside = dict(zip(definition.parameters, arguments, strict=True))
            return targets(source, definition.body, parameters, inside)
        case Var(name=name) if name in given:
            return targets(source, given[name], parameters)
    kind = present(target.type)
    chosen_by = target.name if isinstance(target, Var) and target.name in parameters else TO
    return kind.members if isinstance(kind, Enum) else (), chosen_by


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
