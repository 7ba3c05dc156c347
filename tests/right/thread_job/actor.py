"""thread-job as an asyncio actor: one task owns the registry, every operation is a letter in its mailbox.

Construction: the methods put a piece of work with a future into a queue; the mailbox task takes them one by
one, works without ever awaiting in between, runs the boundaries that became necessary, and only then
answers. The task is started by the first call, on the loop of that call.

Choices where the description leaves one:
- tie `completion`: what is due waits in the order in which it ended; ids are UUIDs;
- a second outcome is refused, an outcome of an unknown or evicted job is ignored;
- a cancel of a pending_cancel job sends the request again, one of a terminal job is refused; no reply at
  all;
- eviction frees neither the tool call nor the job id; a restart frees both;
- `emit` of an unknown, foreign or evicted job is refused `not_found`;
- becoming idle with due messages is a boundary at once, and is signalled as one;
- an oversize text goes to its file when it is told, without preview; files stay until `close`.
"""

import asyncio
import json
import os
import tempfile
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from conformance.refused import Refused

RETAINED, MAX_BYTES, MAX_LINES = 20, 25_600, 1_000
ACTIVE = frozenset({"running", "pending_cancel"})

Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Job:
    job_id: str
    thread: str
    tool_call: str
    tool: str
    started_at: int
    status: str = "running"
    completed_at: int | None = None
    cancel_requested_at: int | None = None
    payload: str | None = None
    told_at: int | None = None

    def shown(self) -> dict[str, Any]:
        return {**vars(self), "told": self.told_at is not None}


@dataclass
class _Conversation:
    """What is known of one thread: its own jobs, what it is owed, what it was told."""

    idle: bool = False
    jobs: dict[str, _Job] = field(default_factory=dict)
    ended: deque[_Job] = field(default_factory=deque)  # retained terminal jobs, first to complete at the left
    due: deque[_Job] = field(default_factory=deque)  # a job waits here until it is told, evicted or not
    transcript: list[dict[str, Any]] = field(default_factory=list)


class _Registry:
    """The actor's state. Only the mailbox task touches it, one letter at a time."""

    def __init__(self) -> None:
        self.now = 0
        self.conversations: defaultdict[str, _Conversation] = defaultdict(_Conversation)
        self.where: dict[str, str] = {}  # job id → thread, evicted ids included
        self.resolved: set[str] = set()
        self.signals: list[dict[str, Any]] = []
        self.awaiting_boundary: list[str] = []
        self.files: list[Path] = []

    def resolve(self, tool_call: str) -> None:
        if tool_call in self.resolved:
            raise Refused("already_resolved")
        self.resolved.add(tool_call)

    def start(self, thread: str, tool_call: str, tool: str, wanted: str | None) -> dict[str, Any]:
        if wanted is not None and wanted in self.where:
            raise Refused("duplicate_job_id")
        self.resolve(tool_call)
        job_id = str(uuid.uuid4()) if wanted is None else wanted
        self.where[job_id] = thread
        self.conversations[thread].jobs[job_id] = _Job(job_id, thread, tool_call, tool, self.now)
        return {"mode": "background", "job_id": job_id, "status": "running"}

    def find(self, thread: str, job_id: str) -> _Job:
        job = self.conversations[thread].jobs.get(job_id)
        if job is None:
            raise Refused("not_found", "Job not found in this thread")
        return job

    def finish(self, job_id: str, outcome: str, text: str) -> None:
        if job_id not in self.where:
            return
        conversation = self.conversations[self.where[job_id]]
        job = conversation.jobs.get(job_id)
        if job is None:
            return
        if job.status not in ACTIVE:
            raise Refused("already_terminal")
        job.status, job.completed_at, job.payload = outcome, self.now, text
        conversation.due.append(job)
        conversation.ended.append(job)
        if len(conversation.ended) > RETAINED:
            del conversation.jobs[conversation.ended.popleft().job_id]
        if conversation.idle:
            self.request_boundary(job.thread)

    def cancel(self, thread: str, job_id: str) -> None:
        job = self.find(thread, job_id)
        if job.status not in ACTIVE:
            raise Refused("already_terminal")
        if job.status == "running":
            job.status, job.cancel_requested_at = "pending_cancel", self.now
        self.signals.append({"signal": "CancelSent", "job_id": job_id})

    def request_boundary(self, thread: str) -> None:
        self.signals.append({"signal": "BoundaryRequested", "thread": thread})
        self.awaiting_boundary.append(thread)

    def run_requested_boundaries(self) -> None:
        while self.awaiting_boundary:
            self.boundary(self.awaiting_boundary.pop())

    def boundary(self, thread: str) -> list[dict[str, Any]]:
        due = self.conversations[thread].due
        told = []
        while due:
            told.append(self.tell(due.popleft()))
        if told:
            self.signals.append({"signal": "TurnTriggered", "thread": thread})
        return told

    def emit(self, thread: str, job_id: str) -> bool:
        job = self.find(thread, job_id)
        due = self.conversations[thread].due
        if job not in due:
            return False
        due.remove(job)
        self.tell(job)
        self.signals.append({"signal": "TurnTriggered", "thread": thread})
        return True

    def tell(self, job: _Job) -> dict[str, Any]:
        assert job.payload is not None, "only an ended job is told"
        message = {
            "job_id": job.job_id,
            "tool": job.tool,
            "status": job.status,
            "content": self.content(job.payload),
        }
        job.told_at = self.now
        self.conversations[job.thread].transcript.append(message)
        return message

    def content(self, text: str) -> dict[str, str]:
        encoded = text.encode("utf-8", "surrogatepass")
        if len(encoded) <= MAX_BYTES and text.count("\n") < MAX_LINES:
            return {"text": text}
        descriptor, path = tempfile.mkstemp(prefix="actor-jobs-", suffix=".out")
        self.files.append(Path(path))
        with os.fdopen(descriptor, "wb") as file:
            file.write(encoded)
        return {"file": path}

    def listed(self, thread: str, wanted: frozenset[str]) -> list[dict[str, Any]]:
        return [job.shown() for job in self.conversations[thread].jobs.values() if job.status in wanted]

    def set_idle(self, thread: str, idle: bool) -> None:
        conversation = self.conversations[thread]
        conversation.idle = idle
        if idle and conversation.due:
            self.request_boundary(thread)

    def restart(self) -> None:
        self.where.clear()
        self.resolved.clear()
        for conversation in self.conversations.values():
            conversation.jobs.clear()
            conversation.ended.clear()
            conversation.due.clear()

    def wait(self, ms: int) -> None:
        self.now += ms

    def take_signals(self) -> list[dict[str, Any]]:
        taken, self.signals = self.signals, []
        return taken


@dataclass(frozen=True, slots=True)
class _Letter:
    work: Callable[[_Registry], Any]
    reply: asyncio.Future[Any]


async def _serve(registry: _Registry, mailbox: asyncio.Queue[_Letter]) -> None:
    while True:
        letter = await mailbox.get()
        try:
            answer = letter.work(registry)
            registry.run_requested_boundaries()
        except Exception as error:  # noqa: BLE001 - whatever it is, it answers this letter, and the actor lives on
            if not letter.reply.cancelled():
                letter.reply.set_exception(error)
        else:
            if not letter.reply.cancelled():
                letter.reply.set_result(answer)


class ActorJobs:
    """Background jobs of conversation threads; any number of tasks of one loop may call at once."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "async",
        "limits": {"retained": RETAINED, "max_bytes": MAX_BYTES, "max_lines": MAX_LINES},
        "policies": {"tie": "completion"},
        "lacks": [],
    }

    def __init__(self) -> None:
        self._registry = _Registry()
        self._mailbox: asyncio.Queue[_Letter] = asyncio.Queue()
        self._actor: asyncio.Task[None] | None = None

    async def _ask(self, work: Callable[[_Registry], Answer]) -> Answer:
        loop = asyncio.get_running_loop()
        if self._actor is None or self._actor.done() or self._actor.get_loop() is not loop:
            self._mailbox = asyncio.Queue()
            self._actor = loop.create_task(_serve(self._registry, self._mailbox))
        reply: asyncio.Future[Answer] = loop.create_future()
        self._mailbox.put_nowait(_Letter(work, reply))
        return await reply

    async def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> dict[str, Any]:
        await self._ask(lambda registry: registry.resolve(tool_call))
        return {"mode": "synchronous", "result": result, "job_id": None, "status": None}

    async def start(self, thread: str, tool_call: str, tool: str) -> dict[str, Any]:
        return await self._ask(lambda registry: registry.start(thread, tool_call, tool, None))

    async def start_as(self, thread: str, tool_call: str, tool: str, job_id: str) -> dict[str, Any]:
        return await self._ask(lambda registry: registry.start(thread, tool_call, tool, job_id))

    async def report_progress(self, job: str) -> None:
        """Progress is nobody's news and is not kept."""

    async def finish(self, job: str, outcome: str, payload: Any) -> None:
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        await self._ask(lambda registry: registry.finish(job, outcome, text))

    async def request_cancel(self, thread: str, job: str, actor: str) -> None:
        await self._ask(lambda registry: registry.cancel(thread, job))

    async def turn_boundary(self, thread: str) -> list[dict[str, Any]]:
        return await self._ask(lambda registry: registry.boundary(thread))

    async def emit(self, thread: str, job: str) -> bool:
        return await self._ask(lambda registry: registry.emit(thread, job))

    async def list_jobs(self, thread: str, statuses: Iterable[str] | None = None) -> list[dict[str, Any]]:
        wanted = ACTIVE if statuses is None else frozenset(statuses)
        return await self._ask(lambda registry: registry.listed(thread, wanted))

    async def inspect_job(self, thread: str, job: str) -> dict[str, Any]:
        return await self._ask(lambda registry: registry.find(thread, job).shown())

    async def retry_job(self, thread: str, job: str) -> None:
        raise Refused("manual_retry_not_supported", "Manual retry is not supported for background jobs")

    async def llm_error(self, job: str, http_status: int) -> None:
        """The session retries its model call; the registry never hears of it."""

    async def set_idle(self, thread: str, idle: bool) -> None:
        await self._ask(lambda registry: registry.set_idle(thread, idle))

    async def messages(self, thread: str) -> list[dict[str, Any]]:
        return await self._ask(lambda registry: list(registry.conversations[thread].transcript))

    async def restart(self) -> None:
        await self._ask(lambda registry: registry.restart())

    async def wait(self, ms: int) -> None:
        await self._ask(lambda registry: registry.wait(ms))

    async def signals(self) -> list[dict[str, Any]]:
        return await self._ask(lambda registry: registry.take_signals())

    async def close(self) -> None:
        if self._actor is not None and self._actor.get_loop() is asyncio.get_running_loop():
            self._actor.cancel()
            await asyncio.gather(self._actor, return_exceptions=True)
        self._actor = None
        while self._registry.files:
            self._registry.files.pop().unlink(missing_ok=True)
