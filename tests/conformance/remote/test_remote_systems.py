"""Whole runs against systems in other processes: verdicts, replay, two at once, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import conformance
from conformance.api import loaded, opened
from conformance.budget import USUAL
from conformance.command.cli import main
from conformance.errors import UsageError
from conformance.suite import Run
from conformance.targets import open_system
from conformance.verdict import (
    EXIT_CONFORMS,
    EXIT_HARNESS,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    EXIT_VIOLATES,
    FROM_OUTSIDE,
    Verdict,
)
from tests.conformance.remote.leftovers import nothing_left, running
from tests.conformance.remote.test_hostile import FEW, PATIENT, target

ROOT = Path(__file__).parents[3]
REFERENCE = "conformance.references.task_progress:TaskProgress"


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes find the modules of the tests."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def served(system: str = REFERENCE, *options: str) -> str:
    """Return the target of a class of Python as an adapter in a process of its own."""
    return " ".join([f"stdio:{sys.executable} -m tests.tools.served {system}", *options])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stdio:", "there is no command"),
        ("stdio:  ", "there is no command"),
        ("stdio:node 'adapter.js", "no closing quotation"),
        ("http://", "names no server"),
        ("stdio", "is no target; write reference or model or python:module:Class or stdio:COMMAND or http://HOST:PORT"),
        ("ftp://x/", "is no target"),
    ],
)
def test_a_target_that_names_nothing_is_a_usage_error(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        open_system(loaded("task-progress"), text)
    assert said in str(error.value)


def test_exit_codes_tell_usage_from_what_cannot_be_started(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "task-progress", "--rows", "N1", "--against"]
    assert main([*words, "stdio:"]) == EXIT_USAGE
    assert main([*words, "stdio:/no/such/program"]) == EXIT_HARNESS
    assert "`/no/such/program` cannot be run" in capsys.readouterr().err


def test_a_class_in_another_process_is_what_it_is_in_this_one() -> None:
    with nothing_left():
        report = conformance.run("task-progress", served(), rows="N1,N4,E1", quick=True, call_limit=PATIENT)
    assert report.ok
    assert {row.verdict for row in report.rows} == {Verdict.PASS}


@pytest.mark.thorough
@pytest.mark.parametrize(("options", "reason"), [((), FROM_OUTSIDE), (("--points",), "")])
def test_calls_at_once_pass_weakly_unless_the_system_tells_of_points(options: tuple[str, ...], reason: str) -> None:
    compiled = loaded("task-progress")
    with nothing_left(), opened(compiled, served(REFERENCE, *options), PATIENT) as system:
        report = Run(compiled, system, rows="X14", budget=FEW).go()
    assert (report["X14"].verdict, report["X14"].reason) == (Verdict.PASS, reason)


@pytest.mark.thorough
def test_points_show_a_race_that_a_pipe_hides() -> None:
    compiled, found = loaded("task-progress"), {}
    for options in ((), ("--points",)):
        lie = "tests.faulty.task_progress.concurrency:BothEndingsCount"
        with nothing_left(), opened(compiled, served(lie, *options), PATIENT) as system:
            found[options] = Run(compiled, system, rows="X14", budget=USUAL.quick()).go()["X14"].verdict
    assert found["--points",] is Verdict.FAIL
    assert found[()] in (Verdict.PASS, Verdict.FAIL)  # seldom


def test_a_counterexample_of_another_process_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--against", target("no_method"), "--call-limit", f"{PATIENT:g}"]
    with nothing_left():
        assert main(["run", "task-progress", "--rows", "N1", "--save", str(tmp_path), *words]) == EXIT_VIOLATES
        assert "finish is not there" in capsys.readouterr().out
        file = str(tmp_path / "task-progress-N1.yaml")
        assert main(["replay", file, *words]) == EXIT_VIOLATES
        assert "still fails" in capsys.readouterr().out
        words[1] = target("right")
        assert main(["replay", file, *words]) == EXIT_CONFORMS


def test_two_adapters_at_once_do_not_know_of_each_other() -> None:
    def verdict(way: str) -> Verdict:
        report = conformance.run("task-progress", target(way), rows="N1", quick=True, call_limit=PATIENT)
        return report["N1"].verdict

    with nothing_left(), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(verdict, ["right", "crash", "garbage", "right"]))
    assert found == [Verdict.PASS, Verdict.FAIL, Verdict.HARNESS_ERROR, Verdict.PASS]


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["silent", "never_reads", "stays", "leaves_children_and_hangs"])
def test_ctrl_c_ends_a_run_within_a_second_and_leaves_nothing(way: str, tmp_path: Path) -> None:
    environment = {**os.environ, "CONFORMANCE_TEST": f"{tmp_path}"}
    words = ["run", "task-progress", "--against", target(way), "--rows", "N1,X10", "--call-limit", "60"]
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance", *words],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    mark = f"CONFORMANCE_TEST={tmp_path}"
    until = time.monotonic() + PATIENT
    while not any("-m conformance" not in each for each in running(mark)) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.3)  # it comes to its first calls, or not yet: it has to end either way
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENT)
    # A process that has not ended by itself after most of a second is ended, and then what it has started is left.
    assert process.returncode == EXIT_INTERRUPTED, out
    assert running(mark) == []


def test_a_clock_that_runs_on_elsewhere_is_moved_by_wait_too() -> None:
    with nothing_left(), opened(loaded("local-agent"), served("tests.tools.agents:RunningAgents"), PATIENT) as adapter:
        assert adapter.declaration.clock == "running"
        adapter.reset()
        adapter.call("wait", {"ms": 1000})
