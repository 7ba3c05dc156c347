"""The reference for background-tasks and two other right systems do what the description says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from conformance.references.background_tasks import BackgroundTasks
from conformance.refused import Refused
from conformance.system.concurrent import run_at_once
from tests.conformance.references.driving import Call, Driver, call
from tests.right.background_tasks import RIGHT, BlockingTasks, ConditionTasks
from tests.right.background_tasks.blocking import Waiter

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


class BlocksAlone(BlockingTasks):
    """On one thread nobody comes beside a call that blocks, so that its time is over as soon as it begins."""

    def _block(self, waiter: Waiter) -> None:
        self._now = waiter.until


ON_A_LOOP: list[Any] = [
    BackgroundTasks,
    AsReturned,
    *(each for each in RIGHT if each not in (ConditionTasks, BlockingTasks)),
]
SYSTEMS = [*ON_A_LOOP, ConditionTasks, BlocksAlone]


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
    ended = {two: outcome, one: asked}
    assert statuses(driver) == {task: ended[task] for task in kept(driver, [two, one])}
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

    bodies = [waits, drains, ends(ids[:3]), ends(ids[2:]), drains]
    own = frozenset({inspect.getfile(ConditionTasks)})
    found = run_at_once([*bodies, lambda: system.spawn("y")], seed, own, 20.0, lambda: 0)
    assert sorted(each["task_id"] for each in [*found[1], *found[4], *drains()]) == ids
    assert found[0] is True
    assert system.running_count() == 1
