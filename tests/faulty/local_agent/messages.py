"""Lies about queues, transcripts, progress and summaries."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.references.local_agent import AgentTask
from tests.faulty.local_agent.lie import Lie


class QueueIsAStack(Lie):
    """Messages are taken in the order opposite to that in which they were left."""

    row, calls = "N12", 4

    def _drain(self, task: AgentTask) -> list[str]:
        return super()._drain(task)[::-1]


class LongMessagesAreCut(Lie):
    """Of a message that is left only the first 4096 characters are kept."""

    row, calls = "X28", 3

    def queue_message(self, task: str, text: str) -> None:
        super().queue_message(task, text[:4096])


class DrainTakesOne(Lie):
    """Only the oldest message is taken; the others stay."""

    row, calls = "N12", 4

    def _drain(self, task: AgentTask) -> list[str]:
        drained = task.pending_messages[:1]
        task.pending_messages = task.pending_messages[1:]
        return drained


class DrainLeavesAll(Lie):
    """Messages that were taken stay in the queue."""

    row, calls = "N12", 4

    def _drain(self, task: AgentTask) -> list[str]:
        return list(task.pending_messages)


class QueueDropsEqualTexts(Lie):
    """A message that is already waiting is not left again."""

    row, calls = "N12", 4

    def _drain(self, task: AgentTask) -> list[str]:
        return list(dict.fromkeys(super()._drain(task)))


class QueueIsShared(Lie):
    """What is left for one agent can be taken by another."""

    row, calls = "N12", 4

    def drain_messages(self, task: str) -> list[str]:
        with self._locked():
            return [text for each in self._running() for text in self._drain(each)]


class ShownMessageIsQueued(Lie):
    """A message that is appended to the transcript is left for the agent, too."""

    row, calls = "N13", 3

    def _append(self, task: AgentTask, text: str) -> None:
        super()._append(task, text)
        task.pending_messages.append(text)


class QueuedMessageIsShown(Lie):
    """A message that is left for the agent is in the transcript at once."""

    row, calls = "N13", 3

    def queue_message(self, task: str, text: str) -> None:
        with self._locked():
            super().queue_message(task, text)
            self.append_message(task, text)


class EndedTaskTakesNoMessages(Lie):
    """A message for a task that has ended is dropped."""

    row, calls = "E19", 4

    def queue_message(self, task: str, text: str) -> None:
        if self._find_running(task) is not None:
            super().queue_message(task, text)


class EndEmptiesQueue(Lie):
    """A task that ends drops what was left for it."""

    row, calls = "E19", 4

    def _end(self, task: AgentTask, status: str) -> None:
        super()._end(task, status)
        self._drain(task)


class ProgressAddsUp(Lie):
    """Progress adds to the counters, which are totals already."""

    row, calls = "N16", 4

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                tool_uses, tokens = found.tool_uses + tool_uses, found.tokens + tokens
            super().progress(task, tool_uses, tokens, activities)


class TokensNeverFall(Lie):
    """A lower count of tokens is taken for a fault and dropped."""

    row, calls = "N16", 4

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                tokens = max(found.tokens, tokens)
            super().progress(task, tool_uses, tokens, activities)


class ProgressWipesSummary(Lie):
    """Progress replaces the summary as well, by none."""

    row, calls = "E9", 4

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        super().progress(task, tool_uses, tokens, activities)
        with self._locked():
            found = self._find_running(task)
            if found is not None:
                found.summary = None


class SummaryWipesCounters(Lie):
    """A summary begins the counters anew."""

    row, calls = "E9", 4

    def summarize(self, task: str, text: str) -> None:
        self.progress(task, 0, 0, [])
        super().summarize(task, text)


class FirstSummaryStays(Lie):
    """A summary is never replaced by a newer one."""

    row, calls = "E9", 4

    def summarize(self, task: str, text: str) -> None:
        with self._locked():
            found = self._find_running(task)
            super().summarize(task, text if found is None else found.summary or text)


class AllActivitiesAreKept(Lie):
    """However many activities there were, all of them are kept."""

    row, calls = "X1", 3

    def _recent(self, activities: Sequence[str]) -> list[str]:
        return list(activities)


class OldestActivitiesAreKept(Lie):
    """Of too many activities the first ones stay, not the last."""

    row, calls = "X1", 3

    def _recent(self, activities: Sequence[str]) -> list[str]:
        return list(activities)[: self._activities]


class QueueHoldsTen(Lie):
    """Only the ten messages that were left last wait for the agent."""

    row, calls = "N12", 13

    def queue_message(self, task: str, text: str) -> None:
        super().queue_message(task, text)
        with self._locked():
            found = self._find(task)
            if found is not None:
                del found.pending_messages[:-10]


class NothingIsNoProgress(Lie):
    """A progress of nothing leaves the counters and the activities as they are."""

    row, calls = "N16", 4

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        if tool_uses or tokens or activities:
            super().progress(task, tool_uses, tokens, activities)


class HundredMessagesAreShown(Lie):
    """Only the hundred newest messages of a task are shown."""

    row, calls = "X27", 103

    def append_message(self, task: str, text: str) -> None:
        super().append_message(task, text)
        with self._locked():
            found = self._find(task)
            if found is not None:
                del found.messages[:-100]


class QueueHoldsHundred(Lie):
    """Only the hundred messages that were left last wait for the agent."""

    row, calls = "X27", 103

    def queue_message(self, task: str, text: str) -> None:
        super().queue_message(task, text)
        with self._locked():
            found = self._find(task)
            if found is not None:
                del found.pending_messages[:-100]
