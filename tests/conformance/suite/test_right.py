"""Right systems of different construction, and the reference: none of them is ever accused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from conformance.budget import USUAL, Budget
from conformance.verdict import EXIT_CONFORMS, MACHINE, RowResult, Verdict
from statemachines.lifecycle import Row
from tests.conformance.lifecycles import SUITES, Suite, System, named, pairs
from tests.conformance.systems import BRIEF, explained, whole_run
from tests.right.thread_job import MachineJobs, RealClockJobs

pytestmark = pytest.mark.thorough

RUNS = {
    "brief": (0, BRIEF),
    "whole": (0, USUAL),
    "quick-1": (1, USUAL.quick()),
    "quick-2": (2, USUAL.quick()),
}  # by seed


def runs() -> Iterator[Any]:
    """Every right system with every run; `make test` takes a brief one of two of each life cycle, the soak the rest."""
    for suite, system in pairs(lambda suite: suite.right):
        for run, (seed, budget) in RUNS.items():
            later = () if run == "brief" and system in suite.right[:2] else pytest.mark.soak
            name = f"{suite.name}-{named(system)}-{run}"
            yield pytest.param(suite, system, seed, budget, marks=later, id=name)


@pytest.mark.parametrize(("suite", "system", "seed", "budget"), list(runs()))
def test_a_right_system_conforms(suite: Suite, system: System, seed: int, budget: Budget) -> None:
    code, results = whole_run(system, suite.compiled, seed=seed, budget=budget)
    wrong = [each for each in results if each.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)]
    assert not wrong, "\n\n".join(map(explained, wrong))
    assert code == EXIT_CONFORMS
    assert [each.id for each in results] == [*suite.compiled.lifecycle.rows, MACHINE]
    missing = {each.id: each.reason for each in results if each.verdict is Verdict.NOT_APPLICABLE}
    expected = needing(suite, system)
    assert missing.keys() == expected.keys(), missing
    assert {row: reason for row, reason in missing.items() if expected[row] not in reason} == {}
    assert [each.id for each in results if each.verdict is Verdict.PASS and not witnessed(each)] == []


def witnessed(result: RowResult) -> bool:
    """Whether a row ran and every clause that it covers was seen, which alone makes it pass."""
    return result.runs > 0 and all(result.witnesses.values())


def needing(suite: Suite, system: System) -> dict[str, str]:
    """The rows that a declaration puts out of reach, each with what it needs and does not get."""
    words = {"clock": "virtual" if hasattr(system, "wait") else "none"} | getattr(system, "declares", {})
    spec = suite.compiled.lifecycle
    limits = {name: limit.default for name, limit in spec.limits.items()} | words.get("limits", {})
    policies = {name: policy.default.text for name, policy in spec.policies.items()} | words.get("policies", {})
    declared = Words({f"limits_{name}": limit for name, limit in limits.items()})
    declared |= {f"policies_{name}": choice for name, choice in policies.items()}
    found = {row.id.text: lacking(row, words, declared) for row in spec.rows.values()}
    return {row: reason for row, reason in found.items() if reason}


class Words(dict[str, Any]):
    """What names stand for; the choice of a policy stands for itself."""

    def __missing__(self, name: str) -> str:
        return name


def lacking(row: Row, words: Mapping[str, Any], declared: Words) -> str:
    """What one row needs that is not declared, read from the row's text: nothing of the kit's decides here."""
    for need in (expr.text for expr in row.needs):
        if need == "clock":
            if words["clock"] not in ("virtual", "running"):
                return f"clock: {words['clock']}"
        elif need == "concurrency":
            if words.get("concurrency", "async") == "none":
                return "concurrency: none"
        elif " " not in need:
            if need in words.get("lacks", ()):
                return need
        elif not eval(in_python(need), {}, declared):  # noqa: S307 - text of our own spec
            return need
    return ""


def in_python(need: str) -> str:
    """The text of a need as Python has it."""
    text = re.sub(r"\b(limits|policies)\.", r"\1_", need)
    return text.replace("null", "None").replace("&&", "and").replace("||", "or")


def test_there_is_something_to_explain() -> None:
    """Two of the right systems cannot do everything, so the comparison above is not one of nothing."""
    thread_job = SUITES["thread-job"]
    assert set(needing(thread_job, MachineJobs)) >= {"E2", "X7", "B3"}
    assert set(needing(thread_job, RealClockJobs)) >= {"B2", "B3", "B4", "X6"}


@pytest.mark.parametrize("suite", SUITES.values(), ids=named)
def test_every_row_applies_to_a_reference_unless_it_is_one_of_another_policy_or_limit(suite: Suite) -> None:
    lacking = needing(suite, suite.reference)
    assert [row for row, need in lacking.items() if not need.startswith(("policies.", "limits."))] == []
