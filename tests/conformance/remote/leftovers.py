"""What a test leaves behind: processes, threads, open files, memory."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LIMIT = 10.0  # seconds in which threads and processes that are ended are gone, however busy the machine is
_NAME = "CONFORMANCE_TEST"


@contextmanager
def nothing_left() -> Iterator[None]:
    """Fail where the body leaves a process, a thread, an open file or a temporary file."""
    mark, had = str(uuid.uuid4()), _held()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setenv(_NAME, mark)
        patched.setattr(tempfile, "tempdir", folder)
        yield
        assert not list(Path(folder).iterdir())
    until = time.monotonic() + LIMIT
    while any(left := _left(mark, *had)) and time.monotonic() < until:
        time.sleep(0.01)  # a thread that was told to end takes a moment
    assert not any(left), left


def _left(mark: str, threads: list[str], files: int) -> tuple[list[str], list[str], int]:
    """Return what there is now and was not before; what somebody else leaves may have gone meanwhile."""
    threads_now, files_now = _held()
    more = Counter(threads_now) - Counter(threads)
    return running(f"{_NAME}={mark}"), sorted(more.elements()), max(files_now - files, 0)


def running(mark: str) -> list[str]:
    """List the other processes whose environment has a mark, each by its command."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = mark.encode() in (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended, or is not ours
            continue
        if marked and folder.name != str(os.getpid()):
            found.append(command)
    return found


def resident() -> int:
    """Return the bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _held() -> tuple[list[str], int]:
    """Return the threads, and the number of open files."""
    threads = sorted(thread.name for thread in threading.enumerate())
    return threads, sum(1 for _ in Path("/proc/self/fd").iterdir())
