"""What people read of a report: in a terminal, through a pipe, and as JUnit XML."""

import io
from pathlib import Path

from conformance.render import show
from conformance.render.plain import Plain
from conformance.report import Coverage, Footer, Header, Planned, Report, tally
from conformance.verdict import Counterexample, RowResult, Verdict, exit_code
from statemachines.lifecycle import Level

GOLDEN = Path(__file__).parent.parent / "golden"

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
    "21 jobs: [{job_id: 8f3a, status: completed, started_at: 0, completed_at: 0}, {job_id: 77c1, status: failed, "
    "started_at: 0, completed_at: 1}, and 19 more",
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
VERDICTS: dict[str, tuple[Verdict, str, Counterexample | None]] = {
    "E2": (Verdict.NOT_APPLICABLE, NO_START_AS, None),
    "X2": (Verdict.NOT_APPLICABLE, NO_START_AS, None),
    "B3": (
        Verdict.NOT_APPLICABLE,
        "needs a virtual clock: ties are not broken by completion, and clock: real is declared",
        None,
    ),
    "B7": (Verdict.FAIL, "last.size() is 21 and not 20 (last.size() == 20)", EVICTION),
    "X1": (Verdict.FAIL, "expected 20 jobs; seen 21 jobs", EVICTION),
    "B4": (Verdict.FAIL, "expected each job is told at most once; seen twice", RACE),
    "E9": (Verdict.FAIL, "the system said nothing\x1b[31m", None),
    "E7": (Verdict.FLAKY, "expected a wake-up; seen none; tried again 3 times, it held", None),
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
PASSES = (Verdict.PASS, "", None)


def made_up(ids: dict[str, str] = ABOUT, verdicts: dict[str, tuple[Verdict, str, Counterexample | None]] = VERDICTS) -> Report:
    """A report with every verdict in it."""
    rows = tuple(result(index, row_id, *verdicts.get(row_id, PASSES)) for index, row_id in enumerate(ids))
    planned = tuple(Planned(row.id, row.level, row.about, row.where) for row in rows)
    declares = {
        "limits": {"retained": 20, "max_lines": None},
        "policies": {"tie": "completion"},
        "lacks": ["start_as"],
        "clock": "real",
        "concurrency": "threads",
        "settles": 0,
    }
    header = Header("thread-job", 1, "python:my_jobs:MyJobs", 0, declares, planned, "0.1.0")
    gaps = ("operations.start_as.create.Job", "operations.start_as.open.duplicate_job_id", "policies.tie")
    coverage = Coverage({f"operations.o{number}": number for number in range(1, 94)}, gaps)
    return Report(header, rows, coverage, Footer(tally(rows), exit_code(rows), 11.8342))


def result(index: int, row_id: str, verdict: Verdict, reason: str, found: Counterexample | None) -> RowResult:
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
        where=f"spec/thread-job.yaml:{243 + 17 * index}:3",
        seconds=0.0031 * 4 ** (index % 6) if ran else 0.0,
    )


def replay(row: RowResult) -> str:
    return f"conformance run thread-job --against python:my_jobs:MyJobs --rows {row.id} --seed 0"


def plain(report: Report, *, times: bool = True) -> str:
    stream = io.StringIO()
    show(report, Plain(stream, times=times), replay)
    return stream.getvalue()
