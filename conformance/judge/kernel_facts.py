"""What a judge needs to know of the kernel: what operations give, which ids they mint, which messages they send."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from conformance.judge.differences import Difference
from statemachines import kernel, leaving_out
from statemachines.compile import Compiled
from statemachines.explore import MessageFacts, walked
from statemachines.expression import Attribute, Var
from statemachines.generate import keeps
from statemachines.rows import CallTypes, Observed, part_of
from statemachines.types import RecordType, Type


class Facts(CallTypes):
    """Facts of one lifecycle, looked up by operation.

    levels                of each clause, by its path
    recommended_policies  the policies of which the source only recommends a choice, as paths: `policies.NAME`
    chooses_instants      whether a system does something at an instant that it chooses
    exactly_undone        those of all these that a system can fail to follow only in ways that the kernel knows
    states                the states of all kinds of records
    messages              what can tell the order of messages, and what calls that send notice of each other
    explained             what histories of calls at once were explained by so far
    """

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(compiled.kernel)
        self.signals = {name: RecordType(fields, name) for name, fields in compiled.kernel.signals}
        self.levels = {clause.path: clause.level for clause in compiled.kernel.clauses}
        self.recommended_policies = tuple(f"policies.{name}" for name in compiled.kernel.recommended)
        timers = (timer for entity in compiled.kernel.entities for timer in entity.timers)
        free = (step for step in compiled.kernel.spontaneous if not step.tells)
        self.chooses_instants = any(timer.within is not None for timer in timers) or any(free)
        outliving = (message.outlives_clause for message in compiled.kernel.messages)
        self.states = frozenset(state for entity in compiled.kernel.entities for state in entity.states)
        self.messages = MessageFacts(compiled.kernel)
        self.exactly_undone = {*outliving, *self.recommended_policies}
        self.explained: dict[Any, Any] = {}
        self._minted_in: dict[tuple[str, bool], dict[str, str]] = {}

    @cached_property  # of a model that is itself without a clause nobody asks it, and it takes long
    def leavable(self) -> frozenset[str]:
        """The clauses of level MUST that a kernel can be without."""
        return frozenset(path for path in self._able if self.levels[path] == "must")

    @cached_property
    def at_any_time(self) -> list[str]:
        """Those of them without which something may come at any time: timers and retentions."""
        return [path for path in self._able if path in self.leavable and _loosens(self._kernel, path)]

    @cached_property
    def recommended_effects(self) -> tuple[str, ...]:
        """The clauses of level SHOULD that do something, and which a kernel can be without."""
        conditions = {each.clause for operation in self._kernel.operations for each in operation.requires}
        return tuple(path for path in self._able if self.levels[path] == "should" and path not in conditions)

    @cached_property
    def _able(self) -> list[str]:
        return [path for path in self.levels if _can_lack(self._kernel, path)]

    def leaves_open(self, operation: str) -> bool:
        """Return whether a spec may leave open what an operation does, or when it comes back."""
        found = self._operations.get(operation)
        return found is not None and any(require.answer in ("avoided", "awaited") for require in found.requires)

    def never_refuses(self, operation: str) -> bool:
        """Return whether nothing lets an operation be refused, whatever the state."""
        found = self._operations.get(operation)
        return found is not None and all(require.answer == "awaited" for require in found.requires)

    def blocks(self, operation: str) -> bool:
        """Return whether a call may wait without an end, for what others do."""
        found = self._operations.get(operation)
        return found is not None and found.blocks

    def observers(self) -> list[kernel.Operation]:
        """List the operations that change nothing and give something, and that are not refused by a rule of their own."""

        def refuses(operation: kernel.Operation) -> bool:
            refusing = (each for each in operation.requires if each.answer == "refused" and each.guard is not None)
            return any(".refuses" in each.clause for each in refusing)

        return [operation for operation in self._operations.values() if operation.observes and not refuses(operation)]

    def observes(self, operation: str) -> bool:
        """Return whether an operation changes nothing and gives something."""
        found = self._operations.get(operation)
        return found is not None and found.observes

    def gives_nothing(self, operation: str) -> bool:
        """Return whether no reply tells what an operation did."""
        found = self._operations.get(operation)
        return found is not None and found.reply is None

    def minted(self, call: Observed, *, shared: bool = True) -> tuple[tuple[str, str], ...]:
        """Return the ids in a reply that the system may have chosen for new records, each with its entity.

        Without those that are `shared`: of records that are one record when they are alike. The records that a call is about are
        not new.
        """
        operation = self._operations.get(call.operation)
        parameters = operation.parameters if operation is not None else ()
        known = [(each.entity, call.arguments.get(each.name)) for each in parameters if each.entity]
        ids = ((of, part_of(call.reply, way)) for way, of in self.minted_in(call.operation, shared=shared).items())
        return tuple(each for each in ids if isinstance(each[1], str) and each not in known)

    def minted_in(self, operation: str, *, shared: bool = True) -> Mapping[str, str]:
        """Return the ways to parts of a reply in which a system may tell the id that it chose for a new record, each with its entity.

        The way is empty where the reply is that id.
        """
        known = self._minted_in.get((operation, shared))
        if known is None:
            known = self._minted_in[operation, shared] = self._found_minted_in(operation, shared=shared)
        return known

    def _found_minted_in(self, operation: str, *, shared: bool) -> dict[str, str]:
        found = self._operations.get(operation)
        effects = found.effects if found is not None else ()
        created = {each.entity for each in effects if isinstance(each, kernel.Create) and each.mints}
        minted = {name for name in created if self._kernel.entity(name).minted}
        if not shared:
            minted -= {each.name for each in self._kernel.entities if each.by_content}
        return {name: entity for name, entity in self.identified(operation).items() if entity in minted}

    def minting(self, call: Observed, otherwise: Callable[..., str]) -> Callable[..., str]:
        """Return what chooses ids as the system did in a reply, each once; `otherwise` chooses those that it lacks."""
        ids = list(self.minted(call))

        def mint(entity: str, prefix: str = "", size: int | None = None) -> str:
            found = next((each for owner, each in ids if owner == entity), None)
            if found is None:
                return otherwise(entity, prefix, size)
            ids.remove((entity, found))
            return found

        return mint

    def only_adds(self, operation: str) -> bool:
        """Return whether no record leaves by an operation, nor by what the system may do unasked after it."""
        found = self._operations.get(operation)
        if found is None:
            return False
        unasked = [effect for step in self._kernel.spontaneous for effect in step.effects]
        for step in self._kernel.spontaneous:
            unasked += self._operations[step.operation].effects if step.operation else ()
        return not any(map(self._may_end, kernel.walk((*found.effects, *unasked))))

    def _may_end(self, effect: kernel.Effect) -> bool:
        """Return whether a record may leave by an effect: it is removed, or it comes where only the newest stay."""
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
        """Return the clauses that set the part of a shown record that differs."""
        item = getattr(kind, "item", kind)
        entity = next((each for each in self._kernel.entities if each.name == getattr(item, "name", "")), None)
        shown = dict(entity.shows).get(difference.path.rpartition(".")[2]) if entity is not None else None
        if entity is None or not isinstance(shown, Attribute):
            return ()
        everything = [effect for operation in self._kernel.operations for effect in operation.effects]
        everything += [effect for each in self._kernel.entities for rule in each.entered for effect in rule.effects]
        return tuple(
            effect.clause
            for effect in kernel.walk(tuple(everything))
            if (isinstance(effect, kernel.Set) and (effect.entity, effect.field) == (entity.name, shown.name))
            or (isinstance(effect, kernel.Move) and effect.entity == entity.name and shown.name == "state")
        )

    def wait(self, operation: str) -> kernel.Wait | None:
        """Return how a call may block for a time, after which it takes its step; None where it does not."""
        found = self._operations.get(operation)
        return found.waits if found is not None else None

    def reply_of(self, operation: str) -> str:
        """Return the clause of what an operation gives; the operation itself where it gives nothing."""
        found = self._operations.get(operation)
        return found.reply.clause if found is not None and found.reply is not None else f"operations.{operation}"

    def sends(self, operation: str) -> kernel.Send | None:
        """Return how an operation sends messages that it gives; None where it sends none."""
        found = self._operations.get(operation)
        sends = (each for each in (found.effects if found else ()) if isinstance(each, kernel.Send))
        return next(sends, None)

    @cached_property
    def creating(self) -> dict[str, str]:
        """What the operations create that create something, by their names."""
        created = {
            each.name: [does.entity for does in kernel.walk(each.effects) if isinstance(does, kernel.Create)]
            for each in self._kernel.operations
        }
        return {name: f"a new {' and '.join(dict.fromkeys(each))}" for name, each in created.items() if each}

    def story(self, calls: Iterable[tuple[str, Iterable[tuple[str, Any]]]]) -> tuple[str, ...]:
        """Name those of some calls that change something: the operation of each, and each yes or no that it says."""
        return tuple(
            operation + "".join(f" {name}={str(value).lower()}" for name, value in given if isinstance(value, bool))
            for operation, given in calls
            if not self.observes(operation)
        )

    def recommended(self, clause: str) -> bool:
        """Return whether a clause is only recommended."""
        return self.levels.get(clause) == "should"


def _can_lack(source: kernel.Kernel, path: str) -> bool:
    """Return whether there is a kernel without a clause: one that does something else, and keeps the same of its records."""
    shorter = leaving_out.without(source, frozenset([path]))
    return shorter != source and keeps(shorter) == keeps(source)


def _loosens(source: kernel.Kernel, path: str) -> bool:
    """Return whether without a clause something may come at any time."""
    return any(each.loose for each in leaving_out.without(source, frozenset([path])).spontaneous)


@lru_cache(maxsize=64)
def of(compiled: Compiled) -> Facts:
    """Return the facts of a lifecycle."""
    return Facts(compiled)
