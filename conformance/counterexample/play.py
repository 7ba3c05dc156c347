"""Playing a trace on a fresh system, judged, and the trace of what a case made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from conformance.budget import USUAL, Budget
from conformance.counterexample.looks import contradicted
from conformance.judge import CallFailed, Case, Event, Finding, History, Suspicion, endless, kernel_facts
from conformance.system import Adapter
from statemachines import rows
from statemachines.compile import Compiled
from statemachines.rows import AtOnce, Call, Given, Observed, RowFailure, Step, Trace, callers_of, filled


def symbolic(compiled: Compiled, made: Sequence[Observed | History]) -> Trace:
    """Return the trace of what a case made."""
    return rows.symbolic(compiled.kernel, (each.callers if isinstance(each, History) else each for each in made))


@dataclass(frozen=True, slots=True)
class Played:
    """What came of playing a trace: the finding, if there was one, and the calls up to it.

    `origins` tells for every id that the system chose which reply it came from; `transcript` what was said meanwhile.
    `contradicted`: looking at everything afterwards shows that more than the clause of the finding is left out. `made` are
    the calls with what came of them. `given` are the other clauses that the system did not follow on the way.
    """

    finding: Finding | None
    trace: Trace
    overlaps: int = 0
    origins: tuple[tuple[str, Given], ...] = ()
    transcript: tuple[str, ...] = ()
    contradicted: bool = False
    made: tuple[Event, ...] = ()
    given: tuple[str, ...] = ()


NOTHING = Played(None, Trace(()))
"""What a trace shows that goes astray."""


def play(
    compiled: Compiled,
    adapter: Adapter,
    trace: Trace,
    seed: int = 0,
    budget: Budget = USUAL,
    wanted: Sequence[Finding] = (),
    *,
    left_out: Sequence[str] = (),
    looking: bool = False,
    strictly: bool = False,
) -> Played:
    """Play a trace on a fresh system, judged, up to the first finding, or the first that is wanted; astray it shows nothing.

    Of several findings that a recommendation forbids it is one of the wanted, if one is there. Clauses that are known to
    be left out are no findings then. `strictly`: nobody wants to know which clause explains a finding when it is left out.
    """
    suspects = (*(each.clause for each in wanted), *left_out)
    suspicion = Suspicion(suspects, certain=suspects, only=strictly or bool(wanted))
    case = Case(compiled, adapter, seed, budget, suspicion)
    player = Player(case)
    at_once = any(isinstance(step, AtOnce) for step in trace.steps)
    for index, step in enumerate(trace.steps):
        try:
            player.take(step)
        except (CallFailed, RowFailure):
            if case.finding is None:
                return NOTHING
        if case.astray or (case.finding is not None and case.judge.unsure and not at_once):
            return NOTHING
        shown = [each for each in case.judge.deviations if not wanted or each.shows(wanted)]
        shown += [case.finding] if case.finding is not None else []
        if shown:
            played = player.played(shown[0], Trace(trace.steps[: index + 1]))
            asked = looking and bool(shown[0].spoke_of) and case.finding is None
            return replace(played, contradicted=contradicted(case, shown[0])) if asked else played
        if case.judge.lockstep.capped and not at_once:  # what follows, nobody could judge, and it would take long
            break
    findings = sorted(case.judge.findings, key=lambda each: not each.shows(wanted))
    if case.judge.lockstep.capped and not (findings or at_once):
        return NOTHING
    return player.played(next(iter(findings), None), trace)


class Player:
    """Makes the calls of a trace, filling in what earlier replies gave."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._replies: dict[int, Observed] = {}

    def played(self, finding: Finding | None, trace: Trace) -> Played:
        """Say what came of it, and of the ids in the replies so far which reply each came from first."""
        case, facts = self._case, kernel_facts.of(self._case.compiled)
        origins: dict[str, Given] = {}
        for number, reply in sorted(self._replies.items()):
            for field, value in facts.ids(reply).items():
                origins.setdefault(value, Given(number, field))
        known, given = tuple(origins.items()), case.judge.given(finding)
        said = case.adapter.transcript()
        return Played(finding, trace, case.overlaps, known, said, made=tuple(case.trace), given=given)

    def take(self, step: Step) -> None:
        if self._waits(step):
            raise RowFailure("a call waits for what no other does")
        if isinstance(step, AtOnce):
            self._case.together([partial(self._make, caller) for caller in step.callers])
        else:
            self._make((step,))

    def _waits(self, step: Step) -> bool:
        """Return whether a call may wait for ever: it is not made then, as that would be nobody's fault."""
        callers = callers_of(step)
        if not any(kernel_facts.of(self._case.compiled).blocks(call.operation) for call in chain(*callers)):
            return False
        return self._case.finding is None and endless(self._case.judge.lockstep, callers, self._replies)

    def _arguments(self, call: Call) -> dict[str, Any]:
        return {name: filled(value, self._replies) for name, value in call.arguments}

    def _make(self, calls: Sequence[Call]) -> None:
        for call in calls:
            self._replies[call.number] = self._case.call(call.operation, self._arguments(call))
