"""Lies about going to the background and coming back, by hand and by the time."""

from __future__ import annotations

from typing import Any

from conformance.references.local_agent import AgentTask, Reply
from tests.faulty.local_agent.lie import Lie


class SignalIsNotResolved(Lie):
    """A task that goes to the background does not tell who waits for it."""

    row, calls = "N4", 3

    def _background(self, task: AgentTask) -> None:
        task.backgrounded = True


class BackgroundToggles(Lie):
    """Putting a task into the background a second time brings it back."""

    row, calls = "N4", 4

    def _background(self, task: AgentTask) -> None:
        task.backgrounded, task.signal_resolved = not task.backgrounded, True


class BackgroundLeavesTaskInFront(Lie):
    """Who waits is told, but the task stays in the foreground."""

    row, calls = "N4", 3

    def _background(self, task: AgentTask) -> None:
        task.signal_resolved = True


class SwapLosesPrevious(Lie):
    """The task that was in the foreground before never goes back to the background."""

    row, calls = "N11", 5

    def _send_back(self, task: AgentTask) -> None:
        return


class ForegroundIsNotRemembered(Lie):
    """A task comes to the foreground, but nobody knows which one is there."""

    row, calls = "N11", 3

    def foregrounded_id(self) -> str | None:
        return None


class ForegroundGivesNothing(Lie):
    """A task comes to the foreground without its messages."""

    row, calls = "N11", 2

    def _foreground(self, task: AgentTask) -> list[str]:
        super()._foreground(task)
        return []


class UnknownEmptiesForeground(Lie):
    """Asking for an unknown task sends back the one that is in the foreground."""

    row, calls = "E5", 4

    def foreground(self, task: str) -> list[str] | None:
        with self._locked():
            if task not in self._tasks:
                self._foregrounded = None
            return super().foreground(task)


class ForeignTaskComesToFront(Lie):
    """A task of another kind comes to the foreground like one of ours."""

    row, calls = "E6", 2

    def foreground(self, task: str) -> list[str] | None:
        with self._locked():
            found = self._tasks.get(task)
            return None if found is None else self._foreground(found)


class EndedTaskStaysBehind(Lie):
    """A task that has ended cannot come to the foreground."""

    row, calls = "E7", 3

    def foreground(self, task: str) -> list[str] | None:
        return super().foreground(task) if self._find_running(task) is not None else None


class EndedTaskIsNotSentBack(Lie):
    """A task that ended in the foreground stays marked as being there when another one comes."""

    row, calls = "E7", 6

    def _send_back(self, task: AgentTask) -> None:
        if task.status == "running":
            super()._send_back(task)


class SecondLookSendsBack(Lie):
    """A task that is asked for while it is in the foreground goes back to the background."""

    row, calls = "X5", 4

    def _foreground(self, task: AgentTask) -> list[str]:
        again = self._foregrounded == task.task_id
        messages = super()._foreground(task)
        task.backgrounded = again
        return messages


class AllOthersAreSentBack(Lie):
    """A task that comes to the foreground sends back all others, not only the one that was shown."""

    row, calls = "X6", 4

    def _foreground(self, task: AgentTask) -> list[str]:
        for other in self._running():
            self._send_back(other)
        return super()._foreground(task)


class SentBackIsRegisteredAgain(Lie):
    """A task that was removed while it was in the foreground is written back when another one comes."""

    row, calls = "X7", 6

    _shown: AgentTask | None = None

    def _foreground(self, task: AgentTask) -> list[str]:
        if self._shown is not None:
            self._tasks[self._shown.task_id] = self._shown
        self._shown = task
        return super()._foreground(task)


class TimerIsForgotten(Lie):
    """A task goes to the background by hand only."""

    row, calls = "B1", 3

    def _time_out(self, task: AgentTask) -> None:
        return


class TimerIsEarly(Lie):
    """A task goes to the background a millisecond too early."""

    row, calls = "B1", 3

    def wait(self, ms: int) -> None:
        super().wait(ms + 1)
        with self._locked():
            self._now -= 1


class TimerIsLate(Lie):
    """A task is still in the foreground a millisecond after its time."""

    row, calls = "B1", 3

    def _time_out(self, task: AgentTask) -> None:
        if task.background_at is not None and task.background_at + 1 < self._now:
            super()._time_out(task)


class TimerResolvesNothing(Lie):
    """A task that goes to the background by itself does not tell who waits for it."""

    row, calls = "B1", 3

    def _time_out(self, task: AgentTask) -> None:
        task.backgrounded = True


class TimerRingsAfterEnd(Lie):
    """The timer of a task that has ended still puts it into the background."""

    row, calls = "B2", 5

    def wait(self, ms: int) -> None:
        with self._locked():
            super().wait(ms)
            for task in self._tasks.values():
                if task.background_at is not None and task.background_at <= self._now:
                    self._time_out(task)


class TimerRevivesTask(Lie):
    """A task that ends at the instant of its timer, after it rang, is running again."""

    row, calls = "B3", 4

    def _end(self, task: AgentTask, status: str) -> None:
        super()._end(task, status)
        if task.signal_resolved and task.ended_at == self._rang:
            task.status = "running"

    _rang: int | None = None

    def _time_out(self, task: AgentTask) -> None:
        super()._time_out(task)
        self._rang = self._now


class TimerRingsAgain(Lie):
    """The timer goes on after it rang: a task that was put in front again is sent back."""

    row, calls = "B20", 5

    def _time_out(self, task: AgentTask) -> None:
        super()._time_out(task)
        task.background_at = self._now + 1


class OneTimerForAll(Lie):
    """There is one timer, and each task that begins with a time of its own takes it from the one before."""

    row, calls = "B21", 4

    def register_foreground(self, *arguments: Any, **words: Any) -> Reply:
        found = super().register_foreground(*arguments, **words)
        with self._locked():
            own = self._tasks[found["task_id"]]
            for task in self._tasks.values():
                if own.background_at is not None and task is not own:
                    task.background_at = None
        return found


class EndStopsEveryTimer(Lie):
    """When a task ends, no other goes to the background by its time any more."""

    row, calls = "B21", 5

    def complete(self, task: str, result: str) -> None:
        super().complete(task, result)
        with self._locked():
            for each in self._tasks.values():
                each.background_at = None


class RetainSendsBack(Lie):
    """A task that somebody keeps counts as in the background."""

    row, calls = "E20", 3

    def retain(self, task: str) -> None:
        super().retain(task)
        if found := self._find(task):
            found.backgrounded = True


class MarkResolvesSignal(Lie):
    """Whoever waits for a task to go to the background is told when the task is taken to be told of."""

    row, calls = "E20", 3

    def mark_notified(self, task: str) -> None:
        super().mark_notified(task)
        if found := self._find(task):
            found.signal_resolved = True


class SentBackStaysBack(Lie):
    """A task that another one sent to the background does not leave it again."""

    row, calls = "E21", 6

    def __init__(self) -> None:
        super().__init__()
        self._sent_back: set[str] = set()

    def _send_back(self, task: AgentTask) -> None:
        super()._send_back(task)
        self._sent_back.add(task.task_id)

    def _foreground(self, task: AgentTask) -> list[str]:
        messages = super()._foreground(task)
        task.backgrounded = task.task_id in self._sent_back
        return messages
