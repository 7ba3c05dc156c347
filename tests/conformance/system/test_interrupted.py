"""Ctrl-C ends a run at once wherever it comes, with what is known; and no system ends, copies or outlives it."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import conformance
from conformance.command.cli import main
from conformance.references.task_progress import TaskProgress
from conformance.system import HarnessError, importing, resolve
from conformance.verdict import EXIT_HARNESS, EXIT_INTERRUPTED, Verdict

ROOT = Path(__file__).parents[3]
RUN = ("run", "task-progress", "--against")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, whose modules can be imported by name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


class Presses(TaskProgress):
    """Somebody presses Ctrl-C at a call, which then does not come back; and a task that is ended twice has failed."""

    left: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        self._outcomes: dict[str, str] = {}

    def status(self, task: str) -> Any:
        type(self).left -= 1
        if not self.left:
            signal.raise_signal(signal.SIGINT)  # its handler runs in the main thread
            threading.Event().wait()
        found = super().status(task)
        return self._outcomes.get(task, found)

    def finish(self, task: str, outcome: str) -> None:
        self._outcomes[task] = "failed" if task in self._outcomes else outcome
        super().finish(task, outcome)


@pytest.mark.parametrize(
    ("rows", "call"),
    [("N1", 1), ("N1,E5", 12), ("X10", 4), ("machine", 40)],
    ids=["a call", "shrinking", "calls at once", "the machine"],
)
def test_an_interruption_ends_a_run_with_what_is_known(
    rows: str, call: int, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Presses, "left", call, raising=False)
    target = f"python:{__name__}:Presses"
    files = ("--junit", "junit.xml", "--report", "report.jsonl")
    assert main([*RUN, target, "--rows", rows, "--quick", "--call-limit", "60", *files]) == EXIT_INTERRUPTED
    assert Presses.left == 0
    records = [json.loads(line) for line in (elsewhere / "report.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [each["record"] for each in records] == ["header", *(["row"] if call == 12 else [])]
    suite = ET.parse(elsewhere / "junit.xml").getroot()
    unfinished = [each for each in suite.iter("error") if each.get("type") == "unfinished"]
    assert len(unfinished) == 1
    assert suite.find(".//failure") is None
    assert "The run did not finish" in capsys.readouterr().out


NAMES = (f"interrupted_{number}" for number in itertools.count())


def written(text: str) -> str:
    """Write a module with a system, after some lines of its own; return its target."""
    name = next(NAMES)  # that of no module which was imported before
    lines = [text, "from conformance.references.task_progress import TaskProgress as Tasks"]
    Path(f"{name}.py").write_text("\n".join(lines), encoding="utf-8")
    return f"{name}:Tasks"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os; os._exit(0)", "Exited: os._exit(0)"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("class Odd(BaseException): pass\nraise Odd('text')", "Odd: text"),
        ("while True: pass", "it did not come back within 0.05 s"),
        ("import threading; threading.Event().wait()", "it did not come back within 0.05 s"),
        ("import time; time.sleep(1000)", "it did not come back within 0.05 s"),
        ("import os; os.fork()", "it forks, and goes on in both processes"),
    ],
)
def test_a_module_that_does_not_come_back_from_its_import_is_told(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGALRM)]
    monkeypatch.setattr(importing, "IMPORT_LIMIT", 0.05 if "within" in said else 30)
    with pytest.raises(HarnessError, match="cannot be imported") as error:
        resolve(written(text))
    assert said in str(error.value)
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGALRM)] == handlers
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_an_import_is_limited_and_ctrl_c_stays_ignored_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "IMPORT_LIMIT", 0.05)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(HarnessError, match=r"it did not come back within 0\.05 s"):
            resolve(written("import signal, time; signal.raise_signal(signal.SIGINT); time.sleep(1000)"))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("after", ["", "import time; time.sleep(1000)", "raise ValueError"])
def test_an_interruption_of_an_import_is_none_of_its_faults(after: str) -> None:
    swallowed = "try: signal.raise_signal(signal.SIGINT)\nexcept KeyboardInterrupt: pass"
    with pytest.raises(KeyboardInterrupt):
        resolve(written(f"import signal\n{swallowed if 'time' not in after else swallowed[5:40]}\n{after}"))


def test_a_module_that_takes_signals_for_itself_does_not_keep_them() -> None:
    before = signal.getsignal(signal.SIGINT)
    resolve(written("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"))
    assert signal.getsignal(signal.SIGINT) is before


class EndsTheProcess(TaskProgress):
    """A status ends the process."""

    def status(self, task: str) -> Any:
        os._exit(0)


class EndsACopy(TaskProgress):
    """A status has a child of the process do something."""

    def status(self, task: str) -> Any:
        child = os.fork()
        if not child:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        return super().status(task)


class GoesOnTwice(TaskProgress):
    """A status goes on in a child of the process, too."""

    def status(self, task: str) -> Any:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        return super().status(task)


def test_a_system_that_ends_the_process_is_told_and_the_run_goes_on() -> None:
    before = os._exit
    report = conformance.run("task-progress", EndsTheProcess, rows="N1,X10", quick=True)
    assert os._exit is before
    assert report.exit == EXIT_HARNESS
    assert report["N1"].verdict is Verdict.HARNESS_ERROR
    assert report["N1"].reason.startswith("status() ends the process with os._exit(0)")
    assert report["X10"].verdict is Verdict.HARNESS_ERROR


@pytest.mark.parametrize("system", [EndsACopy, GoesOnTwice])
def test_a_child_of_the_process_is_ended_or_ends_itself(system: type) -> None:
    assert conformance.run("task-progress", system, rows="N1", quick=True).ok


class NeverCloses(TaskProgress):
    """What a case used is never free."""

    made: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1

    def close(self) -> None:
        threading.Event().wait()


class ClosesBadly(TaskProgress):
    """What a case used is freed with an error, which is nobody's concern."""

    def close(self) -> None:
        raise OSError("gone already")


def test_a_close_that_does_not_come_back_is_told_and_not_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NeverCloses, "made", 0, raising=False)
    report = conformance.run("task-progress", NeverCloses, quick=True, call_limit=0.1)
    assert report.exit == EXIT_HARNESS
    assert {row.verdict for row in report.rows} <= {Verdict.HARNESS_ERROR, Verdict.NOT_APPLICABLE}
    assert "close() did not come back in time" in report["N1"].reason
    assert NeverCloses.made == 1
    assert conformance.run("task-progress", ClosesBadly, rows="N1", quick=True, call_limit=0.1).ok


# ── The process of the command


def begun(*arguments: str) -> subprocess.Popen[str]:
    """Begin a command as a process of its own."""
    line = [sys.executable, "-m", "conformance", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)


def until(happened: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


STUBBORN = """
import pathlib, threading
def stay():
    pathlib.Path("stays").touch()
    while True:
        try:
            threading.Event().wait()
        except BaseException:
            pass
"""


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["import", "thread"])
def test_nothing_that_a_system_does_keeps_the_process_from_its_end(where: str) -> None:
    own = {
        "import": "stay()",
        "thread": "threading.Thread(target=stay).start()\nclass Tasks(Tasks):\n    def status(self, task): stay()",
    }
    target = written(STUBBORN)
    with Path(target.replace(":Tasks", ".py")).open("a", encoding="utf-8") as file:
        file.write(f"\n{own[where]}\n")
    process = begun(*RUN, f"python:{target}", "--rows", "N1", "--call-limit", "600")
    until(Path("stays").exists)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == EXIT_INTERRUPTED


@pytest.mark.thorough
def test_a_thread_that_a_system_leaves_behind_does_not_keep_the_process() -> None:
    target = written(f"{STUBBORN}\nthreading.Thread(target=stay).start()")
    process = begun(*RUN, f"python:{target}", "--rows", "N1")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
