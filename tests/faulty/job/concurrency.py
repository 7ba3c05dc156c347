"""Lies that only calls at the same time can show: each lets others run between a check and its use."""

from __future__ import annotations

import asyncio

from conformance.references.job import Endings, ToolCall
from conformance.references.job_delivery import Reply
from conformance.references.job_records import JobRecord
from tests.faulty.job.lie import Lie


class SlotIsCheckedTooEarly(Lie):
    """A registration looks for a slot, then takes it without looking again."""

    row, calls = "B17", 3

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        self._require_slot()
        limit = self._max_running
        await asyncio.sleep(0)
        self._max_running = limit + len(self._jobs)
        try:
            return await super().register(type, label, id, owner)
        finally:
            self._max_running = limit


class IdIsCheckedTooEarly(Lie):
    """A registration looks whether its id is free, then takes it without looking again."""

    row, calls = "B18", 2

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        free = self._free_id((id or "").strip())
        await asyncio.sleep(0)
        self._jobs.pop(free, None)
        return await super().register(type, label, free, owner)


class CancelOverwritesSettlement(Lie):
    """A cancel looks whether the job runs, then cancels it without looking again."""

    row, calls = "B19", 3

    async def cancel(self, job: str) -> None:
        found = self._jobs.get(job)
        if found is not None and found.status == "running":
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self._cancel(found)


class SettledBetweenReplyAndAcknowledgement(Lie):
    """A poll acknowledges what has ended when it returns, and shows what had ended when it woke up."""

    row, calls = "B20", 6

    def _settled(self, job: JobRecord, status: str, text: str) -> None:
        super()._settled(job, status, text)
        self._seen: dict[str, Reply] = getattr(self, "_seen", {})
        for call in self._calls.values():
            if job in call.watched and call.reply is None:
                self._seen.setdefault(call.token, self._answer(call.watched, call.outcomes))

    def _conclude(self, call: ToolCall) -> None:
        super()._conclude(call)
        call.reply = getattr(self, "_seen", {}).get(call.token, call.reply)


class WhoRunsIsLookedAtTooLate(Lie):
    """A poll looks after a moment what it has to wait for: a job that settled meanwhile never wakes it."""

    row, calls = "B21", 4

    async def _poll(self, call: ToolCall, started: int, endings: Endings) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        await super()._poll(call, started, self._endings(call))
