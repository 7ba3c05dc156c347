"""What every wrong implementation of background-tasks says about itself."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.references.background_tasks import BackgroundTasks


class Lie(BackgroundTasks):
    """A system that is right but for one named behaviour.

    `calls` counts operation calls on a system made without arguments: arrangements, waits and the
    observers (`list`, `peek`, `running_count`, `has_completed`) whose reply shows the lie. Calls that run
    at the same time count one each, with the fewest callers that can show it.
    """

    row: ClassVar[str]
    """The row of the matrix that must catch it."""

    calls: ClassVar[int]
    """The length of the shortest counterexample."""


class Choosing(BackgroundTasks):
    """A right system that chooses something else, and says so: a class of it names its policies."""

    chosen: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **policies: str) -> None:
        super().__init_subclass__()
        if policies:
            usual: dict[str, Any] = BackgroundTasks.declares
            cls.chosen = {**cls.chosen, **policies}
            cls.declares = {**usual, "policies": {**usual["policies"], **cls.chosen}}

    def __init__(self) -> None:
        super().__init__(**self.chosen)
