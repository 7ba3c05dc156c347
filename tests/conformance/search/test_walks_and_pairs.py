"""The searches beside the Hypothesis machine: long walks, and any two calls at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge import BrokenCalls
from conformance.judge.case import Case
from conformance.judge.history import History
from conformance.references.thread_job import TERMINAL, Reply, ThreadJobs
from conformance.search import pairs, walks
from conformance.search.faults import Diverged, Faults
from conformance.search.stateful import Driver
from tests.conformance.search.searching import searched, traces
from tests.conformance.systems import REFERENCE, adapted, thread_job
from tests.faulty.thread_job.crashes import TimedOutCrashes
from tests.faulty.thread_job.retention import KeepsOneFewer


def walked(system: type, seed: int, count: int) -> tuple[Diverged | None, list[Case]]:
    return searched(walks.search, system, seed, replace(USUAL, walks=count))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "told"), [(TimedOutCrashes, "operations.finish"), (KeepsOneFewer, "missing from the list")]
)
def test_walks_find_what_is_wrong_from_nearly_every_seed(system: type, told: str) -> None:
    found = [diverged for seed in range(4) if (diverged := walked(system, seed, USUAL.walks)[0]) is not None]
    assert len(found) >= 3
    assert {told in str(diverged) for diverged in found} == {True}


def test_walks_find_nothing_where_nothing_is_wrong_and_each_is_told() -> None:
    diverged, cases = walked(REFERENCE, 0, 7)
    assert diverged is None
    assert len(cases) == 7


class ListsNothing(REFERENCE):
    """Whoever asks for the jobs of a thread is told of none."""

    def list_jobs(self, thread: str, statuses: Any = ()) -> list[Reply]:
        return []


def test_a_look_that_is_always_wrong_does_not_end_every_case() -> None:
    ends: list[bool] = []
    with adapted(ListsNothing) as adapter:
        faults = Faults(BrokenCalls(adapter), most=5)
        budget = replace(USUAL, walks=8)
        walks.search(thread_job(), adapter, 0, budget, after=lambda driver: ends.append(driver.over), faults=faults)
    assert [each.finding.operation for each in faults.found] == ["list_jobs"]
    assert ends.count(False) >= 4


@pytest.mark.thorough
def test_the_seed_decides_where_a_walk_goes() -> None:
    first, again, other = (traces(walked(REFERENCE, seed, 3)[1]) for seed in (1, 1, 2))
    assert first == again != other


def test_after_two_calls_at_once_everybody_looks_and_again_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[tuple[dict[str, Any], ...]] = []
    observe = Driver.observe

    def noting(self: Driver, *calls: dict[str, Any]) -> None:
        looks.append(calls)
        observe(self, *calls)

    monkeypatch.setattr(Driver, "observe", noting)
    assert paired(REFERENCE, 20)[0] is None
    assert len(looks) >= 30
    assert {len(calls) for calls in looks[::2]} == {2}
    assert max(len(calls) for calls in looks[1::2]) == USUAL.calls_after


def test_each_observer_is_asked_once_about_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []
    make = Driver.make

    def noting(self: Driver, operation: str, arguments: dict[str, Any]) -> None:
        asked.append((operation, arguments))
        make(self, operation, arguments)

    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        for name in ("a", "b"):
            driver.make("start", {"thread": "t1", "tool_call": name, "tool": "bash"})
        monkeypatch.setattr(Driver, "make", noting)
        driver.observe({"job": "job-1"}, {"job": "job-2"}, {"job": "job-1"})
    assert len(asked) == len({repr(each) for each in asked})
    assert {given["job"] for _, given in asked if "job" in given} == {"job-1", "job-2"}


class StartsFailLater(ThreadJobs):
    """After two calls at once no job starts any more, which no observer shows."""

    inside, broken = 0, False

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.inside += 1
        self.broken |= self.inside > 1
        try:
            with super()._locked():
                yield
        finally:
            self.inside -= 1

    def _locked(self) -> AbstractContextManager[Any]:
        return self._counted()

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        if self.broken and not self.inside:
            raise RuntimeError("no more")
        return super().start(thread, tool_call, tool)


def paired(system: type, rounds: int) -> tuple[Diverged | None, list[Case]]:
    return searched(pairs.search, system, 0, replace(USUAL, pairs=rounds))


def test_what_two_calls_at_once_have_broken_shows_in_a_call_that_follows() -> None:
    diverged, _ = paired(StartsFailLater, USUAL.pairs)
    assert diverged is not None
    assert "RuntimeError: no more" in str(diverged)


def test_pairs_find_nothing_where_nothing_is_wrong_and_overlap() -> None:
    diverged, cases = paired(REFERENCE, 40)
    assert diverged is None
    assert 30 < len(cases) <= 40  # some situations have nothing to call for
    assert sum(case.overlaps > 0 for case in cases) > len(cases) // 4  # usually more than a half


class ProgressOverwrites(ThreadJobs):
    """A report of progress writes back the record that it read before: an ending in between is lost."""

    def report_progress(self, job: str) -> None:
        found = self._jobs.get(job)
        if found is None or found.status in TERMINAL:
            return
        copied = replace(found)
        with self._locked():
            if job in self._jobs:
                self._jobs[job] = copied


@pytest.mark.thorough
def test_pairs_are_mostly_about_one_record_so_that_one_call_undoes_the_other() -> None:
    diverged, _ = paired(ProgressOverwrites, USUAL.pairs)
    assert diverged is not None
    (history,) = [record for record in diverged.case.trace if isinstance(record, History)]
    assert "report_progress" in {call.operation for call in history.calls}
    assert len({call.arguments["job"] for call in history.calls if "job" in call.arguments}) == 1
