"""What is told of calls that a counterexample makes at once."""

from __future__ import annotations

from dataclasses import replace

from conformance.report.calls_at_once import CALLS_TOLD, at_once_told
from conformance.report.content import failing
from conformance.verdict import Counterexample, Made, RowResult, Verdict

MADE = (
    Made(1, "create_task(label='a')", "{task_id: 't-1'}", began=1, ended=2),
    Made(2, "message(task='t-1')", "", caller=0, began=3, ended=8),
    Made(2, "finish(task='t-1')", "", caller=1, signals=("signal Ended(task: 't-1')",), began=4, ended=5),
    Made(2, "progress(task='t-1')", "{uses: 0}", caller=1, began=6, ended=7),
    Made(2, "status(task='t-1')", "'done'", caller=2, began=9, ended=0),
    Made(3, "progress(task='t-1')", "{uses: 1}", began=10, ended=11),
)
FOUND = Counterexample(
    "C1:", 6, "operations.finish", "0", "1", played=MADE, ids={"task.task_id": "t-1"}, matter="reply"
)


def test_each_call_is_told_with_what_it_gave_and_after_which_it_began_and_then_what_all_of_them_have_sent() -> None:
    assert at_once_told(FOUND).split("\n") == [
        "1: message(task=task.task_id) → nothing",
        "2: finish(task=task.task_id) → nothing",
        "3: progress(task=task.task_id) → {uses: 0}",
        "4: status(task=task.task_id) → 'done' (began after 1, 2 and 3 had come back)",
        "of all of them: signal Ended(task: task.task_id)",
    ]


def test_that_no_signal_came_is_told_where_some_may_have_been_due() -> None:
    silent = replace(FOUND, played=tuple(replace(each, signals=()) for each in MADE), seen="message → null; no signal")
    assert at_once_told(silent).split("\n")[-1] == "of all of them: no signal"
    assert "of all of them" not in at_once_told(replace(silent, seen="message → null"))


def test_one_caller_alone_and_calls_that_give_nothing_are_not_told() -> None:
    assert at_once_told(replace(FOUND, played=MADE[:1] + MADE[-1:])) == ""
    silent = [replace(each, gave="", signals=()) for each in MADE[1:5]]
    assert at_once_told(replace(FOUND, played=tuple(silent))) == ""


def test_of_a_crowd_the_first_are_told() -> None:
    crowd = tuple(Made(1, f"poll(caller={number})", "[]", caller=number, began=1, ended=2) for number in range(30))
    lines = at_once_told(replace(FOUND, played=crowd)).split("\n")
    assert len(lines) == CALLS_TOLD + 1
    assert lines[-1] == f"… and {30 - CALLS_TOLD} calls more at once with these"


def test_a_row_says_it_beside_what_was_seen_or_in_place_of_an_order_that_there_is_not() -> None:
    row = RowResult("X1", "About", "must", Verdict.FAIL, counterexample=FOUND)
    facts = dict(failing(row, {}).facts)
    assert (facts["seen"], facts["at once"]) == ("1", at_once_told(FOUND))
    order = replace(row, counterexample=replace(FOUND, matter="order  "))
    facts = dict(failing(order, {}).facts)
    assert facts["seen"] == at_once_told(FOUND)
    assert "at once" not in facts
