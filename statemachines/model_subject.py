"""The model as the thing that a row runs against: it answers as a right implementation may."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from statemachines.kernel import Kernel
from statemachines.model import ANY_CODE, AnyOf, BaseModel, Decision, Outcome
from statemachines.row_programs import Answer


class _Postponed(Exception):
    """A call that may wait lets calls that are made at once go first."""


class ModelSubject:
    """Answers calls by a model.

    Where the spec leaves a choice (`open`, `unchanged`) it takes the one that `lenient` says: carried
    out, or refused; `chose` tells whether there was one. Calls made at once run in the order `order`.
    """

    _called = _others = False

    def __init__(
        self, model: BaseModel, kernel: Kernel, *, lenient: bool = True, order: Sequence[int] = ()
    ) -> None:
        self.model = model
        self.limits = model.limits
        self.policies = model.policies
        self.lenient = lenient
        self.order = order
        self.chose = False
        self.widest = 0
        self._signals = [name for name, _ in kernel.signals]
        self._files = itertools.count(1)
        self._waiting = {operation.name for operation in kernel.operations if operation.waits is not None}

    def call(self, operation: str, arguments: dict[str, Any]) -> Answer:
        """Make one call, and let the steps that must follow it follow."""
        if operation in self._waiting and self._others and not self._called:
            raise _Postponed
        self._called = True
        if operation == "wait":
            waited = self.model.wait(arguments["ms"])
            return self._answer(operation, Outcome(), [*waited, *self.model.settle()])
        decision: Decision = getattr(self.model, f"may_{operation}")(**arguments)
        if decision.accept and (self.lenient or not decision.refuse):
            self.chose = self.chose or bool(decision.refuse)
            outcome: Outcome = getattr(self.model, f"do_{operation}")(**arguments)
            if isinstance(outcome.value, AnyOf):
                self.chose = self.chose or len({repr(each) for each in outcome.value.options}) > 1
                outcome.value = outcome.value.options[0 if self.lenient else -1]
            self._file(outcome.value)
            return self._answer(operation, outcome, self.model.settle())
        if decision.quiet or (decision.idle and self.lenient):
            self.chose = self.chose or decision.idle
            return self._answer(operation, Outcome(), [])
        self.chose = self.chose or decision.idle or decision.accept
        return Answer(operation, refused=_code(decision), signals={name: [] for name in self._signals})

    def together(self, bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Evaluate bodies one after the other, in this subject's order, and give their values in theirs.

        Those that begin with a call that may wait come last: such a call takes its step at its end.
        """
        different = len({id(body) for body in bodies}) > 1
        self.widest = max(self.widest, len(bodies) if different else 1)
        order = self.order if len(self.order) == len(bodies) else range(len(bodies))
        found: dict[int, Any] = {}
        late: list[int] = []
        for index in order:
            self._called, self._others = False, len(found) + len(late) + 1 < len(bodies)
            try:
                found[index] = bodies[index]()
            except _Postponed:
                late.append(index)
        self._others = False
        found |= {index: bodies[index]() for index in late}
        return [found[index] for index in range(len(bodies))]

    def _answer(self, operation: str, outcome: Outcome, after: list[Outcome]) -> Answer:
        signals: dict[str, list[dict[str, Any]]] = {name: [] for name in self._signals}
        for each in (outcome, *after):
            for name, fields in (*each.signals, *each.again):
                signals[name].append(dict(fields))
        return Answer(operation, outcome.value, None, signals)

    def _file(self, value: Any) -> None:
        """Give every document that was told in a file a file."""
        if isinstance(value, list):
            for each in value:
                self._file(each)
        elif isinstance(value, dict):
            for each in value.values():
                self._file(each)
        elif getattr(value, "inline", None) is False and value.file is None:
            value.file = f"file-{next(self._files)}"


def _code(decision: Decision) -> str:
    """Choose the code of a refusal: the first that may be, and a likely one where any may be."""
    if not decision.refuse:
        return "wrong_state"
    return "not_found" if decision.refuse == ANY_CODE else decision.refuse[0]
