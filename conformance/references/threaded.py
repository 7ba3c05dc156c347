"""What the references that are called from threads share: one lock, a virtual clock, and signals.

The lock guards everything: an operation is one atomic step, and a method that starts with an underscore expects the
lock to be held.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

System = TypeVar("System", bound="Threaded")


def atomic(system: type[System]) -> type[System]:
    """Make each public method of a class one atomic step: whoever calls it holds the lock."""
    for name, method in [*vars(system).items()]:
        if callable(method) and not name.startswith("_"):
            setattr(system, name, _under_the_lock(method))
    return system


def _under_the_lock(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def step(self: Threaded, *arguments: Any, **named: Any) -> Any:
        with self._locked():
            return method(self, *arguments, **named)

    return step


@atomic
class Threaded:
    """A system that any number of threads may call, with the controls of the kit that are the same for all of them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._now = 0
        self._signals: list[dict[str, Any]] = []

    def wait(self, ms: int) -> None:
        """Move the virtual clock."""
        self._now += ms

    def signals(self) -> list[dict[str, Any]]:
        """Return what was done beside replying since the last call."""
        taken, self._signals = self._signals, []
        return taken

    def _locked(self) -> AbstractContextManager[bool]:
        return self._lock

    def _signal(self, name: str, **about: Any) -> None:
        self._signals.append({"signal": name, **about})
