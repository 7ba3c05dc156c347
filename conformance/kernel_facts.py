"""What a judge needs to know of the kernel: what operations give, which ids they mint, which messages they send."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from conformance.observation import Difference, differences, holds_documents
from conformance.observed import Observed, SignalKey
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.expression.typed import Attribute, Var
from statemachines.model import BaseModel
from statemachines.sentences import walked
from statemachines.types import NULL, Id, Record, Time, Type, present


class Facts:
    """Facts of one lifecycle, looked up by operation.

    recommended_effects   the clauses of level SHOULD that do something, and which a kernel can be without
    recommended_policies  the policies of which the source only recommends a choice, as paths: `policies.NAME`
    exactly_undone        those of all these that a system can fail to follow only in ways that the kernel knows
    """

    def __init__(self, compiled: Compiled) -> None:
        self._kernel = compiled.kernel
        self._operations = {operation.name: operation for operation in compiled.kernel.operations}
        self._signals = {name: Record(fields, name) for name, fields in compiled.kernel.signals}
        self._sends = {
            name: next((effect for effect in operation.effects if isinstance(effect, kernel.Send)), None)
            for name, operation in self._operations.items()
        }
        self.recommended_effects = _recommended_effects(compiled.kernel)
        self.recommended_policies = tuple(f"policies.{name}" for name in compiled.kernel.recommended)
        self.exactly_undone = {
            *(message.outlives_clause for message in compiled.kernel.messages),
            *self.recommended_policies,
        }
        self._leaving_open = {
            name
            for name, operation in self._operations.items()
            if any(require.answer == "avoided" for require in operation.requires)
        }
        self._documented = {name for name in self._operations if holds_documents(self.gives(name))}

    def gives(self, operation: str) -> Type:
        """Give the type of an operation's reply."""
        found = self._operations.get(operation)
        return found.reply.type if found is not None and found.reply is not None else NULL

    def leaves_open(self, operation: str) -> bool:
        """Tell whether a spec may leave open what an operation does."""
        return operation in self._leaving_open

    def gives_documents(self, operation: str) -> bool:
        """Tell whether an operation's reply can hold documents."""
        return operation in self._documented

    def takes(self, operation: str) -> dict[str, Type]:
        """Give the types of an operation's arguments; none of what no spec declares, such as `wait`."""
        found = self._operations.get(operation)
        return {each.name: present(each.wire) for each in found.parameters} if found is not None else {}

    def instants(self, seen: Sequence[SignalKey]) -> tuple[int, ...]:
        """Give the instants that some signals tell of."""
        found = {
            value
            for name, fields in seen
            for field, value in fields
            if isinstance(present(self._signals[name].field(field) or NULL), Time) and value is not None
        }
        return tuple(sorted(found))

    def matching(
        self, signal: SignalKey, seen: Sequence[SignalKey], *, instants: bool = True
    ) -> SignalKey | None:
        """Give the one of the signals seen that may be this signal, or None."""
        if signal in seen:
            return signal
        name, kind, wanted = signal[0], self._signals[signal[0]], dict(signal[1])
        return next(
            (
                each
                for each in seen
                if each[0] == name and not any(differences(kind, wanted, dict(each[1]), instants=instants))
            ),
            None,
        )

    def observers(self) -> list[kernel.Operation]:
        """List the operations that change nothing and give something."""
        return [
            operation
            for operation in self._operations.values()
            if operation.observes and not _refuses(operation)
        ]

    def observes(self, operation: str) -> bool:
        """Tell whether an operation changes nothing and gives something."""
        found = self._operations.get(operation)
        return found is not None and found.observes

    def minted(self, operation: str, given: Any) -> tuple[tuple[str, str], ...]:
        """Give the ids in a reply that the system may have chosen for new records, each with its entity."""
        found = self._operations.get(operation)
        if found is None or not isinstance(given, dict):
            return ()
        minted = {
            effect.entity
            for effect in found.effects
            if isinstance(effect, kernel.Create)
            and effect.mints
            and self._kernel.entity(effect.entity).minted
        }
        named = self.identified(operation).items()
        ids = ((entity, given.get(name)) for name, entity in named if entity in minted)
        return tuple((entity, each) for entity, each in ids if isinstance(each, str))

    def identified(self, operation: str) -> dict[str, str]:
        """Give the fields of an operation's reply that hold the id of a record, each with its entity."""
        kind = self.gives(operation)
        fields = [(name, present(field)) for name, field in kind.fields] if isinstance(kind, Record) else []
        return {
            name: field.entity
            for name, field in fields
            if isinstance(field, Id) and not self._kernel.entity(field.entity).fixed
        }

    def ids(self, operation: str, given: Any) -> dict[str, str]:
        """Give the ids of records in a reply, by the field that holds them."""
        found = given if isinstance(given, dict) else {}
        return {name: found[name] for name in self.identified(operation) if isinstance(found.get(name), str)}

    def only_adds(self, operation: str) -> bool:
        """Tell whether no record leaves by an operation, nor by what the system may do unasked after it."""
        found = self._operations.get(operation)
        if found is None:
            return False
        unasked = [effect for step in self._kernel.spontaneous for effect in step.effects]
        for step in self._kernel.spontaneous:
            unasked += self._operations[step.operation].effects if step.operation else ()
        return not any(map(self._may_end, kernel.walk((*found.effects, *unasked))))

    def _may_end(self, effect: kernel.Effect) -> bool:
        """Tell whether a record may leave by an effect: it is removed, or it comes where only the newest stay."""
        match effect:
            case kernel.Remove(kind="due"):
                return False
            case kernel.Remove() | kernel.Move() | kernel.Set(field="state"):
                return True
            case kernel.Create(entity=name):
                entity = self._kernel.entity(name)
                entered = [each for rule in entity.entered for each in kernel.walk(rule.effects)]
                held = entity.retain is not None and entity.states[0] in entity.retain.states
                return held or not all(isinstance(each, kernel.Set | kernel.Emit) for each in entered)
            case _:
                return False

    def policies_of(self, clause: str) -> frozenset[str]:
        """Name the policies that decide whether a call is refused as a clause says."""
        guards = [
            require.guard
            for operation in self._kernel.operations
            for require in operation.requires
            if require.clause == clause and require.guard is not None
        ]
        parts = [part for guard in guards for part in walked(self._kernel, guard)]
        return frozenset(
            part.name.removeprefix("policies.")
            for part in parts
            if isinstance(part, Var) and part.name.startswith("policies.")
        )

    def setters(self, kind: Type, difference: Difference) -> tuple[str, ...]:
        """Give the clauses that set the part of a shown record that differs."""
        item = getattr(kind, "item", kind)
        entity = next(
            (each for each in self._kernel.entities if each.name == getattr(item, "name", "")), None
        )
        shown = dict(entity.shows).get(difference.path.rpartition(".")[2]) if entity is not None else None
        if entity is None or not isinstance(shown, Attribute):
            return ()
        everything = [*(step for operation in self._kernel.operations for step in operation.effects)]
        everything += [
            effect for each in self._kernel.entities for rule in each.entered for effect in rule.effects
        ]
        return tuple(
            effect.clause
            for effect in kernel.walk(tuple(everything))
            if (isinstance(effect, kernel.Set) and (effect.entity, effect.field) == (entity.name, shown.name))
            or (isinstance(effect, kernel.Move) and effect.entity == entity.name and shown.name == "state")
        )

    def waits(self, operation: str) -> bool:
        """Tell whether a call may block."""
        found = self._operations.get(operation)
        return found is not None and found.waits is not None

    def sends(self, call: Observed) -> bool:
        """Tell whether a call gives the messages that it sent."""
        return (
            self._sends.get(call.operation) is not None
            and call.refused is None
            and isinstance(call.given, list)
        )

    def variable(self, call: Observed) -> str:
        """Give the name of the messages that a call sends."""
        send = self._sends[call.operation]
        return send.variable if send is not None else ""

    def order(self, call: Observed) -> str:
        """Name the clause that orders the messages which a call sends."""
        send = self._sends[call.operation]
        return f"messages.{send.message}.order" if send is not None else ""

    def owed(self, model: BaseModel, call: Observed) -> list[Any]:
        """Give the messages that a call would send now."""
        other = model.thawed(model.freeze())
        other.seen = bytearray(len(model.seen))  # nothing of it has come to pass
        sent = self._boxes(other, call)[1]
        before = len(sent)
        getattr(other, f"do_{call.operation}")(**call.arguments)
        told = {message.about for message in self._boxes(other, call)[1][before:]}
        return [message for message in self._boxes(model, call)[0] if message.about in told]

    def shown(self, model: BaseModel, call: Observed, message: Any) -> dict[str, Any]:
        """Give a message as a caller sees it."""
        found: dict[str, Any] = getattr(model, f"shown_{self._message(call)}")(message)
        return found

    def send(self, model: BaseModel, call: Observed, message: Any) -> None:
        """Send one message."""
        getattr(model, f"send_{self._message(call)}")([message])

    def sent(self, model: BaseModel, call: Observed) -> list[Any]:
        """Give the messages of the kind that a call sends which were sent so far."""
        return self._boxes(model, call)[1]

    def _message(self, call: Observed) -> str:
        send = self._sends[call.operation]
        return send.message.lower() if send is not None else ""

    def _boxes(self, model: BaseModel, call: Observed) -> tuple[list[Any], list[Any]]:
        name = self._message(call)
        return getattr(model, f"due_{name}"), getattr(model, f"sent_{name}")


def _recommended_effects(source: kernel.Kernel) -> tuple[str, ...]:
    recommended = [clause.path for clause in source.clauses if clause.level == "should"]
    return tuple(path for path in recommended if kernel.without(source, frozenset([path])) != source)


def _refuses(operation: kernel.Operation) -> bool:
    return any(
        require.answer == "refused" and require.guard is not None and ".refuses" in require.clause
        for require in operation.requires
    )


@lru_cache(maxsize=64)
def of(compiled: Compiled) -> Facts:
    """Give the facts of a lifecycle."""
    return Facts(compiled)
