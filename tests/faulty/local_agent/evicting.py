"""Lies about grace, retention and leaving."""

from __future__ import annotations

from conformance.references.local_agent import AgentTask
from tests.faulty.local_agent.lie import Lie


class EvictsWhatRuns(Lie):
    """A task that was told of leaves although it runs."""

    row, calls = "N15", 4

    def _may_leave(self, task: AgentTask) -> bool:
        return task.notified and (task.status == "running" or super()._may_leave(task))


class EvictsNotNotified(Lie):
    """A task leaves when its grace is over, told of or not."""

    row, calls = "N15", 5

    def _may_leave(self, task: AgentTask) -> bool:
        return task.status != "running" and (task.main or self._grace_is_over(task))


class EvictsNothing(Lie):
    """No agent ever leaves."""

    row, calls = "N15", 6

    def _may_leave(self, task: AgentTask) -> bool:
        return task.main and super()._may_leave(task)


class UntoldIsMissedForGood(Lie):
    """An agent that is not told of when its grace is over has missed its turn to leave."""

    row, calls = "X13", 5

    def _may_leave(self, task: AgentTask) -> bool:
        leaves = super()._may_leave(task)
        if not leaves and self._grace_is_over(task):
            task.evict_after = None
        return leaves


class GraceIsIgnored(Lie):
    """An agent leaves as soon as it was told of."""

    row, calls = "B5", 5

    def _grace_is_over(self, task: AgentTask) -> bool:
        return task.evict_after is not None


class GraceCountsFromStart(Lie):
    """Grace is counted from the registration, so a long task has none."""

    row, calls = "N5", 4

    def _begin_grace(self, task: AgentTask) -> None:
        task.evict_after = None if task.retain else self._grace


class GraceIsLong(Lie):
    """An agent leaves only after twice its grace."""

    row, calls = "B5", 6

    def _grace_is_over(self, task: AgentTask) -> bool:
        return task.evict_after is not None and task.evict_after + self._grace <= self._now


class GraceEndsEarly(Lie):
    """An agent leaves a millisecond before its grace is over."""

    row, calls = "B5", 6

    def _grace_is_over(self, task: AgentTask) -> bool:
        return task.evict_after is not None and task.evict_after - 1 <= self._now


class RetainLeavesGrace(Lie):
    """Retaining a task that has ended does not stop its grace."""

    row, calls = "N18", 4

    def retain(self, task: str) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.retain = True


class RetainedBeginsGrace(Lie):
    """A retained task that ends begins its grace all the same."""

    row, calls = "N18", 4

    def _begin_grace(self, task: AgentTask) -> None:
        task.evict_after = self._now + self._grace


class ReleaseCountsFromEnd(Lie):
    """A released task has the rest of the grace that began with its end."""

    row, calls = "N18", 5

    def _release(self, task: AgentTask) -> None:
        task.retain = False
        if task.ended_at is not None:
            task.evict_after = task.ended_at + self._grace


class ReleaseBeginsNoGrace(Lie):
    """A task that is released after its end never leaves."""

    row, calls = "B6", 5

    def _release(self, task: AgentTask) -> None:
        task.retain = False


class ReleaseEvictsAtOnce(Lie):
    """A task that is released after its end has no grace left."""

    row, calls = "B6", 4

    def _release(self, task: AgentTask) -> None:
        task.retain = False
        if task.status != "running":
            task.evict_after = self._now


class ReleaseOfRunningBeginsGrace(Lie):
    """A task that is released while it runs begins its grace."""

    row, calls = "X8", 3

    def _release(self, task: AgentTask) -> None:
        task.retain = False
        self._begin_grace(task)


class ViewingRetains(Lie):
    """A task that comes to the foreground is retained."""

    row, calls = "E16", 3

    def _foreground(self, task: AgentTask) -> list[str]:
        task.retain, task.evict_after = True, None
        return super()._foreground(task)


class SessionWaitsForGrace(Lie):
    """A main session leaves only when a grace is over, which a completed one never has."""

    row, calls = "X2", 4

    def _may_leave(self, task: AgentTask) -> bool:
        return super()._may_leave(task) and self._grace_is_over(task)


class KilledSessionWaitsForGrace(Lie):
    """A main session that was killed waits for its grace like an agent."""

    row, calls = "X2", 5

    def _may_leave(self, task: AgentTask) -> bool:
        return super()._may_leave(task) and (task.evict_after is None or self._grace_is_over(task))


class UntoldSessionLeaves(Lie):
    """A main session that has ended leaves without being told of."""

    row, calls = "X2", 4

    def _may_leave(self, task: AgentTask) -> bool:
        return super()._may_leave(task) or (task.main and task.status != "running")


class RetainsAreCounted(Lie):
    """A task that was retained twice has to be released twice."""

    row, calls = "N18", 5

    def __init__(self) -> None:
        super().__init__()
        self._retains: dict[str, int] = {}

    def retain(self, task: str) -> None:
        super().retain(task)
        self._retains[task] = self._retains.get(task, 0) + 1

    def release(self, task: str) -> None:
        self._retains[task] = max(0, self._retains.get(task, 0) - 1)
        if not self._retains[task]:
            super().release(task)
