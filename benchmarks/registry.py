"""A registry of background jobs written by hand around `transitions`, as one would without a generated model.

It answers what the model of thread-job answers on the walk that is measured: refusals, replies, the
order of messages, documents, retention. What a person would do in constant time is in constant time.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from transitions import Machine

ACTIVE = ["running", "pending_cancel"]
TERMINAL = ["completed", "failed", "cancelled", "timed_out"]


class Refusal(Exception):
    """An operation that is not carried out."""


class Job:
    """One job; `transitions` adds its triggers and keeps its `state`."""

    state: str
    request_cancel: Callable[[], bool]
    trigger: Callable[[str], bool]

    def __init__(self, job_id: str, thread: str, tool_call: str, tool: str, started_at: int) -> None:
        self.job_id = job_id
        self.thread = thread
        self.tool_call = tool_call
        self.tool = tool
        self.started_at = started_at
        self.cancel_requested_at: int | None = None
        self.completed_at: int | None = None
        self.payload = ""


class Registry:
    """Jobs of any number of threads; every job is a model of one shared machine, as `transitions` advises."""

    def __init__(self, retained: int = 20, max_bytes: int = 25600, max_lines: int = 1000) -> None:
        self._retained, self._max_bytes, self._max_lines = retained, max_bytes, max_lines
        self._machine = Machine(
            model=None,
            states=[*ACTIVE, *TERMINAL],
            initial="running",
            auto_transitions=False,
            transitions=[
                {"trigger": "request_cancel", "source": "running", "dest": "pending_cancel"},
                *({"trigger": outcome, "source": ACTIVE, "dest": outcome} for outcome in TERMINAL),
            ],
        )
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._machine.models = []
        self._now = self._minted = 0
        self._calls: dict[str, str] = {}
        self._jobs: dict[str, Job] = {}
        self._ended: defaultdict[str, deque[Job]] = defaultdict(deque)
        self._due: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._sent: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def start(self, thread: str, tool_call: str, tool: str) -> dict[str, Any]:
        """Turn a tool call into a job."""
        if tool_call in self._calls:
            raise Refusal("already_resolved")
        self._calls[tool_call] = "background"
        self._minted += 1
        job = Job(f"job-{self._minted}", thread, tool_call, tool, self._now)
        self._enter(job)
        self._jobs[job.job_id] = job
        return {"mode": "background", "job_id": job.job_id, "status": job.state}

    def request_cancel(self, thread: str, job_id: str, actor: str) -> None:
        """Ask for the end of a job."""
        job = self._jobs.get(job_id)
        if job is None or job.thread != thread:
            raise Refusal("not_found")
        if job.state == "running":
            self._move(job, "request_cancel")
            job.cancel_requested_at = self._now

    def finish(self, job_id: str, outcome: str, payload: str) -> None:
        """End a job: its message becomes due, and what is beyond retention leaves."""
        job = self._jobs.get(job_id)
        if job is None or job.state not in ACTIVE:
            return
        self._move(job, outcome)
        job.payload = payload
        job.completed_at = self._now
        inline = len(payload.encode()) <= self._max_bytes and payload.count("\n") + 1 <= self._max_lines
        content = {"text": payload, "inline": inline}
        self._due[job.thread].append({"job_id": job.job_id, "tool": job.tool, "status": job.state, "content": content})
        ended = self._ended[job.thread]
        ended.append(job)
        if len(ended) > self._retained:
            oldest = ended.popleft()
            del self._jobs[oldest.job_id]
            self._leave(oldest)

    def turn_boundary(self, thread: str) -> list[dict[str, Any]]:
        """Tell what is owed to a thread."""
        told = self._due.pop(thread, [])
        self._sent[thread] += told
        return list(told)

    def list_jobs(self, thread: str, statuses: list[str]) -> list[str]:
        """Return the ids of a thread's jobs in some statuses."""
        return [job.job_id for job in self._jobs.values() if job.thread == thread and job.state in statuses]

    def _enter(self, job: Job) -> None:
        self._machine.add_model(job)

    def _leave(self, job: Job) -> None:
        self._machine.remove_model(job)

    def _move(self, job: Job, trigger: str) -> None:
        job.trigger(trigger)


class LeanRegistry(Registry):
    """The same without triggers on every job: jobs are no models, and events are looked up in the machine."""

    def _enter(self, job: Job) -> None:
        job.state = "running"

    def _leave(self, job: Job) -> None:
        pass

    def _move(self, job: Job, trigger: str) -> None:
        self._machine.events[trigger].trigger(job)
