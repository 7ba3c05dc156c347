"""Counterexamples as rows: the reader of specs reads them again, and they make the calls that they tell of."""

from __future__ import annotations

import operator
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import suite as kit_suite
from conformance.counterexample.play import Played, symbolic
from conformance.counterexample.text import as_row
from conformance.judge.case import Case
from conformance.judge.differences import InOrder, Listed, Times
from conformance.judge.finding import Finding
from conformance.search.stateful import Driver
from conformance.system.adapter import Adapter
from conformance.verdict import Counterexample
from statemachines.checks import holds
from statemachines.compile import Compiled, load
from statemachines.lifecycle import Row
from statemachines.model import Document
from statemachines.rows import AtOnce, Call, Given, Names, Observed, Trace, row_as_it_ran
from statemachines.rows.compiler import RowCompiler, enumerated, witnesses
from statemachines.rows.programs import Program, RowFailure
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import EVERY_STATUS, REFERENCE, adapted, explained, row_result, thread_job
from tests.faulty.job.concurrency import CancelOverwritesSettlement


@pytest.fixture(scope="module")
def reference() -> Iterator[Adapter]:
    with adapted(REFERENCE) as adapter:
        yield adapter


def fault(kind: str = "reply", value: Any = None, path: str = "", **more: Any) -> Finding:
    return Finding(kind, "operations.messages.gives", "messages", "this", "that", path=path, value=value, **more)


def written(trace: Trace, finding: Finding | None = None, origins: Any = ()) -> str:
    return as_row(thread_job(), Played(finding or fault("order"), trace, 0, tuple(origins))).text


def parsed(text: str) -> tuple[Compiled, Program]:
    """The row as the spec's reader understands it, without a fault."""
    with tempfile.TemporaryDirectory() as folder:
        path = kit_suite.save(Path(folder), "thread-job", "reference", "C1", Counterexample(text, 1, "", "", ""))
        try:
            compiled = kit_suite.read(str(path)).compiled
        except Exception as error:
            raise AssertionError(f"{error}\n{text}") from error
    rows = RowCompiler(compiled.lifecycle)
    (row,) = compiled.lifecycle.rows.values()
    program = rows.program(row)
    assert not rows.faults, f"{[str(each) for each in rows.faults]}\n{text}"
    return compiled, program


def start(number: int, call: str = "", thread: str = "t1", tool: str = "bash") -> Call:
    return Call(number, "start", (("thread", thread), ("tool_call", call or f"c{number}"), ("tool", tool)))


def end(number: int, of: int, outcome: str = "completed", payload: str = "x") -> Call:
    given = Given(of, "job_id")
    return Call(number, "finish", (("job", given), ("outcome", outcome), ("payload", payload)))


def inspect(number: int, of: int) -> Call:
    return Call(number, "inspect_job", (("thread", "t1"), ("job", Given(of, "job_id"))))


def wait(number: int) -> Call:
    return Call(number, "wait", (("ms", 25),))


def told(number: int) -> Call:
    return Call(number, "messages", (("thread", "t1"),))


def look(number: int, *statuses: str) -> Call:
    return Call(number, "list_jobs", (("thread", "t1"), ("statuses", statuses)))


def steps_of(text: str) -> list[str]:
    lines = text.splitlines()
    return [line.removeprefix("    ") for line in lines[lines.index("  act:") + 1 : lines.index("  assert:")]]


# --- how calls are written --------------------------------------------------------------------------------

CASES: dict[str, tuple[Trace, list[str]]] = {
    "one call": (
        Trace((Call(1, "turn_boundary", (("thread", "t1"),)),)),
        ["- last = turn_boundary(t1)"],
    ),
    "a reply that is used": (
        Trace((start(1), end(2, 1), look(3, "completed"))),
        [
            "- job = start(t1, fresh, bash)",
            "- finish(job.job_id, completed, 'x')",
            "- last = list_jobs(t1, [completed])",
        ],
    ),
    "two replies": (
        Trace((start(1), start(2), end(3, 2), end(4, 1))),
        [
            "- job = start(t1, fresh, bash)",
            "- job2 = start(t1, fresh, bash)",
            "- finish(job2.job_id, completed, 'x')",
            "- last = finish(job.job_id, completed, 'x')",
        ],
    ),
    "many of a kind": (
        Trace((*(start(n) for n in range(5)), *(end(9 + n, n) for n in range(5)), look(20))),
        [
            "- started = repeat(5, start(t1, fresh, bash))",
            "- for each r in started:",
            "    - finish(r.job_id, completed, 'x')",
            "- last = list_jobs(t1, [])",
        ],
    ),
    "backwards": (
        Trace((*(start(n) for n in range(5)), *(end(9 + n, 4 - n) for n in range(5)), look(20))),
        [
            "- started = repeat(5, start(t1, fresh, bash))",
            "- for each r in started.reversed():",
            "    - finish(r.job_id, completed, 'x')",
            "- last = list_jobs(t1, [])",
        ],
    ),
    "a walk with a reply that a later call uses": (
        Trace((*(start(n) for n in range(5)), *(inspect(9 + n, n) for n in range(5)), end(20, 11))),
        [
            "- started = repeat(5, start(t1, fresh, bash))",
            "- inspect_job(t1, started[0].job_id)",
            "- inspect_job(t1, started[1].job_id)",
            "- job = inspect_job(t1, started[2].job_id)",
            "- inspect_job(t1, started[3].job_id)",
            "- inspect_job(t1, started[4].job_id)",
            "- last = finish(job.job_id, completed, 'x')",
        ],
    ),
    "a stretch": (
        Trace(
            (
                *(start(n) for n in range(7)),
                *(end(9 + n, n) for n in range(2, 6)),
                end(17, 0),
                end(18, 6),
                end(19, 1),
                look(20),
            )
        ),
        [
            "- started = repeat(7, start(t1, fresh, bash))",
            "- for each r in started.drop(2).take(4):",
            "    - finish(r.job_id, completed, 'x')",
            "- finish(started[0].job_id, completed, 'x')",
            "- finish(started[6].job_id, completed, 'x')",
            "- finish(started[1].job_id, completed, 'x')",
            "- last = list_jobs(t1, [])",
        ],
    ),
    "together, alike": (
        Trace((AtOnce(tuple((Call(n, "turn_boundary", (("thread", "t1"),)),) for n in range(3))),)),
        ["- together(3, turn_boundary(t1))"],
    ),
    "together, several each": (
        Trace((AtOnce(tuple(tuple(start(3 * c + n) for n in range(3)) for c in range(2))),)),
        ["- together(2, repeat(3, start(t1, fresh, bash)))"],
    ),
    "alike, and about nothing earlier": (
        Trace((*(Call(n, "turn_boundary", (("thread", "t1"),)) for n in range(4)), look(5))),
        ["- repeat(4, turn_boundary(t1))", "- last = list_jobs(t1, [])"],
    ),
    "ids that are chosen for their signs": (
        Trace(tuple(Call(n, "retry_job", (("thread", "t1"), ("job", job))) for n, job in enumerate(("", "-", "x-1")))),
        ["- retry_job(t1, '')", "- retry_job(t1, '-')", "- last = retry_job(t1, 'x-1')"],
    ),
    "a list of many things alike": (
        Trace((Call(1, "list_jobs", (("thread", "t1"), ("statuses", ("failed",) * 8))),)),
        ["- last = list_jobs(t1, range(8).map(i, failed))"],
    ),
    "together, unlike": (
        Trace((start(1), AtOnce(((end(2, 1),), (look(3, "running"),))), look(4, "running"))),
        [
            "- job = start(t1, fresh, bash)",
            "- together(finish(job.job_id, completed, 'x'), list_jobs(t1, [running]))",
            "- last = list_jobs(t1, [running])",
        ],
    ),
    "together, unlike calls of one caller": (
        Trace((start(1), AtOnce(((end(2, 1), look(3)), (look(4),))), look(5))),
        [
            "- job = start(t1, fresh, bash)",
            "- together([finish(job.job_id, completed, 'x'), list_jobs(t1, [])], list_jobs(t1, []))",
            "- last = list_jobs(t1, [])",
        ],
    ),
    "together, calls of one caller whose replies no list holds": (
        Trace((start(1), AtOnce(((look(2), Call(3, "messages", (("thread", "t1"),))), (look(4),))), look(5))),
        [
            "- start(t1, fresh, bash)",
            "- together(list_jobs(t1, []), messages(t1), list_jobs(t1, []))",
            "- last = list_jobs(t1, [])",
        ],
    ),
    "together, a call about what an earlier one of its caller gave": (
        Trace((AtOnce(((start(1), end(2, 1)), (look(3),))), look(4))),
        [
            "- together([start(t1, fresh, bash)].map(job, finish(job.job_id, completed, 'x')), list_jobs(t1, []))",
            "- last = list_jobs(t1, [])",
        ],
    ),
    "together, two such calls that wait before": (
        Trace((AtOnce(((wait(1), start(2), end(3, 2), inspect(4, 2)), (look(5),))), look(6))),
        [
            (
                "- together([wait(25)].map(reply, [start(t1, fresh, bash)].map(job, [finish(job.job_id, completed, 'x'), "
                "inspect_job(t1, job.job_id)])), list_jobs(t1, []))"
            ),
            "- last = list_jobs(t1, [])",
        ],
    ),
    "together, a call about what its caller gave, and a later one about that": (
        Trace((AtOnce(((start(1), end(2, 1)), (look(3),))), inspect(4, 1))),
        [
            "- made = together([start(t1, fresh, bash)].map(job, [job, finish(job.job_id, completed, 'x')]), list_jobs(t1, []))",
            "- last = inspect_job(t1, if made[0][0][0] == null then '' else made[0][0][0].job_id)",
        ],
    ),
    "together, what one caller gave and no list holds with the rest": (
        Trace((AtOnce(((start(1), look(2), end(3, 1)), (look(4),))), inspect(5, 1))),
        [
            "- job = start(t1, fresh, bash)",
            "- together([list_jobs(t1, []), finish(job.job_id, completed, 'x')], list_jobs(t1, []))",
            "- last = inspect_job(t1, job.job_id)",
        ],
    ),
    "together, what one caller gave, and others that no list holds before a call about it": (
        Trace((AtOnce(((start(1), look(2), told(3), end(4, 1)), (look(5),))), look(6))),
        [
            "- job = start(t1, fresh, bash)",
            "- together(list_jobs(t1, []), [messages(t1), finish(job.job_id, completed, 'x')], list_jobs(t1, []))",
            "- last = list_jobs(t1, [])",
        ],
    ),
    "an id that the caller chose and uses again": (
        Trace(
            (
                Call(
                    1,
                    "start_as",
                    (("thread", "t1"), ("tool_call", "c"), ("tool", "bash"), ("job_id", "mine")),
                ),
                Call(2, "inspect_job", (("thread", "t1"), ("job", "mine"))),
            )
        ),
        [
            "- id = fresh(Job)",
            "- start_as(t1, fresh, bash, id)",
            "- last = inspect_job(t1, id)",
        ],
    ),
    "texts that YAML would cut": (
        Trace((start(1), end(2, 1, payload="a: b"), end(3, 1, payload="a\\ #b"), look(4))),
        [
            "- job = start(t1, fresh, bash)",
            "- \"finish(job.job_id, completed, 'a: b')\"",
            "- \"finish(job.job_id, completed, 'a\\\\\\\\ #b')\"",
            "- last = list_jobs(t1, [])",
        ],
    ),
    "a long run within a text": (
        Trace((start(1), end(2, 1, payload="a" + "b" * 60 + "c"), end(3, 1, payload="'" * 50))),
        [
            "- job = start(t1, fresh, bash)",
            "- finish(job.job_id, completed, 'a' + text('b', 60) + 'c')",
            "- last = finish(job.job_id, completed, text('\\'', 50))",
        ],
    ),
    "long texts": (
        Trace((start(1), end(2, 1, payload="é" * 100 + "x"), end(3, 1, payload="x\n" * 40 + "xxx"), look(4))),
        [
            "- job = start(t1, fresh, bash)",
            "- finish(job.job_id, completed, text('é', 201))",
            "- finish(job.job_id, completed, text('x', 83, 41))",
            "- last = list_jobs(t1, [])",
        ],
    ),
}


@pytest.mark.parametrize(("trace", "steps"), CASES.values(), ids=CASES)
def test_calls_are_written_as_a_person_would(trace: Trace, steps: list[str]) -> None:
    text = written(trace)
    assert steps_of(text) == steps
    parsed(text)


def test_a_row_says_what_was_expected_and_seen_on_one_line_and_what_it_covers() -> None:
    finding = Finding("reply", "messages.Ended.carries.content", "messages", "a\n 'b'", 'the "c": #')
    text = written(Trace((Call(1, "messages", (("thread", "t1"),)),)), finding)
    _, program = parsed(text)
    assert program.row.about == "Expected a 'b'; seen the \"c\": #."
    assert [word.text for word in program.row.covers] == ["messages.Ended.carries.content"]
    assert (program.row.level, program.row.id.text) == ("must", "C1")


def test_a_clause_that_is_no_sentence_of_the_spec_is_covered_by_the_last_call() -> None:
    finding = Finding("crash", "operations.messages ∥ start", "messages", "an answer", "a crash")
    _, program = parsed(written(Trace((start(1), Call(2, "messages", (("thread", "t1"),)))), finding))
    assert [word.text for word in program.row.covers] == ["operations.messages"]


def test_ids_of_the_run_are_written_as_the_replies_that_they_came_from() -> None:
    finding = Finding("reply", "operations.list_jobs.gives", "list_jobs", "'job-7' in the list", "'job-8'")
    played = Played(finding, Trace((start(1), end(2, 1), look(3))), 0, (("job-7", Given(1, "job_id")),))
    found = as_row(thread_job(), played)
    assert (found.expected, found.seen) == ("job.job_id in the list", "'job-8'")
    assert "Expected job.job_id in the list; seen 'job-8'." in found.text


@pytest.mark.thorough
def test_a_fault_of_a_must_row_is_not_shown_as_what_is_only_recommended() -> None:
    result = row_result(CancelOverwritesSettlement, "B19", SUITES["job"].compiled)
    assert result.counterexample is not None
    assert "level: must" in result.counterexample.row, explained(result)


# --- what should have been --------------------------------------------------------------------------------

INSPECT = Trace((start(1), Call(2, "inspect_job", (("thread", "t1"), ("job", Given(1, "job_id"))))))
LISTED = Trace((start(1), end(2, 1), look(3, *EVERY_STATUS)))
TELLING = Trace((start(1), end(2, 1), Call(3, "messages", (("thread", "t1"),))))
BOUNDARY = Trace((Call(1, "turn_boundary", (("thread", "t1"),)),))
ORIGINS = (("job-1", Given(1, "job_id")),)


@pytest.mark.parametrize(
    ("trace", "finding", "assertion"),
    [
        (INSPECT, fault("accepted", "not_found"), "last.refused == not_found"),
        (INSPECT, fault("accepted", "*"), "last.refused != null"),
        (INSPECT, fault("accepted"), "last.refused != null"),
        (INSPECT, fault("refused", "not_found"), "last.refused == not_found"),
        (INSPECT, fault("refused"), "last.refused == null"),
        (BOUNDARY, fault("signal", Times(1, 1), "TurnTriggered"), "last.signals.TurnTriggered.size() == 1"),
        (BOUNDARY, fault("signal", Times(0, 0), "CancelSent"), "last.signals.CancelSent.size() == 0"),
        (
            BOUNDARY,
            fault("signal", Times(1, 2), "CancelSent"),
            "last.signals.CancelSent.size() >= 1 && last.signals.CancelSent.size() <= 2",
        ),
        (BOUNDARY, fault("signal", Times(1, None), "CancelSent"), "last.signals.CancelSent.size() >= 1"),
        (INSPECT, fault(value="completed", path="status"), "last.status == completed"),
        (INSPECT, fault(value=None, path="completed_at"), "last.completed_at == null"),
        (INSPECT, fault(value=17, path="started_at"), "last.started_at == 17"),
        (INSPECT, fault(value="c1", path="tool_call"), "last.tool_call == call"),
        (INSPECT, fault(value="job-1", path="job_id"), "last.job_id == job.job_id"),
        (LISTED, fault(value="bash", path="[0].tool"), "last.exists(some, some.tool == bash)"),
        (LISTED, fault(value=[]), "last.size() == 0"),
        (
            LISTED,
            fault(value=Listed("job_id", "job-1", there=True)),
            "last.exists(each, each.job_id == job.job_id)",
        ),
        (
            LISTED,
            fault(value=Listed("job_id", "mine", there=False)),
            "(!last.exists(each, each.job_id == 'mine'))",
        ),
        (
            TELLING,
            fault(value=InOrder("job_id", ("job-1", "b"))),
            "last.map(each, each.job_id) == [job.job_id, 'b']",
        ),
        (
            TELLING,
            fault(value=Document("x", inline=True), path="[0].content"),
            "last.size() > 0 && last[0].content.inline == true && last[0].content.text == 'x'",
        ),
        (INSPECT, fault("crash"), "true"),
        (INSPECT, fault("hang"), "true"),
        (INSPECT, fault("shape"), "true"),
        (INSPECT, fault("identity"), "true"),
        (INSPECT, fault("file"), "true"),
        (INSPECT, fault("order"), "true"),
    ],
)
def test_a_row_asserts_what_should_have_been(trace: Trace, finding: Finding, assertion: str) -> None:
    text = written(trace, finding, ORIGINS)
    assert text.splitlines()[-1] == f"    - {assertion}"
    parsed(text)


@pytest.mark.parametrize(
    ("finding", "assertion"),
    [
        (fault("accepted", "not_found"), "last.refused != null"),
        (replace(fault("refused"), seen="refused not_found"), "last.refused != not_found"),
        (replace(fault("refused"), seen="refused no such code"), "true"),
        (fault("crash"), "true"),
    ],
)
def test_where_several_things_may_be_a_row_asserts_only_that_it_is_not_what_was_seen(
    finding: Finding, assertion: str
) -> None:
    text = as_row(thread_job(), Played(finding, INSPECT), claim="not as seen").text
    assert text.splitlines()[-1] == f"    - {assertion}"
    parsed(text)


@pytest.mark.parametrize("kind", ["crash", "hang", "shape", "identity", "file", "order", "reply"])
def test_where_nothing_can_be_asserted_the_row_says_why(kind: str) -> None:
    *_, why, claim = as_row(thread_job(), Played(fault(kind), INSPECT), claim="none").text.splitlines()
    assert claim == "    - true"
    assert re.fullmatch(r"    # [A-Z].*[a-z]\.", why)


TRIGGERED = Observed("turn_boundary", {"thread": "t1"}, signals=(("TurnTriggered", (("thread", "t2"),)),))


@pytest.mark.parametrize(
    ("made", "claim"),
    [((TRIGGERED,), "true"), ((replace(TRIGGERED, signals=()),), "last.signals.TurnTriggered.size() == 1")],
)
def test_how_often_a_signal_comes_is_asserted_only_where_that_is_wrong(made: Any, claim: str) -> None:
    played = Played(fault("signal", Times(1, 1), "TurnTriggered"), BOUNDARY, made=made)
    *_, why, said = as_row(thread_job(), played).text.splitlines()
    assert said == f"    - {claim}"
    assert ("It comes, and says something else" in why) == (claim == "true")


@pytest.mark.parametrize("kind", ["reply", "signal"])
def test_after_calls_at_once_nothing_is_asserted_that_another_order_need_not_bring(kind: str) -> None:
    trace = Trace((AtOnce(((start(1),), (start(2),))), Call(3, "turn_boundary", (("thread", "t1"),))))
    text = written(trace, fault(kind, Times(1, 1), "TurnTriggered"))
    assert text.splitlines()[-1] == "    - true"


def test_what_else_was_not_followed_is_said() -> None:
    told = replace(Played(fault("reply", 17, "started_at"), INSPECT), given=("entities.Job.retain",))
    why, claim = as_row(thread_job(), told).text.splitlines()[-2:]
    assert why == "    # Judged as it would be right where this is not followed either: entities.Job.retain."
    assert claim == "    - last.started_at == 17"


def test_where_time_passes_beside_a_row_it_says_that_what_is_right_may_depend_on_it() -> None:
    found = as_row(thread_job(), Played(fault("reply"), INSPECT), claim="none", runs_on=True)
    assert "the time that the calls take" in found.text.splitlines()[-2]


def test_the_last_call_has_a_name_although_it_is_like_those_before_it() -> None:
    """Five jobs end, and the fifth ending is refused: the row speaks of it."""
    trace = Trace((*(start(n) for n in range(5)), *(end(9 + n, n) for n in range(5))))
    text = written(trace, fault("refused"))
    assert steps_of(text)[-1] == "- last = finish(started[4].job_id, completed, 'x')"
    parsed(text)


def test_after_calls_at_once_nothing_is_asserted_that_only_one_order_gives() -> None:
    """Whether the cancel or the end was first is open, so its stamp may be there or not."""
    cancel = Call(2, "request_cancel", (("thread", "t1"), ("job", Given(1, "job_id")), ("actor", "user")))
    inspect = Call(4, "inspect_job", (("thread", "t1"), ("job", Given(1, "job_id"))))
    trace = Trace((start(1), AtOnce(((cancel,), (end(3, 1),))), inspect))
    assert written(trace, fault(value=0, path="cancel_requested_at")).splitlines()[-1] == "    - true"


@pytest.mark.parametrize(
    ("beside", "path", "value", "kept"),
    [
        (Call(2, "report_progress", (("job", Given(1, "job_id")),)), "status", "completed", True),
        (
            Call(2, "request_cancel", (("thread", "t1"), ("job", Given(1, "job_id")), ("actor", "user"))),
            "cancel_requested_at",
            0,
            False,
        ),
    ],
)
def test_what_each_order_of_calls_at_once_gives_can_be_asserted(
    beside: Call, path: str, value: Any, kept: bool
) -> None:
    inspect = Call(4, "inspect_job", (("thread", "t1"), ("job", Given(1, "job_id"))))
    trace = Trace((start(1), AtOnce(((beside,), (end(3, 1),))), inspect))
    text = as_row(thread_job(), Played(fault(value=value, path=path), trace), claim="in any order").text
    assert text.splitlines()[-1] == f"    - last.{path} == {value}"
    model = thread_job().model()
    assert holds(thread_job(), text, vars(model.limits), vars(model.policies)) == kept


@pytest.mark.parametrize(("tie", "kept"), [("id", False), ("completion", True), ("start", False)])
def test_which_of_many_leaves_is_not_asserted_where_that_is_up_to_their_ids(tie: str, kept: bool) -> None:
    """A right system with ids at random dropped any of five that ended at one instant, and had not mended what it was told of."""
    text = """C1:
  about: "Of five that end at one instant the one that ended last stays."
  level: must
  source: the test
  covers: [entities.Job.retain]
  act:
    - started = repeat(5, start(t1, fresh, bash))
    - for each r in started.reversed():
        - finish(r.job_id, completed, 'x')
    - last = list_jobs(t1, [completed])
  assert:
    - last.exists(each, each.job_id == started[0].job_id)
"""
    model = thread_job().model({"retained": 4}, {"tie": tie})
    assert holds(thread_job(), text, vars(model.limits), vars(model.policies)) == kept


def test_a_call_used_again_is_a_fresh_one_whatever_it_was_called() -> None:
    """`fresh` counts on its own in every run, so no text of another run may stand beside it."""
    trace = Trace((start(1, "fresh-toolcall-1"), start(2, "other"), end(3, 2), start(4, "fresh-toolcall-1")))
    text = written(trace)
    assert steps_of(text) == [
        "- call = fresh(ToolCall)",
        "- start(t1, call, bash)",
        "- job = start(t1, fresh, bash)",
        "- finish(job.job_id, completed, 'x')",
        "- last = start(t1, call, bash)",
    ]
    assert calls_made_by(text, thread_job())[0] == shape_of(trace)


def test_ids_that_a_caller_chose_are_written_as_they_are_where_it_matters_how_they_read() -> None:
    def started(job_id: str) -> str:
        call = Call(1, "start_as", (("thread", "t1"), ("tool_call", "a"), ("tool", "bash"), ("job_id", job_id)))
        return written(Trace((call,)))

    assert "start_as(t1, fresh, bash, '../x')" in started("../x")
    assert "start_as(t1, fresh, bash, fresh)" in started("x-1")


def test_calls_that_differ_only_in_case_are_written_as_they_are() -> None:
    trace = Trace((start(1, "one"), start(2, "ONE")))
    assert steps_of(written(trace)) == ["- start(t1, 'one', bash)", "- last = start(t1, 'ONE', bash)"]


# --- there and back again ---------------------------------------------------------------------------------


def shape_of(trace: Trace) -> list[Any]:
    """The calls of a trace: ids by the reply they came from, texts that only have to be new by their first use."""
    places: dict[int, int] = {}
    texts: dict[str, str] = {}

    def of(call: Call, place: int) -> tuple[Any, ...]:
        places[call.number] = place
        arguments: list[tuple[Any, ...]] = []
        for name, value in call.arguments:
            if isinstance(value, Given):
                arguments.append((name, places[value.step], value.field))
            elif name in ("tool_call", "job", "job_id"):
                arguments.append((name, texts.setdefault(str(value), f"text {len(texts)}")))
            else:
                arguments.append((name, value))
        return (call.operation, tuple(arguments))

    found: list[Any] = []
    place = 0
    for step in trace.steps:
        if isinstance(step, Call):
            found.append(of(step, place := place + 1))
        else:
            found.append([[of(call, place := place + 1) for call in caller] for caller in step.callers])
    return found


def calls_made_by(text: str, compiled: Compiled) -> tuple[list[Any], str]:
    """The calls that a written row makes on the reference, and why it did not hold, if it did not."""
    _, program = parsed(text)
    with adapted(REFERENCE) as adapter:
        case = Case(compiled, adapter)
        failure = ""
        try:
            program.run(case, {})
        except RowFailure as error:
            failure = error.message
    return shape_of(symbolic(compiled, case.trace)), failure


OPERATIONS = [each.name for each in thread_job().kernel.operations if each.name != "restart"]
WEIGHTED = ["start"] * 6 + ["finish"] * 6 + ["wait"] * 2 + OPERATIONS


@st.composite
def cases(draw: st.DrawFn) -> list[tuple[str, int]]:
    """Calls as a machine makes them, often several of a kind in a row."""
    found: list[tuple[str, int]] = []
    for _ in range(draw(st.integers(1, 8))):
        operation, number = draw(st.sampled_from(WEIGHTED)), draw(st.integers(0, 2**16))
        found += [(operation, number if draw(st.booleans()) else 0)] * draw(st.sampled_from([1, 1, 1, 2, 5]))
    return found


@pytest.mark.thorough
@settings(max_examples=20)
@given(cases())
def test_a_written_row_makes_the_calls_that_were_made(calls: list[tuple[str, int]]) -> None:
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        for operation, number in calls:
            arguments = driver.arguments(operation, number)
            if arguments is not None:
                driver.case.call(operation, arguments)
        trace = symbolic(thread_job(), driver.case.trace)
    if trace.steps:
        text = written(trace)
        made, failure = calls_made_by(text, thread_job())
        assert (made, failure) == (shape_of(trace), ""), text


@pytest.mark.thorough
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    | st.sampled_from(["a: b", "a #b", "'\"\\", "- x", "\r\n"])
    | st.lists(st.builds(operator.mul, st.sampled_from("xé'\\\n :#-0"), st.integers(1, 90)), max_size=4).map("".join)
)
def test_any_text_can_be_written(payload: str) -> None:
    trace = Trace((start(1), end(2, 1, payload=payload), look(3)))
    made, failure = calls_made_by(written(trace), thread_job())
    assert (made, failure) == (shape_of(trace), "")


# --- a row as it ran --------------------------------------------------------------------------------------

ROWS = thread_job().lifecycle.rows.values()


def claims(row: Row) -> list[tuple[str, str]]:
    """The texts of what a row asserts, each behind that of its condition."""
    return [(each.when.text if each.when else "", each.expr.text) for each in row.asserts]


def test_what_a_row_asserts_under_a_condition_is_written_below_it() -> None:
    compiled = load("background-tasks")
    rows = RowCompiler(compiled.lifecycle)
    program = rows.program(compiled.lifecycle.rows["E3"])
    written_out = row_as_it_ran(compiled, program, {}).split("  assert:\n")[1]
    assert written_out.splitlines()[0] == "    - when policies.crash == failed:"
    assert sum(condition != "" for condition, _ in claims(program.row)) == 4
    assert written_out.count("\n        - ") == 4


@pytest.mark.thorough
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id.text)
def test_a_row_as_it_ran_is_the_row_with_its_values(row: Row, reference: Adapter) -> None:
    compiled = thread_job()
    rows = RowCompiler(compiled.lifecycle)
    program = rows.program(row)
    drawn = witnesses(rows.words, row, compiled.model())
    values: Mapping[str, Any] = {**next(enumerated(compiled.lifecycle, program)), **drawn}
    again, copy = parsed(row_as_it_ran(compiled, program, values))
    assert copy.parameters == ()
    assert [expr.text for expr in copy.row.needs] == [expr.text for expr in row.needs]
    assert claims(copy.row) == claims(row)
    if "concurrency" not in {expr.text for expr in row.needs}:
        traces = []
        for one, other, given_values in ((compiled, program, values), (again, copy, {})):
            case = Case(one, reference)
            other.run(case, given_values)
            assert case.finding is None
            traces.append([(each.operation, dict(each.arguments)) for each in case.calls])
        assert traces[0] == traces[1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"cancel": [], "list": False}, "tool(null, [], false)"),
        ({"owner": None}, "tool(null, null, false, null)"),
        ({"poll": ["a"]}, "tool([fresh])"),
        ({"manager": "none"}, "tool(null, null, false, null, false, none)"),
        ({}, "tool()"),
    ],
    ids=str,
)
def test_a_call_that_leaves_an_argument_out_names_its_default_before_a_later_one(
    given: dict[str, Any], expected: str
) -> None:
    assert Names(SUITES["job"].compiled).call(Call(1, "tool", tuple(given.items()))) == expected
