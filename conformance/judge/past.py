"""A case judged again: without some sentences, with another choice, or by what replies have told since."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.budget import Budget
from conformance.judge import kernel_facts
from conformance.judge.finding import Finding
from conformance.judge.history import Event, calls_of, held_still
from conformance.judge.lockstep import Lockstep
from conformance.system import Declaration
from statemachines.compile import Compiled
from statemachines.model import BaseModel, Watched
from statemachines.rows import Observed


@dataclass(frozen=True, slots=True)
class Beside:
    """The model of a case that was judged again: before the last event and after it, and what it witnessed."""

    before: BaseModel
    after: BaseModel
    witnessed: frozenset[str]


class Past:
    """What was seen of one case, to be judged again; the last event is the one that has to be explained.

    left_out    what the system does not follow, of what is recommended: sentences, and policies as paths
    deviations  a finding for each clause of level MUST that it does not follow
    told        what replies told of the instants at which it did something; None where nobody has asked
    read        the policies that decided something
    uncertain   not every way was looked at
    steps       what it has cost to judge calls again: for each the configurations that were looked at, those that steps of the
                system's own lead to included, and the steps of a search for the order of calls at once
    """

    def __init__(self, compiled: Compiled, declaration: Declaration, budget: Budget) -> None:
        self._compiled = compiled
        self._declaration = declaration
        self._budget = budget
        self._facts = kernel_facts.of(compiled)
        self.events: list[Event] = []
        self.left_out: list[str] = []
        self.deviations: list[Finding] = []
        self.told: frozenset[int] | None = None
        self.read: set[str] = set()
        self.uncertain = False
        self.steps = 0

    @property
    def event(self) -> Event:
        """The last event."""
        return self.events[-1]

    @property
    def calls(self) -> list[Observed]:
        """All calls of the case, those made at once included."""
        return [call for event in self.events for call in calls_of(event)]

    @property
    def deviating(self) -> list[str]:
        """The clauses of level MUST that the system does not follow."""
        return [each.clause for each in self.deviations]

    def at_work(self, witnessed: frozenset[str]) -> list[str]:
        """List what is recommended and plays a part: sentences that came to pass, and choices that were not declared."""
        facts, declared = self._facts, self._declaration.policies
        sentences = [path for path in facts.recommended_effects if path in witnessed]
        choices = [path for path in facts.recommended_policies if _policy(path) not in declared]
        return [path for path in (*sentences, *choices) if path not in self.left_out]

    def again(
        self,
        left_out: Sequence[str],
        *,
        refuted: bool = False,
        deviating: Sequence[str] | None = None,
        until: float = math.inf,
    ) -> Lockstep | None:
        """Judge all but the last event again, without some sentences; None where that is refuted, or `until` so many `steps` are made.

        The event at which that many are made is judged to its end. `refuted` goes on all the same, as that model would have it.
        """
        compiled = self._compiled.without(left_out) if left_out else self._compiled
        deviating = self.deviating if deviating is None else deviating
        other = Lockstep(compiled, self._declaration, self._budget, self.told, deviating)
        other.stepper.most_nodes = self._budget.explain_steps
        self._watch(other)
        for event in self.events[:-1]:
            diverges = self.explained(other, event) is not None
            self.uncertain = self.uncertain or other.capped
            if self.steps > until or ((diverges or other.capped) and not refuted):
                return None
            if diverges:
                other.go_on(event)
        return other

    def explained(self, other: Lockstep, event: Event) -> Finding | None:
        """Judge an event of the case again; take note of what that costs."""
        self.steps -= other.stepper.nodes
        try:
            return other.advance(event)
        finally:
            self.steps += other.stepper.nodes + other.cost

    def holds_still(self) -> bool:
        """Return whether all of it is explained, too, where no time passes but in `wait`."""
        compiled = self._compiled.without(self.left_out) if self.left_out else self._compiled
        other = Lockstep(compiled, self._declaration, self._budget, self.told, self.deviating)
        return all(other.advance(held_still(event)) is None for event in self.events)

    def beside(self, left_out: Sequence[str], *, refuted: bool = False) -> Beside | None:
        """Judge the case again; return where the model stands before the last event and after it, whatever was seen of that."""
        other = self.again(left_out, refuted=refuted)
        if other is None:
            return None
        before = other.model.fork()
        other.go_on(self.event)
        return Beside(before, other.model, other.witnessed())

    def others(self, at_work: Sequence[str]) -> Iterator[tuple[list[str], Lockstep]]:
        """Walk judges of the case so far without something that is recommended, each with what it leaves out.

        One thing more than now, another one instead, or all sentences; then several choices, of which one may have
        mattered before, and the others matter from now on. A choice that nothing has read cannot have mattered.
        """
        now, event = self.left_out, self.event
        bases: list[tuple[list[str], Lockstep]] = []
        for left_out in [now, *self._other_ways(at_work)]:
            if left_out is not now and any(_policy(path) not in ("", *self.read) for path in left_out):
                continue
            judge = self.again(left_out)
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
            while (free := [path for path in at_work if path not in left_out and _policy(path) in self.read]) != tried:
                tried = free
                if self._choosing(judge, free).advance(event) is None:
                    for paths in _subsets(free):
                        yield [*left_out, *paths], self._choosing(judge, paths)

    def _other_ways(self, at_work: Sequence[str]) -> Iterator[list[str]]:
        now = self.left_out
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
        other.configurations = other.decided()
        for each in other.configurations:
            each.model.policies = Watched(vars(each.model.policies), self.read)


def _policy(path: str) -> str:
    """Name the policy that a path is of; an empty text where it is that of a sentence."""
    return path.removeprefix("policies.") if path.startswith("policies.") else ""


def _subsets(paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Walk what can be taken of some paths, the fewest first."""
    return itertools.chain.from_iterable(itertools.combinations(paths, count) for count in range(1, len(paths) + 1))


def _states(judge: Lockstep) -> set[Any]:
    return {each.model.freeze() for each in judge.configurations}
