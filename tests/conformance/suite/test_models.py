"""The model of each life cycle as a system of its own, in all its ways, and without one thing that is only recommended."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suite.machine import MACHINE
from conformance.verdict import EXIT_CONFORMS, Verdict
from statemachines.compile import load
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import BRIEF, explained, whole_run
from tests.other_specs.systems import WAYS, system

HELD = (Verdict.PASS, Verdict.NOT_APPLICABLE)
DECLARED = {"clock": "virtual", "concurrency": "threads"}
# One lock around a model is no thread-safe waiting: who waits with it keeps all others waiting.
DECLARES = {name: {**DECLARED, "concurrency": "none"} if name == "background-tasks" else DECLARED for name in SUITES}


def accused(lifecycle: str, way: dict[str, Any], only: tuple[str, ...] | None = None) -> list[str]:
    """What is said of a right system beside that it passes."""
    compiled = load(lifecycle)
    code, results = whole_run(system(compiled, way, DECLARES[lifecycle]), compiled, budget=BRIEF, only=only)
    return [explained(each) for each in results if each.verdict not in HELD or code != EXIT_CONFORMS]


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way) or "plain")
@pytest.mark.parametrize("lifecycle", SUITES)
def test_the_model_conforms_in_each_way_of_being_right(lifecycle: str, way: dict[str, Any]) -> None:
    assert accused(lifecycle, way) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("lifecycle", "path", "rows"),
    [
        ("job", "operations.dispose.set.disposed", {"E10", "E62", "E69", "E75"}),
        ("job", "operations.dispose.for each.job", {"E10"}),
        ("thread-job", "messages.Ended.outlives", {"X1", "X25", "X50"}),
        ("task-progress", "operations.create_task.create.Task.state", {"E4"}),
    ],
)
def test_one_recommended_thing_that_a_system_lacks_is_one_cause(lifecycle: str, path: str, rows: set[str]) -> None:
    """It calls its operations after what the spec leaves open all the same, and crashes there: nobody is to blame for that."""
    compiled = load(lifecycle)
    lacking = system(compiled.without([path]), {}, DECLARES[lifecycle])
    code, results = whole_run(lacking, compiled, budget=BRIEF, only=[*rows, MACHINE])
    found = {each.id: each.counterexample for each in results if each.verdict is not Verdict.PASS}
    assert {row: shown.cause for row, shown in found.items() if shown is not None} == dict.fromkeys(rows, path)
    assert found.keys() == rows
    assert code == EXIT_CONFORMS
