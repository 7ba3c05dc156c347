"""What every wrong implementation of job says about itself."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.references.job import Jobs


class Lie(Jobs):
    """A system that is right but for one named behaviour.

    `calls` counts operation calls on a system made without arguments: arrangements, waits and the
    observers (`get`, `list`, `running`, `tool_result`) whose reply shows the lie; `signals()` is free.
    Calls that run at the same time count one each.
    """

    row: ClassVar[str]
    """The row of the matrix that must catch it."""

    calls: ClassVar[int]
    """The length of the shortest counterexample."""


def declaring(kind: str, name: str, value: Any) -> type[Jobs]:
    """Give the right system that chooses something else, and says so: a policy, or a limit."""

    class Declaring(Jobs):
        declares: ClassVar[dict[str, Any]] = {**Jobs.declares, kind: {name: value}}

        def __init__(self) -> None:
            super().__init__(**{name: value})

    return Declaring
