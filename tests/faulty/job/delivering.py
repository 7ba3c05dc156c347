"""Lies about delivering completions and trying again."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import replace

from conformance.references.job_delivery import Completion
from conformance.references.job_records import JobRecord
from tests.faulty.job.lie import Lie


class LastSettledFirst(Lie):
    """Of what waits to be delivered, the job that settled last comes first."""

    row, calls = "N15", 8

    def _next(self) -> Completion:
        return self._queue[-1]


class SyncFailureLosesCompletion(Lie):
    """A sink that throws at once is taken for one that accepted."""

    row, calls = "E9", 4

    def _failed(self, completion: Completion) -> None:
        if self._sink.mode != "raise":
            super()._failed(completion)


class AsyncFailureLosesCompletion(Lie):
    """A sink that fails later is not noticed: nobody awaits it."""

    row, calls = "E9", 4

    def _failed(self, completion: Completion) -> None:
        if self._sink.mode != "refuse":
            super()._failed(completion)


class DeliveredAgainAfterRetry(Lie):
    """A completion that was accepted at the second attempt is delivered once more."""

    row, calls = "E9", 5

    def _delivered(self, completion: Completion) -> None:
        tried = completion.failures
        super()._delivered(completion)
        if tried:
            completion.failures = 0
            self._offer(completion)


class FailedIsQueuedTwice(Lie):
    """A failed attempt puts the completion back, and so does the loop around it: it is told twice."""

    row, calls = "E33", 4

    def _failed(self, completion: Completion) -> None:
        super()._failed(completion)
        if completion.failures == 1:
            self._offer(replace(completion))


class FailureRepeatsBatch(Lie):
    """After a failed attempt everything is tried again, the accepted ones included."""

    row, calls = "E33", 5

    def _failed(self, completion: Completion) -> None:
        super()._failed(completion)
        for job in self._jobs.values():
            if job.completion.place == "delivered":
                self._offer(job.completion)


class InFlightIsTakenOffByPlace(Lie):
    """What is accepted is taken off by its place: if it was acknowledged meanwhile, the next one goes."""

    row, calls = "E6", 8

    def _delivered(self, completion: Completion) -> None:
        super()._delivered(completion)
        if completion.acknowledged and self._queue:
            self._queue.pop(0)


class AcknowledgeClearsQueue(Lie):
    """Acknowledging one completion drops all that wait."""

    row, calls = "E7", 7

    def _acknowledge(self, completion: Completion) -> None:
        super()._acknowledge(completion)
        self._queue.clear()


class AcknowledgeDropsFirst(Lie):
    """Acknowledging a completion drops the first that waits, whichever was meant."""

    row, calls = "E7", 6

    def _acknowledge(self, completion: Completion) -> None:
        completion.acknowledged = True
        if self._queue:
            self._remove(self._queue[0])


class RetriesAfterDispose(Lie):
    """What was waiting for its next attempt is attempted after dispose."""

    row, calls = "E11", 5

    def _stop_delivering(self) -> None:
        return


class DisposeDeliversUnasked(Lie):
    """What waits for its next attempt when all is disposed is said to have been delivered, whatever the sink would say."""

    row, calls = "E11", 4

    def _stop_delivering(self) -> None:
        waiting = list(self._queue)
        super()._stop_delivering()
        for completion in waiting:
            self._signal("delivered", job=completion.job_id, text=completion.text)


class DisposeTellsWhatIsInFlight(Lie):
    """Dispose tells of what is in flight, and lets it arrive all the same."""

    row, calls = "E55", 5

    async def _attempt(self, completion: Completion) -> None:
        self._last = completion
        await super()._attempt(completion)

    def _stop_delivering(self) -> None:
        self._queue.clear()
        if self._last.place == "in_flight":
            self._delivered(self._last)


class EvictionDropsCompletion(Lie):
    """A completion that is owed goes with its record."""

    row, calls = "E32", 5

    def _evict(self, job: JobRecord) -> None:
        super()._evict(job)
        self._remove(job.completion)


class EvictionLetsGoTwice(Lie):
    """An eviction ends the watches of its job, and delivers once for the record and once for the watch."""

    row, calls = "E47", 4

    def _evict(self, job: JobRecord) -> None:
        super()._evict(job)
        if job.completion.place == "held":
            job.completion.watchers = 0
            self._offer(replace(job.completion))
            self._offer(job.completion)


class OvertakesAgainstDeclaration(Lie):
    """It says that a retry holds up the others, and lets them pass."""

    row, calls = "E31", 5

    def _next(self) -> Completion:
        return min(self._queue, key=lambda each: (each.due, each.settlement))


class SettledDuringBackoffIsLost(Lie):
    """What settles while another one waits for its next attempt is forgotten."""

    row, calls = "E31", 7

    def _offer(self, completion: Completion) -> None:
        waiting = any(each.failures for each in self._queue)
        if completion.failures or not waiting:
            super()._offer(completion)


class BackoffHasNoCeiling(Lie):
    """The delay goes on doubling beyond 30 s."""

    row, calls = "B8", 4

    def _backoff(self, failures: int) -> int:
        return 500 << (failures - 1)


class BackoffIsConstant(Lie):
    """The delay does not grow."""

    row, calls = "B8", 4

    def _backoff(self, failures: int) -> int:
        return 500


class BackoffStartsDoubled(Lie):
    """The first delay is 1 s."""

    row, calls = "B8", 4

    def _backoff(self, failures: int) -> int:
        return super()._backoff(failures + 1)


class BackoffStartsOverAtCeiling(Lie):
    """After the tenth failure the delay is 500 ms again."""

    row, calls = "B8", 4

    def _backoff(self, failures: int) -> int:
        return super()._backoff(1 + (failures - 1) % 9)


class JitterIsTooWide(Lie):
    """Up to a second is added to a delay."""

    row, calls = "B8", 4

    def _jitter(self) -> int:
        return 200 + super()._jitter()


class JitterGoesBothWays(Lie):
    """The jitter is also taken away from the delay."""

    row, calls = "B8", 4

    def _jitter(self) -> int:
        return -1 - super()._jitter()


class FailuresAreShared(Lie):
    """The failures of all completions count together, and never start over."""

    row, calls = "B9", 9
    _failures = 0

    def _backoff(self, failures: int) -> int:
        self._failures += 1
        return super()._backoff(self._failures)


class AttemptsOverlap(Lie):
    """Each completion is attempted by a task of its own, whatever is in flight."""

    row, calls = "B12", 5

    def _deliver(self) -> None:
        self._tasks = [*getattr(self, "_tasks", ()), asyncio.create_task(self._empty_queue())]


class BurstKeepsLast(Lie):
    """One completion can wait behind the one in flight; a later one takes its place."""

    row, calls = "B12", 8

    def _offer(self, completion: Completion) -> None:
        self._queue.clear()
        super()._offer(completion)


class QueueOfTwenty(Lie):
    """Twenty completions wait to be delivered at most; the oldest makes room."""

    row, calls = "B27", 48

    def _offer(self, completion: Completion) -> None:
        super()._offer(completion)
        if len(self._queue) > 20:
            self._queue.pop(0).place = "dropped"


class GivesUpAfterTwenty(Lie):
    """A completion that twenty attempts did not deliver is dropped."""

    row, calls = "B24", 4

    def _failed(self, completion: Completion) -> None:
        super()._failed(completion)
        if completion.failures >= 20 and completion in self._queue:
            self._queue.remove(completion)
            completion.place = "dropped"


class BackoffOverflows(Lie):
    """The delay is doubled in 32 bits before it is limited: after two dozen failures it is nothing."""

    row, calls = "B24", 4

    def _backoff(self, failures: int) -> int:
        return min(30_000, (500 << (failures - 1)) & 0xFFFFFFFF)


class CancelOfAllEmptiesQueue(Lie):
    """When all jobs are cancelled, what waits to be delivered is dropped."""

    row, calls = "E42", 6

    async def cancel_all(self, owner: str | None = None) -> None:
        await super().cancel_all(owner)
        for completion in list(self._queue):
            self._acknowledge(completion)


class AcknowledgedTwiceTakesTwo(Lie):
    """Each mention of an acknowledged job takes an entry out of the queue: the second one takes another's."""

    row, calls = "E43", 7

    async def acknowledge(self, jobs: Collection[str]) -> None:
        await super().acknowledge(jobs)
        if len(jobs) > len(set(jobs)) and self._queue:
            self._acknowledge(self._queue[0])


class LoopEndsWithTheAcknowledged(Lie):
    """The loop that waits to try the first of all again is ended when that one is acknowledged."""

    row, calls = "E56", 8

    def _acknowledge(self, completion: Completion) -> None:
        waits = completion.place == "queued" and completion.failures > 0
        super()._acknowledge(completion)
        if waits and self._delivering is not None:
            self._delivering.cancel()


class LoopEndsWithThePolled(Lie):
    """The same when a poll returns that one; who acknowledges it does no harm."""

    row, calls = "E92", 8

    def _acknowledge_ended(self, jobs: Iterable[JobRecord]) -> None:
        jobs = [*jobs]
        waits = any(job.completion.failures > 0 for job in jobs)
        super()._acknowledge_ended(jobs)
        if waits and self._delivering is not None:
            self._delivering.cancel()


class LeavesItsWatchBehind(Lie):
    """A job that leaves while it is watched stays watched: what settles later waits for its turn, though it was delivered."""

    row, calls = "E94", 7
    _left = False

    def _evict(self, job: JobRecord) -> None:
        self._left = self._left or job.completion.watchers > 0
        super()._evict(job)

    def _deliver(self) -> None:
        if not self._left:
            super()._deliver()


class DeliveredComesBack(Lie):
    """What was delivered at its second attempt is queued again when a watch of it ends."""

    row, calls = "E57", 8

    def _watch(self, completion: Completion) -> None:
        super()._watch(completion)
        if completion.place == "delivered" and completion.failures > 0:
            completion.place = "held"


class HeldHoldsOthers(Lie):
    """As long as one completion is held back, no other is attempted."""

    row, calls = "E59", 9

    def _deliver(self) -> None:
        if all(each.completion.place != "held" for each in self._jobs.values()):
            super()._deliver()


class DeliversTheBeginning(Lie):
    """Of a long text only the beginning is delivered; the record has all of it."""

    row, calls = "E73", 2

    def _delivered(self, completion: Completion) -> None:
        super()._delivered(replace(completion, text=completion.text[:4096]))
        completion.place = "delivered"
