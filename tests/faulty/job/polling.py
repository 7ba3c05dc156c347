"""Lies about what a poll waits for, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from conformance.references.job import Endings, ToolCall
from conformance.references.job_delivery import Reply, now
from conformance.references.job_records import JobRecord, Replies
from conformance.refused import Refused
from tests.faulty.job.lie import Lie


class PollWaitsForAll(Lie):
    """A poll returns when all of its jobs have settled, not with the first."""

    row, calls = "N5", 5

    def _endings(self, call: ToolCall) -> Endings:
        aborted, *bodies = super()._endings(call)
        return [aborted, bodies[0]] if len(bodies) == 1 else [aborted, asyncio.gather(*bodies, return_exceptions=True)]


class PollShowsOnlySettled(Lie):
    """A poll that returns with a job leaves those that still run out of its reply."""

    row, calls = "N5", 5

    def _answer(self, jobs: list[JobRecord], outcomes: Replies | None) -> Reply:
        return super()._answer([job for job in jobs if job.status != "running"] or jobs, outcomes)


class FailureFailsPoll(Lie):
    """A poll whose job fails raises instead of replying."""

    row, calls = "N5", 4

    def _conclude(self, call: ToolCall) -> None:
        if any(job.status == "failed" for job in call.watched):
            return
        super()._conclude(call)


class PollAllShowsEnded(Lie):
    """A poll without ids watches jobs that have long ended, too."""

    row, calls = "N18", 6

    def _watch_set(self, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None) -> list[JobRecord]:
        found = super()._watch_set(poll, cancel, owner)
        ended = [job for job in self._visible(self._scope(owner)) if job not in found]
        return [*ended, *found] if found and poll is None else found


class PollAllWaitsForFirst(Lie):
    """A poll without ids waits for the job that started first."""

    row, calls = "N18", 4

    def _watch_set(self, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None) -> list[JobRecord]:
        found = super()._watch_set(poll, cancel, owner)
        return found if poll is not None else found[:1]


class UnknownIdSpoilsPoll(Lie):
    """A poll that names an id that nobody has does not wait for the others."""

    row, calls = "E1", 3

    def _select(self, ids: Iterable[str], owner: str | None) -> list[JobRecord]:
        names = [*ids]
        found = super()._select(names, owner)
        return found if len(found) == len(set(names)) else []


class UnknownIdIsWaitedFor(Lie):
    """A poll of ids that nobody has waits until its time is over."""

    row, calls = "E1", 2

    def _nothing_to_watch(
        self, call: ToolCall, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None
    ) -> Reply:
        reply = super()._nothing_to_watch(call, poll, cancel, owner)
        if poll:
            call.task = asyncio.create_task(self._poll(call, now(), [call.aborted]))
        return {} if poll else reply

    def tool_result(self, token: str) -> Reply | None:
        return super().tool_result(token) or None


class EmptyPollPollsAll(Lie):
    """An empty list of ids to poll waits for all running jobs."""

    row, calls = "E2", 3

    def _watch_set(self, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None) -> list[JobRecord]:
        return super()._watch_set(poll or None, cancel, owner)


class EndedIsWaitedFor(Lie):
    """A poll of jobs that have all ended waits until its time is over."""

    row, calls = "E3", 3

    def _is_over(self, call: ToolCall) -> bool:
        return False


class AbortCancels(Lie):
    """Aborting a poll cancels the jobs that it watches."""

    row, calls = "E4", 3

    async def abort_tool(self, token: str) -> None:
        await super().abort_tool(token)
        for job in self._calls[token].watched:
            if job.status == "running":
                self._cancel(job)


class AbortIsIgnored(Lie):
    """A poll that was aborted goes on waiting."""

    row, calls = "E4", 4

    async def abort_tool(self, token: str) -> None:
        return


class AbortRepliesAgain(Lie):
    """A call that has returned and is aborted then replies once more, with what there is by now."""

    row, calls = "E37", 7

    async def abort_tool(self, token: str) -> None:
        await super().abort_tool(token)
        if self._calls[token].watched:
            self._conclude(self._calls[token])


class CancelledDoesNotWake(Lie):
    """The body of a job that was cancelled during a poll does not end the poll."""

    row, calls = "E22", 5

    def _endings(self, call: ToolCall) -> Endings:
        return [call.aborted, *(asyncio.ensure_future(self._own_end(job)) for job in call.watched)]

    async def _own_end(self, job: JobRecord) -> None:
        assert job.body is not None
        await asyncio.wait([job.body])
        if job.status == "cancelled":
            await asyncio.Event().wait()


class ListBesidePoll(Lie):
    """A list together with a poll lists, and forgets about the poll."""

    row, calls = "E19", 2

    def _require_exclusive(self, listing: bool, poll: Sequence[str] | None, cancel: Sequence[str] | None) -> None:
        super()._require_exclusive(listing, None, cancel)


class EmptyPollSpoilsList(Lie):
    """An empty list of ids beside `list` is refused like a full one."""

    row, calls = "E19", 1

    def _require_exclusive(self, listing: bool, poll: Sequence[str] | None, cancel: Sequence[str] | None) -> None:
        super()._require_exclusive(listing, poll, cancel)
        if listing and (poll is not None or cancel is not None):
            raise Refused("list_is_exclusive")


class NamedTwiceShownTwice(Lie):
    """A job that a poll names twice is shown twice."""

    row, calls = "E34", 4

    def _select(self, ids: Iterable[str], owner: str | None) -> list[JobRecord]:
        return [job for each in ids for job in super(NamedTwiceShownTwice, self)._select([each], owner)]


class AcknowledgedIsGone(Lie):
    """A job that was acknowledged cannot be polled any more."""

    row, calls = "E35", 4

    def _select(self, ids: Iterable[str], owner: str | None) -> list[JobRecord]:
        return [job for job in super()._select(ids, owner) if not job.completion.acknowledged]


class OnePollReturns(Lie):
    """A job that settles ends one poll; the others that wait for it wait on."""

    row, calls = "B10", 5

    def _endings(self, call: ToolCall) -> Endings:
        taken = {job.job_id for other in self._calls.values() if other is not call for job in other.watched}
        return [call.aborted, *(job.body for job in call.watched if job.body and job.job_id not in taken)]


class WaitIsFixed(Lie):
    """A poll waits 30 s, whatever was chosen."""

    row, calls = "B13", 5

    def _allowed_wait(self, ms: int) -> int:
        return 30_000


class WaitIsCutShort(Lie):
    """A poll gives up with the last update before its time is over."""

    row, calls = "B13", 5

    def _updates(self, started: int, end: int) -> Iterable[int]:
        self._poll_end = end - 500
        return super()._updates(started, end)

    def _report(self, call: ToolCall) -> None:
        super()._report(call)
        if call.task is not None and now() >= self._poll_end:
            call.aborted.set_result(None)


class TimeOutCancels(Lie):
    """A poll that gives up cancels what it waited for."""

    row, calls = "B13", 4

    def _conclude(self, call: ToolCall) -> None:
        if call.task is not None and not any(ending.done() for ending in self._endings(call)):
            for job in call.watched:
                self._cancel(job)
        super()._conclude(call)


class ProgressPutsLimitOff(Lie):
    """A poll that tells progress gives up half a second late."""

    row, calls = "B13", 4

    async def _poll(self, call: ToolCall, started: int, endings: Endings) -> None:
        await super()._poll(call, started + (500 if call.listen else 0), endings)


class OddWaitIsTaken(Lie):
    """A poll waits as long as was asked for, be it one of the five or not."""

    row, calls = "B14", 4

    def _allowed_wait(self, ms: int) -> int:
        return ms


class UnknownTokenAbortsAll(Lie):
    """The abort of a call that nobody made ends every poll."""

    row, calls = "E38", 4

    async def abort_tool(self, token: str) -> None:
        for each in [token] if token in self._calls else list(self._calls):
            await super().abort_tool(each)


class UnknownTokenUsesUpAbort(Lie):
    """The first abort of all is the only one that is carried out, also where it named a call that nobody made."""

    row, calls = "E38", 5

    _used_up = False

    async def abort_tool(self, token: str) -> None:
        used_up, self._used_up = self._used_up, True
        if not used_up:
            await super().abort_tool(token)


class TimedOutPollAcknowledgesNothing(Lie):
    """A poll whose time is over shows what has ended, and it is delivered all the same."""

    row, calls = "E44", 6

    def __init__(self) -> None:
        super().__init__()
        self._ends: dict[str, int] = {}

    async def _poll(self, call: ToolCall, started: int, endings: Endings) -> None:
        self._ends[call.token] = started + self._poll_wait
        await super()._poll(call, started, endings)

    def _conclude(self, call: ToolCall) -> None:
        over = call.token in self._ends and now() >= self._ends[call.token]
        self._acknowledges = not over
        super()._conclude(call)
        self._acknowledges = True

    _acknowledges = True

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        if self._acknowledges:
            super()._acknowledge_ended(jobs)


class AbortedPollAcknowledgesNothing(TimedOutPollAcknowledgesNothing):
    """A poll that is aborted shows what has ended, and it is delivered all the same."""

    row, calls = "E44", 7

    def _conclude(self, call: ToolCall) -> None:
        self._acknowledges = not call.aborted.done()
        super(TimedOutPollAcknowledgesNothing, self)._conclude(call)
        self._acknowledges = True


class AbortEndsAllPolls(Lie):
    """The abort of one call ends every other one that waits."""

    row, calls = "E84", 5

    async def abort_tool(self, token: str) -> None:
        waiting = [each for each in self._calls.values() if each.task is not None and not each.task.done()]
        for each in waiting if token in self._calls else ():
            if not each.aborted.done():
                each.aborted.set_result(None)
        await super().abort_tool(token)


class AbortEndsPollsOfItsJobs(Lie):
    """The abort of one call ends the others that wait for one of its jobs."""

    row, calls = "E84", 5

    async def abort_tool(self, token: str) -> None:
        call = self._calls.get(token)
        for each in self._calls.values() if call is not None else ():
            waits = each is not call and each.task is not None and not each.task.done() and not each.aborted.done()
            if waits and call is not None and {*each.watched} & {*call.watched}:
                each.aborted.set_result(None)
        await super().abort_tool(token)
