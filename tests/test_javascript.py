"""The example in JavaScript: the right registry passes, and a row finds each of its faults."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from conformance.command.cli import main
from conformance.verdict import EXIT_CONFORMS, Verdict
from tests.conformance.systems import row_result, whole_run

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "javascript"
TARGET = f"stdio:node {FOLDER / 'adapter.js'}"
RACES = {  # which show only where calls come at once
    "told-twice": "B4",
    "same-id": "X42",
    "both-modes": "B1",
    "cancel-revives": "E6",
    "both-outcomes": "X41",
}
OTHERS = {
    "evicts-first-started": "B7",
    "counts-characters": "B5",
    "one-file": "X46",
    "shows-foreign": "E9",
    "sleeps-on": "E7",
}
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")


def test_each_fault_that_can_be_asked_for_has_a_row_that_finds_it() -> None:
    listed = (FOLDER / "faults.js").read_text(encoding="utf-8").partition("export const FAULTS = {")[2]
    assert re.findall(r'^  "([a-z-]+)":', listed, re.MULTILINE) == [*RACES, *OTHERS]


@needs_node
def test_the_doctor_has_nothing_to_mend(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "thread-job", "--against", TARGET]) == EXIT_CONFORMS, capsys.readouterr().out


@needs_node
@pytest.mark.thorough
@pytest.mark.parametrize(("fault", "row"), {**RACES, **OTHERS}.items())
def test_a_fault_is_found_by_its_row(fault: str, row: str) -> None:
    result = row_result(f"{TARGET} --fault {fault}", row, quick=True, shortest=False)
    assert result.verdict is Verdict.FAIL, result.reason


@needs_node
@pytest.mark.thorough
@pytest.mark.parametrize("row", sorted({*RACES.values(), *OTHERS.values()}))
def test_the_right_registry_is_not_accused_by_these_rows(row: str) -> None:
    result = row_result(TARGET, row, quick=True)
    assert result.verdict is Verdict.PASS, result.reason


@needs_node
@pytest.mark.soak
def test_the_right_registry_passes_whole() -> None:
    code, results = whole_run(TARGET, quick=True)
    assert code == EXIT_CONFORMS, [each.id for each in results if each.verdict is not Verdict.PASS]


@needs_node
@pytest.mark.soak
@pytest.mark.parametrize(("fault", "row"), RACES.items())
def test_a_race_is_found_in_nearly_every_schedule(fault: str, row: str) -> None:
    target = f"{TARGET} --fault {fault}"
    verdicts = [row_result(target, row, seed=seed, quick=True, shortest=False).verdict for seed in range(20)]
    assert verdicts.count(Verdict.FAIL) >= 19
