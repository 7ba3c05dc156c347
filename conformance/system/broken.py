"""What goes wrong when a system is called: its own defect, or what prevents asking at all."""

from __future__ import annotations

import traceback
from pathlib import Path


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
