"""Lies about main sessions: how they are told of, and what they notice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.references.local_agent import AgentTask, Reply
from tests.faulty.local_agent.lie import Lie


class SessionEndsInSilence(Lie):
    """A main session that completes in the background waits for somebody to notify of it."""

    row, calls = "N17", 3

    def _notify(self, task: AgentTask, **about: Any) -> None:
        if not task.main or about:
            super()._notify(task, **about)


class SessionKeepsAllMessages(Lie):
    """A main session that completes keeps all its messages."""

    row, calls = "N17", 3

    def _finish_main(self, task: AgentTask, status: str) -> None:
        kept = task.messages
        super()._finish_main(task, status)
        task.messages = kept


class SessionKeepsFirstMessage(Lie):
    """A main session that completes keeps its first message, not its last."""

    row, calls = "N17", 3

    def _finish_main(self, task: AgentTask, status: str) -> None:
        first = task.messages[:1]
        super()._finish_main(task, status)
        task.messages = first


class SessionHasGrace(Lie):
    """A main session that completes begins a grace like an agent."""

    row, calls = "N17", 3

    def _finish_main(self, task: AgentTask, status: str) -> None:
        super()._finish_main(task, status)
        self._begin_grace(task)


class SessionNotifiedInForeground(Lie):
    """A main session that completes in front of the user notifies him all the same."""

    row, calls = "E10", 3

    def _finish_main(self, task: AgentTask, status: str) -> None:
        if not task.backgrounded:
            self._notify(task)
        super()._finish_main(task, status)


class WatchedSessionEndsInSilence(Lie):
    """A main session that completes in the foreground sends no terminated event."""

    row, calls = "E10", 3

    def _announce(self, task: AgentTask, status: str, summary: str) -> None:
        if status == "stopped":
            super()._announce(task, status, summary)


class WatchedSessionIsNotMarked(Lie):
    """A main session that completed in the foreground can still be notified of."""

    row, calls = "E10", 4

    def _finish_main(self, task: AgentTask, status: str) -> None:
        watched = not task.backgrounded
        super()._finish_main(task, status)
        task.notified = task.notified and not watched


class EventTellsDescription(Lie):
    """The terminated event of a completed session carries its description for a summary."""

    row, calls = "E10", 3

    def _announce(self, task: AgentTask, status: str, summary: str) -> None:
        super()._announce(task, status, task.description)


class SessionStartsWithoutMessages(Lie):
    """The messages given to a background session are not in its transcript until the next one comes."""

    row, calls = "N14", 2

    def start_background_session(self, messages: Sequence[str], description: str) -> Reply:
        return super().start_background_session([], description)


class SessionForgetsLaterMessages(Lie):
    """The transcript of a background session holds only what it began with."""

    row, calls = "N14", 3

    def _append(self, task: AgentTask, text: str) -> None:
        output = list(task.output)
        super()._append(task, text)
        task.output = output


class SessionsShareTranscript(Lie):
    """All background sessions write to the transcript of the first one."""

    row, calls = "N14", 3

    def start_background_session(self, messages: Sequence[str], description: str) -> Reply:
        with self._locked():
            shared = next((task.output for task in self._running() if task.session), None)
            reply = super().start_background_session(messages, description)
            if shared is not None:
                shared.extend(messages)
                self._tasks[reply["task_id"]].output = shared
            return reply


class AbortIsNotNoticed(Lie):
    """A background session that was killed never says that it stopped."""

    row, calls = "E11", 4

    def _notice_abort(self, task: AgentTask) -> None:
        return


class AbortIsNoticedAtEachMessage(Lie):
    """A background session that was killed says at each further event that it stopped."""

    row, calls = "E11", 5

    def _notice_abort(self, task: AgentTask) -> None:
        task.notified = True
        self._announce(task, "stopped", task.description)


class AbortIsAFailure(Lie):
    """A background session that was killed says that it failed."""

    row, calls = "E11", 4

    def _announce(self, task: AgentTask, status: str, summary: str) -> None:
        super()._announce(task, "failed" if status == "stopped" else status, summary)


class StopHasFixedSummary(Lie):
    """A background session that stopped is not called by its description."""

    row, calls = "E11", 4

    def _announce(self, task: AgentTask, status: str, summary: str) -> None:
        super()._announce(task, status, "Background session")


class AbortIsNotMarked(Lie):
    """A background session that said that it stopped can still be notified of."""

    row, calls = "E11", 5

    def _notice_abort(self, task: AgentTask) -> None:
        super()._notice_abort(task)
        task.notified = False
        task.session = False


class StopIsToldBesideNotification(Lie):
    """A background session that was told of says once more that it stopped."""

    row, calls = "E12", 5

    def _notice_abort(self, task: AgentTask) -> None:
        self._announce(task, "stopped", task.description)
        task.notified, task.session = True, False


class LateCompletionTellsAgain(Lie):
    """A main session that completes after it was killed is told of, though it was marked before."""

    row, calls = "E15", 5

    def complete(self, task: str, result: str) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None and found.main and found.status == "killed":
                self._notifications.append(self._notification(found))
            super().complete(task, result)


class LateCompletionRevivesSession(Lie):
    """A main session that completes after it was killed is completed."""

    row, calls = "E15", 4

    def complete(self, task: str, result: str) -> None:
        super().complete(task, result)
        with self._locked():
            found = self._find(task)
            if found is not None and found.main:
                found.status = "completed"


class SecondCompletionIsTold(Lie):
    """A main session that completes a second time in the foreground is told of once more."""

    row, calls = "E17", 4

    def complete(self, task: str, result: str) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None and found.main and found.status == "completed" and not found.backgrounded:
                self._announce(found, "completed", "Background session")
            super().complete(task, result)


class FailedSessionCompletes(Lie):
    """A main session that fails is told of as completed."""

    row, calls = "X9", 3

    def _finish_main(self, task: AgentTask, status: str) -> None:
        super()._finish_main(task, "completed")


class SentBackSessionIsStillWatched(Lie):
    """A main session that was in the foreground once is never notified of."""

    row, calls = "X11", 6

    def _foreground(self, task: AgentTask) -> list[str]:
        self._watched = {*self._watched, task.task_id}
        return super()._foreground(task)

    _watched: frozenset[str] | set[str] = frozenset()

    def _finish_main(self, task: AgentTask, status: str) -> None:
        task.backgrounded = task.backgrounded and task.task_id not in self._watched
        super()._finish_main(task, status)


class OnlyAgentsGoToBackground(Lie):
    """A main session that began in the foreground cannot be put into the background."""

    row, calls = "X12", 3

    def _background(self, task: AgentTask) -> None:
        if not task.main:
            super()._background(task)


class SessionStopsAtItsFirstEvent(Lie):
    """A background session says at its next event that it stopped, though nobody has aborted it."""

    row, calls = "E22", 3

    def _append(self, task: AgentTask, text: str) -> None:
        super()._append(task, text)
        if task.session:
            self._notice_abort(task)


class AgentsNoticeAborts(Lie):
    """An agent that was aborted says at its next message that it stopped, as a session does."""

    row, calls = "E22", 4

    def _append(self, task: AgentTask, text: str) -> None:
        super()._append(task, text)
        if task.aborted:
            self._notice_abort(task)


class ToldSessionLeaves(Lie):
    """A main session that was told of leaves, though it runs."""

    row, calls = "E23", 4

    def _may_leave(self, task: AgentTask) -> bool:
        return super()._may_leave(task) or (task.main and task.notified)


class WatchedSessionHasNoTranscript(Lie):
    """The transcript of a session can be read only while it is in the background."""

    row, calls = "E24", 3

    def output(self, task: str) -> list[str]:
        found = self._find(task)
        return super().output(task) if found and found.backgrounded else []
