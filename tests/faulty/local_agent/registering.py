"""Lies about how tasks begin, and which lists they are in."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.references.local_agent import AgentTask, Reply
from tests.faulty.local_agent.lie import Lie


class AgentIsNobody(Lie):
    """An agent that is registered without a type gets none."""

    row, calls = "N1", 2

    def _agent(self, description: str, prompt: str, agent_type: str | None, tool_use_id: str | None) -> AgentTask:
        task = super()._agent(description, prompt, agent_type, tool_use_id)
        task.agent_type = agent_type or ""
        return task


class ToolUseIsForgotten(Lie):
    """The tool use that an agent was started by is not kept."""

    row, calls = "N1", 2

    def _agent(self, description: str, prompt: str, agent_type: str | None, tool_use_id: str | None) -> AgentTask:
        return super()._agent(description, prompt, agent_type, None)


class WatchedAgentIsBackgroundTask(Lie):
    """An agent in the foreground is listed among the background tasks."""

    row, calls = "N2", 2

    def _in_background(self, task: AgentTask) -> bool:
        return task.status == "running"


class WatchedAgentIsUnregistered(Lie):
    """An agent in the foreground is in the registry only once it goes to the background."""

    row, calls = "N2", 2

    def get(self, task: str) -> Reply | None:
        shown = super().get(task)
        watched = shown is not None and shown["status"] == "running" and not shown["backgrounded"]
        return None if watched else shown


class SignalStartsResolved(Lie):
    """The background signal of an agent in the foreground is resolved from the start."""

    row, calls = "N2", 2

    def _register(self, task: AgentTask) -> Reply:
        task.signal_resolved = not task.backgrounded
        return super()._register(task)


class SessionLooksLikeAgent(Lie):
    """A main session is shown as a general-purpose agent."""

    row, calls = "N3", 2

    def _show(self, task: AgentTask) -> Reply:
        shown = super()._show(task)
        return {**shown, "agent_type": "general-purpose"} if task.main else shown


class SessionStartsInFront(Lie):
    """A main session that is registered stays in the foreground until somebody sends it back."""

    row, calls = "N3", 2

    def register_main(
        self,
        description: str,
        messages: Sequence[str] = (),
        backgrounded: bool = False,
        controller: str | None = None,
    ) -> Reply:
        return super().register_main(description, messages, backgrounded, controller)


class SessionIsInPanel(Lie):
    """Main sessions are listed as panel tasks, too."""

    row, calls = "N19", 2

    def _in_panel(self, task: AgentTask) -> bool:
        return task.type == "local_agent"


class EndedAgentLeavesPanel(Lie):
    """An agent leaves the panel when it ends."""

    row, calls = "N19", 3

    def _in_panel(self, task: AgentTask) -> bool:
        return super()._in_panel(task) and task.status == "running"


class WatchedAgentIsNotInPanel(Lie):
    """An agent is in the panel only while it is in the background."""

    row, calls = "N19", 2

    def _in_panel(self, task: AgentTask) -> bool:
        return super()._in_panel(task) and task.backgrounded


class SessionHasIdOfAgent(Lie):
    """The id of a main session begins with a, as that of an agent does."""

    row, calls = "X14", 1

    def _mint_id(self, prefix: str, length: int) -> str:
        return super()._mint_id("a", length)


class SessionIdIsShort(Lie):
    """The id of a main session has five characters more than its letter, not eight."""

    row, calls = "X14", 1

    def _mint_id(self, prefix: str, length: int) -> str:
        return super()._mint_id(prefix, 5 if prefix == "s" else length)
