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

from conformance import kernel_facts
from conformance.declaration import Declaration, ordered_by_completion
from conformance.divergence import Divergence, either, said
from conformance.history import Group, explanations
from conformance.observation import Difference, files
from conformance.observed import Observed, SignalKey, signal_key
from conformance.step import Configuration, Stepper, unasked
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Decision, Impossible, Outcome

MOST = 256  # configurations that are held at once
WAYS = 2_000  # configurations that steps of the system's own are followed to between two calls


class Judge:
    """Follows one case. `step` and `group` give a divergence, or None; SHOULD findings gather in `findings`.

    A system need not do what a sentence of level SHOULD says. Where what it showed does not tell whether it did, and that
    makes a difference, a divergence is no fault, and the case is judged no further.

    blind     ties depend on instants that nobody can see
    unsure    it is blind, or a cap was reached: a divergence need not be a fault
    gave_up  what comes is not judged any more; the model goes on as it would
    policies  what the system declared; `any` where it did not have to, and did not
    """

    def __init__(self, compiled: Compiled, declaration: Declaration) -> None:
        self.stepper = Stepper(compiled, declaration)
        self.seen = bytearray(len(compiled.kernel.clauses))  # 1 for each clause that was witnessed
        self.configurations = [Configuration(model) for model in self.stepper.fresh(self.seen)]
        self.policies = self.stepper.policies
        self.blind = declaration.clock != "virtual" and not ordered_by_completion(compiled, declaration)
        self.unsure = self.blind
        self._compiled = compiled
        self._left_out: list[str] = []  # what the system does not follow, of what is recommended
        self._past: list[Observed | Group] = []
        self._files: dict[str, Any] = {}
        self._not_followed: list[Divergence] = []  # what each of them came of
        self.gave_up = False

    @property
    def model(self) -> BaseModel:
        """The model of the first explanation."""
        return self.configurations[0].model

    @property
    def findings(self) -> list[Divergence]:
        """What only clauses of level SHOULD forbid."""
        return [*self._not_followed, *self.stepper.findings]

    def step(self, call: Observed) -> Divergence | None:
        """Judge one call."""
        return self._follow(call)

    def group(self, group: Group) -> Divergence | None:
        """Judge calls that were made at once."""
        return self._follow(group)

    def allows(self, call: Observed) -> bool:
        """Tell whether a call could be explained, without taking it as made; it witnesses nothing."""
        for configuration in self.configurations if not self.gave_up else ():
            model = configuration.model.thawed(configuration.model.freeze())
            model.seen = bytearray(len(self.seen))
            if any(True for _ in self._explained(Configuration(model, configuration.standing), call, [])):
                return True
        return self.gave_up

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

    def _follow(self, event: Observed | Group) -> Divergence | None:
        if self.gave_up:
            for call in _in_time(event):
                self.go_on(call)
            return None
        self._past.append(event)
        divergence = self._advance(event)
        return divergence if divergence is None else self._unless_recommended(divergence)

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
            yield model.thawed(frozen), taken
            for other, outcomes in unasked(frozen, model):
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

    # ── SHOULD ──

    def _unless_recommended(self, divergence: Divergence) -> Divergence | None:
        """Hold a divergence to be a finding of level SHOULD where it can follow from a recommended sentence.

        The case is judged again without such sentences. If it is explained then, the system does not follow them, and the
        case goes on from there. If it is refuted earlier, the system does follow them. Or else nobody knows what such a
        system does, unless they make no difference here, or there is just one way not to follow them.
        """
        clauses = (divergence.clause, *divergence.related)
        if divergence.kind == "accepted" and all(map(self._need_not_refuse, clauses)):
            self._give_up(divergence, divergence.clause)
            return None
        facts = kernel_facts.of(self._compiled)
        strict = self._carried_on(self._left_out) if facts.recommended_effects else None
        if strict is None:
            return divergence
        witnessed = strict.witnessed()
        at_work = [path for path in facts.recommended_effects if path in witnessed]
        for left_out in self._other_choices(at_work):
            loose = self._again(left_out)
            explained = loose is not None and loose._advance(self._past[-1]) is None
            self.unsure = self.unsure or (loose is not None and loose.unsure)
            if loose is not None and explained:
                self._go_on_with(loose, left_out, divergence)
                return None
        for path in (each for each in at_work if each not in facts.exactly_undone):
            other = self._carried_on([*self._left_out, path])
            differs = other is not None and (path in clauses or other._states() != strict._states())
            if differs or path == divergence.clause:
                self._give_up(divergence, path)
                return None
        return divergence

    def _other_choices(self, at_work: Sequence[str]) -> Iterator[list[str]]:
        """Walk sentences to be left out: one more than now, another one instead, or all of them."""
        now = self._left_out
        yield from ([*now, path] for path in at_work)
        if now:
            yield from ([path] for path in (*at_work, *now) if [path] != now)
        if len(at_work) > 1:
            yield [*now, *at_work]

    def _need_not_refuse(self, clause: str) -> bool:
        """Tell whether a refusal is only recommended; of an unknown record, or another's, only its code is."""
        return self.stepper.recommended(clause) and not clause.endswith((".missing", ".private to"))

    def _again(self, left_out: Sequence[str]) -> Judge | None:
        """Judge all but the last event again, without some sentences; None where that is refuted."""
        compiled = self._compiled.without(left_out) if left_out else self._compiled
        other = Judge(compiled, self.stepper.declaration)
        lost = any(other._advance(event) is not None for event in self._past[:-1])
        self.unsure = self.unsure or other.unsure
        return None if lost else other

    def _carried_on(self, left_out: Sequence[str]) -> Judge | None:
        """The same, and the last event carried out whatever was seen."""
        other = self._again(left_out)
        event = self._past[-1]
        if other is not None:
            for call in _in_time(event):
                other.go_on(call)
        return other

    def _states(self) -> set[Any]:
        return {each.model.freeze() for each in self.configurations}

    def _go_on_with(self, loose: Judge, left_out: list[str], divergence: Divergence) -> None:
        """Go on as another judge, that has left out some sentences."""
        clause = next((path for path in left_out if path not in self._left_out), left_out[0])
        self._left_out = left_out
        known = [each for each in self._not_followed if each.clause in left_out]
        self._not_followed = [*known, replace(divergence, clause=clause, should=True)]
        self.stepper, self.configurations = loose.stepper, loose.configurations
        for each in self.configurations:
            each.model.seen = self.seen

    def _give_up(self, divergence: Divergence, clause: str) -> None:
        """Judge no further: nobody knows what else a system does that does not follow a recommended sentence."""
        excused = divergence.clause if divergence.clause != clause else ""
        finding = replace(divergence, clause=clause, should=True, excused=excused)
        self._not_followed = [*self._not_followed, finding]
        self.gave_up = True


def _in_time(event: Observed | Group) -> list[Observed]:
    """List calls in the order in which they ended."""
    return sorted(event.calls, key=lambda call: call.ended) if isinstance(event, Group) else [event]


def _distinct(configurations: Sequence[Configuration]) -> list[Configuration]:
    if len(configurations) == 1:
        return list(configurations)
    found: dict[Any, Configuration] = {}
    for each in configurations:
        found.setdefault((each.model.freeze(), each.standing, *vars(each.model.policies).values()), each)
    return list(found.values())
