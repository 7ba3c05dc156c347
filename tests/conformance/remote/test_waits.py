"""Calls that wait for the virtual clock of an adapter elsewhere: it tells, and the kit moves the clock."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.api import opened
from conformance.budget import USUAL
from conformance.remote.http import HttpLink
from conformance.remote.waits import Waits, mover
from conformance.suite import Run
from conformance.system import Adapter, Broken, Clock
from conformance.verdict import RowResult, Verdict
from statemachines.compile import Compiled, load
from tests.conformance.remote.leftovers import nothing_left
from tests.tools import loop_adapter

ROOT = Path(__file__).parents[3]
LIMIT = 20.0  # seconds, however busy the machine is
SOON = 1.5  # seconds for what never comes back: by then a clock has been moved far enough, also on a busy machine
LOOP = f"stdio:{sys.executable} {loop_adapter.__file__}"
NEVER = "tests.right.background_tasks:BlockingTasks"  # it blocks, and tells nothing


def served(name: str, *options: str) -> str:
    """Return the target of a class in a process of its own."""
    system = name if ":" in name else f"tests.tools.clock_systems:{name}"
    return " ".join([f"stdio:{sys.executable} -m tests.tools.served {system}", *options])


RIGHT = {
    "threads": served("Telling"),
    "points": served("Telling", "--points"),
    "in parts": served("InParts", "--points"),
    "one thread": LOOP,
}


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes find the modules of the tests."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture(scope="module")
def tasks() -> Compiled:
    """The life cycle in which a call takes time."""
    return load("background-tasks")


@contextmanager
def reached(tasks: Compiled, target: str, limit: float = LIMIT) -> Iterator[Adapter]:
    """An adapter at the beginning of a case, of which nothing is left at the end."""
    with nothing_left(), opened(tasks, target, limit) as adapter:
        adapter.reset()
        yield adapter


def blocked(adapter: Adapter, timeout: int) -> int:
    """How many milliseconds a wait for nothing takes by the clock of the system."""
    before = adapter.milliseconds
    assert adapter.call("wait_for_completion", {"timeout": timeout}, timeout) is False
    return adapter.milliseconds - before


def row(tasks: Compiled, target: str, name: str, limit: float = LIMIT) -> RowResult:
    """What a quick run says of a row."""
    with nothing_left(), opened(tasks, target, limit) as system:
        return Run(tasks, system, rows=name, budget=USUAL.quick()).go()[name]


def test_a_clock_moves_where_all_who_call_wait_for_it() -> None:
    moved: list[int] = []
    clock, waits, callers = Clock(moved.append), Waits(), 2
    move = mover(clock, waits, lambda: callers)
    with clock.during(20):
        waits.tell(1, 20)
        assert not move()  # one may be about to call
        waits.tell(2, 0)
        assert not move()  # that instant is there: it is about to come back
        waits.tell(2, 1)
        assert move()
        assert not move()  # so is this one
        callers = 1
        assert move()
        waits.tell(1, None)
        assert not move()
    assert moved == [1, 1]


@pytest.mark.thorough
@pytest.mark.parametrize("target", RIGHT.values(), ids=RIGHT)
def test_a_wait_for_nothing_takes_its_time_exactly(tasks: Compiled, target: str) -> None:
    with reached(tasks, target) as adapter:
        assert [blocked(adapter, timeout) for timeout in (1, 2, 20, 1000)] == [1, 2, 20, 1000]
        adapter.call("wait", {"ms": 5000})
        assert blocked(adapter, 20) == 20


@pytest.mark.thorough
@pytest.mark.parametrize("target", RIGHT.values(), ids=RIGHT)
def test_a_wait_beside_others_lasts_until_they_wake_it(tasks: Compiled, target: str) -> None:
    with reached(tasks, target) as adapter:
        for seed in range(4):
            adapter.reset()
            task = adapter.call("spawn", {"label": "x"})["task_id"]

            def later(task: str = task) -> None:
                adapter.call("wait", {"ms": 300})
                adapter.call("finish", {"task": task, "outcome": "completed", "text": ""})

            def wait() -> tuple[bool, int]:
                return adapter.call("wait_for_completion", {"timeout": 1000}, 1000), adapter.milliseconds

            woken, instant = adapter.together([wait, later], seed)[0]
            assert woken
            assert 300 <= instant < 1000  # a machine that is busy may be slow to wake it


@pytest.mark.thorough
def test_several_waits_at_once_are_over_one_after_the_other(tasks: Compiled) -> None:
    with reached(tasks, RIGHT["points"]) as adapter:

        def wait(timeout: int) -> Callable[[], int]:
            def body() -> int:
                assert adapter.call("wait_for_completion", {"timeout": timeout}, timeout) is False
                return adapter.milliseconds

            return body

        assert adapter.together([wait(30), wait(10), wait(20)], 1) == [30, 10, 20]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "said"),
    [
        (NEVER, r"did not come back in time \(the clock shows 0; a call that waits for it tells until when by a point"),
        ("Forgets", r"it told that it waits until 20 \(the clock shows 20; .* has come back or told again"),
    ],
)
def test_a_call_that_blocks_and_does_not_tell_hangs(tasks: Compiled, name: str, said: str) -> None:
    with reached(tasks, served(name), SOON) as adapter:
        with pytest.raises(Broken, match=said) as broken:
            adapter.call("wait_for_completion", {"timeout": 20}, 20)
        assert broken.value.kind == "hang"
        adapter.reset()
        with pytest.raises(Broken, match=f"({said}|another call had not come back)"):  # either is the first to be told
            adapter.together([lambda: adapter.call("wait_for_completion", {"timeout": 20}, 20)] * 2, 0)
        adapter.reset()
        assert adapter.call("spawn", {"label": "x"})["task_id"]


def test_over_http_no_call_can_tell_and_the_message_says_so(tasks: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(self: HttpLink, method: str, *given: Any) -> dict[str, Any]:
        if method == "wait_for_completion":
            raise Broken("hang", f"{method} did not come back in time")
        welcome = {"protocol": 1, "declares": {"clock": "virtual", "concurrency": "threads"}}
        return {"result": welcome if method == "hello" else None}

    monkeypatch.setattr(HttpLink, "answer", answer)
    with opened(tasks, "http://127.0.0.1:1/", LIMIT) as adapter:
        adapter.reset()
        with pytest.raises(Broken, match="over HTTP no call can tell that it waits for it"):
            adapter.call("wait_for_completion", {"timeout": 20}, 20)


@pytest.mark.thorough
def test_a_clock_that_does_not_move_is_a_crash_and_nobody_waits_for_it_in_the_next_case(tasks: Compiled) -> None:
    with reached(tasks, served("NoClock")) as adapter:
        with pytest.raises(Broken, match="wait failed: RuntimeError: no clock"):
            adapter.call("wait_for_completion", {"timeout": 20}, 20)
        adapter.reset()
        with pytest.raises(Broken, match="wait failed: RuntimeError: no clock"):
            adapter.together([lambda: adapter.call("wait_for_completion", {"timeout": 20}, 20)] * 2, 0)
        adapter.reset()
        assert adapter.call("spawn", {"label": "x"})["task_id"]


@pytest.mark.thorough
@pytest.mark.parametrize("target", RIGHT.values(), ids=RIGHT)
@pytest.mark.parametrize("name", ["N5", "X8", "X9", "B9"])
def test_a_right_wait_is_left_alone(tasks: Compiled, target: str, name: str) -> None:
    result = row(tasks, target, name)
    assert result.verdict is Verdict.PASS, result


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("lie", "name", "said"),
    [
        ("Early", "B9", "raced[0] == true"),
        ("AtAnyMove", "B9", "raced[0] == true"),
        ("Late", "X8", "expected it comes back within 1 ms; seen it came back after 2 ms"),
        ("Forgets", "X8", "it told that it waits until 1"),
    ],
)
def test_a_wrong_wait_is_found(tasks: Compiled, lie: str, name: str, said: str) -> None:
    result = row(tasks, served(lie), name, limit=LIMIT if lie != "Forgets" else SOON)
    assert result.verdict is Verdict.FAIL
    assert said in result.reason, result.reason
