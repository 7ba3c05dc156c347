"""What the system chooses: ids that have a form, and parts of replies and signals of which the spec gives an example."""

from __future__ import annotations

from typing import Any

import pytest

from statemachines.bounds import USUAL
from statemachines.checks.choices import watched
from statemachines.model import Signal
from statemachines.rows.compiler import RowCompiler
from statemachines.rows.model_subject import ModelSubject
from statemachines.rows.programs import Observed
from tests.checking import compile_text
from tests.conformance.systems import Watched, signal

SPEC = compile_text(
    """
lifecycle: chosen
version: 1
about: A job is started, and tells of itself in words of its own.
types:
  JobId: {id of: Job}
  Line: {record: {jobId: JobId, text: text}}
entities:
  Job: {id: minted, states: {active: [running]}}
signals:
  Told: {lines: {subset of: Line}}
operations:
  start:
    takes: {wanted: {type: text, default: "''"}}
    create:
      Job:
        id: if wanted != '' && jobs.all(j, j.id != wanted) then wanted else minted('j', 4)
    gives: {job_id: job.id}
  tell:
    signal: {Told: {with: {lines: "jobs.map(j, Line(j.id, such_as('a job')))"}}}
    gives: {text: such_as('so many'), count: jobs.size()}
matrix:
  N1:
    about: The example is what a row sees.
    level: must
    source: the test
    covers: [operations.tell]
    act:
      - job = start()
      - told = tell()
    assert: told.text == 'so many' && told.signals.Told == [told.signals.Told[0]] && told.signals.Told[0].lines.map(l, l.text) == ['a job']
""",
    "chosen.yaml",
)


def line(job: str, text: Any = "x") -> dict[str, Any]:
    return {"jobId": job, "text": text}


def told(*lines: dict[str, Any]) -> Signal:
    return signal("Told", lines=list(lines))


@pytest.fixture
def jobs() -> Watched:
    """A judge of two jobs."""
    found = Watched(SPEC)
    found.must("start", gives={"job_id": "j123"})
    found.must("start", gives={"job_id": "jabc"})
    return found


def test_an_id_begins_as_it_has_to_and_has_so_many_characters() -> None:
    for given in ("k123", "j12", "j1234", "j"):
        finding = Watched(SPEC)("start", gives={"job_id": given})
        assert finding is not None
        assert (finding.kind, finding.clause) == ("identity", "entities.Job.id")


def test_an_id_that_was_wanted_is_given_unless_it_is_in_use() -> None:
    watching = Watched(SPEC)
    watching.must("start", "x", gives={"job_id": "x"})
    assert watching("start", "y", gives={"job_id": "j123"}) is not None
    watching = Watched(SPEC)
    watching.must("start", "x", gives={"job_id": "x"})
    watching.must("start", "x", gives={"job_id": "j123"})


def test_what_is_an_example_may_be_anything_of_its_type(jobs: Watched) -> None:
    lines = told(line("j123", "one"), line("jabc", "another"))
    jobs.must("tell", gives={"text": "whatever", "count": 2}, signals=[lines])
    assert jobs("tell", gives={"text": "whatever", "count": 3}, signals=[lines]) is not None


def test_the_order_of_a_set_does_not_count_and_its_members_do(jobs: Watched) -> None:
    reply = {"text": "x", "count": 2}
    jobs.must("tell", gives=reply, signals=[told(line("jabc"), line("j123"))])
    assert jobs("tell", gives=reply, signals=[told(line("jabc"))]) is not None


def test_signals_at_once_are_matched_in_the_same_way(jobs: Watched) -> None:
    reply = {"text": "x", "count": 2}
    lines = [told(line("jabc"), line("j123", "y")), told(line("j123"), line("jabc"))]
    calls = jobs.call("tell", gives=reply), jobs.call("tell", gives=reply)
    assert jobs.group(*calls, signals=lines) is None
    calls = jobs.call("tell", gives=reply), jobs.call("tell", gives=reply)
    assert jobs.group(*calls, signals=lines[:1]) is not None


def test_rows_see_the_example() -> None:
    program = RowCompiler(SPEC.lifecycle).program(SPEC.lifecycle.rows["N1"])
    model: Any = watched(SPEC, USUAL)()
    program.run(ModelSubject(model, SPEC.kernel, (), lenient=True, eager=False), {})
    answer: Observed = ModelSubject(model, SPEC.kernel, (), lenient=True, eager=False).call("tell", {})
    assert answer.value == {"text": "so many", "count": 1}
