"""The reference for background-tasks, two other right systems, and what each lie does differently."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import pytest

from conformance.concurrent import run_at_once
from conformance.references.background_tasks import BackgroundTasks
from conformance.refused import Refused
from tests.conformance.references.driving import Call, Driver, Step, call, length
from tests.faulty.background_tasks import FAULTY, Lie
from tests.right.background_tasks import RIGHT, ConditionTasks

DEFAULTS: dict[str, Any] = BackgroundTasks.declares
ENDS = ("completed", "failed")


class AsReturned(BackgroundTasks):
    """The reference with every other choice, and with no rows that stay."""

    declares: ClassVar[dict[str, Any]] = {
        "concurrency": "async",
        "limits": {"retained": 0, "recent": 1},
        "policies": {
            "cancelled_body": "as_returned",
            "crash": "stays_running",
            "spawn_after_cancel": "refused",
            "id_order": "numeric",
        },
    }

    def __init__(self) -> None:
        super().__init__(**self.declares["limits"], **self.declares["policies"])


SYSTEMS: list[Any] = [BackgroundTasks, AsReturned, *RIGHT]
ON_A_LOOP = [system for system in SYSTEMS if system is not ConditionTasks]


@pytest.fixture(params=SYSTEMS, ids=lambda system: system.__name__)
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    with Driver(request.param) as driver:
        yield driver


def policy(driver: Driver, name: str) -> str:
    said: dict[str, str] = driver.system.declares["policies"]
    return said.get(name) or str(DEFAULTS["policies"][name])


def limit(driver: Driver, name: str) -> int:
    said: dict[str, int] = driver.system.declares["limits"]
    return said[name]


def spawned(driver: Driver, count: int = 1) -> list[str]:
    return [driver("spawn", label=f"label {number}")["task_id"] for number in range(count)]


def statuses(driver: Driver) -> dict[str, str]:
    return {row["task_id"]: row["status"] for row in driver("list")}


def kept(driver: Driver, ended: list[str]) -> list[str]:
    """Of tasks that ended in this order, those whose rows are still there."""
    return ended[len(ended) - min(len(ended), limit(driver, "retained")) :]


# --- what holds for every right system ----------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ENDS)
def test_a_task_runs_ends_and_is_drained_once(driver: Driver, outcome: str) -> None:
    (task,) = spawned(driver)
    assert statuses(driver) == {task: "running"}
    assert (driver("running_count"), driver("has_completed")) == (1, False)
    driver("finish", task=task, outcome=outcome, text="the text")
    driver("finish", task=task, outcome="failed", text="late")
    driver("crash", task=task)
    assert (driver("running_count"), driver("has_completed")) == (0, True)
    result = {"status": outcome, "text": "the text"}
    assert driver("drain_completed") == [{"task_id": task, "label": "label 0", "result": result}]
    assert driver("drain_completed") == []
    assert driver("has_completed") is False
    assert statuses(driver) == dict.fromkeys(kept(driver, [task]), outcome)


def test_outcomes_are_in_the_order_of_ends_and_the_newest_rows_stay(driver: Driver) -> None:
    tasks = spawned(driver, limit(driver, "retained") + 3)
    runs, ended = tasks[1], [tasks[0], *tasks[:1:-1]]
    for task in ended:
        driver("finish", task=task, outcome="completed", text=task)
    assert [outcome["task_id"] for outcome in driver("drain_completed")] == ended
    assert statuses(driver).keys() == {runs, *kept(driver, ended)}
    assert driver("cancel_task", task=ended[0]) is None
    assert driver("peek", task=ended[0]) is None
    assert driver("running_count") == 1


def test_the_list_is_ordered_by_id_and_reads_no_history(driver: Driver) -> None:
    tasks = spawned(driver, 11)
    driver("attach_history", task=tasks[0])
    driver("append_history", task=tasks[0], blocks=["a"])
    listed = driver("list")
    numeric = policy(driver, "id_order") == "numeric"
    assert [row["task_id"] for row in listed] == (tasks if numeric else sorted(tasks))
    assert all((row["block_count"], row["recent"]) == (0, []) for row in listed)


@pytest.mark.parametrize("outcome", ENDS)
def test_a_cancel_asks_and_the_body_ends(driver: Driver, outcome: str) -> None:
    one, two = spawned(driver, 2)
    assert [driver("cancel_task", task=one), driver("cancel_task", task=one)] == [True, True]
    assert driver("cancel_task", task="no") is None
    assert statuses(driver) == {one: "running", two: "running"}
    driver("finish", task=two, outcome=outcome, text="untouched")
    driver("finish", task=one, outcome=outcome, text="stopped")
    asked = "canceled" if policy(driver, "cancelled_body") == "canceled" else outcome
    assert statuses(driver) == {
        task: {one: asked, two: outcome}[task]
        for task in sorted(kept(driver, [two, one]))
        if task in kept(driver, [two, one])
    }
    untouched, stopped = driver("drain_completed")
    said = asked if policy(driver, "canceled_outcome") == "canceled" else outcome
    assert (untouched["result"]["status"], stopped["result"]["status"]) == (outcome, said)
    assert driver("cancel_task", task=one) is (False if kept(driver, [one]) else None)


@pytest.mark.parametrize("way", ["cancel_all", "session_cancelled"])
def test_a_cancel_of_all_asks_each_and_what_comes_later(driver: Driver, way: str) -> None:
    (task,) = spawned(driver)
    driver(way)
    driver(way)
    assert statuses(driver) == {task: "running"}
    late = driver("spawn", label="late")
    choice = policy(driver, "spawn_after_cancel")
    assert (isinstance(late, Refused) and late.code == "session_cancelled") == (choice == "refused")
    driver("finish", task="#0", outcome="completed", text="x")
    asked = "canceled" if policy(driver, "cancelled_body") == "canceled" else "completed"
    assert statuses(driver).get(task, asked) == asked
    if choice != "refused":
        driver("finish", task="#1", outcome="completed", text="x")
        late_status = "completed" if choice == "runs" else asked
        assert statuses(driver).get(late["task_id"], late_status) == late_status


def test_a_crash_is_an_end_or_none_as_declared(driver: Driver) -> None:
    (task,) = spawned(driver)
    driver("crash", task=task)
    ends = policy(driver, "crash") == "failed"
    assert driver("running_count") == (0 if ends else 1)
    assert driver("wait_for_completion", timeout=1) is ends
    assert [outcome["result"]["status"] for outcome in driver("drain_completed")] == ["failed"] * ends
    assert statuses(driver).get(task, "failed") == ("failed" if ends else "running")


def test_a_completion_is_one_stored_wake_up(driver: Driver) -> None:
    one, two = spawned(driver, 2)
    assert driver("wait_for_completion", timeout=1) is False
    driver("finish", task=one, outcome="completed", text="x")
    driver("finish", task=two, outcome="failed", text="x")
    assert len(driver("drain_completed")) == 2
    assert driver("wait_for_completion", timeout=1000) is True
    assert driver("wait_for_completion", timeout=1) is False


def test_histories_are_read_from_their_end(driver: Driver) -> None:
    one, two = spawned(driver, 2)
    recent = limit(driver, "recent")
    blocks = [str(number) for number in range(recent + 2)]
    assert driver("peek", task=one) == {"blocks": [], "total": 0}
    for task in (one, two):
        driver("attach_history", task=task)
    driver("append_history", task=one, blocks=blocks[:2])
    driver("append_history", task=one, blocks=blocks[2:])
    for shown in (1, len(blocks) - 1, len(blocks), len(blocks) + 1):
        assert driver("peek", task=one, recent=shown) == {"blocks": blocks[-shown:], "total": len(blocks)}
    assert driver("peek", task=one, recent=0)["blocks"] == blocks[-1:]
    assert driver("peek", task=one)["blocks"] == blocks[-recent:]
    assert driver("peek", task=two) == {"blocks": [], "total": 0}
    assert driver("peek", task="no") is None
    driver("finish", task=one, outcome="completed", text="x")
    if kept(driver, [one]):
        assert driver("peek", task=one)["total"] == len(blocks)


def test_every_handle_is_the_same_table(driver: Driver) -> None:
    driver("clone")
    driver("clone")
    tasks = spawned(driver, 3)
    assert [driver("running_count") for _ in range(3)] == [3, 3, 3]
    for task in tasks:
        driver("finish", task=task, outcome="completed", text="x")
    assert driver("wait_for_completion", timeout=1000) is True
    assert [len(driver("drain_completed")) for _ in range(3)] == [3, 0, 0]


def test_what_is_unknown_leaves_no_trace(driver: Driver) -> None:
    for operation in ("crash", "attach_history"):
        driver(operation, task="no")
    driver("finish", task="no", outcome="completed", text="x")
    driver("append_history", task="no", blocks=["a"])
    assert (driver("list"), driver("drain_completed"), driver("peek", task="no")) == ([], [], None)


# --- at once ------------------------------------------------------------------------------------------------


@pytest.fixture(params=ON_A_LOOP, ids=lambda system: system.__name__)
def loop(request: pytest.FixtureRequest) -> Iterator[Driver]:
    with Driver(request.param) as driver:
        yield driver


WAIT, DRAIN = call("wait_for_completion", timeout=1000), call("drain_completed")


def end(task: str, outcome: str = "completed") -> Call:
    return call("finish", task=task, outcome=outcome, text="x")


def test_a_completion_wakes_who_waits_at_once(loop: Driver) -> None:
    spawned(loop)
    assert loop.at_once(WAIT, end("#0"))[0] is True
    assert loop.instant() < 1000
    assert loop("wait_for_completion", timeout=1000) is False
    assert loop.instant() == pytest.approx(1000)


def test_of_two_waiters_one_is_woken_and_takes_no_wake_up_along(loop: Driver) -> None:
    spawned(loop, 2)
    assert any(loop.at_once(WAIT, WAIT, end("#0"))[:2])
    loop("wait_for_completion", timeout=1)
    loop("finish", task="#1", outcome="completed", text="x")
    assert loop("wait_for_completion", timeout=1) is True


def test_drains_at_once_share_what_there_is(loop: Driver) -> None:
    tasks = spawned(loop, 4)
    loop("finish", task="#3", outcome="completed", text="x")
    replies = loop.at_once(DRAIN, end("#0"), DRAIN, end("#1"), end("#2"), DRAIN)
    drained = [*replies[0], *replies[2], *replies[5], *loop("drain_completed")]
    assert sorted(outcome["task_id"] for outcome in drained) == sorted(tasks)


def test_a_task_that_is_ended_twice_at_once_ends_once(loop: Driver) -> None:
    spawned(loop)
    loop.at_once(end("#0"), end("#0", "failed"), call("cancel_task", task="#0"))
    assert len(loop("drain_completed")) == 1


@pytest.mark.parametrize("seed", range(5))
def test_threads_lose_no_outcome_and_no_wake_up(seed: int) -> None:
    system = ConditionTasks()
    ids = [system.spawn("x")["task_id"] for _ in range(6)]

    def ends(tasks: list[str]) -> Callable[[], None]:
        def body() -> None:
            for task in tasks:
                system.finish(task, "completed", "x")

        return body

    def drains() -> list[Any]:
        return [outcome for _ in range(4) for outcome in system.drain_completed()]

    def waits() -> bool:
        return system.wait_for_completion(10_000)

    bodies = [waits, waits, drains, ends(ids[:3]), ends(ids[2:]), drains]
    own = frozenset({inspect.getfile(ConditionTasks)})
    found = run_at_once([*bodies, lambda: system.spawn("y")], seed, own, 20.0, lambda: 0)
    assert sorted(each["task_id"] for each in [*found[2], *found[5], *drains()]) == ids
    assert found[0] or found[1]
    assert system.running_count() == 1


# --- the lies -----------------------------------------------------------------------------------------------

SPAWN, END, FAIL, CANCEL = (
    call("spawn", label="x"),
    end("#0"),
    end("#0", "failed"),
    call("cancel_task", task="#0"),
)
LIST, COUNT, HAS = call("list"), call("running_count"), call("has_completed")
CRASH, ALL, CLONE = call("crash", task="#0"), call("cancel_all"), call("clone")
SOON, PEEK = call("wait_for_completion", timeout=5), call("peek", task="#0")
ATTACH, APPEND = call("attach_history", task="#0"), call("append_history", task="#0", blocks=["a", "b", "c"])
ELEVEN = call("append_history", task="#0", blocks=[str(number) for number in range(11)])
HISTORY: list[Step] = [SPAWN, ATTACH, APPEND]
MANY: list[Step] = [*[SPAWN] * 65, *(end(f"#{number}") for number in range(64))]
FULL: list[Step] = [*MANY, end("#64")]
REVERSED: list[Step] = [*[SPAWN] * 65, *(end(f"#{number}") for number in range(64, -1, -1))]


def peek(recent: int) -> Call:
    return call("peek", task="#0", recent=recent)


SCRIPTS: dict[str, Sequence[Step]] = {
    "FailureIsCompleted": [SPAWN, FAIL, DRAIN],
    "TextOfFailureIsLost": [SPAWN, FAIL, DRAIN],
    "CrashNeverEnds": [SPAWN, CRASH, LIST],
    "CrashBringsNothing": [SPAWN, CRASH, DRAIN],
    "CrashWakesNobody": [SPAWN, CRASH, SOON],
    "SecondOutcomeWins": [SPAWN, END, FAIL, LIST],
    "SecondOutcomeIsDelivered": [SPAWN, END, FAIL, DRAIN],
    "SecondOutcomeKeepsRow": [*MANY, FAIL, end("#64"), LIST],
    "LateCrashFails": [SPAWN, END, CRASH, LIST],
    "UnknownEndIsDelivered": [call("finish", task="no", outcome="failed", text="x"), DRAIN],
    "EndedAreCounted": [SPAWN, END, COUNT],
    "CancelledAreNotCounted": [SPAWN, CANCEL, COUNT],
    "DrainedRowsLeave": [SPAWN, END, DRAIN, LIST],
    "ListShowsRunningOnly": [SPAWN, END, LIST],
    "EndedAreListedLast": [SPAWN, SPAWN, END, LIST],
    "ListIsByStart": [*[SPAWN] * 11, LIST],
    "ListIsDescending": [SPAWN, SPAWN, LIST],
    "LabelIsTrimmed": [call("spawn", label=" x"), LIST],
    "LabelIsUnique": [SPAWN, SPAWN, LIST],
    "IdIsReused": [*FULL, SPAWN],
    "OneRowTooFew": [*MANY[1:65], *MANY[65:], LIST],
    "OneRowTooMany": [*FULL, LIST],
    "RunningRowsLeave": [*[SPAWN] * 65, END, LIST],
    "FirstStartedLeaves": [*REVERSED, LIST],
    "LastFinishedLeaves": [*FULL, LIST],
    "CanceledLeaveFirst": [*MANY[:65], call("cancel_task", task="#1"), *FULL[65:], LIST],
    "EvictionTakesOutcome": [*FULL, DRAIN],
    "QueueIsBounded": [*FULL, DRAIN],
    "EvictedCancelIsLate": [*FULL, CANCEL],
    "EvictedCanBeSeen": [*FULL, PEEK],
    "CancelEndsAtOnce": [SPAWN, CANCEL, LIST],
    "CancelledBodyIsLost": [SPAWN, CANCEL, END, DRAIN],
    "CancelledBodyWakesNobody": [SPAWN, CANCEL, END, SOON],
    "CancelIsForgotten": [SPAWN, CANCEL, END, LIST],
    "CanceledIsDeliveredAsFailed": [SPAWN, CANCEL, END, DRAIN],
    "CanceledTextIsLost": [SPAWN, CANCEL, END, DRAIN],
    "StubbornNeverEnds": [SPAWN, CANCEL, END, LIST],
    "UnknownIsTooLate": [call("cancel_task", task="no")],
    "EndedIsUnknown": [SPAWN, END, CANCEL],
    "EndedIsCancelled": [SPAWN, END, CANCEL],
    "SecondCancelIsLate": [SPAWN, CANCEL, CANCEL],
    "CancelStopsItsLabel": [SPAWN, SPAWN, CANCEL, end("#1"), LIST],
    "CancelStopsByPrefix": [*[SPAWN] * 10, CANCEL, end("#9"), LIST],
    "CancelStopsSession": [SPAWN, CANCEL, SPAWN, end("#1"), LIST],
    "CancelAllStopsFirst": [SPAWN, SPAWN, ALL, end("#1"), LIST],
    "CancelAllTwiceIsNone": [SPAWN, ALL, ALL, END, LIST],
    "CancelAllEnds": [SPAWN, ALL, LIST],
    "SessionIsNotHeard": [SPAWN, call("session_cancelled"), END, LIST],
    "SpawnAfterCancelIsRefused": [ALL, SPAWN],
    "SpawnAfterCancelRuns": [ALL, SPAWN, END, LIST],
    "DrainLeavesQueue": [SPAWN, END, DRAIN, DRAIN],
    "DrainGivesOne": [SPAWN, SPAWN, END, end("#1"), DRAIN],
    "DrainIsNewestFirst": [SPAWN, SPAWN, END, end("#1"), DRAIN],
    "DrainIsByStart": [SPAWN, SPAWN, end("#1"), END, DRAIN],
    "DrainIsByLabel": [SPAWN, SPAWN, END, end("#1"), DRAIN],
    "LabelIsNotDelivered": [SPAWN, END, DRAIN],
    "HasCompletedSticks": [SPAWN, END, DRAIN, HAS],
    "WaitTakesOutcome": [SPAWN, END, SOON, DRAIN],
    "PermitIsNotStored": [SPAWN, END, SOON],
    "SecondCompletionTakesPermit": [SPAWN, SPAWN, END, end("#1"), SOON],
    "DrainTakesPermit": [SPAWN, END, DRAIN, SOON],
    "FirstWaitReturns": [SOON],
    "PermitIsKept": [SPAWN, END, SOON, DRAIN, SOON, SOON],
    "TimeIsNotSaid": [SOON],
    "GivenUpWaiterIsWoken": [SPAWN, SOON, END, SOON],
    "NewestBlockFirst": [*HISTORY, PEEK],
    "AppendReplaces": [*HISTORY, APPEND, PEEK],
    "NoHistoryIsNull": [SPAWN, PEEK],
    "UnknownIsEmpty": [call("peek", task="no")],
    "ZeroIsAll": [*HISTORY, peek(0)],
    "ZeroIsNone": [*HISTORY, peek(0)],
    "OldestBlocks": [*HISTORY, peek(2)],
    "TotalIsOfShown": [*HISTORY, peek(1)],
    "TooManyAreNone": [*HISTORY, peek(4)],
    "DefaultIsAll": [SPAWN, ATTACH, ELEVEN, PEEK],
    "ListReadsHistory": [*HISTORY, LIST],
    "ListGivesNewestBlock": [*HISTORY, LIST],
    "HistoryGoesWithEnd": [*HISTORY, END, PEEK],
    "HistoryIsShared": [*HISTORY, SPAWN, call("attach_history", task="#1"), call("peek", task="#1")],
    "CloneHasItsOwnQueue": [CLONE, SPAWN, END, DRAIN],
    "CloneHasItsOwnRows": [CLONE, SPAWN, LIST],
    "CloneNumbersAnew": [CLONE, SPAWN, SPAWN],
    "CloneHasItsOwnPermit": [CLONE, SPAWN, END, SOON],
    "CloneDoesNotHearCancel": [CLONE, ALL, SPAWN, END, LIST],
    "WaitersAreNotWoken": [SPAWN, [WAIT, END]],
    "WakeUpIsLost": [SPAWN, [WAIT, END]],
    "TwoWaitersAreNone": [SPAWN, [WAIT, WAIT, END]],
    "DrainedTwice": [SPAWN, END, [DRAIN, DRAIN]],
    "DrainedAway": [SPAWN, [END, DRAIN], DRAIN],
    "OutcomeIsOverwritten": [SPAWN, SPAWN, [END, end("#1")], DRAIN],
    "CancelWritesRunning": [SPAWN, [CANCEL, END], LIST],
    "EndBesideCancelIsLost": [SPAWN, [CANCEL, END], DRAIN],
    "IdIsMintedTwice": [[SPAWN, SPAWN]],
    "RowIsLost": [[SPAWN, SPAWN], LIST],
    "EndsTwice": [SPAWN, [END, FAIL], DRAIN],
    "EvictsTooFew": [*[SPAWN] * 66, *MANY[65:], [end("#64"), end("#65")], LIST],
}
OTHERWISE = {"OldRowsExpire", "PeekAndSpawnDeadlock"}
"""Those that need time to pass between calls, or never come back."""


@pytest.mark.parametrize(
    "lie", [lie for lie in FAULTY if lie.__name__ in SCRIPTS], ids=lambda lie: lie.__name__
)
def test_a_lie_differs_from_the_reference_in_as_many_calls_as_it_says(lie: type[Lie]) -> None:
    script = SCRIPTS[lie.__name__]
    with Driver(BackgroundTasks) as right, Driver(lie) as wrong:
        assert wrong.run(script) != right.run(script)
    assert length(script) == lie.calls


def test_every_lie_has_its_script() -> None:
    assert {lie.__name__ for lie in FAULTY} == SCRIPTS.keys() | OTHERWISE


def test_rows_expire_where_time_is_no_reason() -> None:
    (lie,) = (lie for lie in FAULTY if lie.__name__ == "OldRowsExpire")
    for system, rows in ((BackgroundTasks, 1), (lie, 0)):
        with Driver(system) as driver:
            driver.at_once(SPAWN)
            driver.at_once(END)
            driver.at_once(call("wait_for_completion", timeout=1))
            driver.at_once(call("wait_for_completion", timeout=3_600_000))
            assert len(driver("list")) == rows


def test_a_deadlock_is_seen() -> None:
    (lie,) = (lie for lie in FAULTY if lie.__name__ == "PeekAndSpawnDeadlock")
    with Driver(lie) as wrong:
        spawned(wrong)
        with pytest.raises(AssertionError, match="everything waits"):
            wrong.at_once(PEEK, SPAWN)
