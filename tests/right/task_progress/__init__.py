"""Right task-progress implementations of different construction: whoever accuses one of them is wrong."""

from tests.right.task_progress.events import EventSourcedProgress
from tests.right.task_progress.sqlite import SqliteProgress

RIGHT: list[type] = [EventSourcedProgress, SqliteProgress]

__all__ = ["RIGHT", "EventSourcedProgress", "SqliteProgress"]
