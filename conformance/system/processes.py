"""Processes that somebody else starts: found by a mark in their environment, and ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_MARK: Final = "CONFORMANCE_CASE"  # by this variable whatever is left running is found
_used: set[str] = set()  # marks whose processes nobody has ended yet
_LOOKS: Final = 100


def marked(mark: str) -> dict[str, str]:
    """Return what the environment of a process has to hold, so that all it starts can be found."""
    _used.add(mark)
    return {_MARK: mark}


def end_marked(mark: str) -> None:
    """End every process whose environment has a mark: those that outlived their start, in sessions of their own too."""
    _end_all([mark])
    _used.discard(mark)


def end_all_marked() -> None:
    """End every process that has a mark of ours, where nobody comes to end them one by one."""
    if marks := list(_used):
        _end_all(marks)


def _end_all(marks: Sequence[str]) -> None:
    wanted = frozenset(f"{_MARK}={mark}".encode() for mark in marks)
    for _ in range(_LOOKS):  # one that starts another may do so while we look
        if not _end_found(wanted):
            return


def _end_found(wanted: frozenset[bytes]) -> bool:
    """End the processes that are there now, and return whether there were any."""
    found = False
    for folder in Path("/proc").glob("[0-9]*"):  # where there is no /proc, nobody can tell
        with contextlib.suppress(OSError):
            process = os.pidfd_open(int(folder.name))  # from here on the number is that of no other process
            try:
                if not wanted.isdisjoint((folder / "environ").read_bytes().split(b"\0")):
                    found = True
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    _wait(process)
            finally:
                os.close(process)
    return found


def _wait(process: int) -> None:
    poll = select.poll()  # `select` takes no number above 1023
    poll.register(process, select.POLLIN)
    poll.poll(1000)
