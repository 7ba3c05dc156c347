"""What a row witnesses in each order of its calls at once; a pass is a weak one where only another order witnesses the rest."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.verdict import Verdict
from statemachines.checks import witnessed_by_order
from statemachines.compile import load
from statemachines.rows import RowCompiler
from tests.checking import compile_text
from tests.conformance.systems import explained, row_result

JOBS = compile_text(
    """
lifecycle: jobs
version: 1
about: A job runs until it is done; only some jobs can be asked for their progress.
limits:
  most: {default: 2, about: jobs that are asked}
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done, failed]}
    fields: {asked: {type: bool, default: false}}
    shows: {job_id: job.id, status: job.state}
operations:
  start: {create: {Job: {}}, gives: {job_id: job.id}}
  ask:
    takes: {job: Job}
    requires: {too_many: "jobs.filter(j, j.asked).size() < limits.most"}
    set: {job.asked: true}
  finish: {takes: {job: Job}, move: running -> done, otherwise: unchanged}
  fail: {takes: {job: Job}, move: running -> failed, otherwise: refused wrong_state}
  inspect: {takes: {job: Job}, gives: job}
matrix:
  N1:
    about: Of three jobs one is too many.
    level: must
    source: the test
    covers: [operations.ask.set, operations.ask.requires]
    needs: [concurrency]
    arrange:
      - jobs = repeat(3, start())
    act:
      - together(ask(jobs[0].job_id), ask(jobs[1].job_id), ask(jobs[2].job_id))
    assert: inspect(jobs[0].job_id).status == running
  N2:
    about: It is done, whoever is first; which is wrong.
    level: must
    source: the test
    covers: [operations.finish.move, operations.fail.move]
    needs: [concurrency]
    arrange:
      - job = start()
    act:
      - together(finish(job.job_id), fail(job.job_id))
    assert: inspect(job.job_id).status == done
  N3:
    about: A job that ends in two ways at once ends in one of them.
    level: must
    source: the test
    covers: [operations.finish.move, operations.fail.otherwise]
    needs: [concurrency]
    arrange:
      - job = start()
    act:
      - together(finish(job.job_id), fail(job.job_id))
    assert: inspect(job.job_id).status != running
""",
    "jobs.yaml",
)


class Jobs:
    """A right system, that lets more jobs be asked than there are."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none", "concurrency": "threads", "limits": {"most": 9}}

    def __init__(self) -> None:
        self.jobs: dict[str, str] = {}
        self.asked: set[str] = set()

    def start(self) -> dict[str, str]:
        self.jobs[f"job-{len(self.jobs)}"] = "running"
        return {"job_id": [*self.jobs][-1]}

    def ask(self, job: str) -> None:
        asked = {*self.asked}
        asked.add(job)

    def inspect(self, job: str) -> dict[str, str]:
        return {"job_id": job, "status": self.jobs[job]}


def by_order(row: str, **limits: int) -> list[frozenset[str]]:
    program = RowCompiler(JOBS.lifecycle).program(JOBS.lifecycle.rows[row])
    return witnessed_by_order(JOBS, program, {}, limits, {})


def test_what_only_one_order_witnesses_is_in_that_one() -> None:
    first, other = by_order("N3")
    assert first & {"operations.finish.move", "operations.fail.move"} == {"operations.finish.move"}
    assert other & {"operations.finish.move", "operations.fail.move"} == {"operations.fail.move"}


def test_what_no_order_witnesses_is_in_none() -> None:
    refused = "operations.ask.requires.too_many"
    assert all(refused in each for each in by_order("N1"))
    assert not any(refused in each for each in by_order("N1", most=9))


def test_of_a_row_that_an_order_breaks_nothing_is_known() -> None:
    assert by_order("N2") == []


def test_a_thread_may_be_busy_before_its_job_ends() -> None:
    compiled = load("thread-job")
    program = RowCompiler(compiled.lifecycle).program(compiled.lifecycle.rows["X65"])
    found = witnessed_by_order(compiled, program, {}, {}, {})
    assert all("messages.Ended.due" in each for each in found)
    assert {"on its own.wake_up" in each for each in found} == {True, False}


def test_what_no_order_witnesses_was_not_exercised() -> None:
    result = row_result(Jobs, "N1", JOBS)
    assert result.verdict is Verdict.NOT_EXERCISED, explained(result)
