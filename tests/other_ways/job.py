"""Job managers that do what the description of `job` leaves open, or to a policy, in another way than the reference."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from conformance.references.job import Jobs, ToolCall
from conformance.references.job_delivery import Completion, Reply
from conformance.references.job_records import JobRecord, Replies


def declaring(**words: Any) -> dict[str, Any]:
    """What the reference declares, with some policies or limits of their own."""
    declared: dict[str, Any] = dict(Jobs.declares)
    for word, own in words.items():
        declared[word] = {**Jobs.declares[word], **own}
    return declared


class AtLeastOne(Jobs):
    """Open: "a configured max_running below 1". Here it is taken as 1."""

    declares: ClassVar[dict[str, Any]] = declaring(limits={"max_running": 0})

    def __init__(self) -> None:
        super().__init__(max_running=1)


class NoneAtAll(Jobs):
    """The same taken as it is: nothing can be registered."""

    declares: ClassVar[dict[str, Any]] = declaring(limits={"max_running": 0})

    def __init__(self) -> None:
        super().__init__(max_running=0)


class ListsWhatItCancels(Jobs):
    """Open: "whether the jobs cancelled by it are among details.jobs": a poll tells of them beside those that it is of."""

    def __init__(self) -> None:
        super().__init__()
        self._beside: list[JobRecord] = []
        self._cancelled_by: dict[str, list[JobRecord]] = {}

    def _cancel_and_poll(
        self, call: ToolCall, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None
    ) -> None:
        self._beside = [job for job in self._select(cancel, owner) if poll and job.status == "running"]
        super()._cancel_and_poll(call, poll, cancel, owner)
        self._cancelled_by[call.token] = self._beside

    def _conclude(self, call: ToolCall) -> None:
        beside = self._cancelled_by.get(call.token, self._beside)
        kept = [job for job in beside if self._jobs.get(job.job_id) is job and job not in call.watched]
        call.watched = [*call.watched, *kept]
        super()._conclude(call)


class LeavesOutWhatItCancels(ListsWhatItCancels):
    """The same, and a poll does not tell even of those that it is of."""

    def _conclude(self, call: ToolCall) -> None:
        beside = self._cancelled_by.get(call.token, self._beside)
        kept = [job for job in call.watched if job not in beside]
        call.reply = self._answer(kept, call.outcomes)
        self._acknowledge_ended(call.watched)
        for job in call.watched:
            self._unwatch(job.completion)


class DrainsAtDispose(Jobs):
    """Open: "completions waiting at dispose are delivered or dropped": each is attempted once more.

    Whoever disposes need not wait for that: a sink may take as long as it likes.
    """

    async def dispose(self) -> None:
        self._disposed = True
        waiting = [*self._queue]
        self._stop_delivering()
        self._queue.extend(waiting)
        self._last = asyncio.ensure_future(self._drain(waiting))
        await asyncio.sleep(0)
        await self.cancel_all()

    async def _drain(self, waiting: Iterable[Completion]) -> None:
        for completion in waiting:
            await self._attempt(completion)

    def _failed(self, completion: Completion) -> None:
        if not self._disposed:
            super()._failed(completion)


class ClosedAtDispose(Jobs):
    """Nothing is said of a list after dispose: here nobody may ask for one."""

    def list(self, owner: str | None = None) -> list[Reply]:
        if self._disposed:
            raise RuntimeError("the manager is closed")
        return super().list(owner)


class OwedLeaves(Jobs):
    """policy owed_outlives: what is still owed "leaves with" its record."""

    declares: ClassVar[dict[str, Any]] = declaring(policies={"owed_outlives": "leaves"})

    def _evict(self, job: JobRecord) -> None:
        super()._evict(job)
        job.completion.acknowledged = True
        self._remove(job.completion)
        if job.completion.place == "held":
            job.completion.place = "dropped"


class ReturnedLeaves(Jobs):
    """policy returned_leaves: "a record whose result was returned to the caller may leave sooner"."""

    declares: ClassVar[dict[str, Any]] = declaring(policies={"returned_leaves": "may"})

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        ended = [job for job in jobs if job.status != "running"]
        super()._acknowledge_ended(ended)
        for job in ended:
            if self._jobs.get(job.job_id) is job:
                if job.eviction is not None:
                    job.eviction.cancel()
                self._evict(job)


class LeavesWhenAnotherComes(Jobs):
    """the same; a completed one leaves when the next job is registered."""

    declares: ClassVar[dict[str, Any]] = declaring(policies={"returned_leaves": "may"})

    def _admit(self, *registered: Any) -> Any:
        for job in [*self._jobs.values()]:
            if job.status == "completed" and job.completion.acknowledged:
                if job.eviction is not None:
                    job.eviction.cancel()
                self._evict(job)
        return super()._admit(*registered)


class EarlyAbortWaits(Jobs):
    """policy early_abort: a poll whose caller gave up before it was made "waits as any other"."""

    declares: ClassVar[dict[str, Any]] = declaring(policies={"early_abort": "waits"})

    async def aborted_tool(self, poll: Sequence[str] | None) -> Reply:
        return await self.tool(poll)


class TextOnce(Jobs):
    """policy text_once: "a result text that a reply gave" is given "only in the first", and errors as well."""

    once: ClassVar[tuple[str, ...]] = ("resultText", "errorText")
    declares: ClassVar[dict[str, Any]] = declaring(policies={"text_once": "only_first"})

    def __init__(self) -> None:
        super().__init__()
        self._given: set[int] = set()

    def _answer(self, jobs: list[JobRecord], outcomes: Replies | None) -> Reply:
        reply = super()._answer(jobs, outcomes)
        self._given |= {id(job) for job in jobs if job.result_text is not None or job.error_text is not None}
        return reply

    def _detail(self, job: JobRecord) -> Reply:
        shown = super()._detail(job)
        return {name: shown[name] for name in shown if id(job) not in self._given or name not in self.once}


class ResultOnce(TextOnce):
    """The same of results alone."""

    once = ("resultText",)
    declares: ClassVar[dict[str, Any]] = declaring(policies={"text_once": "results_only_first"})
