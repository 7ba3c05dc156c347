"""thread-job with `transitions`: a state machine drives the status of each job, the rest are its callbacks.

Construction: one `transitions.Machine` per registry, each job a model of it. The table of arrows is the
only place that knows what may follow what: the outcome is picked by a condition, stamps are set by
callbacks, an arrow that does not exist (a second outcome, a cancel too late) is the machine's own refusal.
One lock around it all.

Choices where the description leaves one:
- small limits of its own: 3 terminal jobs, 100 bytes, 5 lines; tie `completion`; lacks `start_as` and
  `emit`;
- ids are short and count on over a restart;
- a second outcome, and an outcome of an unknown or evicted job, is refused;
- a cancel of a pending_cancel job sends the request again and replies with the job; of a terminal one:
  refused;
- eviction does not free the tool call;
- becoming idle with due messages waits for the next boundary;
- an oversize text goes to its file when it is told, the message quotes its first characters; restart keeps
  files.
"""

import itertools
import json
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from transitions import EventData, Machine, MachineError

from conformance.refused import Refused

RETAINED, MAX_BYTES, MAX_LINES = 3, 100, 5
ACTIVE = ["running", "pending_cancel"]
TERMINAL = ["completed", "failed", "cancelled", "timed_out"]

_Signals: TypeAlias = list[dict[str, Any]]

STATES: list[dict[str, Any]] = [
    {"name": "running"},
    {"name": "pending_cancel"},
    *({"name": outcome, "final": True, "on_enter": "stamp_end"} for outcome in TERMINAL),
]
ARROWS: list[dict[str, Any]] = [
    {
        "trigger": "cancel",
        "source": "running",
        "dest": "pending_cancel",
        "before": "stamp_cancel",
        "after": "send",
    },
    {"trigger": "cancel", "source": "pending_cancel", "dest": None, "after": "send"},
    {"trigger": "progress", "source": ACTIVE, "dest": None},
    *({"trigger": "end", "source": ACTIVE, "dest": outcome, "conditions": "ends_so"} for outcome in TERMINAL),
]


@dataclass(eq=False)
class Job:
    """One job: a model of the machine, which keeps `status` and adds the triggers."""

    job_id: str
    thread: str
    tool_call: str
    tool: str
    started_at: int
    signals: _Signals = field(repr=False)
    completed_at: int | None = None
    cancel_requested_at: int | None = None
    text: str | None = None
    told: bool = False
    status: str = field(init=False)
    cancel: Callable[..., bool] = field(init=False, repr=False)
    progress: Callable[..., bool] = field(init=False, repr=False)
    end: Callable[..., bool] = field(init=False, repr=False)

    def ends_so(self, event: EventData) -> bool:
        """Of the four arrows of `end`, only the one that leads to the reported outcome is open."""
        return event.transition is not None and event.transition.dest == event.kwargs["outcome"]

    def stamp_cancel(self, event: EventData) -> None:
        self.cancel_requested_at = event.kwargs["now"]

    def send(self, event: EventData) -> None:
        self.signals.append({"signal": "CancelSent", "job_id": self.job_id})

    def stamp_end(self, event: EventData) -> None:
        self.completed_at = event.kwargs["now"]
        self.text = event.kwargs["text"]

    def shown(self) -> dict[str, Any]:
        return {
            "job_id": self.job_id,
            "thread": self.thread,
            "tool_call": self.tool_call,
            "tool": self.tool,
            "status": self.status,
            "started_at": self.started_at,
            "completed_at": self.completed_at,
            "cancel_requested_at": self.cancel_requested_at,
            "payload": self.text,
            "told": self.told,
        }


class MachineJobs:
    """Background jobs of conversation threads; safe to share between threads."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "threads",
        "limits": {"retained": RETAINED, "max_bytes": MAX_BYTES, "max_lines": MAX_LINES},
        "policies": {"tie": "completion"},
        "lacks": ["start_as", "emit"],
    }

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._machine = Machine(
            model=None,
            states=STATES,
            transitions=ARROWS,
            initial="running",
            auto_transitions=False,
            send_event=True,
            model_attribute="status",
        )
        self._now = 0
        self._numbers = itertools.count(1)
        self._jobs: dict[str, Job] = {}
        self._resolved: set[str] = set()
        self._ended: defaultdict[str, list[Job]] = defaultdict(list)  # per thread, first to complete first
        self._due: defaultdict[str, list[Job]] = defaultdict(list)
        self._transcripts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._idle: set[str] = set()
        self._signals: _Signals = []
        self._files: list[Path] = []

    # -- tool calls

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> dict[str, Any]:
        with self._lock:
            self._resolve(tool_call)
            return {"mode": "synchronous", "result": result, "job_id": None}

    def start(self, thread: str, tool_call: str, tool: str) -> dict[str, Any]:
        with self._lock:
            self._resolve(tool_call)
            job = Job(f"job-{next(self._numbers)}", thread, tool_call, tool, self._now, self._signals)
            self._machine.add_model(job)
            self._jobs[job.job_id] = job
            return {"mode": "background", "job_id": job.job_id, "status": job.status}

    def _resolve(self, tool_call: str) -> None:
        if tool_call in self._resolved:
            raise Refused("already_resolved")
        self._resolved.add(tool_call)

    # -- what the tool reports

    def report_progress(self, job: str) -> None:
        with self._lock:
            known = self._jobs.get(job)
            if known is not None and known.status in ACTIVE:
                known.progress()

    def llm_error(self, job: str, http_status: int) -> None:
        """The session retries its model call; no arrow leads anywhere from that."""

    def finish(self, job: str, outcome: str, payload: Any) -> None:
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        with self._lock:
            known = self._jobs.get(job)
            if known is None:
                raise Refused("not_found")
            try:
                ended = known.end(outcome=outcome, text=text, now=self._now)
            except MachineError as error:
                raise Refused("wrong_state", str(error)) from error
            if not ended:
                raise ValueError(f"not an outcome: {outcome!r}")
            self._due[known.thread].append(known)
            self._ended[known.thread].append(known)
            if len(self._ended[known.thread]) > RETAINED:
                self._forget(self._ended[known.thread].pop(0))
            if known.thread in self._idle:
                self._signals.append({"signal": "BoundaryRequested", "thread": known.thread})
                self._boundary(known.thread)

    def _forget(self, job: Job) -> None:
        self._machine.remove_model(job)
        del self._jobs[job.job_id]

    # -- telling

    def turn_boundary(self, thread: str) -> list[dict[str, Any]]:
        with self._lock:
            return self._boundary(thread)

    def messages(self, thread: str) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._transcripts[thread])

    def _boundary(self, thread: str) -> list[dict[str, Any]]:
        told = [self._told(job) for job in self._due.pop(thread, [])]
        if told:
            self._transcripts[thread].extend(told)
            self._signals.append({"signal": "TurnTriggered", "thread": thread})
        return told

    def _told(self, job: Job) -> dict[str, Any]:
        assert job.text is not None, "only an ended job is told"
        job.told = True
        content = self._content(job.text)
        return {"job_id": job.job_id, "tool": job.tool, "status": job.status, "content": content}

    def _content(self, text: str) -> dict[str, str]:
        encoded = text.encode("utf-8", "surrogatepass")
        if len(encoded) <= MAX_BYTES and len(text.split("\n")) <= MAX_LINES:
            return {"text": text}
        with tempfile.NamedTemporaryFile(prefix="machine-jobs-", delete=False) as file:
            file.write(encoded)
        self._files.append(Path(file.name))
        return {"file": file.name, "preview": text[: min(16, len(text) - 1)]}

    # -- what a thread may see and ask

    def request_cancel(self, thread: str, job: str, actor: str) -> dict[str, Any]:
        with self._lock:
            own = self._own(thread, job)
            try:
                own.cancel(now=self._now)
            except MachineError as error:
                raise Refused("wrong_state", str(error)) from error
            return own.shown()

    def list_jobs(self, thread: str, statuses: Iterable[str] | None = None) -> list[dict[str, Any]]:
        wanted = set(ACTIVE if statuses is None else statuses)
        with self._lock:
            own = [job for job in self._jobs.values() if job.thread == thread]
            return [job.shown() for job in own if job.status in wanted]

    def inspect_job(self, thread: str, job: str) -> dict[str, Any]:
        with self._lock:
            return self._own(thread, job).shown()

    def _own(self, thread: str, job_id: str) -> Job:
        job = self._jobs.get(job_id)
        if job is None or job.thread != thread:
            raise Refused("not_found", "Job not found in this thread")
        return job

    def retry_job(self, thread: str, job: str) -> None:
        raise Refused("manual_retry_not_supported", "Manual retry is not supported for background jobs")

    # -- controls and observers

    def set_idle(self, thread: str, idle: bool) -> None:
        with self._lock:
            (self._idle.add if idle else self._idle.discard)(thread)

    def restart(self) -> None:
        with self._lock:
            for job in list(self._jobs.values()):
                self._forget(job)
            self._resolved.clear()
            self._ended.clear()
            self._due.clear()

    def wait(self, ms: int) -> None:
        with self._lock:
            self._now += ms

    def signals(self) -> list[dict[str, Any]]:
        with self._lock:
            taken = list(self._signals)
            self._signals.clear()  # the jobs write into this very list
            return taken

    def close(self) -> None:
        with self._lock:
            for path in self._files:
                path.unlink(missing_ok=True)
            self._files.clear()
