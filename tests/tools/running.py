"""The reference program on a clock that runs on by itself: `advance MS` moves it, and so does the time that passes.

JOBS_LIE may name a lie, so that a tool which is wrong on such a clock stands beside the right one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

from conformance.references.cli_program import TIMEOUT, Job, JobTool, main

SECOND = 1000


class RunningTool(JobTool):
    """A tool whose clock shows the real time, and how far it was moved on."""

    @property
    def now(self) -> int:
        """The instant in milliseconds, by a clock that nobody sets, and that the processes of one machine share where tests run."""
        return int(time.monotonic() * 1000) + int(self.state["now"])


class EarlyTool(RunningTool):
    """A job counts as failed a second before timeout_ms is over."""

    def endings(self, job: Job) -> Iterator[tuple[int, str]]:
        """Yield its endings, and one that comes too soon."""
        yield from super().endings(job)
        yield job["started_at"] + TIMEOUT - SECOND, "failed"


class EndlessTool(RunningTool):
    """A job may run for ever."""

    def endings(self, job: Job) -> Iterator[tuple[int, str]]:
        """Yield all endings but that by its timeout."""
        yield from (each for each in super().endings(job) if each[0] != job["started_at"] + TIMEOUT)


LIES: dict[str, type[RunningTool]] = {"early": EarlyTool, "endless": EndlessTool}

if __name__ == "__main__":
    sys.exit(main(LIES.get(os.environ.get("JOBS_LIE", ""), RunningTool), "tests.tools.running"))
