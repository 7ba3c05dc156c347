"""Whether a thread waits: on a busy machine one that does not run yet must not be taken for one that cannot."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from conformance.thread_state import ThreadState

OFTEN = 100_000
KNOWN = sys.platform == "linux"  # elsewhere nobody tells, and each thread is taken to wait


@contextmanager
def state_of(work: Callable[[threading.Event], object]) -> Iterator[ThreadState]:
    """The state of a thread while it does some work, until it is told to stop."""
    states: list[ThreadState] = []
    began, over = threading.Event(), threading.Event()

    def run() -> None:
        states.append(ThreadState())
        began.set()
        work(over)

    thread = threading.Thread(target=run)
    thread.start()
    began.wait()
    try:
        yield states[0]
    finally:
        over.set()
        thread.join()


def compute(over: threading.Event) -> None:
    while not over.is_set():
        hashlib.pbkdf2_hmac("sha256", b"x", b"x", 100_000)  # others can run meanwhile


@pytest.mark.parametrize(("work", "waits"), [(threading.Event.wait, True), (compute, not KNOWN)])
def test_a_thread_that_computes_does_not_wait(work: Callable[[threading.Event], object], waits: bool) -> None:
    with state_of(work) as state:
        assert any(state.waits is waits for _ in range(OFTEN))


def test_of_a_thread_that_has_ended_it_is_taken_that_it_waits() -> None:
    with state_of(threading.Event.wait) as state:
        pass
    assert state.waits
    state.close()
    state.close()
    assert state.waits


def test_where_no_one_tells_a_thread_is_taken_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "get_native_id", lambda: -1)
    assert ThreadState().waits
