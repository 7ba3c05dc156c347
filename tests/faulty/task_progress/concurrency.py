"""Lies that only calls at the same time can show: each lets go of the lock where it must not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.references.task_progress import DelegatedTask, Reply
from conformance.refused import Refused
from tests.faulty.task_progress.lie import Lie


class StartOverwritesAbort(Lie):
    """A start looks whether the task is pending, then runs it without looking again."""

    row, calls = "B4", 5

    def start(self, task: str) -> None:
        found = self._find(task)
        if found.status != "pending":
            raise Refused("wrong_state")
        with self._locked():
            found.status, found.started_at = "running", self._now


class OutputTokensAreLost(Lie):
    """Two messages at once read the same sum, and only one of them is added."""

    row, calls = "B5", 5

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        found = self._find(task)
        total = found.output_tokens + (usage["output"] or 0)
        with self._locked():
            super().message(task, role, usage, tools)
            if self._counts(role):
                found.output_tokens = total


class UsesAreLost(Lie):
    """Two messages at once read the same number of uses, and only one of them is added."""

    row, calls = "B5", 5

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        before = self._find(task).tool_uses
        with self._locked():
            found = self._find(task)
            found.tool_uses, current = before, found.tool_uses
            try:
                super().message(task, role, usage, tools)
            except Refused:
                found.tool_uses = current
                raise


class ActivitiesAreLost(Lie):
    """Two messages at once write back the list that each of them read."""

    row, calls = "B5", 5

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        before = list(self._find(task).activities)
        with self._locked():
            self._require_running(self._find(task))
            self._find(task).activities = before
            super().message(task, role, usage, tools)


class TotalIsTorn(Lie):
    """A reading takes its counters one after the other, while a message comes in between."""

    row, calls = "X11", 4

    def progress(self, task: str) -> Reply:
        found = self._find(task)
        read = found.input_tokens
        written = found.output_tokens
        with self._locked():
            counted = {"latest_input_tokens": read, "cumulative_output_tokens": written}
            return {**super().progress(task), **counted}


class IdMintedTwice(Lie):
    """Two tasks that are made at once get one id."""

    row, calls = "X10", 2

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Reply:
        number = self._minted
        task = DelegatedTask(f"task-{number + 1}", label, batch)
        with self._locked():
            self._minted = number + 1
            self._tasks[task.task_id] = task
            if not registers:
                self._end(task, "failed")
            return {"task_id": task.task_id, "status": task.status}


class TaskIsLost(Lie):
    """Two tasks that are made at once copy the table, and the one that writes it back first is lost."""

    row, calls = "X10", 3

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Reply:
        before = dict(self._tasks)
        with self._locked():
            reply = super().create_task(label, batch, registers)
            self._tasks = {**before, reply["task_id"]: self._tasks[reply["task_id"]]}
        return reply


class BothEndingsCount(Lie):
    """An end looks whether the task runs, then sets its outcome without looking again."""

    row, calls = "X14", 6

    def finish(self, task: str, outcome: str) -> None:
        found = self._find(task)
        self._require_running(found)
        with self._locked():
            self._end(found, outcome)


class MessageOverwritesSummary(Lie):
    """A message writes back the summary that it read when it began."""

    row, calls = "X17", 5

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        before = self._find(task).summary
        with self._locked():
            super().message(task, role, usage, tools)
            self._find(task).summary = before


class SummaryOverwritesCounters(Lie):
    """A summary writes back the counters that it read when it began."""

    row, calls = "X17", 5

    def summarize(self, task: str, text: str) -> None:
        found = self._find(task)
        read, written, uses = found.input_tokens, found.output_tokens, found.tool_uses
        with self._locked():
            super().summarize(task, text)
            found.input_tokens, found.output_tokens, found.tool_uses = read, written, uses


class EndIsNotSubtracted(Lie):
    """A batch counts the tasks that are still to end, and two that end at once count as one."""

    row, calls = "X18", 5

    def __init__(self) -> None:
        super().__init__()
        self._left: dict[str | None, int] = {}

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Reply:
        with self._locked():
            self._left[batch] = self._left.get(batch, 0) + registers
            return super().create_task(label, batch, registers)

    def abort(self, task: str) -> None:
        left = self._left.get(self._find(task).batch, 0)
        super().abort(task)
        self._left[self._find(task).batch] = left - 1

    def finish(self, task: str, outcome: str) -> None:
        left = self._left.get(self._find(task).batch, 0)
        super().finish(task, outcome)
        self._left[self._find(task).batch] = left - 1

    def _is_complete(self, tasks: Sequence[DelegatedTask]) -> bool:
        return self._left[tasks[0].batch] == 0


class MessageAfterEnd(Lie):
    """A message looks whether its task runs, and is counted when it may have ended."""

    row, calls = "X24", 6

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        found = self._find(task)
        if found.status == "running" and self._counts(role):
            with self._locked():
                self._count_tokens(found, usage)
                for use in tools:
                    self._count_use(found, use)


class SummaryAfterEnd(Lie):
    """A summary looks whether its task runs, and is written when it may have ended."""

    row, calls = "X24", 6

    def summarize(self, task: str, text: str) -> None:
        found = self._find(task)
        if found.status == "running":
            with self._locked():
                self._summarize(found, text)
                self._announce(found)
