"""What is given as a copy stays as it was, also of a system whose replies settle some looks later."""

from __future__ import annotations

import copy
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar

import pytest

from conformance.refused import Refused
from conformance.verdict import Verdict
from tests.checking import compile_text
from tests.conformance.systems import explained, row_result

SPEC = """
lifecycle: small
version: 1
about: A job runs until it is done.
limits:
  max: {default: 10}
entities:
  Job:
    id: minted
    fields: {out: text}
    states: {active: [running], terminal: [done]}
    shows: {job_id: job.id, status: job.state, output: "document(job.out, limits.max, 1000)"}
operations:
  start:
    takes: {out: text}
    create: {Job: {out: out}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
  everything:
    copy: true
    gives: {jobs: jobs}
matrix:
  N1:
    about: What was given stays as it was.
    level: must
    source: the handbook, chapter 3
    covers: [operations.everything]
    act:
      - before = everything()
      - job = start('a text that is long enough for a file')
      - first = everything()
      - finish(job.job_id)
      - last = everything()
    assert:
      - last.jobs.map(j, j.status) == [done]
"""
SMALL = compile_text(SPEC, "small.yaml")


class Settles:
    """A right system: the output of a job is whole in its file, and an end is shown, a few looks later."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none", "settles": 100}
    at_once: int | None = 5  # characters of an output that are in its file from the start

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []
        self.shown: list[dict[str, Any]] = []
        self.looks = 0
        self.folder = Path(mkdtemp())

    def start(self, out: str) -> dict[str, Any]:
        file = self.folder / str(len(self.jobs))
        file.write_text(out[: self.at_once], encoding="utf-8")
        self.jobs.append({"job_id": file.name, "status": "running", "output": {"file": str(file)}})
        self.unwritten, self.shown, self.looks = (file, out), copy.deepcopy(self.jobs), 4
        return {"job_id": file.name}

    def finish(self, job: str) -> None:
        found = next((each for each in self.jobs if each["job_id"] == job), None)
        if found is None or found["status"] == "done":
            raise Refused("not_found" if found is None else "wrong_state")
        found["status"], self.looks = "done", 4

    def everything(self) -> dict[str, Any]:
        self.looks -= 1
        if self.looks == 0:
            self.shown = copy.deepcopy(self.jobs)
            file, out = self.unwritten
            file.write_text(out, encoding="utf-8")
        return {"jobs": copy.deepcopy(self.shown)}


class GivesItsOwnList(Settles):
    """The first list that it gave away is its own, and goes on growing."""

    at_once = None  # all of it: nothing but the list may tell
    given: list[dict[str, Any]] | None = None

    def everything(self) -> dict[str, Any]:
        found = super().everything()
        if self.given is not None and self.looks == 0:
            self.given[:] = copy.deepcopy(self.jobs)
        if self.given is None:
            self.given = found["jobs"]
        return found


@pytest.mark.parametrize(("system", "verdict"), [(Settles, Verdict.PASS), (GivesItsOwnList, Verdict.FAIL)])
def test_what_is_looked_at_again_is_what_a_call_settled_on(system: type[Settles], verdict: Verdict) -> None:
    result = row_result(system, "N1", SMALL, shortest=False)
    assert result.verdict is verdict, explained(result)
