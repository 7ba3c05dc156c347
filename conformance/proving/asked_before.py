"""What a row or a search asks of a right system, asked again of a wrong one without the judge.

A system that answers all of it as the right one did passes as that does: it need not be asked. Of calls made at once these are the
orders in which they came to the right one. One idea: whether a wrong model is worth a run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

from conformance.stand_ins import ModelSystem, model_system
from statemachines.bounds import USUAL
from statemachines.checks import watched
from statemachines.compile import Compiled
from statemachines.rows import ModelSubject, Observed


class NotedCall(NamedTuple):
    """One call of a case, and what came of it: what was seen, or with what words it failed; None while it waits for others."""

    operation: str
    arguments: Mapping[str, Any]
    came: Any


RowOrSearch = str | tuple[str, int]
"""A row, by its id; or a search, by its name, and in which of its rounds."""

NotedCase = Sequence[NotedCall]
"""What one system was asked, from its beginning."""


class NotingSystem(ModelSystem):
    """A model that notes what it is asked, in the list with which each system of a class that is made of it begins."""

    _new_case: Callable[[], list[NotedCall]]

    def __init__(self) -> None:
        super().__init__()
        self._case = self._new_case()
        self._subject = _Noting(self._subject, self._case)  # type: ignore[assignment]  # it answers the same

    def _asked(self, operation: str, arguments: dict[str, Any]) -> Observed:
        with self._turn:
            if _blocks(self._subject, operation, arguments):
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

    make     makes what it is told on systems of a class
    seconds  that a call may take
    """

    def __init__(
        self, compiled: Compiled, make: Callable[[type[ModelSystem], RowOrSearch], object], seconds: float
    ) -> None:
        self._compiled, self._make, self._seconds = compiled, make, seconds
        self._cases = cache(self._noted)

    def differs(
        self, mistaken: Compiled, what: RowOrSearch, policies: Mapping[str, str], *, descending: bool = False
    ) -> bool:
        """Return whether a wrong model answers anything of what is asked of a right one otherwise."""
        cases = self._cases(what, tuple(policies.items()), descending=descending)
        seconds = self._seconds
        return not all(answers_alike(mistaken, case, policies, seconds, descending=descending) for case in cases)

    def count(self, what: RowOrSearch, policies: Mapping[str, str]) -> int:
        """Return in how many cases it is asked."""
        return len(self._cases(what, tuple(policies.items()), descending=False))

    def _noted(
        self, what: RowOrSearch, policies: Sequence[tuple[str, str]], *, descending: bool
    ) -> Sequence[NotedCase]:
        asked: list[list[NotedCall]] = []

        def new_case() -> list[NotedCall]:
            asked.append([])
            return asked[-1]

        kind = type(NotingSystem.__name__, (NotingSystem,), {"_new_case": staticmethod(new_case)})
        self._make(model_system(self._compiled, {"policies": dict(policies)}, kind, descending=descending), what)
        return list({repr(case): case for case in asked}.values())


def answers_alike(
    mistaken: Compiled, case: NotedCase, policies: Mapping[str, str], seconds: float, *, descending: bool = False
) -> bool:
    """Return whether a model answers a case as it was answered when it was noted, in so many seconds of the processor for each call.

    Nothing is alike that one of them leaves open and the other tells, and who waits has to wait until the call that was noted next.
    """
    subject = ModelSubject(watched(mistaken, USUAL)(None, policies), mistaken.kernel, descending=descending)
    waiting: list[NotedCall] = []
    for each in case:
        if each.came is not None:
            waiting = _without(waiting, each)
        began = time.thread_time()
        wait_on = all(_came_of(subject, other) is None for other in waiting)
        if not wait_on or not _alike(_came_of(subject, each), each.came) or time.thread_time() - began > seconds:
            return False
        if each.came is None:
            waiting.append(each)
    return True


def _without(waiting: Sequence[NotedCall], call: NotedCall) -> list[NotedCall]:
    """Return those that wait when one of them has come back, if it is one of them."""
    this = next((place for place, other in enumerate(waiting) if other[:2] == call[:2]), len(waiting))
    return [*waiting[:this], *waiting[this + 1 :]]


def _came_of(subject: ModelSubject, asked: NotedCall) -> Any:
    """Return what comes of a call, as `NotedCall` has it; a call that was to wait is not made where it would not."""
    operation, arguments = asked.operation, dict(asked.arguments)
    try:
        if asked.came is None:
            return None if _blocks(subject, operation, arguments) else "it would come back"
        return _seen(subject.call(operation, arguments))
    except Exception as error:  # noqa: BLE001  # whatever a wrong model raises, it is not what the right one gave
        return _words(error)


def _alike(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except TypeError:  # of what is left open nothing can be said
        return False


def _blocks(subject: ModelSubject, operation: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a call waits for others now."""
    return operation != "wait" and bool(subject.model.decide(operation, arguments).blocks)


def _seen(call: Observed) -> tuple[Any, ...]:
    """Return all that a caller can see of a call; two that were observed are equal where what they gave is."""
    return call.reply, call.refused, call.signals


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
