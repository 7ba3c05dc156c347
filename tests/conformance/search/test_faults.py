"""The faults that searches find: each once, and as it shows where nothing else is wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.judge import BESIDE, Finding
from conformance.search import Faults


def case(finding: Finding, *given: str) -> Any:
    """A case that came to a finding, after these other clauses were not followed."""
    return SimpleNamespace(faults=[finding], judge=SimpleNamespace(given=lambda _: given))


def complete(expected: bool) -> Finding:
    said = f"complete = {expected}"
    seen = f"complete = {not expected}"
    return Finding(
        "reply", "operations.batch_status.gives", "batch_status", said, seen, path="complete", value=expected
    )


def test_a_fault_that_shows_alone_stands_for_one_that_was_seen_beside_another() -> None:
    faults: Any = Faults(SimpleNamespace(silent=True))  # type: ignore[arg-type]  # no call is broken
    beside, alone, again = case(complete(False), "a"), case(complete(False)), case(complete(False))
    for each in (beside, alone, again):
        faults.take(each)
    assert [each.case for each in faults.found] == [alone]
    faults.take(beside)
    assert [each.case for each in faults.found] == [alone]


def test_a_yes_in_place_of_a_no_is_another_fault_than_a_no_in_place_of_a_yes() -> None:
    faults: Any = Faults(SimpleNamespace(silent=True))  # type: ignore[arg-type]  # no call is broken
    faults.take(case(complete(False)))
    faults.take(case(complete(True)))
    assert [each.finding.value for each in faults.found] == [False, True]


def test_what_one_clause_explains_counts_once_towards_enough_and_not_where_it_is_known() -> None:
    def left_out(operation: str, clause: str) -> Any:
        return case(Finding("reply", clause, operation, "1", "2", spoke_of=f"operations.{operation}.gives"))

    known: list[str] = []
    faults: Any = Faults(SimpleNamespace(silent=True), most=2, known=known)  # type: ignore[arg-type]  # no call is broken
    for operation in ("status", "message", "finish"):
        faults.take(left_out(operation, "operations.start.move"))
    assert (len(faults.found), faults.enough) == (3, False)
    faults.take(case(complete(False)))
    assert faults.enough
    known.append("operations.start.move")
    assert not faults.enough
    faults.take(case(complete(True)))
    assert faults.enough


def test_faults_that_somebody_has_declared_do_not_keep_others_from_being_looked_for() -> None:
    declared = ["operations.batch_status.gives"]
    faults: Any = Faults(SimpleNamespace(silent=True), declared=declared)  # type: ignore[arg-type]  # no call is broken
    faults.take(case(complete(False)))
    assert (len(faults.found), faults.enough) == (1, False)
    faults.take(case(Finding("crash", "operations.finish", "finish", "an answer", "an error")))
    assert faults.enough


def unordered(*operations: str) -> Finding:
    return Finding("order", f"operations.{operations[0]}", BESIDE.join(operations), "an order", "x → None")


def test_calls_at_once_that_no_order_explains_are_shown_by_fewer_of_their_operations() -> None:
    race = unordered("finish", "drain")
    assert unordered("drain").is_race_within(race)
    assert not race.is_race_within(race)
    assert not unordered("finish", "start").is_race_within(race)
    assert not unordered("finish", "drain", "start").is_race_within(race)
    assert not unordered("drain").explained_without("messages.Ended.due").is_race_within(race)
    assert not unordered("drain").shows([race])


@pytest.mark.parametrize("first", [("finish",), ("start", "finish")])
def test_a_race_of_one_operation_and_one_beside_another_are_two_faults(first: tuple[str, ...]) -> None:
    faults: Any = Faults(SimpleNamespace(silent=True))  # type: ignore[arg-type]  # no call is broken
    for operations in (first, *({("finish",), ("start", "finish")} - {first})):
        faults.take(case(unordered(*operations)))
    assert len(faults.found) == 2
