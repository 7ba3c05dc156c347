"""By which revision a system is judged: what is newer is reported, and demotes nobody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import conformance
from conformance.command.cli import main
from conformance.errors import UsageError
from conformance.gating import measured_by
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, RowResult, Verdict, exit_code
from statemachines.compile import load
from tests.statemachines.test_requirements import RAISED_LEVEL, ROWS, RULES, freeze, written

MUST = ROWS.replace("    level: should\n", "")
NEW = (
    MUST
    + "\n"
    + MUST[MUST.index("  N1:") : MUST.index("  N2:")]
    .replace("N1", "N3")
    .replace("finish(job", "inspect(job")
    .replace("done", "running")
)
SECOND = RULES.replace("version: 1", "version: 2")


class Jobs:
    """Jobs that keep every rule."""

    def __init__(self) -> None:
        self.jobs: dict[str, str] = {}

    def start(self) -> dict[str, str]:
        job = f"job-{len(self.jobs) + 1}"
        self.jobs[job] = "running"
        return {"job_id": job}

    def finish(self, job: str) -> None:
        self.jobs[job] = "done"

    def inspect(self, job: str) -> dict[str, str]:
        return {"job_id": job, "status": self.jobs[job]}


class Forgets(Jobs):
    """A job that was looked at once is shown as done."""

    def inspect(self, job: str) -> dict[str, str]:
        shown = super().inspect(job)
        self.jobs[job] = "done"
        return shown


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The small spec: revision 1 with two MUST rows is frozen."""
    freeze(written(tmp_path / "small", rows=MUST))
    return tmp_path / "small"


def test_a_row_of_the_revision_counts(spec: Path) -> None:
    written(spec, rows=NEW)
    report = conformance.run(spec, Jobs, rows="N*")
    assert ([(each.level, each.later) for each in report.rows][:2], report.exit) == ([("must", "")] * 2, 0)


def test_a_new_row_is_reported_and_does_not_count_until_the_revision_is_raised(spec: Path) -> None:
    written(spec, rows=NEW)
    report = conformance.run(spec, Forgets, rows="N*")
    row = report["N3"]
    assert (row.verdict, row.level, row.later) == (Verdict.FAIL, "may", "new since revision 1, so it does not count")
    assert report.exit == EXIT_CONFORMS
    assert "N3: new since revision 1, so it does not count." in " ".join(repr(report).split())
    freeze(written(spec, SECOND, NEW))
    assert conformance.run(spec, Forgets, rows="N*").exit == EXIT_VIOLATES
    earlier = conformance.run(spec, Forgets, rows="N*", revision=1)
    assert (earlier.exit, earlier.header.revision, earlier.header.judged_by) == (EXIT_CONFORMS, 2, 1)
    assert "judged by revision 1: what is newer does not count" in " ".join(repr(earlier).split())


def test_a_row_whose_level_rises_counts_by_its_level_in_the_revision(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    freeze(written(folder))
    freeze(written(folder, SECOND, RAISED_LEVEL))
    compiled = load(folder)
    assert measured_by(compiled).counts("N2", "must") == ("must", "")
    assert measured_by(compiled, 1).counts("N2", "must") == ("should", "must in the spec, and should in revision 1")


def test_a_row_that_says_something_else_now_does_not_count(spec: Path) -> None:
    changed = MUST.replace("first.status == running", "first.status == running && first.job_id == job.job_id")
    freeze(written(spec, SECOND, changed))
    assert measured_by(load(spec), 1).counts("N2", "must")[0] == "may"
    assert measured_by(load(spec), 2).counts("N2", "must") == ("must", "")


def test_the_random_test_counts_as_long_as_the_rules_are_those_of_the_revision(spec: Path) -> None:
    freeze(written(spec, SECOND, MUST))
    assert measured_by(load(spec), 1).counts("machine", "must") == ("must", "")
    freeze(written(spec, SECOND.replace("move: running", "otherwise: unchanged\n    move: running"), MUST))
    level, later = measured_by(load(spec), 1).counts("machine", "must")
    assert (level, later) == ("may", "the rules are not those of revision 1, so it does not count")


def test_where_nothing_is_frozen_everything_counts(tmp_path: Path) -> None:
    written(tmp_path / "small", rows=MUST)
    assert measured_by(load(tmp_path / "small")).counts("N1", "must") == ("must", "")
    with pytest.raises(UsageError, match="none is frozen"):
        measured_by(load(tmp_path / "small"), 1)


@pytest.mark.parametrize("verdict", [Verdict.HARNESS_ERROR, Verdict.COULD_NOT_TELL, Verdict.NOT_EXERCISED])
def test_a_row_that_does_not_count_keeps_no_run_from_conforming(verdict: Verdict) -> None:
    held = RowResult("N1", "", "must", Verdict.PASS)
    assert exit_code([held, RowResult("N2", "", "may", verdict, later="new since revision 1")]) == EXIT_CONFORMS
    assert exit_code([held, RowResult("N2", "", "must", verdict)]) != EXIT_CONFORMS


def test_a_report_says_by_which_revision(spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    freeze(written(spec, SECOND, NEW))
    target = f"python:{__name__}:Jobs"
    report = conformance.run(spec, Jobs, rows="N1,N3", revision=1)
    (tmp_path / "report.jsonl").write_text(report.dump(), encoding="utf-8")
    assert main(["show", str(tmp_path / "report.jsonl")]) == 0
    assert "N3: new since revision 1" in capsys.readouterr().out
    header = json.loads(report.dump().splitlines()[0])
    assert (header["judged_by"], [row["level"] for row in header["rows"]]) == (1, ["must", "may"])
    assert main(["run", str(spec), "--against", target, "--revision", "7"]) == 2
    assert "revision 7 of small is not frozen; frozen are 1 and 2" in capsys.readouterr().err


# --- conformance freeze -------------------------------------------------------------------------------------


def test_check_says_where_a_frozen_revision_says_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    freeze(written(Path("small"), rows=MUST))
    assert main(["check", "small"]) == 0
    assert "is frozen" not in capsys.readouterr().out
    shows = "{job_id: job.id, status: job.state}"
    written(Path("small"), RULES.replace(shows, f"{shows[:-1]}, again: job.id}}"), MUST)
    assert main(["check", "small"]) == 0
    assert "small: revision 1 is frozen, and the spec says otherwise now: raise" in capsys.readouterr().out


def test_freeze_writes_the_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path("small"))
    assert main(["freeze", "small"]) == 0
    assert (
        capsys.readouterr().out == "small/requirements/1.yaml: revision 1 of small requires 2 rows (1 must, 1 should)\n"
    )
    before = Path("small/requirements/1.yaml").read_text(encoding="utf-8")
    assert main(["freeze", "small/"]) == 0
    assert "is frozen as it is" in capsys.readouterr().out
    written(Path("small"), rows=MUST)
    assert main(["freeze", "small"]) == 2
    assert "raise `version` to 2" in capsys.readouterr().err
    assert Path("small/requirements/1.yaml").read_text(encoding="utf-8") == before
    assert main(["freeze", "small", "--again"]) == 0
    written(Path("small"), SECOND, MUST)
    assert main(["freeze", "small"]) == 0
    written(Path("small"), RULES, MUST)
    assert main(["freeze", "small", "--again"]) == 2
    assert "revision 2 of small is frozen" in capsys.readouterr().err
