"""Instants that a system chooses and that nothing tells of at the time: a later reply may, and the case is judged by it."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from conformance.refused import Refused
from conformance.verdict import Verdict
from tests.checking import compile_text
from tests.conformance.systems import BRIEF, row_result

SPEC = """
lifecycle: window
version: 1
about: A job that waits fails after a second, or up to 50 milliseconds later; one that is rung rings on.
signals:
  Rang: {}
entities:
  Bell:
    id: minted
    fields: {since: time}
    states: {active: [ringing]}
    after: {ringing: {in: 1000, since: bell.since, within: 50, set: {bell.since: now}, signal: {Rang: {}}}}
  Job:
    id: minted
    fields: {since: time, ended_at: time | null}
    states: {active: [waiting], terminal: [failed]}
    entering: {terminal: {set: {job.ended_at: now}}}
    after: {waiting: {in: 1000, since: job.since, within: 50, move: failed}}
    shows: {job_id: job.id, status: job.state, ended_at: job.ended_at}
operations:
  start:
    create: {Job: {since: now}}
    gives: {job_id: job.id}
  hang:
    create: {Bell: {since: now}}
    gives: {bell_id: bell.id}
  inspect:
    takes: {job: Job}
    gives: job
matrix:
  N1:
    about: A job that waits fails.
    level: must
    source: the handbook
    covers: [entities.Job, operations.start, operations.inspect.gives]
    needs: clock
    act: [one = start(), wait(10), other = start(), wait(2000), seen = inspect(one.job_id), again = inspect(other.job_id)]
    assert: seen.status == failed && again.status == failed
  N2:
    about: A bell rings on.
    level: must
    source: the handbook
    covers: [entities.Bell, operations.hang]
    needs: clock
    act: [hang(), rung = wait(60000)]
    assert: rung.signals.Rang.size() > 56
"""


class Prompt:
    declares: ClassVar[dict[str, Any]] = {"clock": "virtual"}
    late = 0

    def __init__(self) -> None:
        self.now = 0
        self.jobs: list[int] = []
        self.bells: list[int] = []
        self.rang = 0

    def wait(self, ms: int) -> None:
        self.now += ms
        every = 1000 + self.late
        for number, since in enumerate(self.bells):
            times = (self.now - since) // every
            self.rang += times
            self.bells[number] = since + times * every

    def start(self) -> dict[str, Any]:
        self.jobs.append(self.now)
        return {"job_id": f"j{len(self.jobs)}"}

    def hang(self) -> dict[str, Any]:
        self.bells.append(self.now)
        return {"bell_id": f"b{len(self.bells)}"}

    def inspect(self, job: str) -> dict[str, Any]:
        if job not in [f"j{number}" for number in range(1, len(self.jobs) + 1)]:
            raise Refused("not_found")
        end = self.jobs[int(job[1:]) - 1] + 1000 + self.late
        over = end <= self.now
        return {"job_id": job, "status": "failed" if over else "waiting", "ended_at": end if over else None}

    def signals(self) -> list[dict[str, Any]]:
        rang, self.rang = self.rang, 0
        return [{"signal": "Rang"}] * rang


class InBetween(Prompt):
    late = 25


class AtTheEnd(Prompt):
    late = 50


class TooSoon(Prompt):
    late = -1


class TooLate(Prompt):
    late = 51


@pytest.mark.parametrize(
    ("system", "row"), [(Prompt, "N1"), (InBetween, "N1"), (AtTheEnd, "N1"), (Prompt, "N2"), (AtTheEnd, "N2")]
)
def test_any_instant_of_a_window_is_right(system: type, row: str) -> None:
    found = row_result(system, row, compile_text(SPEC, "window.yaml"), budget=BRIEF)
    assert found.verdict is Verdict.PASS, found.reason


def test_where_there_are_too_many_instants_nobody_is_accused() -> None:
    found = row_result(InBetween, "N2", compile_text(SPEC, "window.yaml"), budget=BRIEF)
    assert found.verdict in (Verdict.PASS, Verdict.COULD_NOT_TELL), found.reason


@pytest.mark.parametrize("system", [TooSoon, TooLate])
def test_no_other_instant_is(system: type) -> None:
    found = row_result(system, "N1", compile_text(SPEC, "window.yaml"), budget=BRIEF)
    assert found.verdict is Verdict.FAIL, found.reason
