"""What can tell in which order messages were sent, and what calls that send notice of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from statemachines import kernel
from statemachines.explore.sentences import walked
from statemachines.expression import Apply, Attribute, Const, Each, InGroup, Operate, Typed, Var, parts


class MessageFacts:
    """Facts of one lifecycle.

    open  the messages of which only looks tell in which order they were sent
    """

    def __init__(self, source: kernel.Kernel) -> None:
        self._source = source
        self._operations = {operation.name: operation for operation in source.operations}
        self._looks = {name: box for name, each in self._operations.items() if (box := self._looked_at(each))}
        self._sends = {name: send for name, each in self._operations.items() if (send := _only_send(each)) is not None}
        self.open = frozenset(each.name for each in source.messages if not self._order_counts(each.name))
        self._writes = self._written()
        self._quiet = self._are_quiet()
        self._unasked = any(map(self._unasked_notices, source.spontaneous)) or any(
            map(self._timer_notices, _timers(source))
        )
        # A search asks for each call again and again.
        self._alike, self._apart, self._blind, self._incurious = (
            frozenset(filter(asked, self._operations))
            for asked in (self._emits_alike, self._is_apart, self._sees_no_message, self._sees_no_sender)
        )

    def looked_at(self, operation: str) -> str:
        """Return the message whose transcript an operation shows, as far as it was sent; '' if it shows none."""
        return self._looks.get(operation, "")

    def looks_at(self, message: str) -> bool:
        """Return whether there is an operation that shows this message's transcript."""
        return message in self._looks.values()

    def sends_quietly(self, operation: str) -> str:
        """Return the message that an operation sends, doing nothing else that one that sends could notice; '' if it does not."""
        return self._sends[operation].message if self._quiet and operation in self._sends else ""

    def told_unasked(self) -> Mapping[int, kernel.Send]:
        """Return how steps of its own send quietly, by the number of each: those whose signals do not say what was told."""
        found = {}
        for number, step in enumerate(self._source.spontaneous):
            beside = all(isinstance(effect, kernel.Emit) for effect in step.effects)
            send = self._source.sending(step)
            if send is not None and beside and self.signals_alike(step.operation):
                found[number] = send
        return found

    def signals_alike(self, operation: str) -> bool:
        """Return whether an operation sends quietly, and its signals are the same whatever it has sent, unless that is nothing."""
        return operation in self._alike

    def sends_apart(self, operation: str) -> bool:
        """Return whether an operation sends quietly, what is due and what was sent are all the same to it, but for what it sends.

        Nor does anything come of that unasked.
        """
        return operation in self._apart

    def ignores_messages(self, operation: str) -> bool:
        """Return whether an operation only looks, and what is due or was sent makes no difference to it."""
        return operation in self._blind

    def ignores_senders(self, operation: str) -> bool:
        """Return whether an operation only looks, and what those that send do beside sending makes no difference to it."""
        return operation in self._incurious

    def _emits_alike(self, operation: str) -> bool:
        if not self.sends_quietly(operation):
            return False
        variable = self._sends[operation].variable
        signals = (effect for effect in self._operations[operation].effects if isinstance(effect, kernel.Emit))
        return not any(_says_what_was_told(each, variable) for each in signals)

    def _is_apart(self, operation: str) -> bool:
        if not self.sends_quietly(operation) or self._unasked:
            return False
        found, send = self._operations[operation], self._sends[operation]
        others = tuple(effect for effect in found.effects if effect is not send)
        rest = self._expressions_of(replace(found, effects=others))
        return self._takes_some(send.messages) and not any(map(self._reads_messages, rest))

    def _sees_no_message(self, operation: str) -> bool:
        found = self._operations[operation]
        return found.observes and not any(map(self._reads_messages, self._expressions_of(found)))

    def _sees_no_sender(self, operation: str) -> bool:
        found = self._operations[operation]
        return found.observes and not self._reads_what_senders_write(found)

    def _expressions_of(self, operation: kernel.Operation) -> Iterator[Typed]:
        """Walk what an operation reads; what it gives may be records, with all that they show."""
        yield from _expressions(operation)
        if operation.reply is not None:
            yield from (value for entity in self._source.entities for _, value in entity.shows)

    def _reads_what_senders_write(self, operation: kernel.Operation) -> bool:
        return any(self._names(each) & self._writes for each in self._expressions_of(operation))

    # ── The order of what was sent ──

    def _looked_at(self, operation: kernel.Operation) -> str:
        name, conditions = _listed(operation)
        return "" if any(map(self._reads_messages, conditions)) else name

    def _order_counts(self, name: str) -> bool:
        """Return whether anything but looks can tell in which order messages were sent."""
        box = f"sent.{name}"
        operations = tuple(
            replace(each, reply=None) if self._looks.get(each.name) == name else each
            for each in self._source.operations
        )
        everything = _expressions(replace(self._source, operations=operations))
        return any(_can_tell_order(each, box, own=True) for each in everything)

    # ── What those that send notice of each other ──

    def _written(self) -> frozenset[str]:
        """Name the fields that operations set which send messages."""
        effects = [effect for name in self._sends for effect in kernel.walk(self._operations[name].effects)]
        return frozenset(effect.field for effect in effects if isinstance(effect, kernel.Set))

    def _are_quiet(self) -> bool:
        """Return whether all that send only set, beside, fields to one value each, which none of them reads."""
        values: dict[str, Any] = {}
        for name in self._sends:
            for effect in self._operations[name].effects:
                match effect:
                    case kernel.Send() | kernel.Emit():
                        continue
                    case kernel.Set(field=field, value=Const(value=value), when=None):
                        if values.setdefault(field, value) != value:
                            return False
                    case _:
                        return False
            if self._reads_what_senders_write(self._operations[name]):
                return False
        return True

    def _unasked_notices(self, step: kernel.Spontaneous) -> bool:
        """Return whether a step of its own may become possible by what those do that send."""
        conditions = list(_conjuncts(step.may))
        noticed = any(self._names(each) & self._writes for each in conditions)
        return noticed or any(self._reads_messages(each) and not self._asks_for_due(each) for each in conditions)

    def _timer_notices(self, timer: kernel.Timer) -> bool:
        asked = [each for each in (timer.deadline, timer.within, timer.when) if each is not None]
        return any(self._names(each) & self._writes or self._reads_messages(each) for each in asked)

    def _asks_for_due(self, condition: Typed) -> bool:
        """Return whether a condition is that some message is due: what is sent cannot make it true."""
        match condition:
            case Each(macro="exists", over=over, body=body):
                return self._takes_some(over) and not self._reads_messages(body)
            case _:
                return False

    def _takes_some(self, value: Typed) -> bool:
        """Return whether an expression takes some of what is due, whatever else is due or was sent."""
        bodies = []
        while isinstance(value, Each) and value.macro == "filter":
            bodies.append(value.body)
            value = value.over
        return _box(value).startswith("due.") and not any(map(self._reads_messages, bodies))

    def _reads_messages(self, value: Typed) -> bool:
        return any(isinstance(node, Var) and _box(node) for node in walked(self._source, value))

    def _names(self, value: Typed) -> frozenset[str]:
        """Name the fields and variables that an expression reads."""
        found = set()
        for node in walked(self._source, value):
            match node:
                case Attribute(name=name) | Var(name=name):
                    found.add(name)
                case InGroup():
                    found.add("state")
        return frozenset(found)


def _expressions(value: Any) -> Iterator[Typed]:
    """Walk the outermost expressions in a part of a kernel."""
    if isinstance(value, Typed):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _expressions(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _expressions(getattr(value, field.name))


def _timers(source: kernel.Kernel) -> Iterator[kernel.Timer]:
    return (timer for entity in source.entities for timer in entity.timers)


def _box(value: Typed) -> str:
    """Return which messages a name stands for, such as `due.Ended`; '' if for none."""
    return value.name if isinstance(value, Var) and value.name.startswith(("due.", "sent.")) else ""


def _conjuncts(value: Typed) -> Iterator[Typed]:
    """Walk the conditions that hold together."""
    if isinstance(value, Operate) and value.operator == "&&" and value.left is not None:
        yield from _conjuncts(value.left)
        yield from _conjuncts(value.right)
    else:
        yield value


def _listed(operation: kernel.Operation) -> tuple[str, tuple[Typed, ...]]:
    """Return the message of which an operation gives those sent, as they stand, and the conditions that they meet.

    The name is empty if it gives something else.
    """
    reply = operation.reply
    if reply is None or operation.effects or len(reply.branches) != 1:
        return "", ()
    ((guard, value),) = reply.branches
    conditions = []
    while isinstance(value, Each) and value.macro == "filter":
        conditions.append(value.body)
        value = value.over
    name = _box(value).removeprefix("sent.") if guard is None and _box(value).startswith("sent.") else ""
    return name, tuple(conditions)


def _says_what_was_told(signal: kernel.Emit, variable: str) -> bool:
    """Return whether a signal says more of messages told than whether there were any."""
    match signal.when:
        case Operate(operator=">", left=Apply(function="size", arguments=(Var(),)), right=Const(value=0)):
            asked: tuple[Typed, ...] = ()
        case None:
            asked = ()
        case condition:
            asked = (condition,)
    said = (*asked, *(value for _, value in signal.fields))
    return any(isinstance(node, Var) and node.name == variable for each in said for node in _nodes(each))


def _nodes(value: Typed) -> Iterator[Typed]:
    yield value
    for part in parts(value):
        yield from _nodes(part)


def _only_send(operation: kernel.Operation) -> kernel.Send | None:
    """Return how an operation sends, if it does so once."""
    sends = [effect for effect in kernel.walk(operation.effects) if isinstance(effect, kernel.Send)]
    return sends[0] if len(sends) == 1 else None


def _can_tell_order(value: Typed, box: str, *, own: bool) -> bool:
    """Return whether an expression can tell the order of a list; `own`: if it is that list, its order counts."""
    match value:
        case Var():
            return own and _box(value) == box
        case Each(macro="exists" | "all", over=over, body=body):
            return _can_tell_order(over, box, own=False) or _can_tell_order(body, box, own=True)
        case Each(macro="filter" | "map", over=over, body=body):
            return _can_tell_order(over, box, own=own) or _can_tell_order(body, box, own=True)
        case Apply(function="size" | "sum" | "min" | "max" | "sameItems", arguments=arguments):
            return any(_can_tell_order(each, box, own=False) for each in arguments)
        case Apply(function="distinct", arguments=arguments):
            return any(_can_tell_order(each, box, own=own) for each in arguments)
        case Operate(operator="+", left=left, right=right):
            return any(_can_tell_order(each, box, own=own) for each in (left, right) if each is not None)
        case _:
            return any(_can_tell_order(each, box, own=True) for each in parts(value))
