"""What every wrong implementation of local-agent says about itself."""

from __future__ import annotations

from typing import ClassVar

from conformance.references.local_agent import LocalAgents


class Lie(LocalAgents):
    """A system that is right but for one named behaviour.

    `calls` counts operation calls on a system made without arguments: arrangements, waits and the
    observers (`get`, `notifications`, `aborted`, …) whose reply shows the lie.
    Calls that run at the same time count one each, with the fewest callers that can show it.
    """

    row: ClassVar[str]
    """The row of the matrix that must catch it."""

    calls: ClassVar[int]
    """The length of the shortest counterexample."""
