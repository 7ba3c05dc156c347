"""thread-job with boundaries that share out what is owed: whoever comes first takes the next message.

Construction: as `events.py`, but a turn boundary takes one message at a time, and lets go of the lock after each. Of
boundaries at once each tells some of what is owed, in its order, and the transcript has them as they came.
"""

from typing import Any

from tests.right.thread_job.events import EventSourcedJobs


class SharingJobs(EventSourcedJobs):
    """Background jobs of conversation threads, of which several boundaries may tell at once."""

    def turn_boundary(self, thread: str) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = []
        while True:
            with self._lock:
                one = self._tell(thread, self._due(thread)[:1])
            if not one:
                return told
            told += one
