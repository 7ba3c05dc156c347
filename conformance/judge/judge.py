"""The judge of a case: lockstep, and what explains a divergence: a clause left out, or a choice not followed.

One idea: what is held of a divergence.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.budget import USUAL, Budget
from conformance.judge import kernel_facts
from conformance.judge.deviation import may_follow
from conformance.judge.finding import BESIDE, Finding
from conformance.judge.history import Event, History, calls_of
from conformance.judge.lockstep import Lockstep
from conformance.judge.past import Past
from conformance.system import Declaration
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Restless
from statemachines.rows import WAIT, Observed

MOST_DEVIATIONS = 4  # of one case: each doubles what is followed side by side


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What is suspected of a system before a case begins.

    clauses  that it leaves out; they are tried before any other
    certain  those of them that nothing contradicts any more: what they explain is not laid to a recommended sentence
    only     no other clause is tried, and these only for what no recommended sentence explains
    plain    what has been looked at before, and no clause left out explained it
    """

    clauses: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    only: bool = False
    plain: tuple[Finding, ...] = ()


NONE = Suspicion()


class Judge:
    """Follows one case: `step` returns a finding, or None, and those of level SHOULD gather in `findings`.

    What is explained where one clause is left out, and by nothing else, is a finding of that clause: those of level MUST
    gather in `deviations`, and the case goes on with that clause left out. A finding that `step` returns is explained by
    no such clause.

    A system need not do what a sentence of level SHOULD says. Where what it showed does not tell whether it did, and that
    makes a difference, a finding is no fault, and the case is judged no further.

    suspicion what was suspected of the system before the case began
    lockstep  the model that is followed now: without what the system does not follow
    gave_up   what comes is not judged any more; the model goes on as it would
    astray    an operation of calls at once, if any, that came to where the spec leaves open what it does: which of them came first
              nobody knows, and so none of what comes
    """

    def __init__(
        self,
        compiled: Compiled,
        declaration: Declaration,
        budget: Budget = USUAL,
        suspicion: Suspicion = NONE,
    ) -> None:
        compiled = compiled.without(declaration.unsent) if declaration.unsent else compiled
        self.lockstep = Lockstep(compiled, declaration, budget)
        self.gave_up = False
        self.astray = ""
        self._declaration = declaration
        self._facts = kernel_facts.of(compiled)
        self.suspicion = suspicion
        self._past = Past(compiled, declaration, budget)
        self._not_followed: list[Finding] = []  # what came of each thing that is recommended and left out

    @property
    def model(self) -> BaseModel:
        """The model of the first explanation."""
        return self.lockstep.model

    @property
    def unsure(self) -> bool:
        """Whether a finding need not be a fault: not everything can be seen, or not every way was looked at."""
        return self.lockstep.unsure

    @property
    def findings(self) -> list[Finding]:
        """What only clauses of level SHOULD forbid."""
        return [*self._not_followed, *self.lockstep.noted]

    def allows(self, call: Observed) -> bool:
        """Return whether a call could be explained, without taking it as made; it witnesses nothing."""
        return self.gave_up or self.lockstep.allows(call)

    def awaits(self, call: Observed) -> bool:
        """Return whether more may come of a call by some explanation, without taking it as made; it witnesses nothing."""
        return not self.gave_up and self.lockstep.awaits(call)

    def has_to_answer(self, operation: str, arguments: Mapping[str, Any] | None = None) -> bool:
        """Return whether an operation has to answer now, whatever it is, or all of some that are called at once.

        Who does not follow a recommended sentence may stand where the spec leaves open what an operation does: also if
        nothing has told so far that it is not followed, which is asked where the `arguments` are known.
        """
        if not any(map(self._facts.leaves_open, operation.split(BESIDE))):
            return True
        if self.gave_up or self._past.left_out:
            return False
        past = self._past
        if arguments is None or not past.events:
            return True
        for path in past.at_work(self.lockstep.witnessed()):
            other = past.again([path])
            if other is not None and past.explained(other, past.event) is None and other.avoids(operation, arguments):
                return False
        return True

    def step(self, event: Event) -> Finding | None:
        """Judge a call, or calls that were made at once."""
        if self.gave_up:
            self.lockstep.go_on(event)
            return None
        self._past.events.append(event)
        finding = self.lockstep.advance(event)
        if isinstance(event, History) and self.lockstep.astray:
            self.astray = self.lockstep.astray
            self.gave_up = True
            return None
        if finding is None or self.lockstep.capped:  # not everything was looked at: it need not be a fault
            return finding
        if self._explained_by_instants(event):
            return None
        suspicion = self.suspicion
        if not suspicion.only and self._is_explained_without(finding, suspicion.certain):
            return None
        unexplained = self._unless_recommended(finding)
        if unexplained is None or self.unsure:
            return unexplained
        if self._is_explained_without(finding, suspicion.clauses):
            return None
        known = suspicion.only or finding.shows(suspicion.plain)
        guess = self._guess
        if not known and self._is_explained_without(finding, self._leavable(finding, only_spoken_of=guess is not None)):
            return None
        if guess is None:
            return unexplained
        self.deviations.remove(guess)
        first = guess.unexplained
        explained = not known and self._is_explained_without(first, self._leavable(finding))
        return None if explained else first

    def hangs_on_time(self) -> bool:
        """Return whether only the time that passed beside `wait` explains what was seen: by a clock that runs on."""
        return self._declaration.runs_on and not self._past.holds_still()

    @property
    def _guess(self) -> Finding | None:
        """An explanation that what comes may contradict: one clause has to explain both then, or it is taken back.

        It is one by a clause that the finding itself does not speak of: that it speaks of is broken, whatever comes.
        """
        certain = self.suspicion.certain
        return next((each for each in self.deviations if each.guessed and each.clause not in certain), None)

    @property
    def deviations(self) -> list[Finding]:
        """A finding for each clause of level MUST that the system does not follow, as far as this case has shown."""
        return self._past.deviations

    @property
    def deviating(self) -> list[str]:
        """The clauses of these."""
        return self._past.deviating

    def given(self, finding: Finding | None) -> tuple[str, ...]:
        """Return the other clauses that the system does not follow, without which a finding was judged."""
        before = itertools.takewhile(lambda each: each is not finding, self.deviations)
        others = [each.clause for each in (*self.findings, *before)]
        return tuple(dict.fromkeys(each for each in others if finding is None or each != finding.clause))

    def _is_explained_without(self, finding: Finding, paths: Iterable[str]) -> bool:
        """Hold a finding to be one of the clause without which what was seen is explained; the case goes on without it."""
        known = {*self.deviating, *self._past.left_out}
        may_be = [path for path in dict.fromkeys(paths) if path in self._facts.leavable and path not in known]
        most = self._past.steps + self.lockstep.budget.explain_steps
        for path in may_be if len(self.deviations) < MOST_DEVIATIONS else ():
            half = (self._past.steps + most) // 2  # of what is left: the one that is meant may come last
            if self._past.steps < most and (loose := self._explained_without(path, half)) is not None:
                self.deviations.append(finding.explained_without(path))
                self._take_over(loose)
                return True
        return False

    def _explained_without(self, path: str, until: int) -> Lockstep | None:
        """Judge the case again where the system need not do what a clause says; None where that explains no more, or so many steps are made."""
        try:
            loose = self._past.again(self._past.left_out, deviating=[*self.deviating, path], until=until)
            if loose is None:
                return None
            loose.stepper.open_explains = self._leaves_open
            explained = self._past.explained(loose, self._past.event) is None and not loose.capped
        except Restless:
            return None
        loose.stepper.open_explains = True
        return loose if explained else None

    @property
    def _leaves_open(self) -> bool:
        """Whether the spec leaves open what some of the calls do that have to be explained."""
        calls = (call for call in calls_of(self._past.event) if call.operation != WAIT)
        return any(self.lockstep.decision(call.operation, call.arguments).idle for call in calls)

    def _leavable(self, finding: Finding, *, only_spoken_of: bool = False) -> list[str]:
        """List clauses that may have been left out: those that the finding speaks of, those at work now, then before, then any of time.

        What calls at once showed is explained by a clause that it speaks of, by a signal that is not sent, by a timer or a retention,
        or by a wait that nothing ends, or it is a fault of its own: their orders are too many to look for another explanation
        of each.
        """
        event, spoken_of = self._past.event, [finding.clause, *finding.related]
        before, now = self.lockstep.witnessed(), self._following(event)
        signals = sorted(path for path in now if ".signal." in path)
        if only_spoken_of:
            return spoken_of
        if isinstance(event, History):
            waits = [wait.clause for call in event.calls if (wait := self._facts.wait(call.operation)) is not None]
            return [*spoken_of, *signals, *self._facts.at_any_time, *waits]
        return [*spoken_of, *signals, *sorted(now - before), *sorted(now), *self._facts.at_any_time]

    def _following(self, event: Event) -> frozenset[str]:
        """Return the clauses that have come to pass when the model goes on as it would."""
        model = self.lockstep.model.fork()
        model.seen[:] = self.lockstep.seen
        for call in sorted(calls_of(event), key=lambda call: call.ended):
            self.lockstep.stepper.follow(model, call)
        return model.witnessed()

    def _explained_by_instants(self, event: Event) -> bool:
        """Judge the case again, as replies told at which instants things were done that nothing told of at the time."""
        stepper = self.lockstep.stepper
        if not self._facts.chooses_instants or self.lockstep.blind:
            return False
        told = frozenset(instant for call in self._past.calls for instant in stepper.instants(call))
        if told == self._past.told:
            return False
        self._past.told, self._past.uncertain = told, False
        other = self._past.again(self._past.left_out)
        explained = other is not None and other.advance(event) is None
        self.lockstep.unsure = self.lockstep.unsure or self._past.uncertain or (other is not None and other.capped)
        if other is not None and explained:
            self._take_over(other)
        return explained

    def _unless_recommended(self, finding: Finding) -> Finding | None:
        """Hold a finding to be of level SHOULD where it can follow from a recommended sentence.

        The case is judged again without such sentences. If it is explained then, the system does not follow them, and the
        case goes on from there. Or else nobody knows what such a system does: what is in doubt then is excused, whether
        the sentence was left out before or may be left out now.
        """
        clauses, facts, past = (finding.clause, *finding.related), self._facts, self._past
        past.uncertain, past.read = False, set()
        recommended = facts.recommended_effects or facts.recommended_policies
        strict = past.beside(past.left_out) if recommended else None
        at_work = past.at_work(strict.witnessed) if strict is not None else []
        for left_out, loose in past.others(at_work) if strict is not None else ():
            if loose.advance(past.event) is None:
                self._go_on_with(loose, left_out, finding)
                return None
            past.uncertain = past.uncertain or loose.capped
        if finding.kind == "accepted" and all(map(self._need_not_refuse, clauses)):
            self._give_up(finding, finding.clause)
            return None
        if strict is None:
            return finding
        self.lockstep.unsure = self.lockstep.unsure or past.uncertain
        for path in (each for each in (*at_work, *past.left_out) if each not in facts.exactly_undone):
            left_before = path in past.left_out
            left_out = [each for each in past.left_out if each != path] if left_before else [*past.left_out, path]
            other = past.beside(left_out, refuted=left_before)
            named = not left_before and path in clauses
            if other is not None and (named or may_follow(self.lockstep.stepper, finding, past.event, strict, other)):
                self._give_up(finding, path)
                return None
        return finding

    def _need_not_refuse(self, clause: str) -> bool:
        """Return whether a refusal is only recommended, and follows from no choice that was declared.

        Of an unknown record, or another's, only its code is.
        """
        chosen = self._facts.policies_of(clause)
        declared = any(name in self._declaration.policies for name in chosen)
        return self._facts.recommended(clause) and not declared and not clause.endswith((".missing", ".private to"))

    def _go_on_with(self, loose: Lockstep, left_out: list[str], finding: Finding) -> None:
        """Go on as another judge, that has left out some sentences."""
        clause = next((path for path in left_out if path not in self._past.left_out), left_out[0])
        self._past.left_out = left_out
        known = [each for each in self._not_followed if each.clause in left_out]
        self._not_followed = [*known, replace(finding.explained_without(clause), should=True)]
        self._take_over(loose)

    def _take_over(self, other: Lockstep) -> None:
        """Go on as another judge of the same case; what was witnessed stays so."""
        other.seen[:] = bytes(map(max, self.lockstep.seen, other.seen))
        other.unsure = other.unsure or self.lockstep.unsure
        self.lockstep = other

    def _give_up(self, finding: Finding, clause: str) -> None:
        """Judge no further: nobody knows what else a system does that does not follow a recommended sentence."""
        excused = finding.clause if finding.clause != clause else ""
        excusable = replace(finding, clause=clause, should=True, excused=excused)
        self._not_followed = [*self._not_followed, excusable]
        self.gave_up = True
