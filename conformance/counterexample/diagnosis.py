"""What a system seems to do that shows a fault: the sentence that it breaks, which need not be that of the call that shows it.

One idea: the shortest calls are made again, and everything is looked at after each of them. So it is known after which call
something is wrong, and which sentences were at work there. A mistake in one of these that explains all that was seen, of the calls and
of every look, tells in words what the system does; or else the sentence is named that sets what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from conformance.counterexample.blame import Turn, blamed, is_about, of_messages
from conformance.counterexample.looks import every_look
from conformance.counterexample.play import Played, Player, play
from conformance.counterexample.text import named
from conformance.judge import CallFailed, Case, Event, Lockstep, calls_of, kernel_facts, short
from conformance.stand_ins import model_system
from conformance.targets import open_system
from conformance.verdict import Diagnosis
from statemachines.compile import Compiled
from statemachines.model import Impossible, Restless
from statemachines.mutants import IN_PLACE, LEFT_OUT, Mutant, mutants
from statemachines.rows import AtOnce, Observed, RowFailure, Trace, without

LOOKS_BACK = 6  # the last calls after which everything is looked at
SHORT = 12  # calls of a counterexample of which each is known to be needed
MOST_LIKELY = 2  # mistakes that are told where each explains all
MOST_TRIED_CALLS = 20_000  # calls, in all the mistakes that are tried: a count, so that a busy machine says the same
_BY_CHANCE = ("one way", "other field")  # what explains few calls because two values happen to be the same in them
_SHOWN = ("reply", "accepted", "refused", "signal")  # the kinds of finding that a mistake in a sentence explains


class _Taken(NamedTuple):
    """A call as it was made, with the clauses that were at work in it, and what was seen afterwards."""

    event: Event
    at_work: frozenset[str]
    looks: tuple[Observed, ...]


def diagnosed(case: Case, best: Played, ids: Mapping[str, str]) -> Diagnosis | None:
    """Return what a system seems to do that shows the finding of the shortest calls; None where the finding says all that is known.

    `ids` are those of the calls by the names that the row has for them.
    """
    found = _diagnosed(case, best)
    return found and replace(found, words=named(found.words, {value: name for name, value in ids.items()}))


def _diagnosed(case: Case, best: Played) -> Diagnosis | None:
    finding = best.finding
    if finding is None or finding.kind not in _SHOWN or any(isinstance(step, AtOnce) for step in best.trace.steps):
        return None
    observes = kernel_facts.of(case.compiled).observes
    # Where it takes a look to show it, looks change what is seen.
    if any(observes(call.operation) for call in best.trace.calls()[:-1]):
        return None
    looks = _can_look(case)
    evidence = _Evidence(case, best.given, _looked_at(case, best.trace) if looks else _as_made(case, best.made))
    turn = evidence.turn()
    if turn is None:
        return None
    blame = blamed(evidence.compiled, turn)
    caused = bool(finding.spoke_of) and evidence.is_explained_by(evidence.compiled.without([finding.clause]))
    loose = caused and evidence.is_loose_without(finding.clause)
    # A mistake about messages shows in many replies, each of which has a sentence that a mistake in it would explain as well.
    others = [*of_messages(evidence.compiled.kernel, turn), *blame]
    suspects = [*([finding.clause] if caused else []), *(others if loose or not caused else [])]
    for clause in dict.fromkeys(suspects):
        fitting = [mutant for mutant, compiled in evidence.fitting(clause) if not _shows_sooner(case, best, compiled)]
        if words := _in_words(fitting, evidence.is_loose_without(clause)):
            return Diagnosis(clause, words)
    if caused and not loose:
        return Diagnosis(finding.clause, "without it all that was seen is right")
    passed = isinstance(turn.event, Observed) and turn.event.operation == "wait"
    clause = next(iter(blame), "" if passed else finding.clause)
    if not looks or (clause == finding.clause and turn.is_end):  # that is what the finding says
        return None
    shows = turn.is_last or is_about(evidence.compiled, turn, finding)
    return Diagnosis(clause, _since(evidence.compiled, turn), explains=False) if shows else None


def _shows_sooner(case: Case, best: Played, mistaken: Compiled) -> bool:
    """Return whether a mistake would show the finding without one of the shortest calls: it is not what this system does then."""
    calls = best.trace.calls()
    if len(calls) > SHORT or best.finding is None:
        return False
    declared = {"limits": case.adapter.declaration.limits, "policies": case.adapter.declaration.policies}
    with closing(open_system(case.compiled, model_system(mistaken, declared))) as adapter:
        for call in calls[:-1]:
            shorter = without(best.trace, {call.number})
            if shorter.calls()[-1:] != calls[-1:]:
                continue
            played = play(case.compiled, adapter, shorter, case.seed, case.budget, [best.finding])
            if played.finding is not None and played.finding.shows([best.finding]):
                return True
    return False


def _can_look(case: Case) -> bool:
    """Return whether more can be asked: where calls take long nobody asks, and what comes later a look would come too early for."""
    declaration = case.adapter.declaration
    return not (case.adapter.costly or declaration.settles or declaration.clock == "real")


def _since(compiled: Compiled, turn: Turn) -> str:
    """Say since when something is wrong: as far as somebody looked before."""
    told = _told(compiled, turn.event) if isinstance(turn.event, Observed) else ""
    return (
        f"all was right until `{told}` was called" if turn.was_right else f"wrong since `{told}` was called, or before"
    )


def _told(compiled: Compiled, call: Observed) -> str:
    """Write a call: its arguments in their order, and by name those behind one that was left out."""
    operation = next((each for each in compiled.kernel.operations if each.name == call.operation), None)
    names = [each.name for each in operation.parameters] if operation is not None else [*call.arguments]
    given = [name for name in names if name in call.arguments]
    first = next((place for place, name in enumerate(names) if name not in call.arguments), len(names))
    parts = (
        short(call.arguments[name]) if place < first else f"{name}={short(call.arguments[name])}"
        for place, name in enumerate(given)
    )
    return f"{call.operation}({', '.join(parts)})"


class _Evidence:
    """What a system showed, to be judged by one model after another: `given` are other clauses that it does not follow either."""

    def __init__(self, case: Case, given: Sequence[str], made: Sequence[_Taken]) -> None:
        self._declaration, self._budget, self._given = case.adapter.declaration, case.budget, given
        unsent = self._declaration.unsent
        self.compiled = case.compiled.without(unsent) if unsent else case.compiled
        self._made, self._judged = made, 0
        self._observes = kernel_facts.of(self.compiled).observes

    def turn(self) -> Turn | None:
        """Return the first call after which something is wrong; None where nothing is."""
        lockstep = self._lockstep(self.compiled)
        changing = [at for at, each in enumerate(self._made) if not self._only_looks(each.event)]
        last = 0
        try:
            for at, each in enumerate(self._made):
                last = at if at in changing else last
                own = lockstep.advance(each.event)
                if own is not None:
                    lockstep.go_on(each.event)
                seen = [(look, lockstep.advance(look)) for look in each.looks]
                findings = [found for found in (own, *(found for _, found in seen)) if found is not None]
                if findings:
                    right = tuple(look for look, found in seen if found is None)
                    turning, before = self._made[last], [each for each in changing if each < last]
                    was_right = not before or bool(self._made[before[-1]].looks)
                    is_last = last in changing[-1:]
                    is_end = last == len(self._made) - 1
                    earlier = frozenset(call.operation for each in self._made[:last] for call in calls_of(each.event))
                    return Turn(
                        turning.event, turning.at_work, tuple(findings), right, is_last, was_right, is_end, earlier
                    )
        except Restless:
            return None
        return None

    def fitting(self, clause: str) -> Iterator[tuple[Mutant, Compiled]]:
        """Walk the mistakes in a sentence that explain all that was seen, as long as not too much was judged."""
        for mutant, compiled in _mistakes(self.compiled).get(clause, ()):
            if self._judged > MOST_TRIED_CALLS:
                return
            if self.is_explained_by(compiled):
                yield mutant, compiled

    def is_explained_by(self, compiled: Compiled) -> bool:
        """Return whether all that was seen is right by another model."""
        lockstep = self._lockstep(compiled)
        events = (event for each in self._made for event in (each.event, *each.looks))
        try:
            for event in events:
                self._judged += 1
                if lockstep.advance(event) is not None or lockstep.capped:
                    return False
        except Restless:
            return False
        return True

    def is_loose_without(self, clause: str) -> bool:
        """Return whether without a clause something may come at any time, which explains nearly all."""
        return clause in kernel_facts.of(self.compiled).at_any_time

    def _lockstep(self, compiled: Compiled) -> Lockstep:
        return Lockstep(compiled, self._declaration, self._budget, deviating=self._given)

    def _only_looks(self, event: Event) -> bool:
        return isinstance(event, Observed) and self._observes(event.operation)


def _looked_at(case: Case, trace: Trace) -> list[_Taken]:
    """Make calls on a fresh system, unjudged, and look at everything after each of the last ones."""
    again = Case(case.compiled, case.adapter, case.seed, case.budget)
    again.judge.gave_up = True
    player, lockstep = Player(again), again.judge.lockstep
    observes = kernel_facts.of(case.compiled).observes
    changing = [index for index, call in enumerate(trace.calls()) if not observes(call.operation)]
    found: list[_Taken] = []
    for index, step in enumerate(trace.steps):
        lockstep.seen[:] = bytes(len(lockstep.seen))
        try:
            player.take(step)
        except (CallFailed, RowFailure):
            break
        at_work, event = lockstep.model.witnessed() | _due_now(lockstep), again.trace[-1]
        looks = list(_looks(again)) if index in changing[-LOOKS_BACK:] else []
        answered = [each for each in looks if each is not None and not each.malformed]
        found.append(_Taken(event, at_work, tuple(answered)))
        if len(answered) < len(looks):
            break
    return found


def _as_made(case: Case, events: Sequence[Event]) -> list[_Taken]:
    """Return calls as they were made, with the clauses that are at work in each as the model has it."""
    lockstep = Lockstep(case.compiled, case.adapter.declaration, case.budget)
    found: list[_Taken] = []
    for event in events:
        lockstep.seen[:] = bytes(len(lockstep.seen))
        lockstep.go_on(event)
        found.append(_Taken(event, lockstep.model.witnessed() | _due_now(lockstep), ()))
    return found


def _due_now(lockstep: Lockstep) -> frozenset[str]:
    """Return the clauses of what may come at this instant, but need not have: a timer may fire at it, or as time moves on."""
    model = lockstep.model.fork()
    model.seen = bytearray(len(lockstep.seen))
    try:
        model.wait(0, prompt=True)
        model.settle()
    except (Impossible, Restless):
        return frozenset()
    return model.witnessed()


def _looks(case: Case) -> Iterator[Observed | None]:
    """Ask every observer; the last is None where one gave no proper answer, after which nobody asks more."""
    for operation, arguments in list(every_look(case)):
        if case.adapter.offers(operation) and not case.judge.lockstep.avoids(operation, arguments):
            try:
                look = case.call(operation, arguments)
            except CallFailed:
                look = None
            yield look
            if look is None or look.malformed:
                return


def _in_words(fitting: Sequence[Mutant], loose: bool) -> str:
    """Say what explains all that was seen; an empty text where nothing does that says something.

    That a sentence is left out, but where much may come without it: that would explain nearly all. Else the mistakes, rather those
    that have words of their own than another limit.
    """
    ways = list(dict.fromkeys(each.does for each in fitting if each.operator != LEFT_OUT))
    if len(ways) < len(fitting) and not loose:
        return "is not done"
    plain = [each for each in ways if IN_PLACE not in each] or ways[:1]
    return ", or ".join(plain[:MOST_LIKELY])


@lru_cache(maxsize=16)
def _mistakes(compiled: Compiled) -> dict[str, list[tuple[Mutant, Compiled]]]:
    """Return the mistakes of a life cycle that may be told, by the clause that they break, each as a model."""
    found: dict[str, list[tuple[Mutant, Compiled]]] = {}
    for mutant in mutants(compiled.kernel):
        by_chance = mutant.operator in _BY_CHANCE and not mutant.clause.endswith(".retain")
        if by_chance or "policies." in mutant.does:  # another choice of a policy is told as such
            continue
        found.setdefault(mutant.clause, []).append((mutant, replace(compiled, kernel=mutant.kernel, lacking=True)))
    return found
