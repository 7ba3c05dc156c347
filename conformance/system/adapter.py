"""How a system under test is reached: what every adapter does for the kit."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from conformance.system.declaration import Declaration


class Broken(Exception):
    """A call that did not come back with an answer: the system's defect.

    kind  'crash': an exception on a legal call · 'hang': no answer within the time limit ·
          'shape': signals that are no list
    """

    def __init__(self, kind: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.detail = detail


class HarnessError(Exception):
    """What prevents asking at all: import, construction, or the kit itself; says whose fault it is."""

    @classmethod
    def of_the_kit(cls, error: Exception) -> HarnessError:
        """Tell what went wrong in the kit: no system is to be blamed for it."""
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        places = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
        return cls(f"the kit itself failed: {type(error).__name__}: {error} (at {places})")


class Adapter(Protocol):
    """A way to reach one system. `reset` begins a case with a fresh instance."""

    name: str
    declaration: Declaration
    limit: float  # seconds for one call
    costly: bool  # a call takes so long that a few well-chosen ones have to do

    @property
    def milliseconds(self) -> int:
        """What the clock that the kit gives a system shows; 0 where it gives none."""

    def ready(self) -> None:
        """See, before the first case, that an instance can be made and its methods called; raise HarnessError."""

    def reset(self) -> None:
        """Begin a case: throw away the old instance and make a fresh one."""

    def call(self, operation: str, arguments: Mapping[str, Any]) -> Any:
        """Make one call, and return the reply as it comes; raise Refused, or Broken when no answer comes."""

    def signals(self) -> list[Any]:
        """Return what happened beside the replies since the last time."""

    def transcript(self) -> tuple[str, ...]:
        """Return what passed between the kit and the system in this case, where its calls alone do not tell."""

    def together(self, bodies: Sequence[Callable[[], Any]], seed: int) -> list[Any]:
        """Evaluate bodies at once, each of which makes calls of this adapter; return their values in order."""

    def offers(self, operation: str) -> bool:
        """Return whether there is such an operation."""

    def close(self) -> None:
        """End the last case and free everything."""
