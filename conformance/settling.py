"""Steps that a system has to take at once, in every order that makes a difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from statemachines.model import BaseModel, Outcome

MOST = 200  # states on the way that are looked at; beyond them one order stands for the rest
_Step = tuple[int, tuple[Any, ...]]  # the number of a step, and the keys of its records


def settled(model: BaseModel) -> Iterator[tuple[BaseModel, list[Outcome]]]:
    """Walk the models at rest that the steps which must be taken lead to, each with what was done on the way."""
    steps = _must(model)
    if not steps:
        yield model, []
        return
    waiting: list[tuple[Any, list[Outcome]]] = [(model.freeze(), [])]
    known = {waiting[0][0]}
    while waiting:
        frozen, taken = waiting.pop()
        for then, done in _next(model, frozen, one=len(known) > MOST):
            if not _must(then):
                yield then, [*taken, *done]
                continue
            point = then.freeze()
            if point not in known:
                known.add(point)
                waiting.append((point, [*taken, *done]))


def _must(model: BaseModel) -> list[_Step]:
    return [(index, keys) for index, keys, must in model.own_steps() if must]


def _next(model: BaseModel, frozen: Any, *, one: bool) -> Iterator[tuple[BaseModel, list[Outcome]]]:
    """Walk what may come next: all the steps that can be taken now, if none takes another one away, or each of them."""
    steps = _must(model.thawed(frozen))
    if not one and len(steps) > 1 and _in_each_others_way(model, frozen, steps):
        for step in steps:
            then = model.thawed(frozen)
            yield then, [then.take(*step)]
        return
    then, taken = model.thawed(frozen), []
    while due := [each for each in _must(then) if each in steps]:
        steps.remove(due[0])
        taken.append(then.take(*due[0]))
    yield then, taken


def _in_each_others_way(model: BaseModel, frozen: Any, steps: list[_Step]) -> bool:
    """Tell whether one of some steps takes another one away."""
    for step in steps:
        then = model.thawed(frozen)
        then.take(*step)
        left = _must(then)
        if any(other not in left for other in steps if other != step):
            return True
    return False
