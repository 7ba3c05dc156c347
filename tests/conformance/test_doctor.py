"""The doctor: what it says of right adapters, and of those that cannot be asked or break the protocol."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance.api import loaded
from conformance.command.cli import main
from conformance.doctor import State, Tried, examined, exit_of, written
from conformance.references.task_progress import TaskProgress
from conformance.refused import Refused
from conformance.verdict import EXIT_CONFORMS, EXIT_HARNESS, EXIT_USAGE, EXIT_VIOLATES
from tests.conformance.lifecycles import SUITES
from tests.conformance.remote.leftovers import nothing_left
from tests.conformance.remote.test_hostile import target
from tests.conformance.remote.test_remote_systems import served

ROOT = Path(__file__).parents[2]
LIMIT = 20.0  # seconds, however busy the machine is
SOON = 0.6  # seconds for what never comes


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes find the modules of the tests."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def steps_of(target: str, limit: float = LIMIT, lifecycle: str = "task-progress") -> dict[str, Tried]:
    """Return the steps of an examination, by their names."""
    with nothing_left():
        return {step.name: step for step in examined(loaded(lifecycle), target, limit)}


@pytest.mark.parametrize("options", [(), ("--points",)])
def test_a_right_adapter_has_nothing_to_mend(options: tuple[str, ...]) -> None:
    steps = steps_of(served("conformance.references.thread_job:ThreadJobs", *options), lifecycle="thread-job")
    assert [step for step in steps.values() if step.wrong] == []
    assert exit_of([*steps.values()]) == EXIT_CONFORMS
    first = ["start", "hello", "reset", "unknown method", "bad line", "close", "declares", "a new system", "row N1"]
    assert list(steps)[:9] == first
    assert steps["refusal"].seen.endswith("of what is not there: not_found")
    assert steps["clock"].seen == "an hour passes"
    assert ("points" in steps["two at once"].seen) == (not options)


@pytest.mark.parametrize("lifecycle", [*SUITES])
def test_a_system_in_this_process_is_tried_as_far_as_it_goes(lifecycle: str) -> None:
    steps = steps_of("reference", lifecycle=lifecycle)
    assert "hello" not in steps
    assert [step for step in steps.values() if step.wrong] == []
    assert steps["a new system"].seen == "each method takes the parameters of its operation"


class AsyncTasks(TaskProgress):
    """Its methods are async, and it has no clock to move."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none"}

    async def status(self, task: str) -> str:  # type: ignore[override]  # as an implementer may write it
        return super().status(task)


class PlainTasks(TaskProgress):
    """None of its methods is."""

    declares: ClassVar[dict[str, Any]] = {"clock": "none"}


@pytest.mark.parametrize(("system", "hinted"), [("AsyncTasks", True), ("PlainTasks", False)])
def test_of_async_methods_without_a_clock_it_is_said_what_may_be_meant(system: str, hinted: bool) -> None:
    steps = steps_of(f"python:tests.conformance.test_doctor:{system}")
    assert ("declare `clock: virtual`" in steps["clock"].seen) is hinted


class Odd:
    """A system with one operation, of another form than is asked."""

    def create_task(self, label: str, batch: str | None = None, registers: bool = True) -> Any:
        raise Refused("the_weather")


class WrongParameters(Odd):
    """Its operation does not take what it is given."""

    def create_task(self, name: str) -> Any:  # type: ignore[override]  # that is the fault
        return name


class CannotBeMade(Odd):
    """Its constructor fails."""

    def __init__(self) -> None:
        raise ValueError("no disk")


def test_a_class_that_cannot_be_called_is_told() -> None:
    steps = steps_of(f"python:{__name__}:WrongParameters")
    assert steps["a new system"].state is State.FATAL
    assert (
        "cannot be called with label, batch and registers; write `def create_task(self, label"
        in steps["a new system"].seen
    )
    assert "no disk" in steps_of(f"python:{__name__}:CannotBeMade")["a new system"].seen


@pytest.mark.parametrize(
    ("way", "name", "seen", "line"),
    [
        ("crash_at_hello", "hello", "there is no configuration", '> {"jsonrpc": "2.0", "id": 1, "method": "hello"'),
        (
            "other_protocol",
            "hello",
            "result.protocol is 2, and 1 is wanted",
            '< {"jsonrpc": "2.0", "id": 1, "result": {"pro',
        ),
        ("unknown_limit", "declares", "has no limit 'tasks'", "<"),
        ("crash_at_reset", "reset", "there is no database", '> {"jsonrpc": "2.0", "id": 2, "method": "reset"}'),
        ("garbage", "row N1", "this is not JSON", "< finished a task"),
        ("answers_twice", "row N1", "nobody waits for an answer", "<"),
        ("crash", "row N1", "the disk is full", ">"),
        ("tells_no_points", "two at once", "it says that it tells of points, and none of create_task", "<"),
        ("right", "operations", "there is no message, summarize, abort", ""),
    ],
)
def test_what_is_wrong_is_shown_with_what_passed_and_what_to_mend(way: str, name: str, seen: str, line: str) -> None:
    step = steps_of(target(way))[name]
    assert step.wrong
    assert step.mend
    assert seen in step.seen
    assert not line or any(each.startswith(line) for each in step.exchange)


def test_a_command_that_ends_before_it_says_hello_is_to_be_tried_by_hand() -> None:
    assert "run the command by hand" in steps_of(target("crash_at_hello"))["hello"].mend
    assert "run the command by hand" not in steps_of(target("crash_at_reset"))["reset"].mend


@pytest.mark.thorough
@pytest.mark.parametrize(("way", "name"), [("silent", "row N1"), ("stays", "close"), ("never_reads", "unknown method")])
def test_what_does_not_come_is_told(way: str, name: str) -> None:
    assert steps_of(target(way), SOON)[name].wrong


@pytest.mark.parametrize(
    ("answers", "name", "seen"),
    [
        ('ask["method"] != "hello" and sys.exit()', "reset", "ended with exit code 0"),
        ("pass", "unknown method", "no_such_operation is answered as if it were there"),
        ('give = dict(error=dict(code=7, message="?")) if "no_such" in line else give', "unknown method", "the code 7"),
        ("pass", "bad line", "after a line that is no JSON it does not go on"),
    ],
)
def test_a_careless_adapter_is_told_what_to_mend(answers: str, name: str, seen: str, tmp_path: Path) -> None:
    file = tmp_path / "careless.py"
    file.write_text(CARELESS.replace("ANSWERS", answers), encoding="utf-8")
    step = {step.name: step for step in examined(loaded("task-progress"), f"stdio:{sys.executable} {file}", LIMIT)}[
        name
    ]
    assert step.wrong
    assert seen in step.seen


CARELESS = """
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    give = dict(result=dict(protocol=1) if ask["method"] == "hello" else None)
    ANSWERS
    print(json.dumps(dict(jsonrpc="2.0", id=ask["id"], **give)), flush=True)
"""


def test_one_call_at_a_time_is_told_where_several_are_declared(tmp_path: Path) -> None:
    file = tmp_path / "serial.py"
    file.write_text(SERIAL, encoding="utf-8")
    steps = {step.name: step for step in examined(loaded("task-progress"), f"stdio:{sys.executable} {file}", SOON)}
    assert steps["two at once"].seen == "while a call waits at its point, no other request is answered"


SERIAL = """
import json, sys
def say(**message): print(json.dumps(dict(jsonrpc="2.0", **message)), flush=True)
for line in sys.stdin:
    ask = json.loads(line) if line.startswith("{") else None
    if ask is None:
        continue
    if ask["method"] == "hello":
        known = ["create_task", "start", "finish", "status"]
        say(id=ask["id"], result=dict(protocol=1, points=True, declares=dict(concurrency="threads"), operations=known))
    elif ask["method"] == "create_task":
        say(id="p", method="point", params=dict(call=ask["id"]))
        waiting = [sys.stdin.readline()]
        while '"p"' not in waiting[-1]:
            waiting.append(sys.stdin.readline())
        say(id=ask["id"], result=dict(task_id="task-1", status="pending"))
    elif ask["method"].startswith("no_such"):
        say(id=ask["id"], error=dict(code=-32601, message="no such method"))
    else:
        say(id=ask["id"], result=[] if ask["method"] == "signals" else "pending" if ask["method"] == "status" else None)
"""


def test_the_command_prints_a_line_a_step_and_exits_by_what_it_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor", "task-progress", "--against", "reference"]) == EXIT_CONFORMS
    assert "The adapter can be asked." in capsys.readouterr().out
    assert main(["doctor", "task-progress", "--against", target("no_method")]) == EXIT_VIOLATES
    out = capsys.readouterr().out
    assert "  mend  row N1 " in out
    assert '        < {"jsonrpc": "2.0", "id": 12, "error": {"code": -32601, "message": "no such method"}}' in out
    assert '"id": 2, "method": "reset"' not in out
    assert "        mend: Carry the call out" in out
    assert main(["doctor", "task-progress", "--against", target("no_method"), "--verbose"]) == EXIT_VIOLATES
    assert '> {"jsonrpc": "2.0", "id": 2, "method": "reset"}' in capsys.readouterr().out
    assert main(["doctor", "task-progress", "--against", target("crash_at_hello")]) == EXIT_HARNESS
    assert "Nothing further was tried." in capsys.readouterr().out
    assert main(["doctor", "task-progress", "--against", "stdio:"]) == EXIT_USAGE


def test_a_long_text_is_wrapped_and_a_long_exchange_cut() -> None:
    step = Tried("hello", State.MEND, "x " * 100 + "\nsecond", "do " * 100, ("> {}", "< {}"))
    lines = list(written([step]))
    assert max(map(len, lines)) <= 110
    assert lines[-2:] == ["1 of 1 steps has something to mend: hello.", "exit 1"]
