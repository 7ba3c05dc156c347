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
        "walks": USUAL.walks // 4,
        "pairs": USUAL.pairs // 4,
        "waiting_seconds": 30.0,
    }


def test_the_searches_of_a_system_that_settles_wait_for_no_longer_than_their_budget() -> None:
    assert USUAL.settling(0) == USUAL.settling(2) == USUAL
    late = USUAL.settling(50)
    assert [
        USUAL.stateful_tests > late.stateful_tests > 0,
        USUAL.walks > late.walks > 0,
        USUAL.pairs > late.pairs > 0,
    ] == [True] * 3
    assert less(late).keys() == {"stateful_tests", "walks", "pairs"}
    assert less(USUAL.settling(10_000)) == {"stateful_tests": 1, "walks": 1, "pairs": 1}
    assert USUAL.quick().pairs > USUAL.quick().settling(50).pairs == pytest.approx(late.pairs / 4, abs=1)


@pytest.mark.parametrize("milliseconds", [0, 66, 198, 5_000])
@pytest.mark.parametrize("costly", [False, True])
def test_what_is_cut_down_for_a_system_is_not_cut_down_again_where_it_is_handed_on(
    milliseconds: int, costly: bool
) -> None:
    once = USUAL.for_system(milliseconds, costly=costly)
    assert once.for_system(milliseconds, costly=costly) == once
    assert once.pairs <= USUAL.settling(milliseconds).pairs
    assert once.walks == (0 if costly else USUAL.settling(milliseconds).walks)
    assert once.quick().for_system(milliseconds, costly=costly) == once.quick()


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
