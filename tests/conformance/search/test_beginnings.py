"""How cases begin that the search thought of: with many records in one state, and with settings that were changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.references.job import Jobs
from conformance.references.thread_job import ACTIVE, Reply, ThreadJobs
from conformance.search import gathering, prefill
from conformance.search.faults import Diverged
from conformance.search.stateful import Driver
from statemachines.compile import load
from statemachines.expression import python_name
from tests.conformance.systems import REFERENCE, adapted, thread_job


def gathered(system: Any) -> Callable[[Any], None]:
    """The way to begin with many records in one state."""
    with adapted(system) as adapter:
        ways = prefill.prefills(thread_job(), adapter.declaration, USUAL.prefilled)
    (found,) = (each for each in ways if "gathered" in repr(each))
    return found


def test_many_records_come_to_one_state_whichever_it_is() -> None:
    begin, came = gathered(REFERENCE), Counter[str]()
    jobs_of = python_name(thread_job().kernel.entity("Job").collection)
    with adapted(REFERENCE) as adapter:
        for seed in range(24):
            driver = Driver(thread_job(), adapter, seed=seed)
            begin(driver)
            jobs = getattr(driver.case.judge.model, jobs_of).values()
            (state, count), *_ = Counter(job.state for job in jobs).most_common()
            assert min(gathering.GATHERED) - 1 <= count <= max(gathering.GATHERED)
            came[state] += 1
    assert came.keys() >= {"pending_cancel", "completed", "failed"}
    assert came["pending_cancel"] > 24 / 6  # as often as others would be less


class ListsFivePending(ThreadJobs):
    """Of the jobs that are asked to stop a list has five at most."""

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        found, left = [], 5
        for job in super().list_jobs(thread, statuses):
            left -= job["status"] == "pending_cancel"
            found += [job] if job["status"] != "pending_cancel" or left >= 0 else []
        return found


def test_what_holds_so_many_records_of_one_state_at_most_shows_when_there_are_many() -> None:
    begin = gathered(ListsFivePending)
    with adapted(ListsFivePending) as adapter:

        def shows(seed: int) -> bool:
            driver = Driver(thread_job(), adapter, seed=seed)
            try:
                begin(driver)
                driver.observe_all()
            except Diverged:
                return True
            return False

        assert any(map(shows, range(12)))


def test_before_a_case_begins_time_passes_and_a_setting_is_changed_but_none_that_ends_everything() -> None:
    job, called = load("job"), Counter[str]()
    with adapted(Jobs, job) as adapter:
        begin = prefill.set_up(job, adapter.declaration)
        for seed in range(20):
            driver = Driver(job, adapter, seed=seed)
            begin(driver)
            first, *others = driver.case.calls
            assert first.operation == "wait"
            called.update(each.operation for each in others)
    assert called.keys() == {"configure", "sink"}


@pytest.mark.parametrize("lifecycle", ["thread-job", "task-progress", "local-agent", "background-tasks", "cli-job"])
def test_a_setting_is_about_no_record_that_comes_and_goes(lifecycle: str) -> None:
    source = load(lifecycle).kernel
    coming = {each.name for each in source.entities if not each.fixed}
    settings = [source.operation(name) for name in prefill._settings(source)]
    assert not any(each.entity in coming for operation in settings for each in operation.parameters)
