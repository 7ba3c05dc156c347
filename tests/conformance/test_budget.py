"""How much less a quick run does, and one of a system of which each call takes long."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, replace

import pytest

from conformance.budget import USUAL, Budget
from tests.conformance.systems import REFERENCE, row_result, thread_job


def less(budget: Budget) -> dict[str, object]:
    """What a budget says otherwise than the usual one."""
    usual = asdict(USUAL)
    return {name: value for name, value in asdict(budget).items() if value != usual[name]}


def test_a_quick_run_draws_nothing_and_makes_a_quarter_of_the_rest() -> None:
    assert less(USUAL.quick()) == {
        "whole": False,
        "examples": 0,
        "examples_at_once": 0,
        "schedules": 10,
        "schedules_of_all": 40,
        "schedules_of_each": 1,
        "schedules_of_crowd": 1,
        "stateful_tests": 1,
        "walks": 3,
        "pairs": 40,
        "waiting_seconds": 30.0,
    }


def test_the_searches_of_a_system_that_settles_wait_for_no_longer_than_their_budget() -> None:
    assert USUAL.settling(0) == USUAL.settling(2) == USUAL
    assert less(USUAL.settling(50)) == {"stateful_tests": 2, "walks": 8, "pairs": 115}
    assert less(USUAL.settling(10_000)) == {"stateful_tests": 1, "walks": 1, "pairs": 1}
    assert [each.settling(50).pairs for each in (USUAL, USUAL.quick())] == [115, 28]


def test_of_a_costly_system_a_few_well_chosen_calls_have_to_do() -> None:
    assert less(USUAL.costly()) == {
        "examples": 0,
        "examples_at_once": 0,
        "schedules": 2,
        "schedules_of_each": 2,
        "schedules_of_crowd": 2,
        "more_schedules": 0,
        "stateful_tests": 2,
        "walks": 0,
        "prefilled": 20,
        "pairs": 10,
        "meetings": 1,
        "reproductions": 2,
        "shrink_seconds": 15.0,
        "shrink_seconds_at_once": 60.0,
    }


def test_a_quick_run_of_a_costly_system_makes_fewer_schedules_of_all_too() -> None:
    both = less(USUAL.quick().costly())
    assert both == {**less(USUAL.costly()), "whole": False, "schedules_of_all": 40, "waiting_seconds": 30.0}


def test_a_variant_keeps_what_somebody_chose_otherwise_and_changes_no_other_budget() -> None:
    patient = replace(USUAL, replay_seconds=60.0)
    assert patient.quick().replay_seconds == patient.costly().replay_seconds == 60.0
    assert patient != USUAL == Budget()
    with pytest.raises(FrozenInstanceError):
        patient.walks = 1  # type: ignore[misc]  # that is what must not be possible


def test_a_quick_run_tries_every_value_that_a_row_names() -> None:
    """One of three made a row about one below, at and one above a limit pass."""
    for row in ("E10", "N3"):
        asked = thread_job().lifecycle.rows[row]
        assert asked.each
        assert row_result(REFERENCE, row, quick=True).runs == row_result(REFERENCE, row).runs > 1
