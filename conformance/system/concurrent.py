"""Calls at once: threads from a common start, of which a seed decides which one runs the system's own code.

A plain race between threads almost never shows a check-then-set fault, because a thread runs for
milliseconds before another gets its turn. Turns that end at random lines, and threads that then rest
for a while, show it within a few rounds; and how busy the machine is matters little.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from conformance.system.broken import Broken
from conformance.system.tracing import Place, traced
from conformance.system.worker import GLANCE, SLICE, Handover, leave, slices, started, waits

_RATES = (0.15, 0.25, 0.5)  # how often a line ends a turn: some faults need many turns, others few
_PAUSES = (0, 10, 100)  # steps that a thread then rests, where another one can run
# Every other schedule ends few turns, and then the thread rests until no other can run: most faults need one turn that
# ends between two lines, and others that are not ended. Not of a crowd: each thread would need such a turn, which takes long.
_FEW_RATES, _UNTIL_THE_END = (0.05, 0.1, 0.3), (1_000_000,)
_FINE = 3  # every third schedule counts instructions instead of lines: some faults lie within a line
_INSTRUCTIONS = 4  # make a line, or so
# Turns of a group, and how often a line ends them later, ever more rarely: so many calls meet anyhow.
_OFTEN, _LEAST, _LESS = 300, 0.03, 3
# How often a turn ends where a lock is to be taken: between two of them a check may grow old.
_AT_LOCKS = (0.0, 0.3, 0.6)
_TRIED = 0.7  # how often only a thread that can run is chosen, and none that rests or waits for something
# Seconds without a step, after which a thread is taken to wait for something; and where one was seen to wait before.
_MOMENT, _SHORT_MOMENT = 5e-4, 5e-5
_COMPUTES = 0.1  # seconds without a step, after which one that does not wait is not waited for any longer
_FORGOTTEN = 0.02  # how often a group forgets such a place: on a busy machine any line looks like one
_CROWD = 8  # threads; of more, those that wait look less often whether it is their turn


def one_after_the_other(bodies: Sequence[Callable[[], Any]], seed: int) -> list[Any]:
    """Evaluate bodies in an order that the seed chooses; return their values in the order of the bodies."""
    order = list(range(len(bodies)))
    random.Random(seed).shuffle(order)
    found = {index: bodies[index]() for index in order}
    return [found[index] for index in range(len(bodies))]


def run_at_once(
    bodies: Sequence[Callable[[], Any]],
    seed: int,
    own: frozenset[str],
    limit: float,
    progress: Callable[[], int],
    blocking: set[Place] | None = None,
    watch: Callable[[bool], object] | None = None,
) -> list[Any]:
    """Evaluate bodies on threads of their own; return their values in order. Raises Broken for a hang.

    The first exception of a body is raised again. Lines at which a thread waits for another one are learned; `blocking`
    hands them on from group to group. When `progress` stands still and no body ends for `limit` seconds,
    that is a hang; the threads are left behind.
    `watch` is called again and again meanwhile, and told whether a thread waits for its turn: it is not the system that
    keeps that one.
    """
    turns = _Turns(len(bodies), seed, limit / 2, set() if blocking is None else blocking)

    @contextlib.contextmanager
    def in_turn(index: int) -> Iterator[None]:
        turns.begin(index)
        sys.settrace(traced(partial(turns.step, index), own, fine=turns.fine))
        try:
            yield
        finally:
            sys.settrace(None)
            turns.end(index)

    threads, results = started(bodies, in_turn)
    stuck, looks = len(threads), None if watch is None else lambda: watch(turns.queueing)
    try:
        stuck = _joined(threads, limit, lambda: progress() + turns.ended, looks)
    finally:
        for thread in threads if stuck else ():
            leave(thread)
    if stuck:
        raise Broken("hang", f"{stuck} of {len(bodies)} calls made at once did not come back in time")
    return [each.result() for each in results]


def _joined(
    threads: Sequence[threading.Thread], limit: float, progress: Callable[[], int], looks: Callable[[], object] | None
) -> int:
    """Wait until the threads are done, or nothing has moved for `limit` seconds; return how many are not done."""
    part = SLICE if looks is None else GLANCE
    made, waiting = progress(), slices(limit, part)
    for thread in threads:
        while thread.is_alive() and (seconds := next(waiting, 0.0)):
            thread.join(seconds)
            if progress() != made:
                made, waiting = progress(), slices(limit, part)
            if looks is not None:
                looks()
    return sum(thread.is_alive() for thread in threads)


class _Turns:
    """Lets one thread at a time run the system's own code; at random steps its turn goes to another one.

    Threads that wait for each other in the system cannot all wait for their turns as well. Where nothing moves for
    a moment, the one whose turn it is waits for what another one holds, a lock for example: that one goes on. Who
    could not go on and then can has the turn, for others may wait for what it holds now. Two threads that take the
    turn at one time both run for a few steps; the one whose turn it is not waits at its next.
    """

    def __init__(self, threads: int, seed: int, seconds: float, blocking: set[Place]) -> None:
        self.fine = seed % _FINE == _FINE - 1
        self._choice = random.Random(seed)
        scale = _INSTRUCTIONS if self.fine else 1
        few = threads <= _CROWD and self._choice.random() < 0.5
        self._rate, self._least = self._choice.choice(_FEW_RATES if few else _RATES) / scale, _LEAST / scale
        self._pauses = _UNTIL_THE_END if few else _PAUSES
        self._at_locks = random.Random(f"{seed}/locks").choice(_AT_LOCKS)
        self._running = list(range(threads))
        self._stuck: set[int] = set()
        # Where each came to last; None where it waits for its turn.
        self._places: list[Place | None] = [None] * threads
        self._blocking = blocking  # where one was seen to wait for something
        forgetting = random.Random(f"{seed}/forgetting")  # what is known must not change what the seed chooses
        self._blocking -= {place for place in blocking if forgetting.random() < _FORGOTTEN}
        self._tried = [0] * threads  # how often each was given the turn in vain since it could not go on
        self._rests = [0] * threads  # until which step
        self._called = [Handover() for _ in self._running]
        self._threads: dict[int, int] = {}  # the native id of each that has begun
        self._taking = threading.Lock()
        self._over = False
        self._long = _MOMENT * max(1.0, threads / _CROWD)
        self._until = time.monotonic() + seconds  # then all run: what is slow because of turns is no hang
        self._steps = self._turns = 0
        self._turn = self._choice.choice(self._running)
        self._queue: set[int] = set()  # those that wait for their turn

    def begin(self, index: int) -> None:
        """Run from now on, on the thread that calls this."""
        self._threads[index] = threading.get_native_id()

    def step(self, index: int, place: Place, takes_lock: bool) -> bool:
        """Come to a step, by which a lock may be taken; go on when it is this thread's turn. Tell whether there are turns still."""
        self._steps += 1
        if self._over:
            return False
        if index in self._stuck or (self._turn != index and self._places[index] in self._blocking):
            self._stuck.discard(index)
            self._tried[index] = 0
            self._turn = index
        rate = max(self._rate, self._at_locks) if takes_lock else self._rate
        handed = self._turn == index and self._choice.random() < rate and self._hand_over(index)
        if self._turn != index:
            self._places[index] = None
            self._queue.add(index)
            self._wait(index, _SHORT_MOMENT if handed else self._long)
            self._queue.discard(index)
        self._places[index] = place
        return True

    def end(self, index: int) -> None:
        """Run no more."""
        self._running.remove(index)
        if self._turn == index:
            self._hand_over(index)

    @property
    def ended(self) -> int:
        """How many threads run no more."""
        return len(self._rests) - len(self._running)

    @property
    def queueing(self) -> bool:
        """Whether a thread waits for its turn."""
        return bool(self._queue)

    def _hand_over(self, index: int) -> bool:
        """Let another thread go on; tell whether one can."""
        others = [each for each in self._running if each != index]
        awake = [each for each in others if each not in self._stuck]
        free = [each for each in awake if self._rests[each] <= self._steps]
        if index not in self._running:
            others = free or awake or others
        elif self._choice.random() < _TRIED:
            # One that could not go on tries again ever more rarely, for each time takes a while; just now it was 0 times.
            worth = (each for each in others if each in self._stuck and self._choice.random() * self._tried[each] < 1)
            others = free or list(worth)
        if not others:
            return False
        self._turns += 1
        if self._turns >= _OFTEN:
            most = self._least * (_OFTEN / self._turns) ** _LESS
            self._rate, self._at_locks = min(self._rate, most), min(self._at_locks, most)
        self._rests[index] = self._steps + self._choice.choice(self._pauses)
        other = self._choice.choice(others)
        self._turn = other
        self._called[other].put()
        return True

    def _wait(self, index: int, moment: float) -> None:
        """Wait for the turn, or take it from a thread that does not come to a step for a while.

        Who handed over its turn looks every short `moment` whether the others move, all else look rarely.
        """
        quiet = 0.0
        while (turn := self._turn) != index and not self._over:
            self._over = time.monotonic() > self._until
            steps = self._steps
            called = self._called[index].wait(moment)
            quiet = 0.0 if called or self._steps != steps or self._turn != turn else quiet + moment
            known = turn in self._stuck or self._places[turn] in self._blocking
            if quiet >= (_SHORT_MOMENT if known else _MOMENT) and self._waits(turn, quiet):
                with self._taking:
                    if self._turn == turn:
                        self._is_stuck(turn, surely=quiet >= _MOMENT)
                        self._turn = index

    def _waits(self, index: int, quiet: float) -> bool:
        """Return whether a thread waits for something; on a busy machine one may just not have come to run yet."""
        thread = self._threads.get(index)
        return thread is None or quiet >= _COMPUTES or waits(thread)

    def _is_stuck(self, index: int, *, surely: bool) -> None:
        """Note that a thread waits for something; and where, if that is sure."""
        self._stuck.add(index)
        self._tried[index] += 1
        place = self._places[index]
        if surely and place is not None:
            self._blocking.add(place)


def overlapping(calls: Sequence[tuple[int, int, int]]) -> int:
    """Count the calls that overlapped one of another caller; each is (began, ended, caller)."""
    count = 0
    running: list[tuple[int, int]] = []
    for began, ended, caller in sorted(calls):
        running = [(end, who) for end, who in running if end > began]
        count += any(who != caller for _, who in running)
        running.append((ended, caller))
    return count
