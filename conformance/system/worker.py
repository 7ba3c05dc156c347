"""The threads that make the calls, so that one which never returns can be left behind; and how long whoever asks waits."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from conformance.system.broken import Broken

SLICE = 0.05  # seconds
GLANCE = 5e-4  # the same where somebody looks meanwhile whether anything runs
_STEPS = 1000  # of a loop, within which an exception comes that is raised from elsewhere


def slices(limit: float, part: float = SLICE) -> Iterator[float]:
    """Walk the parts, in seconds, in which to wait so long for a system.

    Whoever waits sleeps a part at a time, and counts no more than that: on a machine so busy that it wakes late, the
    system that it waits for came late, too, and gets the time that is missing.
    """
    left = limit
    while left > 0:
        yield min(left, part)
        left -= part


def idle(seconds: float) -> None:
    """Sleep so many seconds, while the system does what it does of its own."""
    for part in slices(seconds):
        time.sleep(part)


def came(future: Future[Any], limit: float) -> bool:
    """Wait so many seconds for what a thread is to give; return whether it came, be it that it was cancelled."""
    for part in slices(limit):
        with contextlib.suppress(TimeoutError, CancelledError):
            future.exception(part)
        if future.done():
            return True
    return False


class LeftBehind(SystemExit):
    """Raised in a thread that nobody waits for any more, so that it does not take the time of all others."""

    def __init__(self) -> None:
        super().__init__(3)  # wherever it came out of a process, that must not look like one that conforms


_core: Callable[[], int] | None = None
"""Tells on which core this thread runs now; None where nobody can choose that."""
if hasattr(os, "sched_setaffinity"):
    with contextlib.suppress(OSError):  # a Python that loads no libraries
        _core = getattr(ctypes.CDLL(None), "sched_getcpu", None)


class Thread(threading.Thread):
    """A thread that may be left behind; it keeps no process from its end."""

    def __init__(self, function: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._function = function

    def run(self) -> None:
        """Call the function that it is for."""
        with contextlib.suppress(LeftBehind):
            self._function()


def leave(thread: threading.Thread) -> None:
    """End a thread that did not come back in time, as soon as it runs code of Python: one that waits, when that is over.

    Until then its interpreter would look for an exception at every step of every thread; Python 3.11 never comes beyond
    the first step of a function that is traced. One that this thread raises for itself ends that.
    """
    if not thread.is_alive() or thread.ident is None:
        return
    error, raise_in = ctypes.py_object(LeftBehind), ctypes.pythonapi.PyThreadState_SetAsyncExc
    other, this = ctypes.c_ulong(thread.ident), ctypes.c_ulong(threading.get_ident())
    with contextlib.suppress(LeftBehind):  # no function of Python is called in here
        raise_in(other, error)
        raise_in(this, error)
        for _ in range(_STEPS):
            pass


def waits(thread: int) -> bool:
    """Return whether a thread of this process, by its native id, waits; one that the machine is too busy to run does not.

    Where that cannot be read, of a thread that has ended or elsewhere than on Linux, it is taken to wait.
    """
    return state(thread) != "R"


def state(thread: int) -> str:
    """Return the letter by which Linux tells what a thread of this process does; an empty text where it cannot be read."""
    try:
        told = Path(f"/proc/self/task/{thread}/stat").read_text()
    except OSError:
        return ""
    return told.rpartition(") ")[2][:1]


def _let_run(thread: int | None, cores: set[int]) -> None:
    """Let a thread, by its native id, run on some cores alone; where it cannot be told so, wherever it likes."""
    if thread is not None and cores:
        with contextlib.suppress(
            OSError, ValueError
        ):  # it has ended, or this process may not, or nobody knows the core
            os.sched_setaffinity(thread, cores)


def _here() -> set[int]:
    """Return the core on which this thread runs now; none where nobody can choose that."""
    return {_core()} if _core is not None else set()


def _allowed() -> set[int]:
    """Return the cores on which this thread may run; none where nobody can choose that."""
    return os.sched_getaffinity(0) if _core is not None else set()


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """Let threads that are started meanwhile run where this one does, as they run one at a time; so does what these start.

    One that is called by another which waits for it may have to wait for a core as well, and long, where another process has it.
    """
    before = _allowed()
    _let_run(threading.get_native_id(), _here())
    try:
        yield
    finally:
        _let_run(0, before)


def fulfil(future: Future[Any], function: Callable[[], Any]) -> None:
    """Let others have what a function gives, or what it raises."""
    try:
        future.set_result(function())
    except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that asked
        future.set_exception(error)


def started(
    bodies: Sequence[Callable[[], Any]], during: Callable[[int], AbstractContextManager[None]]
) -> tuple[list[Thread], list[Future[Any]]]:
    """Evaluate bodies on threads of their own from a common start, each during what is given for its number.

    Returns the threads, and what will come of the bodies.
    """
    results: list[Future[Any]] = [Future() for _ in bodies]
    start = threading.Barrier(len(bodies))

    def together(body: Callable[[], Any]) -> Any:
        start.wait()
        return body()

    def work(index: int, body: Callable[[], Any]) -> None:
        with during(index):
            fulfil(results[index], partial(together, body))

    threads = [Thread(partial(work, *each)) for each in enumerate(bodies)]
    for thread in threads:
        thread.start()
    return threads, results


class Handover:
    """What one thread hands over to another, one thing after the other, each taken before the next one comes.

    Only the word that no more comes may take the place of what nobody has taken. A queue takes twice as long, as often as a call is
    made, and with a time limit it may wait for ever where a busy machine runs it too late.
    """

    def __init__(self) -> None:
        self.last: Any = None
        self._there = threading.Lock()
        self._there.acquire()

    def put(self, what: Any = None) -> None:
        """Hand something over, if it is only the word that it is there."""
        self.last = what
        with contextlib.suppress(RuntimeError):  # something was, and nobody has taken it
            self._there.release()

    def wait(self, seconds: float = -1) -> bool:
        """Wait so long, or without end; return whether something was handed over, that is the `last` now."""
        return self._there.acquire(timeout=seconds)


class Worker:
    """Runs one function after the other on a thread of its own, each within a time limit; for one caller at a time.

    stuck  one of them did not come back in time: the thread is left behind
    """

    def __init__(self) -> None:
        self.stuck = False
        self._work, self._done = Handover(), Handover()
        self._thread = Thread(partial(_serve, self._work, self._done))
        self._thread.start()

    def run(
        self, function: Callable[[], Any], limit: float, what: str, look: Callable[[], object] | None = None
    ) -> Any:
        """Return what the function gives, or raise what it raises; raise Broken after `limit` seconds.

        `look` is called again and again meanwhile.
        """
        if threading.current_thread() is self._thread:
            return function()
        try:
            allowed = _allowed()
            _let_run(self._thread.native_id, _here())
            self._work.put((function, allowed))
            for part in slices(limit, SLICE if look is None else GLANCE):
                if self._done.wait(part):
                    break
                if look is not None:
                    look()
            else:
                raise Broken("hang", f"{what} did not come back in time")
        except BaseException:  # whoever waits may be interrupted, too
            self.stuck = True
            self.stop()
            leave(self._thread)
            raise
        given, error = self._done.last
        if error is not None:
            raise error
        return given

    def stop(self) -> None:
        """Let the thread end after what it does now."""
        self._work.put(None)


def _serve(work: Handover, done: Handover) -> None:
    while work.wait() and work.last is not None:
        function, allowed = work.last
        _let_run(0, allowed)  # and whatever it starts
        try:
            done.put((function(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that asked
            done.put((None, error))
