"""A message that carries messages of its own kind has no end: it is told as a fault of the spec."""

from __future__ import annotations

import pytest

from tests.checking import check_text

SPEC = """\
lifecycle: small
version: 1
about: Messages about jobs.
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done]}
    shows: {job_id: job.id, told: SHOWN}
messages:
  Ended:
    about: Job
    due: terminal
    carries: {job_id: job.id, more: "MORE"}
  Failed:
    about: Job
    due: terminal
    carries: {job_id: job.id, more: "OTHER"}
operations:
  start:
    create: {Job: {}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
  look:
    gives: {ended: sent.Ended, failed: sent.Failed}
matrix:
  N1:
    about: A job is started.
    level: must
    source: the test
    covers: [entities.Job, operations.start]
    act:
      - job = start()
    assert: true
"""


def endless(more: str, other: str = "1", shown: str = "1") -> list[str]:
    text = SPEC.replace("MORE", more).replace("OTHER", other).replace("SHOWN", shown)
    return [each.message for each in check_text(text, "small.yaml").diagnostics if each.code == "endless-definition"]


@pytest.mark.parametrize(
    ("more", "other", "shown"),
    [
        ("due.Ended", "1", "1"),
        ("due.Ended.filter(m, m.job_id == job.id)", "1", "1"),
        ("sent.Failed", "due.Ended", "1"),
        ("job", "1", "due.Ended"),
    ],
)
def test_a_message_that_carries_messages_of_its_kind_is_a_fault(more: str, other: str, shown: str) -> None:
    assert "a message Ended carries messages Ended" in endless(more, other, shown)


@pytest.mark.parametrize(
    ("more", "other", "shown"),
    [("due.Ended.size()", "1", "1"), ("due.Failed.size()", "due.Ended", "1"), ("job", "1", "1"), ("1", "job", "1")],
)
def test_what_comes_to_an_end_is_none(more: str, other: str, shown: str) -> None:
    assert endless(more, other, shown) == []
