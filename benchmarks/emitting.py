"""Calls at once that share out what is owed: how long the judge takes to decide them."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from time import thread_time
from typing import Any

from benchmarks.measure import LESS, Finding, no_collection, seconds, spread
from conformance.judge import History, Judge
from conformance.system import Declaration
from statemachines.compile import Compiled
from statemachines.model import Document, Signal
from statemachines.rows import Observed

EMITTERS, ENDED = 8, 6
TURN: Signal = ("TurnTriggered", (("thread", "t1"),))


class Emitting:
    """Deals six ended jobs out among eight boundaries at once, otherwise each round; and tells one of them twice."""

    rounds = 20

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._right: list[float] = []
        self._wrong: list[float] = []
        self._mistaken = 0

    def once(self) -> None:
        """Judge what is right, then what is not."""
        luck = random.Random(len(self._right))
        told: list[list[int]] = [[] for _ in range(EMITTERS)]
        for job in range(ENDED):
            luck.choice(told).append(job)
        self._right.append(self._judged(told, explained=True))
        twice = luck.randrange(ENDED)
        other = next(jobs for jobs in told if twice not in jobs)
        other[:] = sorted((*other, twice))
        self._wrong.append(self._judged(told, explained=False))

    def _judged(self, told: Sequence[Sequence[int]], *, explained: bool) -> float:
        """Return the milliseconds that boundaries take which told these jobs; note a wrong answer, and none."""
        judge = Judge(self._compiled, Declaration(clock="virtual", concurrency="threads"))
        lockstep = judge.lockstep
        for job in range(ENDED):
            start = {"thread": "t1", "tool_call": f"call {job}", "tool": "bash"}
            gives = {"mode": "background", "job_id": f"job {job}", "status": "running"}
            lockstep.advance(Observed("start", start, gives))
            lockstep.advance(Observed("finish", {"job": f"job {job}", "outcome": "completed", "payload": "x"}))
            lockstep.advance(Observed("wait", {"ms": 1}))
        calls = tuple((_boundary(jobs),) for jobs in told)
        history = History(calls, tuple(TURN for jobs in told if jobs))
        found: list[Any] = []
        with no_collection():
            took = seconds(lambda: found.append(lockstep.advance(history)), thread_time) * 1000
        self._mistaken += (found[0] is None) != explained or lockstep.unsure
        return took

    def findings(self) -> list[Finding]:
        """Return the time of each."""
        what = f"{EMITTERS} emitters of {ENDED} ended jobs at once, judged"
        note = f"{spread(self._right, 'ms', 1)}; {self._mistaken} of {2 * len(self._right)} not decided, or wrongly"
        return [
            Finding(what, statistics.median(self._right), "ms", LESS, 50, note),
            Finding(
                "  one job told twice", statistics.median(self._wrong), "ms", LESS, 50, spread(self._wrong, "ms", 1)
            ),
        ]


def _boundary(jobs: Sequence[int]) -> Observed:
    told = [
        {"job_id": f"job {job}", "tool": "bash", "status": "completed", "content": Document("x", inline=True)}
        for job in jobs
    ]
    return Observed("turn_boundary", {"thread": "t1"}, told, began=1, ended=2)
