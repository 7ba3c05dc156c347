"""Lies about summaries, and about who is told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.references.task_progress import TERMINAL, DelegatedTask, Reply
from tests.faulty.task_progress.lie import Lie


class MessageWipesSummary(Lie):
    """A message replaces the whole record, and the summary is gone."""

    row, calls = "N4", 5

    def _count_tokens(self, task: DelegatedTask, usage: Mapping[str, int | None]) -> None:
        super()._count_tokens(task, usage)
        task.summary = None


class SummaryWipesCounters(Lie):
    """A summary replaces the whole record, and the counters are zero."""

    row, calls = "N4", 5

    def _summarize(self, task: DelegatedTask, text: str) -> None:
        super()._summarize(task, text)
        task.tool_uses = task.input_tokens = task.output_tokens = 0


class SummaryWipesActivities(Lie):
    """A summary keeps the counters, but the activities are gone."""

    row, calls = "N4", 5

    def _summarize(self, task: DelegatedTask, text: str) -> None:
        super()._summarize(task, text)
        task.activities = []


class AnnouncesUnasked(Lie):
    """A summary is announced though nobody opted in."""

    row, calls = "N5", 3

    def __init__(self) -> None:
        super().__init__()
        self._subscribed = True


class OptingOutIsForgotten(Lie):
    """Who opted in once is told for ever."""

    row, calls = "N5", 5

    def subscribe(self, on: bool) -> None:
        super().subscribe(on or self._subscribed)


class EachOptInTells(Lie):
    """Who opted in twice is told of a summary twice."""

    row, calls = "X26", 5

    def __init__(self) -> None:
        super().__init__()
        self._times = 0

    def subscribe(self, on: bool) -> None:
        super().subscribe(on)
        self._times = self._times + 1 if on else 0

    def _announce(self, task: DelegatedTask) -> None:
        for _ in range(self._times):
            super()._announce(task)


class NeverAnnounces(Lie):
    """A summary is announced to nobody."""

    row, calls = "N5", 4

    def _announce(self, task: DelegatedTask) -> None:
        pass


class AnnouncesMessages(Lie):
    """A message is announced like a summary, once there is one."""

    row, calls = "N5", 5

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        with self._locked():
            super().message(task, role, usage, tools)
            if self._tasks[task].summary:
                self._announce(self._tasks[task])


class AnnouncesInputAsTotal(Lie):
    """What is announced as the total are the input tokens."""

    row, calls = "N5", 5

    def _announcement(self, task: DelegatedTask) -> Reply:
        return {**super()._announcement(task), "total_tokens": task.input_tokens}


class AnnouncesFormerSummary(Lie):
    """A summary is announced before it is kept, so the former one is told."""

    row, calls = "N5", 4

    def summarize(self, task: str, text: str) -> None:
        with self._locked():
            found = self._find(task)
            self._require_running(found)
            self._announce(found)
            self._summarize(found, text)


class DescribesLabel(Lie):
    """An announcement describes the task by its label."""

    row, calls = "N5", 4

    def _announcement(self, task: DelegatedTask) -> Reply:
        return {**super()._announcement(task), "description": task.label}


class LateSummaryIsKept(Lie):
    """A summary that comes after the end is kept, unannounced."""

    row, calls = "E2", 5

    def summarize(self, task: str, text: str) -> None:
        with self._locked():
            found = self._find(task)
            if found.status in TERMINAL:
                found.summary = text
            else:
                super().summarize(task, text)


class LateSummaryIsAnnounced(Lie):
    """A summary that comes after the end changes nothing, but is announced."""

    row, calls = "E2", 5

    def summarize(self, task: str, text: str) -> None:
        with self._locked():
            found = self._find(task)
            if found.status in TERMINAL and self._subscribed:
                late = {"description": text, "summary": text}
                self._signals.append({**self._announcement(found), **late})
            else:
                super().summarize(task, text)


class StampIsOfCreation(Lie):
    """An announcement says when the task was created, not when it started."""

    row, calls = "X6", 5

    def __init__(self) -> None:
        super().__init__()
        self._created: dict[str, int] = {}

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Reply:
        with self._locked():
            reply = super().create_task(label, batch, registers)
            self._created[reply["task_id"]] = self._now
            return reply

    def _announcement(self, task: DelegatedTask) -> Reply:
        return {**super()._announcement(task), "started_at": self._created[task.task_id]}


class StampIsOfAnnouncement(Lie):
    """An announcement says when it was made, not when the task started."""

    row, calls = "X6", 5

    def _announcement(self, task: DelegatedTask) -> Reply:
        return {**super()._announcement(task), "started_at": self._now}


class FirstSummaryStays(Lie):
    """A later summary does not replace the first."""

    row, calls = "X12", 5

    def _summarize(self, task: DelegatedTask, text: str) -> None:
        super()._summarize(task, task.summary or text)


class AnnouncesFirstSummaryOnly(Lie):
    """Of several summaries of one task the first is announced."""

    row, calls = "X12", 5

    def summarize(self, task: str, text: str) -> None:
        with self._locked():
            found = self._find(task)
            self._require_running(found)
            told, found.summary = found.summary is not None, text
            if not told:
                self._announce(found)


class AnnouncesUnderFirstTask(Lie):
    """An announcement names the task that was summarized first."""

    row, calls = "X3", 7

    def __init__(self) -> None:
        super().__init__()
        self._first: str | None = None

    def _announcement(self, task: DelegatedTask) -> Reply:
        self._first = self._first or task.task_id
        return {**super()._announcement(task), "task": self._first}


class SummaryIsStripped(Lie):
    """A summary loses the blanks around it."""

    row, calls = "X22", 4

    def _summarize(self, task: DelegatedTask, text: str) -> None:
        super()._summarize(task, text.strip())


class SummaryIsCut(Lie):
    """A summary has two hundred signs at most."""

    row, calls = "X22", 4

    def _summarize(self, task: DelegatedTask, text: str) -> None:
        super()._summarize(task, text[:200])
