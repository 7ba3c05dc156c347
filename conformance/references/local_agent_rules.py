"""The rules that the reference for `local-agent` is made of.

Each method is one rule and expects the lock to be held, so that a wrong implementation is a small
subclass. The operations that take the lock stand in `local_agent`.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

AGENT = "local_agent"
MAIN = "main-session"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

PROGRESS = ("tool_uses", "tokens", "activities", "summary")
SHOWN = (
    "task_id",
    "type",
    "agent_type",
    "description",
    "prompt",
    "status",
    "backgrounded",
    "notified",
    "retain",
    "evict_after",
    "pending_messages",
    "messages",
    "result",
    "error",
    "tool_use_id",
    "ended_at",
)
"""What a caller sees of a task, beside its progress."""

Reply = dict[str, Any]
"""What is given to the outside: a task as shown, a notification, a terminated event."""


@dataclass(slots=True, eq=False)
class AgentTask:
    """One task; instants in integer milliseconds of the virtual clock."""

    task_id: str
    type: str
    agent_type: str
    description: str
    prompt: str = ""
    backgrounded: bool = True
    tool_use_id: str | None = None
    status: str = "running"
    notified: bool = False
    retain: bool = False
    evict_after: int | None = None
    pending_messages: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    tool_uses: int = 0
    tokens: int = 0
    activities: list[str] = field(default_factory=list)
    summary: str | None = None
    result: str | None = None
    error: str | None = None
    ended_at: int | None = None
    controller: str | None = None
    """The name of the abort controller that this task shares with whoever gave it."""
    parent: str | None = None
    """Whose abort reaches this task."""
    aborted: bool = False
    session: bool = False
    """Whether its messages are the events of a query that notices an abort."""
    signal_resolved: bool = False
    background_at: int | None = None
    """When a task that has a background signal goes there by itself."""

    @property
    def main(self) -> bool:
        return self.agent_type == MAIN


class TaskRules:
    """What holds of all tasks together, whoever asks."""

    def __init__(self, *, grace: int = 30000, activities: int = 5) -> None:
        self._grace, self._activities = grace, activities
        self._lock = threading.RLock()
        self._now = 0
        self._minted = 0
        self._tasks: dict[str, AgentTask] = {}
        self._foregrounded: str | None = None
        self._notifications: list[Reply] = []
        self._terminated: list[Reply] = []

    # Rules of identity.

    def _locked(self) -> AbstractContextManager[bool]:
        return self._lock

    def _find(self, task: str | None) -> AgentTask | None:
        """Return the task, if it is ours."""
        found = self._tasks.get(task or "")
        return found if found is not None and found.type == AGENT else None

    def _find_running(self, task: str) -> AgentTask | None:
        found = self._find(task)
        return found if found is not None and found.status == "running" else None

    def _running(self) -> list[AgentTask]:
        """Return all of ours that run."""
        return [task for task in self._tasks.values() if task.type == AGENT and task.status == "running"]

    def _mint_id(self, prefix: str, length: int) -> str:
        self._minted += 1
        number, digits = self._minted, ""
        for _ in range(length):
            number, digit = divmod(number, 36)
            digits = DIGITS[digit] + digits
        return prefix + digits

    def _agent(self, description: str, prompt: str, agent_type: str | None, tool_use_id: str | None) -> AgentTask:
        task = AgentTask(self._mint_id("a", 8), AGENT, agent_type or "general-purpose", description, prompt)
        task.tool_use_id = tool_use_id
        return task

    def _main(self, description: str, messages: Sequence[str]) -> AgentTask:
        task = AgentTask(self._mint_id("s", 8), AGENT, MAIN, description)
        task.messages, task.output = list(messages), list(messages)
        return task

    def _register(self, task: AgentTask) -> Reply:
        self._tasks[task.task_id] = task
        return {"task_id": task.task_id}

    # Rules of background and foreground.

    def _background(self, task: AgentTask) -> None:
        if not task.backgrounded:
            task.backgrounded = task.signal_resolved = True

    def _time_out(self, task: AgentTask) -> None:
        """Only a task that runs; what the user did before makes no difference."""
        task.background_at = None
        self._background(task)

    def _foreground(self, task: AgentTask) -> list[str]:
        previous = self._find(self._foregrounded)
        if previous is not None and previous is not task:
            self._send_back(previous)
        task.backgrounded, self._foregrounded = False, task.task_id
        return list(task.messages)

    def _send_back(self, task: AgentTask) -> None:
        task.backgrounded = True

    def _in_background(self, task: AgentTask) -> bool:
        return task.status == "running" and task.backgrounded

    def _in_panel(self, task: AgentTask) -> bool:
        return task.type == AGENT and not task.main

    # Rules of ending.

    def _finish(self, task: AgentTask, status: str) -> None:
        if task.main:
            self._finish_main(task, status)
        else:
            self._end(task, status)
            self._begin_grace(task)

    def _finish_main(self, task: AgentTask, status: str) -> None:
        """Tell the surroundings; the user who watched it needs no notification."""
        task.messages = task.messages[-1:]
        self._end(task, status)
        if task.backgrounded:
            self._notify(task)
        else:
            task.notified = True
            self._announce(task, status, "Background session")

    def _end(self, task: AgentTask, status: str) -> None:
        task.status, task.ended_at = status, self._now
        task.output.clear()

    def _begin_grace(self, task: AgentTask) -> None:
        task.evict_after = None if task.retain else self._now + self._grace

    def _kill(self, task: AgentTask) -> None:
        self._abort(task)
        self._end(task, "killed")
        self._begin_grace(task)

    def _abort(self, task: AgentTask) -> None:
        """Abort a controller, for all who use it."""
        task.aborted = True
        if task.controller is not None:
            self._abort_named(task.controller)

    def _abort_named(self, name: str) -> None:
        for task in self._running():
            if name in (task.parent, task.controller):
                task.aborted = True

    def _clean_up(self, task: AgentTask) -> None:
        if task.main:
            del self._tasks[task.task_id]
        else:
            self._kill(task)

    def _release(self, task: AgentTask) -> None:
        task.retain = False
        if task.status != "running":
            self._begin_grace(task)

    def _may_leave(self, task: AgentTask) -> bool:
        if task.status == "running" or not task.notified:
            return False
        return task.main or self._grace_is_over(task)

    def _grace_is_over(self, task: AgentTask) -> bool:
        """No end of grace, no leaving: that is a retained task."""
        return task.evict_after is not None and task.evict_after <= self._now

    # Rules of telling.

    def _notify(self, task: AgentTask, **about: Any) -> None:
        if self._claim(task):
            self._notifications.append(self._notification(task) | copy.deepcopy(about))

    def _claim(self, task: AgentTask) -> bool:
        """Return whether the task is the caller's to tell of; it is one caller's at most, ever."""
        claimed = not task.notified
        task.notified = True
        return claimed

    def _notification(self, task: AgentTask) -> Reply:
        return {
            "task_id": task.task_id,
            "status": task.status,
            "description": task.description,
            "output_file": f"{task.task_id}.output",
            "tool_use_id": task.tool_use_id,
            "error": task.error,
        }

    def _announce(self, task: AgentTask, status: str, summary: str) -> None:
        event = {"task_id": task.task_id, "status": status, "tool_use_id": task.tool_use_id}
        self._terminated.append({**event, "summary": summary})

    # Rules of messages and progress.

    def _drain(self, task: AgentTask) -> list[str]:
        drained, task.pending_messages = task.pending_messages, []
        return drained

    def _append(self, task: AgentTask, text: str) -> None:
        task.messages.append(text)
        if task.main and task.status == "running":
            task.output.append(text)
        if task.session and task.aborted:
            self._notice_abort(task)

    def _notice_abort(self, task: AgentTask) -> None:
        """See, at the next event of the query, that it was aborted; somebody may have told that before."""
        if self._claim(task):
            self._announce(task, "stopped", task.description)

    def _recent(self, activities: Sequence[str]) -> list[str]:
        return list(activities)[-self._activities :] if self._activities else []

    def _show(self, task: AgentTask) -> Reply:
        shown = {name: copy.copy(getattr(task, name)) for name in SHOWN}
        progress = {name: copy.copy(getattr(task, name)) for name in PROGRESS}
        return {**shown, "progress": progress}
