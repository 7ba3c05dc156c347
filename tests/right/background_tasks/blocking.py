"""background-tasks for threads that block on a virtual clock: a lock, a condition, and who waits in line for which instant.

Construction: the clock is a number that only `wait` moves. Whoever waits for a completion stands in line with the instant at
which that is over, and blocks on the condition that the clock shares with all endings. An ending gives its wake-up to the
first in line; without a line it is kept, once.

Choices where the description leaves one:
- two ended rows stay, three blocks are shown; ids have a fixed width, so both orders are one;
- a body that was asked to stop counts as canceled, and its outcome says what it returned;
- a body that crashed has failed, and so has one whose function throws;
- after a cancel tasks begin asked to stop;
- what comes too late, or for a task that is not there, is ignored.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

RETAINED, RECENT = 2, 3


@dataclass(eq=False)
class Row:
    label: str
    status: str = "running"
    asked: bool = False
    last_words: str | None = None
    blocks: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Waiter:
    until: int
    woken: bool = False


class BlockingTasks:
    """Background tasks of a session; its calls block on the clock that `wait` moves."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"retained": RETAINED, "recent": RECENT},
        "policies": {
            "cancelled_body": "canceled",
            "crash": "failed",
            "spawn_after_cancel": "canceled",
            "id_order": "text",
            "spawn_throws": "failed_row",
            "canceled_outcome": "as_returned",
        },
    }

    def __init__(self) -> None:
        self._moved = threading.Condition()
        self._now = self._spawned = 0
        self._rows: dict[str, Row] = {}
        self._ended: deque[str] = deque()
        self._outcomes: list[dict[str, Any]] = []
        self._line: deque[Waiter] = deque()
        self._kept = self._cancelled = False
        self._told: list[dict[str, str]] = []

    def wait(self, ms: int) -> None:
        with self._moved:
            self._now += ms
            self._moved.notify_all()

    # -- what becomes of a task

    def spawn(self, label: str) -> dict[str, Any]:
        with self._moved:
            return {"task_id": self._begin(Row(label))}

    def spawn_with(self, does: str, label: str, text: str) -> dict[str, Any]:
        with self._moved:
            if does == "obliges":
                return {"task_id": self._begin(Row(label, last_words=text))}
            task = self._enter(Row(label))
            self._end(task, "failed", text)
            return {"task_id": task}

    def spawn_from(self, spawner: str, label: str) -> dict[str, Any]:
        return self.spawn(label)

    def _begin(self, row: Row) -> str:
        task = self._enter(row)
        if self._cancelled:
            self._ask(task)
        return task

    def _enter(self, row: Row) -> str:
        self._spawned += 1
        task = f"task{self._spawned:08d}"
        self._rows[task] = row
        return task

    def finish(self, task: str, outcome: str, text: str) -> None:
        with self._moved:
            self._end(task, outcome, text)

    def crash(self, task: str) -> None:
        with self._moved:
            self._end(task, "failed", "crashed")

    def _end(self, task: str, returned: str, text: str) -> None:
        row = self._rows.get(task)
        if row is None or row.status != "running":
            return
        row.status = "canceled" if row.asked else returned
        result = {"status": returned, "text": text}
        self._outcomes.append({"task_id": task, "label": row.label, "result": result})
        self._ended.append(task)
        while len(self._ended) > RETAINED:
            del self._rows[self._ended.popleft()]
        self._wake()

    def _wake(self) -> None:
        if self._line:
            self._line.popleft().woken = True
            self._moved.notify_all()
        else:
            self._kept = True

    def cancel_task(self, task: str) -> bool | None:
        with self._moved:
            row = self._rows.get(task)
            if row is None or row.status != "running":
                return None if row is None else False
            self._ask(task)
            return True

    def _ask(self, task: str) -> None:
        row = self._rows.get(task)  # of those asked before, one that ended may have made it leave
        if row is None or row.status != "running":
            return
        if not row.asked:
            row.asked = True
            self._told.append({"signal": "CancelSeen", "task_id": task})
        if row.last_words is not None:
            self._end(task, "failed", row.last_words)

    def cancel_all(self) -> None:
        with self._moved:
            self._cancelled = True
            for task in [*self._rows]:
                self._ask(task)

    def session_cancelled(self) -> None:
        self.cancel_all()

    # -- completions

    def drain_completed(self) -> list[dict[str, Any]]:
        with self._moved:
            drained, self._outcomes = self._outcomes, []
            return drained

    def has_completed(self) -> bool:
        with self._moved:
            return bool(self._outcomes)

    def wait_for_completion(self, timeout: int) -> bool:
        with self._moved:
            if self._kept:
                self._kept = False
                return True
            waiter = Waiter(self._now + self._allowed(timeout))
            self._line.append(waiter)
            self._block(waiter)
            if not waiter.woken:
                self._line.remove(waiter)
            return waiter.woken

    def _allowed(self, timeout: int) -> int:
        return timeout

    def _block(self, waiter: Waiter) -> None:
        while not waiter.woken and self._now < waiter.until:
            self._moved.wait()

    # -- observers

    def running_count(self) -> int:
        with self._moved:
            return [row.status for row in self._rows.values()].count("running")

    def list(self) -> list[dict[str, Any]]:
        with self._moved:
            return [
                {"task_id": task, "label": row.label, "status": row.status, "block_count": 0, "recent": []}
                for task, row in self._rows.items()
            ]

    def peek(self, task: str, recent: int | None = None) -> dict[str, Any] | None:
        with self._moved:
            row = self._rows.get(task)
            count = max(1, RECENT if recent is None else recent)
            return None if row is None else {"blocks": row.blocks[-count:], "total": len(row.blocks)}

    def attach_history(self, task: str) -> None:
        """Every task can have blocks."""

    def append_history(self, task: str, blocks: Sequence[str]) -> None:
        with self._moved:
            if task in self._rows:
                self._rows[task].blocks += blocks

    def signals(self) -> Sequence[dict[str, str]]:
        with self._moved:
            told, self._told = self._told, []
            return told

    def clone(self) -> None:
        """A second reference to one object is another handle: there is nothing to make."""
