"""The model and the system side by side.

The judge holds the configurations of the model that explain everything observed so far. When none is
left, the system has done what no right one does: a divergence, with the clause, what was expected and
what was seen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.declaration import Declaration, ordered_by_completion
from conformance.history import Group, explanations
from conformance.observation import Difference, files
from conformance.observed import Observed, SignalKey, signal_key
from conformance.step import Configuration, Divergence, Stepper, either, said, unasked
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Impossible, Outcome
from statemachines.types import NULL

MOST = 256  # configurations that are held at once
WAYS = 2_000  # configurations that steps of the system's own are followed to between two calls


class Judge:
    """Follows one case. `step` and `group` give a divergence, or None; SHOULD findings gather in `findings`.

    blind     ties depend on instants that nobody can see
    unsure    it is blind, or a cap was reached: a divergence need not be a fault
    policies  what the system declared; `any` where it did not have to, and did not
    """

    def __init__(self, compiled: Compiled, declaration: Declaration) -> None:
        self.stepper = Stepper(compiled, declaration)
        self.configurations = [Configuration(model) for model in self.stepper.fresh()]
        self.policies = self.stepper.policies
        self.blind = declaration.clock != "virtual" and not ordered_by_completion(compiled, declaration)
        self.unsure = self.blind
        self.seen = bytearray(len(compiled.kernel.clauses))
        self._past: list[Observed | Group] = []
        self._files: dict[str, Any] = {}
        self._relaxed = False
        self._relaxed_findings: list[Divergence] = []
        self._gave_up = False
        self._should = frozenset(path for path, level in self.stepper.levels.items() if level == "should")
        self._derived = derived(compiled)

    @property
    def model(self) -> BaseModel:
        """The model of the first explanation."""
        return self.configurations[0].model

    @property
    def findings(self) -> list[Divergence]:
        """What only clauses of level SHOULD forbid."""
        return [*self._relaxed_findings, *self.stepper.findings]

    def step(self, call: Observed) -> Divergence | None:
        """Judge one call."""
        return self._follow(call)

    def group(self, group: Group) -> Divergence | None:
        """Judge calls that were made at once."""
        return self._follow(group)

    def allows(self, call: Observed) -> bool:
        """Tell whether a call could be explained, without taking it as made."""
        for configuration in self.configurations:
            model = self.stepper.thawed(configuration.model.freeze(), configuration.model)
            if any(True for _ in self._explained(Configuration(model, configuration.standing), call, [])):
                return True
        return False

    def avoids(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether the spec leaves open what a call would do here."""
        return operation != "wait" and self.stepper.decision(self.model, operation, arguments).avoid

    def uncompared(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether the reply of a call is not compared, because nothing follows from it here."""
        decision = self.stepper.decision(self.model, operation, arguments)
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
        self._witness(model)

    def witnessed(self) -> frozenset[str]:
        """Give the clauses that were witnessed in this case, the invariants that hold now included."""
        self.model.broken()
        self._witness(self.model)
        return frozenset(path for path, hit in zip(self.stepper.levels, self.seen, strict=True) if hit)

    # ── One event on every configuration ──

    def _follow(self, event: Observed | Group) -> Divergence | None:
        if self._gave_up:
            return None
        self._past.append(event)
        divergence = self._advance(event)
        if divergence is not None and self._should and not self._relaxed:
            divergence = self._relax(divergence)
        return divergence if divergence is None else self._excused(divergence)

    def _excused(self, divergence: Divergence) -> Divergence | None:
        """Hold what follows from a recommended sentence to be a finding of level SHOULD, and judge no further.

        Nobody knows what else a system does that does not follow the recommendation.
        """
        clauses = self.stepper.compiled.kernel.clauses
        followed = next(
            (
                clause.path
                for clause, hit in zip(clauses, self.seen, strict=True)
                if hit and clause.path in self._derived
            ),
            "",
        )
        if not followed:
            return divergence
        self._relaxed_findings = [
            *self._relaxed_findings,
            replace(divergence, clause=followed, should=True, excused=divergence.clause),
        ]
        self._gave_up = True
        return None

    def _advance(self, event: Observed | Group) -> Divergence | None:
        calls = event.calls if isinstance(event, Group) else [event]
        shared = next((found for call in calls if (found := self._shared_file(call)) is not None), None)
        if shared is not None:
            return shared
        after, reason = self._together(event) if isinstance(event, Group) else self._alone(event)
        if not after:
            return reason
        self.configurations = _distinct(after)
        if len(self.configurations) > MOST:
            self.configurations = self.configurations[:MOST]
            self.unsure = True
        return None

    def _alone(self, call: Observed) -> tuple[list[Configuration], Divergence | None]:
        reasons: list[Divergence] = []
        found = [after for each in self.configurations for after in self._explained(each, call, reasons)]
        for each in self.configurations:
            self._witness(each.model)
        return found, either(reasons[0], reasons) if reasons else None

    def _together(self, group: Group) -> tuple[list[Configuration], Divergence | None]:
        found: list[Configuration] = []
        for configuration in self.configurations:
            explained = explanations(self.stepper, configuration, group, MOST)
            found += explained.ends
            self.unsure = self.unsure or explained.partial
        for each in found:
            self._witness(each.model)
        for call in group.calls if found else ():
            self.stepper.note_sent(found[0].model, call)
        operations = " ∥ ".join(dict.fromkeys(call.operation for call in group.calls))
        wanted, seen = "an order of the calls, one after the other, that gives these replies", group.summary
        if self.stepper.compiled.lifecycle.signals:
            wanted += " and signals"
            seen += f"; {', '.join(map(said, map(signal_key, group.signals))) or 'no signal'}"
        return found, Divergence("order", group.clause, operations, wanted, seen)

    def _witness(self, model: BaseModel) -> None:
        for index, hit in enumerate(model.seen):
            if hit:
                self.seen[index] = 1

    # ── One call on one configuration ──

    def _explained(
        self, configuration: Configuration, call: Observed, reasons: list[Divergence]
    ) -> Iterator[Configuration]:
        """Walk the configurations that a call leads to, with steps of the system's own before and after it."""
        for before, taken in self._own_steps(configuration.model):
            for then, outcome in self.stepper.ways(before, call, call.signals, reasons):
                forced = then.settle()
                for after, followed in self._own_steps(then):
                    came = [*taken, *outcome, *forced, *followed]
                    standing = self._signals(came, call, configuration.standing)
                    if isinstance(standing, Divergence):
                        reasons.append(standing)
                    else:
                        yield Configuration(after, standing)
        self.unsure = self.unsure or self.stepper.partial

    def _own_steps(self, model: BaseModel) -> Iterator[tuple[BaseModel, list[Outcome]]]:
        """Walk the model as it is, then every result of what the system may do unasked, timers that are due included."""
        if not (model.own_steps() or model.due()):
            yield model, []
            return
        start = model.freeze()
        known = {start}
        waiting: list[tuple[Any, list[Outcome]]] = [(start, [])]
        while waiting:
            frozen, taken = waiting.pop(0)
            yield self.stepper.thawed(frozen, model), taken
            for other, outcomes in unasked(self.stepper, frozen, model):
                result = other.freeze()
                if result not in known and len(known) < WAYS:
                    known.add(result)
                    waiting.append((result, [*taken, *outcomes]))
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

    def _shared_file(self, call: Observed) -> Divergence | None:
        """Hold every file to the one record that it was told for."""
        kind = self.stepper.facts.gives(call.operation)
        if kind == NULL or call.refused is not None or call.given is None:
            return None
        for record, file in files(kind, call.given):
            owner = next(iter(record.values()))
            if self._files.setdefault(file, owner) != owner:
                clause = self.stepper.clause_of(call.operation, Difference("content", None, None))
                return Divergence(
                    "file", clause, call.operation, "a file of its own for every message", f"{file} holds two"
                )
        return None

    # ── SHOULD ──

    def _relax(self, divergence: Divergence) -> Divergence | None:
        """Judge the whole case again without the sentences that are only recommended.

        Explained now: the divergence is a finding of level SHOULD, and the case goes on from there.
        """
        compiled = self.stepper.compiled
        if not self._should & compiled.kernel.removable:
            return divergence
        loose = Judge(compiled.without(self._should), self.stepper.declaration)
        loose._relaxed = True
        for event in self._past:
            lost = loose._advance(event) is not None
            self.unsure = self.unsure or loose.unsure
            if lost:
                return divergence
        clause = next(
            path for path in self.stepper.levels if path in self._should and path in compiled.kernel.removable
        )
        self._relaxed_findings = [*self.findings, replace(divergence, clause=clause, should=True)]
        self.stepper, self.configurations = loose.stepper, loose.configurations
        self._relaxed = True
        return None


def derived(compiled: Compiled) -> frozenset[str]:
    """Name the recommended sentences that change what happens; how to do without the others is known exactly."""
    exact = ("messages.", ".missing", ".gives", ".private to")
    return frozenset(
        clause.path
        for clause in compiled.kernel.clauses
        if clause.level == "should" and not any(part in clause.path for part in exact)
    )


def _distinct(configurations: Sequence[Configuration]) -> list[Configuration]:
    if len(configurations) == 1:
        return list(configurations)
    found: dict[Any, Configuration] = {}
    for each in configurations:
        found.setdefault((each.model.freeze(), each.standing, *vars(each.model.policies).values()), each)
    return list(found.values())
