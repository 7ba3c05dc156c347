"""The judge of a case: lockstep, and what a system may leave that is only recommended."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance import kernel_facts
from conformance.declaration import Declaration
from conformance.divergence import Divergence
from conformance.excuses import in_doubt, may_follow
from conformance.history import Group
from conformance.lockstep import Lockstep
from conformance.observed import Observed
from conformance.step import Configuration
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Watched


@dataclass(frozen=True, slots=True)
class _Beside:
    """Another judge of the same case: its model before the last event and after it, and what it witnessed."""

    before: BaseModel
    after: BaseModel
    witnessed: frozenset[str]


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
        self._read: set[str] = set()  # the choices that decided something
        self._uncertain = False  # not every way was looked at when the case was judged again

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
            _carry_on(self, event)
            return None
        self._past.append(event)
        divergence = self.advance(event)
        if divergence is None or self.capped:  # not everything was looked at: it need not be a fault
            return divergence
        return self._unless_recommended(divergence)

    def _unless_recommended(self, divergence: Divergence) -> Divergence | None:
        """Hold a divergence to be a finding of level SHOULD where it can follow from a recommended sentence.

        The case is judged again without such sentences. If it is explained then, the system does not follow them, and the
        case goes on from there. Or else nobody knows what such a system does: what is in doubt then is excused, whether
        the sentence was left out before or may be left out now.
        """
        clauses = (divergence.clause, *divergence.related)
        if divergence.kind == "accepted" and all(map(self._need_not_refuse, clauses)):
            self._give_up(divergence, divergence.clause)
            return None
        facts = kernel_facts.of(self._compiled)
        self._uncertain, self._read = False, set()
        strict = (
            self._beside(self._left_out) if facts.recommended_effects or facts.recommended_policies else None
        )
        if strict is None:
            return divergence
        at_work = self._at_work(strict.witnessed)
        for left_out, loose in self._others(at_work):
            if loose.advance(self._past[-1]) is None:
                self.unsure = self.unsure or loose.unsure
                self._go_on_with(loose, left_out, divergence)
                return None
            self._uncertain = self._uncertain or loose.capped
        self.unsure = self.unsure or self._uncertain
        for path in (each for each in (*at_work, *self._left_out) if each not in facts.exactly_undone):
            left_before = path in self._left_out
            other = self._beside(_toggled(self._left_out, path), refuted=left_before)
            named = not left_before and path in clauses
            if other is not None and (named or self._in_doubt(divergence, strict, other)):
                self._give_up(divergence, path)
                return None
        return divergence

    def _in_doubt(self, divergence: Divergence, strict: _Beside, other: _Beside) -> bool:
        """Tell whether a divergence is about what is not the same with a sentence and without it."""
        facts, source = kernel_facts.of(self._compiled), self._compiled.kernel
        before = in_doubt(source, strict.before, other.before)
        after = in_doubt(source, strict.after, other.after)
        if divergence.kind == "refused" and after - before:  # what the call would do is in doubt
            return True
        return may_follow(facts, divergence, self._past[-1], strict.before, other.before, before | after)

    def _at_work(self, witnessed: frozenset[str]) -> list[str]:
        """List what is recommended and plays a part: sentences that came to pass, and choices that were not declared."""
        facts, declared = kernel_facts.of(self._compiled), self.stepper.declaration.policies
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
            if not all(map(self._matters, left_out)) and left_out is not now:
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
            free: list[str] = []
            while True:
                before = free
                free = [
                    path for path in at_work if path not in left_out and _policy(path) and self._matters(path)
                ]
                if free == before:
                    break
                if self._choosing(judge, free).advance(event) is None:
                    yield from (
                        ([*left_out, *paths], self._choosing(judge, paths)) for paths in _subsets(free)
                    )

    def _matters(self, path: str) -> bool:
        """Tell whether a sentence may have mattered, or a choice, which something has read then."""
        return not _policy(path) or _policy(path) in self._read

    def _other_ways(self, at_work: Sequence[str]) -> Iterator[list[str]]:
        now = self._left_out
        yield from ([*now, path] for path in at_work)
        if now:
            yield from ([path] for path in (*at_work, *now) if [path] != now)
        sentences = [path for path in at_work if path in kernel_facts.of(self._compiled).recommended_effects]
        if len(sentences) > 1:
            yield [*now, *sentences]

    def _choosing(self, judge: Lockstep, paths: Sequence[str]) -> Lockstep:
        """Let some choices be any from now on."""
        other = Lockstep(judge.stepper.compiled, self.stepper.declaration)
        other.configurations = [
            Configuration(model, each.standing)
            for each in judge.configurations
            for model in other.stepper.choosing(each.model, list(map(_policy, paths)))
        ]
        other.seen[:] = judge.seen
        for each in other.configurations:
            each.model.seen = other.seen
        self._watch(other)
        return other

    def _watch(self, other: Lockstep) -> None:
        """Note from now on which choices are read."""
        for each in other.configurations:
            each.model.policies = Watched(vars(each.model.policies), self._read)

    def _need_not_refuse(self, clause: str) -> bool:
        """Tell whether a refusal is only recommended, and follows from no choice that was declared.

        Of an unknown record, or another's, only its code is.
        """
        chosen = kernel_facts.of(self._compiled).policies_of(clause)
        declared = any(name in self.stepper.declaration.policies for name in chosen)
        return (
            self.stepper.recommended(clause)
            and not declared
            and not clause.endswith((".missing", ".private to"))
        )

    def _again(self, left_out: Sequence[str], *, refuted: bool = False) -> Lockstep | None:
        """Judge all but the last event again, without some sentences; None where that is refuted.

        `refuted` goes on all the same, as that model would have it.
        """
        compiled = self._compiled.without(left_out) if left_out else self._compiled
        other = Lockstep(compiled, self.stepper.declaration)
        self._watch(other)
        for event in self._past[:-1]:
            diverges = other.advance(event) is not None
            self._uncertain = self._uncertain or other.capped
            if (diverges or other.capped) and not refuted:
                return None
            if diverges:
                _carry_on(other, event)
        return other

    def _beside(self, left_out: Sequence[str], *, refuted: bool = False) -> _Beside | None:
        """The same, and where the model stands before the last event and after it, whatever was seen of that."""
        other = self._again(left_out, refuted=refuted)
        if other is None:
            return None
        before = other.copy()
        _carry_on(other, self._past[-1])
        return _Beside(before, other.model, other.witnessed())

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


def _policy(path: str) -> str:
    """Name the policy that a path is of; an empty text where it is that of a sentence."""
    return path.removeprefix("policies.") if path.startswith("policies.") else ""


def _subsets(paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Walk what can be taken of some paths, the fewest first."""
    return itertools.chain.from_iterable(
        itertools.combinations(paths, count) for count in range(1, len(paths) + 1)
    )


def _states(judge: Lockstep) -> set[Any]:
    return {each.model.freeze() for each in judge.configurations}


def _toggled(left_out: Sequence[str], path: str) -> list[str]:
    """Leave out one sentence more, or one that was left out no more."""
    return [each for each in left_out if each != path] if path in left_out else [*left_out, path]


def _carry_on(judge: Lockstep, event: Observed | Group) -> None:
    for call in _in_time(event):
        judge.go_on(call)


def _in_time(event: Observed | Group) -> list[Observed]:
    """List calls in the order in which they ended."""
    return sorted(event.calls, key=lambda call: call.ended) if isinstance(event, Group) else [event]
