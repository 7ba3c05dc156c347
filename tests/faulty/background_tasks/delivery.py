"""Lies about the queue of outcomes, as one caller sees it."""

from __future__ import annotations

from conformance.references.background_tasks import Replies, Reply, TaskRow, TaskTable
from tests.faulty.background_tasks.lie import Lie


class DrainLeavesQueue(Lie):
    """A drain gives all outcomes, and so does the next one."""

    row, calls = "E4", 4

    def _drain(self, table: TaskTable) -> Replies:
        return [*table.queue]


class DrainGivesOne(Lie):
    """A drain gives one outcome, though several are queued."""

    row, calls = "B4", 5

    def _drain(self, table: TaskTable) -> Replies:
        return [table.queue.popleft()] if table.queue else []


class DrainIsNewestFirst(Lie):
    """A drain begins with what ended last."""

    row, calls = "X1", 5

    def _drain(self, table: TaskTable) -> Replies:
        return super()._drain(table)[::-1]


class DrainIsByStart(Lie):
    """A drain is in the order in which the tasks were spawned."""

    row, calls = "X1", 5

    def _drain(self, table: TaskTable) -> Replies:
        return sorted(super()._drain(table), key=lambda outcome: int(outcome["task_id"][5:]))


class DrainIsByLabel(Lie):
    """Of several tasks with one label a drain gives the one that ended last."""

    row, calls = "X15", 5

    def _drain(self, table: TaskTable) -> Replies:
        return list({outcome["label"]: outcome for outcome in super()._drain(table)}.values())


class LabelIsNotDelivered(Lie):
    """An outcome has the id of its task for a label."""

    row, calls = "N1", 3

    def _deliver(self, table: TaskTable, outcome: Reply) -> None:
        super()._deliver(table, {**outcome, "label": outcome["task_id"]})


class HasCompletedSticks(Lie):
    """Once something has completed there is something to drain for ever."""

    row, calls = "X11", 4

    async def has_completed(self) -> bool:
        return self._turn().finished > 0


class WaitTakesOutcome(Lie):
    """A wait that is woken takes the outcome that woke it."""

    row, calls = "X11", 4

    def _take_permit(self, table: TaskTable) -> bool:
        taken = super()._take_permit(table)
        if taken and table.queue:
            table.queue.popleft()
        return taken


class TextIsTrimmed(Lie):
    """A text loses its outer blanks."""

    row, calls = "X30", 3

    def _outcome(self, row: TaskRow, status: str, text: str) -> Reply:
        return super()._outcome(row, status, text.strip())


class NoTextGetsSome(Lie):
    """An empty text is drained as words that say so."""

    row, calls = "X30", 3

    def _outcome(self, row: TaskRow, status: str, text: str) -> Reply:
        return super()._outcome(row, status, text or "(no output)")


class QueueOfForty(Lie):
    """Forty outcomes wait at most; the oldest makes room."""

    row, calls = "X33", 83

    def _deliver(self, table: TaskTable, outcome: Reply) -> None:
        super()._deliver(table, outcome)
        while len(table.queue) > 40:
            table.queue.popleft()


class DrainsForty(Lie):
    """A drain gives forty outcomes at most."""

    row, calls = "X33", 83

    def _drain(self, table: TaskTable) -> list[Reply]:
        return [table.queue.popleft() for _ in range(min(40, len(table.queue)))]


class TextIsCut(Lie):
    """Of a text so many bytes are kept, and not so many signs."""

    row, calls = "X30", 3

    def _outcome(self, row: TaskRow, status: str, text: str) -> Reply:
        return super()._outcome(row, status, text.encode()[: len(text)].decode(errors="ignore"))
