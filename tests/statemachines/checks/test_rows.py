"""Whether a row holds on the model, whatever a right implementation chooses."""

from __future__ import annotations

import pytest

from statemachines.checks.rows import holds
from statemachines.compile import load
from tests.checking import check_text

HEAD = "C1:\n  about: A row.\n  level: must\n  source: here\n  covers: [operations.messages.gives]\n  act:\n"
STEPS = {
    "idle": ["job = start(t1, fresh, bash)", "finish(job.job_id, completed, 'x')", "set_idle(t1, true)"],
    "boundary": ["job = start(t1, fresh, bash)", "finish(job.job_id, completed, 'x')", "turn_boundary(t1)"],
    "full": ["jobs = repeat(limits.retained, start(t1, fresh, bash))"],
}


@pytest.mark.parametrize(
    ("steps", "claim", "expected"),
    [
        ("idle", "last.size() == 1", False),  # whether it is told at once or at a boundary is open
        ("idle", "last.size() <= 1", True),
        ("idle", "true", True),
        ("boundary", "last.size() == 1", True),
        ("boundary", "last.size() == 0", False),
        ("boundary", "last.nothing == 0", False),  # not typed
        ("full", "jobs.size() == 2", True),
        ("full", "jobs.size() == 20", False),
    ],
)
def test_a_row_holds_when_every_choice_and_what_is_declared_lets_it(steps: str, claim: str, expected: bool) -> None:
    lines = [*STEPS[steps], "last = messages(t1)"]
    row = HEAD + "".join(f"    - {line}\n" for line in lines) + f"  assert:\n    - {claim}\n"
    assert holds(load("thread-job"), row, {"retained": 2}, {}) == expected


@pytest.mark.parametrize(("tie", "expected"), [("completion", True), ("id", False)])
def test_a_row_that_needs_ids_in_order_does_not_hold(tie: str, expected: bool) -> None:
    steps = ["one = start(t1, fresh, bash)", "two = start(t1, fresh, bash)"]
    steps += [f"finish({job}.job_id, completed, 'x')" for job in ("one", "two")]
    row = HEAD + "".join(f"    - {line}\n" for line in [*steps, "told = turn_boundary(t1)"])
    row += "  assert:\n    - told.map(m, m.job_id) == [one.job_id, two.job_id]\n"
    assert holds(load("thread-job"), row, {"retained": 2}, {"tie": tie}) == expected


RACE = "cancel_task(task.task_id), finish(task.task_id, completed, 'x')"


@pytest.mark.parametrize(
    ("calls", "claim", "expected"),
    [
        (RACE, "last.status == canceled || raced[0] == false", False),
        (RACE, "last.status == completed || raced[0] == true", True),
        (f"[{RACE}], list()", "last.status == canceled", True),
        (f"[{RACE}], cancel_task(task.task_id)", "last.status == canceled", True),
    ],
)
def test_a_row_holds_however_late_a_call_ends_that_comes_in_two_parts(calls: str, claim: str, expected: bool) -> None:
    """A cancel looks whether the task runs, and asks it later, but before its caller goes on."""
    row = HEAD.replace("messages", "list") + f"    - task = spawn('x')\n    - raced = together({calls})\n"
    row += f"    - last = list()[0]\n  assert:\n    - {claim}\n"
    assert holds(load("background-tasks"), row, {}, {}) == expected


COPIED = """\
lifecycle: small
version: 1
about: A job runs until it is done; whether one that is done can be copied nobody says.

limits:
  size: {default: 2}

entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done]}

operations:
  start:
    create: {Job: {}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
  copy:
    takes: {old: Job}
    open: {not_copied: old.terminal}
    create: {Job: {}}
    gives: {job_id: job.id}
  inspect:
    takes: {job: Job}
    gives: job.state

matrix:
  N1:
    about: A copy of a job runs.
    level: must
    source: the test
    covers: [entities.Job, operations.start, operations.finish.move, operations.copy, operations.inspect.gives]
    needs: limits.size >= LEAST
    act:
      - job = start()
      - started = repeat(limits.size, start())
      - finish(job.job_id)
      - another = copy(job.job_id)
    assert:
      - CLAIM
"""


@pytest.mark.parametrize(
    ("least", "claim", "where"),
    [
        (0, "another.refused != null || inspect(another.job_id) == running", "what may be refused is refused"),
        (0, "inspect(job.job_id) == done && (another.refused != null || inspect(another.job_id) == running)", ""),
        (0, "started.all(s, inspect(s.job_id) == running)", "limits.size = 0"),
        (1, "started.all(s, inspect(s.job_id) == running)", ""),
    ],
)
def test_a_row_comes_to_what_it_covers_whatever_a_right_system_declares_or_refuses(
    least: int, claim: str, where: str
) -> None:
    text = COPIED.replace("LEAST", str(least)).replace("CLAIM", claim)
    found = check_text(text, "small.yaml").diagnostics
    assert [each.code for each in found] == ["not-witnessed"] * bool(where)
    assert all("operations.inspect.gives" in each.message and where in each.message for each in found)
