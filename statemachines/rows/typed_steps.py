"""Steps of a row that are typed one after the other, each carried out before the next one is there."""

from __future__ import annotations

from typing import Any

from statemachines.expression import Scope
from statemachines.lifecycle import Lifecycle
from statemachines.rows.compiler import RowCompiler
from statemachines.rows.programs import SETTLES, Subject, named_values
from statemachines.surface import step_of
from statemachines.types import INT

TYPED = "typed"
"""What the file is called where a step stands that somebody has typed."""


class TypedSteps:
    """The names that steps have bound so far; each step is a call, or `name = call(…)`, as in a row."""

    def __init__(self, lifecycle: Lifecycle, subject: Subject) -> None:
        self._compiler = RowCompiler(lifecycle)
        self._scope: Scope = self._compiler.words.scope({SETTLES: INT})
        self._values = named_values(subject, {})

    def take(self, text: str) -> None:
        """Carry out a step. Raises SpecError where it means nothing, and RowStopped where it cannot be carried out."""
        line, scope = self._compiler.step(step_of(text, TYPED), self._scope)
        line.run(self._values)
        self._scope = scope

    def kept(self) -> tuple[Scope, dict[str, Any]]:
        """Return the names and what they stand for, to come back to."""
        return self._scope, dict(self._values)

    def come_back(self, kept: tuple[Scope, dict[str, Any]]) -> None:
        """Forget all names but those that were kept."""
        scope, values = kept
        self._scope = scope
        self._values.clear()
        self._values.update(values)
