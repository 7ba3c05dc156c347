"""How a case begins: what a default reads is there before it, in whatever order it is written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checking import compile_text

SPEC = """\
lifecycle: small
version: 1
about: Rooms in which jobs run.
entities:
  Room:
    fixed: [r1, r2]
    fields:
      number: {type: int, default: NUMBER}
  Job:
    id: minted
    fields: {room: Room}
variables:
  open:  {type: int, default: OPEN}
  other: {type: int, default: 7}
operations:
  start:
    takes: {room: Room}
    create: {Job: {room: room}}
    gives: {job_id: job.id}
  look:
    takes: {room: Room}
    gives: {number: room.number, open: open, other: other}
matrix:
  N1:
    about: A job is started in a room.
    level: must
    source: the test
    covers: [entities.Job, operations.start]
    act:
      - job = start(r1)
    assert: true
"""


@pytest.mark.parametrize(
    ("number", "opened", "values"),
    [
        ("jobs.size()", "1", (0, 1)),
        ("rooms.size()", "1", (0, 1)),
        ("other", "1", (7, 1)),
        ("open + other", "other", (14, 7)),
        ("3", "r2.number", (3, 3)),
        ("3", "rooms.size()", (3, 2)),
        ("now", "jobs.size() + rooms.size()", (0, 2)),
    ],
)
def test_what_a_default_reads_is_there_before_it(number: str, opened: str, values: tuple[int, int]) -> None:
    text = SPEC.replace("NUMBER", number).replace("OPEN", opened)
    model: Any = compile_text(text, "small.yaml").model()
    assert (model.rooms["r1"].number, model.open) == values
