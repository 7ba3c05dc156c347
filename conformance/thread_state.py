"""Whether a thread waits for something or could go on, as the kernel tells it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress


class ThreadState:
    """The state of the thread that makes it. Where it cannot be read, a thread is taken to wait."""

    def __init__(self) -> None:
        self._stat: int | None = None
        with suppress(OSError):  # there is no such file but on Linux
            self._stat = os.open(f"/proc/self/task/{threading.get_native_id()}/stat", os.O_RDONLY)

    @property
    def waits(self) -> bool:
        """Tell whether the thread waits; one that the machine is too busy to run does not."""
        stat = self._stat
        if stat is None:
            return True
        try:
            found = os.pread(stat, 512, 0)
        except OSError:  # it has ended
            return True
        return not found.rpartition(b") ")[2].startswith(b"R")

    def close(self) -> None:
        """Read no more."""
        stat, self._stat = self._stat, None
        if stat is not None:
            os.close(stat)
