"""Lies about cancelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.references.job import ToolCall
from conformance.references.job_delivery import Reply, now
from conformance.references.job_records import JobRecord
from tests.faulty.job.lie import Lie


class EndedIsNotFound(Lie):
    """Cancelling a job that has ended says that there is none."""

    row, calls = "N4", 4

    def _cancel_one(self, job_id: str, owner: str | None) -> Reply:
        outcome = super()._cancel_one(job_id, owner)
        if outcome["status"] == "already_completed":
            outcome["status"] = "not_found"
        return outcome


class CancelStopsAtUnknown(Lie):
    """The ids behind one that nobody has are not cancelled."""

    row, calls = "N4", 2

    def _cancel_and_poll(
        self, call: ToolCall, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None
    ) -> None:
        known = [each in self._jobs for each in [*cancel]]
        super()._cancel_and_poll(call, poll, cancel[: [*known, False].index(False) + 1], owner)


class CancelledIsWaitedFor(Lie):
    """A poll of a job that the same call cancelled waits until its body ends."""

    row, calls = "N6", 3

    def _is_over(self, call: ToolCall) -> bool:
        return all(job.body is not None and job.body.done() for job in call.watched)


class PollComesBeforeCancel(Lie):
    """A call that polls and cancels only polls."""

    row, calls = "N6", 2

    def _cancel_and_poll(
        self, call: ToolCall, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None
    ) -> None:
        super()._cancel_and_poll(call, poll, () if poll else cancel, owner)


class CancelIsNotSignalled(Lie):
    """A cancelled job's body is never told to stop."""

    row, calls = "N17", 2

    def _cancel(self, job: JobRecord) -> None:
        self._end(job, "cancelled")


class CancelWaitsForBody(Lie):
    """A job counts as running until its body obeys the cancel."""

    row, calls = "N17", 3

    def _cancel(self, job: JobRecord) -> None:
        self._signal("abort_signalled", job=job.job_id)
        assert job.body is not None
        job.body.add_done_callback(lambda _: None if job.status != "running" else self._end(job, "cancelled"))

    def _settled(self, job: JobRecord, status: str, text: str) -> None:
        super()._settled(job, status, text)


class CancelAllTakesAll(Lie):
    """Cancelling all jobs of an owner cancels everybody's."""

    row, calls = "N17", 2

    async def cancel_all(self, owner: str | None = None) -> None:
        await super().cancel_all()


class CancelIsDelivered(Lie):
    """The session is told of cancelled jobs as well."""

    row, calls = "N16", 2

    def _cancel(self, job: JobRecord) -> None:
        super()._cancel(job)
        self._owe(job.completion, "cancelled")


class DoubleCancelSignalsTwice(Lie):
    """An id that one call names twice is cancelled twice."""

    row, calls = "E5", 2

    def _cancel_one(self, job_id: str, owner: str | None) -> Reply:
        found = self._jobs.get(job_id)
        if found is not None and found.status == "cancelled" and found.ended_at == now():
            found.status = "running"
        return super()._cancel_one(job_id, owner)


class EmptyCancelReturnsAtOnce(Lie):
    """An empty list of ids to cancel counts as a cancel: nothing is waited for."""

    row, calls = "E20", 3

    async def tool(self, poll: Sequence[str] | None = None, *args: Any, **kwargs: Any) -> Reply:
        return await super().tool([] if poll is None and kwargs.get("cancel") == [] else poll, *args, **kwargs)


class CancelKeepsSlot(Lie):
    """A cancelled job takes up a slot until its body ends."""

    row, calls = "B2", 5

    def _require_slot(self) -> None:
        alive = [job for job in self._handles.values() if job.body is not None and not job.body.done()]
        self._slots = getattr(self, "_slots", self._max_running)
        self._max_running = self._slots - len(alive) + len(self.running())
        super()._require_slot()


class LateSettlementFreesAgain(Lie):
    """The slot that a cancel freed is freed once more when the body ends."""

    row, calls = "B2", 7

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        self._max_running += 1
