"""Right job implementations of different construction: whoever accuses one of them is wrong."""

from tests.right.job.actor import ActorJobs
from tests.right.job.sqlite import SqliteJobs

RIGHT: list[type] = [SqliteJobs, ActorJobs]

__all__ = ["RIGHT", "ActorJobs", "SqliteJobs"]
