"""Every wrong system is caught by the row that names its lie, with a short counterexample that replays."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance import evidence, replay
from conformance.adapter import Adapter
from conformance.verdict import RowResult, Verdict
from tests.conformance.systems import (
    REFERENCE,
    adapted,
    explained,
    row_result,
    thread_job,
    verdicts,
    whole_run,
)
from tests.faulty.thread_job import FAULTY, Lie, concurrency

LIMIT, SHORTER = 1.0, 0.4  # seconds for a call: two of the lies are deadlocks, and nothing else takes a tenth
ATTEMPTS = 10  # replays of a counterexample that depends on the schedule, of which one has to show it


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time to shrink, however busy the machine is."""
    monkeypatch.setattr(evidence, "SHRINK_SECONDS", 3 * evidence.SHRINK_SECONDS)


@pytest.mark.parametrize("system", FAULTY, ids=lambda system: f"{system.__name__}-{system.row}")
def test_the_row_that_names_a_lie_catches_it_shortly_and_again(system: type[Lie], tmp_path: Path) -> None:
    result = row_result(system, system.row, limit=LIMIT)
    assert result.verdict is Verdict.FAIL, explained(result)
    found = result.counterexample
    assert found is not None
    at_once = "together(" in found.row
    if not at_once:  # how far a race shrinks depends on the schedule
        assert found.calls <= system.calls, explained(result)
    path = replay.save(tmp_path, "thread-job", system.__name__, result.id, found.row)
    saved = replay.read(str(path))
    assert (saved.of, list(saved.compiled.lifecycle.rows)) == (system.row, [found.row.partition(":")[0]])
    with adapted(system, limit=SHORTER) as adapter:
        attempts = ATTEMPTS if at_once else 1
        assert any(again(saved, adapter).failed for _ in range(attempts)), found.row
    with adapted(REFERENCE) as adapter:
        right = again(saved, adapter)
    assert not right.failed, f"the reference fails it too: {right.reason}\n{found.row}"


def again(saved: replay.Saved, adapter: Adapter) -> replay.Replayed:
    """What comes of a saved counterexample, which is one row."""
    (replayed,) = replay.replay(saved, adapter)
    return replayed


def test_every_row_is_named_by_a_lie() -> None:
    named = {system.row for system in FAULTY}
    assert [row for row in thread_job().lifecycle.rows if row not in named] == []


def test_every_lie_names_a_row_and_says_what_it_is() -> None:
    assert {system.row for system in FAULTY} <= set(thread_job().lifecycle.rows)
    assert [system.__name__ for system in FAULTY if not (system.__doc__ or "").strip()] == []
    assert len({system.__name__ for system in FAULTY}) == len(FAULTY)


SEQUENTIAL: list[type[Lie]] = [system for system in FAULTY if system.__module__ != concurrency.__name__]
SAMPLE = random.Random("a lie fails the rows that it is about").sample(SEQUENTIAL, 6)


@pytest.mark.parametrize("system", SAMPLE, ids=lambda system: system.__name__)
def test_a_lie_fails_the_rows_that_it_is_about_and_no_crowd(system: type[Lie]) -> None:
    """At most a third of the matrix: the rows that only happen to see a fault leave it to those about it."""
    rows = thread_job().lifecycle.rows
    code, results = whole_run(system, only=list(rows))
    failing = {result.id: result for result in results if result.verdict is not Verdict.PASS}
    assert failing[system.row].verdict is Verdict.FAIL
    assert code == (1 if any(result.level == "must" for result in failing.values()) else 0)
    assert len(failing) <= len(rows) / 3, verdicts(results)
    assert all(explains(result) for result in failing.values()), verdicts(results)


def explains(result: RowResult) -> bool:
    """Whether a row that fails does so with a counterexample, and not for want of anything."""
    return result.verdict is Verdict.FAIL and result.counterexample is not None
