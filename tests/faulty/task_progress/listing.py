"""Lies about the list of activities, and about readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.references.task_progress import SYNTHETIC, DelegatedTask, Reply
from tests.faulty.task_progress.lie import Lie


class SyntheticIsListed(Lie):
    """The synthetic tool is listed like any other."""

    row, calls = "E7", 4

    def _count_use(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        super()._count_use(task, use)
        if use["name"] == SYNTHETIC:
            self._list(task, use)


class SyntheticIsLast(Lie):
    """The synthetic tool is not listed, but shown as the last activity."""

    row, calls = "E7", 4

    def _count_use(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        super()._count_use(task, use)
        task.last_activity = {"name": use["name"], "input": use["input"]}


class SyntheticPushesOut(Lie):
    """The synthetic tool takes a place among the newest, though it is not shown there."""

    row, calls = "E7", 4

    def _count_use(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        super()._count_use(task, use)
        if use["name"] == SYNTHETIC and len(task.activities) >= self._activities:
            del task.activities[:1]


class OneActivityTooFew(Lie):
    """One activity fewer is listed than is said."""

    row, calls = "B1", 4

    def _list(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        super()._list(task, use)
        del task.activities[: max(0, len(task.activities) - self._activities + 1)]


class OneActivityTooMany(Lie):
    """One activity more is listed than is said."""

    row, calls = "B1", 4

    def __init__(self) -> None:
        super().__init__(activities=6)


class OldestStay(Lie):
    """When the list is full, what comes later is not listed."""

    row, calls = "B1", 4

    def _list(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        full = list(task.activities) if len(task.activities) >= self._activities else None
        super()._list(task, use)
        task.activities = full or task.activities


class NewestFirst(Lie):
    """The newest activity is listed first."""

    row, calls = "B1", 4

    def _read(self, task: DelegatedTask) -> Reply:
        return {**super()._read(task), "recent_activities": task.activities[::-1]}


class RepeatedUseIsListedOnce(Lie):
    """The same use of the same tool twice in a row is listed once."""

    row, calls = "X15", 4

    def _list(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        last = task.last_activity or {}
        if (last.get("name"), last.get("input")) != (use["name"], use["input"]):
            super()._list(task, use)


class MessageListsItsLastUse(Lie):
    """Of a message with several uses only the last is listed."""

    row, calls = "X15", 4

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        with self._locked():
            before = list(self._tasks[task].activities) if task in self._tasks else []
            super().message(task, role, usage, tools)
            if len(tools) > 1 and role == "assistant":
                found = self._tasks[task]
                found.activities = [*before, *found.activities[-1:]][-self._activities :]


class LastIsFirstOfMessage(Lie):
    """The last activity is the first use of the newest message."""

    row, calls = "X15", 4

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        with self._locked():
            super().message(task, role, usage, tools)
            if tools and role == "assistant" and tools[0]["name"] != SYNTHETIC:
                self._tasks[task].last_activity = dict(tools[0])


class InputIsTrimmed(Lie):
    """White space around the input of a tool is not listed."""

    row, calls = "X19", 4

    def _list(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        super()._list(task, {**use, "input": str(use["input"]).strip()})


class InputIsCut(Lie):
    """A long input of a tool is listed with its first 80 characters."""

    row, calls = "X19", 4

    def _list(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        super()._list(task, {**use, "input": str(use["input"])[:80]})


class ReadingIsLive(Lie):
    """A reading goes on with the task: what is reported later changes it."""

    row, calls = "X1", 4

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[str, Reply] = {}

    def progress(self, task: str) -> Reply:
        with self._locked():
            self._given.setdefault(task, {}).update(super().progress(task))
            return self._given[task]

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        with self._locked():
            super().message(task, role, usage, tools)
            self.progress(task)


class ListIsLive(Lie):
    """The list of activities that a reading gives is the very list that grows; the counters are copied."""

    row, calls = "X1", 4

    def progress(self, task: str) -> Reply:
        with self._locked():
            return self._read(self._find(task))
