"""The tour of the README, taken as a newcomer takes it: its files are written, its commands run, its output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
TOUR = README[README.index("**1. The system.**") : README.index("**7. Go on.**")]
PYTHON = re.findall(r"```python\n(.*?)```", TOUR, re.DOTALL)
SHOWN = re.findall(r"```\n(\$ .*?)```", TOUR, re.DOTALL)
TIMES = re.compile(r"\d+(\.\d+)?m?s\b")  # how long something took is nobody's promise
LEFT_OUT = "…"

MEND = "        if job is None:\n            return", PYTHON[2].rstrip("\n")  # as step 5 says


def mended(source: str, wrong: str, right: str) -> str:
    assert source.count(wrong) == 1, "the mend of step 5 has to fit the system of step 1"
    return source.replace(wrong, right)


def conformance(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "120"}
    command = [sys.executable, "-m", "conformance", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    ).stdout


def lacking(shown: str, printed: str) -> list[str]:
    """The lines of a transcript that were not printed in that order."""
    rest = [TIMES.sub("#", line.rstrip()) for line in printed.splitlines()]
    missing = []
    for line in (TIMES.sub("#", each.rstrip()) for each in shown.splitlines()):
        if LEFT_OUT in line or not line:
            continue
        if line in rest:
            rest = rest[rest.index(line) + 1 :]
        else:
            missing.append(line)
    return missing


@pytest.mark.thorough
def test_the_first_screen_shows_what_the_demo_prints(tmp_path: Path) -> None:
    _, _, shown = README[: README.index("```\n\n(`…` stands for lines left out.)")].partition(
        "$ conformance demo\n"
    )
    elsewhere = shown.replace("spec/thread-job.yaml", "thread-job")  # outside a checkout
    assert shown != elsewhere
    assert lacking(elsewhere, conformance(tmp_path, "demo")) == []


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who has copied both files."""
    folder = tmp_path_factory.mktemp("tour")
    (folder / "jobs.py").write_text(PYTHON[0], encoding="utf-8")
    (folder / "adapter.py").write_text(PYTHON[1], encoding="utf-8")
    return folder


@pytest.mark.thorough
def test_the_tour_finds_the_bug_and_goes_green_as_the_readme_shows(tour: Path) -> None:
    first, second = SHOWN
    run = "run", "thread-job", "--against", "python:adapter:MyJobs"
    assert first.startswith(f"$ conformance {' '.join(run)}\n")
    assert lacking(first.partition("\n")[2], conformance(tour, *run)) == []
    (tour / "jobs.py").write_text(mended(PYTHON[0], *MEND), encoding="utf-8")
    replayed, _, rerun = second.partition("$ conformance run")
    command, _, said = replayed.partition("\n")
    assert lacking(said, conformance(tour, *command.removeprefix("$ conformance ").split())) == []
    assert lacking(rerun.partition("\n")[2], conformance(tour, *run)) == []


@pytest.mark.thorough
def test_a_test_file_of_the_mended_system_passes_as_the_readme_shows(tour: Path) -> None:
    after = README[README.index("### In a test file") :]
    (source, shown) = re.findall(r"```(?:python)?\n(.*?)```", after, re.DOTALL)[:2]
    (tour / "jobs.py").write_text(mended(PYTHON[0], *MEND), encoding="utf-8")
    (tour / "test_jobs.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "test_jobs.py"]
    told = subprocess.run(command, cwd=tour, capture_output=True, text=True, check=False)
    assert lacking(shown.partition("\n")[2], told.stdout) == []
