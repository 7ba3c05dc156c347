"""The reports that the repository holds say what today's specs and systems say; `make reports` makes them again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.command.cli import main
from conformance.report import reader
from conformance.report.comparison import compared
from conformance.verdict import EXIT_CONFORMS, MACHINE, Verdict
from reports.make import FOLDER, TARGETS, make, report_of
from statemachines.checks import avoided
from statemachines.compile import load

EACH = [pytest.param(*each, id="-".join(each)) for each in TARGETS]
AGAIN = "make the reports again: `make reports`"


def test_there_is_a_report_of_each_system_and_no_other() -> None:
    assert {path.name for path in FOLDER.glob("*.jsonl")} == {report_of(*each).name for each in TARGETS}


@pytest.mark.parametrize(("system", "lifecycle"), EACH)
def test_a_report_is_of_a_whole_run_of_todays_spec_that_held(system: str, lifecycle: str) -> None:
    report, spec = reader.read(report_of(system, lifecycle)), load(lifecycle)
    header = report.header
    assert (header.target, header.lifecycle, header.seed) == (TARGETS[system, lifecycle], lifecycle, 0), AGAIN
    asked = {row.id: (row.level, row.about) for row in header.rows if row.id != MACHINE}
    assert asked == {row.id.text: (row.level, row.about) for row in spec.lifecycle.rows.values()}, AGAIN
    assert [row.id for row in report.rows] == [row.id for row in header.rows]
    assert {row.verdict for row in report.rows} <= {Verdict.PASS, Verdict.NOT_APPLICABLE}
    assert report.coverage is not None
    said = {clause.path for clause in spec.kernel.clauses}
    assert set(report.coverage.clauses) == said - avoided(spec), AGAIN
    covered = {expr.text for row in spec.lifecycle.rows.values() for expr in row.covers}
    assert covered.isdisjoint(report.coverage.gaps)
    assert report.footer is not None
    assert (report.footer.exit, report.footer.strays) == (EXIT_CONFORMS, ())


@pytest.mark.parametrize("lifecycle", [lifecycle for system, lifecycle in TARGETS if system == "reference"])
def test_a_report_says_what_its_reference_declares_and_its_spec_says_today(lifecycle: str, tmp_path: Path) -> None:
    made = tmp_path / "made.jsonl"
    words = ["--against", "reference", "--rows", "N1", "--quick", "--report", str(made), "--save", str(tmp_path)]
    assert main(["run", lifecycle, *words]) == EXIT_CONFORMS
    kept, today = reader.read(report_of("reference", lifecycle)).header, reader.read(made).header
    assert replace(kept, rows=()) == replace(today, rows=()), AGAIN


@pytest.mark.soak
@pytest.mark.parametrize(("system", "lifecycle"), EACH)
def test_a_run_of_today_says_what_the_report_does(system: str, lifecycle: str) -> None:
    path = report_of(system, lifecycle)
    text, kept = path.read_bytes(), reader.read(path)
    try:
        assert make(system, lifecycle) == EXIT_CONFORMS
        changes = compared(kept, reader.read(path))
    finally:
        path.write_bytes(text)
    assert changes.parts == []
