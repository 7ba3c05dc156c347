"""Two reports of one life cycle: what got worse is found, and what did not is no alarm."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.command.cli import main
from conformance.report import Comparison, Incomparable, compared
from conformance.report.comparison import ORDER
from conformance.report.records import Coverage, Footer, Header, Planned, tally
from conformance.report.report import Report
from conformance.verdict import Counterexample, RowResult, Verdict

SHOWN = Counterexample("C1:\n  act: []\n", 1, "operations.finish.move", "completed", "failed")


def result(
    name: str, verdict: Verdict = Verdict.PASS, clause: str = "", reason: str = "", level: str = "must"
) -> RowResult:
    shown = replace(SHOWN, clause=clause) if clause else None
    return RowResult(name, f"What {name} is about.", level, verdict, reason, counterexample=shown)  # type: ignore[arg-type]  # a level as text


def report(
    *rows: RowResult,
    planned: Iterable[str] | None = None,
    clauses: dict[str, int] | None = None,
    strays: tuple[str, ...] = (),
    finished: bool = True,
    header: Header | None = None,
) -> Report:
    names = [row.id for row in rows] if planned is None else planned
    first = header or Header("thread-job", 1, "python:jobs:Jobs", 0)
    whole = Footer(tally(rows), 0, 1.0, strays)
    first = replace(first, rows=tuple(Planned(name, "must", f"What {name} is about.") for name in names))
    return Report(first, rows, Coverage(clauses or {}), whole if finished else None)


def names(found: Comparison) -> dict[str, list[str]]:
    return {
        part: [each.name for each in getattr(found, part)]
        for part in ("worse", "better", "new", "other")
        if getattr(found, part)
    }


def test_two_runs_that_say_the_same_differ_in_nothing() -> None:
    found = compared(report(result("N1"), clauses={"a": 3}), report(result("N1"), clauses={"a": 9}))
    assert (names(found), found.alike, found.exit) == ({}, 1, 0)
    assert str(found).startswith("nothing changed.\n")


@pytest.mark.parametrize("verdict", ORDER[1:])
def test_whatever_a_row_that_held_becomes_is_worse_and_the_way_back_is_better(verdict: Verdict) -> None:
    held, other = report(result("N1")), report(result("N1", verdict))
    worse, better = compared(held, other), compared(other, held)
    assert (names(worse), worse.exit) == ({"worse": ["N1"]}, 1)
    assert (names(better), better.exit) == ({"better": ["N1"]}, 0)


def test_every_verdict_has_its_place_in_the_order() -> None:
    assert {*ORDER} == {*Verdict}


def test_a_failure_that_is_listed_is_neither_better_nor_worse() -> None:
    found = compared(report(result("N1", Verdict.FAIL)), report(result("N1", Verdict.KNOWN_FAIL)))
    assert (names(found), found.exit) == ({"other": ["N1"]}, 0)


def test_a_row_that_is_gone_and_one_without_a_result_are_worse() -> None:
    old = report(result("N1"), result("N2"), result("N3"))
    found = compared(old, report(result("N1"), planned=["N1", "N3"], finished=False))
    assert [(each.name, each.after) for each in found.worse] == [("N2", "gone"), ("N3", "no result")]


def test_a_row_that_was_not_there_is_new_whatever_its_verdict() -> None:
    found = compared(report(result("N1")), report(result("N1"), result("N2", Verdict.FAIL)))
    assert (names(found), found.exit) == ({"new": ["N2"]}, 0)


def test_a_clause_that_is_witnessed_no_more_is_worse() -> None:
    old = report(result("N1"), clauses={"a": 3, "b": 0, "c": 1, "d": 1})
    found = compared(old, report(result("N1"), clauses={"a": 0, "b": 2, "c": 1}))
    assert names(found) == {"worse": ["a"], "better": ["b"], "other": ["d"]}


def test_a_run_that_did_not_finish_says_nothing_of_clauses() -> None:
    found = compared(report(result("N1"), clauses={"a": 3}), report(result("N1"), finished=False))
    assert (names(found), found.exit) == ({"other": ["the run"]}, 0)


def test_a_further_fault_of_the_random_test_is_worse_and_one_that_a_row_has_told_is_none() -> None:
    old = report(result("N1", Verdict.FAIL, "a"), result("machine", Verdict.FAIL, "b"))
    same = report(*old.rows, result("machine-2", Verdict.FAIL, "a"), planned=["N1", "machine"])
    more = report(*old.rows, result("machine-2", Verdict.FAIL, "c"), planned=["N1", "machine"])
    assert compared(old, same).exit == 0
    assert names(compared(old, more)) == {"worse": ["machine"]}


def test_a_fault_that_none_of_the_rows_is_about_is_worse_once() -> None:
    old, new = report(result("N1"), strays=("a",)), report(result("N1"), strays=("a", "b"))
    assert names(compared(old, new)) == {"worse": ["b"]}


def test_what_else_is_not_the_same_is_said_and_no_fault() -> None:
    other = Header("thread-job", 2, "python:jobs:New", 7, {"clock": "none"})
    found = compared(report(result("N1")), report(result("N1"), header=other))
    assert (names(found), found.exit) == ({"other": ["target", "revision", "seed", "declares clock"]}, 0)


def test_two_life_cycles_cannot_be_compared() -> None:
    with pytest.raises(Incomparable, match="thread-job, the second of job"):
        compared(report(result("N1")), report(result("N1"), header=Header("job", 1, "x", 0)))


# --- the command --------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    held, fails = result("N1"), result("N1", Verdict.FAIL, "a", "expected 'completed'; seen 'failed'")
    reports = {
        "good": report(held, result("X1", level="should")),
        "bad": report(fails, result("X1", level="should"), result("X2", Verdict.FAIL)),
        "other": report(held, header=Header("job", 1, "x", 0)),
    }
    for name, each in reports.items():
        Path(f"{name}.jsonl").write_text(each.dump(), encoding="utf-8")


@pytest.mark.usefixtures("saved")
def test_the_text_begins_with_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "good.jsonl", "bad.jsonl"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "worse: N1; new: X2.",
        "",
        "worse",
        "  N1  pass -> fail  What N1 is about.",
        "      expected 'completed'; seen 'failed'",
        "",
        "new",
        "  X2  fail  What X2 is about.",
        "",
        "1 row as before",
        "exit 1",
    ]
    assert main(["compare", "bad.jsonl", "good.jsonl"]) == 1  # a row is gone
    assert capsys.readouterr().out.startswith("worse: X2; better: N1.\n")


@pytest.mark.usefixtures("saved")
def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "good.jsonl", "bad.jsonl", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["exit"] == 1
    assert [(each["name"], each["before"], each["after"]) for each in said["worse"]] == [("N1", "pass", "fail")]
    assert [each["name"] for each in said["new"]] == ["X2"]


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    ("files", "said"),
    [
        (("good.jsonl", "other.jsonl"), "cannot be compared: the first is a report of thread-job, the second of job"),
        (("good.jsonl", "none.jsonl"), "none.jsonl cannot be read"),
    ],
)
def test_what_cannot_be_compared_is_wrong_use(
    files: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *files]) == 2
    assert said in capsys.readouterr().err
