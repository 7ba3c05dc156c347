"""Lies about notifications: how often, of what, and what they say."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.references.local_agent import AgentTask, LocalAgents, Reply
from tests.faulty.local_agent.lie import Lie


class NotifiedAtEachCall(Lie):
    """Each call sends a notification, not only the first."""

    row, calls = "E2", 4

    def _claim(self, task: AgentTask) -> bool:
        task.notified = True
        return True


class OneNotificationForAll(Lie):
    """After one task was told of, no other is."""

    row, calls = "E2", 5

    def _claim(self, task: AgentTask) -> bool:
        return super()._claim(task) and not self._notifications


class LastNotificationWins(Lie):
    """A second call replaces the notification that the first one sent."""

    row, calls = "E2", 4

    def _notify(self, task: AgentTask, **about: Any) -> None:
        kept = [each for each in self._notifications if each["task_id"] != task.task_id]
        if len(kept) < len(self._notifications):
            self._notifications, task.notified = kept, False
        super()._notify(task, **about)


class NotificationForgetsError(Lie):
    """A notification does not say why the task failed."""

    row, calls = "N8", 4

    def _notification(self, task: AgentTask) -> Reply:
        return {**super()._notification(task), "error": None}


class NotificationForgetsToolUse(Lie):
    """A notification does not say which tool use the task belongs to."""

    row, calls = "N8", 3

    def _notification(self, task: AgentTask) -> Reply:
        return {**super()._notification(task), "tool_use_id": None}


class NotificationForgetsUsage(Lie):
    """A notification does not say what the task has used."""

    row, calls = "N8", 3

    def _notify(self, task: AgentTask, **about: Any) -> None:
        super()._notify(task, **{**about, "usage": None})


class NotificationMixesBranchUp(Lie):
    """A notification gives the path of the worktree for its branch."""

    row, calls = "N8", 3

    def _notify(self, task: AgentTask, **about: Any) -> None:
        super()._notify(task, **{**about, "branch": about.get("worktree_path")})


class KilledIsToldAsFailed(Lie):
    """A killed task is notified of as failed."""

    row, calls = "N8", 4

    def _notification(self, task: AgentTask) -> Reply:
        told = super()._notification(task)
        return {**told, "status": "failed"} if task.status == "killed" else told


class NotificationHasNoFile(Lie):
    """A notification does not say where the output is."""

    row, calls = "N8", 11

    def _notification(self, task: AgentTask) -> Reply:
        return {**super()._notification(task), "output_file": None}


class MarkIsIgnored(Lie):
    """A task that was marked as notified is notified of nevertheless."""

    row, calls = "N10", 5

    def mark_notified(self, task: str) -> None:
        return


class MarkNotifies(Lie):
    """Marking a task as notified notifies of it."""

    row, calls = "N10", 4

    def mark_notified(self, task: str) -> None:
        self.notify(task)


class KillAllNotifies(Lie):
    """Killing all sends a notification for each of them."""

    row, calls = "N10", 3

    def kill_all(self) -> None:
        with self._locked():
            running = self._running()
            super().kill_all()
            for task in running:
                self._notify(task)


class MarkIsLostAtTheEnd(Lie):
    """A task that ends is no longer taken to be notified of."""

    row, calls = "E18", 4

    def _end(self, task: AgentTask, status: str) -> None:
        super()._end(task, status)
        task.notified = False


class RunningIsNotMarked(Lie):
    """Only a task that has ended can be marked as notified."""

    row, calls = "E18", 3

    def mark_notified(self, task: str) -> None:
        if self._find_running(task) is None:
            super().mark_notified(task)


class FailsLikeAgents(LocalAgents):
    """A right system: a main session that fails tells nothing of itself, and it says so."""

    declares: ClassVar[dict[str, Any]] = {**LocalAgents.declares, "policies": {"main_fails": "as_an_agent"}}

    def fail(self, task: str, error: str) -> None:
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                found.error = error
                (self._end if found.main else self._finish)(found, "failed")


class FailedMainTellsAgainstDeclaration(Lie):
    """It says that a main session that fails tells nothing of itself, and notifies."""

    row, calls = "X25", 3
    right = FailsLikeAgents
    declares = right.declares


class SummaryIsToolUse(Lie):
    """What is told of a task that belongs to no tool use carries its summary in place of one."""

    row, calls = "E26", 4

    def _notification(self, task: AgentTask) -> Reply:
        told = super()._notification(task)
        return {**told, "tool_use_id": task.tool_use_id or task.summary}
