"""Lies about who is aborted with whom."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.references.local_agent import AgentTask, Reply
from tests.faulty.local_agent.lie import Lie


class AbortReachesFirstChild(Lie):
    """The abort of a parent reaches the child that was registered first, and no other."""

    row, calls = "B10", 4

    def _abort_named(self, name: str) -> None:
        for task in self._running():
            if name in (task.parent, task.controller):
                task.aborted = True
                return


class AbortReachesLastChild(Lie):
    """A parent remembers only the child that was registered last."""

    row, calls = "B10", 4

    def _register(self, task: AgentTask) -> Reply:
        for other in self._running():
            if other.parent == task.parent:
                other.parent = None
        return super()._register(task)


class AbortReachesEverybody(Lie):
    """The abort of one parent reaches the children of all."""

    row, calls = "B10", 3

    def _abort_named(self, name: str) -> None:
        for task in self._running():
            task.aborted = True


class AbortEndsEndedChild(Lie):
    """The abort of a parent kills children that had completed."""

    row, calls = "B10", 4

    def _abort_named(self, name: str) -> None:
        super()._abort_named(name)
        for task in self._tasks.values():
            if task.parent == name and task.status != "running":
                self._kill(task)


class AbortClimbs(Lie):
    """The abort of a child aborts its parent, and so its brothers and sisters."""

    row, calls = "B11", 4

    def _abort(self, task: AgentTask) -> None:
        super()._abort(task)
        if task.parent is not None:
            self._abort_named(task.parent)


class SessionMakesItsOwnController(Lie):
    """A main session ignores the controller that it was given."""

    row, calls = "X3", 4

    def register_main(
        self,
        description: str,
        messages: Sequence[str] = (),
        backgrounded: bool = True,
        controller: str | None = None,
    ) -> Reply:
        return super().register_main(description, messages, backgrounded)


class QueryGoesOn(Lie):
    """A main session that is killed does not abort the query whose controller it was given."""

    row, calls = "X3", 4

    def _abort(self, task: AgentTask) -> None:
        task.aborted = True


class AgentsOfKilledSessionGoOn(Lie):
    """A main session that is killed aborts its query, but not the agents below it."""

    row, calls = "X4", 4

    def _abort(self, task: AgentTask) -> None:
        task.aborted = True
        for other in self._running():
            if other.controller is not None and other.controller == task.controller:
                other.aborted = True


class AbortedChildCannotBeKilled(Lie):
    """A child whose parent was aborted runs on, and cannot be killed any more."""

    row, calls = "X10", 4

    def kill(self, task: str) -> None:
        if not self.aborted(task):
            super().kill(task)


class AbortMarksChild(Lie):
    """A child whose parent was aborted is taken to be notified of."""

    row, calls = "X10", 3

    def _abort_named(self, name: str) -> None:
        super()._abort_named(name)
        for task in self._running():
            task.notified = task.notified or task.parent == name


class AbortReachesNamesThatBeginAlike(Lie):
    """The abort of a parent reaches the children of all parents whose names begin as its does."""

    row, calls = "B10", 3

    def _abort_named(self, name: str) -> None:
        for task in self._running():
            if any(each is not None and each.startswith(name) for each in (task.parent, task.controller)):
                task.aborted = True


class EndOfSessionAborts(Lie):
    """A session that completes aborts its query, which is over."""

    row, calls = "E25", 3

    def _finish_main(self, task: AgentTask, status: str) -> None:
        super()._finish_main(task, status)
        task.aborted = task.session


class KillAbortsEnded(Lie):
    """The kill of a child aborts agents that had completed and that nobody shares an abort controller with."""

    row, calls = "E25", 5

    def _abort(self, task: AgentTask) -> None:
        super()._abort(task)
        for other in self._tasks.values():
            if other.status == "completed" and task.parent is not None:
                other.aborted = True
