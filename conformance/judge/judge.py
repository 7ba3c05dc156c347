"""The judge of a case: lockstep, and what explains a divergence: a clause left out, or a choice not followed.

One idea: the ways in which a case is judged again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.budget import USUAL, Budget
from conformance.judge import kernel_facts
from conformance.judge.deviation import in_doubt, may_follow
from conformance.judge.finding import Finding
from conformance.judge.history import History
from conformance.judge.lockstep import Lockstep
from conformance.system import Declaration
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Restless, Watched
from statemachines.rows import Observed

MOST_DEVIATIONS = 4  # of one case: each doubles what is followed side by side


@dataclass(frozen=True, slots=True)
class _Beside:
    """Another judge of the same case: its model before the last event and after it, and what it witnessed."""

    before: BaseModel
    after: BaseModel
    witnessed: frozenset[str]


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

    lockstep  the model that is followed now: without what the system does not follow
    gave_up   what comes is not judged any more; the model goes on as it would
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
        self._compiled = compiled
        self._declaration = declaration
        self._facts = kernel_facts.of(compiled)
        self.deviations: list[Finding] = []
        self._suspicion = suspicion
        self._past: list[Observed | History] = []
        self._left_out: list[str] = []  # what the system does not follow, of what is recommended
        self._not_followed: list[Finding] = []  # what each of them came of
        self._read: set[str] = set()  # the choices that decided something
        self._told: frozenset[int] | None = None  # what replies told of the instants at which the system did something
        self._uncertain = False  # not every way was looked at when the case was judged again

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
        return [*self._not_followed, *self.lockstep.stepper.findings]

    def allows(self, call: Observed) -> bool:
        """Return whether a call could be explained, without taking it as made; it witnesses nothing."""
        return self.gave_up or self.lockstep.allows(call)

    def has_to_answer(self, operation: str) -> bool:
        """Return whether an operation has to answer now, whatever it is.

        Who does not follow a recommended sentence may stand where the spec leaves open what an operation does.
        """
        return not (self._facts.leaves_open(operation) and (self.gave_up or self._left_out))

    def step(self, event: Observed | History) -> Finding | None:
        """Judge a call, or calls that were made at once."""
        if self.gave_up:
            self.lockstep.go_on(event)
            return None
        self._past.append(event)
        finding = self.lockstep.advance(event)
        if finding is None or self.lockstep.capped:  # not everything was looked at: it need not be a fault
            return finding
        if self._explained_by_instants(event):
            return None
        suspicion = self._suspicion
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

    @property
    def _guess(self) -> Finding | None:
        """An explanation that what comes may contradict: one clause has to explain both then, or it is taken back.

        It is one by a clause that the finding itself does not speak of: that it speaks of is broken, whatever comes.
        """
        certain = self._suspicion.certain
        return next((each for each in self.deviations if each.guessed and each.clause not in certain), None)

    @property
    def deviating(self) -> list[str]:
        """The clauses of level MUST that the system does not follow, as far as this case has shown."""
        return [each.clause for each in self.deviations]

    def _is_explained_without(self, finding: Finding, paths: Iterable[str]) -> bool:
        """Hold a finding to be one of the clause without which what was seen is explained; the case goes on without it."""
        known = {*self.deviating, *self._left_out}
        may_be = [path for path in dict.fromkeys(paths) if path in self._facts.leavable and path not in known]
        most = self.lockstep.budget.explain_calls // len(self._past) if len(self.deviations) < MOST_DEVIATIONS else 0
        for path in may_be[:most]:
            loose = self._explained_without(path)
            if loose is not None:
                self.deviations.append(finding.explained_without(path))
                self._take_over(loose)
                return True
        return False

    def _explained_without(self, path: str) -> Lockstep | None:
        """Judge the case again where the system need not do what a clause says; None where that explains no more."""
        try:
            loose = self._again(self._left_out, deviating=[*self.deviating, path])
            explained = loose is not None and loose.advance(self._past[-1]) is None and not loose.capped
        except Restless:
            return None
        return loose if explained else None

    def _leavable(self, finding: Finding, *, only_spoken_of: bool = False) -> list[str]:
        """List clauses that may have been left out: those that the finding speaks of, those at work now, then before.

        What calls at once showed is explained by a clause that it speaks of, or by a signal that is not sent, or it is a
        fault of its own: their orders are too many to look for another explanation of each.
        """
        event, spoken_of = self._past[-1], [finding.clause, *finding.related]
        before, now = self.lockstep.witnessed(), self._following(event)
        signals = sorted(path for path in now if ".signal." in path)
        if only_spoken_of:
            return spoken_of
        if isinstance(event, History):
            return [*spoken_of, *signals]
        return [*spoken_of, *signals, *sorted(now - before), *sorted(now)]

    def _following(self, event: Observed | History) -> frozenset[str]:
        """Return the clauses that have come to pass when the model goes on as it would."""
        model = self.lockstep.model.fork()
        model.seen[:] = self.lockstep.seen
        for call in sorted(event.calls if isinstance(event, History) else (event,), key=lambda call: call.ended):
            self.lockstep.stepper.follow(model, call)
        return model.witnessed()

    def _explained_by_instants(self, event: Observed | History) -> bool:
        """Judge the case again, as replies told at which instants things were done that nothing told of at the time."""
        stepper = self.lockstep.stepper
        if not self._facts.chooses_instants or self.lockstep.blind:
            return False
        calls = itertools.chain(*(each.calls if isinstance(each, History) else (each,) for each in self._past))
        told = frozenset(instant for call in calls for instant in stepper.instants(call))
        if told == self._told:
            return False
        self._told, self._uncertain = told, False
        other = self._again(self._left_out)
        explained = other is not None and other.advance(event) is None
        self.lockstep.unsure = self.lockstep.unsure or self._uncertain or (other is not None and other.capped)
        if other is not None and explained:
            self._take_over(other)
        return explained

    def _unless_recommended(self, finding: Finding) -> Finding | None:
        """Hold a finding to be of level SHOULD where it can follow from a recommended sentence.

        The case is judged again without such sentences. If it is explained then, the system does not follow them, and the
        case goes on from there. Or else nobody knows what such a system does: what is in doubt then is excused, whether
        the sentence was left out before or may be left out now.
        """
        clauses, facts = (finding.clause, *finding.related), self._facts
        self._uncertain, self._read = False, set()
        recommended = facts.recommended_effects or facts.recommended_policies
        strict = self._beside(self._left_out) if recommended else None
        at_work = self._at_work(strict.witnessed) if strict is not None else []
        for left_out, loose in self._others(at_work) if strict is not None else ():
            if loose.advance(self._past[-1]) is None:
                self._go_on_with(loose, left_out, finding)
                return None
            self._uncertain = self._uncertain or loose.capped
        if finding.kind == "accepted" and all(map(self._need_not_refuse, clauses)):
            self._give_up(finding, finding.clause)
            return None
        if strict is None:
            return finding
        self.lockstep.unsure = self.lockstep.unsure or self._uncertain
        for path in (each for each in (*at_work, *self._left_out) if each not in facts.exactly_undone):
            left_before = path in self._left_out
            left_out = [each for each in self._left_out if each != path] if left_before else [*self._left_out, path]
            other = self._beside(left_out, refuted=left_before)
            named = not left_before and path in clauses
            if other is not None and (named or self._in_doubt(finding, strict, other)):
                self._give_up(finding, path)
                return None
        return finding

    def _in_doubt(self, finding: Finding, strict: _Beside, other: _Beside) -> bool:
        """Return whether a finding is about what is not the same with a sentence and without it."""
        source = self._compiled.kernel
        before = in_doubt(source, strict.before, other.before)
        after = in_doubt(source, strict.after, other.after)
        if finding.kind == "refused" and after - before:  # what the call would do is in doubt
            return True
        return may_follow(self.lockstep.stepper, finding, self._past[-1], strict.before, other.before, before | after)

    def _at_work(self, witnessed: frozenset[str]) -> list[str]:
        """List what is recommended and plays a part: sentences that came to pass, and choices that were not declared."""
        facts, declared = self._facts, self._declaration.policies
        sentences = [path for path in facts.recommended_effects if path in witnessed]
        choices = [path for path in facts.recommended_policies if _policy(path) not in declared]
        return [path for path in (*sentences, *choices) if path not in self._left_out]

    def _others(self, at_work: Sequence[str]) -> Iterator[tuple[list[str], Lockstep]]:
        """Walk judges of the case so far without something that is recommended, each with what it leaves out.

        One thing more than now, another one instead, or all sentences; then several choices, of which one may have
        mattered before, and the others matter from now on. A choice that nothing has read cannot have mattered.
        """
        now, event = self._left_out, self._past[-1]
        bases: list[tuple[list[str], Lockstep]] = []
        for left_out in [now, *self._other_ways(at_work)]:
            if left_out is not now and any(_policy(path) not in ("", *self._read) for path in left_out):
                continue
            judge = self._again(left_out)
            if judge is None:
                continue
            if left_out is now:
                judge.advance(event)  # what it reads
            else:
                yield left_out, judge
            if not bases or (_policy(left_out[-1]) and _states(judge) != _states(bases[0][1])):
                bases.append((left_out, judge))
        for left_out, judge in bases:
            tried: list[str] = []
            while free := [path for path in at_work if path not in left_out and _policy(path) in self._read]:
                if free == tried:
                    break
                tried = free
                if self._choosing(judge, free).advance(event) is None:
                    for paths in _subsets(free):
                        yield [*left_out, *paths], self._choosing(judge, paths)

    def _other_ways(self, at_work: Sequence[str]) -> Iterator[list[str]]:
        now = self._left_out
        yield from ([*now, path] for path in at_work)
        if now:
            yield from ([path] for path in (*at_work, *now) if [path] != now)
        sentences = [path for path in at_work if path in self._facts.recommended_effects]
        if len(sentences) > 1:
            yield [*now, *sentences]

    def _choosing(self, judge: Lockstep, paths: Sequence[str]) -> Lockstep:
        """Let some choices be any from now on."""
        other = judge.choosing(list(map(_policy, paths)))
        self._watch(other)
        return other

    def _watch(self, other: Lockstep) -> None:
        """Note from now on which choices are read."""
        for each in other.configurations:
            each.model.policies = Watched(vars(each.model.policies), self._read)

    def _need_not_refuse(self, clause: str) -> bool:
        """Return whether a refusal is only recommended, and follows from no choice that was declared.

        Of an unknown record, or another's, only its code is.
        """
        chosen = self._facts.policies_of(clause)
        declared = any(name in self._declaration.policies for name in chosen)
        return self._facts.recommended(clause) and not declared and not clause.endswith((".missing", ".private to"))

    def _again(
        self, left_out: Sequence[str], *, refuted: bool = False, deviating: Sequence[str] | None = None
    ) -> Lockstep | None:
        """Judge all but the last event again, without some sentences; None where that is refuted.

        `refuted` goes on all the same, as that model would have it.
        """
        compiled = self._compiled.without(left_out) if left_out else self._compiled
        deviating = self.deviating if deviating is None else deviating
        other = Lockstep(compiled, self._declaration, self.lockstep.budget, self._told, deviating)
        self._watch(other)
        for event in self._past[:-1]:
            diverges = other.advance(event) is not None
            self._uncertain = self._uncertain or other.capped
            if (diverges or other.capped) and not refuted:
                return None
            if diverges:
                other.go_on(event)
        return other

    def _beside(self, left_out: Sequence[str], *, refuted: bool = False) -> _Beside | None:
        """Return the same, and where the model stands before the last event and after it, whatever was seen of that."""
        other = self._again(left_out, refuted=refuted)
        if other is None:
            return None
        before = other.model.fork()
        other.go_on(self._past[-1])
        return _Beside(before, other.model, other.witnessed())

    def _go_on_with(self, loose: Lockstep, left_out: list[str], finding: Finding) -> None:
        """Go on as another judge, that has left out some sentences."""
        clause = next((path for path in left_out if path not in self._left_out), left_out[0])
        self._left_out = left_out
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


def _policy(path: str) -> str:
    """Name the policy that a path is of; an empty text where it is that of a sentence."""
    return path.removeprefix("policies.") if path.startswith("policies.") else ""


def _subsets(paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Walk what can be taken of some paths, the fewest first."""
    return itertools.chain.from_iterable(itertools.combinations(paths, count) for count in range(1, len(paths) + 1))


def _states(judge: Lockstep) -> set[Any]:
    return {each.model.freeze() for each in judge.configurations}
