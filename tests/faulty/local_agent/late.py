"""Lies about what comes late, and about tasks that nobody knows."""

from __future__ import annotations

from typing import Any

from conformance.references.local_agent import AgentTask
from tests.faulty.local_agent.lie import Lie


class KillAfterCompletionAborts(Lie):
    """A kill that comes after a main session completed still aborts its query."""

    row, calls = "X20", 4

    def kill(self, task: str) -> None:
        super().kill(task)
        with self._locked():
            found = self._find(task)
            if found is not None and found.main:
                found.aborted = True


class LateFailureWins(Lie):
    """A main session that fails after it was killed has failed."""

    row, calls = "X21", 4

    def fail(self, task: str, error: str) -> None:
        super().fail(task, error)
        with self._locked():
            found = self._find(task)
            if found is not None and found.main and found.status == "killed":
                found.status = "failed"


class BackgroundRevives(Lie):
    """An agent that has ended runs again when the user puts it into the background."""

    row, calls = "X24", 4

    def background(self, task: str) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None and found.status == "completed":
                found.status = "running"
        super().background(task)


class UnknownIsMade(Lie):
    """Asking for the output of a task that nobody knows makes a record of it."""

    row, calls = "X22", 2

    def output(self, task: str) -> list[str]:
        with self._locked():
            if self._find(task) is None:
                made = self._agent("", "", None, None)
                made.task_id = task
                self._tasks[task] = made
        return super().output(task)


class LateErrorIsKept(Lie):
    """The error of an agent that fails after it was killed is kept."""

    row, calls = "X23", 4

    def fail(self, task: str, error: str) -> None:
        super().fail(task, error)
        with self._locked():
            found = self._find(task)
            if found is not None and found.status == "killed":
                found.error = error


class LateEndIsStamped(Lie):
    """A main session that completes after it was killed ends anew, with the second time it does so."""

    row, calls = "X26", 6

    def __init__(self) -> None:
        super().__init__()
        self._late: set[str] = set()

    def complete(self, task: str, result: str) -> None:
        super().complete(task, result)
        with self._locked():
            found = self._find(task)
            if found is None or found.status != "killed":
                return
            if task in self._late:
                found.ended_at = self._now
            self._late.add(task)


class LateEndIsToldTwice(Lie):
    """A session that completes after it was killed tells that it was stopped, each time."""

    row, calls = "X29", 5

    def complete(self, task: str, result: str) -> None:
        super().complete(task, result)
        with self._locked():
            found = self._find(task)
            if found is not None and found.session and found.status == "killed":
                self._announce(found, "stopped", found.description)


class ReadingForgetsResult(Lie):
    """Who reads the output of a task that has ended takes its result away."""

    row, calls = "X30", 4

    def output(self, task: str) -> list[str]:
        with self._locked():
            found = self._find(task)
            if found is not None and found.status == "completed":
                found.result = None
        return super().output(task)


class AlikeIsToldAlready(Lie):
    """Of two agents alike that ended in the same way the second is taken for told of."""

    row, calls = "X31", 7

    def _notify(self, task: AgentTask, **about: Any) -> None:
        told = [(each["description"], each["tool_use_id"], each["status"]) for each in self._notifications]
        if task.tool_use_id is not None and (task.description, task.tool_use_id, task.status) in told:
            task.notified = True
            return
        super()._notify(task, **about)


class KeptIsNotInFront(Lie):
    """A task that somebody keeps is shown without being the one at the front."""

    row, calls = "X32", 6

    def _foreground(self, task: AgentTask) -> list[str]:
        return list(task.messages) if task.retain else super()._foreground(task)


class EndedStaysBehind(Lie):
    """A session that was killed is at the front and in the background."""

    row, calls = "X33", 4

    def _foreground(self, task: AgentTask) -> list[str]:
        messages = super()._foreground(task)
        task.backgrounded = task.session and task.status == "killed"
        return messages


class FirstGraceCounts(Lie):
    """Releasing a task whose grace has begun shows a new one, and the task leaves at the end of the first."""

    row, calls = "X34", 8

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._leaves_at: dict[str, int] = {}

    def _begin_grace(self, task: AgentTask) -> None:
        super()._begin_grace(task)
        if task.evict_after is not None:
            self._leaves_at.setdefault(task.task_id, task.evict_after)

    def _grace_is_over(self, task: AgentTask) -> bool:
        return task.evict_after is not None and self._leaves_at[task.task_id] <= self._now


class EndedSessionTakesController(Lie):
    """A main session that completes takes the controller away that it shares."""

    row, calls = "X35", 5

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._gone: set[str] = set()

    def complete(self, task: str, result: str) -> None:
        super().complete(task, result)
        with self._locked():
            found = self._find(task)
            if found is not None and found.controller is not None and found.status == "completed":
                self._gone.add(found.controller)

    def _abort_named(self, name: str) -> None:
        if name not in self._gone:
            super()._abort_named(name)
