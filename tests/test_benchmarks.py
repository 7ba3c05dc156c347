"""What benchmarks know of the wrong systems is what there is, and as many are told right as the documents say."""

from __future__ import annotations

import pytest
import yaml

from benchmarks.diagnosing import KNOWN, agrees, told_of
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
