"""Background jobs as an actor: one mailbox, and one task that serves letter after letter.

Callers, timers and attempts to deliver all write letters; nobody else touches the state. Where the
description leaves a choice, it is made unlike the reference: retries let others pass, only lists are
scoped by owner, a cancel wakes a poll, a watched job that was evicted is left out of the reply, and a
delay is always as long as it may be.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from typing import Any, ClassVar

from conformance.refused import Refused

Reply = dict[str, Any]
Replies = list[Reply]
Letter = tuple[Callable[[], Any], "asyncio.Future[Any] | None"]


def letter(rule: Callable[..., Any]) -> Callable[..., Any]:
    """An operation is carried out when its letter is served."""

    @functools.wraps(rule)
    async def asked(self: ActorJobs, *args: Any, **kwargs: Any) -> Any:
        return await self.ask(functools.partial(rule, self, *args, **kwargs))

    return asked


class Record(dict[str, Any]):
    """What is known of a job or a call; two are the same only if they are one."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]  # a dictionary has none


Records = list[Record]


class Gate(asyncio.Event):
    """Holds attempts until it is opened, which fails them where it no longer accepts."""

    accepts = True


class ActorJobs:
    """A job manager on an event loop. A record is a dictionary that says all that is known of a job."""

    declares: ClassVar[dict[str, Any]] = {
        "clock": "virtual",
        "concurrency": "async",
        "limits": {"max_running": 5, "retention": 10_000, "poll_wait": 10_000},
        "policies": {"retry_order": "overtaking", "owner_scope": "list_only"},
    }

    def __init__(self) -> None:
        self._limits = {"max_running": 5, "retention": 10_000, "poll_wait": 10_000}
        self._mailbox: asyncio.Queue[Letter] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)
        self._bodies: dict[str, Record] = {}
        self._records: dict[str, Record] = {}
        self._owed: Records = []
        self._polls: dict[str, Record] = {}
        self._signals: Replies = []
        self._mode, self._gate = "accept", Gate()
        self._busy = self._disposed = False

    # Letters.

    async def ask(self, rule: Callable[[], Any]) -> Any:
        """Write a letter, and wait until it was served."""
        answer = asyncio.get_running_loop().create_future()
        if not self._tasks:
            self._begin(self._serve())
        self._mailbox.put_nowait((rule, answer))
        return await answer

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self) -> None:
        while True:
            rule, answer = await self._mailbox.get()
            try:
                given = rule()
            except Refused as refusal:
                if answer is not None:
                    answer.set_exception(refusal)
            else:
                if answer is not None:
                    answer.set_result(given)
            self._attempt_next()

    def _later(self, ms: int, rule: Callable[[], None]) -> None:
        """A letter that arrives after a time."""
        due = (self._now() + ms) / 1000
        asyncio.get_running_loop().call_at(due, self._mailbox.put_nowait, (rule, None))

    def _now(self) -> int:
        return round(asyncio.get_running_loop().time() * 1000)

    def _tell(self, signal: str, **about: Any) -> None:
        self._signals.append({"signal": signal, **about})

    def signals(self) -> Replies:
        taken, self._signals = self._signals, []
        return taken

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # Jobs.

    @letter
    def configure(self, max_running: int = 15, retention_ms: int = 300_000, poll_wait: int = 30_000) -> None:
        known = poll_wait in {5_000, 10_000, 30_000, 60_000, 300_000}
        self._limits = {
            "max_running": max_running,
            "retention": retention_ms,
            "poll_wait": poll_wait if known else 30_000,
        }

    @letter
    def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        return self._register(type, label, id, owner)

    @letter
    def register_with(self, does: str, type: str, label: str, text: str) -> Reply:
        reply = self._register(type, label, None, None)
        if does == "throws":
            self._settle(reply["handle"], "error", text)
        else:
            self._bodies[reply["handle"]]["_at_abort"] = lambda: self._settle(reply["handle"], "error", text)
        return reply

    @letter
    def register_from(self, registrar: str, type: str, label: str) -> Reply:
        return self._register(type, label, None, None)

    @letter
    def register_both(self, type: str, label: str, inner: str) -> Reply:
        outer = self._register(type, label, None, None)
        try:
            within = self._register(type, inner, None, None)
        except Refused:
            within = {"job_id": None, "handle": None}
        return {**outer, "inner_id": within["job_id"], "inner_handle": within["handle"]}

    def _register(self, type: str, label: str, id: str | None, owner: str | None) -> Reply:
        if self._disposed:
            raise Refused("disposed")
        if sum(job["status"] == "running" for job in self._records.values()) >= self._limits["max_running"]:
            raise Refused("limit_reached")
        wanted = (id or "").strip()
        tries = (f"{wanted}.{n}" if n else wanted for n in itertools.count())
        minted = (f"j{n}" for n in self._numbers)
        name = next(each for each in (tries if wanted else minted) if each not in self._records)
        handle = f"{name}@{next(self._numbers)}"
        job = Record(job_id=name, type=type, label=label, owner=owner, status="running")
        job.update(started_at=self._now(), result_text=None, error_text=None)
        job.update(_watches=0, _silent=False, _failures=0, _due=0)
        self._records[name] = self._bodies[handle] = job
        return {"job_id": name, "handle": handle}

    @letter
    def settle(self, handle: str, outcome: str, text: str) -> None:
        self._settle(handle, outcome, text)

    def _settle(self, handle: str, outcome: str, text: str) -> None:
        job = self._bodies.pop(handle, None)
        if job is None:
            return
        job["result_text" if outcome == "ok" else "error_text"] = text
        if job["status"] == "running":
            self._finish(job, "completed" if outcome == "ok" else "failed")
            self._owed.append(job)
        self._wake(job)

    def _finish(self, job: Record, status: str) -> None:
        job["status"] = status
        self._later(self._limits["retention"], lambda: self._forget(job))

    def _forget(self, job: Record) -> None:
        del self._records[job["job_id"]]

    @letter
    def cancel(self, job: str) -> None:
        self._cancel(self._named([job]))

    def _cancel(self, jobs: Records) -> None:
        for job in jobs:
            if job["status"] == "running":
                self._finish(job, "cancelled")
                self._tell("abort_signalled", job=job["job_id"])
                if "_at_abort" in job:
                    self._mailbox.put_nowait((job["_at_abort"], None))
                self._wake(job)

    @letter
    def cancel_all(self, owner: str | None = None) -> None:
        self._cancel(self._of(owner))

    @letter
    def dispose(self) -> None:
        self._disposed = True
        self._owed.clear()
        self._cancel(self._of(None))

    @letter
    def get(self, job: str) -> Reply | None:
        return self._shown(self._records[job]) if job in self._records else None

    @letter
    def list(self, owner: str | None = None) -> Replies:
        return [self._shown(job) for job in self._of(owner)]

    @letter
    def running(self, owner: str | None = None) -> Replies:
        return [self._shown(job) for job in self._of(owner) if job["status"] == "running"]

    def _of(self, owner: str | None) -> Records:
        return [job for job in self._records.values() if owner in (None, job["owner"])]

    def _named(self, ids: Iterable[str]) -> Records:
        return [self._records[each] for each in ids if each in self._records]

    def _shown(self, job: Record) -> Reply:
        return {name: value for name, value in job.items() if not name.startswith("_")}

    # Deliveries: what is owed stays in its list until it was accepted; who is watched is passed over.

    @letter
    def watch(self, jobs: Collection[str]) -> None:
        for job in self._named(jobs):
            job["_watches"] += 1

    @letter
    def unwatch(self, jobs: Collection[str]) -> None:
        for job in self._named(jobs):
            job["_watches"] = max(0, job["_watches"] - 1)

    @letter
    def acknowledge(self, jobs: Collection[str]) -> None:
        for job in self._named(jobs):
            job["_silent"] = True

    @letter
    def sink(self, mode: str) -> None:
        self._mode = mode

    @letter
    def release_sink(self) -> None:
        self._gate.set()
        self._gate = Gate()

    @letter
    def refuse_sink(self) -> None:
        self._gate.accepts = False
        self._gate.set()
        self._gate = Gate()

    def _attempt_next(self) -> None:
        """Start an attempt, if none is in flight and one is due."""
        due = [job for job in self._owed if not job["_silent"] and not job["_watches"] and job["_due"] <= self._now()]
        if due and not self._busy:
            self._busy = True
            self._tell("delivery_attempted", job=due[0]["job_id"], at=self._now())
            self._begin(self._attempt(due[0]))

    async def _attempt(self, job: Record) -> None:
        mode, gate = self._mode, self._gate
        if mode == "block":
            await gate.wait()
        accepted = mode == "accept" or (mode == "block" and gate.accepts)
        self._mailbox.put_nowait((lambda: self._attempted(job, accepted), None))

    def _attempted(self, job: Record, accepted: bool) -> None:
        self._busy = False
        if job not in self._owed:
            return
        if accepted:
            self._owed = [each for each in self._owed if each is not job]
            text = job["result_text"] if job["status"] == "completed" else job["error_text"]
            self._tell("delivered", job=job["job_id"], text=text)
        else:
            delay = (500, 1000, 2000, 4000, 8000, 16000, 30000)[min(job["_failures"], 6)] + 199
            job["_failures"] += 1
            job["_due"] = self._now() + delay
            self._later(delay, lambda: None)

    # The tool.

    @letter
    def tool(
        self,
        poll: Sequence[str] | None = None,
        cancel: Sequence[str] | None = None,
        list: bool = False,
        owner: str | None = None,
        listen: bool = False,
        manager: str = "there",
    ) -> Reply:
        if list and (poll or cancel):
            raise Refused("list_is_exclusive")
        call = self._call(listen)
        if manager == "none":
            self._reply(call, [], "Async execution is disabled; no background jobs are available.")
        elif list:
            self._reply(call, self._of(owner))
        else:
            self._poll(call, poll, cancel or ())
        return {"token": call["token"]}

    @letter
    def aborted_tool(self, poll: Sequence[str] | None) -> Reply:
        call = self._call(False)
        self._poll(call, poll, ())
        self._end_poll(call)
        return {"token": call["token"]}

    def _call(self, listen: bool) -> Record:
        token = f"poll{next(self._numbers)}"
        call = Record(token=token, listen=listen, jobs=[], ran=[], reply=None, cancelled=None)
        self._polls[token] = call
        return call

    def _poll(self, call: Record, poll: Sequence[str] | None, cancel: Sequence[str]) -> None:
        if cancel:
            call["cancelled"] = [{"id": each, "status": self._cancelled(each)} for each in dict.fromkeys(cancel)]
        everything = [job for job in self._records.values() if job["status"] == "running"]
        chosen = everything if poll is None and not cancel else self._named(dict.fromkeys(poll or ()))
        if not chosen:
            nothing = f"No matching jobs found for IDs: {', '.join(poll or ())}"
            text = "" if cancel else nothing if poll else "No running background jobs to wait for."
            self._reply(call, self._named(dict.fromkeys(cancel)), text)
            return
        call["jobs"], call["ran"] = chosen, [job for job in chosen if job["status"] == "running"]
        for job in chosen:
            job["_watches"] += 1
        if call["ran"]:
            self._update(call)
            self._later(self._limits["poll_wait"], lambda: self._end_poll(call))
        else:
            self._end_poll(call)

    def _cancelled(self, name: str) -> str:
        found = self._named([name])
        running = [job for job in found if job["status"] == "running"]
        self._cancel(running)
        return "cancelled" if running else "already_completed" if found else "not_found"

    def _update(self, call: Record) -> None:
        if call["listen"] and call["reply"] is None:
            self._tell("progress", token=call["token"], jobs=[self._detail(job) for job in call["jobs"]])
            self._later(500, lambda: self._update(call))

    def _wake(self, job: Record) -> None:
        for call in self._polls.values():
            if any(job is each for each in call["ran"]):
                self._end_poll(call)

    def _end_poll(self, call: Record) -> None:
        if call["reply"] is not None:
            return
        kept = [job for job in call["jobs"] if job in self._records.values()]
        for job in call["jobs"]:
            job["_watches"] -= 1
            job["_silent"] = job["_silent"] or (job["status"] != "running" and job in kept)
        self._reply(call, kept)

    @letter
    def abort_tool(self, token: str) -> None:
        if token in self._polls:
            self._end_poll(self._polls[token])

    @letter
    def tool_result(self, token: str) -> Reply | None:
        reply: Reply | None = self._polls[token]["reply"] if token in self._polls else None
        return reply

    def _reply(self, call: Record, jobs: Records, text: str = "") -> None:
        ended = [job for job in jobs if job["status"] != "running"]
        counts = {
            "Cancelled": call["cancelled"] or (),
            "Completed": ended,
            "Still Running": [j for j in jobs if j not in ended],
        }
        heads = "\n".join(f"## {head} ({len(found)})" for head, found in counts.items() if found)
        texts = "\n".join(job["result_text"] or job["error_text"] or "" for job in ended)
        details = [self._detail(job) for job in jobs]
        call["reply"] = {"text": text or f"{heads}\n{texts}", "jobs": details, "cancelled": call["cancelled"]}

    def _detail(self, job: Record) -> Reply:
        names = {"job_id": "id", "type": "type", "status": "status", "label": "label"}
        texts = {"result_text": "resultText", "error_text": "errorText"}
        shown = {new: job[name] for name, new in names.items()} | {"durationMs": self._now() - job["started_at"]}
        return shown | {new: job[name] for name, new in texts.items() if job[name]}
