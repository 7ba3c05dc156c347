"""Background jobs of a conversation thread: the reference for `thread-job`.

Where the description leaves a choice open, this implementation refuses and leaves everything as it was.
One idea: the whole implementation, as its users would write it.
"""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
import weakref
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from conformance.references.threaded import Threaded, atomic
from conformance.refused import Refused

ACTIVE = ("running", "pending_cancel")
TERMINAL = ("completed", "failed", "cancelled", "timed_out")
SHOWN = ("job_id", "thread", "tool_call", "tool", "status", "started_at", "completed_at", "cancel_requested_at")
"""What a thread sees of its job."""

Reply = dict[str, Any]
"""What is given to the outside: a job as shown, a message as told, the answer to a start."""


@dataclass(slots=True, eq=False)
class ThreadJob:
    """One background job; instants in integer milliseconds of the virtual clock."""

    job_id: str
    thread: str
    tool_call: str
    tool: str
    started_at: int
    serial: int
    """Its place among all starts."""
    status: str = "running"
    cancel_requested_at: int | None = None
    payload: str = ""
    completed_at: int | None = None
    completion: int = 0
    """Its place among all endings: who is first of those that ended at one instant."""
    told: bool = False


@atomic
class ThreadJobs(Threaded):
    """A registry of jobs for any number of threads, safe to call from any number of callers.

    `retained` terminal jobs are kept per thread; a payload of at most `max_bytes` bytes of UTF-8 and at most `max_lines`
    lines is told inline, a larger one as a temporary file. `close` deletes those files. Operations refuse by raising
    `Refused`.
    """

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"retained": 20, "max_bytes": 25600, "max_lines": 1000},
        "policies": {"tie": "completion"},
    }

    def __init__(self, *, retained: int = 20, max_bytes: int = 25600, max_lines: int = 1000) -> None:
        super().__init__()
        self._retained, self._max_bytes, self._max_lines = retained, max_bytes, max_lines
        self._minted = self._starts = self._endings = self._spills = 0
        self._calls: dict[str, str] = {}  # tool call → the mode it resolved to
        self._jobs: dict[str, ThreadJob] = {}
        self._due: defaultdict[str, list[ThreadJob]] = defaultdict(list)
        self._transcripts: defaultdict[str, list[Reply]] = defaultdict(list)
        self._idle: set[str] = set()
        self._directory: Path | None = None

    # What a tool call does: it ends within its turn, or becomes a job.

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        """Resolve a call within its turn: no job. Refuses `already_resolved`."""
        self._require_unresolved(tool_call)
        self._calls[tool_call] = "synchronous"
        return {"mode": "synchronous", "result": result, "job_id": None, "status": None}

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        """Resolve a call as a job under a fresh id. Refuses `already_resolved`."""
        self._require_unresolved(tool_call)
        return self._begin(thread, tool_call, tool, self._mint_id())

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        """Resolve it as a job under an id of the caller's. Refuses `already_resolved`, `duplicate_job_id`."""
        self._require_unresolved(tool_call)
        self._require_unused(job_id)
        return self._begin(thread, tool_call, tool, job_id)

    # What the tool reports.

    def report_progress(self, job: str) -> None:
        """Tell nobody anything."""

    def llm_error(self, job: str, http_status: int) -> None:
        """Survive a retryable HTTP error of the session's model call: it is no outcome."""

    def finish(self, job: str, outcome: str, payload: object) -> None:
        """End a job; its message becomes due, and arrives at once on an idle thread. Raises Refused.

        Refuses `not_found` (evicted jobs too) and `wrong_state` (it has already ended).
        """
        found = self._jobs.get(job)
        if found is None:
            raise Refused("not_found", "No such job")
        if found.status in TERMINAL:
            raise Refused("wrong_state", f"The job is already {found.status}")
        self._complete(found, outcome, payload)
        self._owe(found)
        self._evict(found.thread)
        self._wake(found.thread)

    # What the thread asks for. Other threads' jobs do not exist here.

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        """Ask the tool to stop, on behalf of the user or the agent; either may.

        Refuses `not_found`, and `wrong_state` when it was asked before or has ended.
        """
        found = self._find(thread, job)
        self._cancel(found)
        return self._show(found)

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        """Return the thread's jobs in these statuses, as shown."""
        return [self._show(job) for job in self._jobs_in(thread) if job.status in statuses]

    def inspect_job(self, thread: str, job: str) -> Reply:
        """Return the job as shown. Refuses `not_found`."""
        return self._show(self._find(thread, job))

    def retry_job(self, thread: str, job: str) -> None:
        """Raise Refused, whatever the id."""
        raise Refused("manual_retry_not_supported", "Manual retry is not supported for background jobs")

    # Telling.

    def turn_boundary(self, thread: str) -> list[Reply]:
        """Tell the thread everything that is due, and give what was told."""
        return copy.deepcopy(self._boundary(thread))

    def emit(self, thread: str, job: str) -> bool:
        """Try to tell the end of one job; whether this call told it."""
        due = [each for each in self._due_in(thread) if each.job_id == job]
        return bool(due) and self._tell(due[0]) is not None

    def messages(self, thread: str) -> list[Reply]:
        """Everything the thread was ever told by jobs."""
        return copy.deepcopy(self._transcripts[thread])

    # Controls of the kit.

    def set_idle(self, thread: str, idle: bool) -> None:
        """Say whether a turn is running. What was due before waits for a boundary."""
        (self._idle.add if idle else self._idle.discard)(thread)

    def restart(self) -> None:
        """Forget jobs, resolved calls and messages still due; the transcript is not ours to forget."""
        self._jobs.clear()
        self._calls.clear()
        self._due.clear()

    def close(self) -> None:
        """Delete the files of oversize payloads."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None

    # Rules of identity and resolution.

    def _require_unresolved(self, tool_call: str) -> None:
        if tool_call in self._calls:
            raise Refused("already_resolved", "The tool call has already been resolved")

    def _require_unused(self, job_id: str) -> None:
        """Ids are unique across threads: which thread asks makes no difference."""
        if job_id in self._jobs:
            raise Refused("duplicate_job_id", "The job id is in use")

    def _mint_id(self) -> str:
        """Return a fresh id; numbers are never used twice, not even after a restart."""
        while True:
            self._minted += 1
            job_id = f"job-{self._minted}"
            if job_id not in self._jobs:
                return job_id

    def _begin(self, thread: str, tool_call: str, tool: str, job_id: str) -> Reply:
        self._starts += 1
        job = ThreadJob(job_id, thread, tool_call, tool, started_at=self._now, serial=self._starts)
        self._calls[tool_call] = "background"
        self._jobs[job_id] = job
        return {"mode": "background", "job_id": job_id, "status": job.status}

    def _find(self, thread: str, job: str) -> ThreadJob:
        """Return the job, if this thread may know of it; foreign and unknown are refused alike."""
        found = self._jobs.get(job)
        if found is None or found.thread != thread:
            raise Refused("not_found", "Job not found in this thread")
        return found

    def _jobs_in(self, thread: str) -> list[ThreadJob]:
        return [job for job in self._jobs.values() if job.thread == thread]

    def _show(self, job: ThreadJob) -> Reply:
        return {name: getattr(job, name) for name in SHOWN}

    # Rules of ending.

    def _cancel(self, job: ThreadJob) -> None:
        if job.status != "running":
            raise Refused("wrong_state", f"The job is already {job.status}")
        job.status = "pending_cancel"
        job.cancel_requested_at = self._now
        self._signal("CancelSent", job_id=job.job_id)

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        if outcome not in TERMINAL:
            raise ValueError(f"not an outcome: {outcome!r}")
        text = payload if isinstance(payload, str) else json.dumps(payload)
        self._endings += 1
        job.status, job.payload = outcome, text
        job.completed_at, job.completion = self._now, self._endings

    def _order(self, job: ThreadJob) -> tuple[int, int]:
        """Return which of two ended jobs is first, to be told and to leave."""
        assert job.completed_at is not None
        return job.completed_at, job.completion

    def _evict(self, thread: str) -> None:
        for job in self._leaving(thread):
            del self._jobs[job.job_id]

    def _leaving(self, thread: str) -> list[ThreadJob]:
        """Return the ended jobs beyond the limit, first to complete first."""
        ended = self._ended_in(thread)
        return ended[: max(0, len(ended) - self._retained)]

    def _ended_in(self, thread: str) -> list[ThreadJob]:
        return sorted((job for job in self._jobs_in(thread) if job.status in TERMINAL), key=self._order)

    # Rules of telling.

    def _owe(self, job: ThreadJob) -> None:
        """Make the message due. It holds on to the job, so retention cannot lose it."""
        self._due[job.thread].append(job)

    def _wake(self, thread: str) -> None:
        """Ask for a boundary of an idle thread, which has none of its own to wait for."""
        if thread in self._idle:
            self._signal("BoundaryRequested", thread=thread)
            self._boundary(thread)

    def _boundary(self, thread: str) -> list[Reply]:
        told = [message for job in self._due_in(thread) if (message := self._tell(job))]
        if told:
            self._signal("TurnTriggered", thread=thread)
        return told

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(self._due[thread], key=self._order)

    def _tell(self, job: ThreadJob) -> Reply | None:
        """Put the job's message into the transcript, unless somebody did.

        Made before it is claimed: a file that cannot be written leaves the message due.
        """
        message = self._message(job)
        if not self._claim(job):
            return None
        self._transcripts[job.thread].append(message)
        return message

    def _claim(self, job: ThreadJob) -> bool:
        """Return whether the message is the caller's to tell; it is at most one caller's, ever."""
        if job.told:
            return False
        job.told = True
        self._due[job.thread].remove(job)
        return True

    def _message(self, job: ThreadJob) -> Reply:
        return {"job_id": job.job_id, "tool": job.tool, "status": job.status, "content": self._content(job.payload)}

    # Rules of content.

    def _content(self, text: str) -> Reply:
        return {"text": text} if self._fits(text) else {"file": self._spill(text)}

    def _fits(self, text: str) -> bool:
        """Both limits are inclusive. A line ends at a line feed, the last one at the end."""
        return self._bytes(text) <= self._max_bytes and self._lines(text) <= self._max_lines

    def _bytes(self, text: str) -> int:
        return len(text.encode())

    def _lines(self, text: str) -> int:
        return text.count("\n") + 1

    def _spill(self, text: str) -> str:
        """Write the whole text to a file of its own, byte for byte."""
        path = self._spill_path()
        path.write_bytes(text.encode())
        return str(path)

    def _spill_path(self) -> Path:
        self._spills += 1
        return self._private_directory() / f"payload-{self._spills}.txt"

    def _private_directory(self) -> Path:
        """Made when first needed; goes with `close`, or else with the object."""
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="thread-jobs-"))
            weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)
        return self._directory
