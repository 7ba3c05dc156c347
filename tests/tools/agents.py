"""Local agents on a clock that runs on by itself: `wait` moves it, and so does the time that passes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

from conformance.references.local_agent import AgentTask, LocalAgents

SECOND = 1000


class RunningAgents(LocalAgents):
    """Whoever calls finds the clock where it is by then."""

    declares: ClassVar[dict[str, Any]] = {**LocalAgents.declares, "clock": "running"}

    def __init__(self) -> None:
        super().__init__()
        self._began, self._moved, self._calls = time.monotonic(), 0, 0

    def _locked(self) -> AbstractContextManager[bool]:
        return self._on_time()

    @contextmanager
    def _on_time(self) -> Iterator[bool]:
        """Hold the lock; what has been due happens first."""
        with self._lock:
            self._calls += 1
            passed = int((time.monotonic() - self._began) * 1000) + self._moved - self._now
            if self._calls == 1 and passed > 0:
                super().wait(passed)
            try:
                yield True
            finally:
                self._calls -= 1

    def wait(self, ms: int) -> None:
        """Move the clock on."""
        with self._lock:
            self._moved += ms


class GraceIsShort(RunningAgents):
    """An agent may leave a second before its grace is over."""

    def _grace_is_over(self, task: AgentTask) -> bool:
        return task.evict_after is not None and self._now >= task.evict_after - SECOND


class GraceIsLong(RunningAgents):
    """An agent stays for a second more than its grace."""

    def _grace_is_over(self, task: AgentTask) -> bool:
        return task.evict_after is not None and self._now >= task.evict_after + SECOND
