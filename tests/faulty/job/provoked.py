"""Lies that show only where a body, an attempt in flight or a caller does what it seldom does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from conformance.references.job import Endings, ToolCall
from conformance.references.job_delivery import Completion, Reply
from conformance.references.job_records import BodyFailed, JobRecord
from tests.faulty.job.lie import Lie


class FlightFailureLosesCompletion(Lie):
    """An attempt that fails after a while is taken for one that arrived."""

    row, calls = "E60", 5

    def _failed(self, completion: Completion) -> None:
        if self._sink.mode in ("refuse", "raise"):
            super()._failed(completion)


class FlightFailureIsTriedAtOnce(Lie):
    """An attempt that fails after a while is made again without waiting."""

    row, calls = "E60", 4

    async def refuse_sink(self) -> None:
        self._impatient = True
        await super().refuse_sink()

    _impatient = False

    def _backoff(self, failures: int) -> int:
        return 0 if self._impatient else super()._backoff(failures)

    def _jitter(self) -> int:
        return 0 if self._impatient else super()._jitter()


class AcknowledgedFlightIsTriedAgain(Lie):
    """Whether somebody has a completion by now is not asked when its attempt fails."""

    row, calls = "E61", 6

    def _failed(self, completion: Completion) -> None:
        completion.acknowledged = False
        super()._failed(completion)


class DisposedFlightIsTriedAgain(Lie):
    """An attempt that fails after all was disposed is made again."""

    row, calls = "E62", 6

    def _stop_delivering(self) -> None:
        self._queue.clear()

    def _failed(self, completion: Completion) -> None:
        self._disposed, was_disposed = False, self._disposed
        super()._failed(completion)
        self._disposed = was_disposed

    async def close(self) -> None:
        super()._stop_delivering()
        await super().close()


class WatchedFlightIsTriedAgain(Lie):
    """Whether somebody watches a job is not asked when an attempt to tell of it fails."""

    row, calls = "E63", 6

    def _failed(self, completion: Completion) -> None:
        watchers, completion.watchers = completion.watchers, 0
        super()._failed(completion)
        completion.watchers = watchers


class ThrowingBodyBreaksRegister(Lie):
    """What a body throws before it waits for anything reaches whoever registers it."""

    row, calls = "E64", 1

    async def register_with(self, does: str, type: str, label: str, text: str) -> Reply:
        reply = await super().register_with(does, type, label, text)
        if does == "throws":
            raise RuntimeError(text)
        return reply


class ThrowingBodyRunsForEver(Lie):
    """A job whose body throws before it waits for anything stays running, and keeps its slot."""

    row, calls = "E64", 1

    def _settled(self, job: JobRecord, status: str, text: str) -> None:
        if job.status != "running" or not isinstance(job.work.exception(), BodyFailed):
            super()._settled(job, status, text)


class ThrowingBodyLosesText(Lie):
    """What a body says that throws before it waits for anything is told, and not kept."""

    row, calls = "E64", 2

    def _settled(self, job: JobRecord, status: str, text: str) -> None:
        if job.status == "running" and isinstance(job.work.exception(), BodyFailed):
            job.error_text = None
        super()._settled(job, status, text)


class ThrowingBodyEndsAgain(Lie):
    """A body that threw is ended once more, in other words, by whoever has its handle."""

    row, calls = "E64", 3

    async def settle(self, handle: str, outcome: str, text: str) -> None:
        job = self._handles.get(handle)
        if job is not None and job.work.done() and isinstance(job.work.exception(), BodyFailed):
            job.error_text = text
        await super().settle(handle, outcome, text)


class ObligingBodySpeaksFirst(Lie):
    """What a body will say when it is told to stop is on its record from the start."""

    row, calls = "E65", 2

    async def register_with(self, does: str, type: str, label: str, text: str) -> Reply:
        reply = await super().register_with(does, type, label, text)
        self._handles[reply["handle"]].error_text = text
        return reply


class OneCancelStopsAllObliging(Lie):
    """The signal that tells a body to stop is one for all bodies that oblige."""

    row, calls = "E65", 4

    def _cancel(self, job: JobRecord) -> None:
        super()._cancel(job)
        for other in [each for each in self._jobs.values() if each.last_words is not None and not each.work.done()]:
            other.work.set_exception(BodyFailed(str(other.last_words)))


class AbortComesBeforeMark(Lie):
    """A body is told to stop before its job is marked as cancelled, so that one that does so at once has failed."""

    row, calls = "E65", 3

    def _end(self, job: JobRecord, status: str) -> None:
        if status == "cancelled" and job.last_words is not None:
            asyncio.get_running_loop().call_later(0.001, self._mark, job)
        else:
            super()._end(job, status)

    def _mark(self, job: JobRecord) -> None:
        if job.status == "running":
            super()._end(job, "cancelled")


class LastWordsAreLost(Lie):
    """A body that ends because it was told to stop is taken for one that ended without a word."""

    row, calls = "E65", 3

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        if job.last_words is not None:
            job.error_text = None


class OnlyOwnEndWakes(Lie):
    """A poll is woken by a body that ends by itself, and not by one that ends because it was told to stop."""

    row, calls = "E66", 4

    def _endings(self, call: ToolCall) -> Endings:
        obliging = {job.body for job in call.watched if job.last_words is not None}
        return [each for each in super()._endings(call) if each not in obliging]


class EarlyAbortIsNotSeen(Lie):
    """A poll looks for its abort only while it waits, and so misses one that came before."""

    row, calls = "E67", 3

    async def aborted_tool(self, poll: Sequence[str] | None) -> Reply:
        return await self.tool(poll)


class EarlyAbortTakesAll(Lie):
    """A poll that was aborted before it was made takes all that waits to be delivered, whatever it names."""

    row, calls = "E95", 5

    async def aborted_tool(self, poll: Sequence[str] | None) -> Reply:
        reply = await super().aborted_tool(poll)
        for completion in [*self._queue]:
            self._acknowledge(completion)
        return reply


class EarlyAbortCancels(Lie):
    """A poll that was aborted before it was made cancels what it would have waited for."""

    row, calls = "E67", 2

    async def aborted_tool(self, poll: Sequence[str] | None) -> Reply:
        reply = await super().aborted_tool(poll)
        for job in self._calls[reply["token"]].watched:
            if job.status == "running":
                self._cancel(job)
        return reply


class EarlyAbortLeavesWatch(Lie):
    """A poll that was aborted before it was made leaves its jobs watched."""

    row, calls = "E68", 3

    async def aborted_tool(self, poll: Sequence[str] | None) -> Reply:
        reply = await super().aborted_tool(poll)
        for job in self._calls[reply["token"]].watched:
            self._watch(job.completion)
        return reply


class ThrowingBodyBeginsAfterDispose(Lie):
    """After dispose a job begins all the same, if its body ends before anybody asks."""

    row, calls = "E69", 2

    async def register_with(self, does: str, type: str, label: str, text: str) -> Reply:
        self._disposed, was_disposed = False, self._disposed
        reply = await super().register_with(does, type, label, text)
        self._disposed = was_disposed
        return reply


class InnerIsCancelledWithOuter(Lie):
    """A job that a body registered is a part of that body's job, and cancelled with it."""

    row, calls = "E74", 4

    def __init__(self) -> None:
        super().__init__()
        self._within: dict[str, JobRecord] = {}

    async def register_from(self, registrar: str, type: str, label: str) -> Reply:
        reply = await super().register_from(registrar, type, label)
        self._within[self._handles[registrar].job_id] = self._jobs[reply["job_id"]]
        return reply

    def _cancel(self, job: JobRecord) -> None:
        super()._cancel(job)
        inner = self._within.get(job.job_id)
        if inner is not None and inner.status == "running":
            super()._cancel(inner)


class InnerHasNoSlot(Lie):
    """How many jobs run is asked only of those who register from outside."""

    row, calls = "E76", 3

    async def register_from(self, registrar: str, type: str, label: str) -> Reply:
        most, self._max_running = self._max_running, 1000
        try:
            return await super().register_from(registrar, type, label)
        finally:
            self._max_running = most


class InnerBeginsAfterDispose(Lie):
    """After dispose a body can still register a job."""

    row, calls = "E75", 3

    async def register_from(self, registrar: str, type: str, label: str) -> Reply:
        self._disposed, was_disposed = False, self._disposed
        reply = await super().register_from(registrar, type, label)
        self._disposed = was_disposed
        return reply


class InnerTakesId(Lie):
    """The id of a job is taken when its body has begun, and so is that of the job which that body registers before."""

    row, calls = "E78", 1

    async def register_both(self, type: str, label: str, inner: str) -> Reply:
        self._mint_of_outer = True
        return await super().register_both(type, label, inner)

    _mint_of_outer = False

    def _begin(self, job: JobRecord) -> Reply:
        reply = super()._begin(job)
        if self._mint_of_outer:
            self._mint_of_outer = False
            self._minted -= 1
            del self._jobs[job.job_id]
            asyncio.get_running_loop().call_soon(self._jobs.__setitem__, job.job_id, job)
        return reply


class InnerIsPartOfOuter(Lie):
    """A job that a body registers before it waits for anything is a part of that body's job, and cancelled with it."""

    row, calls = "E78", 2

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[str, str | None] = {}

    async def register_both(self, type: str, label: str, inner: str) -> Reply:
        reply = await super().register_both(type, label, inner)
        self._parts[reply["job_id"]] = reply["inner_id"]
        return reply

    def _cancel(self, job: JobRecord) -> None:
        super()._cancel(job)
        part = self._jobs.get(self._parts.get(job.job_id) or "")
        if part is not None and part.status == "running":
            super()._cancel(part)


class BodyBeginsUnderLock(Lie):
    """A job begins under a lock that its body finds taken when it registers another one: neither comes to its end."""

    row, calls = "E78", 1

    def __init__(self) -> None:
        super().__init__()
        self._beginning = asyncio.Lock()

    async def register_both(self, type: str, label: str, inner: str) -> Reply:
        async with self._beginning:
            outer = await self.register(type, label)
            within = await self._register_within(type, inner)
            return {**outer, "inner_id": within["job_id"], "inner_handle": within["handle"]}

    async def _register_within(self, type: str, label: str) -> Reply:
        async with self._beginning:
            return await self.register(type, label)


class CountedAfterItsBody(Lie):
    """How many jobs run is counted up when the body of a new one has begun: it can register one more than the limit."""

    row, calls = "E79", 2

    def _begin(self, job: JobRecord) -> Reply:
        reply = super()._begin(job)
        if job.first is not None:
            self._uncounted, job.first = job, self._counting(job.first)
        return reply

    _uncounted: JobRecord | None = None

    def _counting(self, first: Callable[[], None]) -> Callable[[], None]:
        def begin() -> None:
            first()
            self._uncounted = None

        return begin

    def running(self, owner: str | None = None) -> list[Reply]:
        uncounted = self._uncounted and self._uncounted.job_id
        return [each for each in super().running(owner) if each["job_id"] != uncounted]


class BothBeginAfterDispose(Lie):
    """After dispose a job begins all the same, if its body registers another."""

    row, calls = "E80", 2

    async def register_both(self, type: str, label: str, inner: str) -> Reply:
        self._disposed, was_disposed = False, self._disposed
        reply = await super().register_both(type, label, inner)
        self._disposed = was_disposed
        return reply


class InnerTakesTwoSlots(Lie):
    """A job that a body registers is counted where it is admitted, and once more when that body goes on."""

    row, calls = "E81", 3

    def __init__(self) -> None:
        super().__init__()
        self._inner: set[str] = set()

    async def register_both(self, type: str, label: str, inner: str) -> Reply:
        reply = await super().register_both(type, label, inner)
        self._inner.add(reply["inner_id"])
        return reply

    def running(self, owner: str | None = None) -> list[Reply]:
        """Return those that run, as `_require_slot` counts them."""
        found = super().running(owner)
        return found + [each for each in found if each["job_id"] in self._inner] if self._counting_slots else found

    _counting_slots = False

    def _require_slot(self) -> None:
        self._counting_slots = True
        try:
            super()._require_slot()
        finally:
            self._counting_slots = False


class InnerIsKept(Lie):
    """The record of a job that a body registered never leaves."""

    row, calls = "E81", 5

    async def register_both(self, type: str, label: str, inner: str) -> Reply:
        reply = await super().register_both(type, label, inner)
        if reply["inner_id"] is not None:
            self._kept.add(reply["inner_id"])
        return reply

    def __init__(self) -> None:
        super().__init__()
        self._kept: set[str] = set()

    def _evict(self, job: JobRecord) -> None:
        if job.job_id not in self._kept:
            super()._evict(job)
