"""A run that ends before it has come to everything says so, and conforms only where every row of level MUST was run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance.command.cli import main
from conformance.references.task_progress import TaskProgress
from conformance.report import Report, junit
from conformance.suite import MACHINE, Pace, Run
from conformance.verdict import EXIT_CONFORMS, EXIT_UNKNOWN, EXIT_VIOLATES, Verdict
from statemachines.compile import Compiled, load
from tests.conformance.systems import BRIEF, adapted


class LastOutcomeCounts(TaskProgress):
    """An ended task ends again."""

    def finish(self, task: str, outcome: str) -> Any:
        self.__dict__.setdefault("ends", {})[task] = outcome
        return super().finish(task, outcome)

    def status(self, task: str) -> Any:
        return self.__dict__.get("ends", {}).get(task) or super().status(task)


class Clock:
    """A clock that shows so many seconds more each time it is read."""

    def __init__(self, step: float = 1.0) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def compiled() -> Compiled:
    return load("task-progress")


def ran(system: Any, rows: str | None, pace: Pace) -> Report:
    with adapted(system, compiled()) as adapter:
        return Run(compiled(), adapter, rows=rows, budget=BRIEF, pace=pace).go()


def ids(report: Report) -> list[str]:
    return [row.id for row in report.rows]


def left(report: Report) -> tuple[str, ...]:
    assert report.footer is not None
    return report.footer.left


def test_it_stops_at_the_first_row_that_fails() -> None:
    report = ran(LastOutcomeCounts, "N1,E5,X1", Pace(at_first=True))
    assert (ids(report), left(report), report.exit) == (["N1", "E5"], ("X1",), EXIT_VIOLATES)
    said = " ".join(repr(report).split())
    assert "The run did not come to X1: it stops at the first row that fails the run, and E5 does." in said
    assert ids(ran(LastOutcomeCounts, "N1,E5,X1", Pace())) == ["N1", "E5", "X1"]


class OutputIsLost(TaskProgress):
    """The tokens that a task gives are not counted, and nobody can ask for a batch."""

    batch_status: ClassVar[None] = None  # type: ignore[assignment]  # not to be called

    def _count_tokens(self, task: Any, usage: Any) -> None:
        super()._count_tokens(task, {**usage, "output": 0})


def test_what_was_seen_beside_the_rows_is_told_where_it_stops_before_the_searches() -> None:
    report = ran(OutputIsLost, "E2,B6,X3,machine", Pace(at_first=True))
    assert (ids(report), left(report), report.exit) == (["E2", "B6", MACHINE], ("X3", MACHINE), EXIT_VIOLATES)
    verdicts = [row.verdict for row in report.rows]
    assert verdicts == [Verdict.PASS, Verdict.NOT_EXERCISED, Verdict.FAIL]
    shown = report[MACHINE].counterexample
    assert shown is not None
    assert shown.clause == "operations.message.set.task.output"


def test_nothing_is_told_beside_where_it_stops_and_nothing_was_seen() -> None:
    report = ran(OutputIsLost, "E5,B6,X3,machine", Pace(at_first=True))
    assert (ids(report), left(report)) == (["E5", "B6"], ("X3", MACHINE))


def test_a_row_that_does_not_fail_the_run_does_not_stop_it() -> None:
    report = ran(TaskProgress, "N1,E5", Pace(at_first=True))
    assert (ids(report), left(report), report.exit) == (["N1", "E5"], (), EXIT_CONFORMS)


def test_what_the_time_did_not_suffice_for_is_named_and_the_run_is_no_conforming_one() -> None:
    report = ran(TaskProgress, "N1,N2,N3", Pace(seconds=2.0, clock=Clock()))
    assert (ids(report), left(report), report.exit) == (["N1"], ("N2", "N3"), EXIT_UNKNOWN)
    said = " ".join(repr(report).split())
    assert "not every row of level must was run. The run did not come to N2 and N3: its 2 s were used up." in said
    assert [json.loads(line).get("left") for line in report.dump().splitlines()][-1] == ["N2", "N3"]
    assert junit(report).count('<error message="the run ended before this row had a verdict"') == 2


def test_rows_alone_make_a_conforming_run_where_no_time_is_left_for_the_search() -> None:
    report = ran(TaskProgress, f"N1,{MACHINE}", Pace(seconds=2.0, clock=Clock()))
    assert (ids(report), left(report), report.exit) == (["N1"], (MACHINE,), EXIT_CONFORMS)
    assert "<error" not in junit(report)


def test_a_search_uses_what_is_left_and_says_that_it_was_a_part() -> None:
    report = ran(TaskProgress, MACHINE, Pace(seconds=8.0, clock=Clock()))
    row = report[MACHINE]
    assert (row.verdict, row.reason) == (Verdict.PASS, "a part of the search: its time was used up")
    assert 0 < row.runs < 10


def test_a_search_that_finds_nothing_goes_on_with_other_calls_until_its_time_is_used_up() -> None:
    once = ran(TaskProgress, MACHINE, Pace())[MACHINE].runs
    longer = ran(TaskProgress, MACHINE, Pace(seconds=60.0 * once, clock=Clock()))[MACHINE]
    assert (longer.verdict, longer.reason) == (Verdict.PASS, "")
    assert longer.runs > 1.5 * once


def test_what_a_later_round_finds_is_told_and_ends_the_search() -> None:
    class FailsLate(TaskProgress):
        """A fault that shows after many calls of all cases together."""

        calls: ClassVar[list[str]] = []

        def summarize(self, task: str, text: str) -> None:
            self.calls.append(task)
            super().summarize(task, text if len(self.calls) < 150 else "")

    once = ran(TaskProgress, MACHINE, Pace())[MACHINE].runs
    row = ran(FailsLate, MACHINE, Pace(seconds=1e9, clock=Clock()))[MACHINE]
    assert row.verdict is Verdict.FAIL
    assert row.runs > once


# --- the command --------------------------------------------------------------------------------------------

TARGET = f"python:{__name__}:LastOutcomeCounts"


@pytest.mark.parametrize("text", ["", "soon", "-1s", "5 m"])
def test_what_is_no_time_is_wrong_use(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "task-progress", "--against", "reference", f"--budget={text}"])
    assert "write 90, 90s, 5m or 1h" in capsys.readouterr().err


def test_only_what_failed_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole = ["run", "task-progress", "--against", TARGET, "--quick", "--rows", "N1,E5,X1", "--report", "a.jsonl"]
    assert main(whole) == EXIT_VIOLATES
    again = [*whole[:5], "--rerun-failed", "a.jsonl", "--report", "b.jsonl"]
    assert main(again) == EXIT_VIOLATES
    header = json.loads(Path("b.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert [row["id"] for row in header["rows"]] == ["E5"]


def test_a_row_without_a_result_is_run_again_and_one_that_held_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    report = ran(TaskProgress, "N1,N2", Pace(seconds=2.0, clock=Clock()))
    Path("a.jsonl").write_text(report.dump(), encoding="utf-8")
    line = ["run", "task-progress", "--against", "reference", "--quick", "--rerun-failed", "a.jsonl"]
    assert main([*line, "--report", "b.jsonl"]) == EXIT_CONFORMS
    assert [row["id"] for row in json.loads(Path("b.jsonl").read_text("utf-8").splitlines()[0])["rows"]] == ["N2"]
    assert main([*line[:-1], "b.jsonl"]) == 2
    assert "nothing that is asked for failed in b.jsonl" in capsys.readouterr().err
    assert main(["run", "thread-job", *line[2:]]) == 2
    assert "a.jsonl is a report of task-progress, and this is a run of thread-job" in capsys.readouterr().err
