"""Systems that answer nothing of use: every MUST row fails against each of them, for want of nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.verdict import EXIT_VIOLATES, MACHINE, RowResult, Verdict
from tests.conformance.lifecycles import SUITES, Suite, named, pairs
from tests.conformance.systems import explained, row_result, shrinking, whole_run

pytestmark = pytest.mark.thorough

SLOW = ("job", "background-tasks")  # which `constant` keeps busy for long
HASTY = shrinking(0.02)  # there is a counterexample; how short is another test's business


@pytest.mark.parametrize("suite", SUITES.values(), ids=named)
def test_there_are_five_of_them(suite: Suite) -> None:
    assert set(suite.dead) == {"silent", "constant", "echo", "accepts_everything", "refuses_everything"}


def systems() -> Iterator[Any]:
    """One of each life cycle, and one that answers with what it was asked; the soak takes the rest."""
    for suite, name in pairs(lambda suite: suite.dead):
        now = name == ("silent" if suite.name in SLOW else "constant") or (suite.name, name) == ("thread-job", "echo")
        yield pytest.param(suite, name, marks=() if now else pytest.mark.soak, id=f"{suite.name}-{name}")


@pytest.mark.parametrize(("suite", "name"), list(systems()))
def test_every_must_row_fails_against_a_dead_system_and_no_row_passes(suite: Suite, name: str) -> None:
    code, results = whole_run(suite.dead[name], suite.compiled, budget=HASTY)
    results = [declaring_otherwise(suite, name, each) for each in results]
    wrong = [each for each in results if each.level == "must" and each.verdict is not Verdict.FAIL]
    assert not wrong, "\n\n".join(map(explained, wrong))
    assert code == EXIT_VIOLATES
    rows = [
        each.id for each in results if not each.id.startswith(f"{MACHINE}-")
    ]  # the searches find more than one fault
    assert rows == [*suite.compiled.lifecycle.rows, MACHINE]
    assert [each.id for each in results if each.verdict is Verdict.PASS] == []
    assert [each.id for each in results if each.verdict is Verdict.FAIL and each.counterexample is None] == []


def declaring_otherwise(suite: Suite, name: str, result: RowResult) -> RowResult:
    """The result of a row, under the policy and the limit that it needs where the default is another one."""
    if result.verdict is not Verdict.NOT_APPLICABLE:
        return result
    needs = " ".join(need.text for need in suite.compiled.lifecycle.rows[result.id].needs)
    system = suite.dead[name]
    policies = dict(re.findall(r"policies\.(\w+) == (\w+)", needs))
    policies |= {name: other_than(suite, name, value) for name, value in re.findall(r"policies\.(\w+) != (\w+)", needs)}
    limits = dict.fromkeys(re.findall(r"limits\.(\w+) != null", needs), 100)
    limits |= dict.fromkeys(re.findall(r"limits\.(\w+) < 1", needs), 0)
    declares = vars(system)["declares"] | {"policies": policies, "limits": limits}
    return row_result(type(name, (system,), {"declares": declares}), result.id, suite.compiled, budget=HASTY)


def other_than(suite: Suite, policy: str, value: str) -> str:
    """Another value of a policy."""
    return next(each.text for each in suite.compiled.lifecycle.policies[policy].choices if each.text != value)
