"""The judge, fed by hand: what it accepts, what it calls a finding, and of which clause."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.budget import USUAL
from conformance.judge.differences import Listed, Times
from conformance.judge.finding import PRESENCE, Finding, short
from conformance.judge.matching import comparable
from statemachines.compile import load
from statemachines.model import ABSENT, Decision, Impossible, Outcome
from statemachines.rows import Observed
from tests.arguments import arguments
from tests.checking import compile_text
from tests.conformance.systems import (
    EVERY_STATUS,
    Watched,
    message,
    shown,
    signal,
    started,
    thread_job,
    turn,
)

INLINE = {"mode": "synchronous", "result": "x", "job_id": None, "status": None}
CANCEL = signal("CancelSent", job_id="a")
BOUNDARY = signal("BoundaryRequested", thread="t1")


def told(finding: Finding | None) -> tuple[str, str, str, str]:
    assert finding is not None
    return finding.kind, finding.clause, finding.expected, finding.seen


# --- ids --------------------------------------------------------------------------------------------------


def test_an_id_that_the_system_chose_stands_for_the_record_from_then_on() -> None:
    watched = Watched()
    watched.start("an id with spaces ✓")
    watched.must("inspect_job", "t1", "an id with spaces ✓", gives=shown("an id with spaces ✓"))
    assert told(watched("inspect_job", "t1", "job-1", gives=shown("job-1")))[0] == "accepted"


def test_an_id_of_a_retained_record_cannot_be_given_again() -> None:
    watched = Watched()
    watched.start("a")
    finding = watched("start", "t2", "another call", "bash", gives=started("a"))
    assert finding is not None
    assert finding.kind == "identity"
    assert finding.clause.startswith("entities.Job")
    assert finding.expected == "an id that no record has"


def test_an_id_may_come_again_when_its_record_is_gone() -> None:
    watched = Watched()
    watched.start("a")
    watched.must("restart")
    watched.start("a")


def test_a_start_gives_an_id_be_it_empty() -> None:
    kind, clause, expected, seen = told(Watched()("start", "t1", "c", "bash", gives=started("a") | {"job_id": None}))
    assert (kind, clause, expected) == ("shape", "operations.start.gives", "the id of the new Job as job_id")
    assert seen.startswith("no job_id, beside {")
    Watched().must("start", "t1", "c", "bash", gives=started("a") | {"job_id": ""})


def test_an_id_that_the_caller_chose_is_the_one() -> None:
    watched = Watched()
    assert told(watched("start_as", "t1", "c", "bash", "mine", gives=started("other")))[:2] == (
        "reply",
        "operations.start_as.gives",
    )


# --- accepted and refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "given", "came", "finding"),
    [
        (
            "start",
            ("t1", "call of a", "bash"),
            {"gives": started("b")},
            ("accepted", "entities.Call.unique.tool_call"),
        ),
        ("start", ("t1", "call of a", "bash"), {"refused": "already_resolved"}, None),
        (
            "start",
            ("t1", "call of a", "bash"),
            {"refused": "no"},
            ("refused", "entities.Call.unique.tool_call"),
        ),
        ("start", ("t1", "free", "bash"), {"refused": "already_resolved"}, ("refused", "operations.start")),
        ("start_as", ("t2", "free", "bash", "a"), {"refused": "duplicate_job_id"}, None),
        (
            "start_as",
            ("t2", "free", "bash", "a"),
            {"gives": started("a")},
            ("accepted", "entities.Job.unique.id"),
        ),
        ("start_as", ("t2", "call of a", "bash", "a"), {"refused": "duplicate_job_id"}, None),
        ("start_as", ("t2", "call of a", "bash", "a"), {"refused": "already_resolved"}, None),
        ("inspect_job", ("t1", "a"), {"refused": "not_found"}, ("refused", "operations.inspect_job")),
        ("inspect_job", ("t2", "a"), {"gives": shown("a")}, ("accepted", "entities.Job.private to")),
        ("inspect_job", ("t2", "a"), {"refused": "forbidden"}, ("refused", "entities.Job.private to")),
        ("request_cancel", ("t1", "z", "user"), {"refused": "not_found"}, None),
        ("request_cancel", ("t1", "z", "user"), {}, ("accepted", "operations.request_cancel.missing")),
        (
            "request_cancel",
            ("t1", "z", "user"),
            {"refused": "gone"},
            ("refused", "operations.request_cancel.missing"),
        ),
        ("retry_job", ("t1", "a"), {"refused": "manual_retry_not_supported"}, None),
        ("retry_job", ("t1", "a"), {}, ("accepted", "operations.retry_job.refuses")),
        ("report_progress", ("a",), {}, None),
        ("report_progress", ("a",), {"refused": "wrong_state"}, ("refused", "operations.report_progress")),
    ],
)
def test_an_answer_is_held_to_what_is_allowed_where_the_model_is(
    operation: str, given: tuple[Any, ...], came: dict[str, Any], finding: tuple[str, str] | None
) -> None:
    watched = Watched()
    watched.start("a")
    found = watched(operation, *given, **came)
    assert (found and (found.kind, found.clause)) == finding


def test_any_code_of_several_failing_requirements_is_right_even_where_one_is_open() -> None:
    """The call's job was evicted, so its code is open; the id is in use, so the start has to be refused."""
    for code in ("already_resolved", "duplicate_job_id"):
        watched = Watched(limits={"retained": 1})
        watched.ended("a")
        watched.ended("b")
        assert watched("start_as", "t1", "call of a", "bash", "b", refused=code) is None, code
    watched = Watched(limits={"retained": 1})
    watched.ended("a")
    watched.ended("b")
    assert watched("start_as", "t1", "call of a", "bash", "b", gives=started("b")) is not None


def test_an_answer_that_several_clauses_forbid_is_told_with_all_of_them() -> None:
    for came, kind in (({"gives": started("a")}, "accepted"), ({"refused": "no"}, "refused")):
        watched = Watched()
        watched.start("a")
        finding = watched("start_as", "t2", "call of a", "bash", "a", **came)
        assert finding is not None
        assert (finding.kind, finding.clause) == (kind, "entities.Call.unique.tool_call")
        assert finding.related == ("entities.Job.unique.id",)
        assert finding.expected == "refused already_resolved or duplicate_job_id"


def test_a_refusal_changes_nothing() -> None:
    watched = Watched()
    watched.start("a")
    watched.must("start", "t1", "call of a", "bash", refused="already_resolved")
    watched.must("list_jobs", "t1", gives=[shown("a")])


# --- what is left open ------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [{"refused": "already_resolved"}, {"gives": started("c")}])
def test_what_is_open_may_be_refused_or_carried_out(again: dict[str, Any]) -> None:
    watched = Watched(limits={"retained": 1})
    watched.ended("a")
    watched.ended("b")
    watched.must("start", "t1", "call of a", "bash", **again)
    running = [] if "refused" in again else [shown("c", tool_call="call of a")]
    watched.must("list_jobs", "t1", gives=running)
    assert told(watched("list_jobs", "t1", gives=[shown("d")]))[0] == "reply"


def test_what_is_open_is_not_refused_with_any_code() -> None:
    watched = Watched(limits={"retained": 1})
    watched.ended("a")
    watched.ended("b")
    assert told(watched("start", "t1", "call of a", "bash", refused="no"))[0] == "refused"


@pytest.mark.parametrize("answer", [{"refused": "whatever"}, {}, {"gives": {"odd": object()}}])
def test_where_nothing_changes_any_answer_is_right_and_none_is_compared(answer: dict[str, Any]) -> None:
    watched = Watched()
    watched.ended("a")
    assert watched.judge.lockstep.uncompared("finish", {"job": "a", "outcome": "failed", "payload": "y"})
    watched.must("finish", "a", "failed", "y", **answer)
    watched.must("finish", "nobody", "failed", "y", **answer)
    watched.must("inspect_job", "t1", "a", gives=shown("a", status="completed", completed_at=0))


# --- replies ----------------------------------------------------------------------------------------------


def test_a_part_of_a_reply_that_differs_is_told_with_its_clause_and_with_what_sets_it() -> None:
    watched = Watched()
    watched.start("a")
    finding = watched("inspect_job", "t1", "a", gives=shown("a", cancel_requested_at=3))
    assert told(finding) == (
        "reply",
        "operations.inspect_job.gives",
        "cancel_requested_at = null",
        "cancel_requested_at = 3",
    )
    assert finding is not None
    assert (finding.path, finding.value) == ("cancel_requested_at", None)
    assert finding.related == ("operations.request_cancel.set.job.cancel_requested_at",)


def test_what_a_message_carries_and_its_order_are_clauses_of_their_own() -> None:
    watched = Watched()
    for job in ("a", "b"):
        watched.ended(job)
    watched.must("turn_boundary", "t1", gives=[message("a"), message("b")], signals=[turn()])
    wrong = [message("a"), message("b", "y")]
    assert told(watched("messages", "t1", gives=wrong))[1] == "messages.Ended.carries.content"
    turned = [message("b"), message("a")]
    assert told(watched("messages", "t1", gives=turned)) == (
        "reply",
        "messages.Ended.order",
        "the order 'a', 'b'",
        "the order 'b', 'a'",
    )


def test_instants_are_compared_on_a_virtual_clock_only() -> None:
    for clock, found in (("virtual", "reply"), ("real", None), ("none", None)):
        watched = Watched(clock=clock)
        watched.start("a")
        finding = watched("inspect_job", "t1", "a", gives=shown("a", started_at=99))
        assert (finding and finding.kind) == found


def test_a_list_without_an_order_may_come_in_any() -> None:
    watched = Watched()
    watched.start("a")
    watched.start("b")
    watched.must("list_jobs", "t1", gives=[shown("b"), shown("a")])
    watched.must("list_jobs", "t1", ["running"], gives=[shown("a"), shown("b")])
    assert told(watched("list_jobs", "t1", gives=[shown("b")]))[2] == "'a' in the list"


# --- signals ----------------------------------------------------------------------------------------------


def cancelled(*signals: Any) -> tuple[Watched, Finding | None]:
    watched = Watched()
    watched.start("a")
    record = shown("a", status="pending_cancel", cancel_requested_at=0)
    return watched, watched("request_cancel", "t1", "a", "user", gives=record, signals=signals)


def test_a_signal_that_is_due_has_to_come_and_comes_once() -> None:
    clause = "operations.request_cancel.signal.CancelSent"
    missing = "no such signal (if it comes later, declare `settles`)"
    assert told(cancelled()[1]) == ("signal", clause, "signal CancelSent(job_id: 'a')", missing)
    assert cancelled(CANCEL)[1] is None
    twice = cancelled(CANCEL, CANCEL)[1]
    assert told(twice) == ("signal", clause, "no such signal", "signal CancelSent(job_id: 'a')")
    assert twice is not None
    assert (twice.path, twice.value) == ("CancelSent", Times(1, 1))


def test_a_signal_about_something_else_is_both_missing_and_too_many() -> None:
    assert told(cancelled(signal("CancelSent", job_id="b"))[1])[2] == "signal CancelSent(job_id: 'a')"
    assert told(cancelled(CANCEL, turn())[1])[2:] == ("no such signal", "signal TurnTriggered(thread: 't1')")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_signal_that_may_come_may(count: int) -> None:
    watched, _ = cancelled(CANCEL)
    watched.must("request_cancel", "t1", "a", "agent", refused="wrong_state", signals=[CANCEL] * count)


def test_what_may_come_with_one_call_may_not_come_with_the_next() -> None:
    watched, _ = cancelled(CANCEL)
    watched.must("request_cancel", "t1", "a", "agent", refused="wrong_state")
    assert told(watched("messages", "t1", gives=[], signals=[CANCEL]))[0] == "signal"


def test_a_signal_that_may_repeat_stands() -> None:
    watched = Watched()
    watched.ended("a")
    watched.must("turn_boundary", "t1", gives=[message("a")], signals=[turn(), turn(), turn()])
    watched.must("messages", "t2", gives=[], signals=[turn()])
    watched.must("wait", 5, signals=[turn()])
    assert told(watched("messages", "t2", gives=[], signals=[turn("t2")]))[2] == "no such signal"


def test_a_boundary_that_tells_nothing_triggers_nothing() -> None:
    assert told(Watched()("turn_boundary", "t1", gives=[], signals=[turn()]))[2] == "no such signal"


def test_no_signal_is_due_in_another_thread() -> None:
    watched = Watched()
    watched.ended("a")
    finding = watched("turn_boundary", "t1", gives=[message("a")], signals=[turn("t2")])
    assert told(finding)[1] == "operations.turn_boundary.signal.TurnTriggered"


# --- steps of the system's own ----------------------------------------------------------------------------


def test_becoming_idle_may_be_a_boundary_or_wait_for_one() -> None:
    waits, wakes = Watched(), Watched()
    for watched in (waits, wakes):
        watched.ended("a")
    waits.must("set_idle", "t1", True)
    waits.must("messages", "t1", gives=[])
    waits.must("turn_boundary", "t1", gives=[message("a")], signals=[turn()])
    wakes.must("set_idle", "t1", True, signals=[turn(), BOUNDARY])
    wakes.must("messages", "t1", gives=[message("a")])
    wakes.must("turn_boundary", "t1", gives=[])


def test_a_step_that_was_taken_shows_its_signal_when_it_is_taken() -> None:
    watched = Watched()
    watched.ended("a")
    watched.must("set_idle", "t1", True)
    assert told(watched("messages", "t1", gives=[message("a")]))[0] in ("reply", "signal")
    watched = Watched()
    watched.ended("a")
    watched.must("set_idle", "t1", True)
    watched.must("messages", "t1", gives=[message("a")], signals=[turn()])


def test_what_ended_in_an_idle_thread_has_to_be_told() -> None:
    watched = Watched()
    watched.must("set_idle", "t1", True)
    watched.start("a")
    watched.must("finish", "a", "completed", "x", signals=[BOUNDARY, turn()])
    assert told(watched("messages", "t1", gives=[]))[:2] == ("reply", "operations.messages.gives")


def test_a_boundary_has_to_be_requested_for_an_idle_thread() -> None:
    watched = Watched()
    watched.must("set_idle", "t1", True)
    watched.start("a")
    finding = watched("finish", "a", "completed", "x", signals=[turn()])
    assert told(finding)[1] == "operations.finish.signal.BoundaryRequested"


def test_a_thread_may_be_idle_or_busy_after_a_restart() -> None:
    for signals, messages in (((BOUNDARY, turn()), [message("b")]), ((), [])):
        watched = Watched()
        watched.must("set_idle", "t1", True)
        watched.must("restart")
        watched.start("b")
        watched.must("finish", "b", "completed", "x", signals=signals)
        watched.must("messages", "t1", gives=messages)


# --- files ------------------------------------------------------------------------------------------------


def test_two_messages_never_share_a_file_and_one_keeps_its_own() -> None:
    long = "x" * 30_000
    watched = Watched()
    watched.ended("a", payload=long)
    watched.ended("b", payload=long)
    first = [message("a", long, file="1.txt"), message("b", long, file="2.txt")]
    watched.must("turn_boundary", "t1", gives=first, signals=[turn()])
    watched.must("messages", "t1", gives=first)
    shared = [message("a", long, file="1.txt"), message("b", long, file="1.txt")]
    assert told(watched("messages", "t1", gives=shared))[:3] == (
        "file",
        "messages.Ended.carries.content",
        "a file of its own for every message",
    )


# --- What is open -----------------------------------------------------------------------------------------


def test_whether_a_call_is_refused_is_open_with_its_code_and_binds_no_other_call() -> None:
    watched = Watched(load("task-progress"))
    watched.must("batch_status", "unused", refused="no_such_batch")
    watched.must("batch_status", "unused", refused="not_found")
    watched.must("create_task", "x", "used", True, gives={"task_id": "a", "status": "pending"})
    assert told(watched("batch_status", "used", refused="no_such_batch"))[0] == "refused"


def test_a_task_that_cannot_be_registered_was_pending_and_has_failed() -> None:
    watched = Watched(load("task-progress"))
    watched.must("create_task", "x", "b", False, gives={"task_id": "a", "status": "pending"})
    watched.must("status", "a", gives="failed")
    assert not watched.judge.findings
    assert told(watched("create_task", "x", "b", False, gives={"task_id": "c", "status": "running"}))[0] == "reply"


@pytest.mark.parametrize("shown", ["running", "canceled"])
def test_a_task_that_is_spawned_after_all_were_cancelled_need_not_run(shown: str) -> None:
    watched = Watched(load("background-tasks"))
    watched.must("cancel_all")
    watched.must("spawn", "x", gives={"task_id": "a"}, signals=[("CancelSeen", (("task_id", "a"),))])
    row = {"task_id": "a", "label": "x", "block_count": 0, "recent": []}
    watched.must("list", gives=[{**row, "status": shown}])
    assert (watched("drain_completed", gives=[]) is None) == (shown == "running")


# --- SHOULD -----------------------------------------------------------------------------------------------


def test_what_is_only_recommended_is_a_finding_and_the_case_goes_on() -> None:
    watched = Watched()
    watched.ended("a")
    given = [message("a", tool=None, status=None)]
    watched.must("turn_boundary", "t1", gives=given, signals=[turn()])
    watched.must("messages", "t1", gives=given)
    findings = watched.judge.findings
    assert {each.clause for each in findings} == {
        "messages.Ended.carries.tool",
        "messages.Ended.carries.status",
    }
    assert all(each.should for each in findings)
    assert len(findings) == len({each.key for each in findings})
    assert told(watched("messages", "t1", gives=[]))[0] == "reply"


def test_another_code_for_an_unknown_record_is_a_finding_where_the_code_is_only_recommended() -> None:
    watched = Watched()
    watched.must("inspect_job", "t1", "nobody", refused="forbidden")
    assert [(each.kind, each.clause) for each in watched.judge.findings] == [
        ("refused", "operations.inspect_job.missing")
    ]


def test_a_case_that_only_a_recommendation_forbids_is_judged_again_without_it() -> None:
    """The message of an evicted job is lost: a finding of that clause, and MUST clauses still bind."""
    watched = Watched(limits={"retained": 1})
    watched.ended("a")
    watched.ended("b")
    watched.must("turn_boundary", "t1", gives=[message("b")], signals=[turn()])
    (finding,) = watched.judge.findings
    assert (finding.clause, finding.should) == ("messages.Ended.outlives", True)
    assert finding.operation == "turn_boundary"
    assert finding.value == Listed("job_id", "a", there=True)
    watched.must("messages", "t1", gives=[message("b")])
    assert watched.judge.lockstep.witnessed()
    assert told(watched("turn_boundary", "t1", gives=[message("b")], signals=[turn()]))[0] == "reply"


def test_what_a_recommendation_does_not_explain_stays_a_finding() -> None:
    watched = Watched(limits={"retained": 1})
    watched.ended("a")
    watched.ended("b")
    assert told(watched("turn_boundary", "t1", gives=[message("a")], signals=[turn()]))[0] == "reply"
    assert watched.judge.findings == []


# --- the judge itself -------------------------------------------------------------------------------------


def test_asking_whether_a_call_is_allowed_does_not_take_it() -> None:
    watched = Watched()
    watched.ended("a")
    boundary = watched.call("turn_boundary", "t1", gives=[message("a")], signals=[turn()])
    early = watched.call("turn_boundary", "t1", gives=[])
    assert [watched.judge.allows(call) for call in (boundary, early, boundary)] == [True, False, True]
    assert watched.judge.step(boundary) is None
    assert [watched.judge.allows(call) for call in (boundary, early)] == [False, True]


def test_a_case_goes_on_after_a_finding_as_the_model_would_have_it() -> None:
    watched = Watched()
    watched.start("a")
    assert watched("finish", "a", "completed", "x", refused="no") is not None
    for call in (
        watched.call("finish", "a", "completed", "x"),
        watched.call("wait", 3),
        watched.call("start", "t1", "another", "bash", gives=started("a")),
        watched.call("start", "t1", "one more", "bash", gives={"job_id": None}),
        watched.call("turn_boundary", "t1", gives="nonsense"),
        watched.call("retry_job", "t1", "a"),
    ):
        watched.judge.lockstep.go_on(call)
    assert {
        "operations.turn_boundary.sends.told",
        "operations.finish.move",
    } <= watched.judge.lockstep.witnessed()


@pytest.mark.parametrize(("held", "unsure"), [(1, True), (2, False)])
def test_more_explanations_than_are_held_leave_the_judge_unsure(held: int, unsure: bool) -> None:
    watched = Watched(load("local-agent"), replace(USUAL, configurations=held))  # how it shows prompts is not declared
    watched.must("foregrounded_id", gives=None)
    assert len(watched.judge.lockstep.configurations) == 1  # nothing has asked for that yet
    watched.must("register_async", "look", "p", None, None, None, gives={"task_id": "a1"})
    assert watched.judge.unsure is unsure
    assert len(watched.judge.lockstep.configurations) == held


def test_what_a_system_can_as_well_do_later_is_no_other_explanation() -> None:
    watched = Watched(budget=replace(USUAL, configurations=1))
    watched.ended("a")
    watched.must("set_idle", "t1", True)  # the boundary that may be asked for now may be asked for later
    watched.must("restart")
    assert not watched.judge.unsure
    watched = Watched(budget=replace(USUAL, configurations=1))
    watched.ended("a")
    watched.must("set_idle", "t1", True, signals=[turn()])  # the signal tells that it was
    assert not watched.judge.unsure


def test_equal_explanations_are_held_once() -> None:
    watched = Watched()
    for _ in range(3):
        watched.must("set_idle", "t1", True)
        watched.must("restart")
        watched.must("set_idle", "t1", False)
    assert len(watched.judge.lockstep.configurations) == 1


# --- whatever the model may do is right -------------------------------------------------------------------


class Itself:
    """The model as a system: it chooses at random wherever the spec leaves a choice."""

    def __init__(self, choice: random.Random, **declared: Any) -> None:
        self.watched = Watched(**declared)
        self.model = thread_job().model(declared.get("limits"), declared.get("policies"))
        self.choice = choice

    def step(self) -> Observed:
        """Make any call with arguments worth trying; give what was observed."""
        operations = thread_job().kernel.operations
        operation = self.choice.choice([each for each in operations if each.name != "restart"] * 4 + [*operations])
        tried = list(arguments(thread_job(), self.model, operation))
        if not tried or self.choice.random() < 0.1:
            return self.observed("wait", {"ms": 1}, [Outcome(), *self.model.wait(1)])
        given = {name: value for name, value in self.choice.choice(tried).items() if value is not ABSENT}
        decision: Decision = getattr(self.model, f"may_{operation.name}")(**given)
        came = self.own()
        decision = getattr(self.model, f"may_{operation.name}")(**given)
        refusable = decision.idle or bool(decision.refuse)
        if refusable and (self.choice.random() < 0.5 or not (decision.accept or decision.idle)):
            code = self.choice.choice(decision.refuse) if decision.refuse else "whatever"
            return self.observed(operation.name, given, [Outcome(), *came], refused="any" if code == "*" else code)
        if decision.idle or not decision.accept:
            return self.observed(operation.name, given, [Outcome("whatever"), *came])
        outcome: Outcome = getattr(self.model, f"do_{operation.name}")(**given)
        return self.observed(operation.name, given, [outcome, *came, *self.model.settle(), *self.own()])

    def own(self) -> list[Outcome]:
        """Take steps unasked, or not."""
        came = []
        while (steps := self.model.own_steps()) and self.choice.random() < 0.3:
            index, keys, _ = self.choice.choice(steps)
            came.append(self.model.take(index, keys))
        return came

    def observed(
        self, operation: str, given: dict[str, Any], came: list[Outcome], refused: str | None = None
    ) -> Observed:
        signals = [comparable(each) for one in came for each in (*one.signals, *one.again)]
        signals += [comparable(each) for one in came for each in one.may if self.choice.random() < 0.5]
        self.choice.shuffle(signals)
        call = self.watched.call(operation, gives=came[0].value, refused=refused, signals=signals)
        return replace(call, arguments=given)


@pytest.mark.thorough
@given(
    st.randoms(use_true_random=False),
    st.sampled_from([{}, {"limits": {"retained": 1}}, {"policies": {"tie": "id"}}]),
)
def test_whatever_the_model_may_do_is_explained(choice: random.Random, declared: dict[str, Any]) -> None:
    itself = Itself(choice, **declared)
    for _ in range(25):
        call = itself.step()
        finding = itself.watched.judge.step(call)
        assert finding is None, (call, finding)
    assert itself.watched.judge.findings == []
    assert not itself.watched.judge.unsure


def test_every_status_is_one_that_a_list_can_ask_for() -> None:
    assert Watched()("list_jobs", "t1", list(EVERY_STATUS), gives=[]) is None


def test_long_lists_that_differ_in_their_middle_do_not_read_the_same() -> None:
    one, two = ({"id": each, "text": "x" * 90} for each in ("first", "second"))
    once, twice = short([one, two]), short([one, two, one, two])
    assert once != twice
    assert (once[:9], twice[:9]) == ("2 items: ", "4 items: ")
    assert max(map(len, (short(["x" * 1000] * 50), short({"text": "x" * 1000}), short("x" * 1000)))) < 1200
    assert short([1, 2]) == "[1, 2]"
    assert short("x" * 41).endswith("' (41 characters)")
    assert short(["x" * 300]) != short(["x" * 900])


# --- sentences that are left out --------------------------------------------------------------------------


def test_a_model_that_lacks_a_sentence_explains_nothing_where_its_rules_have_no_answer() -> None:
    instant = "entities.Job.entering.terminal.set.job.completed_at"
    watched = Watched()
    for number in range(21):
        watched.start(f"{number}")
    for number in range(20):
        watched.must("finish", f"{number}", "completed", "x", gives={"status": "completed"})
    lockstep = watched.judge.lockstep
    (configuration,) = lockstep.configurations
    model = configuration.model.thawed_as(thread_job().without([instant]).model_class, configuration.model.freeze())
    with pytest.raises(Impossible):  # the 21st ended at no instant, and the others leave by theirs
        model.fork().do("finish", {"job": "20", "outcome": "completed", "payload": "x"})
    lockstep.configurations = [replace(configuration, model=model)]
    call = watched.call("finish", "20", "completed", "x", gives={"status": "completed"})
    assert told(lockstep.advance(call))[0] == "identity"


@pytest.mark.parametrize("step", ["decide", "take", "fire", "own_steps", "deadlines"])
def test_whatever_a_model_that_lacks_a_sentence_has_no_answer_to_the_judge_goes_on(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def unanswered(*_: Any, **__: Any) -> Any:
        raise TypeError("'<' not supported between null and an instant")

    watched = Watched()
    watched.start("a")
    lockstep = watched.judge.lockstep
    (configuration,) = lockstep.configurations
    kind = thread_job().without(["operations.finish.signal.BoundaryRequested"]).model_class
    monkeypatch.setattr(kind.__mro__[2], "may_finish" if step == "decide" else step, unanswered)
    lockstep._kinds.append(kind)
    lockstep.configurations = [
        replace(configuration, model=configuration.model.thawed_as(kind, configuration.model.freeze()))
    ]
    call = watched.call("finish", "a", "completed", "x", gives={"status": "completed"}, signals=[BOUNDARY])
    refused = watched.call("finish", "a", "completed", "x", refused="already_resolved")
    lockstep.avoids("finish", call.arguments)
    lockstep.allows(call)
    lockstep.awaits(call)
    lockstep.decision("finish", call.arguments)
    for each in (call, refused):
        lockstep.advance(each)


THINGS = compile_text(
    """
lifecycle: things
version: 1
about: Things are made, and asked for.
entities:
  Thing: {id: minted, fields: {size: int}, shows: {id: thing.id, size: thing.size}}
operations:
  make: {takes: {size: int}, create: {Thing: {size: size}}, gives: {id: thing.id}}
  get:  {takes: {thing: Thing | null}, gives: thing}
matrix: {}
""",
    "things.yaml",
)


def test_whether_a_record_is_there_is_one_matter_whoever_gives_nothing_or_a_record() -> None:
    watched = Watched(THINGS)
    watched.must("make", 3, gives={"id": "a"})
    for asked, gives in (("a", None), ("b", {"id": "b", "size": 3})):
        finding = watched("get", asked, gives=gives)
        assert finding is not None
        assert finding.matter == PRESENCE
    other = watched("get", "a", gives={"id": "a", "size": 4})
    assert other is not None
    assert other.matter != PRESENCE
