"""What a vectors file says, and that the runner in Python sees everything that is wrong, and accuses nobody who is right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from conformance.refused import Refused
from conformance.vectors import as_itf, as_json, exported
from statemachines.specs import schema
from tests.checking import compile_text
from tests.tools.vectors import run_vectors

SPEC = """
lifecycle: small
version: 1
about: A job runs until it is done, and may say so twice.

limits:
  most: {default: 2}
policies:
  again: {one of: [quiet, loud], default: any}

entities:
  Job:
    id: minted
    fields: {label: Label}
    states: {active: [running], terminal: [done]}
    shows: {job_id: job.id, label: job.label, status: job.state}

types:
  Label: {text: short}
  JobId: {id of: Job, or: fresh}

signals:
  Done: {job: JobId}

operations:
  start:
    takes: {label: Label}
    requires:
      full: jobs.filter(j, j.active).size() < limits.most
    create: {Job: {label: label}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
    signal: {Done: {with: {job: job.id}}}
  inspect:
    takes: {job: Job}
    gives: job
  echo:
    gives: policies.again

matrix:
  N1:
    about: A job that is finished is done, and tells of it.
    level: must
    source: the handbook, chapter 3
    covers: [operations.finish.move, operations.inspect.gives]
    act:
      - job = start('a')
      - finish(job.job_id)
    assert: inspect(job.job_id).status == done
  N2:
    about: Two at once are one after the other.
    level: must
    source: the handbook, chapter 4
    needs: concurrency
    covers: [operations.start]
    act:
      - told = together(start('a'), start('b'))
    assert: told[0].refused == null
"""


class Small:
    """A right system of the small spec."""

    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, Any]] = {}
        self.sent: list[dict[str, Any]] = []

    def start(self, label: str) -> Any:
        """Begin a job."""
        if sum(job["status"] == "running" for job in self.jobs.values()) >= 2:
            raise Refused("full")
        job = f"job {len(self.jobs)}"
        self.jobs[job] = {"job_id": job, "label": label, "status": "running", "more": "than is asked"}
        return {"job_id": job}

    def finish(self, job: str) -> Any:
        """End it."""
        if self.inspect(job)["status"] == "done":
            raise Refused("wrong_state")
        self.jobs[job]["status"] = "done"
        self.sent.append({"signal": "Done", "job": job})

    def inspect(self, job: str) -> Any:
        """Show it."""
        if job not in self.jobs:
            raise Refused("not_found")
        return dict(self.jobs[job])

    def echo(self) -> Any:
        """Give one of two words, and always the same."""
        return "loud"

    def wait(self, ms: int) -> None:
        """Let time pass, on which nothing depends."""

    def signals(self) -> Any:
        """Give the signals since."""
        sent, self.sent = self.sent, []
        return sent


class WrongAnswer(Small):
    """It shows another label."""

    def inspect(self, job: str) -> Any:
        return {**super().inspect(job), "label": "other"}


class MissingAnswer(Small):
    """It gives nothing."""

    def inspect(self, job: str) -> Any:
        super().inspect(job)


class ExtraSignal(Small):
    """It tells of an end twice."""

    def finish(self, job: str) -> Any:
        super().finish(job)
        self.sent *= 2


class MissingSignal(Small):
    """It tells of no end."""

    def signals(self) -> Any:
        return []


class Refuses(Small):
    """It refuses what it has to do."""

    def inspect(self, job: str) -> Any:
        raise Refused("not_found")


class Accepts(Small):
    """It does what it has to refuse."""

    def start(self, label: str) -> Any:
        try:
            return super().start(label)
        except Refused:
            return {"job_id": "one too many"}


class SameId(Small):
    """It gives all jobs one id."""

    def start(self, label: str) -> Any:
        job = super().start(label)["job_id"]
        self.jobs["job"] = {**self.jobs.pop(job), "job_id": "job"}
        return {"job_id": "job"}


class Crashes(Small):
    """It breaks."""

    def finish(self, job: str) -> Any:
        raise ZeroDivisionError


class Wavers(Small):
    """It gives now this word, now that: either is right alone, and both are not."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def echo(self) -> Any:
        self.asked += 1
        return "loud" if self.asked % 2 else "quiet"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("vectors") / "small.json"
    file.write_text(as_json(exported(compile_text(SPEC, "small.yaml"), {}, {})), encoding="utf-8")
    return file


def test_a_right_system_passes(small: Path) -> None:
    code, printed = run_vectors(small, Small)
    vectors = json.loads(small.read_text(encoding="utf-8"))["vectors"]
    assert (code, printed) == (0, f"{len(vectors)} passed\n")


@pytest.mark.parametrize(
    "system",
    [WrongAnswer, MissingAnswer, ExtraSignal, MissingSignal, Refuses, Accepts, SameId, Crashes, Wavers],
    ids=lambda each: each.__name__,
)
def test_whatever_is_wrong_fails(small: Path, system: Callable[[], Any]) -> None:
    code, printed = run_vectors(small, system)
    assert code == 1
    assert "failed: step " in printed
    assert "expected " in printed


def test_a_file_says_what_it_is_for_and_what_it_leaves_out(small: Path) -> None:
    said = json.loads(small.read_text(encoding="utf-8"))
    assert (said["format"], said["lifecycle"], said["revision"]) == (1, "small", 1)
    assert (said["limits"], said["policies"]) == ({"most": 2}, {"again": "any"})
    assert said["left_out"] == {"calls at once": 1}
    assert said["not_covered"] == []
    first = said["vectors"][0]
    assert (first["name"], first["rows"], first["level"]) == ("N1", ["N1"], "must")
    assert first["steps"][1]["arguments"] == {"job": {"$ref": [0, "job_id"]}}
    assert first["steps"][1]["answers"] == [{"signals": [{"signal": "Done", "job": {"$ref": [0, "job_id"]}}]}]


def test_limits_and_choices_are_those_that_are_asked_for() -> None:
    compiled = compile_text(SPEC, "small.yaml")
    said = json.loads(as_json(exported(compiled, {"most": 1}, {"again": "quiet"})))
    assert (said["limits"], said["policies"]) == ({"most": 1}, {"again": "quiet"})
    replies = [a["reply"] for v in said["vectors"] for s in v["steps"] if s["call"] == "echo" for a in s["answers"]]
    assert set(replies) == {"quiet"}


def test_a_file_is_of_the_form_that_its_schema_says(small: Path) -> None:
    validator = Draft7Validator(schema("vectors"))
    said = json.loads(small.read_text(encoding="utf-8"))
    assert [error.message for error in validator.iter_errors(said)] == []
    del said["vectors"][0]["steps"][0]["answers"]
    assert [error.message for error in validator.iter_errors(said)] == ["'answers' is a required property"]


def test_a_trace_has_a_state_for_each_step_and_each_beginning() -> None:
    found = exported(compile_text(SPEC, "small.yaml"), {}, {})
    trace = json.loads(as_itf(found))
    assert trace["#meta"]["format"] == "ITF"
    assert len(trace["states"]) == sum(1 + len(vector.calls) for vector in found.vectors)
    assert [state["#meta"]["index"] for state in trace["states"]] == list(range(len(trace["states"])))
    assert all(set(trace["vars"]) == state.keys() - {"#meta"} for state in trace["states"])


def test_a_list_in_the_order_of_ids_that_the_system_chooses_is_compared_in_any_order() -> None:
    text = SPEC.replace("  echo:\n", "  list:\n    gives: jobs.sortBy(j, j.id)\n  echo:\n")
    said = as_json(exported(compile_text(text, "small.yaml"), {}, {}))
    assert '"$unordered"' in said


@pytest.mark.thorough
def test_the_same_bytes_come_each_time(tmp_path: Path) -> None:
    spec = tmp_path / "small.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    for form in ("json", "itf"):
        written = set()
        for seed in ("1", "2"):
            command = [sys.executable, "-m", "conformance", "vectors", str(spec), "--as", form]
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            done = subprocess.run(command, env=environment, capture_output=True, check=True)
            written.add(done.stdout)
            assert b"left out: 1, calls at once" in done.stderr
        assert len(written) == 1


LEAVING = """
lifecycle: leaving
version: 1
about: What has ended may leave in silence, or when its time is over, and then it is told.
types:
  JobId: {id of: Job, or: fresh}
entities:
  Job:
    id: minted
    fields: {since: time}
    states: {active: [running], terminal: [ended]}
    after:
      ended: {in: 5, since: job.since, signal: {Late: {}}, remove: job}
on its own:
  delete:
    for each: {job: Job}
    when: job.state == ended
    remove: job
signals:
  Late: {}
operations:
  start:
    create: {Job: {since: now}}
    gives: {job: job.id}
  stop:
    takes: {job: Job}
    move: running -> ended
matrix:
  N1:
    about: A job ends long after it should have.
    level: must
    source: the handbook, chapter 5
    covers: [operations.stop]
    act: [job = start(), wait(51), stopped = stop(job.job)]
    assert: stopped.refused == null
"""


def test_one_state_may_be_come_to_with_a_signal_and_without() -> None:
    document = json.loads(as_json(exported(compile_text(LEAVING, "leaving.yaml"), {}, {})))
    (stop,) = (each for each in document["vectors"][0]["steps"] if each["call"] == "stop")
    told = [[signal["signal"] for signal in each.get("signals", ())] for each in stop["answers"]]
    assert sorted(told) == [[], ["Late"]]
