"""thread-job on the real clock, for one thread of execution: a registry object for each conversation.

Construction: an index over small registries, one per conversation thread, that hold nothing of each other;
messages are dataclasses, made when a job ends, spill file included, and turned into plain values at the
edge.

Choices where the description leaves one:
- clock `none`: instants are true milliseconds of the monotonic clock since the object was made, and nobody
  can move them, hence no `wait`; tie `completion`, so that the order of completing decides at any
  resolution;
- limits of its own: 8 terminal jobs, 512 bytes, 40 lines;
- ids hold spaces, quotes, slashes and characters outside ASCII and outside the basic plane;
- a second outcome is ignored, an outcome of an unknown or evicted job is refused;
- a cancel of a pending_cancel or terminal job is ignored and replies with nothing, a first one with the
  job;
- eviction frees neither the tool call nor the job id; a restart frees both;
- `emit` of an unknown, foreign or evicted job answers False;
- becoming idle with due messages is a boundary at once, without a BoundaryRequested of its own;
- an oversize text goes to its file when the job ends; a restart deletes the files of messages never told.
"""

import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from conformance.refused import Refused

RETAINED, MAX_BYTES, MAX_LINES = 8, 512, 40
ACTIVE = frozenset({"running", "pending_cancel"})
ID_FORMS = ("job ✓ {}", 'the "{}." job', "l'œuvre {}", " {} \\ a/b%20?#{{}}", "𝛌-{}\u0301")


@dataclass(frozen=True, slots=True)
class Message:
    """What a thread will be told of one job: the text, or where all of it is."""

    job_id: str
    tool: str
    status: str
    text: str | None
    file: Path | None

    def plain(self) -> dict[str, Any]:
        content = {"text": self.text} if self.file is None else {"file": str(self.file)}
        return {"job_id": self.job_id, "tool": self.tool, "status": self.status, "content": content}


@dataclass(slots=True)
class Job:
    job_id: str
    tool_call: str
    tool: str
    started_at: int
    status: str = "running"
    completed_at: int | None = None
    cancel_requested_at: int | None = None
    payload_file: Path | None = None

    def plain(self, thread: str) -> dict[str, Any]:
        return {
            "job_id": self.job_id,
            "thread": thread,
            "tool_call": self.tool_call,
            "tool": self.tool,
            "status": self.status,
            "started_at": self.started_at,
            "completed_at": self.completed_at,
            "cancel_requested_at": self.cancel_requested_at,
            "payload_file": None if self.payload_file is None else str(self.payload_file),
        }


class Conversation:
    """The registry of one thread. `signal` takes the name of what happened and its one field."""

    def __init__(self, thread: str, signal: Callable[..., None]) -> None:
        self.thread = thread
        self.idle = False
        self.jobs: dict[str, Job] = {}
        self._due: dict[str, Message] = {}  # by job id, in order of completion
        self._transcript: list[Message] = []
        self._signal = signal

    def own(self, job_id: str) -> Job:
        try:
            return self.jobs[job_id]
        except KeyError:
            raise Refused("not_found", "Job not found in this thread") from None

    def end(self, job: Job, now: int, message: Message) -> None:
        job.status, job.completed_at, job.payload_file = message.status, now, message.file
        self.jobs[job.job_id] = self.jobs.pop(job.job_id)  # ended jobs stand in order of completion
        self._due[job.job_id] = message
        ended = [one.job_id for one in self.jobs.values() if one.status not in ACTIVE]
        for leaving in ended[: max(0, len(ended) - RETAINED)]:
            del self.jobs[leaving]
        if self.idle:
            self._signal("BoundaryRequested", thread=self.thread)
            self.boundary()

    def cancel(self, job: Job, now: int) -> bool:
        if job.status != "running":
            return False
        job.status, job.cancel_requested_at = "pending_cancel", now
        self._signal("CancelSent", job_id=job.job_id)
        return True

    def boundary(self) -> list[Message]:
        return self._tell(list(self._due))

    def emit(self, job_id: str) -> bool:
        return bool(self._tell([job_id] if job_id in self.jobs and job_id in self._due else []))

    def _tell(self, job_ids: list[str]) -> list[Message]:
        told = [self._due.pop(job_id) for job_id in job_ids]
        self._transcript.extend(told)
        if told:
            self._signal("TurnTriggered", thread=self.thread)
        return told

    def be_idle(self, idle: bool) -> None:
        self.idle = idle
        if idle:
            self.boundary()

    def listed(self, wanted: frozenset[str]) -> list[dict[str, Any]]:
        return [job.plain(self.thread) for job in self.jobs.values() if job.status in wanted]

    def transcript(self) -> list[dict[str, Any]]:
        return [message.plain() for message in self._transcript]

    def forget(self) -> None:
        for message in self._due.values():
            if message.file is not None:
                message.file.unlink()
        self._due.clear()
        self.jobs.clear()


class RealClockJobs:
    """Background jobs of conversation threads, to be called from one thread only."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "none",
        "concurrency": "none",
        "limits": {"retained": RETAINED, "max_bytes": MAX_BYTES, "max_lines": MAX_LINES},
        "policies": {"tie": "completion"},
        "lacks": [],
    }

    def __init__(self) -> None:
        self._born = time.monotonic_ns()
        forms = enumerate(itertools.cycle(ID_FORMS), start=1)
        self._minted = (form.format(number) for number, form in forms)  # never ends, not by a restart either
        self._conversations: dict[str, Conversation] = {}
        self._thread_of: dict[str, str] = {}  # every id of this process, evicted ones too
        self._resolved: set[str] = set()
        self._signals: list[dict[str, Any]] = []
        self._spills: tempfile.TemporaryDirectory[str] | None = None
        self._spill_numbers = itertools.count(1)

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> dict[str, Any]:
        self._refuse_resolved(tool_call)
        self._resolved.add(tool_call)
        return {"mode": "synchronous", "result": result, "status": None}

    def start(self, thread: str, tool_call: str, tool: str) -> dict[str, Any]:
        self._refuse_resolved(tool_call)
        job_id = next(minted for minted in self._minted if minted not in self._thread_of)
        return self.start_as(thread, tool_call, tool, job_id)

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> dict[str, Any]:
        self._refuse_resolved(tool_call)
        if job_id in self._thread_of:
            raise Refused("duplicate_job_id")
        self._resolved.add(tool_call)
        self._thread_of[job_id] = thread
        job = Job(job_id, tool_call, tool, self._now())
        self._conversation(thread).jobs[job_id] = job
        return {"mode": "background", "job_id": job_id, "status": job.status}

    def report_progress(self, job: str) -> None:
        """Progress is nobody's news and is not kept."""

    def llm_error(self, job: str, http_status: int) -> None:
        """The session retries its model call; no registry knows of it."""

    def finish(self, job: str, outcome: str, payload: Any) -> None:
        if job not in self._thread_of:
            raise Refused("not_found")
        conversation = self._conversation(self._thread_of[job])
        ending = conversation.own(job)
        if ending.status not in ACTIVE:
            return
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        file = self._spill(text)
        message = Message(job, ending.tool, outcome, text if file is None else None, file)
        conversation.end(ending, self._now(), message)

    def _spill(self, text: str) -> Path | None:
        encoded = text.encode("utf-8", "surrogatepass")
        if len(encoded) <= MAX_BYTES and text.count("\n") + 1 <= MAX_LINES:
            return None
        if self._spills is None:
            self._spills = tempfile.TemporaryDirectory(prefix="real clock jobs ✓ ")
        path = Path(self._spills.name, f"payload {next(self._spill_numbers)}.txt")
        path.write_bytes(encoded)
        return path

    def request_cancel(self, thread: str, job: str, actor: str) -> dict[str, Any] | None:
        conversation = self._conversation(thread)
        own = conversation.own(job)
        return own.plain(thread) if conversation.cancel(own, self._now()) else None

    def turn_boundary(self, thread: str) -> list[dict[str, Any]]:
        return [message.plain() for message in self._conversation(thread).boundary()]

    def emit(self, thread: str, job: str) -> bool:
        return self._conversation(thread).emit(job)

    def list_jobs(self, thread: str, statuses: Iterable[str] | None = None) -> list[dict[str, Any]]:
        return self._conversation(thread).listed(ACTIVE if statuses is None else frozenset(statuses))

    def inspect_job(self, thread: str, job: str) -> dict[str, Any]:
        return self._conversation(thread).own(job).plain(thread)

    def retry_job(self, thread: str, job: str) -> None:
        raise Refused("manual_retry_not_supported", "Manual retry is not supported for background jobs")

    def set_idle(self, thread: str, idle: bool) -> None:
        self._conversation(thread).be_idle(idle)

    def messages(self, thread: str) -> list[dict[str, Any]]:
        return self._conversation(thread).transcript()

    def restart(self) -> None:
        for conversation in self._conversations.values():
            conversation.forget()
        self._thread_of.clear()
        self._resolved.clear()

    def signals(self) -> list[dict[str, Any]]:
        taken, self._signals = self._signals, []
        return taken

    def close(self) -> None:
        if self._spills is not None:
            self._spills.cleanup()
            self._spills = None

    def _now(self) -> int:
        return (time.monotonic_ns() - self._born) // 1_000_000

    def _conversation(self, thread: str) -> Conversation:
        if thread not in self._conversations:
            self._conversations[thread] = Conversation(thread, self._signal)
        return self._conversations[thread]

    def _signal(self, name: str, **about: str) -> None:
        self._signals.append({"signal": name, **about})

    def _refuse_resolved(self, tool_call: str) -> None:
        if tool_call in self._resolved:
            raise Refused("already_resolved")
