"""Calls in two parts: by when the step has to come with which a call ends, where others may come between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conformance.judge.step import Stepper
from statemachines.model import BaseModel, Signal
from statemachines.rows import Observed

_Step = tuple[int, tuple[Any, ...]]  # a step on its own: its number, and the keys of its records
Ending = tuple[tuple[_Step, float], ...]
"""Steps with which calls that are done still have to end, each with the instant by which it has to come."""


def still(ending: Ending, model: BaseModel) -> Ending:
    """Return those that are still due, in one order."""
    due = model.ending() if ending else []
    return tuple(sorted((each for each in ending if each[0] in due), key=repr))


@dataclass(frozen=True, slots=True)
class Endings:
    """Tells by when steps have to come that calls make due; `signals` are those that were seen meanwhile."""

    stepper: Stepper
    signals: Sequence[Signal]

    def after(self, ending: Ending, frozen: Any, model: BaseModel, call: Observed, until: float) -> Ending:
        """Return what is due when a call has led from a frozen state to a model, and is over at some instant.

        A step with which several calls end comes before the first of them is over.
        """
        now, due = model.ending(), dict(ending)
        before = model.thawed(frozen).ending() if now else []
        for step in now:
            sooner = until < due.get(step, math.inf)
            if step not in before or (sooner and self._asks(frozen, model, call, step)):
                due[step] = until
        return tuple(due.items())

    def _asks(self, frozen: Any, like: BaseModel, call: Observed, step: _Step) -> bool:
        """Return whether a call makes a step due that is due already: it would also if the step had been taken."""
        model = like.thawed(frozen)
        model.take(*step)
        return any(step in then.ending() for then, _ in self.stepper.ways(model, call, self.signals, []))
