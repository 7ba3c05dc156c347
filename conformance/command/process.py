"""The process of a command: it ends in time when somebody interrupts it, and when the command is done; and its output."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final, TextIO

from conformance.errors import UsageError
from conformance.verdict import EXIT_INTERRUPTED

INTERRUPTED_WITHIN: Final = 0.9  # seconds from Ctrl-C to the end
ENDED_WITHIN: Final = 3.0  # seconds from the last word of a command to the end: a system may leave threads behind
_end_process = os._exit  # a run keeps systems from it


UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def usable_output() -> TextIO:
    """Return the output, able to hold any text: what its encoding does not have is escaped, and a closed one takes everything."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or stream.closed:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - to the end of the process
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return sys.stdout


def utf8_output() -> None:
    """Let the output be UTF-8, as a file of what is written would be, wherever it goes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise UsageError where a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def writable(path: Path) -> TextIO:
    """Return a file to write to. Raises UsageError."""
    with writing(path):
        return path.open("w", encoding="utf-8")


def write_out(text: str, path: str | None) -> None:
    """Write a text to a file, or to the output where none is named. Raises UsageError."""
    if path is None:
        utf8_output()
        print(text, end="")
        return
    with writing(Path(path)), writable(Path(path)) as file:
        file.write(text)


def no_output() -> None:
    """Write nothing more, not even what still waits to be written."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def interrupted_in_time() -> Iterator[None]:
    """Let Ctrl-C in the body raise KeyboardInterrupt once, and end the process a moment later whatever comes of it.

    A second one is one too many: what is known is being written then. Where Ctrl-C is ignored it still is.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _end_within(INTERRUPTED_WITHIN, EXIT_INTERRUPTED)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    yield


def ended_in_time(code: int) -> int:
    """Return the exit code of a command that is done; threads that a system left do not keep the process for long."""
    if any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate()):
        _end_within(ENDED_WITHIN, code)
    return code


def _end_within(seconds: float, code: int) -> None:
    timer = threading.Timer(seconds, _end, (code,))
    timer.daemon = True
    timer.start()


def _end(code: int) -> None:
    from conformance.system import end_all_marked

    end_all_marked()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    _end_process(code)


class Counted:
    """A line on a terminal that counts what is done of something long; where no terminal is, nothing."""

    def __init__(self, stream: TextIO, what: str) -> None:
        self._stream = stream if stream.isatty() else None
        self._what = what

    def told(self, done: int, of: int) -> None:
        """Show that so many are done, of so many."""
        if self._stream is not None:
            self._stream.write(f"\r{done} of {of} {self._what}")
            self._stream.flush()

    def over(self) -> None:
        """Take the line away."""
        if self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
