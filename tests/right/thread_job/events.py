"""thread-job by event sourcing: nothing is stored but what happened, every answer is a fold over it.

Construction: an append-only log, filed by stream (a tool call, a job id, a thread). A state is computed
anew from its stream for every question; no record is kept, let alone changed. One log belongs to the
process and is replaced by a restart; a second one belongs to the conversations (transcript, idleness, time,
signals) and never ends. A lock makes reading, deciding and appending one step, so threads may share an
object.

Choices where the description leaves one:
- tie `id`, by code point; ids are random, so that order is neither that of starting nor that of completing;
- a second outcome, and an outcome of an unknown or evicted job, is refused;
- a cancel of a pending_cancel job is refused, so is one of a terminal job; nothing is sent again;
- eviction frees both the tool call and the job id;
- `emit` of an unknown, foreign or evicted job answers False;
- becoming idle with due messages waits for the next boundary;
- each boundary that tells something triggers two turns;
- an oversize text goes to its file when it is told, and the message quotes its beginning;
- a line break at the very end of a text ends its last line and begins no other (policy trailing_breaks).
"""

import json
import tempfile
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from conformance.refused import Refused

RETAINED, MAX_BYTES, MAX_LINES = 20, 25_600, 1_000
PREVIEW = 200  # characters, and never more than half of the text
ACTIVE = frozenset({"running", "pending_cancel"})


# -- what can happen in a process


@dataclass(frozen=True, slots=True)
class Inlined:
    tool_call: str


@dataclass(frozen=True, slots=True, eq=False)  # each start is itself, even where an evicted id is used again
class Started:
    job_id: str
    thread: str
    tool_call: str
    tool: str
    at: int


@dataclass(frozen=True, slots=True)
class CancelRequested:
    job: Started
    at: int


@dataclass(frozen=True, slots=True)
class Ended:
    job: Started
    outcome: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Told:
    job: Started
    at: int


@dataclass(frozen=True, slots=True)
class Evicted:
    job: Started


JobEvent: TypeAlias = Started | CancelRequested | Ended | Told | Evicted


# -- what can happen in the conversations


@dataclass(frozen=True, slots=True)
class Spoken:
    message: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Idled:
    idle: bool


@dataclass(frozen=True, slots=True)
class Waited:
    until: int


@dataclass(frozen=True, slots=True)
class Signalled:
    signal: dict[str, Any]


Event = TypeVar("Event")


class Log(Generic[Event]):
    """An append-only list of events, filed under the streams that they concern."""

    def __init__(self) -> None:
        self._streams: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)

    def append(self, event: Event, *streams: tuple[str, str]) -> None:
        for stream in streams:
            self._streams[stream].append(event)

    def stream(self, kind: str, key: str = "") -> Sequence[Event]:
        return self._streams.get((kind, key), ())


@dataclass(frozen=True, slots=True)
class Job:
    """What a stream amounts to for one of its jobs."""

    born: Started
    status: str = "running"
    cancel_requested_at: int | None = None
    completed_at: int | None = None
    text: str = ""
    told_at: int | None = None
    evicted: bool = False

    @property
    def active(self) -> bool:
        return self.status in ACTIVE

    def order(self) -> tuple[int, str]:
        assert self.completed_at is not None, "only ended jobs are in this order"
        return self.completed_at, self.born.job_id

    def shown(self) -> dict[str, Any]:
        return {
            "job_id": self.born.job_id,
            "thread": self.born.thread,
            "tool_call": self.born.tool_call,
            "tool": self.born.tool,
            "status": self.status,
            "started_at": self.born.at,
            "completed_at": self.completed_at,
            "cancel_requested_at": self.cancel_requested_at,
        }


def fold(events: Iterable[JobEvent | Inlined]) -> list[Job]:
    """The jobs of a stream as its events leave them, in the order in which they started."""
    jobs: dict[Started, Job] = {}
    for event in events:
        match event:
            case Started():
                jobs[event] = Job(event)
            case CancelRequested(job, at):
                jobs[job] = replace(jobs[job], status="pending_cancel", cancel_requested_at=at)
            case Ended(job, outcome, text, at):
                jobs[job] = replace(jobs[job], status=outcome, completed_at=at, text=text)
            case Told(job, at):
                jobs[job] = replace(jobs[job], told_at=at)
            case Evicted(job):
                jobs[job] = replace(jobs[job], evicted=True)
    return list(jobs.values())


class EventSourcedJobs:
    """Background jobs of conversation threads; safe to share between threads."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"retained": RETAINED, "max_bytes": MAX_BYTES, "max_lines": MAX_LINES},
        "policies": {"tie": "id"},
        "lacks": [],
    }

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Log[JobEvent | Inlined] = Log()
        self._conversations: Log[Spoken | Idled | Waited | Signalled] = Log()
        self._signals_read = 0
        self._files: list[Path] = []

    # -- tool calls

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> dict[str, Any]:
        with self._lock:
            self._refuse_resolved(tool_call)
            self._process.append(Inlined(tool_call), ("call", tool_call))
        return {"mode": "synchronous", "result": result}

    def start(self, thread: str, tool_call: str, tool: str) -> dict[str, Any]:
        return self.start_as(thread, tool_call, tool, uuid.uuid4().hex)

    def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> dict[str, Any]:
        with self._lock:
            self._refuse_resolved(tool_call)
            if self._find(job_id) is not None:
                raise Refused("duplicate_job_id")
            self._record(Started(job_id, thread, tool_call, tool, self._now()))
        return {"mode": "background", "job_id": job_id, "status": "running"}

    # -- what the tool reports

    def report_progress(self, job: str) -> None:
        """Progress is nobody's news and is not recorded."""

    def llm_error(self, job: str, http_status: int) -> None:
        """The session retries its model call; nothing happened to the job."""

    def finish(self, job: str, outcome: str, payload: Any) -> None:
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        with self._lock:
            found = self._find(job)
            if found is None:
                raise Refused("not_found")
            if not found.active:
                raise Refused("already_ended")
            thread = found.born.thread
            self._record(Ended(found.born, outcome, text, self._now()))
            ended = [one for one in self._jobs(thread) if not one.active and not one.evicted]
            for leaving in sorted(ended, key=Job.order)[: max(0, len(ended) - RETAINED)]:
                self._record(Evicted(leaving.born))
            if self._is_idle(thread):
                self._signal("BoundaryRequested", thread=thread)
                self._tell(thread, self._due(thread))

    # -- telling

    def turn_boundary(self, thread: str) -> list[dict[str, Any]]:
        with self._lock:
            return self._tell(thread, self._due(thread))

    def emit(self, thread: str, job: str) -> bool:
        with self._lock:
            found = self._find(job)
            if found is None or found.born.thread != thread or found.active or found.told_at is not None:
                return False
            return bool(self._tell(thread, [found]))

    def messages(self, thread: str) -> list[dict[str, Any]]:
        with self._lock:
            events = self._conversations.stream("thread", thread)
            return [event.message for event in events if isinstance(event, Spoken)]

    def _due(self, thread: str) -> list[Job]:
        due = [job for job in self._jobs(thread) if not job.active and job.told_at is None]
        return sorted(due, key=Job.order)

    def _tell(self, thread: str, due: Sequence[Job]) -> list[dict[str, Any]]:
        told = []
        for job in due:
            message = {
                "job_id": job.born.job_id,
                "tool": job.born.tool,
                "status": job.status,
                "content": self._content(job.text),
            }
            self._record(Told(job.born, self._now()))
            self._conversations.append(Spoken(message), ("thread", thread))
            told.append(message)
        if told:
            self._signal("TurnTriggered", thread=thread)
            self._signal("TurnTriggered", thread=thread)
        return told

    def _content(self, text: str) -> dict[str, str]:
        encoded = text.encode("utf-8", "surrogatepass")
        lines = text.count("\n") + (0 if text.endswith("\n") else 1)
        if len(encoded) <= MAX_BYTES and lines <= MAX_LINES:
            return {"text": text}
        with tempfile.NamedTemporaryFile(prefix="event-jobs-", delete=False) as file:
            file.write(encoded)
        self._files.append(Path(file.name))
        return {"preview": text[: min(PREVIEW, len(text) // 2)], "file": file.name}

    # -- what a thread may see and ask

    def request_cancel(self, thread: str, job: str, actor: str) -> dict[str, Any]:
        with self._lock:
            found = self._own(thread, job)
            if found.status != "running":
                raise Refused("not_running")
            self._record(CancelRequested(found.born, self._now()))
            self._signal("CancelSent", job_id=job)
            return self._own(thread, job).shown()

    def list_jobs(self, thread: str, statuses: Iterable[str] | None = None) -> list[dict[str, Any]]:
        wanted = ACTIVE if statuses is None else frozenset(statuses)
        with self._lock:
            return [job.shown() for job in self._jobs(thread) if job.status in wanted and not job.evicted]

    def inspect_job(self, thread: str, job: str) -> dict[str, Any]:
        with self._lock:
            return self._own(thread, job).shown()

    def retry_job(self, thread: str, job: str) -> None:
        raise Refused("manual_retry_not_supported", "Manual retry is not supported for background jobs")

    # -- controls and observers

    def set_idle(self, thread: str, idle: bool) -> None:
        with self._lock:
            self._conversations.append(Idled(idle), ("thread", thread))

    def restart(self) -> None:
        with self._lock:
            self._process = Log()

    def wait(self, ms: int) -> None:
        with self._lock:
            self._conversations.append(Waited(self._now() + ms), ("clock", ""))

    def signals(self) -> list[dict[str, Any]]:
        with self._lock:
            events = self._conversations.stream("signals")[self._signals_read :]
            self._signals_read += len(events)
            return [event.signal for event in events if isinstance(event, Signalled)]

    def close(self) -> None:
        with self._lock:
            for path in self._files:
                path.unlink(missing_ok=True)
            self._files.clear()

    # -- appending and folding; the lock is held

    def _record(self, event: JobEvent) -> None:
        born = event if isinstance(event, Started) else event.job
        self._process.append(event, ("call", born.tool_call), ("job", born.job_id), ("thread", born.thread))

    def _signal(self, name: str, **about: str) -> None:
        self._conversations.append(Signalled({"signal": name, **about}), ("signals", ""))

    def _now(self) -> int:
        events = reversed(self._conversations.stream("clock"))
        return next((event.until for event in events if isinstance(event, Waited)), 0)

    def _is_idle(self, thread: str) -> bool:
        events = reversed(self._conversations.stream("thread", thread))
        return next((event.idle for event in events if isinstance(event, Idled)), False)

    def _jobs(self, thread: str) -> list[Job]:
        return fold(self._process.stream("thread", thread))

    def _find(self, job_id: str) -> Job | None:
        jobs = fold(self._process.stream("job", job_id))
        return jobs[-1] if jobs and not jobs[-1].evicted else None

    def _own(self, thread: str, job_id: str) -> Job:
        job = self._find(job_id)
        if job is None or job.born.thread != thread:
            raise Refused("not_found", "Job not found in this thread")
        return job

    def _refuse_resolved(self, tool_call: str) -> None:
        events = self._process.stream("call", tool_call)
        inlined = any(isinstance(event, Inlined) for event in events)
        if inlined or any(not job.evicted for job in fold(events)):
            raise Refused("already_resolved")
