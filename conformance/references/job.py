"""Background jobs of an agent session and the tool in front of them: the reference for `job`.

Where the description leaves a choice open, this implementation changes nothing. It lives on an event loop and knows no
other clock: between two awaits nothing else runs, so that each operation is one atomic step. `job_records` and
`job_delivery` are the layers below.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from conformance.references.job_delivery import Reply, now, until
from conformance.references.job_records import POLL_WAITS, JobRecord, JobRecords, Replies
from conformance.refused import Refused

Endings = list[asyncio.Future[Any]]

PROGRESS = 500
"""Milliseconds between two updates of a poll."""


@dataclass(slots=True, eq=False)
class ToolCall:
    """One call of the tool. It holds on to the jobs that it watches, not to their ids."""

    token: str
    listen: bool
    watched: list[JobRecord]
    outcomes: Replies | None
    aborted: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    task: asyncio.Task[None] | None = None
    reply: Reply | None = None


def said(text: str) -> Reply:
    """Return a reply that shows no job."""
    return {"text": text, "jobs": [], "cancelled": None}


class Jobs(JobRecords):
    """A job manager with its delivery loop, and the tool that cancels, polls and lists.

    Limits and policies are those of the life cycle; `seed` chooses the jitter of retries. Operations refuse by raising
    `Refused`. `close` ends all tasks.
    """

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "async",
        "limits": {"max_running": 15, "retention": 300_000, "poll_wait": 30_000},
        "policies": {
            "late_settlement": "runs_on",
            "id_reuse": "yes",
            "retry_order": "head_of_line",
            "unwatch_restores": "delivered",
            "ack_running": "silences",
            "list_acknowledges": "no",
            "owner_scope": "all_calls",
        },
    }

    def __init__(
        self,
        *,
        max_running: int = 15,
        retention: int = 300_000,
        poll_wait: int = 30_000,
        seed: int = 0,
        **policies: str,
    ) -> None:
        super().__init__(max_running, retention, {**Jobs.declares["policies"], **policies}, seed)
        self._poll_wait = self._allowed_wait(poll_wait)
        self._calls: dict[str, ToolCall] = {}

    async def configure(self, max_running: int = 15, retention_ms: int = 300_000, poll_wait: int = 30_000) -> None:
        """Choose the limits, before anything else."""
        self._max_running, self._retention = max_running, retention_ms
        self._poll_wait = self._allowed_wait(poll_wait)

    async def tool(
        self,
        poll: Sequence[str] | None = None,
        cancel: Sequence[str] | None = None,
        list: bool = False,
        owner: str | None = None,
        listen: bool = False,
        manager: str = "there",
    ) -> Reply:
        """Call the tool; the token names the call in `tool_result`. Refuses `list_is_exclusive`.

        Cancels are carried out before it returns; only the wait of a poll goes on afterwards.
        """
        self._require_exclusive(list, poll, cancel)
        call = ToolCall(f"call-{len(self._calls) + 1}", listen, [], None)
        self._calls[call.token] = call
        if manager == "none":
            call.reply = self._disabled()
        elif list:
            call.reply = self._listing(owner)
        else:
            self._cancel_and_poll(call, poll, cancel or (), owner)
        return {"token": call.token}

    async def aborted_tool(self, poll: Sequence[str] | None) -> Reply:
        """Poll for a caller who gave up before: the call returns what there is."""
        call = ToolCall(f"call-{len(self._calls) + 1}", False, [], None)
        self._calls[call.token] = call
        call.aborted.set_result(None)
        self._cancel_and_poll(call, poll, (), None)
        return {"token": call.token}

    def tool_result(self, token: str) -> Reply | None:
        """Return the reply to a call, or nothing while it waits."""
        return self._calls[token].reply if token in self._calls else None

    async def abort_tool(self, token: str) -> None:
        """Stop waiting: the call returns what there is. No job is cancelled."""
        call = self._calls.get(token)
        if call is not None and call.task is not None:
            if not call.aborted.done():
                call.aborted.set_result(None)
            await asyncio.wait([call.task])

    async def close(self) -> None:
        """End all tasks and timers."""
        self._stop_delivering()
        tasks = [job.body for job in self._handles.values()] + [call.task for call in self._calls.values()]
        for job in self._handles.values():
            if job.eviction is not None:
                job.eviction.cancel()
        running = [task for task in [*tasks, self._delivering] if task is not None and not task.done()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    # Rules of a call.

    def _allowed_wait(self, ms: int) -> int:
        return ms if ms in POLL_WAITS else POLL_WAITS[2]

    def _require_exclusive(self, listing: bool, poll: Sequence[str] | None, cancel: Sequence[str] | None) -> None:
        if listing and (poll or cancel):
            raise Refused("list_is_exclusive", "`list` cannot be combined with `poll` or `cancel`")

    def _scope(self, owner: str | None) -> str | None:
        """Whose jobs cancel and poll see."""
        return owner if self._policies["owner_scope"] == "all_calls" else None

    def _select(self, ids: Iterable[str], owner: str | None) -> list[JobRecord]:
        """Return the jobs of these names that the caller may see, each once."""
        seen = {job.job_id: job for job in self._visible(self._scope(owner))}
        return [seen[each] for each in dict.fromkeys(ids) if each in seen]

    def _cancel_and_poll(
        self, call: ToolCall, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None
    ) -> None:
        if cancel:
            call.outcomes = [self._cancel_one(each, owner) for each in cancel]
        call.watched = self._watch_set(poll, cancel, owner)
        if not call.watched:
            call.reply = self._nothing_to_watch(call, poll, cancel, owner)
            return
        for job in call.watched:
            self._watch(job.completion)
        if self._is_over(call):
            self._conclude(call)
        else:
            self._report(call)
            call.task = asyncio.create_task(self._poll(call, now(), self._endings(call)))

    def _cancel_one(self, job_id: str, owner: str | None) -> Reply:
        """Whatever the terminal status, a job that has ended is already completed."""
        found = self._select([job_id], owner)
        if not found:
            return {"id": job_id, "status": "not_found"}
        if found[0].status != "running":
            return {"id": job_id, "status": "already_completed"}
        self._cancel(found[0])
        return {"id": job_id, "status": "cancelled"}

    def _watch_set(self, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None) -> list[JobRecord]:
        if poll is not None:
            return self._select(poll, owner)
        if cancel:
            return []
        return [job for job in self._visible(self._scope(owner)) if job.status == "running"]

    def _nothing_to_watch(
        self, call: ToolCall, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None
    ) -> Reply:
        if cancel:
            return self._answer(self._select(cancel, owner), call.outcomes)
        if poll:
            return said(f"No matching jobs found for IDs: {', '.join(poll)}")
        return said("No running background jobs to wait for.")

    # Rules of waiting.

    def _is_over(self, call: ToolCall) -> bool:
        """Return whether there is nothing to wait for, or nobody who waits."""
        return call.aborted.done() or all(job.status != "running" for job in call.watched)

    async def _poll(self, call: ToolCall, started: int, endings: Endings) -> None:
        """Wait from the instant of the call, for what could end the wait then: both are known by now."""
        end = started + self._poll_wait
        for instant in [*self._updates(started, end), end]:
            await until(instant, asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED))
            if any(ending.done() for ending in endings) or instant == end:
                break
            self._report(call)
        self._conclude(call)

    def _endings(self, call: ToolCall) -> Endings:
        """Return what ends a poll before its time: a body that ends, of a job that runs when it begins; the abort."""
        bodies = [job.body for job in call.watched if job.status == "running" and job.body is not None]
        return [call.aborted, *bodies]

    def _updates(self, started: int, end: int) -> Iterable[int]:
        """Return the instants at which progress is told; the first one is told before the wait."""
        return range(started + PROGRESS, end, PROGRESS)

    def _report(self, call: ToolCall) -> None:
        """Show how far the jobs are, to a caller who listens."""
        if call.listen:
            self._signal("progress", token=call.token, jobs=[self._detail(job) for job in call.watched])

    def _conclude(self, call: ToolCall) -> None:
        """Reply. What the caller has now is acknowledged before it is let go."""
        call.reply = self._answer(call.watched, call.outcomes)
        self._acknowledge_ended(call.watched)
        for job in call.watched:
            self._unwatch(job.completion)

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        for job in jobs:
            if job.status != "running":
                self._acknowledge(job.completion)

    # Rules of replies: one text, details of jobs, and outcomes of cancels.

    def _disabled(self) -> Reply:
        return said("Async execution is disabled; no background jobs are available.")

    def _listing(self, owner: str | None) -> Reply:
        """Return a snapshot, or more where the policy says so."""
        jobs = [*self._visible(owner)]
        if self._policies["list_acknowledges"] == "yes":
            self._acknowledge_ended(jobs)
        return self._answer(jobs, None)

    def _answer(self, jobs: list[JobRecord], outcomes: Replies | None) -> Reply:
        return {
            "text": self._text(jobs, outcomes or []),
            "jobs": [self._detail(job) for job in jobs],
            "cancelled": outcomes,
        }

    def _text(self, jobs: list[JobRecord], outcomes: Replies) -> str:
        ended = [job for job in jobs if job.status != "running"]
        running = [job for job in jobs if job.status == "running"]
        sections = {
            "Cancelled": [f"- {each['id']}: {each['status']}" for each in outcomes],
            "Completed": [self._ended_line(job) for job in ended],
            "Still Running": [f"- {job.job_id} [{job.type}] {job.label}" for job in running],
        }
        blocks = ["\n".join([f"## {name} ({len(lines)})", *lines]) for name, lines in sections.items() if lines]
        return "\n\n".join(blocks) or "No background jobs."

    def _ended_line(self, job: JobRecord) -> str:
        texts = [text for text in (job.result_text, job.error_text) if text]
        return "\n".join([f"- {job.job_id} [{job.type}] {job.label}: {job.status}", *texts])

    def _detail(self, job: JobRecord) -> Reply:
        """One job as shown by the tool; texts are absent when empty."""
        ended = now() if job.ended_at is None else job.ended_at
        shown: Reply = {
            "id": job.job_id,
            "type": job.type,
            "status": job.status,
            "label": job.label,
            "durationMs": ended - job.started_at,
        }
        texts = {"resultText": job.result_text, "errorText": job.error_text}
        return shown | {name: text for name, text in texts.items() if text}
