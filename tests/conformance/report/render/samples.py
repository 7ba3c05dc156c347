"""Reports to be rendered: one with every verdict, one whose every text tries to be more than a text, and a race."""

from __future__ import annotations

from dataclasses import replace

from conformance.report import Chart, Coverage, Footer, Header, Led, Planned, Report, tally
from conformance.verdict import Counterexample, Diagnosis, Made, RowResult, Verdict, exit_code

EVIL = (
    "</script></style></textarea></title></code></pre></svg><img src=x onerror=alert(1)><script>alert(1)</script>"
    '" onload="alert(1) \' {{ 7 * 7 }} ]]> <!-- ``` **b** [l](http://x.example) @team #1 | \x1b[31m \u202e'
)

RACE = Counterexample(
    "C1:\n  act:\n    - together(2, turn_boundary(t1))\n",
    4,
    "operations.turn_boundary",
    "an order of the calls",
    "turn_boundary → [job-1]; turn_boundary → [job-1]",
    rounds=24,
    reproduced=7,
    played=(
        Made(1, "start(thread='t1')", "{'job_id': 'job-1'}", began=1, ended=2),
        Made(2, "finish(job='job-1')", began=3, ended=4),
        Made(3, "turn_boundary(thread='t1')", "['job-1']", 0, began=5, ended=8, place=1),
        Made(3, "turn_boundary(thread='t1')", "['job-1']", 1, ("signal TurnTriggered()",), 6, 7, wrong=True),
    ),
    ids={"job.job_id": "job-1"},
)
SECOND = Counterexample(
    "C1:\n  act:\n    - last = status(task)\n",
    5,
    "operations.finish.otherwise",
    "'completed'",
    "'failed'",
    cause="operations.finish.otherwise",
    diagnosis=Diagnosis("operations.finish.otherwise", "carries `finish` out all the same"),
    played=(
        Made(1, "start()", "'job-1'", began=1, ended=2),
        *(Made(step, f"finish(job='job-{step}')", began=2 * step, ended=2 * step + 1) for step in range(2, 12)),
        Made(12, "status(job='job-1')", "'failed'", began=24, ended=25, wrong=True),
    ),
)
SENTENCES = {
    "operations.finish.otherwise": "in any other state: unchanged",
    "operations.turn_boundary": "A turn of the thread ends; whatever is owed to it is told.",
    "operations.finish.move": "running → outcome",
    "operations.cancel.move": "running → cancelled",
}
CHART = Chart(
    "Job",
    ("running", "completed", "failed"),
    ("completed", "failed"),
    (
        Led("start", "", ("running",), clause="operations.start.create.Job"),
        Led("finish", "running", ("completed", "failed"), "outcome", clause="operations.finish.move"),
        Led("progress", "running", ("running",), clause="operations.progress.move"),
        Led("", "completed", (), clause="entities.Job.retain.for each.job"),
        Led("", "failed", (), clause="entities.Job.retain.for each.job"),
        Led("after_failed", "failed", ("running",), after="5m", clause="entities.Job.after.failed"),
    ),
)
VERDICTS = {
    "N1": (Verdict.PASS, "", None),
    "N2": (Verdict.FAIL, f"expected {SECOND.expected}; seen {SECOND.seen}", SECOND),
    "E7": (Verdict.FAIL, f"expected {SECOND.expected}; seen {SECOND.seen}", SECOND),
    "B4": (Verdict.FAIL, f"expected {RACE.expected}; seen {RACE.seen}", RACE),
    "E9": (Verdict.FLAKY, "it failed once, and then it held", None),
    "E2": (Verdict.KNOWN_FAIL, "until spring", SECOND),
    "X1": (Verdict.NOT_APPLICABLE, "needs start_as", None),
    "X2": (Verdict.NOT_EXERCISED, "nothing witnessed it", None),
    "X3": (Verdict.COULD_NOT_TELL, "more explanations than were looked at", None),
    "X4": (Verdict.HARNESS_ERROR, "the process ended", None),
}
GOOD = ("N1",)


def report(*ids: str) -> Report:
    """Return a report of some rows, or of one with each verdict."""
    rows = tuple(
        RowResult(
            row_id,
            f"Row {row_id} holds.",
            "must",
            *VERDICTS[row_id][:2],
            3,
            counterexample=VERDICTS[row_id][2],
            seconds=0.2,
        )
        for row_id in ids or VERDICTS
    )
    header = Header(
        "thread-job",
        1,
        "python:jobs:Jobs",
        0,
        {"clock": "virtual", "limits": {"retained": 20}, "deviates": {"E2": {"reason": "until spring"}}},
        tuple(
            Planned(row.id, row.level, row.about, group="" if row.id.startswith("X") else "Normal use") for row in rows
        ),
        "0.1.0",
        sentences=SENTENCES,
        charts=(CHART,),
        date="2026-05-02T08:30:00Z",
        python="CPython 3.12.4",
        platform="Linux 6.8 x86_64",
    )
    seen = {"operations.finish.move": 12, "operations.finish.otherwise": 0, "operations.start.create.Job": 3}
    coverage = Coverage(
        {**seen, "operations.cancel.move": 0}, ("operations.finish.otherwise",), ("operations.cancel.move",)
    )
    return Report(header, rows, coverage, Footer(tally(rows), exit_code(rows), 11.8))


def evil() -> Report:
    """Return a report in which every text that somebody else chooses tries to be more than a text."""
    made = (
        Made(1, EVIL, EVIL, 0, (EVIL,), 1, 2),
        Made(2, EVIL, EVIL, 0, (EVIL,), 3, 6, 1),
        Made(2, EVIL, EVIL, 1, (EVIL,), 4, 5, 0, True),
        Made(3, EVIL, EVIL, 0, (EVIL,), 7, 8, wrong=True),
    )
    found = Counterexample(
        EVIL, 3, EVIL, EVIL, EVIL, 9, 3, EVIL, (EVIL,), tuple(EVIL for _ in range(3)), made, {EVIL: EVIL}
    )
    found = replace(found, diagnosis=Diagnosis(EVIL, EVIL))
    rows = [
        RowResult(f"{verdict} {EVIL}", EVIL, "must", verdict, EVIL, 1, {EVIL: 1}, 0, found, EVIL, 0.1)
        for verdict in Verdict
    ]
    rows.append(RowResult(f"alone {EVIL}", EVIL, "must", Verdict.FAIL, EVIL, 1))
    base = report()
    chart = Chart(
        EVIL, (EVIL, "b"), ("b",), (Led(EVIL, EVIL, ("b",), EVIL, "", EVIL), Led("", "b", (), "", EVIL, EVIL))
    )
    header = replace(
        base.header,
        lifecycle=EVIL,
        target=EVIL,
        kit=EVIL,
        spec=EVIL,
        faults=(EVIL,),
        declares={EVIL: {EVIL: EVIL}, "lacks": [EVIL], "deviates": {EVIL: {"reason": EVIL}}},
        rows=tuple(Planned(row.id, row.level, EVIL, EVIL, EVIL) for row in rows),
        sentences={EVIL: EVIL},
        charts=(chart,),
        date=EVIL,
        python=EVIL,
        platform=EVIL,
    )
    coverage = Coverage({EVIL: 1}, (f"gap {EVIL}",), (f"unasked {EVIL}",))
    footer = Footer(tally(rows), 1, 1.0, (EVIL,), (EVIL,))
    return Report(header, tuple(rows), coverage, footer)
