"""The shortest trace that still shows the same fault, found by cutting in terms of jobs.

Whole jobs go first, then stretches of calls, then single calls; what is left gets its simplest
arguments. The model decides what stays a legal case, so no try is wasted on nonsense. The same fault
is the same clause, kind and operation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance import kernel_facts
from conformance.other_forms import OtherForms
from conformance.trace import AtOnce, Played, Trace, cut, shape
from statemachines.compile import Compiled

FEW = 8  # calls at once that are cut one by one from the start
SHORT = 12  # calls of a trace that is worth a search for two changes at once
Play = Callable[[Trace], Played]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The shortest trace found, what it shows, and how many tries it took."""

    trace: Trace
    played: Played
    tries: int


class Shrinker:
    """Shrinks one trace; `play` tells what a candidate shows."""

    def __init__(self, compiled: Compiled, play: Play, budget: float) -> None:
        self._forms = OtherForms(compiled)
        self._facts = kernel_facts.of(compiled)
        self._play = play
        self._until = time.monotonic() + budget
        self._tries = 0
        self._known: set[tuple[Any, ...]] = set()

    def shrink(self, first: Played) -> Shrunk:
        """Cut while the same fault shows; every pass goes on from the best trace so far."""
        assert first.divergence is not None  # there is nothing to shrink otherwise
        self._best, self._key = first, first.divergence.key
        self._coarsely()
        size = 0
        while len(self._best.trace) != size and time.monotonic() < self._until:
            size = len(self._best.trace)
            self._shrink_groups()
            self._try_each(self._forms.about_another)
            self._cut_sets(self._of_operations)
            self._cut_sets(self._of_jobs)
            self._cut_stretches()
            self._try_each(self._forms.one_by_one)
            self._try_each(self._forms.simpler)
            self._try_each(self._forms.simpler_throughout)
            if size == len(self._best.trace):
                self._try_each(self._forms.shorter_and_wider)
            if size == len(self._best.trace) <= SHORT:
                self._try_each(self._forms.merged)
                self._try_each(self._forms.waiting_longer)
                self._try_each(self._forms.instead)
                self._try_each(self._forms.other_and_shorter)
                self._try_each(self._forms.shorter_and_turned)
        return Shrunk(self._best.trace, self._best, self._tries)

    def _coarsely(self) -> None:
        """Drop what is large, or what nothing refers to, before a long trace is looked at call by call."""
        self._shrink_groups()
        self._cut_sets(self._of_operations)
        self._cut_sets(self._of_idle)
        least = len(self._best.trace) // 16
        self._cut_stretches(least)
        self._cut_sets(self._of_jobs, least)

    def _shrink_groups(self) -> None:
        """Try small groups of calls at once first: two callers with one call each, then twice as many of both."""
        for step in self._best.trace.steps:
            if not isinstance(step, AtOnce) or len(step.calls()) <= FEW:
                continue
            others = {call.number for call in self._best.trace.calls()} - {
                call.number for call in step.calls()
            }
            for callers in sorted({2, min(4, len(step.callers)), len(step.callers)}):
                size = 1
                while size < max(map(len, step.callers)):
                    smaller = {call.number for caller in step.callers[:callers] for call in caller[:size]}
                    if self._shows(cut(self._best.trace, others | smaller)):
                        return
                    size *= 2

    def _shows(self, candidate: Trace) -> bool:
        """Play a candidate, unless it was played before; keep it when it shows the same fault."""
        if (
            not candidate.steps
            or time.monotonic() > self._until
            or (known := shape(candidate)) in self._known
        ):
            return False
        self._known.add(known)
        self._tries += 1
        played = self._play(candidate)
        if played.divergence is None or played.divergence.key != self._key:
            return False
        self._best = played
        return True

    def _without(self, gone: set[int]) -> bool:
        """Try the best trace without some calls."""
        trace = self._best.trace
        return self._shows(cut(trace, [call.number for call in trace.calls() if call.number not in gone]))

    def _cut_sets(self, sets: Callable[[], list[set[int]]], least: int = 1) -> None:
        """Drop as many sets of calls as possible: half of them first, then quarters, down to the least."""
        size = len(sets())
        while size >= max(least, 1):
            position = 0
            while position < len(found := sets()):
                if not self._without(set().union(*found[position : position + size])):
                    position += size
            size //= 2

    def _of_jobs(self) -> list[set[int]]:
        """Give the calls whose replies others use: what they created goes with all that uses it."""
        return [
            {number}
            for number in sorted({each for call in self._best.trace.calls() for each in call.refers()})
        ]

    def _of_idle(self) -> list[set[int]]:
        """Give the calls that create something to which no other call refers."""
        used = {each for call in self._best.trace.calls() for each in call.refers()}
        calls = self._best.trace.calls()[:-1]
        return [
            {call.number}
            for call in calls
            if call.number not in used and self._facts.identified(call.operation)
        ]

    def _of_operations(self) -> list[set[int]]:
        """Give the calls of each operation, in the order of appearance."""
        found: dict[str, set[int]] = {}
        for call in self._best.trace.calls():
            found.setdefault(call.operation, set()).add(call.number)
        return list(found.values())

    def _cut_stretches(self, least: int = 1) -> None:
        """Drop stretches of calls, from the end to the beginning, halving their length down to the least."""
        size = max(len(self._best.trace) // 2, 1)
        while size >= max(least, 1):
            end = len(self._best.trace)
            while end > 0:
                numbers = [call.number for call in self._best.trace.calls()]
                end = min(end, len(numbers))
                self._without(set(numbers[max(end - size, 0) : end]))
                end -= size
            size //= 2

    def _try_each(self, candidates: Callable[[Trace], Iterator[Trace]]) -> None:
        """Take simpler forms of the trace as long as one shows the fault."""
        progress = True
        while progress and time.monotonic() < self._until:
            progress = any(self._shows(candidate) for candidate in candidates(self._best.trace))
