"""Lies about what a thread sees of its own jobs."""

from __future__ import annotations

from collections.abc import Collection

from conformance.references.thread_job import ACTIVE, TERMINAL, Reply
from tests.faulty.thread_job.lie import Lie


class DefaultListsEnded(Lie):
    """Without a filter, ended jobs are listed too."""

    row, calls = "N8", 3

    def list_jobs(self, thread: str, statuses: Collection[str] = (*ACTIVE, *TERMINAL)) -> list[Reply]:
        return super().list_jobs(thread, statuses)


class DefaultMissesPendingCancel(Lie):
    """Without a filter, jobs whose cancel is pending are not listed."""

    row, calls = "N8", 3

    def list_jobs(self, thread: str, statuses: Collection[str] = ("running",)) -> list[Reply]:
        return super().list_jobs(thread, statuses)


class FilterIgnoresTimedOut(Lie):
    """A filter that asks for jobs that timed out does not get them."""

    row, calls = "N9", 3

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        return super().list_jobs(thread, [status for status in statuses if status != "timed_out"])


class RunningIncludesPendingCancel(Lie):
    """A filter that asks for running jobs gets those whose cancel is pending as well."""

    row, calls = "N9", 3

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        return super().list_jobs(thread, [*statuses, "pending_cancel"] if "running" in statuses else statuses)


class EmptyFilterGivesAll(Lie):
    """A filter that asks for nothing gives everything."""

    row, calls = "N9", 2

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        return super().list_jobs(thread, statuses or (*ACTIVE, *TERMINAL))


class FilterReadsOneStatus(Lie):
    """Of a filter that asks for several statuses only the first is read."""

    row, calls = "N9", 2

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        return super().list_jobs(thread, statuses if statuses is ACTIVE else list(statuses)[:1])


class InspectForgetsCall(Lie):
    """Inspecting a job does not show which tool call it is of."""

    row, calls = "N10", 2

    def inspect_job(self, thread: str, job: str) -> Reply:
        return {**super().inspect_job(thread, job), "tool_call": None}


class InspectHidesPendingCancel(Lie):
    """Inspecting a job whose cancel is pending shows it as running."""

    row, calls = "N10", 3

    def inspect_job(self, thread: str, job: str) -> Reply:
        shown = super().inspect_job(thread, job)
        return {**shown, "status": shown["status"].replace("pending_cancel", "running")}


class ListedPerStatus(Lie):
    """A list goes through the statuses that are asked for, one after the other, and repeats what is asked for twice."""

    row, calls = "X36", 2

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        return [job for status in statuses for job in super(ListedPerStatus, self).list_jobs(thread, [status])]
