"""Right thread-job implementations of different construction: whoever accuses one of them is wrong."""

from tests.right.thread_job.actor import ActorJobs
from tests.right.thread_job.events import EventSourcedJobs
from tests.right.thread_job.machine import MachineJobs
from tests.right.thread_job.realclock import RealClockJobs
from tests.right.thread_job.sharing import SharingJobs
from tests.right.thread_job.sqlite import SqliteJobs

RIGHT: list[type] = [SqliteJobs, ActorJobs, EventSourcedJobs, MachineJobs, RealClockJobs, SharingJobs]

__all__ = ["RIGHT", "ActorJobs", "EventSourcedJobs", "MachineJobs", "RealClockJobs", "SharingJobs", "SqliteJobs"]
