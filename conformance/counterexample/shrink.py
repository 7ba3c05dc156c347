"""The shortest trace that still shows the same fault: the clause, kind and operation are the same.

The shrink passes drop an operation, a record's whole story, chunks of calls and single calls, and make what is left
simpler. A pass stays as long as it makes counterexamples of the faulty systems shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.counterexample.cutter import Cutter
from conformance.counterexample.play import Played
from conformance.counterexample.simpler import Simpler, joined, one_by_one
from statemachines.compile import Compiled
from statemachines.rows import AtOnce, Trace, shape, without

SMALL_GROUP = 8  # calls at once that are cut one by one from the start
COARSE = 16  # of so many parts of a long trace, each is tried before any call is looked at alone


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The shortest trace found, with what it shows, and how many tries it took."""

    played: Played
    tries: int


def shrink(compiled: Compiled, play: Callable[[Trace], Played], first: Played, seconds: float) -> Shrunk:
    """Return the shortest trace found in so many seconds; `play` tells what a trace shows, as `first` was shown."""
    assert first.finding is not None  # there is nothing to shrink otherwise
    key, simpler = first.finding.key, Simpler(compiled)

    def test(trace: Trace) -> tuple[Trace, Played] | None:
        played = play(trace)
        same = played.finding is not None and played.finding.key == key
        return (played.trace, played) if same else None

    cutter = Cutter(first.trace, first, test, seconds, shape)
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
        lambda: cutter.simplify(simpler.values),
        lambda: cutter.simplify(joined),
    )
    return Shrunk(cutter.shown, cutter.tries)


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
