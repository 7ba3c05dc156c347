"""cli-job on a clock that runs on by itself: `advance` moves it, and so does the time that passes."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.references.cli_job import CliJobs
from conformance.references.cli_program import JobTool
from tests.tools.running import RunningTool


class RunningJobs(CliJobs):
    """A tool of which each call takes its time, however little."""

    declares: ClassVar[dict[str, Any]] = {**CliJobs.declares, "clock": "running"}
    program: ClassVar[type[JobTool]] = RunningTool
