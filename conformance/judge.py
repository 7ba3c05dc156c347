"""The judge of a case: lockstep, and what a system may leave that is only recommended."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from conformance import kernel_facts
from conformance.declaration import Declaration
from conformance.divergence import Divergence
from conformance.history import Group
from conformance.lockstep import Lockstep
from conformance.observed import Observed
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Outcome


class Judge(Lockstep):
    """Follows one case. `step` and `group` give a divergence, or None; SHOULD findings gather in `findings`.

    A system need not do what a sentence of level SHOULD says. Where what it showed does not tell whether it did, and that
    makes a difference, a divergence is no fault, and the case is judged no further.

    gave_up  what comes is not judged any more; the model goes on as it would
    """

    def __init__(self, compiled: Compiled, declaration: Declaration) -> None:
        super().__init__(compiled, declaration)
        self.gave_up = False
        self._compiled = compiled
        self._past: list[Observed | Group] = []
        self._left_out: list[str] = []  # what the system does not follow, of what is recommended
        self._not_followed: list[Divergence] = []  # what each of them came of

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
        return self.gave_up or super().allows(call)

    def _follow(self, event: Observed | Group) -> Divergence | None:
        if self.gave_up:
            for call in _in_time(event):
                self.go_on(call)
            return None
        self._past.append(event)
        divergence = self.advance(event)
        if divergence is None or self.capped:  # not everything was looked at: it need not be a fault
            return divergence
        return self._unless_recommended(divergence)

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
        recommended = facts.recommended_effects or facts.recommended_policies
        strict = self._carried_on(self._left_out) if recommended else None
        if strict is None:
            return divergence
        at_work = self._at_work(strict.witnessed())
        for left_out in self._other_choices(at_work):
            loose = self._again(left_out)
            if loose is not None and self._makes_no_difference(loose):
                continue
            explained = loose is not None and loose.advance(self._past[-1]) is None
            self.unsure = self.unsure or (loose is not None and loose.unsure)
            if loose is not None and explained:
                self._go_on_with(loose, left_out, divergence)
                return None
        for path in (each for each in at_work if each not in facts.exactly_undone):
            other = self._carried_on([*self._left_out, path])
            differs = other is not None and (path in clauses or _states(other) != _states(strict))
            if differs or path == divergence.clause:
                self._give_up(divergence, path)
                return None
        for path in (each for each in self._left_out if each not in facts.exactly_undone):
            if self._matters(path):
                self._give_up(divergence, path)
                return None
        return divergence

    def _at_work(self, witnessed: frozenset[str]) -> list[str]:
        """List what is recommended and plays a part: sentences that came to pass, and choices that were not declared."""
        facts, declared = kernel_facts.of(self._compiled), self.stepper.declaration.policies
        sentences = [path for path in facts.recommended_effects if path in witnessed]
        choices = [
            path for path in facts.recommended_policies if path.removeprefix("policies.") not in declared
        ]
        return [path for path in (*sentences, *choices) if path not in self._left_out]

    def _other_choices(self, at_work: Sequence[str]) -> Iterator[list[str]]:
        """Walk what is to be left out: one thing more than now, another one instead, two choices, or all sentences.

        Not all choices: every combination of them would be held.
        """
        now = self._left_out
        choices = [path for path in at_work if path in kernel_facts.of(self._compiled).recommended_policies]
        yield from ([*now, path] for path in at_work)
        if now:
            yield from ([path] for path in (*at_work, *now) if [path] != now)
        sentences = [path for path in at_work if path not in choices]
        if len(sentences) > 1:
            yield [*now, *sentences]
        yield from ([*now, *two] for two in itertools.combinations(choices, 2))

    def _need_not_refuse(self, clause: str) -> bool:
        """Tell whether a refusal is only recommended; of an unknown record, or another's, only its code is."""
        return self.stepper.recommended(clause) and not clause.endswith((".missing", ".private to"))

    def _again(self, left_out: Sequence[str]) -> Lockstep | None:
        """Judge all but the last event again, without some sentences; None where that is refuted."""
        compiled = self._compiled.without(left_out) if left_out else self._compiled
        other = Lockstep(compiled, self.stepper.declaration)
        lost = any(other.capped or other.advance(event) is not None for event in self._past[:-1])
        self.unsure = self.unsure or other.unsure
        return None if lost else other

    def _carried_on(self, left_out: Sequence[str]) -> Lockstep | None:
        """The same, and the last event carried out whatever was seen."""
        other = self._again(left_out)
        event = self._past[-1]
        if other is not None:
            for call in _in_time(event):
                other.go_on(call)
        return other

    def _matters(self, path: str) -> bool:
        """Tell whether a sentence that is left out makes a difference to what is expected now."""
        kept = [each for each in self._left_out if each != path]
        follows = Lockstep(self._compiled.without(kept), self.stepper.declaration)
        for event in self._past[:-1]:
            if follows.advance(event) is not None:
                for call in _in_time(event):
                    follows.go_on(call)
        event = self._past[-1]
        return (
            isinstance(event, Group) or _expected(self.model, event)[0] != _expected(follows.model, event)[0]
        )

    def _makes_no_difference(self, loose: Lockstep) -> bool:
        """Tell whether another judge stands where this one does, and expects the same of the last event."""
        event = self._past[-1]
        if isinstance(event, Group):
            return False
        ours, others = _outlook(self, event), _outlook(loose, event)
        return all(each in ours for each in others)

    def _go_on_with(self, loose: Lockstep, left_out: list[str], divergence: Divergence) -> None:
        """Go on as another judge, that has left out some sentences."""
        clause = next((path for path in left_out if path not in self._left_out), left_out[0])
        self._left_out = left_out
        known = [each for each in self._not_followed if each.clause in left_out]
        self._not_followed = [*known, replace(divergence, clause=clause, should=True)]
        self.seen[:] = bytes(map(max, self.seen, loose.seen))
        self.stepper, self.configurations = loose.stepper, loose.configurations
        for each in self.configurations:
            each.model.seen = self.seen

    def _give_up(self, divergence: Divergence, clause: str) -> None:
        """Judge no further: nobody knows what else a system does that does not follow a recommended sentence."""
        excused = divergence.clause if divergence.clause != clause else ""
        finding = replace(divergence, clause=clause, should=True, excused=excused)
        self._not_followed = [*self._not_followed, finding]
        self.gave_up = True


def _expected(model: BaseModel, call: Observed) -> tuple[Any, Any]:
    """Give what a call would be answered now and the signals that would come; and what may follow then."""
    other = model.thawed(model.freeze())
    other.seen = bytearray(len(model.seen))  # nothing of it has come to pass
    if call.operation == "wait":
        came: list[Outcome] = other.wait(call.arguments["ms"])
        return [each.signals for each in came], (other.freeze(), other.own_steps())
    decision = getattr(other, f"may_{call.operation}")(**call.arguments)
    if not decision.accept:
        return decision.refuse, None
    outcome: Outcome = getattr(other, f"do_{call.operation}")(**call.arguments)
    signals = [each.signals for each in (outcome, *other.settle())]
    return (outcome.value, signals), (other.freeze(), other.own_steps())


def _outlook(judge: Lockstep, call: Observed) -> list[Any]:
    """List where a judge stands, and what it expects of a call; each once."""
    found: list[Any] = []
    for model in (each.model for each in judge.configurations):
        seen = model.freeze(), model.own_steps(), _expected(model, call)
        if seen not in found:
            found.append(seen)
    return found


def _states(judge: Lockstep) -> set[Any]:
    return {each.model.freeze() for each in judge.configurations}


def _in_time(event: Observed | Group) -> list[Observed]:
    """List calls in the order in which they ended."""
    return sorted(event.calls, key=lambda call: call.ended) if isinstance(event, Group) else [event]
