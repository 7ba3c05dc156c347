"""Local sub-agents and main sessions put into the background: the reference for `local-agent`.

Written from the source's own description of the life cycle alone, not from the spec and
not from the generated model: two independent readings that must agree. Where the description leaves
a choice open, this implementation does the least: an abort from above changes no status, an ended
task cannot be put into the background, its output is gone, and a session that ends after it was
killed tells nobody.

One lock guards everything: an operation is one atomic step. What an operation does stands in
`local_agent_rules`.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

from conformance.references.local_agent_rules import AgentTask, Reply, TaskRules


class LocalAgents(TaskRules):
    """A registry of tasks, safe to call from any number of threads.

    `grace` is how long an ended agent stays, in milliseconds; `activities` how many of the recent ones
    are kept. A call about a task that does not exist does nothing.
    """

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"grace": 30000, "activities": 5},
        "policies": {},
    }

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
        with self._locked():
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
        with self._locked():
            task = self._agent(description, prompt, agent_type, tool_use_id)
            task.backgrounded = False
            if auto_background_ms is not None:
                task.background_at = self._now + auto_background_ms
            return self._register(task)

    def register_main(
        self,
        description: str,
        messages: Sequence[str] = (),
        backgrounded: bool = True,
        controller: str | None = None,
    ) -> Reply:
        """Make a task of a main session; `controller` is the abort controller of the real query."""
        with self._locked():
            task = self._main(description, messages)
            task.backgrounded, task.controller = backgrounded, controller
            return self._register(task)

    def register_other(self, kind: str) -> Reply:
        """Begin a task of another kind, which is none of our business."""
        with self._locked():
            return self._register(AgentTask(self._mint_id(kind[0], 8), kind, kind, kind))

    def start_background_session(self, messages: Sequence[str], description: str) -> Reply:
        """Begin a main session with a query of its own, on a transcript of its own."""
        with self._locked():
            task = self._main(description, messages)
            task.session = True
            return self._register(task)

    # How they go to the background and come back.

    def background(self, task: str) -> None:
        """Put a running task into the background."""
        with self._locked():
            found = self._find(task)
            if found is not None and found.status == "running":
                self._background(found)

    def foreground(self, task: str) -> list[str] | None:
        """Show this task instead of the one before it, and give its messages."""
        with self._locked():
            found = self._find(task)
            return None if found is None else self._foreground(found)

    # How they end.

    def complete(self, task: str, result: str) -> None:
        """End a running task well."""
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                found.result = result
                self._finish(found, "completed")

    def fail(self, task: str, error: str) -> None:
        """End a running task badly."""
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                found.error = error
                self._finish(found, "failed")

    def kill(self, task: str) -> None:
        """Abort a running task; nobody is notified."""
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                self._kill(found)

    def kill_all(self) -> None:
        """Kill all that runs and is ours, main sessions included."""
        with self._locked():
            for task in self._running():
                self._kill(task)

    def abort_parent(self, parent: str) -> None:
        """Abort the controller of this name and what depends on it."""
        with self._locked():
            self._abort_named(parent)

    def process_exit(self) -> None:
        """Run the clean-ups that running tasks have registered."""
        with self._locked():
            for task in self._running():
                self._clean_up(task)

    def clear(self) -> None:
        """Clear the main conversation. No task is part of it."""

    def evict(self) -> None:
        """Drop all tasks that nobody needs any more."""
        with self._locked():
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
        with self._locked():
            found = self._find(task)
            if found is not None:
                about = {"final_message": final_message, "usage": usage}
                self._notify(found, **about, worktree_path=worktree_path, branch=branch)

    def mark_notified(self, task: str) -> None:
        """Take the task to be told of."""
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.notified = True

    # What is said to them and by them.

    def queue_message(self, task: str, text: str) -> None:
        """Leave a message for the agent."""
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.pending_messages.append(text)

    def drain_messages(self, task: str) -> list[str]:
        """Take all messages that were left, oldest first."""
        with self._locked():
            found = self._find(task)
            return [] if found is None else self._drain(found)

    def append_message(self, task: str, text: str) -> None:
        """Add to the transcript that is shown."""
        with self._locked():
            found = self._find(task)
            if found is not None:
                self._append(found, text)

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        """Report what a running task has done so far."""
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                found.tool_uses, found.tokens = tool_uses, tokens
                found.activities = self._recent(activities)

    def summarize(self, task: str, text: str) -> None:
        """Say in short what a running task does."""
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                found.summary = text

    def retain(self, task: str) -> None:
        """Keep the task, however long ago it ended."""
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.retain, found.evict_after = True, None

    def release(self, task: str) -> None:
        """Keep it no longer than the grace that begins now."""
        with self._locked():
            found = self._find(task)
            if found is not None:
                self._release(found)

    # What can be seen.

    def get(self, task: str) -> Reply | None:
        """Return the task as shown, of whatever kind, or None."""
        with self._locked():
            found = self._tasks.get(task)
            return None if found is None else self._show(found)

    def background_tasks(self) -> list[str]:
        """Return those that run and are not explicitly in the foreground."""
        with self._locked():
            return [task.task_id for task in self._tasks.values() if self._in_background(task)]

    def panel_tasks(self) -> list[str]:
        """Return the agents, ended ones included."""
        with self._locked():
            return [task.task_id for task in self._tasks.values() if self._in_panel(task)]

    def notifications(self) -> list[Reply]:
        """Return all that were sent so far, oldest first."""
        with self._locked():
            return copy.deepcopy(self._notifications)

    def terminated_events(self) -> list[Reply]:
        """Return all that were sent so far, oldest first."""
        with self._locked():
            return copy.deepcopy(self._terminated)

    def foregrounded_id(self) -> str | None:
        """Return the task that is shown."""
        with self._locked():
            return self._foregrounded

    def signal_resolved(self, task: str) -> bool:
        """Return whether whoever waits for the task to go to the background was told."""
        with self._locked():
            found = self._tasks.get(task)
            return found is not None and found.signal_resolved

    def aborted(self, task: str) -> bool:
        """Return whether the task was told to stop."""
        with self._locked():
            found = self._tasks.get(task)
            return found is not None and found.aborted

    def output(self, task: str) -> list[str]:
        """Return the task's own transcript, as long as it runs."""
        with self._locked():
            found = self._tasks.get(task)
            return [] if found is None else list(found.output)

    def wait(self, ms: int) -> None:
        """Move the virtual clock."""
        with self._locked():
            self._now += ms
            for task in self._running():
                if task.background_at is not None and task.background_at <= self._now:
                    self._time_out(task)
