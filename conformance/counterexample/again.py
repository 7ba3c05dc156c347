"""A case played again: what a shorter trace of it shows, whether that shows what is wanted, and how it is written as a row."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from conformance.budget import never
from conformance.counterexample.play import NOTHING, Played, play, symbolic
from conformance.counterexample.shrink import each_wait_longer, in_turn, shrink
from conformance.counterexample.text import Claim, Written, as_row
from conformance.judge import Case, Finding, kernel_facts
from statemachines.checks import holds
from statemachines.rows import AtOnce, Trace, otherwise, without

_CLAIMS: Final[tuple[Claim, ...]] = ("in any order", "not as seen")


@dataclass(frozen=True)
class Again:
    """Plays traces of a case again, to see one of the findings that are wanted: whatever else comes shows nothing.

    rounds    the schedules under which a trace is tried
    left_out  the clauses that the case showed to be left out
    beside    the other clauses that may be left out on the way; None where any may
    others    faults that are shown elsewhere: a race of fewer operations that is one of them shows nothing
    by_any    any clause may explain the shortest trace in the end: a long search has tried them on far more than that
    late      whether the time of the whole run is used up
    """

    case: Case
    wanted: Sequence[Finding]
    rounds: int
    left_out: Sequence[str]
    beside: Collection[str] | None = None
    others: Sequence[Finding] = ()
    by_any: bool = False
    late: Callable[[], bool] = never

    @property
    def hangs(self) -> bool:
        """Whether a call that does not come back is what is wanted."""
        return any(each.kind == "hang" for each in self.wanted)

    def once(self, trace: Trace, seed: int) -> Played:
        """Play a trace under one schedule."""
        played = self._played(trace, seed)
        return played if played.finding is not None and self._shows_again(played.finding, trace) else NOTHING

    def _shows_again(self, finding: Finding, trace: Trace) -> bool:
        """Return whether it is one of those that are wanted; where a state was seen in place of another one, that state again."""
        states = kernel_facts.of(self.case.compiled).states
        if any(finding.shows([each]) and finding.sees_as(each, states) for each in self.wanted):
            return True
        # What earlier calls at once have broken need not be seen beside another call.
        alone = any(map(finding.is_seen_alone, self.wanted)) and any(isinstance(step, AtOnce) for step in trace.steps)
        return (alone or any(map(finding.is_race_within, self.wanted))) and not finding.shows(self.others)

    def attempt(self, trace: Trace, seconds: float | None = None, tries: int | None = None) -> Played:
        """Play a trace until it shows: under so many schedules at most, for so long."""
        end = time.monotonic() + (self.case.budget.attempt_seconds if seconds is None else seconds)
        played = NOTHING
        for number in range(self.rounds if tries is None else tries):
            played = self.once(trace, self.case.seed + number)
            if played.finding is not None or time.monotonic() > end:
                break
        return played

    def reproduced(self, trace: Trace, enough: int) -> tuple[int, int]:
        """Count in how many of how many schedules a trace shows it: in so many, or more until it does once.

        Of a trace that takes long there are as many as the time allows.
        """
        budget, began, hits, number = self.case.budget, time.monotonic(), 0, 0
        while number < budget.more_reproductions * self.rounds:
            hits += self.once(trace, number).finding is not None
            number += 1
            spent = time.monotonic() - began
            if hits >= enough or (hits and (number >= self.rounds or spent > budget.reproduce_seconds)):
                break
            if spent > budget.more_reproductions * budget.reproduce_seconds:
                break
        return hits, number

    def confirmed(self, first: Played, best: Played) -> tuple[Played, int, int]:
        """Return the shortest, or the first where that is surer, and in how many of how many rounds it showed."""
        case, enough = self.case, 2 if self.hangs else self.rounds
        hits, rounds = self.reproduced(best.trace, enough)
        if not hits:  # what was called a hang was only slow, or it takes what was left out
            return first, *self.reproduced(first.trace, enough=1)
        sure = hits < rounds and self.rounds == 1  # what was left out may have made it so
        if sure and all(self.once(first.trace, case.seed).finding for _ in range(case.budget.confirmations)):
            return first, 1, 1
        return best, hits, rounds

    def first(self) -> Played:
        """Play again what the case recorded: without what the kit only looked at, or else with it."""
        budget, case = self.case.budget, self.case
        played = NOTHING
        for made in (case.without_looks, case.trace)[: 2 if case.looks else 1]:
            recorded = symbolic(case.compiled, made)
            played = self.attempt(recorded, budget.reproduce_seconds, budget.more_reproductions * self.rounds)
            if played.finding is not None:
                break
        return played

    def alone(self, shown: Played) -> Played:
        """Return what shows it beside fewer other clauses that are left out, if that is found.

        Sought is it without the calls that say yes or no to one thing, and with the other word in each of them.
        """
        calls = shown.trace.calls()
        said = [(call.operation, *each) for call in calls for each in call.arguments if isinstance(each[1], bool)]
        for operation, name, value in dict.fromkeys(said) if shown.given else ():
            alike = {each.number for each in calls if each.operation == operation and (name, value) in each.arguments}
            for trace in (otherwise(shown.trace, alike, name), without(shown.trace, alike)):
                played = self.attempt(trace)
                if played.finding is not None and {*played.given} < {*shown.given}:
                    return self.alone(played)
        return shown

    def shortest(self, first: Played) -> Played:
        """Return the shortest trace that is found in the time that there is, and what it shows."""
        budget = self.case.budget
        seconds = budget.shrink_seconds if self.rounds == 1 else budget.shrink_seconds_at_once
        return shrink(self.case.compiled, self.attempt, first, seconds, self.late).shown

    def one_caller(self, shown: Played, until: float) -> tuple[Again, Played]:
        """Return how one caller shows it, if one does: what is wrong in some order is no fault of calls at once.

        It is not tried for longer than `until`, by `time.monotonic`: it will be again when the trace is shorter.
        """
        for trace in in_turn(shown.trace):
            if time.monotonic() > until:
                break
            played = self._played(trace, self.case.seed)
            if played.finding is not None and any(map(played.finding.is_of, self.wanted)):
                return replace(self, wanted=[played.finding], rounds=1), played
        return self, shown

    def unexplained(self) -> Again:
        """Look for the same findings, where no clause left out explains them."""
        wanted = [each.unexplained if each.spoke_of else each for each in self.wanted]
        certain = [each.clause for each in self.case.judge.deviations if not each.guessed and each not in self.wanted]
        return replace(self, wanted=wanted, left_out=certain)

    def contradicts(self, best: Played) -> bool:
        """Return whether looking at everything contradicts what explained a counterexample."""
        if best.finding is None or not best.finding.spoke_of:
            return False
        if any(isinstance(step, AtOnce) for step in best.trace.steps):
            return False
        case = self.case
        return self._play(best.trace, case.seed, looking=True).contradicted

    def with_its_cause(self, best: Played) -> Played:
        """Return what a short trace shows with the clause that explains it when left out, if one does, and no look contradicts.

        A long case need not have been explained so, as what came before kept its clause from explaining it: a system need not do
        everywhere what it does there. What was explained among calls at once may not be where one caller shows it.
        """
        case, finding = self.case, best.finding
        if finding is None or self.rounds > 1 or self.hangs or case.adapter.costly:
            return best
        if finding.spoke_of:
            plain = self.unexplained().once(best.trace, case.seed) if self.contradicts(best) else NOTHING
            return best if plain.finding is None else plain
        freely = play(case.compiled, case.adapter, best.trace, case.seed, case.budget, looking=True)
        caused = freely.finding
        if caused is None or freely.contradicted or not (self.by_any or caused.clause in case.judge.suspicion.clauses):
            return best
        same = (caused.spoke_of, caused.part, caused.should) == (finding.clause, finding.part, finding.should)
        return freely if same else best

    def in_words(self, best: Played) -> tuple[Played, Written]:
        """Return what a trace shows and its row: a little later, where at the very instant of a timer it can claim nothing."""
        written, case = self._written(best), self.case
        if written.claims or self.rounds > 1 or self.hangs or case.adapter.costly or case.adapter.declaration.runs_on:
            return best, written
        for trace in each_wait_longer(best.trace):
            played = NOTHING if self.late() else self.once(trace, case.seed)
            if played.finding is not None:
                played = self.with_its_cause(played)
                if (again := self._written(played)).claims:
                    return played, again
        return best, written

    def _written(self, best: Played) -> Written:
        """Write what a trace shows as a row that a right system keeps: one may do something else as well."""
        case, finding = self.case, best.finding
        if finding is not None and all(each.should for each in self.wanted):
            best = replace(best, finding=replace(finding, should=True))
        declaration = case.adapter.declaration
        for claim in _CLAIMS:
            written = as_row(case.compiled, best, claim=claim)
            if holds(case.compiled, written.text, declaration.limits, declaration.policies):
                return written
        return as_row(case.compiled, best, claim="none", runs_on=declaration.runs_on)

    def _play(self, trace: Trace, seed: int, *, looking: bool = False) -> Played:
        case, left_out = self.case, self.left_out
        adapter, budget = case.adapter, case.budget
        return play(case.compiled, adapter, trace, seed, budget, self.wanted, left_out=left_out, looking=looking)

    def _played(self, trace: Trace, seed: int) -> Played:
        """Play a trace: of a fault, what is only a finding of level SHOULD shows nothing, nor does what shows beside another fault."""
        played = self._play(trace, seed)
        must = any(not each.should for each in self.wanted)
        if self.beside is not None and not set(played.given) <= {*self.beside}:
            return NOTHING
        return NOTHING if must and played.finding is not None and played.finding.should else played
