"""Lies about whose jobs a caller of the tool sees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from conformance.references.job_delivery import Reply
from conformance.references.job_records import JobRecord
from tests.faulty.job.lie import Lie, declaring


class ForeignIsCancelled(Lie):
    """A caller may cancel the jobs of others."""

    row, calls = "N10", 2

    def _cancel_one(self, job_id: str, owner: str | None) -> Reply:
        return super()._cancel_one(job_id, None)


class ForeignIsPolled(Lie):
    """A poll without ids waits for everybody's jobs."""

    row, calls = "N10", 3

    def _watch_set(self, poll: Sequence[str] | None, cancel: Sequence[str], owner: str | None) -> list[JobRecord]:
        return super()._watch_set(poll, cancel, owner if poll else None)


class ForeignIsListed(Lie):
    """A list shows everybody's jobs."""

    row, calls = "N10", 3

    def _listing(self, owner: str | None) -> Reply:
        return super()._listing(None)


class NobodySeesNothing(Lie):
    """A caller without an owner sees only the jobs that have none."""

    row, calls = "N10", 3

    def _listing(self, owner: str | None) -> Reply:
        return self._answer([job for job in self._visible(owner) if job.owner == owner], None)


class CancelIsScopedAlthoughOnlyListsAre(Lie):
    """It says that only lists are scoped by owner, and scopes cancels as well."""

    row, calls = "N11", 2
    right = declaring("policies", "owner_scope", "list_only")
    declares = right.declares

    def __init__(self) -> None:
        super().__init__(owner_scope="list_only")

    def _select(self, ids: Iterable[str], owner: str | None) -> list[JobRecord]:
        return [job for job in super()._select(ids, owner) if owner is None or job.owner == owner]


class OwnerIsABeginning(Lie):
    """A caller sees the jobs of every owner whose name begins with its own."""

    row, calls = "E39", 2

    def _visible(self, owner: str | None) -> Iterable[JobRecord]:
        return [job for job in self._jobs.values() if owner is None or (job.owner or "").startswith(owner)]


class OwnerIgnoresCase(Lie):
    """Owners whose names differ only in capital letters are one."""

    row, calls = "E39", 2

    def _visible(self, owner: str | None) -> Iterable[JobRecord]:
        jobs = super()._visible(None)
        return [job for job in jobs if owner is None or (job.owner or "").casefold() == owner.casefold()]
