"""Lies about what the tool replies and tells meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from conformance.references.job import ToolCall
from conformance.references.job_delivery import Reply, call_at, now
from conformance.references.job_records import JobRecord, Replies
from conformance.refused import Refused
from tests.faulty.job.lie import Lie
from tests.other_ways.cancelling import AlsoWithoutManager


class EmptyListIsRefused(Lie):
    """A list with nothing in it is an error."""

    row, calls = "N7", 1

    def _listing(self, owner: str | None) -> Reply:
        if not [*self._visible(owner)]:
            raise Refused("not_found")
        return super()._listing(owner)


class ListHidesEnded(Lie):
    """A list shows running jobs only."""

    row, calls = "N7", 4

    def _listing(self, owner: str | None) -> Reply:
        return self._answer([job for job in self._visible(owner) if job.status == "running"], None)


class NoProgressAtOnce(Lie):
    """The first update comes half a second after the call."""

    row, calls = "N8", 2

    def _report(self, call: ToolCall) -> None:
        if call.task is not None:
            super()._report(call)


class ProgressEverySecond(Lie):
    """Updates come once in a second."""

    row, calls = "N8", 3

    def _updates(self, started: int, end: int) -> Iterable[int]:
        return range(started + 1000, end, 1000)


class ProgressIsStale(Lie):
    """Every update shows what the first one showed."""

    row, calls = "N8", 3

    def _report(self, call: ToolCall) -> None:
        super()._report(call)
        if call.listen:
            stale = self.__dict__.setdefault("_stale", {})
            self._signals[-1]["jobs"] = stale.setdefault(call.token, self._signals[-1]["jobs"])


class ProgressOnFastPath(Lie):
    """A poll that returns at once tells progress all the same."""

    row, calls = "E3", 3

    def _is_over(self, call: ToolCall) -> bool:
        over = super()._is_over(call)
        if over:
            self._report(call)
        return over


class ProgressAfterReturn(Lie):
    """One more update comes after a poll has returned."""

    row, calls = "B15", 4

    def _conclude(self, call: ToolCall) -> None:
        super()._conclude(call)
        if call.task is not None:
            call_at(now() + 250, lambda: self._report(call))


class UpdatesSkipEnded(Lie):
    """The updates of a call tell of the jobs that still run, and of no other."""

    row, calls = "E96", 4

    def _report(self, call: ToolCall) -> None:
        if call.listen:
            shown = [self._detail(job) for job in call.watched if job.status == "running"]
            self._signal("progress", token=call.token, jobs=shown)


class ProgressIsEmptyBesideCancel(Lie):
    """The updates of a call that cancelled something tell of no job."""

    row, calls = "E83", 3

    def _report(self, call: ToolCall) -> None:
        if call.listen and call.outcomes:
            self._signal("progress", token=call.token, jobs=[])
        else:
            super()._report(call)


class ProgressUnasked(Lie):
    """Updates come although nobody listens."""

    row, calls = "B15", 2

    def _report(self, call: ToolCall) -> None:
        call.listen = True
        super()._report(call)


class HeadingLeavesOutUnknown(Lie):
    """The heading of cancelled jobs does not count ids that nobody has."""

    row, calls = "N12", 4

    def _text(self, jobs: list[JobRecord], outcomes: Replies) -> str:
        return super()._text(jobs, [each for each in outcomes if each["status"] != "not_found"])


class TextLeavesOutErrors(Lie):
    """The reply's text does not say why a job failed."""

    row, calls = "N12", 4

    def _ended_line(self, job: JobRecord) -> str:
        return super()._ended_line(job).split("\n")[0] if job.status == "failed" else super()._ended_line(job)


class CompletedCountsOnlyCompleted(Lie):
    """Failed jobs are left out under the heading of those that ended."""

    row, calls = "N12", 4

    def _text(self, jobs: list[JobRecord], outcomes: Replies) -> str:
        return super()._text([job for job in jobs if job.status != "failed"], outcomes)


class StillRunningCountsAll(Lie):
    """The heading of the jobs that still run counts those that ended, too."""

    row, calls = "N19", 5

    def _text(self, jobs: list[JobRecord], outcomes: Replies) -> str:
        running = sum(job.status == "running" for job in jobs)
        heading = "## Still Running ({})".format
        return super()._text(jobs, outcomes).replace(heading(running), heading(len(jobs)))


class DisabledIsRefused(Lie):
    """Without a manager the tool fails."""

    row, calls = "N13", 1

    def _disabled(self) -> Reply:
        raise Refused("disposed")


class DisabledInOtherWords(Lie):
    """Without a manager the tool says so in words of its own."""

    row, calls = "N13", 2

    def _disabled(self) -> Reply:
        return super()._disabled() | {"text": "No background jobs are available."}


class CancelsWithoutManager(AlsoWithoutManager, Lie):
    """Without a manager the tool says so, and has cancelled what the call names."""

    row, calls = "E93", 2

    def _without_manager(self, reply: Reply, poll: Sequence[str], cancel: Sequence[str]) -> None:
        for each in cancel:
            self._cancel_one(each, None)


class ListsWithoutManager(AlsoWithoutManager, Lie):
    """Without a manager the tool says so, and shows the jobs that the call names."""

    row, calls = "E93", 3

    def _without_manager(self, reply: Reply, poll: Sequence[str], cancel: Sequence[str]) -> None:
        reply["jobs"] = [self._detail(job) for job in self._select(poll, None)]


class NothingIsSaid(Lie):
    """A poll of unknown ids, or while nothing runs, says nothing."""

    row, calls = "N14", 2

    def _nothing_to_watch(
        self, call: ToolCall, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None
    ) -> Reply:
        return {**super()._nothing_to_watch(call, poll, cancel, owner), "text": ""}


class EmptyTextsAreShown(Lie):
    """A job that ended without a text has an empty one in the details."""

    row, calls = "E36", 4

    def _detail(self, job: JobRecord) -> Reply:
        texts = {"resultText": job.result_text, "errorText": job.error_text}
        return super()._detail(job) | {name: text for name, text in texts.items() if text is not None}


class ListAcknowledges(Lie):
    """What a list showed is not delivered any more, although a list is said to only read."""

    row, calls = "E30", 5

    def _listing(self, owner: str | None) -> Reply:
        self._acknowledge_ended(self._visible(owner))
        return super()._listing(owner)


class ResultIsCut(Lie):
    """Of a result only 4096 characters are kept."""

    row, calls = "E45", 2

    def _end_work(self, job: JobRecord, outcome: str, text: str) -> None:
        super()._end_work(job, outcome, text[:4096])


class LateWordsAreNotShown(Lie):
    """In the text of a reply a cancelled job has no words of its own."""

    row, calls = "E45", 8

    def _ended_line(self, job: JobRecord) -> str:
        return f"- {job.job_id}: cancelled" if job.status == "cancelled" else super()._ended_line(job)


class WaitForgetsCancelledHeading(Lie):
    """A call that cancels some jobs and waits for others does not say in its text what it cancelled."""

    row, calls = "N6", 10

    def _conclude(self, call: ToolCall) -> None:
        super()._conclude(call)
        if call.task is not None and call.reply is not None:
            silent = self._answer(call.watched, [])
            call.reply = {**call.reply, "text": silent["text"]}


class CancelledHaveNoEnd(Lie):
    """The duration of a cancelled job is counted to an end that nobody noted."""

    row, calls = "E58", 4

    def _detail(self, job: JobRecord) -> Reply:
        shown = super()._detail(job)
        return shown | {"durationMs": -job.started_at} if job.status == "cancelled" else shown


class ProgressGetsTired(Lie):
    """After ten seconds no more progress is told."""

    row, calls = "B29", 4

    def _updates(self, started: int, end: int) -> Iterable[int]:
        return [*super()._updates(started, end)][:20]


class FiftyAreSaid(Lie):
    """A reply of the tool has fifty jobs at most."""

    row, calls = "B30", 54

    def _answer(self, jobs: list[JobRecord], outcomes: Replies | None) -> Reply:
        return super()._answer(jobs[:50], outcomes)


class ManyAreNinePlus(Lie):
    """A heading counts to nine; of more jobs it says 9+."""

    row, calls = "E90", 13

    def _answer(self, jobs: list[JobRecord], outcomes: Replies | None) -> Reply:
        reply = super()._answer(jobs, outcomes)
        return reply | {"text": re.sub(r"\(\d\d+\)", "(9+)", reply["text"])}


class FailedHaveNoEnd(Lie):
    """The duration of a failed job is counted to an end that nobody noted."""

    row, calls = "E58", 5

    def _detail(self, job: JobRecord) -> Reply:
        shown = super()._detail(job)
        return shown | {"durationMs": -job.started_at} if job.status == "failed" else shown


class FiftyAreListed(Lie):
    """A list of what runs has fifty jobs at most."""

    row, calls = "B30", 53

    def running(self, owner: str | None = None) -> Replies:
        return super().running(owner)[:50]

    def _require_slot(self) -> None:
        if len(super().running()) >= self._max_running:
            raise Refused("limit_reached")
