"""What delegated tasks report while they work: the reference for `task-progress`.

Where the description leaves a choice open, this implementation refuses and leaves everything as it was: what comes
before the start does not count later, and an abort ends a running task at once.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from conformance.references.threaded import Threaded, atomic
from conformance.refused import Refused

TERMINAL = ("completed", "failed", "aborted")
SYNTHETIC = "structured_output"  # the tool that only gives a result its form

Reply = dict[str, Any]
"""What is given to the outside: a reading of progress, a status of a batch, an announcement."""


@dataclass(slots=True, eq=False)
class DelegatedTask:
    """One delegated task with what it has reported; the instant in milliseconds of the virtual clock."""

    task_id: str
    label: str
    batch: str | None
    status: str = "pending"
    started_at: int | None = None
    tool_uses: int = 0
    input_tokens: int = 0
    """Of the newest message: upstream they are cumulative."""
    output_tokens: int = 0
    """Of all messages: each tells its own."""
    activities: list[Reply] = field(default_factory=list)
    """The newest uses of a tool, oldest first."""
    last_activity: Reply | None = None
    summary: str | None = None


@atomic
class TaskProgress(Threaded):
    """Tasks and what they report, safe to call from any number of callers.

    A reading shows the newest `activities` uses of a tool. `synthetic_counts` says whether the synthetic
    tool, which is never listed, is `counted`. Operations refuse by raising `Refused`.
    """

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"activities": 5},
        "policies": {"synthetic_counts": "counted"},
    }

    def __init__(self, *, activities: int = 5, synthetic_counts: str = "counted") -> None:
        super().__init__()
        self._activities, self._synthetic_counts = activities, synthetic_counts
        self._minted = 0
        self._tasks: dict[str, DelegatedTask] = {}
        self._subscribed = False

    # How a task lives.

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Reply:
        """Return a new task, pending; one whose registration fails has failed at once."""
        task = DelegatedTask(self._mint_id(), label, batch)
        self._tasks[task.task_id] = task
        if not registers:
            self._end(task, "failed")
        return {"task_id": task.task_id, "status": task.status}

    def start(self, task: str) -> None:
        """Begin to work. Refuses `not_found`, and `wrong_state` when the task is no longer pending."""
        self._start(self._find(task))

    def finish(self, task: str, outcome: str) -> None:
        """End a running task. Refuses `not_found` and `wrong_state`."""
        found = self._find(task)
        self._require_running(found)
        self._end(found, outcome)

    def abort(self, task: str) -> None:
        """End a task as aborted; a pending one then never runs. Refuses `not_found`, `wrong_state`."""
        self._abort(self._find(task))

    # What it reports.

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        """Count an assistant's message; others change nothing. Refuses `not_found` and `wrong_state`."""
        found = self._find(task)
        self._require_running(found)
        if self._counts(role):
            self._count_tokens(found, usage)
            for use in tools:
                self._count_use(found, use)

    def summarize(self, task: str, text: str) -> None:
        """Say in words what the task does; subscribers are told. Refuses `not_found`, `wrong_state`."""
        found = self._find(task)
        self._require_running(found)
        self._summarize(found, text)
        self._announce(found)

    def subscribe(self, on: bool) -> None:
        """Opt in to announcements, or out; at first nobody has."""
        self._subscribed = on

    # What callers see.

    def progress(self, task: str) -> Reply:
        """Return a reading of its own: later messages leave it as it is. Refuses `not_found`."""
        return copy.deepcopy(self._read(self._find(task)))

    def status(self, task: str) -> str:
        """Return where the task stands. Refuses `not_found`."""
        return self._find(task).status

    def batch_status(self, batch: str) -> Reply:
        """Return whether each task of the batch has ended. Raises Refused (`not_found`) for one that nobody used."""
        tasks = self._tasks_of(batch)
        if not tasks:
            raise Refused("not_found", "No such batch")
        return {"complete": self._is_complete(tasks)}

    # Rules of a task's life.

    def _mint_id(self) -> str:
        self._minted += 1
        return f"task-{self._minted}"

    def _find(self, task: str) -> DelegatedTask:
        found = self._tasks.get(task)
        if found is None:
            raise Refused("not_found", "No such task")
        return found

    def _require_running(self, task: DelegatedTask) -> None:
        if task.status != "running":
            raise Refused("wrong_state", f"The task is {task.status}")

    def _start(self, task: DelegatedTask) -> None:
        if task.status != "pending":
            raise Refused("wrong_state", f"The task is already {task.status}")
        task.status, task.started_at = "running", self._now

    def _abort(self, task: DelegatedTask) -> None:
        if task.status in TERMINAL:
            raise Refused("wrong_state", f"The task is already {task.status}")
        self._end(task, "aborted")

    def _end(self, task: DelegatedTask, outcome: str) -> None:
        if outcome not in TERMINAL:
            raise ValueError(f"not an outcome: {outcome!r}")
        task.status = outcome

    def _tasks_of(self, batch: str) -> list[DelegatedTask]:
        return [task for task in self._tasks.values() if task.batch == batch]

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        """Pending is not ended; aborted before the start is."""
        return all(task.status in TERMINAL for task in tasks)

    # Rules of counting.

    def _counts(self, role: str) -> bool:
        return role == "assistant"

    def _count_tokens(self, task: DelegatedTask, usage: Mapping[str, int | None]) -> None:
        task.input_tokens = self._input(usage)
        task.output_tokens += usage["output"] or 0

    def _input(self, usage: Mapping[str, int | None]) -> int:
        """Return all that was read, from a cache or not; a part that is not said is nothing."""
        return sum(usage.get(part) or 0 for part in ("input", "cache_creation", "cache_read"))

    def _count_use(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        synthetic = use["name"] == SYNTHETIC
        if not synthetic or self._synthetic_counts == "counted":
            task.tool_uses += 1
        if not synthetic:
            self._list(task, use)

    def _list(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        """Keep the newest; the caller may go on to change what it gave."""
        task.last_activity = copy.deepcopy({"name": use["name"], "input": use["input"]})
        task.activities.append(task.last_activity)
        del task.activities[: max(0, len(task.activities) - self._activities)]

    # Rules of telling.

    def _summarize(self, task: DelegatedTask, text: str) -> None:
        task.summary = text

    def _read(self, task: DelegatedTask) -> Reply:
        return {
            "tool_use_count": task.tool_uses,
            "latest_input_tokens": task.input_tokens,
            "cumulative_output_tokens": task.output_tokens,
            "token_count": self._total(task),
            "recent_activities": task.activities,
            "last_activity": task.last_activity,
            "summary": task.summary,
        }

    def _total(self, task: DelegatedTask) -> int:
        return task.input_tokens + task.output_tokens

    def _announce(self, task: DelegatedTask) -> None:
        """Only those who opted in are told."""
        if self._subscribed:
            self._signals.append(self._announcement(task))

    def _announcement(self, task: DelegatedTask) -> Reply:
        return {
            "signal": "announced",
            "task": task.task_id,
            "description": task.summary,
            "started_at": task.started_at,
            "total_tokens": self._total(task),
            "tool_uses": task.tool_uses,
            "summary": task.summary,
        }
