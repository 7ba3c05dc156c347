"""What people read of a report: in a terminal, through a pipe, and as JUnit XML."""

import io
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from conformance.report import content
from conformance.report.junit_xml import junit
from conformance.report.records import Coverage, Footer, Header, Planned, tally
from conformance.report.report import Report
from conformance.report.terminal import LOOKS, TerminalView
from conformance.report.texts import duration
from conformance.report.view import PlainView
from conformance.verdict import FROM_OUTSIDE, MACHINE, Counterexample, Diagnosis, RowResult, Verdict, exit_code
from statemachines.lifecycle import Level

GOLDEN = Path(__file__).parents[2] / "golden"

ABOUT = {
    "N1": "A tool call that completes inline has no job.",
    "N2": "A background start replies with mode, id and status, and leaves exactly one record.",
    "N3": "A job ends in the outcome that its tool reports, from running and from pending_cancel.",
    "N4": "One message at the boundary, none before, none at the next; a turn is triggered.",
    "N5": "Jobs that ended before the boundary are told in the order they ended.",
    "N6": "A cancel, by a user or an agent, marks a running job, stamps it, and tells the tool.",
    "N7": "An oversize payload goes whole to a file that the message refers to; two never share one.",
    "N8": "By default the list shows running and pending_cancel, one job in each status.",
    "N9": "A list with statuses shows the jobs in just those.",
    "N10": "A job inspected in its own thread shows its whole record.",
    "E1": "A second job or a second resolution for one tool call is refused and leaves no record.",
    "E2": "A job id in use is refused in any thread; the record and the tool call stay as they were.",
    "E3": "Progress tells nobody and changes nothing.",
    "E4": "A second ending after the job was told tells nobody again and changes nothing.",
    "E5": "A job that was asked to stop and ends anyway keeps the outcome that its tool reports.",
    "E6": "A cancel after completion changes nothing and sends nothing.",
    "E7": "An idle thread wakes up; a busy one waits for its boundary.",
    "E8": "From another thread a job can be neither listed nor cancelled.",
    "E9": "From another thread a job cannot be inspected, whatever its status.",
    "E10": "A payload one below, at and one above each limit takes the right branch and stays whole.",
    "E11": "A job cannot be tried again, be it running, ended or unknown.",
    "E12": "After a restart nothing is recovered, and everything can be used again.",
    "E13": "A retryable HTTP error inside a job tells nobody and changes no status.",
    "B1": "An inline result and a background start of one call, at once, give exactly one mode.",
    "B2": "Many starts at once give unique ids, and every job that was acknowledged is there.",
    "B3": "Jobs that end at one instant are told in one fixed order, on every reading.",
    "B4": "Concurrent emitters tell a job once.",
    "B5": "A payload at a limit is told inline, one above goes to a file; bytes count, not characters.",
    "B6": "As many terminal jobs as are retained stay, all of them.",
    "B7": "The ending that is one too many evicts the job that ended first, not the one that started first.",
    "B8": "When terminal jobs overflow, active ones and those of another thread stay.",
    "X1": "Eviction before telling loses no message.",
    "X2": "An evicted id is refused like one that never existed.",
    "X3": "A restart between an ending and the boundary tells nothing.",
    "X4": "A message carries the id, the tool and the status of its job.",
    "X5": "An unknown id and one of another thread cannot be told apart.",
    "X6": "Messages keep the order of endings when several emitters tell them.",
    "X7": "One attempt to tell one job tells it once, in its own thread.",
    "X8": "A completion that races a cancel ends completed.",
    "custom.1": "A row of one's own, 等待中的任务 included, has any id.",
}
LEVEL: dict[str, Level] = {"X1": "should", "X4": "should", "X8": "may"}

EVICTION = Counterexample(
    """C1:
  about: "Expected that job j1 is gone; seen that j2 is gone."
  level: must
  source: counterexample
  covers: [entities.Job.retain]
  act:
    - started = repeat(21, start(t1, fresh, bash))
    - finish(started[1].job_id, completed, 'x')
    - wait(1)
    - for each each in started.drop(2):
        - finish(each.job_id, failed, '')
    - last = list_jobs(t1, [completed, failed])
  assert:
    - last.size() == 20
""",
    42,
    "entities.Job.retain",
    "20 jobs, without the one that ended first",
    "21 jobs: [{job_id: 8f3a, status: completed, started_at: 0, completed_at: 0}, "
    "{job_id: 77c1, status: failed, started_at: 0, completed_at: 1}, and 19 more]",
)
RACE = Counterexample(
    """C1:
  about: "Expected one message; seen two."
  level: must
  source: counterexample
  covers: [messages.Ended.at most]
  act:
    - job = start(t1, fresh, bash)
    - finish(job.job_id, completed, 'done')
    - together(2, turn_boundary(t1))
  assert:
    - messages(t1).size() == 1
""",
    4,
    "messages.Ended.at most",
    "each job is told at most once",
    "turn_boundary → [{job_id: 8f3a}]; turn_boundary → [{job_id: 8f3a}]",
    24,
    7,
)
NO_START_AS = "needs start_as, which is optional and lacking"
Said = tuple[Verdict, str, Counterexample | None]
VERDICTS: dict[str, Said] = {
    "E2": (Verdict.NOT_APPLICABLE, NO_START_AS, None),
    "X2": (Verdict.NOT_APPLICABLE, NO_START_AS, None),
    "B3": (
        Verdict.NOT_APPLICABLE,
        "needs a virtual clock: ties are not broken by completion, and clock: real is declared",
        None,
    ),
    "B7": (Verdict.FAIL, f"expected {EVICTION.expected}; seen {EVICTION.seen}", EVICTION),
    "X1": (Verdict.FAIL, f"expected {EVICTION.expected}; seen {EVICTION.seen}", EVICTION),
    "B4": (Verdict.FAIL, f"expected {RACE.expected}; seen {RACE.seen}", RACE),
    "E9": (Verdict.FAIL, "the system said nothing\x1b[31m", None),
    "E7": (Verdict.FLAKY, "expected a wake-up; seen none; tried again 3 times, it held", None),
    "N8": (Verdict.KNOWN_FAIL, "the queue is rewritten in spring (since 2.3; https://example.org/7)", EVICTION),
    "N9": (Verdict.NOT_EXERCISED, "nothing witnessed operations.list_jobs.gives", None),
    "B2": (Verdict.COULD_NOT_TELL, "more explanations than were looked at", None),
    "E12": (
        Verdict.HARNESS_ERROR,
        "the process ended with status 1\nTraceback (most recent call last):\nKeyError: 't1'",
        None,
    ),
    "E13": (
        Verdict.HARNESS_ERROR,
        "the process ended with status 1\nTraceback (most recent call last):\nKeyError: 't1'",
        None,
    ),
}
PASSES: Said = (Verdict.PASS, "", None)


TITLES = {"N": "Normal use", "E": "Edge cases", "B": "Boundaries and races", "X": "Derived rows"}


def made_up(verdicts: Mapping[str, Said] = VERDICTS, **footer: int) -> Report:
    """A report of 40 rows, with every verdict in it."""
    rows = tuple(result(index, *verdicts.get(row_id, PASSES)) for index, row_id in enumerate(ABOUT))
    declares = {
        "limits": {"retained": 20, "max_lines": None},
        "policies": {"tie": ["status", "job_id desc"]},
        "lacks": ["start_as"],
        "clock": "real",
        "concurrency": "threads",
        "settles": 0,
    }
    planned = tuple(Planned(row.id, row.level, row.about, row.where, TITLES.get(row.id[0], "")) for row in rows)
    header = Header("thread-job", 1, "python:my_jobs:MyJobs", 0, declares, planned, "0.1.0")
    gaps = ("operations.start_as.create.Job", "operations.start_as.open.duplicate_job_id", "policies.tie")
    coverage = Coverage({f"operations.o{number}": number for number in range(1, 94)}, gaps)
    return Report(header, rows, coverage, Footer(tally(rows), footer.get("exit", exit_code(rows)), 11.8342))


def result(index: int, verdict: Verdict, reason: str, found: Counterexample | None) -> RowResult:
    """The result of the row at an index, with numbers that follow from the index."""
    row_id = list(ABOUT)[index]
    ran = verdict not in {Verdict.NOT_APPLICABLE, Verdict.HARNESS_ERROR}
    return RowResult(
        id=row_id,
        about=ABOUT[row_id],
        level=LEVEL.get(row_id, "must"),
        verdict=verdict,
        reason=reason,
        runs=7 ** (index % 5) if ran else 0,
        witnesses={"operations.start.gives": index} if ran else {},
        overlaps=9 if row_id.startswith("B") and ran else 0,
        counterexample=found,
        where=f"spec/thread-job/rows/edge.yaml:{5 + 17 * index}:3",
        seconds=0.0031 * 4 ** (index % 6) if ran else 0.0,
    )


def replay(row_id: str) -> str:
    return f"conformance run thread-job --against python:my_jobs:MyJobs --rows {row_id} --seed 0"


def plain(report: Report, *, times: bool = True) -> str:
    stream = io.StringIO()
    report.show(PlainView(stream, replay, times=times))
    return stream.getvalue()


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What rich reads of the environment is the same on every machine."""
    for name in (
        "NO_COLOR",
        "FORCE_COLOR",
        "TTY_COMPATIBLE",
        "TTY_INTERACTIVE",
        "COLORTERM",
        "JUPYTER_COLUMNS",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")


def terminal(report: Report, width: int = 80, colour: bool | None = None, screen: io.StringIO | None = None) -> str:
    os.environ["COLUMNS"] = str(width)  # the fixture puts it back
    stream = screen or io.StringIO()
    report.show(TerminalView(stream, replay, colour=colour))
    return stream.getvalue()


def golden(name: str, text: str) -> None:
    """Compare a text with the one that somebody looked at. To renew it: delete the file, run, look at it."""
    text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    path = GOLDEN / name
    if not path.exists():
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{path} was not there; it is now, to be looked at and committed")
    assert text == path.read_text(encoding="utf-8")


# --- as people see it -------------------------------------------------------------------------------------


def test_plain_text_is_what_somebody_looked_at() -> None:
    golden("report.plain.txt", plain(made_up(), times=False))


@pytest.mark.parametrize("width", [80, 160])
def test_a_terminal_shows_what_somebody_looked_at(width: int) -> None:
    golden(f"report.terminal-{width}.txt", terminal(made_up(), width))


def test_junit_is_what_somebody_looked_at() -> None:
    golden("report.junit.xml", junit(made_up()))


# --- what all renderings share ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", [plain, terminal])
def test_every_row_has_its_line_and_every_failure_its_block(way: object) -> None:
    text = plain(made_up()) if way is plain else terminal(made_up(), 200)
    lines = text.splitlines()
    for row in made_up().rows:
        (line,) = [line for line in lines if re.search(rf"{row.verdict} +{re.escape(row.id)} ", line)]
        assert row.about in line
        if row.verdict in content.FAILING:
            assert any(f"{row.id} {content.FAILING[row.verdict]}" in line for line in lines)
            assert sum(replay(row.id) in line for line in lines) == 1


@pytest.mark.parametrize("way", [plain, terminal])
@pytest.mark.parametrize(
    ("reason", "word"), [(FROM_OUTSIDE, "weak pass"), ("", "pass"), ("its time was used up", "pass")]
)
def test_a_weak_pass_is_seen_in_its_line(way: object, reason: str, word: str) -> None:
    report = made_up()
    rows = tuple(replace(row, reason=reason) if row.id == "B1" else row for row in report.rows)
    text = plain(replace(report, rows=rows)) if way is plain else terminal(replace(report, rows=rows), 200)
    (line,) = [line for line in text.splitlines() if " B1 " in line and "at once" in line]
    assert line.split(" B1 ")[0].strip("✓ ") == word


HEADINGS = [*TITLES.values(), "Other rows"]


def headings(report: Report) -> list[str]:
    return [line for line in plain(report).splitlines() if line in {*HEADINGS, "Rows"}]


def test_rows_stand_under_the_title_of_their_group_in_the_order_of_the_plan() -> None:
    report = made_up()
    backwards = replace(report, header=replace(report.header, rows=report.header.rows[::-1]), rows=report.rows[::-1])
    assert headings(report) == HEADINGS
    assert headings(backwards) == HEADINGS[::-1]
    said = plain(report).splitlines()
    at = {row.id: next(i for i, line in enumerate(said) if f" {row.id} " in line) for row in report.rows}
    assert at["N1"] < at["N10"] < at["E13"] < at["custom.1"]


def test_rows_without_titles_stand_under_one_heading() -> None:
    report = made_up()
    rows = tuple(replace(row, group="") for row in report.header.rows)
    assert headings(replace(report, header=replace(report.header, rows=rows))) == ["Rows"]


def test_a_row_is_shown_as_soon_as_it_is_there() -> None:
    report, stream = made_up({}), io.StringIO()
    view = PlainView(stream)
    view.header(report.header)
    view.row(report.rows[0])
    assert " N1 " in stream.getvalue()
    assert " N2 " not in stream.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal_but_what_is_to_be_copied(width: int) -> None:
    rows = [*EVICTION.row.splitlines(), *RACE.row.splitlines()]
    copied = [*rows, *made_up().coverage.gaps, *(replay(row.id) for row in made_up().rows)]
    for line in terminal(made_up(), width).splitlines():
        assert cell_len(line) <= width or line.strip() in {each.strip() for each in copied}, line


def test_a_verdict_is_never_colour_alone() -> None:
    assert list(LOOKS) == list(Verdict)
    assert len({look.sign for look in LOOKS.values()}) == len({look.ascii for look in LOOKS.values()}) == len(LOOKS)
    coloured, plain_ = terminal(made_up(), colour=True), terminal(made_up(), colour=False)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain_
    assert "\x1b[31m" in coloured or "\x1b[1;31m" in coloured
    assert "\x1b" not in plain_


def test_what_a_system_says_cannot_steer_the_terminal() -> None:
    evil = "\x1b]0;title\x07 \u202e\x9b2J \ud800 \ufffe\r"
    told = replace(RACE, seen=evil, expected=evil, row=f"C1:\n  about: {evil}\n", clause=evil)
    report = made_up({"N1": (Verdict.FAIL, evil, told), "N2": (Verdict.NOT_APPLICABLE, evil, None)})
    header = replace(report.header, target=evil, declares={"limits": {evil: 1}})
    report = replace(report, header=header, coverage=Coverage({}, (evil,)))
    for text in (plain(report), terminal(report), junit(report)):
        assert not set(evil) & set(text) - set(" title0;2J]e")
        assert "\\x1b]0;title" in text
        text.encode("utf-8")


def test_a_long_answer_is_cut_and_says_so() -> None:
    long = replace(RACE, seen="x" * 5000, expected="\n".join(f"line {n}" for n in range(100)))
    text = plain(made_up({"N1": (Verdict.FAIL, "", long)}))
    assert "x\n            … and 3,800 characters more, in the report" in text
    assert "line 23\n" in text
    assert "line 24\n" not in text
    assert "… and 76 lines more, in the report" in text


def test_what_was_expected_and_seen_comes_first_and_then_why_a_failure_is_flaky() -> None:
    reason = f"expected {RACE.expected}; seen {RACE.seen}; tried again 3 times, it held"
    lines = plain(made_up({"B4": (Verdict.FLAKY, reason, RACE)})).splitlines()
    first = lines.index("--- B4 is flaky")
    labels = [line.split()[0] for line in lines[first:] if line.startswith("  ") and line[2:3] != " "]
    assert labels[1:7] == ["spec", "clause", "expected", "seen", "shown", "because"]
    assert "  because   tried again 3 times, it held" in lines


def test_one_trace_is_shown_once() -> None:
    text = plain(made_up())
    assert text.count("C1:") == 2
    assert "42 calls, the same as for B7" in text


def test_a_run_that_is_cut_off_says_so() -> None:
    report = made_up()
    whole = replace(report, rows=report.rows[:33], footer=None)
    for text in (plain(whole), terminal(whole)):
        assert "The run did not finish: 33 of 40 rows of thread-job had a verdict." in text
        assert "B7 fails" in text
        assert "exit" not in text


def test_a_view_that_saw_no_header_says_nothing() -> None:
    stream = io.StringIO()
    with PlainView(stream):
        pass
    assert not stream.getvalue()


def test_of_a_search_alone_nobody_says_that_the_system_conforms() -> None:
    report = made_up()
    row = RowResult(MACHINE, "Random calls.", "must", Verdict.PASS, runs=214)
    alone = replace(report, rows=(row,), footer=replace(report.footer, exit=0) if report.footer is not None else None)
    assert (
        said(alone)
        == "The search found nothing wrong of python:my_jobs:MyJobs by thread-job in 214 cases; no row was run."
    )
    known = replace(alone, rows=(replace(row, verdict=Verdict.KNOWN_FAIL),))
    assert "but for 1 known failure (machine)" in said(known)


def said(report: Report) -> str:
    assert report.footer is not None
    return content.concluded(report.header, report.rows, report.footer)


FAIL, IDLE = (Verdict.FAIL, "no", None), (Verdict.NOT_EXERCISED, "no", None)
ALL_LACK: dict[str, Said] = dict.fromkeys(ABOUT, (Verdict.NOT_APPLICABLE, "no", None))
ENDINGS: dict[str, tuple[dict[str, Said], str]] = {
    "conforms": ({}, "MyJobs conforms to thread-job: 40 rows held."),
    "some do not apply": (
        {"N1": (Verdict.NOT_APPLICABLE, "no", None), "N2": (Verdict.NOT_APPLICABLE, "no", None)},
        "MyJobs conforms to thread-job: 38 rows held, and 2 did not apply.",
    ),
    "a should fails": ({"X1": FAIL}, "MyJobs conforms to thread-job: 39 rows held."),
    "one row": ({"N1": FAIL}, "MyJobs violates 1 row of thread-job: N1."),
    "two rows": ({"N1": FAIL, "X1": FAIL, "X2": FAIL}, "MyJobs violates 2 rows of thread-job: N1 and X2."),
    "many": (
        dict.fromkeys(list(ABOUT)[:20], FAIL),
        "MyJobs violates 20 rows of thread-job: N1, N2, N3, N4, N5, N6, N7 and 13 more.",
    ),
    "one way": (
        {"N1": (Verdict.FAIL, "", EVICTION), "N2": (Verdict.FAIL, "", RACE), "N3": (Verdict.FAIL, "", RACE)},
        "MyJobs violates 3 rows of thread-job, in 2 ways: N1, N2 and N3.",
    ),
    "also idle": ({"N1": FAIL, "N2": IDLE}, "MyJobs violates 1 row of thread-job: N1; N2 was not exercised."),
    "idle": (
        {"N1": IDLE, "N2": IDLE},
        "MyJobs does not conform to thread-job: N1 and N2 were not exercised, and that is no pass.",
    ),
    "nothing": (ALL_LACK, "Nothing was exercised, so nothing is known of python:my_jobs:MyJobs."),
    "harness": (
        {"N1": (Verdict.HARNESS_ERROR, "", None)},
        "No verdict on python:my_jobs:MyJobs: 1 row could not be asked (N1).",
    ),
    "unknown": (
        {"N1": (Verdict.COULD_NOT_TELL, "", None)},
        "No verdict on python:my_jobs:MyJobs: N1 reached a cap before an answer.",
    ),
}


@pytest.mark.parametrize(("verdicts", "sentence"), ENDINGS.values(), ids=ENDINGS)
def test_the_exit_code_is_said_in_words(verdicts: dict[str, Said], sentence: str) -> None:
    assert said(made_up(verdicts)).endswith(sentence)


def test_rows_of_one_cause_are_laid_to_what_they_all_say_is_likely() -> None:
    one = replace(RACE, cause="operations.finish.move", diagnosis=Diagnosis("operations.finish.otherwise", "does it"))
    other = replace(
        one, diagnosis=Diagnosis("operations.finish.otherwise", "all was right until `finish('j1')` was called")
    )
    wrong = {"N1": (Verdict.FAIL, "", one), "N2": (Verdict.FAIL, "", other)}
    assert said(made_up(wrong)).endswith("N1 and N2: one cause, operations.finish.otherwise.")
    wrong["N2"] = (Verdict.FAIL, "", replace(other, diagnosis=None))
    assert said(made_up(wrong)).endswith("N1 and N2: one cause, operations.finish.move.")


def test_should_rows_decide_when_the_run_was_told_so() -> None:
    report = made_up({"X1": FAIL}, exit=1)
    assert said(report).endswith("violates 1 row of thread-job: X1.")
    assert "does not count" not in plain(report)
    assert "X1 fails, which does not count: the level is not must." in plain(made_up({"X1": FAIL}))


def test_clauses_of_one_operation_are_counted_together() -> None:
    paths = ["operations.tool.gives", "operations.tool.create.Call", "on its own.returns", "entities.Call.id"]
    assert content.by_head(paths) == ["operations.tool (2)", "on its own.returns", "entities.Call.id"]


def test_another_exit_code_is_named() -> None:
    assert said(made_up({}, exit=2)) == "The run of thread-job against python:my_jobs:MyJobs ended with code 2."


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0ms"),
        (0.0004, "0ms"),
        (0.9905003, "990ms"),  # a saved report says 0.9905
        (0.9994, "999ms"),
        (0.9996, "1.00s"),
        (9.99, "9.99s"),
        (9.996, "10.0s"),
        (59.94, "59.9s"),
        (59.96, "1m00s"),
        (125, "2m05s"),
    ],
)
def test_a_time_is_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize("view", [PlainView, TerminalView])
def test_what_a_tool_printed_stands_below_the_counterexample_and_its_end_is_kept(
    view: type[PlainView] | type[TerminalView],
) -> None:
    lines = [f"$ tool poll {number}" for number in range(40)]
    found = replace(RACE, transcript=(*lines, "  exit 4", "  \x1b[2Jgone"))
    stream = io.StringIO()
    made_up({"B4": (Verdict.FAIL, "", found)}).show(view(stream, replay))
    said = stream.getvalue()
    above, _, below = said.partition("what was run for it, and what it printed")
    assert "together(2, turn_boundary(t1))" in above
    kept = [line.strip() for line in below.splitlines() if line.strip()][:25]
    assert kept[:2] == ["… 18 lines before, in the report", "$ tool poll 18"]
    assert kept[-2:] == ["exit 4", "\\x1b[2Jgone"]
    assert "what was run for it" not in plain(made_up())


# --- a pipe -----------------------------------------------------------------------------------------------


def test_without_times_the_text_is_the_same_again() -> None:
    report = made_up()
    later = replace(report, rows=tuple(replace(row, seconds=row.seconds * 3) for row in report.rows))
    assert plain(later, times=False) == plain(report, times=False)
    assert plain(later) != plain(report)


def test_a_narrow_encoding_does_not_stop_a_report() -> None:
    for view in (PlainView, TerminalView):
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding="ascii")
        made_up().show(view(stream, replay))
        stream.flush()
        text = raw.getvalue().decode("ascii")
        assert "B7 fails" in text
        assert "\\u7b49" in text


# --- a terminal that moves --------------------------------------------------------------------------------


def test_the_moving_line_says_what_runs_and_is_gone_at_the_end() -> None:
    report, screen = made_up(), Screen()
    with TerminalView(screen) as view:
        view.header(report.header)
        for row in report.rows[:19]:
            view.began(row.id)
            view.row(row)
        view.began("E10")
        moving = view._progress().plain
        view.finish(report.coverage, Footer({}, 1))
    assert re.search(r"19/40  2 failing  \d+ms  now E10 A payload one below, at", moving)
    assert cell_len(moving) < 80
    assert screen.getvalue().endswith("\n")
    assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h") == 1


def test_a_run_that_raises_leaves_the_terminal_as_it_was() -> None:
    report, screen = made_up(), Screen()

    def run() -> None:
        with TerminalView(screen) as view:
            view.header(report.header)
            view.row(report.rows[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert screen.getvalue().rindex("\x1b[?25h") < screen.getvalue().index("The run did not finish: 1 of 40")


def test_many_gaps_are_counted_in_a_terminal_and_listed_in_a_pipe() -> None:
    report = replace(made_up(), coverage=Coverage({"seen": 1}, tuple(f"gap{n}" for n in range(40))))
    assert "1 of 41 clauses witnessed" in terminal(report)
    assert "and 28 more, in the report" in terminal(report)
    assert "gap39" not in terminal(report)
    assert "gap39" in plain(report)


def test_no_colour_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", terminal(made_up(), screen=Screen()))


# --- JUnit ------------------------------------------------------------------------------------------------


def test_junit_has_a_case_for_each_row() -> None:
    report = made_up()
    suites = ElementTree.fromstring(junit(report))
    (suite,) = suites
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [f"{row.id} {row.about}" for row in report.rows]
    assert {case.get("classname") for case in cases} == {"thread-job"}
    assert suite.get("name") == "thread-job"
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "40",
        "failures": "5",
        "errors": "3",
        "skipped": "5",
        "time": "11.834",
    }
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert properties["seed"] == "0"
    assert properties["target"] == "python:my_jobs:MyJobs"
    assert '"lacks": ["start_as"]' in str(properties["declares"])


def kinds(text: str) -> dict[str, str]:
    """Row id → what its test case holds, of those that hold anything."""
    cases = ElementTree.fromstring(text).iter("testcase")
    return {str(case.get("name")).partition(" ")[0]: part.tag for case in cases for part in case}


def test_junit_fails_where_the_run_fails() -> None:
    assert kinds(junit(made_up())) == {
        **dict.fromkeys(["N9", "E7", "E9", "B4", "B7"], "failure"),
        **dict.fromkeys(["B2", "E12", "E13"], "error"),
        **dict.fromkeys(["N8", "E2", "X2", "B3", "X1"], "skipped"),
    }
    assert kinds(junit(made_up({"X1": FAIL}))) == {"X1": "skipped"}
    assert kinds(junit(made_up({"X1": FAIL}, exit=1))) == {"X1": "failure"}
    assert kinds(junit(made_up({"N1": (Verdict.PASS, "reasons were not compared", None)}))) == {"N1": "system-out"}


def test_junit_of_a_run_that_went_wrong_is_never_green() -> None:
    report = made_up({})
    assert kinds(junit(report)) == {}
    cut = replace(report, rows=report.rows[:38], footer=None)
    assert kinds(junit(cut)) == {"X8": "error", "custom.1": "error"}
    assert kinds(junit(replace(report, footer=None))) == {"run": "error"}
    nothing = made_up(ALL_LACK)
    assert kinds(junit(nothing)) == {**dict.fromkeys(ABOUT, "skipped"), "run": "error"}


def test_a_fault_that_none_of_the_rows_is_about_is_named() -> None:
    report = made_up({"N1": PASSES})
    assert report.footer is not None
    strayed = replace(report, footer=replace(report.footer, strays=("operations.list.gives",)))
    words = "A fault of operations.list.gives was seen, which none of these rows is about, or only recommends: ask `machine` for it."
    assert words in " ".join(plain(strayed).split())
    assert "none of these rows" not in plain(report)
