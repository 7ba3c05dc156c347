"""What a row or a search asks of a right system, asked again of a wrong one without the judge.

A system that answers all of it as the right one did passes as that does: it need not be asked. One idea: what is left out is only
what cannot come out otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

from conformance.stand_ins import ModelSystem, model_system
from statemachines.bounds import USUAL
from statemachines.checks import watched
from statemachines.compile import Compiled
from statemachines.rows import ModelSubject, Observed

PATIENCE: Final = replace(USUAL, own_steps=20_000)
"""Steps of its own after which a wrong model is taken to differ: whether it ever rests, the row shows."""


class NotedCall(NamedTuple):
    """One call of a case, and what came of it: what was seen, or with what words it failed; None while it waits for others."""

    operation: str
    arguments: Mapping[str, Any]
    came: Any


NotedCase = Sequence[NotedCall]
"""What one system was asked, from its beginning."""


class NotingSystem(ModelSystem):
    """A model that notes what it is asked; `asked` holds the cases of all systems of a class that is made of it."""

    asked: list[list[NotedCall]]

    def __init__(self) -> None:
        super().__init__()
        self._case: list[NotedCall] = []
        self.asked.append(self._case)
        self._subject = _Noting(self._subject, self._case)  # type: ignore[assignment]  # it answers the same

    def _asked(self, operation: str, arguments: dict[str, Any]) -> Observed:
        with self._turn:
            if operation != "wait" and self._subject.model.decide(operation, arguments).blocks:
                self._case.append(NotedCall(operation, deepcopy(arguments), None))
        return super()._asked(operation, arguments)


class _Noting:
    """A subject, of which each call is noted."""

    def __init__(self, subject: ModelSubject, case: list[NotedCall]) -> None:
        self._subject, self._case = subject, case
        self.model = subject.model

    def call(self, operation: str, arguments: dict[str, Any]) -> Observed:
        given = deepcopy(arguments)
        try:
            came = self._subject.call(operation, arguments)
        except Exception as error:
            self._case.append(NotedCall(operation, given, _words(error)))
            raise
        self._case.append(NotedCall(operation, given, _seen(came)))
        return came


class AskedOfRight:
    """What rows and searches ask of a right system, each made on one once for each way in which it is set up.

    make  makes what it is told on systems of a class: a row, by its id, or a search, by its name
    """

    def __init__(self, compiled: Compiled, make: Callable[[type[ModelSystem], str], object]) -> None:
        self._compiled, self._make = compiled, make
        self._cases = cache(self._noted)

    def differs(self, kernel: Compiled, what: str, policies: Mapping[str, str], *, descending: bool = False) -> bool:
        """Return whether a wrong model answers anything of what is asked of a right one otherwise."""
        cases = self._cases(what, tuple(policies.items()), descending=descending)
        return not all(answers_alike(kernel, case, policies, descending=descending) for case in cases)

    def count(self, what: str, policies: Mapping[str, str]) -> int:
        """Return in how many cases it is asked."""
        return len(self._cases(what, tuple(policies.items()), descending=False))

    def _noted(self, what: str, policies: Sequence[tuple[str, str]], *, descending: bool) -> Sequence[NotedCase]:
        asked: list[list[NotedCall]] = []
        kind = type(NotingSystem.__name__, (NotingSystem,), {"asked": asked})
        self._make(model_system(self._compiled, {"policies": dict(policies)}, kind, descending=descending), what)
        return list({repr(case): case for case in asked}.values())


def answers_alike(kernel: Compiled, case: NotedCase, policies: Mapping[str, str], *, descending: bool) -> bool:
    """Return whether a model answers a case as it was answered when it was noted."""
    subject = ModelSubject(watched(kernel, PATIENCE)(None, policies), kernel.kernel, descending=descending)
    return all(_came_of(subject, each) == each.came for each in case)


def _came_of(subject: ModelSubject, asked: NotedCall) -> Any:
    """Return what comes of a call, as `NotedCall` has it."""
    operation, arguments = asked.operation, dict(asked.arguments)
    try:
        if asked.came is None and subject.model.decide(operation, arguments).blocks:
            return None
        return _seen(subject.call(operation, arguments))
    except Exception as error:  # noqa: BLE001  # whatever a wrong model raises, it is not what the right one gave
        return _words(error)


def _seen(call: Observed) -> tuple[Any, ...]:
    """Return all that a caller can see of a call: two that are observed are equal where a row sees the same."""
    return call.reply, call.refused, call.signals, call.at, call.elapsed


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
