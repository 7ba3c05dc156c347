"""Records of background jobs: ids, bodies, cancelling and retention; the middle layer of the reference for `job`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from conformance.references.job_delivery import Completion, Deliveries, Reply, call_at, now
from conformance.refused import Refused

POLL_WAITS = (5_000, 10_000, 30_000, 60_000, 300_000)
"""The waits that a session may choose; anything else is the third."""
SHOWN = ("job_id", "type", "label", "owner", "status", "started_at", "result_text", "error_text")
"""What a session sees of a job's record."""

Replies = list[Reply]


class BodyFailed(Exception):
    """A body that raised instead of returning."""


@dataclass(slots=True, eq=False)
class JobRecord:
    """One background job; instants in integer milliseconds."""

    job_id: str
    type: str
    label: str
    owner: str | None
    started_at: int
    completion: Completion
    work: asyncio.Future[tuple[str, str]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """What the body waits for: the kit ends it, with an outcome and a text."""
    first: Callable[[], None] | None = None
    """What the body does before it waits for anything."""
    last_words: str | None = None
    """The error of a body that ends as soon as it is told to stop."""
    body: asyncio.Task[None] | None = None
    status: str = "running"
    ended_at: int | None = None
    result_text: str | None = None
    error_text: str | None = None
    eviction: asyncio.TimerHandle | None = None


class JobRecords(Deliveries):
    """The jobs of all owners, running and retained; a job is evicted `retention` ms after it ended."""

    def __init__(self, max_running: int, retention: int, policies: dict[str, str], seed: int) -> None:
        super().__init__(policies, seed)
        self._max_running, self._retention = max_running, retention
        self._jobs: dict[str, JobRecord] = {}
        self._handles: dict[str, JobRecord] = {}
        self._minted = self._registered = 0
        self._issued: set[str] = set()

    # Operations.

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        """Start a job under an id of its own. Refuses `disposed`, `limit_reached`.

        The handle is the body's: it names this job even when its id is another's by now.
        """
        return self._begin(self._admit(type, label, id, owner))

    async def register_with(self, does: str, type: str, label: str, text: str) -> Reply:
        """Start a job whose body throws at once, or ends as soon as it is told to stop. Refuses as `register`."""
        job = self._admit(type, label, None, None)
        if does == "throws":
            job.work.set_exception(BodyFailed(text))
        else:
            job.last_words = text
        return self._begin(job)

    async def register_from(self, registrar: str, type: str, label: str) -> Reply:
        """Let the body of a job register another. Raises Refused: as `register`, and `not_found`."""
        if registrar not in self._handles or self._handles[registrar].work.done():
            raise Refused("not_found", "There is no such body")
        return self._begin(self._admit(type, label, None, None))

    async def register_both(self, type: str, label: str, inner: str) -> Reply:
        """Start a job whose body starts another before it waits for anything, if there is a slot. Refuses as `register`."""
        came: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

        def register_inner() -> None:
            try:
                came.set_result(self._begin(self._admit(type, inner, None, None)))
            except Refused:
                came.set_result({})

        job = self._admit(type, label, None, None)
        job.first = register_inner
        outer, within = self._begin(job), await came
        return {**outer, "inner_id": within.get("job_id"), "inner_handle": within.get("handle")}

    async def settle(self, handle: str, outcome: str, text: str) -> None:
        """End a body with a result or an error; ignored where it has ended."""
        job = self._handles.get(handle)
        if job is None or job.body is None:
            return
        if not job.work.done():
            self._end_work(job, outcome, text)
        await asyncio.wait([job.body])

    async def cancel(self, job: str) -> None:
        """Cancel a running job; anything else is left as it is."""
        found = self._jobs.get(job)
        if found is not None and found.status == "running":
            self._cancel(found)

    async def cancel_all(self, owner: str | None = None) -> None:
        """Cancel every running job, or every one of an owner."""
        for job in self._visible(owner):
            if job.status == "running":
                self._cancel(job)

    async def watch(self, jobs: Collection[str]) -> None:
        """Hold back the completions of these jobs, until as many unwatch."""
        for job in self._named(jobs):
            self._watch(job.completion)

    async def unwatch(self, jobs: Collection[str]) -> None:
        """End one watch of each of these jobs."""
        for job in self._named(jobs):
            self._unwatch(job.completion)

    async def acknowledge(self, jobs: Collection[str]) -> None:
        """Never deliver the completions of these jobs: somebody has them."""
        for job in self._named(jobs):
            self._acknowledge(job.completion)

    async def dispose(self) -> None:
        """Take no more jobs, deliver nothing more, cancel what runs; no body is waited for."""
        self._disposed = True
        self._stop_delivering()
        await self.cancel_all()

    # Observers.

    def get(self, job: str) -> Reply | None:
        """Return the record, or nothing."""
        found = self._jobs.get(job)
        return self._record(found) if found else None

    def list(self, owner: str | None = None) -> Replies:
        """Return all records, or those of an owner."""
        return [self._record(job) for job in self._visible(owner)]

    def running(self, owner: str | None = None) -> Replies:
        """Return the records of running jobs."""
        return [self._record(job) for job in self._visible(owner) if job.status == "running"]

    # Rules of starting.

    def _admit(self, type: str, label: str, id: str | None, owner: str | None) -> JobRecord:
        """Return a job under an id of its own, which does not run yet."""
        self._require_open()
        self._require_slot()
        job_id = self._free_id((id or "").strip())
        job = JobRecord(job_id, type, label, owner, now(), Completion(job_id))
        self._jobs[job_id] = job
        self._issued.add(job_id)
        return job

    def _begin(self, job: JobRecord) -> Reply:
        """Run the body of a job."""
        self._registered += 1
        handle = f"body-{self._registered}"
        self._handles[handle] = job
        job.body = asyncio.create_task(self._work(job))
        return {"job_id": job.job_id, "handle": handle}

    def _require_open(self) -> None:
        if self._disposed:
            raise Refused("disposed", "The job manager was disposed")

    def _require_slot(self) -> None:
        """Running jobs of all owners count; a cancelled one does not, whatever its body does."""
        if len(self.running()) >= self._max_running:
            message = f"Background job limit reached ({self._max_running}). "
            raise Refused("limit_reached", message + "Wait for running jobs to finish or cancel one.")

    def _free_id(self, preferred: str) -> str:
        """Return the preferred id, with a suffix where it is taken; or one of ours."""
        job_id, suffix = preferred or self._mint_id(), 1
        while self._taken(job_id):
            suffix += 1
            job_id = f"{preferred}-{suffix}" if preferred else self._mint_id()
        return job_id

    def _mint_id(self) -> str:
        self._minted += 1
        return f"bg_{self._minted}"

    def _taken(self, job_id: str) -> bool:
        return job_id in self._jobs or (self._policies["id_reuse"] == "no" and job_id in self._issued)

    def _named(self, ids: Iterable[str]) -> Iterable[JobRecord]:
        return [self._jobs[each] for each in dict.fromkeys(ids) if each in self._jobs]

    def _visible(self, owner: str | None) -> Iterable[JobRecord]:
        """Return the jobs of an owner; without one there is no filter."""
        return [job for job in self._jobs.values() if owner is None or job.owner == owner]

    def _record(self, job: JobRecord) -> Reply:
        return {name: getattr(job, name) for name in SHOWN}

    # Rules of ending.

    def _end_work(self, job: JobRecord, outcome: str, text: str) -> None:
        job.work.set_result((outcome, text))

    async def _work(self, job: JobRecord) -> None:
        """Run the body: it ends when its work does, whatever was asked of it meanwhile."""
        if job.first is not None:
            job.first()
        try:
            outcome, text = await job.work
        except BodyFailed as failure:
            outcome, text = "error", str(failure)
        if outcome == "ok":
            job.result_text = text
            self._settled(job, "completed", text)
        else:
            job.error_text = text
            self._settled(job, "failed", text)

    def _settled(self, job: JobRecord, status: str, text: str) -> None:
        if job.status == "running":
            self._end(job, status)
            self._owe(job.completion, text)
        else:
            self._settled_late(job)

    def _settled_late(self, job: JobRecord) -> None:
        """After a cancel: the status stays, nothing is owed."""
        if self._policies["late_settlement"] == "anew":
            self._retain(job)

    def _cancel(self, job: JobRecord) -> None:
        """Tell the body to stop, and do not wait for it."""
        self._end(job, "cancelled")
        self._signal("abort_signalled", job=job.job_id)
        if job.last_words is not None and not job.work.done():
            job.work.set_exception(BodyFailed(job.last_words))

    def _end(self, job: JobRecord, status: str) -> None:
        job.status, job.ended_at = status, now()
        self._retain(job)

    def _retain(self, job: JobRecord) -> None:
        """Start the time after which the record goes, anew where it ran; a record that went stays gone."""
        if job.eviction is not None:
            job.eviction.cancel()
        if self._jobs.get(job.job_id) is job:
            job.eviction = call_at(now() + self._retention, lambda: self._evict(job))

    def _evict(self, job: JobRecord) -> None:
        """Drop the record, and all marks with it; what is queued for delivery stays owed."""
        del self._jobs[job.job_id]
