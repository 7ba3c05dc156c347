"""Lies about what is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.references.task_progress import SYNTHETIC, TERMINAL, DelegatedTask
from tests.faulty.task_progress.lie import Lie


class InputTokensAdd(Lie):
    """Input tokens are added up, though each message tells all of them."""

    row, calls = "N2", 5

    def _count_tokens(self, task: DelegatedTask, usage: Mapping[str, int | None]) -> None:
        before = task.input_tokens
        super()._count_tokens(task, usage)
        task.input_tokens += before


class OutputTokensReplace(Lie):
    """The output tokens of a message replace those of the messages before."""

    row, calls = "N2", 5

    def _count_tokens(self, task: DelegatedTask, usage: Mapping[str, int | None]) -> None:
        task.output_tokens = 0
        super()._count_tokens(task, usage)


class MessageCountsOneUse(Lie):
    """A message with several uses of tools counts as one."""

    row, calls = "N2", 4

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        with self._locked():
            before = self._tasks[task].tool_uses if task in self._tasks else 0
            super().message(task, role, usage, tools)
            self._tasks[task].tool_uses = min(before + 1, self._tasks[task].tool_uses)


class TotalLeavesOutputOut(Lie):
    """The total is that of the input alone."""

    row, calls = "N2", 4

    def _total(self, task: DelegatedTask) -> int:
        return task.input_tokens


class InputTokensNeverFall(Lie):
    """Input tokens keep their highest value."""

    row, calls = "N3", 5

    def _count_tokens(self, task: DelegatedTask, usage: Mapping[str, int | None]) -> None:
        before = task.input_tokens
        super()._count_tokens(task, usage)
        task.input_tokens = max(before, task.input_tokens)


class UserTokensCount(Lie):
    """The tokens of a user's message count like an assistant's."""

    row, calls = "E1", 4

    def _counts(self, role: str) -> bool:
        return True


class UserToolsCount(Lie):
    """Of a user's message the uses of tools count, though not the tokens."""

    row, calls = "E1", 4

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        with self._locked():
            super().message(task, role, usage, tools)
            if role == "user":
                self._tasks[task].tool_uses += len(tools)


class LateMessageCounts(Lie):
    """A message that comes after the end still counts."""

    row, calls = "E2", 5

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        with self._locked():
            found = self._find(task)
            if found.status in TERMINAL and role == "assistant":
                self._count_tokens(found, usage)
            else:
                super().message(task, role, usage, tools)


class EndClearsReading(Lie):
    """A task that has ended has forgotten what it counted."""

    row, calls = "E2", 5

    def _end(self, task: DelegatedTask, outcome: str) -> None:
        super()._end(task, outcome)
        task.tool_uses = task.input_tokens = task.output_tokens = 0


class CacheCreationIsFree(Lie):
    """What is written to a cache is not counted as input."""

    row, calls = "E6", 4

    def _input(self, usage: Mapping[str, int | None]) -> int:
        return super()._input({**usage, "cache_creation": 0})


class CacheReadIsFree(Lie):
    """What is read from a cache is not counted as input."""

    row, calls = "E6", 4

    def _input(self, usage: Mapping[str, int | None]) -> int:
        return super()._input({**usage, "cache_read": 0})


class MissingCacheCrashes(Lie):
    """A message without cache fields raises KeyError, or TypeError."""

    row, calls = "E6", 3

    def _input(self, usage: Mapping[str, int | None]) -> int:
        parts: list[Any] = [usage["input"], usage["cache_creation"], usage["cache_read"]]
        return sum(parts)


class MissingCacheIsAsBefore(Lie):
    """A message without cache fields counts those of the message before."""

    row, calls = "E6", 5
    _cached = 0

    def _input(self, usage: Mapping[str, int | None]) -> int:
        if usage.get("cache_read") is not None:
            self._cached = usage["cache_read"] or 0
            return super()._input(usage)
        return super()._input(usage) + self._cached


class SyntheticIsNotCounted(Lie):
    """The synthetic tool is not counted, though it is declared to be."""

    row, calls = "E7", 4

    def _count_use(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        if use["name"] != SYNTHETIC:
            super()._count_use(task, use)


class ZeroInputIsMissing(Lie):
    """A message that read nothing leaves the input tokens as they were."""

    row, calls = "B2", 5

    def _count_tokens(self, task: DelegatedTask, usage: Mapping[str, int | None]) -> None:
        before = task.input_tokens
        super()._count_tokens(task, usage)
        task.input_tokens = task.input_tokens or before


class MessageWithoutTokensIsNone(Lie):
    """The tools of a message without tokens are not counted."""

    row, calls = "B2", 4

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        empty = not self._input(usage) and not usage["output"]
        super().message(task, role, usage, [] if empty else tools)


class CountsWrap(Lie):
    """Tokens are counted in 32 bits."""

    row, calls = "B3", 4

    def _count_tokens(self, task: DelegatedTask, usage: Mapping[str, int | None]) -> None:
        super()._count_tokens(task, usage)
        task.input_tokens &= 0xFFFF_FFFF
        task.output_tokens &= 0xFFFF_FFFF


class TotalIsRounded(Lie):
    """The total of large counts is rounded to thousands, as it would be displayed."""

    row, calls = "B3", 4

    def _total(self, task: DelegatedTask) -> int:
        total = super()._total(task)
        return total if total < 1_000_000 else round(total, -3)


class LabelSharesCounters(Lie):
    """Two tasks of one label count together."""

    row, calls = "X3", 5

    def _count_tokens(self, task: DelegatedTask, usage: Mapping[str, int | None]) -> None:
        super()._count_tokens(task, usage)
        for other in self._tasks.values():
            if other.label == task.label:
                other.output_tokens = task.output_tokens


class AbortTakesBack(Lie):
    """An abort takes back the output tokens that were counted."""

    row, calls = "X21", 5

    def _abort(self, task: DelegatedTask) -> None:
        super()._abort(task)
        task.output_tokens = 0


class UsesFitAByte(Lie):
    """The number of uses is kept in a byte."""

    row, calls = "X25", 4

    def _count_use(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        super()._count_use(task, use)
        task.tool_uses %= 256


class OutputIsSynthetic(Lie):
    """A tool whose name begins as that of the synthetic one does is not listed either."""

    row, calls = "X27", 4

    def _list(self, task: DelegatedTask, use: Mapping[str, Any]) -> None:
        if not use["name"].startswith("structured_output"):
            super()._list(task, use)


class MessageWithoutToolsForgetsLast(Lie):
    """A message that uses no tool leaves no last activity."""

    row, calls = "X28", 5

    def message(
        self, task: str, role: str, usage: Mapping[str, int | None], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        super().message(task, role, usage, tools)
        if not tools:
            self._find(task).last_activity = None
