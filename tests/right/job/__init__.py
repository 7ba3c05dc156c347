"""Right job implementations of different construction: whoever accuses one of them is wrong."""

from tests.right.job.actor import ActorJobs
from tests.right.job.newest_first import NewestFirstJobs
from tests.right.job.sqlite import SqliteJobs

RIGHT: list[type] = [SqliteJobs, ActorJobs, NewestFirstJobs]

__all__ = ["RIGHT", "ActorJobs", "NewestFirstJobs", "SqliteJobs"]
