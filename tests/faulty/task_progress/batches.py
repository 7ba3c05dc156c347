"""Lies about when a batch is complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from conformance.references.task_progress import TERMINAL, DelegatedTask, Reply
from conformance.refused import Refused
from tests.faulty.task_progress.lie import Lie


class FirstEndCompletes(Lie):
    """A batch is complete when the first of its tasks has ended."""

    row, calls = "N6", 4

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        return any(task.status in TERMINAL for task in tasks)


class NothingRunsCompletes(Lie):
    """A batch is complete when none of its tasks runs, though some still wait."""

    row, calls = "N6", 2

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        return all(task.status != "running" for task in tasks)


class CompleteMeansSuccess(Lie):
    """A batch with a task that failed is never complete."""

    row, calls = "N6", 4

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        return super()._is_complete(tasks) and not self._failed(tasks)

    def _failed(self, tasks: Sequence[DelegatedTask]) -> bool:
        return any(task.status == "failed" and task.started_at is not None for task in tasks)


class OneFailureCompletes(CompleteMeansSuccess):
    """A batch is complete as soon as one of its tasks fails."""

    row, calls = "N6", 5

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        return Lie._is_complete(self, tasks) or self._failed(tasks)


class UnstartedIsNoPart(Lie):
    """A task that was aborted before its start keeps its batch from being complete."""

    row, calls = "B6", 3

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        return all(task.status in TERMINAL and self._ran(task) for task in tasks)

    def _ran(self, task: DelegatedTask) -> bool:
        return task.started_at is not None or task.status != "aborted"


class UnregisteredIsNoPart(Lie):
    """A task that could not be registered keeps its batch from being complete."""

    row, calls = "E4", 2

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        unregistered = [task for task in tasks if task.status == "failed" and task.started_at is None]
        return super()._is_complete(tasks) and not unregistered


class UnusedCrashes(Lie):
    """A batch that nobody used has no first task to look at."""

    row, calls = "X2", 1

    def batch_status(self, batch: str) -> Reply:
        with self._locked():
            _first, *_rest = self._tasks_of(batch)
        return super().batch_status(batch)


class BatchesAreOne(Lie):
    """A batch waits for the tasks of every other batch."""

    row, calls = "X5", 4

    def batch_status(self, batch: str) -> Reply:
        with self._locked():
            super().batch_status(batch)
            return {"complete": self._is_complete([task for task in self._tasks.values() if task.batch])}


class TasksWithoutBatchCount(Lie):
    """A batch waits for tasks that belong to none."""

    row, calls = "X5", 4

    def _tasks_of(self, batch: str) -> list[DelegatedTask]:
        return [task for task in self._tasks.values() if task.batch in {batch, None}]

    def batch_status(self, batch: str) -> Reply:
        with self._locked():
            if not super()._tasks_of(batch):
                raise Refused("not_found")
            return super().batch_status(batch)


class CompleteBatchIsForgotten(Lie):
    """A batch that was seen complete is not found any more."""

    row, calls = "X4", 4

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def batch_status(self, batch: str) -> Reply:
        with self._locked():
            if batch in self._seen:
                raise Refused("not_found")
            reply = super().batch_status(batch)
            if reply["complete"]:
                self._seen.add(batch)
            return reply


class EachEndCounts(Lie):
    """A batch counts how often its tasks were finished or aborted, twice for one that is finished again."""

    row, calls = "X29", 6

    def __init__(self) -> None:
        super().__init__()
        self._ends = Counter[str | None]()

    def finish(self, task: str, outcome: str) -> None:
        with self._locked():
            try:
                super().finish(task, outcome)
            finally:
                found = self._tasks.get(task)
                if found is not None and found.started_at is not None:
                    self._ends[found.batch] += 1

    def abort(self, task: str) -> None:
        with self._locked():
            super().abort(task)
            self._ends[self._tasks[task].batch] += 1

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        unregistered = sum(task.status == "failed" and task.started_at is None for task in tasks)
        return self._ends[tasks[0].batch] + unregistered >= len(tasks)


class BatchIgnoresCase(Lie):
    """Batches whose names differ only in capital letters are one."""

    row, calls = "X23", 4

    def _tasks_of(self, batch: str) -> list[DelegatedTask]:
        tasks = self._tasks.values()
        return [task for task in tasks if (task.batch or "").casefold() == batch.casefold()]


class BatchByBeginning(Lie):
    """A batch has the tasks of every batch whose name begins like its own."""

    row, calls = "X23", 4

    def _tasks_of(self, batch: str) -> list[DelegatedTask]:
        return [task for task in self._tasks.values() if (task.batch or "").startswith(batch)]


class BatchLooksAtAHundred(Lie):
    """A batch looks at the first hundred of its tasks, as a query with a limit would."""

    row, calls = "X25", 202

    def _tasks_of(self, batch: str) -> list[DelegatedTask]:
        return super()._tasks_of(batch)[:100]
