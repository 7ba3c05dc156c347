"""background-tasks for threads: one log of endings, positions in it, and a condition.

Construction: there is no queue and no permit. Every ending is appended to a log that only grows. What is to
be drained is the part behind the drained position, a completion is news when the log is longer than a waiter
last saw, and the ended rows that stay are the last ones of the log. One `threading.Condition` guards it all;
a handle is an object of its own that holds on to the table.

Choices where the description leaves one:
- small limits of its own: 3 ended rows, 4 recent blocks; ids are numbers, ordered as such;
- a body that was asked to stop counts as it returned, so that it was asked is only told to it;
- a body that crashed stays running for ever, and a function that throws is a row that failed;
- a cancelled session refuses to spawn;
- everything that comes too late, or for a task that is not there, is ignored; blocks make their history.
"""

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from conformance.refused import Refused

RETAINED, RECENT = 3, 4


@dataclass(eq=False)
class Task:
    label: str
    result: tuple[str, str] | None = None
    crashed: bool = False
    asked: bool = False
    last_words: str | None = None
    blocks: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        return "running" if self.result is None else self.result[0]


class Table:
    """The state, and all that is done to it under its condition."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.tasks: dict[int, Task] = {}
        self.numbers = itertools.count(1)
        self.endings: list[tuple[int, Task]] = []
        self.drained = 0
        self.seen = 0
        self.closed = False
        self.told: list[int] = []

    def end(self, number: int, result: tuple[str, str]) -> None:
        task = self.tasks.get(number)
        if task is None or task.result is not None or task.crashed:
            return
        task.result = result
        self.endings.append((number, task))
        if len(self.endings) > RETAINED:
            left, _ = self.endings[-1 - RETAINED]
            del self.tasks[left]
        self.changed.notify_all()

    def add(self, label: str, last_words: str | None = None) -> int:
        if self.closed:
            raise Refused("session_cancelled")
        number = next(self.numbers)
        self.tasks[number] = Task(label, last_words=last_words)
        return number

    def ask(self, *numbers: int) -> None:
        for number in numbers:
            task = self.tasks.get(number)  # of those asked before, one that ended may have made it leave
            if task is not None and task.result is None and not (task.crashed or task.asked):
                task.asked = True
                self.told.append(number)
            if task is not None and task.last_words is not None:
                self.end(number, (self.returned(task, "failed"), task.last_words))

    def returned(self, task: Task, outcome: str) -> str:
        """As what a task counts whose body returned so: as that, asked to stop or not."""
        return outcome

    def await_news(self, seconds: float) -> bool:
        news = self.changed.wait_for(lambda: len(self.endings) > self.seen, seconds)
        self.seen = len(self.endings)
        return news


class Handle:
    """What a caller holds; a copy of it is as good."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def copy(self) -> "Handle":
        return Handle(self.table)


class ConditionTasks:
    """Background tasks of a session; safe to share between threads."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "real",
        "concurrency": "threads",
        "limits": {"retained": RETAINED, "recent": RECENT},
        "policies": {
            "cancelled_body": "as_returned",
            "crash": "stays_running",
            "spawn_after_cancel": "refused",
            "id_order": "numeric",
            "spawn_throws": "failed_row",
        },
    }

    def __init__(self) -> None:
        self._handles = [Handle(Table())]
        self._turns = itertools.count()

    def _table(self) -> Table:
        handles = self._handles
        return handles[next(self._turns) % len(handles)].table

    def clone(self) -> None:
        self._handles = [*self._handles, self._handles[-1].copy()]

    # -- what becomes of a task

    def spawn(self, label: str) -> dict[str, Any]:
        table = self._table()
        with table.changed:
            return {"task_id": str(table.add(label))}

    def spawn_with(self, does: str, label: str, text: str) -> dict[str, Any]:
        table = self._table()
        with table.changed:
            number = table.add(label, text if does == "obliges" else None)
            table.tasks[number].crashed = does == "raises"
            if does == "throws":
                table.end(number, ("failed", text))
            return {"task_id": str(number)}

    def spawn_from(self, spawner: str, label: str) -> dict[str, Any]:
        """Whoever spawns is nobody's affair."""
        return self.spawn(label)

    def finish(self, task: str, outcome: str, text: str) -> None:
        table = self._table()
        with table.changed:
            table.end(number_of(task), (outcome, text))

    def crash(self, task: str) -> None:
        table = self._table()
        with table.changed:
            found = table.tasks.get(number_of(task))
            if found is not None:
                found.crashed = True

    def cancel_task(self, task: str) -> bool | None:
        table = self._table()
        with table.changed:
            found = table.tasks.get(number_of(task))
            if found is None or found.result is not None:
                return None if found is None else False
            table.ask(number_of(task))
            return True

    def cancel_all(self) -> None:
        table = self._table()
        with table.changed:
            table.closed = True
            table.ask(*table.tasks)

    def session_cancelled(self) -> None:
        self.cancel_all()

    def signals(self) -> Sequence[dict[str, str]]:
        table = self._table()
        with table.changed:
            told, table.told = table.told, []
        return [{"signal": "CancelSeen", "task_id": str(number)} for number in told]

    # -- completions

    def drain_completed(self) -> list[dict[str, Any]]:
        table = self._table()
        with table.changed:
            new = table.endings[table.drained :]
            table.drained = len(table.endings)
        return [outcome(number, task) for number, task in new]

    def has_completed(self) -> bool:
        table = self._table()
        with table.changed:
            return len(table.endings) > table.drained

    def wait_for_completion(self, timeout: int) -> bool:
        table = self._table()
        with table.changed:
            return table.await_news(timeout / 1000)

    # -- observers

    def running_count(self) -> int:
        table = self._table()
        with table.changed:
            return [task.status for task in table.tasks.values()].count("running")

    def list(self) -> list[dict[str, Any]]:
        table = self._table()
        with table.changed:
            return [
                {
                    "task_id": str(number),
                    "label": task.label,
                    "status": task.status,
                    "block_count": 0,
                    "recent": [],
                }
                for number, task in table.tasks.items()
            ]

    def peek(self, task: str, recent: int | None = None) -> dict[str, Any] | None:
        wanted = RECENT if recent is None else recent or 1
        table = self._table()
        with table.changed:
            found = table.tasks.get(number_of(task))
            return None if found is None else {"blocks": found.blocks[-wanted:], "total": len(found.blocks)}

    def attach_history(self, task: str) -> None:
        """Every task can have blocks."""

    def append_history(self, task: str, blocks: Sequence[str]) -> None:
        table = self._table()
        with table.changed:
            found = table.tasks.get(number_of(task))
            if found is not None:
                found.blocks += blocks


def number_of(task: str) -> int:
    """The number that is an id; 0, which is none, for any other text."""
    return int(task) if task.isascii() and task.isdecimal() and not task.startswith("0") else 0


def outcome(number: int, task: Task) -> dict[str, Any]:
    assert task.result is not None, "only an ended task is in the log"
    status, text = task.result
    return {"task_id": str(number), "label": task.label, "result": {"status": status, "text": text}}
