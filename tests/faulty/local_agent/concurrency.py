"""Lies that only calls at the same time can show: each lets go of the lock where it must not."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from conformance.references.local_agent import Reply
from tests.faulty.local_agent.lie import Lie


class BackgroundOverwritesEnd(Lie):
    """Going to the background writes back the task as it was before it ended."""

    row, calls = "B4", 4

    def background(self, task: str) -> None:
        found = self._find_running(task)
        read = None if found is None else replace(found)
        with self._locked():
            if read is not None:
                self._background(read)
                self._tasks[task] = read


class BackgroundAndEndDeadlock(Lie):
    """Going to the background and ending take two locks in opposite order."""

    row, calls = "B4", 3

    def __init__(self, *, grace: int = 30000, activities: int = 5) -> None:
        super().__init__(grace=grace, activities=activities)
        self._signal_lock = threading.RLock()

    def background(self, task: str) -> None:
        with self._signal_lock:
            super().background(task)

    def complete(self, task: str, result: str) -> None:
        with self._locked():
            found = self._find_running(task)
            with self._signal_lock:
                if found is not None:
                    super().complete(task, result)


class NotifiedTwice(Lie):
    """Whoever notifies looks whether somebody did, then does it without looking again."""

    row, calls = "B7", 4

    def notify(
        self,
        task: str,
        final_message: str | None = None,
        usage: Reply | None = None,
        worktree_path: str | None = None,
        branch: str | None = None,
    ) -> None:
        found = self._find(task)
        if found is None or found.notified:
            return
        with self._locked():
            found.notified = False
            super().notify(task, final_message, usage, worktree_path, branch)


class DrainLosesMessage(Lie):
    """A drain reads the queue, then empties it: what came in between is lost."""

    row, calls = "B19", 4

    def drain_messages(self, task: str) -> list[str]:
        found = self._find(task)
        if found is None:
            return []
        drained = list(found.pending_messages)
        with self._locked():
            found.pending_messages = []
        return drained


class MessageIsDrainedTwice(Lie):
    """A drain reads the queue, then drops as many as it read: two drains give the same message."""

    row, calls = "B8", 4

    def drain_messages(self, task: str) -> list[str]:
        found = self._find(task)
        if found is None:
            return []
        drained = list(found.pending_messages)
        with self._locked():
            found.pending_messages = [each for each in found.pending_messages if each not in drained]
        return drained


class QueuesOverwriteEachOther(Lie):
    """A message is left in a copy of the queue, which replaces what others left meanwhile."""

    row, calls = "B9", 4

    def queue_message(self, task: str, text: str) -> None:
        found = self._find(task)
        if found is None:
            return
        queue = [*found.pending_messages, text]
        with self._locked():
            found.pending_messages = queue


class TwoEndingsMix(Lie):
    """An ending looks whether the task runs, then ends it without looking again."""

    row, calls = "B12", 4

    def complete(self, task: str, result: str) -> None:
        found = self._find_running(task)
        if found is not None:
            with self._locked():
                found.result = result
                self._finish(found, "completed")


class KilledHasResult(Lie):
    """A completion leaves its result before it looks whether the task still runs."""

    row, calls = "B13", 4

    def complete(self, task: str, result: str) -> None:
        found = self._find_running(task)
        if found is not None:
            found.result = result
            super().complete(task, result)


class TerminatedTwice(Lie):
    """A main session looks whether it runs, then completes and tells it without looking again."""

    row, calls = "B14", 4

    def complete(self, task: str, result: str) -> None:
        found = self._find_running(task)
        if found is not None:
            with self._locked():
                found.result, found.status = result, "running"
                self._finish(found, "completed")


class MarkIsOverwritten(Lie):
    """Marking clears the flag for a moment, and who looks then may notify once more."""

    row, calls = "B15", 5

    def mark_notified(self, task: str) -> None:
        with self._locked():
            found = self._find(task)
            if found is not None:
                found.notified = False
        super().mark_notified(task)


class IdMintedTwice(Lie):
    """Two registrations at once read the same counter and give the same id."""

    row, calls = "B16", 2

    def register_async(
        self,
        description: str,
        prompt: str,
        agent_type: str | None = None,
        parent: str | None = None,
        tool_use_id: str | None = None,
    ) -> Reply:
        number = self._minted
        task = self._agent(description, prompt, agent_type, tool_use_id)
        self._minted = number + 1
        with self._locked():
            task.parent = parent
            return self._register(task)


class RegistrationIsLost(Lie):
    """Two registrations at once copy the registry, and the one that writes it back first is lost."""

    row, calls = "B16", 3

    def register_main(
        self,
        description: str,
        messages: Sequence[str] = (),
        backgrounded: bool = True,
        controller: str | None = None,
    ) -> Reply:
        before = dict(self._tasks)
        with self._locked():
            reply = super().register_main(description, messages, backgrounded, controller)
            self._tasks = {**before, reply["task_id"]: self._tasks[reply["task_id"]]}
        return reply


class TwoComeToFrontAtOnce(Lie):
    """A task that comes to the foreground sends back the one that was there when it was asked for."""

    row, calls = "B17", 5

    def foreground(self, task: str) -> list[str] | None:
        previous, found = self._find(self._foregrounded), self._find(task)
        if found is None:
            return None
        with self._locked():
            self._foregrounded = None if previous is None else previous.task_id
            return self._foreground(found)


class ProgressWritesSummaryBack(Lie):
    """Progress writes back the summary that it read before a newer one came."""

    row, calls = "B18", 4

    def progress(self, task: str, tool_uses: int, tokens: int, activities: Sequence[str]) -> None:
        found = self._find_running(task)
        summary: str | None = None if found is None else found.summary
        with self._locked():
            super().progress(task, tool_uses, tokens, activities)
            if found is not None:
                found.summary = summary
