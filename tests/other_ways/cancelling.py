"""Managers whose replies and updates tell otherwise of what the same call cancels, and of what was returned: all of it is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from conformance.references.job import Jobs, ToolCall
from conformance.references.job_delivery import Reply
from conformance.references.job_records import JobRecord
from tests.other_ways.job import ListsWhatItCancels, OwedLeaves, ReturnedLeaves, TextOnce, declaring


class ListsTextsOnce(TextOnce, ListsWhatItCancels):
    """Open, and a policy: a poll shows what it cancels, and a text that a reply gave is not repeated."""


class ListedLeaves(ReturnedLeaves, ListsWhatItCancels):
    """Open, and a policy: a poll shows what it cancels, and what it has shown leaves at once."""


class LeavesAsReturned(ReturnedLeaves):
    """Policy: "a record whose result was returned to the caller may leave sooner", by whatever reply: of a list, of a cancel."""

    async def tool(self, *arguments: Any, **named: Any) -> Reply:
        token = await super().tool(*arguments, **named)
        reply = self._calls[token["token"]].reply
        for each in reply["jobs"] if reply else ():
            job = self._jobs.get(each["id"])
            if job is not None and job.status != "running" and each.get("resultText", each.get("errorText")):
                self._leave(job)
        return token

    def _leave(self, job: JobRecord) -> None:
        if job.eviction is not None:
            job.eviction.cancel()
        self._evict(job)


class OwedLeavesAsReturned(LeavesAsReturned, OwedLeaves):
    """The same, and what is still owed leaves with it."""

    declares: ClassVar[dict[str, Any]] = declaring(policies={"returned_leaves": "may", "owed_outlives": "leaves"})


class UpdatesListWhatIsCancelled(ListsWhatItCancels):
    """Open: what a call cancels is among the details.jobs of its updates, too."""

    def _report(self, call: ToolCall) -> None:
        if call.listen:
            beside = self._cancelled_by.get(call.token, self._beside)
            kept = [job for job in beside if self._jobs.get(job.job_id) is job and job not in call.watched]
            self._signal("progress", token=call.token, jobs=[self._detail(job) for job in [*call.watched, *kept]])


class UpdatesOmitWhatIsCancelled(Jobs):
    """Open: it is in none of them, even where the call polls it."""

    def _shown(self, call: ToolCall) -> list[JobRecord]:
        gone = {each["id"] for each in call.outcomes or () if each["status"] == "cancelled"}
        return [job for job in call.watched if job.job_id not in gone]

    def _report(self, call: ToolCall) -> None:
        if call.listen:
            self._signal("progress", token=call.token, jobs=[self._detail(job) for job in self._shown(call)])

    def _conclude(self, call: ToolCall) -> None:
        call.reply = self._answer(self._shown(call), call.outcomes)
        self._acknowledge_ended(call.watched)
        for job in call.watched:
            self._unwatch(job.completion)


class UpdatesHaveTexts(TextOnce):
    """Policy: a reply gives a text once; an update is no reply, and has "fresh details.jobs"."""

    def _report(self, call: ToolCall) -> None:
        if call.listen:
            self._signal("progress", token=call.token, jobs=[Jobs._detail(self, job) for job in call.watched])


class AlsoWithoutManager(Jobs):
    """Where there is no manager, something is done all the same about what a call names, when it has its reply."""

    async def tool(
        self,
        poll: Sequence[str] | None = None,
        cancel: Sequence[str] | None = None,
        list: bool = False,
        owner: str | None = None,
        listen: bool = False,
        manager: str = "there",
    ) -> Reply:
        token = await super().tool(poll, cancel, list, owner, listen, manager)
        reply = self._calls[token["token"]].reply
        if manager == "none" and reply is not None:
            self._without_manager(reply, poll or (), cancel or ())
        return token

    def _without_manager(self, reply: Reply, poll: Sequence[str], cancel: Sequence[str]) -> None:
        """Do something to the reply, or to the jobs."""


class WithoutManager(AlsoWithoutManager):
    """Not said: what becomes of ids that are to be cancelled where there is no manager. Here there are no outcomes."""

    status: ClassVar[str] = ""

    def _without_manager(self, reply: Reply, poll: Sequence[str], cancel: Sequence[str]) -> None:
        if cancel:
            reply["cancelled"] = [{"id": each, "status": self.status} for each in cancel if self.status]


class NothingIsFoundWithoutManager(WithoutManager):
    """The same: no id is found."""

    status = "not_found"


CANCELLED_TOLD = {"policies": {"cancelled_told": "at_once"}}


class ShownIsNotTold(ListsWhatItCancels):
    """Open, and a policy: a cancelled job is told at once; one that a poll shows is acknowledged by that."""

    declares: ClassVar[dict[str, Any]] = declaring(**CANCELLED_TOLD)

    def _cancel(self, job: JobRecord) -> None:
        super()._cancel(job)
        self._owe(job.completion, "")


class LeavesOutWhatHasLeft(Jobs):
    """Records leave at once; a reply leaves out a watched job whose record has left, so that nobody has acknowledged it."""

    declares: ClassVar[dict[str, Any]] = declaring(limits={"retention": 0})

    def __init__(self) -> None:
        super().__init__(retention=0)

    def _conclude(self, call: ToolCall) -> None:
        watched = call.watched
        call.watched = [job for job in watched if self._jobs.get(job.job_id) is job]
        super()._conclude(call)
        for job in watched:
            if job not in call.watched:
                self._unwatch(job.completion)


class LeavesOutWhatWasReturned(LeavesOutWhatHasLeft, ReturnedLeaves):
    """Policy, and open: a record leaves once a reply has shown its result, and another poll that waits for it leaves it out."""

    declares: ClassVar[dict[str, Any]] = declaring(policies={"returned_leaves": "may"})

    def __init__(self) -> None:
        Jobs.__init__(self)


class ReturnsAtTheFirstCancel(Jobs):
    """Open: "a cancel alone need not wake a poll". Here it does, at once: what is cancelled right after it still runs in the reply.

    By policy the session is told of that one, which no reply has shown.
    """

    declares: ClassVar[dict[str, Any]] = declaring(**CANCELLED_TOLD)

    def _cancel(self, job: JobRecord) -> None:
        super()._cancel(job)
        self._owe(job.completion, "")
        for call in self._calls.values():
            if call.task is not None and job in call.watched:
                self._conclude(call)

    def _conclude(self, call: ToolCall) -> None:
        if call.reply is None:
            super()._conclude(call)


class LeavesAtTheFirstCancel(ReturnsAtTheFirstCancel, ReturnedLeaves):
    """The same, and what the reply has shown as cancelled leaves."""

    declares: ClassVar[dict[str, Any]] = declaring(
        policies={"returned_leaves": "may", **CANCELLED_TOLD["policies"]},
    )


class AcknowledgesBesideACancel(Jobs):
    """Open: "acknowledge(ids) when a result was returned". A call that only cancels gives snapshots with the results."""

    def _nothing_to_watch(
        self, call: ToolCall, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None
    ) -> Reply:
        reply = super()._nothing_to_watch(call, poll, cancel, owner)
        if cancel:
            self._acknowledge_ended(self._select(cancel, owner))
        return reply


class UnwatchLoses(Jobs):
    """By policy what settles while it is watched is lost after that. Open: what had settled, and waits for its next attempt."""

    declares: ClassVar[dict[str, Any]] = declaring(policies={"unwatch_restores": "lost"})

    def __init__(self) -> None:
        super().__init__(unwatch_restores="lost")
