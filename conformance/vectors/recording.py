"""The calls of a row or of a walk, as a model answers them: from then on they are calls of a vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.system import Declaration
from conformance.vectors.answers import Call
from conformance.vectors.patterns import Ids, Inexpressible
from statemachines.bounds import USUAL
from statemachines.checks import watched
from statemachines.compile import Compiled
from statemachines.expression import Var, every_part
from statemachines.rows import ModelSubject, Observed


class Recorder(ModelSubject):
    """Answers calls as a right system may, and records them; `calls` are those of a vector.

    A call that may block until the clock has moved is made with no time to wait.
    """

    def __init__(self, compiled: Compiled, declaration: Declaration, most: int) -> None:
        model = watched(compiled, USUAL)(declaration.limits, declaration.policies)
        super().__init__(model, compiled.kernel)
        self._ids = Ids()
        self._most = most
        model.mint = self._ids.mint
        self._times = {
            each.name: {part.name for part in every_part(each.waits.lasts) if isinstance(part, Var)}
            for each in compiled.kernel.operations
            if each.waits is not None
        }
        self.calls: list[Call] = []

    def call(self, operation: str, arguments: dict[str, Any]) -> Observed:
        """Make one call, and record it. Raises Inexpressible for one that is not for a vector, and RowFailure."""
        if len(self.calls) >= self._most:
            raise Inexpressible(f"more than {self._most} calls")
        arguments = self.without_time(operation, arguments)
        call = operation, {name: self._ids.written(value) for name, value in arguments.items()}
        self._ids.minted = 0
        found = super().call(operation, arguments)
        self._ids.told(found.given)
        self._ids.step += 1
        self.calls.append(call)
        return found

    def without_time(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with which a call does not block until the clock has moved."""
        times = self._times.get(operation, ())
        return {name: 0 if name in times else value for name, value in arguments.items()}

    def together(self, bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Raise Inexpressible: one caller makes one call after the other."""
        raise Inexpressible("calls at once")

    @property
    def witnessed(self) -> list[str]:
        """The clauses that were witnessed, in the order of the spec."""
        return [path for path, hit in zip(self.model.CLAUSES, self.model.seen, strict=True) if hit]
