"""Lies about ids, and about what an id's old holder does to the new one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from conformance.references.job import ToolCall
from conformance.references.job_delivery import Completion, Reply, call_at, now
from conformance.references.job_records import JobRecord
from conformance.refused import Refused
from tests.faulty.job.lie import Lie, declaring


class CollisionReplaces(Lie):
    """A preferred id that is in use replaces the record that has it."""

    row, calls = "E24", 2

    def _taken(self, job_id: str) -> bool:
        return False

    def _evict(self, job: JobRecord) -> None:
        self._jobs.pop(job.job_id, None)


class CollisionIsRefused(Lie):
    """A preferred id that is in use is refused."""

    row, calls = "E24", 2

    def _free_id(self, preferred: str) -> str:
        if preferred and self._taken(preferred):
            raise Refused("limit_reached")
        return super()._free_id(preferred)


class SuffixIsTakenUnseen(Lie):
    """The suffix of a second job of one name is given to the third as well."""

    row, calls = "E24", 3

    def _free_id(self, preferred: str) -> str:
        return f"{preferred}-2" if preferred in self._jobs else super()._free_id(preferred)


class BlankIsId(Lie):
    """A blank preferred id is taken as it is."""

    row, calls = "E24", 1

    def _mint_id(self) -> str:
        return "" if "" not in self._jobs else super()._mint_id()


class LateSettlementEndsNewHolder(Lie):
    """A body ends whatever job has its id by now."""

    row, calls = "E13", 6

    async def settle(self, handle: str, outcome: str, text: str) -> None:
        job = self._handles[handle]
        self._handles[handle] = self._jobs.get(job.job_id, job)
        await super().settle(handle, outcome, text)


class LateTextReachesNewHolder(Lie):
    """The text of a late settlement is stored on whatever job has the id by now."""

    row, calls = "E13", 7

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        holder = self._jobs.get(job.job_id, job)
        holder.result_text, holder.error_text = job.result_text, job.error_text


class SecondTimerEvictsNewHolder(Lie):
    """A late settlement sets a second timer, which evicts whatever job has the id by then."""

    row, calls = "E14", 9

    def _settled_late(self, job: JobRecord) -> None:
        super()._settled_late(job)
        call_at(now() + self._retention, lambda: self._evict(job))

    def _evict(self, job: JobRecord) -> None:
        self._jobs.pop(job.job_id, None)


class AcknowledgementOutlivesRecord(Lie):
    """Acknowledgements are kept by id, and not dropped when the record goes."""

    row, calls = "E15", 7

    async def acknowledge(self, jobs: Collection[str]) -> None:
        await super().acknowledge(jobs)
        known = {each for each in jobs if each in self._jobs}
        self._silenced = {*getattr(self, "_silenced", ()), *known}

    def _owe(self, completion: Completion, text: str) -> None:
        completion.acknowledged = completion.job_id in getattr(self, "_silenced", ())
        super()._owe(completion, text)


class WatchOutlivesRecord(Lie):
    """Watches are kept by id, and not dropped when the record goes."""

    row, calls = "E15", 7

    def _evict(self, job: JobRecord) -> None:
        super()._evict(job)
        self._left = {**getattr(self, "_left", {}), job.job_id: job.completion.watchers}

    def _owe(self, completion: Completion, text: str) -> None:
        completion.watchers += getattr(self, "_left", {}).get(completion.job_id, 0)
        super()._owe(completion, text)


class PollUnwatchesByName(Lie):
    """A poll lets go of whatever job has the id by then."""

    row, calls = "E16", 10

    def _conclude(self, call: ToolCall) -> None:
        super()._conclude(call)
        for job in call.watched:
            if (holder := self._jobs.get(job.job_id, job)) is not job:
                self._unwatch(holder.completion)


class PollShowsNewHolder(Lie):
    """A poll shows whatever job has the id when it returns."""

    row, calls = "E16", 9

    def _conclude(self, call: ToolCall) -> None:
        super()._conclude(call)
        holders = [self._jobs.get(job.job_id, job) for job in call.watched]
        call.reply = self._answer(holders, call.outcomes)


class WaiterHoldsNewHolder(Lie):
    """Who waits for a job waits for its id: the next job of that id counts as watched until that wait is over."""

    row, calls = "E77", 7

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        reply = await super().register(type, label, id, owner)
        job = self._jobs[reply["job_id"]]
        waiting = (call for call in self._calls.values() if call.reply is None)
        if any(each.job_id == job.job_id for call in waiting for each in call.watched):
            job.completion.watchers += 1
        return reply


class AcknowledgedByName(Lie):
    """Acknowledging a job drops the completion that an earlier job of its id is still owed."""

    row, calls = "E17", 8

    def _acknowledge(self, completion: Completion) -> None:
        super()._acknowledge(completion)
        for owed in [each for each in self._queue if each.job_id == completion.job_id]:
            self._queue.remove(owed)


class ReusedAgainstDeclaration(Lie):
    """It says that ids are never issued again, and issues that of an evicted job."""

    row, calls = "E18", 5
    right = declaring("policies", "id_reuse", "no")
    declares = right.declares

    def _evict(self, job: JobRecord) -> None:
        super()._evict(job)
        self._issued.discard(job.job_id)

    def __init__(self) -> None:
        super().__init__(id_reuse="no")


class EvictedIdIsTaken(Lie):
    """An id stays taken when its holder has left: who asks for it gets it with a suffix."""

    row, calls = "E97", 4

    def _taken(self, job_id: str) -> bool:
        return super()._taken(job_id) or job_id in self._issued


class SuffixIsCounted(Lie):
    """The suffix counts how many have the name so far, whether that id is free or not."""

    row, calls = "E40", 3

    def _free_id(self, preferred: str) -> str:
        holders = [each for each in self._jobs if each == preferred or each.startswith(f"{preferred}-")]
        return f"{preferred}-{len(holders) + 1}" if preferred in holders else super()._free_id(preferred)


class NineSuffixes(Lie):
    """There are nine suffixes, and the tenth job of one name replaces the ninth."""

    row, calls = "B23", 10

    def _free_id(self, preferred: str) -> str:
        free = super()._free_id(preferred)
        return f"{preferred}-9" if preferred and free == f"{preferred}-10" else free


class IdIsCut(Lie):
    """An id has thirty-two signs at most."""

    row, calls = "E41", 1

    def _free_id(self, preferred: str) -> str:
        return super()._free_id(preferred[:32])


class IdLosesOddSigns(Lie):
    """Of a preferred id only letters, digits and dashes are kept."""

    row, calls = "E41", 1

    def _free_id(self, preferred: str) -> str:
        return super()._free_id("".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in preferred))


class OnlyBlanksAreTrimmed(Lie):
    """A preferred id is trimmed of blanks, and not of tabs and ends of lines."""

    row, calls = "E24", 1

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        self._wanted = (id or "").strip(" ")
        return await super().register(type, label, id, owner)

    def _free_id(self, preferred: str) -> str:
        return super()._free_id(self._wanted if preferred else preferred)


class RefusedNameIsTaken(Lie):
    """A name that was refused for want of room counts as taken from then on."""

    row, calls = "E46", 5

    def __init__(self) -> None:
        super().__init__()
        self._refused: set[str] = set()

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Reply:
        try:
            return await super().register(type, label, id, owner)
        except Refused:
            self._refused.add((id or "").strip())
            raise

    def _taken(self, job_id: str) -> bool:
        return job_id in self._refused or super()._taken(job_id)


class IdFromCount(Lie):
    """An automatic id is made of how many records there are, and nobody looks whether one of them has it."""

    row, calls = "E51", 6

    def _free_id(self, preferred: str) -> str:
        return super()._free_id(preferred) if preferred else f"bg_{len(self._jobs) + 1}"


class DeliveredIdsAreRemembered(Lie):
    """Ids that were delivered are remembered for ever, so whoever gets one again is not told of."""

    row, calls = "E52", 6

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def _delivered(self, completion: Completion) -> None:
        super()._delivered(completion)
        self._told.add(completion.job_id)

    def _owe(self, completion: Completion, text: str) -> None:
        if completion.job_id not in self._told:
            super()._owe(completion, text)


class FailuresStayWithTheId(Lie):
    """Failed attempts are counted by id, until one succeeds."""

    row, calls = "E53", 10

    def __init__(self) -> None:
        super().__init__()
        self._failures: Counter[str] = Counter()

    def _failed(self, completion: Completion) -> None:
        self._failures[completion.job_id] += 1
        completion.failures = self._failures[completion.job_id] - 1
        super()._failed(completion)

    def _delivered(self, completion: Completion) -> None:
        super()._delivered(completion)
        del self._failures[completion.job_id]
