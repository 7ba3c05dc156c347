"""The sentences of a lifecycle that hold an expression, each with what it decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from statemachines import kernel
from statemachines.expression import Attribute, Choose, Defined, Typed, Var, every_part
from statemachines.types import Ref


def walked(source: kernel.Kernel, value: Typed) -> list[Typed]:
    """List an expression's parts, itself first, those of the named expressions that it uses included."""
    found: list[Typed] = []
    for part in every_part(value):
        found.append(part)
        if isinstance(part, Defined):
            found += walked(source, next(each.body for each in source.definitions if each.name == part.name))
    return found


@dataclass(frozen=True, slots=True)
class Sentence:
    """An expression, and the names that it decides; where there are none it decides a step.

    Names are written Job.state, due.Ended.to, finish.payload (an argument) and .permit (a variable); with
    `?` behind, only whether it is null counts, with `#` only its place in an order, with `@` only how long
    ago it was, while a timer of the entity `timed` runs.
    """

    decides: tuple[str, ...]
    value: Typed
    operation: str = ""
    timed: str = ""


class Sentences:
    """Walks the sentences of a kernel; an ordering policy reads what its default choice reads.

    Those that only decide what a call gives count if somebody asks how `replies` come out.
    """

    def __init__(self, source: kernel.Kernel, *, replies: bool = False) -> None:
        self._source = source
        self._replies = replies
        self._chosen = dict(source.policies)

    def __iter__(self) -> Iterator[Sentence]:
        for entity in self._source.entities:
            yield from self._entity(entity)
        for message in self._source.messages:
            yield from self._message(message)
        for operation in self._source.operations:
            guards = [require.guard for require in operation.requires]
            guards += [require.free for require in operation.requires]
            guards += [emit.when for require in operation.requires for emit in require.permitted]
            yield from (Sentence((), guard, operation.name) for guard in guards if guard is not None)
            for name, value in operation.reads:
                yield Sentence((f"{operation.name}.{name}",), value, operation.name)
            yield from self._effects(operation.effects, operation.name)
            if self._replies and operation.reply is not None:
                yield from (Sentence((), each, operation.name) for each in self._decisions(operation.reply))
        for step in self._source.spontaneous:
            yield from (Sentence((), guard) for guard in (step.may, step.must) if guard is not None)
            yield from self._effects(step.effects)
            if step.operation:
                given = zip(self._source.operation(step.operation).parameters, step.arguments, strict=False)
                yield from (Sentence((f"{step.operation}.{each.name}",), value) for each, value in given)
        for invariant in self._source.invariants:
            yield Sentence((), invariant.holds)

    def _decisions(self, reply: kernel.Reply) -> Iterator[Typed]:
        """Walk the conditions that decide what a call gives."""
        given = [*(value for _, value in reply.fields or ()), *(value for _, value in reply.branches), *reply.options]
        yield from (guard for guard, _ in reply.branches if guard is not None)
        parts = (part for value in given for part in walked(self._source, value))
        yield from (part.condition for part in parts if isinstance(part, Choose))

    def _entity(self, entity: kernel.Entity) -> Iterator[Sentence]:
        for rule in entity.entered:
            yield from self._effects(rule.effects)
        for timer in entity.timers:
            yield Sentence((), timer.deadline, timed=entity.name)
            yield from (Sentence((), part) for part in (timer.within, timer.when) if part is not None)
            yield from self._effects(timer.effects)
        if entity.retain is not None:
            yield Sentence((), entity.retain.newest)
            keys = [key for key in self.order(entity.retain) if not is_counter(key)]
            yield from (Sentence((), part) for part in (entity.retain.per, *keys) if part is not None)

    def order(self, rule: kernel.Retain) -> list[Typed]:
        """List what an order reads, an ordering policy as its default choice."""
        policies = {policy.name: dict(policy.keys)[self._chosen[policy.name]] for policy in self._source.orders}
        return [policies[part] if isinstance(part, str) else part for part in rule.order]

    def _message(self, message: kernel.Message) -> Iterator[Sentence]:
        for name, value in (("to", message.to), *message.carries):
            if value is not None:
                yield Sentence((f"due.{message.name}.{name}", f"sent.{message.name}.{name}"), value)

    def _effects(self, effects: tuple[kernel.Effect, ...], operation: str = "") -> Iterator[Sentence]:
        for effect in kernel.walk(effects):
            values: list[Typed | None] = []
            match effect:
                case kernel.Move(arrows=arrows):
                    values = [target for _, target in arrows]
                case kernel.Set(record=record, entity=entity, field=field, value=value, when=when):
                    yield from (
                        Sentence((f"{entity}.{field}",), part, operation) for part in (record, value, when) if part
                    )
                case kernel.Create(entity=entity, fields=fields, id=chosen, state=state, when=when):
                    yield from (Sentence((f"{entity}.{name}",), value, operation) for name, value in fields)
                    if chosen is not None:
                        yield Sentence((f"{entity}.id",), chosen, operation)
                    values = [state, when]
                case kernel.Emit(when=when):
                    values = [when]
                case kernel.Send(messages=messages):
                    values = [messages]
                case kernel.ForEach(over=Var(source=where), when=when) if where.endswith(".values()"):
                    values = [when]  # every record, each by itself
                case kernel.ForEach(over=over, when=when):
                    values = [over, when]
            yield from (Sentence((), value, operation) for value in values if value is not None)


def is_counter(key: Typed) -> bool:
    """Return whether a key of an order is one of the two counters that every record has."""
    return isinstance(key, Attribute) and isinstance(key.of.type, Ref) and key.name in ("completion", "serial")
