"""Whether a thread waits: on a busy machine one that does not run yet must not be taken for one that cannot."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from conformance.system.thread_state import waits

OFTEN = 100_000
NOBODY = 0  # no thread has this id; one that was joined may still be there for the kernel
KNOWN = sys.platform == "linux"  # elsewhere nobody tells, and each thread is taken to wait


@contextmanager
def thread_with(work: Callable[[threading.Event], object]) -> Iterator[int]:
    """A thread, by its native id, while it does some work, until it is told to stop."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,))
    thread.start()
    assert thread.native_id is not None
    try:
        yield thread.native_id
    finally:
        over.set()
        thread.join()


def compute(over: threading.Event) -> None:
    while not over.is_set():
        hashlib.pbkdf2_hmac("sha256", b"x", b"x", 100_000)  # others can run meanwhile


@pytest.mark.parametrize(
    ("work", "expected"), [(threading.Event.wait, True), (compute, not KNOWN)], ids=["waits", "computes"]
)
def test_a_thread_that_computes_does_not_wait(work: Callable[[threading.Event], object], expected: bool) -> None:
    with thread_with(work) as thread:
        assert any(waits(thread) is expected for _ in range(OFTEN))


def test_a_thread_that_is_not_there_is_taken_to_wait() -> None:
    assert waits(NOBODY)
