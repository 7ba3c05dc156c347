"""What benchmarks know of the wrong systems is what there is, as many are told right as the documents say, and what is found counts."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from benchmarks import finding
from benchmarks.diagnosing import KNOWN, agrees, told_of
from benchmarks.finding import Outcome, Trial, tried
from conformance.references.task_progress import TaskProgress
from conformance.system import Adapter, HarnessError
from statemachines.kernel import within
from tests.conformance.lifecycles import SUITES

LABELS: dict[str, dict[str, list[str]]] = yaml.safe_load(KNOWN.read_text(encoding="utf-8"))
AT_LEAST = 80  # of a hundred: fewer, and something that told them is broken


def test_each_label_is_of_a_wrong_system_and_names_a_clause() -> None:
    assert sum(map(len, LABELS.values())) == 100
    for lifecycle, labels in LABELS.items():
        suite = SUITES[lifecycle]
        assert labels.keys() <= {each.__name__ for each in suite.sequential}
        paths = [clause.path for clause in suite.compiled.kernel.clauses]
        own = [f"operations.{name}" for name in suite.compiled.lifecycle.operations]
        own += [f"define.{each.name}" for each in suite.compiled.kernel.definitions]
        for clauses in labels.values():
            for clause in clauses:
                assert clause in own or any(within(path, clause) for path in paths), clause


def test_a_clause_agrees_with_what_it_is_in_and_with_what_is_in_it() -> None:
    assert agrees("operations.finish.set.job.payload", "operations.finish.set")
    assert agrees("operations.finish", "operations.finish.move")
    assert not agrees("operations.finish_all", "operations.finish")
    assert not agrees("", "operations.finish")


@pytest.mark.thorough
def test_most_wrong_systems_are_told_by_the_clause_that_they_break() -> None:
    told = {(life, name): told_of(life, name) for life, labels in LABELS.items() for name in labels}
    right = [key for key, each in told.items() if any(agrees(each.clause, one) for one in LABELS[key[0]][key[1]])]
    assert len(right) >= AT_LEAST, sorted(told.keys() - set(right))


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
