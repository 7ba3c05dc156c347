"""Lies about watching and acknowledging."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from conformance.references.job import ToolCall
from conformance.references.job_delivery import Completion, Reply
from conformance.references.job_records import JobRecord
from tests.faulty.job.lie import Lie, declaring


class PollDoesNotAcknowledge(Lie):
    """What a poll returned is delivered as well."""

    row, calls = "N9", 5

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        return


class FastPathDoesNotAcknowledge(Lie):
    """What a poll returned at once is delivered as well."""

    row, calls = "N9", 3

    def _conclude(self, call: ToolCall) -> None:
        super()._conclude(call)
        if call.task is None:
            for job in call.watched:
                job.completion.acknowledged = False
                self._offer(job.completion)


class FailedIsNotAcknowledged(Lie):
    """A failed job that a poll returned is delivered as well."""

    row, calls = "N9", 5

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        super()._acknowledge_ended([job for job in jobs if job.status != "failed"])


class WatchDoesNotStopRetry(Lie):
    """A completion that waits for its next attempt is attempted although it is watched."""

    row, calls = "E8", 5

    def _watch(self, completion: Completion) -> None:
        completion.watchers += 1


class WatchedIsDelivered(Lie):
    """What settles while it is watched is delivered at once."""

    row, calls = "E27", 3

    def _offer(self, completion: Completion) -> None:
        completion.watchers, watchers = 0, completion.watchers
        super()._offer(completion)
        completion.watchers = watchers


class UnwatchLoses(Lie):
    """It says that what settled while watched is delivered afterwards, and forgets it."""

    row, calls = "E27", 4

    def _withhold(self, completion: Completion) -> None:
        completion.place = "dropped"


class UnwatchForgetsAcknowledgement(Lie):
    """What was acknowledged while it was watched is delivered after the watch."""

    row, calls = "E28", 5

    def _acknowledge(self, completion: Completion) -> None:
        if completion.place != "held":
            super()._acknowledge(completion)


class WatchIsFlag(Lie):
    """The first of two watches to end ends both."""

    row, calls = "E29", 5

    def _unwatch(self, completion: Completion) -> None:
        completion.watchers = min(1, completion.watchers)
        super()._unwatch(completion)


class PollUnwatchesForAll(Lie):
    """A poll that ends lets go of its jobs for every other poll, too."""

    row, calls = "B11", 5

    def _conclude(self, call: ToolCall) -> None:
        for job in call.watched:
            job.completion.watchers = 1
        super()._conclude(call)


class PollEndsWatch(Lie):
    """A poll that ends lets go of its jobs for every watch of theirs, too."""

    row, calls = "E86", 5

    def _conclude(self, call: ToolCall) -> None:
        super()._conclude(call)
        for job in call.watched:
            polls = sum(other.reply is None and job in other.watched for other in self._calls.values())
            while job.completion.watchers > polls:
                self._unwatch(job.completion)


class AbortLeavesWatched(Lie):
    """A poll that is aborted never lets go of its jobs."""

    row, calls = "E23", 4

    def _conclude(self, call: ToolCall) -> None:
        for job in call.watched:
            job.completion.watchers += call.aborted.done()
        super()._conclude(call)


class TimeOutLeavesWatched(Lie):
    """A poll that gives up never lets go of its jobs."""

    row, calls = "E23", 5

    def _conclude(self, call: ToolCall) -> None:
        over = any(ending.done() for ending in self._endings(call))
        for job in call.watched:
            job.completion.watchers += job.status == "running" and not over
        super()._conclude(call)


class OnlySettledIsUnwatched(Lie):
    """A poll lets go of the jobs that settled, and not of those that still run."""

    row, calls = "E23", 5

    def _conclude(self, call: ToolCall) -> None:
        settled = any(job.status != "running" for job in call.watched)
        for job in call.watched:
            job.completion.watchers += settled and job.status == "running"
        super()._conclude(call)


class RunningIsAcknowledgedByPoll(Lie):
    """A poll acknowledges all that it shows, jobs that still run included."""

    row, calls = "E23", 4

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        for job in jobs:
            self._acknowledge(job.completion)


class UnknownIsAcknowledged(Lie):
    """Acknowledging an id that nobody has silences the job that gets it later."""

    row, calls = "E25", 3

    async def acknowledge(self, jobs: Collection[str]) -> None:
        await super().acknowledge(jobs)
        self._silenced = {*getattr(self, "_silenced", ()), *jobs}

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        reply = await super().register(type, label, id, owner)
        self._jobs[reply["job_id"]].completion.acknowledged = id in getattr(self, "_silenced", ())
        return reply


class RunningIsNotSilenced(Lie):
    """It says that acknowledging a running job silences it, and delivers its completion."""

    row, calls = "E26", 3

    def _acknowledge(self, completion: Completion) -> None:
        if completion.place != "unsettled":
            super()._acknowledge(completion)


class PollAcknowledgesWhatItWaitedFor(Lie):
    """A poll that waited acknowledges what ended meanwhile, and not what had ended before."""

    row, calls = "E54", 7

    def __init__(self) -> None:
        super().__init__()
        self._ran: dict[str, list[JobRecord]] = {}

    def _report(self, call: ToolCall) -> None:
        self._ran.setdefault(call.token, [job for job in call.watched if job.status == "running"])
        super()._report(call)

    def _conclude(self, call: ToolCall) -> None:
        call.reply = self._answer(call.watched, call.outcomes)
        self._acknowledge_ended(self._ran.get(call.token, call.watched))
        for job in call.watched:
            self._unwatch(job.completion)


class RetriesUnderAWatch(Lie):
    """It says that what settles under a watch is lost, and goes on with the attempts of what had settled before."""

    row, calls = "E87", 5
    right = declaring("policies", "unwatch_restores", "lost")
    declares = right.declares

    def __init__(self) -> None:
        super().__init__(unwatch_restores="lost")

    def _remove(self, completion: Completion) -> None:
        if not completion.failures:
            super()._remove(completion)


class WatchesBelowNone(Lie):
    """The end of a watch that never began takes the next one away."""

    row, calls = "E88", 4

    def _unwatch(self, completion: Completion) -> None:
        completion.watchers -= 1
        if completion.place == "held":
            self._offer(completion)


class WatchTakesBackFailures(Lie):
    """What a watch holds back begins its delays anew."""

    row, calls = "E89", 7

    def _watch(self, completion: Completion) -> None:
        super()._watch(completion)
        completion.failures = 0
