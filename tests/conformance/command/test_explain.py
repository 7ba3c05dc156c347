"""What can be explained beside rows and clauses: what a system may declare, and what it does beside its replies."""

from __future__ import annotations

import pytest

from conformance.command.explain import explain_choice, explain_clause, explained
from conformance.skeleton import skeleton
from conformance.suite.row_facts import inapplicable
from statemachines.compile import load
from statemachines.rows.words import RowWords
from tests.conformance.systems import adapted
from tests.faulty.job.choices import SlotsForEachOwner, choosing

JOB = load("job")


@pytest.mark.parametrize(
    ("lifecycle", "name", "said"),
    [
        (
            "job",
            "cancelled_told",
            "one of never, at_once; never is only recommended: who declares nothing may do as any of these says",
        ),
        ("job", "cancelled_told", "needed by N16, E82, E49"),
        ("job", "id_reuse", "one of yes, no; yes where nothing is declared"),
        ("job", "id_reuse", "read by is_free"),
        ("job", "limits.retention", "300000 where nothing else is declared"),
        ("job", "signals.delivered", "job: id of Job, text: Text | null"),
        (
            "local-agent",
            "prompt",
            "one of shown, not_shown; who declares nothing may do as any of these says",
        ),
    ],
)
def test_what_a_system_may_declare_is_explained(lifecycle: str, name: str, said: str) -> None:
    assert f"  {said}" in explain_choice(load(lifecycle), name).splitlines()


def test_a_group_is_all_that_is_in_it_and_another_name_is_nothing() -> None:
    told = explain_choice(JOB, "policies")
    assert [name for name in JOB.lifecycle.policies if explain_choice(JOB, name) not in told] == []
    assert explain_choice(JOB, "policies.retention") == explain_choice(JOB, "nonsense") == ""


def test_a_part_is_the_operations_that_it_has() -> None:
    told = explain_choice(JOB, "parts.tool")
    assert {"tool_result", "abort_tool"} < set(told.split())
    assert explain_choice(JOB, "parts").endswith(told)
    assert explained(JOB, "parts") == explain_choice(JOB, "parts")
    assert "configure" in explained(JOB, "manager").split()


def test_a_loop_says_which_records_it_is_about() -> None:
    clause = JOB.kernel.clause("operations.dispose.for each.job")
    assert "for each job in jobs, where job.state == running" in explain_clause(JOB, clause)


def test_a_skeleton_names_the_policies_that_need_no_declaration() -> None:
    written = skeleton(JOB, "python")
    recommended = [name for name, policy in JOB.lifecycle.policies.items() if policy.is_recommended]
    assert [name for name in recommended if f": {name} = " not in written] == []
    assert f'"{recommended[0]}"' not in written


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (SlotsForEachOwner, "nothing else is declared than limit_counts = everyones"),
        (choosing(SlotsForEachOwner, limit_counts="everyones"), "declared is limit_counts = everyones"),
    ],
    ids=["undeclared", "declared"],
)
def test_a_row_that_does_not_apply_says_whether_that_was_declared(system: type, said: str) -> None:
    row = JOB.lifecycle.rows["B26"]
    with adapted(system, JOB) as adapter:
        assert inapplicable(JOB, RowWords(JOB.lifecycle), adapter, row).endswith(f", and {said}")
