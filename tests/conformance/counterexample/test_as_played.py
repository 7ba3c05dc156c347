"""The calls of a counterexample as they were made: what each gave, which are wrong, and what some order explains."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.counterexample.as_played import FIRST_MADE, MOST_MADE, as_played, partly_explained
from conformance.judge import Finding, History
from conformance.references.thread_job import ACTIVE, Reply, ThreadJobs
from conformance.suite import Run
from conformance.system import Declaration
from conformance.verdict import NO_ANSWER, Verdict
from statemachines.rows import Observed
from tests.conformance.systems import adapted, thread_job
from tests.faulty.thread_job.concurrency import ToldTwice
from tests.faulty.thread_job.telling import ToldAtEveryBoundary


def started(call: str, job: str, began: int, ended: int) -> Observed:
    reply = {"mode": "background", "job_id": job, "status": "running"}
    arguments: dict[str, Any] = {"thread": "t1", "tool_call": call, "tool": "bash"}
    return Observed("start", arguments, reply, began=began, ended=ended)


def told(*events: Any) -> tuple[int, ...]:
    return partly_explained(thread_job(), Declaration(), USUAL, events)


# --- what some order explains -----------------------------------------------------------------------------


def test_of_two_records_with_one_id_an_order_explains_the_first_that_ended() -> None:
    twice = History(((started("a", "job-1", 1, 4),), (started("b", "job-1", 2, 3),)))
    assert told(twice) == (1,)


def test_an_order_that_explains_everything_is_found() -> None:
    right = History(((started("a", "job-1", 1, 4),), (started("b", "job-2", 2, 3),)))
    assert sorted(told(right)) == [0, 1]


def test_what_ended_before_another_began_comes_before_it_in_any_order() -> None:
    one_by_one = History(((started("a", "job-1", 3, 4),), (started("b", "job-2", 1, 2),)))
    assert told(one_by_one) == (1, 0)


def test_a_call_that_never_came_back_is_in_no_order() -> None:
    """It has a place, and gave nothing: nothing can be compared with it."""
    crashed = Observed("list_jobs", {"thread": "t1"}, began=5)
    wrong = Observed("list_jobs", {"thread": "t1"}, [], began=6, ended=8)
    assert told(History(((crashed,), (wrong,), (started("a", "job-1", 3, 4),)))) == (2,)


def test_a_call_that_took_time_says_how_long() -> None:
    wait = Observed("wait_for_completion", {"timeout": 1000}, reply=True, elapsed=25, began=1, ended=2)
    made = [replace(wait, reply=given, elapsed=ms) for given, ms in ((True, 25), (None, 25), (True, 0))]
    assert [each.gave for each in as_played(made, None)] == ["true after 25 ms", "nothing after 25 ms", "true"]


class OneListIsStaleAndAnotherCrashes(ThreadJobs):
    """Of a thread in which a job has failed the first list lacks when, and the others do not come back."""

    listed = 0

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        found = super().list_jobs(thread, statuses)
        if not any(each["status"] == "failed" for each in found):
            return found
        self.listed += 1
        if self.listed > 1:
            raise KeyError("gone")
        return [each | {"completed_at": None} for each in found]


def test_a_crash_beside_a_wrong_list_is_told() -> None:
    found = shown(OneListIsStaleAndAnotherCrashes, "X58")
    assert "KeyError" in found.seen
    assert NO_ANSWER in {made.gave for made in found.played}


def test_of_one_call_after_another_and_after_what_is_not_explained_nothing_is_told() -> None:
    wrong = (started("a", "job-1", 1, 2), started("b", "job-1", 3, 4))
    right = History(((started("c", "job-3", 5, 8),), (started("d", "job-4", 6, 7),)))
    assert told() == told(started("a", "job-1", 1, 2)) == ()
    assert told(*wrong, right) == ()


# --- the calls --------------------------------------------------------------------------------------------


def test_the_call_of_the_finding_is_the_wrong_one() -> None:
    events = [
        started("a", "job-1", 1, 2),
        Observed("finish", {"job": "job-1", "outcome": "completed", "payload": "x"}, began=3, ended=4),
        Observed("cancel", {"job": "job-1"}, refused="not_found", began=5, ended=6),
    ]
    first, second, last = as_played(events, Finding("refused", "operations.cancel", "cancel", "accepted", "refused"))
    assert first.call == "start(thread='t1', tool_call='a', tool='bash')"
    assert first.gave == "{mode: 'background', job_id: 'job-1', status: 'running'}"
    assert (second.gave, last.gave) == ("", "refused not_found")
    assert [each.wrong for each in (first, second, last)] == [False, False, True]
    assert [each.step for each in (first, second, last)] == [1, 2, 3]
    assert not any(each.wrong for each in as_played(events, None))


def test_calls_at_once_have_one_step_their_caller_and_their_place() -> None:
    twice = History(
        ((started("a", "job-1", 1, 4),), (started("b", "job-1", 2, 3),)), (("TurnTriggered", (("thread", "t1"),)),)
    )
    found = as_played([twice], Finding("order", "operations.start", "start", "an order", "none"), (1,))
    assert [(each.step, each.caller, each.place, each.wrong) for each in found] == [(1, 0, 0, True), (1, 1, 1, False)]
    assert [each.signals for each in found] == [(), ("signal TurnTriggered(thread: 't1')",)]


def test_a_call_that_did_not_come_back_is_the_wrong_one_whatever_an_order_explains() -> None:
    hung = History(((started("a", "job-1", 1, 4),), (Observed("start", {}, began=2),)))
    found = as_played([hung], Finding("hang", "operations.start", "start", "answers", "hangs"), (0,))
    assert [(each.gave == NO_ANSWER, each.wrong, each.place) for each in found] == [(False, False, 0), (True, True, 0)]


def test_of_a_long_story_the_beginning_and_the_end_are_kept() -> None:
    events = [started("a", f"job-{number}", number, number) for number in range(1, 3 * MOST_MADE)]
    found = as_played(events, Finding("reply", "operations.start.gives", "start", "", ""))
    assert len(found) == MOST_MADE
    assert [each.step for each in found[FIRST_MADE - 1 : FIRST_MADE + 1]] == [FIRST_MADE, 2 * MOST_MADE + FIRST_MADE]
    assert found[-1].wrong


def test_a_long_text_is_told_without_its_middle() -> None:
    (made,) = as_played([Observed("finish", {"payload": "x" * 9999}, reply="y" * 9999, began=1, ended=2)], None)
    assert len(made.call) < 500
    assert "(9999 characters)" in made.gave


# --- whole runs -------------------------------------------------------------------------------------------


def shown(system: type, row: str) -> Any:
    with adapted(system) as adapter:
        (result,) = Run(thread_job(), adapter, rows=row, budget=USUAL.quick()).go().rows
    assert result.verdict is Verdict.FAIL
    return result.counterexample


def test_a_run_tells_the_calls_and_what_the_ids_were() -> None:
    found = shown(ToldAtEveryBoundary, "N4")
    assert len(found.played) == found.calls
    assert [each.wrong for each in found.played] == [False, False, False, True]
    assert found.ids["job.job_id"] in found.played[-1].gave


@pytest.mark.thorough
def test_a_race_is_told_with_the_longest_part_that_some_order_explains() -> None:
    found = shown(ToldTwice, "B4")
    at_once = [each for each in found.played if each.step == found.played[-1].step]
    assert {each.caller for each in at_once} == {0, 1}
    assert [each.place for each in at_once if not each.wrong] == [1]
    assert [each.place for each in at_once if each.wrong] == [0]
    one, other = at_once
    assert max(one.began, other.began) < min(one.ended, other.ended)
