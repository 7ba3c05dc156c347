"""Whether a thread waits for something or could go on, as the kernel tells it."""

from __future__ import annotations

from pathlib import Path


def waits(thread: int) -> bool:
    """Return whether a thread of this process, by its native id, waits; one that the machine is too busy to run does not.

    Where that cannot be read, of a thread that has ended or elsewhere than on Linux, it is taken to wait.
    """
    try:
        state = Path(f"/proc/self/task/{thread}/stat").read_bytes()
    except OSError:
        return True
    return not state.rpartition(b") ")[2].startswith(b"R")
