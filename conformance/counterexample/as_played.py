"""The calls of a counterexample as they were made, for a drawing: what each gave, and which of them are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from conformance.budget import Budget
from conformance.judge import Event, Finding, History, Lockstep, calls_of, comparable, longest, said, short
from conformance.system import Declaration
from conformance.verdict import NO_ANSWER, Made
from statemachines.compile import Compiled
from statemachines.model import Restless, Signal
from statemachines.rows import Observed

MOST_MADE, FIRST_MADE = 200, 40  # calls that are kept of a long story, and of these the first ones
LONGEST_CALL = 400  # characters of a call, and of a reply


def partly_explained(
    compiled: Compiled, declaration: Declaration, budget: Budget, events: Sequence[Event], deviating: Sequence[str] = ()
) -> tuple[int, ...]:
    """Return the places, among the calls made at once at the end, of the most that some order explains, in that order.

    There are no places where the events do not end so, or where what came before is not explained. `deviating` are
    clauses that the system need not keep.
    """
    if not events or not isinstance(events[-1], History):
        return ()
    lockstep = Lockstep(compiled.without(declaration.unsent), declaration, budget, deviating=deviating)
    try:
        if any(lockstep.advance(each) is not None for each in events[:-1]):
            return ()
        return max((longest(lockstep.stepper, each, events[-1]) for each in lockstep.decided()), key=len)
    except Restless:
        return ()


def as_played(events: Sequence[Event], finding: Finding | None, order: Sequence[int] = ()) -> tuple[Made, ...]:
    """Return the calls, with those marked that show a finding.

    order  of calls made at once at the end: the places of those that some order explains, in that order
    """
    found = [each for step, event in enumerate(events, 1) for each in _made(step, event)]
    if finding is not None and found:
        found = _marked(found, events, finding, order)
    return tuple([*found[:FIRST_MADE], *found[FIRST_MADE - MOST_MADE :]] if len(found) > MOST_MADE else found)


def _made(step: int, event: Event) -> Iterator[Made]:
    if not isinstance(event, History):
        yield _call(step, 0, event, event.signals)
        return
    last = len(event.calls) - 1
    callers = ((caller, call) for caller, calls in enumerate(event.callers) for call in calls)
    for place, (caller, call) in enumerate(callers):
        yield _call(step, caller, call, event.signals if place == last else ())


def _call(step: int, caller: int, call: Observed, signals: Sequence[Signal]) -> Made:
    arguments = ", ".join(f"{name}={short(value)}" for name, value in call.arguments.items())
    told = tuple(said(comparable(each)) for each in signals)
    return Made(step, _cut(f"{call.operation}({arguments})"), _gave(call), caller, told, call.began, call.ended)


def _gave(call: Observed) -> str:
    if call.refused is not None:
        return f"refused {_cut(call.refused)}"
    if call.is_open:
        return NO_ANSWER
    if call.malformed:
        return _cut(call.malformed)
    given = "" if call.given is None else _cut(short(call.given))
    return f"{given or 'nothing'} after {call.elapsed} ms" if call.elapsed else given


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_CALL else f"{text[: LONGEST_CALL - 1]}…"


def _marked(found: list[Made], events: Sequence[Event], finding: Finding, order: Sequence[int]) -> list[Made]:
    """Mark what is wrong: of calls made at once at the end those that no order explains, else the call of the finding."""
    last = events[-1]
    if isinstance(last, History):
        first = len(found) - len(last.calls)
        group = found[first:]
        if any(each.gave == NO_ANSWER for each in group):
            return [*found[:first], *(replace(each, wrong=each.gave == NO_ANSWER) for each in group)]
        places = {place: number for number, place in enumerate(order, 1)}
        placed = [replace(each, place=places.get(index, 0)) for index, each in enumerate(group)]
        return [*found[:first], *(replace(each, wrong=bool(order) and not each.place) for each in placed)]
    operations = [call.operation for event in events for call in calls_of(event)]
    called = [index for index, operation in enumerate(operations) if operation == finding.operation]
    wrong = called[-1] if called else len(found) - 1
    return [replace(each, wrong=index == wrong) for index, each in enumerate(found)]
