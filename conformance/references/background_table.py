"""What all handles of a table of background tasks share, without a rule."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any, TypeAlias

TERMINAL = ("completed", "failed", "canceled")

Reply = dict[str, Any]
"""What is given to the outside: an outcome, a row of the list, the newest blocks of a history."""

Replies: TypeAlias = list[Reply]
Returned: TypeAlias = tuple[str, str]
"""How a body returned, completed or failed, and its text."""


class Crash(Exception):
    """A body that raised instead of returning."""


class CancelToken:
    """Asks a body to stop; a child is cancelled with its parent."""

    def __init__(self, parent: CancelToken | None = None) -> None:
        self._parent = parent
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """Whether anybody asked."""
        return self._cancelled or (self._parent is not None and self._parent.cancelled)

    def cancel(self) -> None:
        """Ask; it can be asked again."""
        self._cancelled = True


@dataclass(slots=True, eq=False)
class TaskRow:
    """What the table knows of one task."""

    task_id: str
    label: str
    serial: int
    """Its place among all that were spawned."""
    token: CancelToken
    body: asyncio.Future[Returned]
    status: str = "running"
    history: list[str] | None = None
    finish: int = 0
    """Its place among all that ended."""
    supervisor: asyncio.Task[None] | None = None


@dataclass(slots=True, eq=False)
class TaskTable:
    """What all handles share. Rows and outcomes have lifetimes of their own."""

    session: CancelToken = field(default_factory=CancelToken)
    rows: dict[str, TaskRow] = field(default_factory=dict)
    queue: deque[Reply] = field(default_factory=deque)
    permit: bool = False
    """A wake-up that nobody has waited for yet."""
    waiters: deque[asyncio.Future[None]] = field(default_factory=deque)
    supervisors: set[asyncio.Task[None]] = field(default_factory=set)
    """Those that still wait for their bodies; an event loop itself does not hold on to its tasks."""
    spawned: int = 0
    finished: int = 0
