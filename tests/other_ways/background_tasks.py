"""Tables of background tasks that do what the description leaves to them in another way than the reference."""

from __future__ import annotations

import itertools
import threading
from typing import Any, ClassVar

from conformance.references.background_tasks import BackgroundTasks
from tests.right.background_tasks.condition import ConditionTasks, Task


class KeepsAll(BackgroundTasks):
    """No row ever leaves: "an implementation may declare its own number", and this one has none."""

    declares: ClassVar[dict[str, Any]] = {**BackgroundTasks.declares, "limits": {"retained": None}}

    def __init__(self) -> None:
        super().__init__(retained=10**9)


class SaysThatItKeepsAll(BackgroundTasks):
    """A wrong one: it declares the same, and keeps as many as the reference."""

    declares: ClassVar[dict[str, Any]] = KeepsAll.declares


class EndsLate(ConditionTasks):
    """Legal: "a completion that comes after a row's own window". It takes longer than X9 waits, and says so."""

    declares: ClassVar[dict[str, Any]] = {**ConditionTasks.declares, "settles": 450}

    def finish(self, task: str, outcome: str, text: str) -> None:
        """Let the body return, which the table learns of later."""
        later = threading.Timer(0.35, super().finish, (task, outcome, text))
        later.daemon = True
        later.start()


class IdsOutsideTheLock(ConditionTasks):
    """Each spawn takes its number before it waits for the lock: spawns at once come in another order than their ids."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count(1_000)

    def spawn(self, label: str) -> dict[str, Any]:
        """Take a number, and only then the lock."""
        number = next(self._numbers)
        table = self._table()
        with table.changed:
            if table.closed:
                return super().spawn(label)
            table.tasks[number] = Task(label)
            return {"task_id": str(number)}

    def list(self) -> list[dict[str, Any]]:
        """Give the rows in the order of their ids."""
        return sorted(super().list(), key=lambda row: int(row["task_id"]))
