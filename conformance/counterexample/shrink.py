"""The shortest trace that still shows the same fault: the clause, kind, operation and part of the reply are the same.

Of calls at once that no order explains fewer may show it, be it of fewer operations, or one of them alone after others at once.

The passes drop an operation, a record's whole story, chunks of calls and single calls, and make what is left
simpler. A pass stays as long as it makes counterexamples of the faulty systems shorter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from conformance.budget import never
from conformance.counterexample.play import Played
from conformance.counterexample.simpler import Simpler
from statemachines.compile import Compiled
from statemachines.rows import AtOnce, Call, Step, Trace, callers_of, shape, with_argument, without

Steps = TypeVar("Steps", bound=Sized)
Shown = TypeVar("Shown")

SMALL_GROUP = 8  # calls at once that are cut one by one from the start
FIRST_TRIES = 30  # tries that are made although the time is over
PATIENCE, MOST_PATIENCE = 10, 30.0  # times the time, and seconds, in which they are made at most
COARSE = 16  # of so many parts of a long trace, each is tried before any call is looked at alone


@dataclass
class Cutter(Generic[Steps, Shown]):
    """Takes fewer or simpler steps as long as a test still shows the same; every pass goes on from the best so far.

    best    the steps that were kept last, at first all
    shown   what the test showed of them
    test    returns what is left of the steps that it is given and what they show; None where it is not the same
    until   nothing more is tried after that, by `time.monotonic`, but for the first few tries
    alike   returns what is equal of steps that need not be tried twice
    latest  when the first few tries end as well: of a system of which each call takes long some are made in any case
    late    whether the time of the whole run is used up: then they are made no longer than all others
    tries   how often the test was asked
    """

    best: Steps
    shown: Shown
    test: Callable[[Steps], tuple[Steps, Shown] | None]
    until: float
    alike: Callable[[Steps], Hashable]
    latest: float = 0.0
    late: Callable[[], bool] = never
    tries: int = 0
    _tried: set[Hashable] = field(default_factory=set)

    def keeps(self, candidate: Steps) -> bool:
        """Try a candidate, unless one like it was tried; keep it when it shows the same."""
        if not candidate or self._late() or (like := self.alike(candidate)) in self._tried:
            return False
        self._tried.add(like)
        self.tries += 1
        found = self.test(candidate)
        if found is not None:
            self.best, self.shown = found
        return found is not None

    def drop(
        self,
        parts: Callable[[Steps], Sequence[set[int]]],
        without: Callable[[Steps, set[int]], Steps],
        least: int = 1,
    ) -> None:
        """Drop as many parts as can go: half of them at once, then quarters, down to so few; the last ones first."""
        size = len(parts(self.best))
        while size >= max(least, 1):
            end = len(parts(self.best))
            while end > 0:
                left = parts(self.best)
                end = min(end, len(left))
                self.keeps(without(self.best, set().union(*left[max(end - size, 0) : end])))
                end -= size
            size //= 2

    def simplify(self, candidates: Callable[[Steps], Iterable[Steps]]) -> None:
        """Take one of the candidates that are made of the best steps, as long as one shows the same."""
        while not self._late() and any(map(self.keeps, candidates(self.best))):
            pass

    def repeat(self, *passes: Callable[[], None]) -> None:
        """Make the passes one after the other, until none of them finds anything better."""
        before: Steps | None = None
        while before is not self.best and not self._late():
            before = self.best
            for each in passes:
                each()

    def _late(self) -> bool:
        now = time.monotonic()
        return now > self.until and (self.tries >= FIRST_TRIES or now > self.latest or self.late())


def shrink(
    compiled: Compiled,
    play: Callable[[Trace], Played],
    first: Played,
    seconds: float,
    late: Callable[[], bool] = never,
) -> Cutter[Trace, Played]:
    """Find the shortest trace in so many seconds, and return it with what it shows, and in how many tries.

    `play` tells what a trace shows, as `first` was shown; `late`, whether the time of the whole run is used up.
    """
    assert first.finding is not None  # there is nothing to shrink otherwise
    wanted, simpler = [first.finding], Simpler(compiled)

    def test(trace: Trace) -> tuple[Trace, Played] | None:
        played = play(trace)
        found = played.finding
        if found is None:
            return None
        alone = found.is_seen_alone(wanted[0])  # beside no other call
        same = alone or found.shows(wanted) or found.is_race_within(wanted[0])
        return (played.trace, played) if same else None

    now = time.monotonic()
    latest = now + min(PATIENCE * seconds, max(seconds, MOST_PATIENCE))
    cutter = Cutter(first.trace, first, test, now + seconds, shape, latest, late)
    if beside := _beside_the_last(cutter.best):  # one try that often leaves little: of a slow system there are few
        cutter.keeps(without(cutter.best, beside))
    _groups(cutter)
    cutter.drop(_operations, without)
    cutter.drop(_calls, without, len(cutter.best) // COARSE)
    cutter.drop(_records, without, len(cutter.best) // COARSE)
    cutter.repeat(
        lambda: _groups(cutter),
        lambda: cutter.drop(_operations, without),
        lambda: cutter.drop(_all_but_last, without),
        lambda: cutter.simplify(simpler.first_record),
        lambda: cutter.drop(_records, without),
        lambda: cutter.drop(_calls, without),
        lambda: cutter.simplify(one_by_one),
        lambda: cutter.simplify(one_before),
        lambda: cutter.simplify(one_after),
        lambda: cutter.simplify(simpler.everywhere),
        lambda: cutter.simplify(simpler.values),
        lambda: cutter.simplify(simpler.left_out),
        lambda: cutter.simplify(joined),
        lambda: cutter.simplify(a_moment_later),
    )
    return cutter


def _beside_the_last(trace: Trace) -> set[int]:
    """Return the calls that are not about what the last call is about; none where it is about nothing that was created."""
    calls = list(trace.calls())
    about = calls[-1].refers() if calls else set()
    kept = {call.number for call in calls[-1:] if about}
    for call in reversed(calls):
        if kept and (call.number in {*about, *kept} or call.refers() & about):
            kept |= {call.number, *call.refers()}
    return {call.number for call in calls} - kept if kept else set()


def _operations(trace: Trace) -> list[set[int]]:
    """Return the calls of each operation, in the order of appearance."""
    found: dict[str, set[int]] = {}
    for call in trace.calls():
        found.setdefault(call.operation, set()).add(call.number)
    return list(found.values())


def _all_but_last(trace: Trace) -> list[set[int]]:
    """Return the calls of each operation but its last one: a fault that needs one look shows only without the others."""
    return [numbers - {max(numbers)} for numbers in _operations(trace) if len(numbers) > 1]


def _records(trace: Trace) -> list[set[int]]:
    """Return the calls whose replies others use: the whole story of what such a call created goes with it."""
    return [{number} for number in sorted({each for call in trace.calls() for each in call.refers()})]


def _calls(trace: Trace) -> list[set[int]]:
    return [{call.number} for call in trace.calls()]


def _groups(cutter: Cutter[Trace, Played]) -> None:
    """Try small groups of calls at once first: two callers with one call each, then twice as many of both."""
    for step in cutter.best.steps:
        if not isinstance(step, AtOnce) or len(step.calls()) <= SMALL_GROUP:
            continue
        every = {call.number for call in step.calls()}
        for callers in sorted({2, min(4, len(step.callers)), len(step.callers)}):
            size = 1
            while size < max(map(len, step.callers)):
                few = {call.number for caller in step.callers[:callers] for call in caller[:size]}
                if cutter.keeps(without(cutter.best, every - few)):
                    return
                size *= 2


# ── Simpler traces: no calls at once, one call for two ──


def one_by_one(trace: Trace) -> Iterator[Trace]:
    """Walk the traces in which one group of calls is made one after the other, each caller being the first."""
    for index, step in enumerate(trace.steps):
        callers = step.callers if isinstance(step, AtOnce) else ()
        for first in range(len(callers)):
            calls = AtOnce((*callers[first:], *callers[:first])).calls()
            yield Trace((*trace.steps[:index], *calls, *trace.steps[index + 1 :]))


def one_before(trace: Trace) -> Iterator[Trace]:
    """Walk the traces in which one caller of a group of three or more is done before the others begin."""
    for index, step in enumerate(trace.steps):
        callers = step.callers if isinstance(step, AtOnce) else ()
        for first in range(len(callers) if 2 < len(callers) <= SMALL_GROUP else 0):
            rest = AtOnce((*callers[:first], *callers[first + 1 :]))
            yield Trace((*trace.steps[:index], *AtOnce((callers[first],)).calls(), rest, *trace.steps[index + 1 :]))


def one_after(trace: Trace) -> Iterator[Trace]:
    """Walk the traces in which the last call of one caller comes when all of its group are over: what it sees is told without the others."""
    for index, step in enumerate(trace.steps):
        callers = step.callers if isinstance(step, AtOnce) and len(step.callers) <= SMALL_GROUP else ()
        for number, caller in enumerate(callers):
            if len(caller) > 1:
                group = AtOnce((*callers[:number], caller[:-1], *callers[number + 1 :]))
                yield Trace((*trace.steps[:index], group, caller[-1], *trace.steps[index + 1 :]))


def in_turn(trace: Trace) -> Iterator[Trace]:
    """Walk the traces without calls at once: of every group the callers come one after the other, each being the first."""
    most = max((len(step.callers) for step in trace.steps if isinstance(step, AtOnce)), default=0)
    for first in range(min(most, SMALL_GROUP)):
        steps: list[Step] = []
        for step in trace.steps:
            callers = callers_of(step)
            turn = first % len(callers)
            steps += AtOnce((*callers[turn:], *callers[:turn])).calls()
        yield Trace(tuple(steps))


def joined(trace: Trace) -> Iterator[Trace]:
    """Walk the traces in which one call says what two said: their lists in one, their times in one.

    It stands where the first of the two stood, or where the second did if it takes what was not there before. A wait stands in either.
    """
    earlier: dict[Any, Call] = {}
    places = {call.number: place for place, call in enumerate(trace.calls())}
    for second in (step for step in trace.steps if isinstance(step, Call)):
        summed = second.operation == "wait"
        adding = {name: value for name, value in second.arguments if summed or isinstance(value, tuple)}
        rest = tuple((name, None if name in adding else value) for name, value in second.arguments)
        first = earlier.get((second.operation, rest))
        earlier[second.operation, rest] = second
        if first is not None and adding:
            early = all(places[each] < places[first.number] for each in second.refers())
            ways = [(first, second), (second, first)] if summed else [(first, second) if early else (second, first)]
            for kept, gone in ways:
                wider = without(trace, {gone.number})
                for name, value in adding.items():
                    wider = with_argument(wider, kept.number, name, dict(first.arguments)[name] + value)
                yield wider


def a_moment_later(trace: Trace) -> Iterator[Trace]:
    """Walk the traces in which a wait takes a millisecond more, and another call is left out.

    At the very instant of a timer nobody knows whether it has fired; what showed that it had need not be asked beyond it.
    """
    calls = trace.calls()
    for wait, longer in _longer(trace):
        for call in calls[:-1]:
            if call is not wait:
                yield without(longer, {call.number})


def each_wait_longer(trace: Trace) -> Iterator[Trace]:
    """Walk the traces in which a wait takes a millisecond more: what was at the very instant of a timer comes after it then."""
    yield from (longer for _, longer in _longer(trace))


def _longer(trace: Trace) -> Iterator[tuple[Call, Trace]]:
    """Walk the waits, each with the trace in which it takes a millisecond more."""
    for wait in (call for call in trace.calls() if call.operation == "wait"):
        yield wait, with_argument(trace, wait.number, "ms", dict(wait.arguments)["ms"] + 1)
