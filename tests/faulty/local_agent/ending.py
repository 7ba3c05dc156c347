"""Lies about how tasks end, and what can still come for one that has ended."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.references.local_agent import AgentTask
from tests.faulty.local_agent.lie import Lie


class ResultIsLost(Lie):
    """A task that completes does not keep its result."""

    row, calls = "N5", 3

    def complete(self, task: str, result: str) -> None:
        super().complete(task, "")


class CompletionNotifies(Lie):
    """An agent that ends is notified of at once."""

    row, calls = "N5", 3

    def _begin_grace(self, task: AgentTask) -> None:
        super()._begin_grace(task)
        if task.status == "completed":
            self._notify(task)


class EndIsNotStamped(Lie):
    """A task that ends does not say when."""

    row, calls = "N5", 3

    def _end(self, task: AgentTask, status: str) -> None:
        super()._end(task, status)
        task.ended_at = None


class FailureCompletes(Lie):
    """A task that fails has its error, but counts as completed."""

    row, calls = "N6", 3

    def _finish(self, task: AgentTask, status: str) -> None:
        super()._finish(task, "completed")


class FailureHasNoGrace(Lie):
    """A task that fails begins no grace, and so never leaves."""

    row, calls = "N6", 3

    def _finish(self, task: AgentTask, status: str) -> None:
        super()._finish(task, status)
        if status == "failed":
            task.evict_after = None


class KillDoesNotAbort(Lie):
    """A task that is killed counts as ended, but goes on working."""

    row, calls = "N7", 3

    def _abort(self, task: AgentTask) -> None:
        return


class KillNotifies(Lie):
    """A task that is killed is notified of at once."""

    row, calls = "N7", 3

    def kill(self, task: str) -> None:
        with self._locked():
            found = self._find_running(task)
            super().kill(task)
            if found is not None:
                self._notify(found)


class KillHasNoGrace(Lie):
    """A task that is killed begins no grace."""

    row, calls = "N7", 3

    def _kill(self, task: AgentTask) -> None:
        super()._kill(task)
        task.evict_after = None


class KillAllTouchesOtherKinds(Lie):
    """Killing all kills shells and remote agents as well."""

    row, calls = "N9", 3

    def kill_all(self) -> None:
        with self._locked():
            for task in self._tasks.values():
                if task.status == "running":
                    self._kill(task)


class KillAllSparesSessions(Lie):
    """Killing all forgets main sessions."""

    row, calls = "N9", 3

    def kill_all(self) -> None:
        for task in self.panel_tasks():
            self.kill(task)


class KillAllSparesWatchedAgents(Lie):
    """Killing all kills what is in the background only."""

    row, calls = "N9", 3

    def kill_all(self) -> None:
        with self._locked():
            for task in self._running():
                if task.backgrounded:
                    self._kill(task)


class CompletionRevivesKilled(Lie):
    """A completion that comes after the kill makes the task completed."""

    row, calls = "E1", 4

    def complete(self, task: str, result: str) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None and found.status == "killed":
                found.status = "running"
            super().complete(task, result)


class LateResultIsKept(Lie):
    """A completion that comes after the kill changes no status, but leaves its result."""

    row, calls = "E1", 4

    def complete(self, task: str, result: str) -> None:
        super().complete(task, result)
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.result = result


class KillChangesEnded(Lie):
    """A kill makes a completed task killed."""

    row, calls = "E3", 4

    def kill(self, task: str) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None:
                self._kill(found)


class SecondEndIsStamped(Lie):
    """A second ending changes no status, but stamps the end again."""

    row, calls = "E3", 5

    def complete(self, task: str, result: str) -> None:
        super().complete(task, result)
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.ended_at = self._now


class ProgressAfterEnd(Lie):
    """Progress that comes late is kept."""

    row, calls = "E4", 4

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.tool_uses, found.tokens = tool_uses, tokens
                found.activities = self._recent(activities)


class SummaryAfterEnd(Lie):
    """A summary that comes late is kept."""

    row, calls = "E4", 4

    def summarize(self, task: str, text: str) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.summary = text


class UnknownTaskAppears(Lie):
    """A message for an unknown task makes a task for it."""

    row, calls = "E8", 2

    def queue_message(self, task: str, text: str) -> None:
        with self._locked():
            if task not in self._tasks:
                self._tasks[task] = AgentTask(task, "local_agent", "general-purpose", "")
            super().queue_message(task, text)


class UnknownTaskGivesNothing(Lie):
    """Draining an unknown task gives null, not an empty list."""

    row, calls = "E8", 1

    def drain_messages(self, task: str) -> list[str]:
        if self._find(task) is None:
            return None  # type: ignore[return-value]  # the wrong kind of reply is the lie
        return super().drain_messages(task)


class ExitLeavesSessions(Lie):
    """Process exit kills main sessions, which stay in the registry."""

    row, calls = "E14", 3

    def _clean_up(self, task: AgentTask) -> None:
        self._kill(task)


class ExitRemovesAgents(Lie):
    """Process exit removes agents from the registry as if they were main sessions."""

    row, calls = "E14", 3

    def _clean_up(self, task: AgentTask) -> None:
        del self._tasks[task.task_id]


class ExitKillsEnded(Lie):
    """Process exit kills agents that had completed."""

    row, calls = "E14", 4

    def process_exit(self) -> None:
        with self._locked():
            super().process_exit()
            for task in self._tasks.values():
                if task.status == "completed" and not task.main:
                    self._kill(task)


class ClearKillsAgents(Lie):
    """Clearing the main conversation kills the agents that it had started."""

    row, calls = "E13", 3

    def clear(self) -> None:
        self.kill_all()


class ClearDropsOutput(Lie):
    """Clearing the main conversation drops the output of background sessions with its own."""

    row, calls = "E13", 3

    def clear(self) -> None:
        with self._locked():
            for task in self._running():
                task.output.clear()


class ClearEmptiesQueues(Lie):
    """Clearing the main conversation drops what was left for agents."""

    row, calls = "E13", 4

    def clear(self) -> None:
        with self._locked():
            for task in self._running():
                self._drain(task)


class AgentsKeepLastMessage(Lie):
    """An agent that ends keeps only its last message, as a main session that completes does."""

    row, calls = "E27", 5

    def _end(self, task: AgentTask, status: str) -> None:
        super()._end(task, status)
        task.messages = task.messages[-1:]
