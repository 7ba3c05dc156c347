"""Processes of the kit look for garbage less often; a process that is not one of them is left as it is."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.command import main
from conformance.garbage import OBJECTS
from conformance.workers import spread

NOTING = """
import gc
from pathlib import Path

from conformance.references.task_progress import TaskProgress

class Notes(TaskProgress):
    def __init__(self) -> None:
        super().__init__()
        with Path(__file__).with_name("noted").open("a") as noted:
            print(gc.get_threshold()[0], file=noted)
"""


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_command_and_the_processes_that_it_begins_look_seldom(processes: str, tmp_path: Path) -> None:
    (tmp_path / "noting.py").write_text(NOTING, encoding="utf-8")
    run = ["run", "task-progress", "--against", "python:noting:Notes", "--rows", "N1", "-n", processes]
    done = subprocess.run([sys.executable, "-m", "conformance", *run], cwd=tmp_path, capture_output=True, check=False)
    noted = (tmp_path / "noted").read_text(encoding="utf-8").split()
    assert {*noted} == {str(OBJECTS)}, done.stdout


def test_what_is_spread_is_done_where_one_looks_seldom() -> None:
    with spread(1) as ask:
        assert [seen[0] for seen in ask(gc.get_threshold, [()])] == [OBJECTS]


def test_a_process_that_only_asks_for_a_command_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    usual = gc.get_threshold()
    assert main(["list"]) == 0
    assert capsys.readouterr().out
    assert gc.get_threshold() == usual != (OBJECTS, *usual[1:])
