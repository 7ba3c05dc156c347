"""Calls that wait for what others do: whether one may wait for ever, so that nobody makes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.judge.lockstep import Lockstep
from statemachines.model import BaseModel

MOST_SITUATIONS = 500  # of calls at once are looked at; beyond that they might wait for ever

Wanted = Sequence[tuple[str, Mapping[str, Any]]]
"""The calls of one caller in their order: the operation of each, and its arguments."""


def endless(lockstep: Lockstep, callers: Sequence[Wanted]) -> bool:
    """Return whether calls made at once may end with one that waits for ever: in some order nobody ends its wait."""
    calls = [operation for wanted in callers for operation, _ in wanted]
    if not any(map(lockstep.stepper.facts.blocks, calls)):
        return False
    start = tuple(len(wanted) for wanted in callers)
    waiting = [(start, rested.freeze()) for each in lockstep.configurations for rested in lockstep.rests(each.model)]
    known = set(waiting)
    while waiting:
        left, frozen = waiting.pop()
        following = [
            (then, rested.freeze())
            for then, after in _made(lockstep.model.thawed(frozen), callers, left)
            for rested in lockstep.rests(after)
        ]
        if (any(left) and not following) or len(known) > MOST_SITUATIONS:
            return True
        new = [each for each in following if each not in known]
        known.update(new)
        waiting += new
    return False


def _made(
    model: BaseModel, callers: Sequence[Wanted], left: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], BaseModel]]:
    """Walk what comes of the next call of each caller that comes back, as a right system may answer it."""
    for caller, count in enumerate(left):
        if not count:
            continue
        operation, arguments = callers[caller][-count]
        then = (*left[:caller], count - 1, *left[caller + 1 :])
        here = model.fork()
        decision = here.decide(operation, arguments)
        if decision.accept:
            after = here.fork()
            after.do(operation, arguments)
            after.settle()
            yield then, after
        if not decision.blocks and (decision.refuse or not decision.accept):
            yield then, here
