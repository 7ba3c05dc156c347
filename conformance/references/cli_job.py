"""Jobs of a command line tool, called in this process: the reference for `cli-job`.

The tool is that of `cli_program`; only the process around it is missing, so that thousands of calls cost nothing.
"""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from conformance.cli_tool import CommandLine, Commands, Finished
from conformance.references.cli_program import POLL, TIMEOUT, JobTool, State

TOOL = "jobs"
COMMANDS = Commands(
    schema=[TOOL, "work", "--schema"],
    start={
        outcome: [TOOL, "work", "--outcome", outcome, "--key", "{key}"] for outcome in ("complete", "failed", "running")
    },
    start_as=[TOOL, "work", "--outcome", "running", "--id={job_id}"],
    status=[TOOL, "job", "status", "--", "{job_id}"],
    cancel=[TOOL, "job", "cancel", "--", "{job_id}"],
    end=[TOOL, "job", "end", "{outcome}", "--", "{job_id}"],
    register=[TOOL, "register", "build"],
    advance=[TOOL, "advance", "{ms}"],
)


class CliJobs(CommandLine):
    """A caller beside the tool. Every call is one step: a file would be locked meanwhile."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"settle": 1000, "timeout": TIMEOUT, "poll": POLL, "kept": None},
        "policies": {
            "running_exit": "exit_3",
            "cancelled_exit": "exit_4",
            "data": "always",
            "repeated": "new_job",
            "ends": "complete_and_failed",
        },
    }
    program: ClassVar[type[JobTool]] = JobTool

    def __init__(self) -> None:
        super().__init__(COMMANDS, self._call)
        self._state: State = {}
        self._turn = threading.RLock()

    def _call(self, arguments: list[str]) -> Finished:
        """Call the tool; there is no other one in this process."""
        if arguments[:1] != [TOOL]:
            return Finished(127, "")
        with self._turn:
            return Finished(*self.program(self._state, [TOOL]).run(arguments[1:]))
