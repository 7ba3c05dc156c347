"""The stream of a run: what is written, what is read back, and what is refused."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator, ValidationError

from conformance.report import records
from conformance.report.reader import ReportError, load, read
from conformance.report.records import LEVELS, Chart, Coverage, Footer, Header, Led, Planned, Stream, tally
from conformance.report.report import Report
from conformance.verdict import Counterexample, Made, RowResult, Verdict
from statemachines import specs

SCHEMA = specs.schema("report")
VALID = Draft7Validator(SCHEMA)

FOUND = Counterexample("C1:\n  act: []\n", 3, "messages.Ended", "one message", "two", rounds=24, reproduced=7)
ROWS = (
    RowResult("N1", "A call ends.", "must", Verdict.PASS, runs=2, witnesses={"b": 2, "a": 1}, where="x.yaml:3:1"),
    RowResult("N2", "A\u2028job \x85.", "must", Verdict.FAIL, "two", 5, {}, 9, FOUND, "x.yaml:9:1", 0.25),
    RowResult("X1", "Nothing is lost.", "should", Verdict.NOT_APPLICABLE, "needs a clock"),
)
DECLARES = {
    "limits": {"retained": 20, "lines": None},
    "policies": {"tie": ["status", "job_id desc"]},
    "lacks": ["emit"],
    "clock": "virtual",
    "concurrency": "threads",
    "settles": 0,
}
HEADER = Header(
    "thread-job",
    1,
    "reference",
    7,
    DECLARES,
    tuple(Planned(row.id, row.level, row.about, row.where, "Normal use") for row in ROWS),
)
FOOTER = Footer(tally(ROWS), 1, 1.5, ("d",))
WHOLE = Report(HEADER, ROWS, Coverage({"a": 1, "b": 2, "c": 0}, ("c",)), FOOTER)


def streamed(whole: Report) -> list[str]:
    """The lines of a report, one for each call of `write`."""
    lines: list[str] = []
    stream = Stream(lines.append)
    stream.header(whole.header)
    for row in whole.rows:
        stream.began(row.id)
        stream.row(row)
    assert whole.footer is not None
    stream.finish(whole.coverage, whole.footer)
    return lines


# --- writing ----------------------------------------------------------------------------------------------


def test_every_record_is_one_line_as_it_comes() -> None:
    flushed: list[int] = []
    lines: list[str] = []
    stream = Stream(lines.append, lambda: flushed.append(len(lines)))
    stream.header(HEADER)
    stream.row(ROWS[0])
    assert [json.loads(line)["record"] for line in lines] == ["header", "row"]
    assert flushed == [1, 2]
    assert all(line.endswith("\n") and len(line.splitlines()) == 1 for line in streamed(WHOLE))


def test_every_record_is_valid() -> None:
    Draft7Validator.check_schema(SCHEMA)
    for line in streamed(WHOLE):
        VALID.validate(json.loads(line))


def test_the_schema_knows_every_verdict_and_level() -> None:
    assert SCHEMA["definitions"]["verdict"]["enum"] == [verdict.value for verdict in Verdict]
    assert tuple(SCHEMA["definitions"]["level"]["enum"]) == LEVELS


@pytest.mark.parametrize("number", range(len(ROWS) + 3))
def test_the_schema_holds_each_field_of_each_record(number: int) -> None:
    record = json.loads(streamed(WHOLE)[number])
    for name in record:
        with pytest.raises(ValidationError):
            VALID.validate({key: value for key, value in record.items() if key != name})
        with pytest.raises(ValidationError):
            VALID.validate({**record, name: object()})
    with pytest.raises(ValidationError):
        VALID.validate({**record, "date": "today"})


def test_two_runs_differ_only_in_timing_and_schedule() -> None:
    def other(row: RowResult) -> RowResult:
        found = row.counterexample and replace(row.counterexample, reproduced=1, rounds=3)
        witnesses = dict(sorted(row.witnesses.items()))
        return replace(row, seconds=9.0, overlaps=1, counterexample=found, witnesses=witnesses)

    again = replace(
        WHOLE,
        rows=tuple(map(other, ROWS)),
        coverage=Coverage(dict(sorted(WHOLE.coverage.clauses.items(), reverse=True)), WHOLE.coverage.gaps),
        footer=replace(FOOTER, seconds=77.0),
    )
    assert [settled(line) for line in streamed(again)] == [settled(line) for line in streamed(WHOLE)]
    assert streamed(again) != streamed(WHOLE)


def settled(line: str) -> str:
    record = json.loads(line)
    return json.dumps({key: value for key, value in record.items() if key not in {"timing", "schedule"}})


def test_what_a_drawing_needs_is_written_and_read_again() -> None:
    made = Made(2, "start()", "'a'", 1, ("signal s()",), 3, 5, 1, True)
    found = replace(FOUND, played=(Made(1, "wait(ms=1)"), made), ids={"job.job_id": "a"})
    arrows = (Led("start", "", ("on",), clause="c"), Led("", "on", (), "to", "5m", "d"))
    header = replace(
        HEADER,
        sentences={"c": "a sentence"},
        charts=(Chart("Job", ("on", "off"), ("off",), arrows),),
        date="2026-05-02T08:30:00Z",
        python="CPython 3.12.4",
        platform="Linux",
    )
    whole = replace(WHOLE, header=header, rows=(ROWS[0], replace(ROWS[1], counterexample=found), ROWS[2]))
    lines = streamed(whole)
    for line in lines:
        VALID.validate(json.loads(line))
    assert load(lines) == whole
    assert json.loads(lines[0])["timing"] == {
        "date": "2026-05-02T08:30:00Z",
        "python": "CPython 3.12.4",
        "platform": "Linux",
    }
    schedule = json.loads(lines[2])["schedule"]
    assert schedule["played"][0] == {"step": 1, "call": "wait(ms=1)"}
    assert schedule["ids"] == {"job.job_id": "a"}
    assert not {"played", "ids"} & {*json.loads(lines[2])["counterexample"]}


def test_a_planned_row_without_a_result_is_simply_missing() -> None:
    assert load(streamed(replace(WHOLE, rows=ROWS[1:]))).rows == ROWS[1:]


def test_rows_are_counted_by_level_and_verdict() -> None:
    assert tally(ROWS) == {"must": {"pass": 1, "fail": 1}, "should": {"not applicable": 1}}
    assert tally(()) == {}


def test_a_declaration_becomes_plain_values() -> None:
    from conformance.system.declaration import Declaration

    declaration = Declaration({"b": 1, "a": None}, {"tie": ("x", "y desc")}, frozenset({"z", "emit"}), "real")
    plain = records.declares(declaration)
    assert json.loads(json.dumps(plain)) == plain
    assert list(plain["limits"]) == ["a", "b"]
    assert plain["lacks"] == ["emit", "z"]
    VALID.validate(json.loads(records.line(replace(HEADER, declares=plain))))


def test_writing_a_report_imports_nothing_heavy() -> None:
    code = (
        "import sys, conformance.report\n"
        "print(sorted({'rich', 'jsonschema', 'hypothesis', 'pytest', 'yaml'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- reading ----------------------------------------------------------------------------------------------


def test_what_was_written_is_read() -> None:
    assert load(streamed(WHOLE)) == WHOLE
    assert "".join(streamed(WHOLE)) == WHOLE.dump()
    assert load(WHOLE.dump().splitlines()) == WHOLE


ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.thorough
@given(ANY_TEXT, ANY_TEXT, st.dictionaries(ANY_TEXT, st.integers(0), max_size=3))
def test_any_text_survives(about: str, seen: str, counts: dict[str, int]) -> None:
    row = replace(ROWS[1], about=about, witnesses=counts, counterexample=replace(FOUND, seen=seen))
    text = replace(WHOLE, rows=(row,)).dump()
    assert text.encode("utf-8").decode("utf-8") == text
    assert load(text.splitlines()).rows == (row,)


def test_a_report_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text("\ufeff" + WHOLE.dump() + "\n", encoding="utf-8")
    assert read(path) == WHOLE
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ReportError, match=r"report\.jsonl: this is not UTF-8"):
        read(path)


def test_a_report_without_a_footer_is_not_finished() -> None:
    assert load(streamed(WHOLE)).finished
    cut = load(streamed(WHOLE)[:3])
    assert not cut.finished
    assert cut.rows == ROWS[:2]
    assert load(cut.dump().splitlines()) == cut


def test_a_last_line_that_was_cut_off_counts_as_not_written() -> None:
    lines = streamed(WHOLE)
    assert load([*lines[:2], lines[2][:40]]) == load(lines[:2])


def test_what_a_later_kit_adds_is_left_out() -> None:
    lines = [with_field(line, "mood", "good") for line in streamed(WHOLE)]
    assert load([lines[0], '{"record": "finding", "id": 3}\n', *lines[1:]]) == WHOLE


@pytest.mark.parametrize(
    "line",
    [
        '{"record": "new", "timing": 3}',
        '{"record": "new", "schedule": [1]}',
        '{"record": "new", "timing": null}',
        '{"record": "new", "counterexample": "x"}',
        '{"record": ["a"]}',
    ],
)
def test_a_record_of_a_later_kit_may_hold_anything(line: str) -> None:
    assert load([LINES[0], f"{line}\n", *LINES[1:]]) == WHOLE


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("coverage", "timing", "1s"),
        ("coverage", "timing", None),
        ("header", "schedule", [1]),
        ("header", "counterexample", "x"),
        ("footer", "schedule", 3),
        ("footer", "seconds", [1]),
        ("row", "seconds", 7),
        ("row", "overlaps", "many"),
    ],
)
def test_a_field_of_a_later_kit_may_hold_anything(kind: str, name: str, value: Any) -> None:
    lines = [with_field(line, name, value) if f'"record": "{kind}"' in line else line for line in LINES]
    assert lines != LINES
    assert load(lines) == WHOLE


def with_field(line: str, name: str, value: Any) -> str:
    return json.dumps({**json.loads(line), name: value}) + "\n"


LINES = streamed(WHOLE)
REFUSED = {
    "nothing": ([], r"r\.jsonl:1: a report begins with its one header, and this has none"),
    "no header": (LINES[1:], r"r\.jsonl:1: a report begins with its one header, and this is a row"),
    "two headers": (
        [LINES[0], LINES[0]],
        r"r\.jsonl:2: a report begins with its one header, and this is a header",
    ),
    "a newer format": (
        [with_field(LINES[0], "format", 2)],
        r"r\.jsonl:1: its format is 2, and this kit reads 1: a newer kit wrote this report",
    ),
    "no JSON": ([LINES[0], "{\n", LINES[1]], r"r\.jsonl:2: this is not JSON: "),
    "no JSON at all": (["hello"], r"r\.jsonl:1: this is not JSON: "),
    "no end of line in the middle": ([LINES[0], "{", LINES[1]], r"r\.jsonl:2: this is not JSON: "),
    "no number": (
        [LINES[0], LINES[1].replace('"seconds": ', '"seconds": NaN, "was": ')],
        r"r\.jsonl:2: this is not JSON: NaN is no number",
    ),
    "longer than anybody waits": (
        [LINES[0], LINES[1].replace('"seconds": ', '"seconds": 1e999, "was": ')],
        r"r\.jsonl:2: `timing\.seconds` of a row: inf is greater than the maximum of",
    ),
    "deeper than anybody reads": ([LINES[0], "[" * 100_000 + "\n"], r"r\.jsonl:2: this is not JSON: "),
    "no mapping": ([LINES[0], "[1]\n"], r"r\.jsonl:2: a record: \[1\] is not of type 'object'"),
    "no kind": (["{}\n"], r"r\.jsonl:1: a record: 'record' is a required property"),
    "twice": ([LINES[0], LINES[1], "\n", LINES[1]], r"r\.jsonl:4: row N1 has a result already"),
    "after the end": ([*LINES, LINES[1]], r"r\.jsonl:7: nothing follows a footer, and this is a row"),
    "a field missing": (
        [LINES[0], '{"record": "row", "id": "N1"}\n'],
        r"r\.jsonl:2: a row: 'about' is a required property",
    ),
    "a verdict of no kind": (
        [LINES[0], with_field(LINES[1], "verdict", "fine")],
        r"r\.jsonl:2: `verdict` of a row: 'fine' is not one of \['pass', 'fail', .*",
    ),
    "a level of no kind": (
        [LINES[0], with_field(LINES[1], "level", "shall")],
        r"r\.jsonl:2: `level` of a row: 'shall' is not one of \['must', 'should', 'may'\]",
    ),
    "a text for a number": (
        [LINES[0], with_field(LINES[1], "runs", "3")],
        r"r\.jsonl:2: `runs` of a row: '3' is not of type 'integer'",
    ),
    "a truth for a number": (
        [LINES[0], with_field(LINES[1], "runs", True)],
        r"r\.jsonl:2: `runs` of a row: True is not of type 'integer'",
    ),
    "less than nothing": (
        [LINES[0], with_field(LINES[1], "runs", -1)],
        r"r\.jsonl:2: `runs` of a row: -1 is less than the minimum of 0",
    ),
    "half a clause": (
        [LINES[0], with_field(LINES[1], "witnesses", {"a": 0.5})],
        r"r\.jsonl:2: `witnesses.a` of a row: 0\.5 is not of type 'integer'",
    ),
    "a gap that is no text": (
        [LINES[0], '{"record": "coverage", "clauses": {}, "gaps": [1]}\n'],
        r"r\.jsonl:2: `gaps.0` of a coverage: 1 is not of type 'string'",
    ),
    "a plan that is no mapping": (
        [with_field(LINES[0], "rows", ["N1"])],
        r"r\.jsonl:1: `rows.0` of a header: 'N1' is not of type 'object'",
    ),
    "a counterexample that is a text": (
        [LINES[0], with_field(LINES[1], "counterexample", "x" * 100)],
        r"r\.jsonl:2: `counterexample` of a row: 'x{59} … .*is not of type 'object', 'null'",
    ),
    "no counterexample": (
        [LINES[0], json.dumps({k: v for k, v in json.loads(LINES[1]).items() if k != "counterexample"})],
        r"r\.jsonl:2: a row: 'counterexample' is a required property",
    ),
}


@pytest.mark.parametrize(("lines", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_report_is_refused_with_its_place(lines: list[str], message: str) -> None:
    with pytest.raises(ReportError, match="^" + message):
        load(lines, "r.jsonl")


def test_the_line_that_runs_a_row_again_names_the_seed_unless_it_is_the_usual_one() -> None:
    header = Header("thread-job", 1, "python:my jobs:MyJobs", 0)
    assert header.rerun("B7") == "conformance run thread-job --against 'python:my jobs:MyJobs' --rows B7"
    assert replace(header, seed=5).rerun("B7").endswith("--rows B7 --seed 5")
