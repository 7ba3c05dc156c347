"""A command line tool that starts jobs: the reference for `cli-job`, as a real program.

    python -m conformance.references.cli_program work --schema
    python -m conformance.references.cli_program work --outcome complete --key K
    python -m conformance.references.cli_program work --outcome running --id=ID
    python -m conformance.references.cli_program job status -- ID
    python -m conformance.references.cli_program job cancel -- ID

A job is a record in a file, in the folder that `JOBS_DIR` names; how it stands follows from the record and the clock. So
it outlives the process that started it, and nothing has to run. With `JOBS_CLOCK=virtual` only `advance MS` moves the
clock.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import io
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

MODULE = "conformance.references.cli_program"
WORK, GRACE, TIMEOUT, POLL = 400, 200, 60_000, 100
"""Milliseconds: how long a job works, when a cancel takes effect, when a job counts as failed, how often to ask."""

COMPLETE, USAGE, RUNNING, FAILED, NOT_FOUND = 0, 2, 3, 4, 5
STATUSES = ("running", "complete", "failed", "cancelled")
SHAPES = ("job-{}", "-{}", "job {}", "it's-{}", '"{}"', "$({})", "--help={}", "ünï {}", "a;b|c&{}", "*{}\\")
"""Ids of all sorts: what is printed has to work for each of them."""

DESCRIPTOR = {
    "job_id": {"type": "string"},
    "status": {"enum": list(STATUSES)},
    "terminal": {"type": "boolean"},
    "status_command": {"type": "string"},
    "cancel_command": {"type": "string"},
    "poll_interval_ms": {"type": "integer"},
    "timeout_ms": {"type": "integer"},
}
SCHEMA: dict[str, Any] = {"type": "object", "required": list(DESCRIPTOR), "properties": DESCRIPTOR}

State = dict[str, Any]
Job = dict[str, Any]
Answer = tuple[int, Any, str | None]
"""An exit code, the data of the envelope, and its error."""


class Usage(Exception):
    """The arguments are not those of any command."""


class Help(Exception):
    """Somebody asked how to call a command."""


class JobTool:
    """The tool: arguments in, an exit code and a text for stdout out. `state` is all that it knows between calls.

    Each method is one rule, so that a wrong tool is a small subclass.
    """

    def __init__(self, state: State, tool: Sequence[str], clock: Callable[[], int] | None = None) -> None:
        self.state = state
        self.tool = list(tool)
        self._clock = clock
        state.setdefault("now", 0)
        state.setdefault("started", 0)
        state.setdefault("jobs", {})

    def run(self, arguments: Sequence[str]) -> tuple[int, str]:
        """Carry out one command."""
        try:
            chosen = _parser().parse_args(list(arguments))
        except Usage as usage:
            code, data, error = USAGE, None, str(usage)
        except Help as text:
            return COMPLETE, str(text)
        else:
            code, data, error = getattr(self, chosen.command)(chosen)
        return code, self.printed(self.envelope(code, data, error))

    @property
    def now(self) -> int:
        """The instant in milliseconds."""
        return self._clock() if self._clock is not None else int(self.state["now"])

    # The commands.

    def work(self, chosen: argparse.Namespace) -> Answer:
        """Start a job, or print what starts one."""
        if chosen.schema:
            return COMPLETE, self.declaration(), None
        if chosen.outcome is None:
            return USAGE, None, "--outcome is needed"
        job_id = self.mint(chosen.key) if chosen.id is None else chosen.id
        if job_id in self.state["jobs"]:
            return USAGE, None, f"there is a job {job_id!r} already"
        self.state["jobs"][job_id] = job = {
            "wanted": chosen.outcome,
            "started_at": self.now,
            "asked_at": None,
            "status": "running",
        }
        return COMPLETE, self.descriptor(job_id, job), None

    def status(self, chosen: argparse.Namespace) -> Answer:
        """Tell how a job stands, by the exit code and the descriptor."""
        if not (job := self.found(chosen.job)):
            return self.not_found(chosen.job)
        error = None if job["status"] == "complete" else f"the job is {job['status']}"
        return self.exit_of(job["status"]), self.descriptor(chosen.job, job), error

    def cancel(self, chosen: argparse.Namespace) -> Answer:
        """Ask for the end of a job."""
        if not (job := self.found(chosen.job)):
            return self.not_found(chosen.job)
        self.ask_to_end(job)
        return COMPLETE, self.descriptor(chosen.job, job), None

    def end(self, chosen: argparse.Namespace) -> Answer:
        """End a job from outside."""
        if not (job := self.found(chosen.job)):
            return self.not_found(chosen.job)
        if job["status"] == "running":
            job["status"] = chosen.outcome
        return COMPLETE, None, None

    def register(self, chosen: argparse.Namespace) -> Answer:
        """Register a command that starts jobs; one without a schema of its descriptor is an error."""
        if chosen.descriptor_schema is None:
            return USAGE, None, f"{chosen.name} starts jobs and has no descriptor schema"
        return COMPLETE, None, None

    def advance(self, chosen: argparse.Namespace) -> Answer:
        """Move the virtual clock."""
        self.state["now"] += chosen.ms
        return COMPLETE, None, None

    # What a job is.

    def mint(self, key: str) -> str:
        """Return a fresh id."""
        self.state["started"] += 1
        number = self.state["started"]
        return SHAPES[(number - 1) % len(SHAPES)].format(number)

    def found(self, job_id: str) -> Job | None:
        """Return the job as it stands now."""
        job: Job | None = self.state["jobs"].get(job_id)
        if job is not None and job["status"] == "running":
            due = [each for each in self.endings(job) if each[0] <= self.now]
            if due:
                job["status"] = min(due)[1]
        return job

    def endings(self, job: Job) -> Iterator[tuple[int, str]]:
        """Yield all ways in which a running job is about to end, and when; the first one counts."""
        if job["wanted"] != "running":
            yield job["started_at"] + WORK, job["wanted"]
        if job["asked_at"] is not None:
            yield job["asked_at"] + GRACE, "cancelled"
        yield job["started_at"] + TIMEOUT, "failed"

    def ask_to_end(self, job: Job) -> None:
        """Note when a running job was first asked to end."""
        if job["status"] == "running" and job["asked_at"] is None:
            job["asked_at"] = self.now

    # What is printed.

    def declaration(self) -> dict[str, Any]:
        """Return what `--schema` prints."""
        codes = {"complete": COMPLETE, "running": RUNNING, "failed": FAILED, "not_found": NOT_FOUND}
        return {"command": "work", "async": True, "job_descriptor_schema": SCHEMA, "exit_codes": codes}

    def descriptor(self, job_id: str, job: Job) -> dict[str, Any]:
        """Return the seven fields."""
        return {
            "job_id": job_id,
            "status": job["status"],
            "terminal": job["status"] != "running",
            "status_command": self.command("job", "status", "--", job_id),
            "cancel_command": self.command("job", "cancel", "--", job_id),
            "poll_interval_ms": POLL,
            "timeout_ms": TIMEOUT,
        }

    def command(self, *words: str) -> str:
        """Return a command as a caller can paste it into a shell."""
        return shlex.join([*self.tool, *words])

    def exit_of(self, status: str) -> int:
        """Return the exit code of a status; a cancelled job did not do its work."""
        return {"complete": COMPLETE, "running": RUNNING}.get(status, FAILED)

    def not_found(self, job_id: str) -> Answer:
        """Return the answer for an id that was never handed out."""
        return NOT_FOUND, None, f"there is no job {job_id!r}"

    def envelope(self, code: int, data: Any, error: str | None) -> dict[str, Any]:
        """Return what goes to stdout, whatever the command."""
        message = None if error is None else {"message": error}
        return {"ok": code == 0, "data": data, "error": message, "warnings": [], "meta": {"duration_ms": 0}}

    def printed(self, envelope: dict[str, Any]) -> str:
        """One JSON object, and a line break."""
        return f"{json.dumps(envelope)}\n"


# ── Arguments ────────────────────────────────────────────────────────────────────────────────────


class _ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(message)

    def print_help(self, file: object = None) -> NoReturn:
        raise Help(self.format_help())


@cache
def _parser() -> argparse.ArgumentParser:
    parser = _ArgumentParser(prog="jobs", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, dest="command")
    work = commands.add_parser("work")
    work.add_argument("--schema", action="store_true")
    work.add_argument("--outcome", choices=["complete", "failed", "running"])
    work.add_argument("--key", default="")
    work.add_argument("--id")
    jobs = commands.add_parser("job").add_subparsers(required=True, dest="command")
    for name in ("status", "cancel", "end"):
        command = jobs.add_parser(name)
        if name == "end":
            command.add_argument("outcome", choices=["complete", "failed"])
        command.add_argument("job")
    register = commands.add_parser("register")
    register.add_argument("name")
    register.add_argument("--descriptor-schema")
    commands.add_parser("advance").add_argument("ms", type=int)
    return parser


# ── As a process ─────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def kept(folder: Path) -> Iterator[State]:
    """Hold the state in a folder, for one process at a time; written back whole, or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file, fresh = folder / "jobs.json", folder / "jobs.new"
        state: State = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        yield state
        fresh.write_text(json.dumps(state), encoding="utf-8")
        fresh.replace(file)


def main(program: type[JobTool] = JobTool, module: str = MODULE) -> int:
    """Carry out the command of this process; return its exit code."""
    clock = None if os.environ.get("JOBS_CLOCK") == "virtual" else lambda: int(time.time() * 1000)
    with kept(Path(os.environ.get("JOBS_DIR", "."))) as state:
        code, text = program(state, [sys.executable, "-m", module], clock).run(sys.argv[1:])
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
