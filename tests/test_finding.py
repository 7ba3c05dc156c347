"""What the benchmark of the searches counts: a finding stays one where a system does not close, and what cannot be asked is told."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import finding
from benchmarks.finding import Outcome, Trial, tried
from conformance.references.task_progress import TaskProgress
from conformance.system import HarnessError
from conformance.system.adapter import Adapter


class NeverComplete(TaskProgress):
    """No batch is complete."""

    def _is_complete(self, tasks: Any) -> bool:
        return False


def trial_of(monkeypatch: pytest.MonkeyPatch, system: type) -> Trial:
    monkeypatch.setattr(finding, "_systems", lambda name, kind: [system])
    return Trial("task-progress", "one caller", 0, 0, ("stateful", "walks"), None)


def test_a_finding_is_one_also_where_the_system_does_not_close(monkeypatch: pytest.MonkeyPatch) -> None:
    def close(self: Adapter) -> None:
        raise HarnessError("it does not close")

    wrong = trial_of(monkeypatch, NeverComplete)
    assert tried(wrong).by
    monkeypatch.setattr(Adapter, "close", close)
    assert tried(wrong).by


def test_of_a_right_system_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tried(trial_of(monkeypatch, TaskProgress))
    assert (found.by, found.broken) == ("", 0)


def test_what_was_found_in_one_round_and_in_all_is_told_and_what_could_not_be_asked() -> None:
    outcomes = [
        Outcome("A", "walks", 1.0, "x"),
        Outcome("B", "walks", 9.0, "x", 3),
        Outcome("C", "", 60.0, "", broken=1),
    ]
    told = finding._told(outcomes, 60.0)
    assert told.startswith("   1 of    3 ( 33 %), in 60 s    2 of    3 ( 66 %)")
    assert told.endswith("walks 2; 1 could not be asked everything")
