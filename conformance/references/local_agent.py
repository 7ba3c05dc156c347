"""Local sub-agents and main sessions put into the background: the reference for `local-agent`.

Where the description leaves a choice open, this implementation does the least: an abort from above changes no status,
an ended task cannot be put into the background, its output is gone, and a session that ends after it was killed tells
nobody. One idea: the whole implementation, as its users would write it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from conformance.references.threaded import Threaded, atomic

AGENT = "local_agent"
MAIN = "main-session"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

PROGRESS = ("tool_uses", "tokens", "activities", "summary")
HIDDEN = ("output", "controller", "parent", "aborted", "session", "signal_resolved", "background_at")
"""What a caller does not see of a task, or asks for with an operation of its own."""

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
    status: str = "running"
    backgrounded: bool = True
    notified: bool = False
    retain: bool = False
    evict_after: int | None = None
    pending_messages: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    result: str | None = None
    error: str | None = None
    tool_use_id: str | None = None
    ended_at: int | None = None
    tool_uses: int = 0
    tokens: int = 0
    activities: list[str] = field(default_factory=list)
    summary: str | None = None
    output: list[str] = field(default_factory=list)
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


@atomic
class LocalAgents(Threaded):
    """A registry of tasks, safe to call from any number of threads.

    `grace` is how long an ended agent stays, in milliseconds; `activities` how many of the recent ones are kept. A call
    about a task that does not exist does nothing.
    """

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"grace": 30000, "activities": 5},
        "policies": {},
    }

    def __init__(self, *, grace: int = 30000, activities: int = 5) -> None:
        super().__init__()
        self._grace, self._activities = grace, activities
        self._minted = 0
        self._tasks: dict[str, AgentTask] = {}
        self._foregrounded: str | None = None
        self._notifications: list[Reply] = []
        self._terminated: list[Reply] = []

    # How tasks begin.

    def register_async(
        self,
        description: str,
        prompt: str,
        agent_type: str | None = None,
        parent: str | None = None,
        tool_use_id: str | None = None,
    ) -> Reply:
        """Begin an agent in the background. What aborts `parent` aborts it too."""
        task = self._agent(description, prompt, agent_type, tool_use_id)
        task.parent = parent
        return self._register(task)

    def register_foreground(
        self,
        description: str,
        prompt: str,
        agent_type: str | None = None,
        auto_background_ms: int | None = None,
        tool_use_id: str | None = None,
    ) -> Reply:
        """Begin an agent that is watched, until the user or the time puts it into the background."""
        task = self._agent(description, prompt, agent_type, tool_use_id)
        task.backgrounded = False
        if auto_background_ms is not None:
            task.background_at = self._now + auto_background_ms
        return self._register(task)

    def register_main(
        self, description: str, messages: Sequence[str] = (), backgrounded: bool = True, controller: str | None = None
    ) -> Reply:
        """Make a task of a main session; `controller` is the abort controller of the real query."""
        task = self._main(description, messages)
        task.backgrounded, task.controller = backgrounded, controller
        return self._register(task)

    def register_other(self, kind: str) -> Reply:
        """Begin a task of another kind, which is none of our business."""
        return self._register(AgentTask(self._mint_id(kind[0], 8), kind, kind, kind))

    def start_background_session(self, messages: Sequence[str], description: str) -> Reply:
        """Begin a main session with a query of its own, on a transcript of its own."""
        task = self._main(description, messages)
        task.session = True
        return self._register(task)

    # How they go to the background and come back.

    def background(self, task: str) -> None:
        """Put a running task into the background."""
        if found := self._find_running(task):
            self._background(found)

    def foreground(self, task: str) -> list[str] | None:
        """Show this task instead of the one before it, and give its messages."""
        found = self._find(task)
        return self._foreground(found) if found else None

    # How they end.

    def complete(self, task: str, result: str) -> None:
        """End a running task well."""
        if found := self._find_running(task):
            found.result = result
            self._finish(found, "completed")

    def fail(self, task: str, error: str) -> None:
        """End a running task badly."""
        if found := self._find_running(task):
            found.error = error
            self._finish(found, "failed")

    def kill(self, task: str) -> None:
        """Abort a running task; nobody is notified."""
        if found := self._find_running(task):
            self._kill(found)

    def kill_all(self) -> None:
        """Kill all that runs and is ours, main sessions included."""
        for task in self._running():
            self._kill(task)

    def abort_parent(self, parent: str) -> None:
        """Abort the controller of this name and what depends on it."""
        self._abort_named(parent)

    def process_exit(self) -> None:
        """Run the clean-ups that running tasks have registered."""
        for task in self._running():
            self._clean_up(task)

    def clear(self) -> None:
        """Clear the main conversation. No task is part of it."""

    def evict(self) -> None:
        """Drop all tasks that nobody needs any more."""
        for task in [each for each in self._tasks.values() if self._may_leave(each)]:
            del self._tasks[task.task_id]

    # Who is told.

    def notify(
        self,
        task: str,
        final_message: str | None = None,
        usage: Reply | None = None,
        worktree_path: str | None = None,
        branch: str | None = None,
    ) -> None:
        """Tell of the task, unless somebody did."""
        if found := self._find(task):
            self._notify(found, final_message=final_message, usage=usage, worktree_path=worktree_path, branch=branch)

    def mark_notified(self, task: str) -> None:
        """Take the task to be told of."""
        if found := self._find(task):
            found.notified = True

    # What is said to them and by them.

    def queue_message(self, task: str, text: str) -> None:
        """Leave a message for the agent."""
        if found := self._find(task):
            found.pending_messages.append(text)

    def drain_messages(self, task: str) -> list[str]:
        """Take all messages that were left, oldest first."""
        found = self._find(task)
        return self._drain(found) if found else []

    def append_message(self, task: str, text: str) -> None:
        """Add to the transcript that is shown."""
        if found := self._find(task):
            self._append(found, text)

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        """Report what a running task has done so far."""
        if found := self._find_running(task):
            found.tool_uses, found.tokens = tool_uses, tokens
            found.activities = self._recent(activities)

    def summarize(self, task: str, text: str) -> None:
        """Say in short what a running task does."""
        if found := self._find_running(task):
            found.summary = text

    def retain(self, task: str) -> None:
        """Keep the task, however long ago it ended."""
        if found := self._find(task):
            found.retain, found.evict_after = True, None

    def release(self, task: str) -> None:
        """Keep it no longer than the grace that begins now."""
        if found := self._find(task):
            self._release(found)

    # What can be seen.

    def get(self, task: str) -> Reply | None:
        """Return the task as shown, of whatever kind, or None."""
        return self._show(self._tasks[task]) if task in self._tasks else None

    def background_tasks(self) -> list[str]:
        """Return those that run and are not explicitly in the foreground."""
        return [task.task_id for task in self._tasks.values() if self._in_background(task)]

    def panel_tasks(self) -> list[str]:
        """Return the agents, ended ones included."""
        return [task.task_id for task in self._tasks.values() if self._in_panel(task)]

    def notifications(self) -> list[Reply]:
        """Return all that were sent so far, oldest first."""
        return copy.deepcopy(self._notifications)

    def terminated_events(self) -> list[Reply]:
        """Return all that were sent so far, oldest first."""
        return copy.deepcopy(self._terminated)

    def foregrounded_id(self) -> str | None:
        """Return the task that is shown."""
        return self._foregrounded

    def signal_resolved(self, task: str) -> bool:
        """Return whether whoever waits for the task to go to the background was told."""
        return task in self._tasks and self._tasks[task].signal_resolved

    def aborted(self, task: str) -> bool:
        """Return whether the task was told to stop."""
        return task in self._tasks and self._tasks[task].aborted

    def output(self, task: str) -> list[str]:
        """Return the task's own transcript, as long as it runs."""
        return list(self._tasks[task].output) if task in self._tasks else []

    def wait(self, ms: int) -> None:
        """Move the virtual clock."""
        self._now += ms
        for task in self._running():
            if task.background_at is not None and task.background_at <= self._now:
                self._time_out(task)

    # Rules of identity.

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
        kind = agent_type or "general-purpose"
        return AgentTask(self._mint_id("a", 8), AGENT, kind, description, prompt, tool_use_id=tool_use_id)

    def _main(self, description: str, messages: Sequence[str]) -> AgentTask:
        task_id = self._mint_id("s", 8)
        return AgentTask(task_id, AGENT, MAIN, description, messages=list(messages), output=list(messages))

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
        known = asdict(task)
        progress = {name: known.pop(name) for name in PROGRESS}
        return {name: value for name, value in known.items() if name not in HIDDEN} | {"progress": progress}
