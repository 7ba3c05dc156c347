"""The system's own code in the kit's process.

What it raises is told apart from what interrupts the kit; what would end the process, or run it twice, is stopped.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from conformance.refused import Refused
from conformance.system.broken import Broken, HarnessError

_end_process = os._exit
_process = os.getpid()
_staying = 0  # who wants the process to stay
_lock = threading.Lock()


class Raised(Exception):
    """What a system raised: not to be taken for what is raised where somebody waits for the system, Ctrl-C above all."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class Exited(SystemExit):
    """Raised where a system calls `os._exit`, which would end the run as if it had come to its end."""


def run(function: Callable[[], Any]) -> Any:
    """Return what something of the system's gives; raise Raised for what it raises, but Refused and what is the kit's as they are."""
    try:
        return function()
    except (Refused, Broken, HarnessError):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the system raises is its defect
        raise Raised(error) from None
    finally:
        end_copy()


async def run_async(function: Callable[[], Awaitable[Any]]) -> Any:
    """Return what a coroutine of the system's gives; raise Raised as `run` does, but a cancellation is that of the loop."""
    import asyncio

    try:
        return await function()
    except (Refused, Broken, HarnessError, asyncio.CancelledError):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the system raises is its defect
        raise Raised(error) from None
    finally:
        end_copy()


def end_copy(before: Callable[[], object] = lambda: None) -> None:
    """End this process if it is a copy: a system that forks, and goes on in both, must not run the kit twice."""
    if os.getpid() != _process and _staying:
        before()
        _end_process(0)


@contextmanager
def process_stays() -> Iterator[None]:
    """Keep `os._exit` from ending this process: raise Exited where it is called."""
    global _staying, _process  # noqa: PLW0603 - `os._exit` is one for the whole process
    with _lock:
        _staying += 1
        if _staying == 1:
            _process = os.getpid()
            os._exit = _exit
    try:
        yield
    finally:
        with _lock:
            _staying -= 1
            if not _staying:
                os._exit = _end_process


def _exit(status: int) -> NoReturn:
    if os.getpid() != _process or not _staying:  # a child that ends is no business of ours
        _end_process(status)
    raise Exited(f"os._exit({status})")


# ── Values and errors of the system, in words ──

TOLD = 80  # characters of a value
LONGEST_TEXT = 10_000  # characters of what an error says
_WITHIN = {list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}")}


def told(value: Any, most: int = TOLD) -> str:
    """Write a value in so many characters at most, however long, deep or odd it is; what cannot be written is its type."""
    text, size = "", 0
    for piece in _pieces(value, most):
        text, size = text + piece, size + len(piece)
        if size > most:
            return f"{text[: most - 3]}…"
    return text


def _pieces(value: Any, most: int) -> Iterator[str]:
    """Walk what a value is written as. No more is looked at than is asked for."""
    kind: type = type(value)
    if kind in _WITHIN and value:
        begin, end = _WITHIN[kind]
        yield begin
        for number, each in enumerate(value):
            yield ", " if number else ""
            yield from _pieces(each, most)
            if kind is dict:
                yield ": "
                yield from _pieces(value[each], most)
        yield f",{end}" if kind is tuple and len(value) == 1 else end
        return
    try:
        yield repr(value[: most + 1] if kind in (str, bytes) else value)[: most + 1]
    except Exception:  # noqa: BLE001 - a value that cannot be written, or is too large or too deep for that
        yield f"<{kind.__name__}>"


def error_told(error: BaseException) -> str:
    """Write an exception of the system's: its type, and what it says, if it can be asked."""
    try:
        return _shortened(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001 - an error whose text is an error
        return type(error).__name__


def code_of(refusal: Refused) -> str:
    """Return the code of a refusal as a plain text, whatever it is."""
    try:
        return _shortened(str.__str__(str(refusal.code)))
    except Exception:  # noqa: BLE001 - the same
        return told(refusal.code)


def _shortened(text: str) -> str:
    """Return a text, without its middle where nobody would read all of it."""
    half = LONGEST_TEXT // 2
    return text if len(text) <= LONGEST_TEXT else f"{text[:half]} … {text[-half:]} ({len(text)} characters)"
