"""The model and the system side by side.

Held are the configurations of the model that explain everything observed so far. When none is
left, the system has done what no right one does: a divergence, with the clause, what was expected and
what was seen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from conformance.declaration import Declaration, ordered_by_completion
from conformance.divergence import Divergence, either, said
from conformance.history import Group, explanations
from conformance.observation import Difference, files
from conformance.observed import Observed, SignalKey, signal_key
from conformance.settling import settled
from conformance.step import Configuration, Stepper, unasked
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Decision, Impossible, Outcome

MOST = 256  # configurations that are held at once
WAYS = 2_000  # configurations that steps of the system's own are followed to between two calls


class Lockstep:
    """Holds the configurations of one case; `advance` takes what was observed, and gives a divergence, or None.

    blind     ties depend on instants that nobody can see
    unsure    it is blind, or a cap was reached: a divergence need not be a fault
    policies  what the system declared; `any` where it did not have to, and did not
    """

    def __init__(self, compiled: Compiled, declaration: Declaration) -> None:
        self.stepper = Stepper(compiled, declaration)
        self.seen = bytearray(len(compiled.kernel.clauses))  # 1 for each clause that was witnessed
        self.configurations = [Configuration(model) for model in self.stepper.fresh(self.seen)]
        self.policies = self.stepper.policies
        self.blind = declaration.clock != "virtual" and not ordered_by_completion(compiled, declaration)
        self.unsure = self.blind
        self._files: dict[str, Any] = {}

    @property
    def model(self) -> BaseModel:
        """The model of the first explanation."""
        return self.configurations[0].model

    def allows(self, call: Observed) -> bool:
        """Tell whether a call could be explained, without taking it as made; it witnesses nothing."""
        for configuration in self.configurations:
            model = configuration.model.thawed(configuration.model.freeze())
            model.seen = bytearray(len(self.seen))
            if any(True for _ in self._explained(Configuration(model, configuration.standing), call, [])):
                return True
        return False

    def decision(self, operation: str, arguments: Mapping[str, Any]) -> Decision:
        """Give what a call may be answered now; that it was asked witnesses nothing."""
        return self._decided(self.model, operation, arguments)

    def _decided(self, model: BaseModel, operation: str, arguments: Mapping[str, Any]) -> Decision:
        model.seen = bytearray(len(self.seen))
        try:
            return self.stepper.decision(model, operation, arguments)
        finally:
            model.seen = self.seen

    def copy(self) -> BaseModel:
        """Make a model in the present state, to look what would come of calls; it witnesses nothing here."""
        model = self.model.thawed(self.model.freeze())
        model.seen = bytearray(len(self.seen))
        return model

    def avoids(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether the spec leaves open what a call would do here, whichever explanation is the right one."""
        return self.stepper.facts.leaves_open(operation) and any(
            self._decided(model, operation, arguments).avoid
            for each in self.configurations
            for model, _ in self._own_steps(each.model)
        )

    def uncompared(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether the reply of a call is not compared, because nothing follows from it here."""
        decision = self.decision(operation, arguments)
        return decision.idle or decision.quiet or (bool(decision.refuse) and not decision.accept)

    def go_on(self, call: Observed) -> None:
        """Follow a call after a divergence, without judging it, as the model would have it.

        So the clauses that the rest of a case exercises are still witnessed.
        """
        model = self.model
        if call.operation == "wait":
            model.wait(call.arguments["ms"])
            return
        decision = self.stepper.decision(model, call.operation, call.arguments)
        if decision.accept and call.refused is None:
            minted = dict(call.minted)
            model.mint = lambda entity, *form: minted.pop(entity, "") or model.next_ordinal(entity, *form)
            with contextlib.suppress(Impossible):
                getattr(model, f"do_{call.operation}")(**call.arguments)
            model.mint = model.next_ordinal
            model.settle()

    def witnessed(self) -> frozenset[str]:
        """Give the clauses that were witnessed in this case, the invariants that hold now included."""
        self.model.broken()
        return frozenset(path for path, hit in zip(self.stepper.levels, self.seen, strict=True) if hit)

    # ── One event on every configuration ──

    @property
    def capped(self) -> bool:
        """Tell whether there were more ways than were looked at."""
        return self.unsure and not self.blind

    def advance(self, event: Observed | Group) -> Divergence | None:
        """Judge one call, or calls that were made at once; after a divergence the configurations are those before."""
        calls = event.calls if isinstance(event, Group) else [event]
        shared = next((found for call in calls if (found := self._shared_file(call)) is not None), None)
        if shared is not None:
            return shared
        before = [each.model.freeze() for each in self.configurations]
        after, reason = self._together(event) if isinstance(event, Group) else self._alone(event)
        if not after:
            for each, frozen in zip(self.configurations, before, strict=True):
                each.model.thaw(frozen)  # what was tried on it
            return reason
        self.configurations = _distinct(after)
        if len(self.configurations) > MOST:
            self.configurations = self.configurations[:MOST]
            self.unsure = True
        return None

    def _alone(self, call: Observed) -> tuple[list[Configuration], Divergence | None]:
        reasons: list[Divergence] = []
        found = [after for each in self.configurations for after in self._explained(each, call, reasons)]
        return found, either(reasons[0], reasons) if reasons else None

    def _together(self, group: Group) -> tuple[list[Configuration], Divergence | None]:
        found: list[Configuration] = []
        before = bytes(self.seen)
        for configuration in self.configurations:
            explained = explanations(self.stepper, configuration, group, MOST)
            found += explained.ends
            self.unsure = self.unsure or explained.partial
        if not found and not self.unsure:
            self.seen[:] = before  # of what was tried nothing came to pass
        for call in group.calls if found else ():
            self.stepper.note_sent(found[0].model, call)
        operations = " ∥ ".join(dict.fromkeys(call.operation for call in group.calls))
        wanted, seen = "an order of the calls, one after the other, that gives these replies", group.summary
        if self.stepper.compiled.lifecycle.signals:
            wanted += " and signals"
            seen += f"; {', '.join(map(said, map(signal_key, group.signals))) or 'no signal'}"
        return found, Divergence("order", group.clause, operations, wanted, seen)

    # ── One call on one configuration ──

    def _explained(
        self, configuration: Configuration, call: Observed, reasons: list[Divergence]
    ) -> Iterator[Configuration]:
        """Walk the configurations that a call leads to, with steps of the system's own before and after it."""
        for before, taken in self._own_steps(configuration.model, call):
            for then, outcome in self.stepper.ways(before, call, call.signals, reasons):
                for rested, forced in settled(then):
                    for after, followed in self._own_steps(rested, call):
                        came = [*taken, *outcome, *forced, *followed]
                        standing = self._signals(came, call, configuration.standing)
                        if isinstance(standing, Divergence):
                            reasons.append(standing)
                        else:
                            yield Configuration(after, standing)
        self.unsure = self.unsure or self.stepper.partial

    def _own_steps(
        self, model: BaseModel, call: Observed | None = None
    ) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk the model as it is, then every result of what the system may do unasked, timers that are due included.

        Beside a call it has done nothing of which a signal would have been seen.
        """
        if not (model.own_steps() or model.due()):
            yield model, []
            return
        start = model.freeze()
        known = {start}
        waiting: list[tuple[Any, list[Outcome]]] = [(start, [])]
        while waiting:
            frozen, taken = waiting.pop(0)
            yield model.thawed(frozen), taken
            for other, outcomes in unasked(frozen, model):
                result, steps = other.freeze(), [*taken, *outcomes]
                if result in known or (call is not None and not self._seen(steps, call)):
                    continue
                if len(known) < WAYS:
                    known.add(result)
                    waiting.append((result, steps))
        self.unsure = self.unsure or len(known) >= WAYS

    # ── Signals and files ──

    def _signals(
        self, outcomes: Sequence[Outcome], call: Observed, standing: frozenset[SignalKey]
    ) -> frozenset[SignalKey] | Divergence:
        """Match the signals that came with those that have to and those that may; give what may still come."""
        rest = list(map(signal_key, call.signals))
        instants = self.stepper.declaration.instants
        matching = partial(self.stepper.facts.matching, instants=instants)
        again = {signal_key(signal) for outcome in outcomes for signal in outcome.again}
        for outcome in outcomes:
            for signal in (*outcome.signals, *outcome.again):
                seen = matching(signal_key(signal), rest)
                if seen is None:
                    return self.stepper.unseen(call, signal, outcomes)
                rest.remove(seen)
        allowed = again | standing | {signal_key(signal) for outcome in outcomes for signal in outcome.may}
        extra = next((key for key in rest if not any(matching(each, [key]) for each in allowed)), None)
        return standing | again if extra is None else self.stepper.unseen(call, extra, outcomes, due=False)

    def _seen(self, outcomes: Sequence[Outcome], call: Observed) -> bool:
        """Tell whether every signal that has to come with some steps came with a call."""
        rest = list(map(signal_key, call.signals))
        for signal in (each for outcome in outcomes for each in (*outcome.signals, *outcome.again)):
            found = self.stepper.facts.matching(
                signal_key(signal), rest, instants=self.stepper.declaration.instants
            )
            if found is None:
                return False
            rest.remove(found)
        return True

    def _shared_file(self, call: Observed) -> Divergence | None:
        """Hold every file to the one record that it was told for."""
        facts = self.stepper.facts
        if not facts.gives_documents(call.operation) or call.refused is not None or call.given is None:
            return None
        for record, file in files(facts.gives(call.operation), call.given):
            owner = next(iter(record.values()))
            if self._files.setdefault(file, owner) != owner:
                clause = self.stepper.clause_of(call.operation, Difference("content", None, None))
                return Divergence(
                    "file", clause, call.operation, "a file of its own for every message", f"{file} holds two"
                )
        return None


def _distinct(configurations: Sequence[Configuration]) -> list[Configuration]:
    if len(configurations) == 1:
        return list(configurations)
    found: dict[Any, Configuration] = {}
    for each in configurations:
        found.setdefault((each.model.freeze(), each.standing, *vars(each.model.policies).values()), each)
    return list(found.values())
