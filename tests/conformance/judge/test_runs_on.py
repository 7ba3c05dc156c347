"""By a clock that runs on, the kit knows of a call only between which instants it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge.finding import Finding
from tests.checking import compile_text
from tests.conformance.judge.test_passing import SPEC, flickered, seen
from tests.conformance.systems import Watched, at_once


class Running(Watched):
    """The judge of a lamp, a candle and a clock, by a clock that runs on."""

    def at(self, first: int, last: int, operation: str, *arguments: Any, **came: Any) -> Finding | None:
        """Judge a call that was made between two instants."""
        return self.step(replace(self.call(operation, *arguments, **came), within=(first, last)))


def running(settles: int = 0, **more: Any) -> Running:
    watching = Running(SPEC, clock="running", settles=settles, **more)
    assert watching.at(0, 4, "light", gives={"lamp": "a"}) is None
    return watching


@pytest.mark.parametrize("number", [0, 1])
def test_a_timer_that_may_be_due_has_fired_or_not(number: int) -> None:
    assert running().at(9, 12, "look", "a", gives=seen(number)) is None


TWO_LAMPS = """
lifecycle: lamps
version: 1
about: A lamp goes out ten milliseconds after it was lit.
entities:
  Lamp:
    id: minted
    fields: {since: time}
    states: {active: [lit], terminal: [out]}
    after:
      lit: {in: 10, since: lamp.since, move: out}
operations:
  light:
    create: {Lamp: {since: now}}
    gives: {lamp: lamp.id}
  look:
    takes: {lamp: Lamp}
    gives: {out: lamp.terminal}
matrix: {}
"""


def test_what_was_found_for_one_instant_is_not_taken_for_another() -> None:
    """Whether the timer of the one or the other was due depends on when they were lit, of which several answers are tried."""
    watching = Running(compile_text(TWO_LAMPS, "lamps.yaml"), clock="running")
    assert watching.at(0, 4, "light", gives={"lamp": "a"}) is None
    assert watching.at(0, 4, "light", gives={"lamp": "b"}) is None
    assert watching.at(9, 12, "look", "a", gives={"out": True}) is None


def test_a_timer_that_is_not_yet_due_has_not_fired() -> None:
    assert running().at(5, 9, "look", "a", gives=seen(0)) is None
    assert running().at(5, 9, "look", "a", gives=seen(1)) is not None


def test_a_timer_that_is_over_for_sure_has_fired() -> None:
    assert running().at(15, 20, "look", "a", gives=seen(1)) is None
    assert running().at(15, 20, "look", "a", gives=seen(0)) is not None


def test_a_timer_may_come_as_late_as_the_system_settles() -> None:
    for first, right in ((15, True), (24, True), (25, False)):
        assert (running(settles=10).at(first, 30, "look", "a", gives=seen(0)) is None) is right


def test_what_has_fired_stays_so() -> None:
    watching = running()
    assert watching.at(9, 12, "look", "a", gives=seen(1)) is None
    assert watching.at(12, 13, "look", "a", gives=seen(0)) is not None


def test_a_wait_moves_the_clock_by_what_the_kit_saw() -> None:
    watching = running()
    assert watching.at(15, 16, "wait", 2) is None
    assert watching.at(16, 17, "look", "a", gives=seen(0)) is not None


def test_calls_at_once_were_within_the_same_instants() -> None:
    for number, within, right in ((0, (9, 12), True), (1, (9, 12), True), (0, (15, 20), False), (1, (5, 9), False)):
        watching = running()
        calls = [watching.call("look", "a", gives=seen(number)) for _ in range(2)]
        event = replace(at_once(calls), within=within)
        assert (watching.step(event) is None) is right


def test_a_signal_comes_while_its_window_may_be_open() -> None:
    for first, last, right in ((8, 9, False), (8, 10, True), (14, 19, True)):
        watching = Running(SPEC, clock="running")
        assert watching.at(0, 0, "kindle") is None
        assert (watching.at(first, last, "wait", 1, signals=flickered(10)) is None) is right


def test_where_time_decides_it_is_told_from_where_it_does_not() -> None:
    watching = running()
    assert not watching.judge.hangs_on_time()
    assert watching.at(15, 20, "look", "a", gives=seen(1)) is None
    assert watching.judge.hangs_on_time()


def test_more_answers_than_are_looked_at_leave_the_judge_unsure() -> None:
    watching = Running(SPEC, replace(USUAL, answers=1), clock="running")
    assert watching.at(0, 4, "light", gives={"lamp": "a"}) is None
    assert watching.at(9, 12, "look", "a", gives=seen(0)) is None
    assert watching.judge.unsure


@pytest.mark.parametrize("first", "ab")
def test_of_two_timers_that_may_be_due_either_has_fired_and_the_other_one_not_yet(first: str) -> None:
    """Neither has to: that both fire in any order does not make the one that fires first the same in all ways."""
    watching = Running(compile_text(TWO_LAMPS, "lamps.yaml"), clock="running")
    for lamp in "ab":
        assert watching.at(0, 1, "light", gives={"lamp": lamp}) is None
    other = "b" if first == "a" else "a"
    assert watching.at(11, 12, "look", first, gives={"out": True}) is None
    assert watching.at(11, 13, "look", other, gives={"out": False}) is None


@pytest.mark.parametrize(("operation", "arguments"), [("wait", (1,)), ("hang", ())])
def test_a_signal_that_did_not_come_is_missed_when_its_window_is_closed(operation: str, arguments: tuple[int]) -> None:
    for settles, first, right in ((0, 15, True), (0, 16, False), (10, 25, True), (10, 26, False)):
        watching = Running(SPEC, clock="running", settles=settles)
        assert watching.at(0, 0, "kindle") is None
        found = watching.at(first, first + 9, operation, *arguments)
        assert (found is None) is right
        assert found is None or "Flickered" in found.expected


def test_a_signal_is_missed_after_calls_at_once_too() -> None:
    for first, right in ((15, True), (16, False)):
        watching = Running(SPEC, clock="running")
        assert watching.at(0, 0, "kindle") is None
        assert (watching.step(replace(at_once([watching.call("kindle")]), within=(first, first + 9))) is None) is right
