"""Instants that nobody saw: which of them may be before which, and that answers agree with each other."""

from __future__ import annotations

from conformance.system.instants import Instant, each_answer, earliest, latest


def answers(*questions: tuple[int, int]) -> set[tuple[bool, ...]]:
    """Every way to answer whether the one of each pair is over when the other one comes."""
    return {
        found
        for found in each_answer(lambda: tuple(now >= due for due, now in questions), most=100)
        if found is not None
    }


def test_a_deadline_that_is_certainly_over_or_to_come_is_not_asked_about() -> None:
    started = Instant((10, 20), "start")
    assert answers((started + 100, Instant((120, 130), "later"))) == {(True,)}
    assert answers((started + 100, Instant((100, 109), "sooner"))) == {(False,)}
    assert answers((started + 100, 200), (started + 100, 50)) == {(True, False)}


def test_one_between_may_be_over_or_not() -> None:
    started, now = Instant((10, 20), "start"), Instant((105, 115), "now")
    assert answers((started + 100, now)) == {(True,), (False,)}


def test_answers_about_two_instants_agree() -> None:
    started, now = Instant((10, 20), "start"), Instant((105, 115), "now")
    due = [(started + ms, now) for ms in (90, 95, 100)]
    assert answers(*due) == {
        (True, True, True),
        (True, True, False),
        (True, False, False),
        (False, False, False),
    }
    assert answers(due[2], (due[2][0] + 0, now)) == {(True, True), (False, False)}


def test_what_was_done_is_in_the_order_in_which_it_was_seen() -> None:
    one, two = Instant((10, 20), 1), Instant((18, 30), 2)
    assert answers((one, two)) == {(True,)}
    assert answers((two, one)) == {(False,)}
    assert sorted([two, one]) == [one, two]


def test_instants_are_the_same_only_if_they_were_one() -> None:
    assert Instant((1, 2), 1) == Instant((1, 2), 1)
    assert Instant((1, 2), 1) != Instant((1, 2), 2)
    assert len({Instant((1, 2), 1), Instant((1, 2), 1), Instant((1, 2), 1) + 1}) == 2


def test_bounds_move_with_an_instant() -> None:
    later = Instant((1, 4), 1) + 10
    assert (earliest(later), latest(later), earliest(7), latest(7)) == (11, 14, 7, 7)
    assert Instant((5, 9), 1) - Instant((2, 3), 2) == 3


def test_more_answers_than_are_wanted_are_told() -> None:
    now = Instant((0, 100), "now")
    due = [(Instant((each, each + 100), each) + 1, now) for each in range(5)]
    found = list(each_answer(lambda: [at <= instant for at, instant in due], most=8))
    assert len(found) == 9
    assert found[-1] is None
