"""The import of a module that is not ours: whatever it does instead of coming back is told, and nothing else happens."""

from __future__ import annotations

import importlib
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType

from conformance.errors import UsageError
from conformance.system import theirs
from conformance.system.broken import HarnessError
from conformance.system.tracing import is_own
from statemachines.diagnostics import did_you_mean

IMPORT_LIMIT = 30.0  # seconds that an import may take
_AGAIN = 1.0  # seconds after which one that went on all the same is told once more
_COPIES_COME = 1.0  # seconds within which a copy of this process has come back from an import, if it does


class _Late(BaseException):
    """Raised in an import that takes too long."""


def imported(name: str) -> ModuleType:
    """Import a module; raise UsageError when there is none, HarnessError when it does not come back as one.

    Raises KeyboardInterrupt when somebody interrupts it, whatever it makes of that.
    """
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        with theirs.process_stays(), _interruptible() as pressed, _no_copies(name):
            try:
                return importlib.import_module(name)
            finally:
                if pressed:  # whatever came of it
                    raise KeyboardInterrupt
    except HarnessError:
        raise
    except BaseException as error:
        if pressed:
            raise
        raise _told(name, error) from None


def _told(name: str, error: BaseException) -> Exception:
    """Return what is said of an import that raised."""
    if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
        hint = did_you_mean(name, (file.stem for file in Path().glob("*.py")))
        return UsageError(
            f"there is no module {error.name!r}; it is looked for in this directory and in what is "
            f"installed{f'; {hint}' if hint else ''}"
        )
    if isinstance(error, _Late):
        return HarnessError(
            f"{_place_of(error)}{name} cannot be imported: it did not come back within {IMPORT_LIMIT:g} s"
        )
    said = f"SyntaxError: {error.msg}" if type(error) is SyntaxError else theirs.error_told(error)
    missing = "; is it installed here?" if isinstance(error, ModuleNotFoundError) else ""
    return HarnessError(f"{_place_of(error)}{name} cannot be imported: {said}{missing}")


def _place_of(error: BaseException) -> str:
    """Return `file:line:column: ` of what an import ran last, or "" where no file is to blame."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{error.filename}:{error.lineno}:{error.offset or 1}: "
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}:{(frames[-1].colno or 0) + 1}: " if frames else ""


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """Yield a list that is not empty once somebody pressed Ctrl-C, and raise _Late where the body takes too long.

    Signals come to the main thread only: on another one neither happens. Where Ctrl-C is ignored, as in the background of a
    shell, it still is. What the body does to their handlers is undone.
    """
    pressed: list[int] = []
    pressing = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or pressing is None:
        yield pressed
        return

    def press(number: int, frame: FrameType | None) -> None:
        if callable(pressing):
            pressed.append(number)
            pressing(number, frame)

    def late(number: int, frame: FrameType | None) -> None:
        raise _Late

    signal.signal(signal.SIGINT, press)
    if not hasattr(signal, "setitimer"):
        try:
            yield pressed
        finally:
            signal.signal(signal.SIGINT, pressing)
        return
    ringing = signal.signal(signal.SIGALRM, late)
    timer = signal.setitimer(signal.ITIMER_REAL, IMPORT_LIMIT, _AGAIN)
    try:
        yield pressed
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, ringing)
        signal.signal(signal.SIGINT, pressing)


_forks = 0


def _forked() -> None:
    global _forks  # noqa: PLW0603 - forks are told to a function without arguments
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_forked)


@contextmanager
def _no_copies(name: str) -> Iterator[None]:
    """Raise HarnessError when the body forks and goes on in both processes; the copy ends here."""
    before, (reading, writing) = _forks, os.pipe()
    try:
        try:
            yield
        finally:
            theirs.end_copy(lambda: os.write(writing, b"."))
        came = _forks > before and select.select([reading], [], [], _COPIES_COME)[0]
        if came and os.read(reading, 1):
            raise HarnessError(f"{name} cannot be imported: it forks, and goes on in both processes")
    finally:
        os.close(reading)
        os.close(writing)
