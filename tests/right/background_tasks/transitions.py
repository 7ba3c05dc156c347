"""background-tasks on an event loop, by a table of transitions and an `asyncio.Event`.

Construction: what a task becomes is looked up by what it is and what happens to it; what is not in the table
does not happen. A task that was asked to stop is in a state of its own that is shown as running. There are no
asyncio tasks and no tokens: only waiting is asynchronous, and a completion sets an event, which is all the
permit there is.

Choices where the description leaves one:
- one ended row stays, and two blocks are shown; ids have a fixed width, so both orders are one;
- what a canceled task brings is said to be canceled; after a cancel tasks can be spawned as before;
- the error of a function that throws is that of its caller, who gets no task;
- what comes too late, or for a task that is not there, is refused.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from conformance.refused import Refused

RETAINED, RECENT = 1, 2

AFTER: dict[tuple[str, str], str] = {
    ("running", "cancel"): "stopping",
    ("stopping", "cancel"): "stopping",
    ("running", "completed"): "completed",
    ("running", "failed"): "failed",
    ("running", "crash"): "failed",
    ("stopping", "completed"): "canceled",
    ("stopping", "failed"): "canceled",
    ("stopping", "crash"): "failed",
}


@dataclass(frozen=True, slots=True)
class Task:
    id: str
    label: str
    state: str = "running"
    blocks: tuple[str, ...] | None = None
    last_words: str | None = None

    @property
    def status(self) -> str:
        return "running" if self.state == "stopping" else self.state


class TransitionTasks:
    """Background tasks of a session, for callers on one event loop."""

    declares: ClassVar[dict[str, Any]] = {
        "concurrency": "async",
        "limits": {"retained": RETAINED, "recent": RECENT},
        "policies": {
            "cancelled_body": "canceled",
            "crash": "failed",
            "spawn_after_cancel": "runs",
            "id_order": "text",
            "canceled_outcome": "canceled",
            "spawn_throws": "reaches_caller",
        },
    }

    def __init__(self) -> None:
        self._spawned = 0
        self._tasks: dict[str, Task] = {}  # the ended ones behind the others, the last to finish last
        self._outcomes: list[dict[str, Any]] = []
        self._completion = asyncio.Event()
        self._came: list[dict[str, Any]] = []

    def spawn(self, label: str) -> dict[str, str]:
        self._spawned += 1
        task = Task(f"t{self._spawned:06x}", label)
        self._tasks[task.id] = task
        return {"task_id": task.id}

    def spawn_with(self, does: str, label: str, text: str) -> dict[str, str]:
        if does == "throws":
            raise Refused("function_threw")
        made = self.spawn(label)
        if does == "raises":
            self.crash(made["task_id"])
        else:
            self._tasks[made["task_id"]] = replace(self._tasks[made["task_id"]], last_words=text)
        return made

    def spawn_from(self, spawner: str, label: str) -> dict[str, str]:
        if spawner not in self._tasks:
            raise Refused("not_found")
        return self.spawn(label)

    def finish(self, task: str, outcome: str, text: str) -> None:
        self._end(self._moved(task, outcome), text)

    def crash(self, task: str) -> None:
        self._end(self._moved(task, "crash"), "")

    def cancel_task(self, task: str) -> bool | None:
        if task not in self._tasks:
            return None
        if self._tasks[task].status != "running":
            return False
        if self._tasks[task].state == "running":
            self._came.append({"signal": "CancelSeen", "task_id": task})
        asked = self._tasks[task] = self._moved(task, "cancel")
        if asked.last_words is not None:
            self.finish(task, "failed", asked.last_words)
        return True

    def cancel_all(self) -> None:
        for task in [*self._tasks]:
            self.cancel_task(task)

    def session_cancelled(self) -> None:
        self.cancel_all()

    def _moved(self, task: str, event: str) -> Task:
        known = self._tasks.get(task)
        if known is None:
            raise Refused("not_found")
        if (known.state, event) not in AFTER:
            raise Refused("wrong_state", f"no {event} when {known.state}")
        return replace(known, state=AFTER[known.state, event])

    def _end(self, task: Task, text: str) -> None:
        del self._tasks[task.id]
        self._tasks[task.id] = task
        ended = [each.id for each in self._tasks.values() if each.status != "running"]
        for evicted in ended[:-RETAINED]:
            del self._tasks[evicted]
        result = {"status": task.status, "text": text}
        self._outcomes.append({"task_id": task.id, "label": task.label, "result": result})
        self._completion.set()

    def drain_completed(self) -> list[dict[str, Any]]:
        drained, self._outcomes = self._outcomes, []
        return drained

    def has_completed(self) -> bool:
        return self._outcomes != []

    async def wait_for_completion(self, timeout: int) -> bool:  # noqa: ASYNC109 - so the life cycle names it
        try:
            async with asyncio.timeout(timeout / 1000):
                await self._completion.wait()
        except TimeoutError:
            return False
        self._completion.clear()
        return True

    def running_count(self) -> int:
        return len([task for task in self._tasks.values() if task.status == "running"])

    def list(self) -> list[dict[str, Any]]:
        rows = [self._tasks[task] for task in sorted(self._tasks)]
        return [
            {"task_id": row.id, "label": row.label, "status": row.status, "block_count": 0, "recent": []}
            for row in rows
        ]

    def peek(self, task: str, recent: int | None = None) -> dict[str, Any] | None:
        if task not in self._tasks:
            return None
        blocks = self._tasks[task].blocks or ()
        shown = RECENT if recent is None else recent
        return {"blocks": [*blocks[-max(1, shown) :]], "total": len(blocks)}

    def attach_history(self, task: str) -> None:
        if task not in self._tasks:
            raise Refused("not_found")
        self._tasks[task] = replace(self._tasks[task], blocks=self._tasks[task].blocks or ())

    def append_history(self, task: str, blocks: Sequence[str]) -> None:
        known = self._tasks.get(task)
        if known is None or known.blocks is None:
            raise Refused("not_found")
        self._tasks[task] = replace(known, blocks=(*known.blocks, *blocks))

    def signals(self) -> Sequence[dict[str, Any]]:
        came, self._came = self._came, []
        return came

    def clone(self) -> None:
        """A second reference to one object is another handle: there is nothing to make."""
