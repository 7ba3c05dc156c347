"""Logs of right systems are explained in every form, and one entry that cannot be is refused there and nowhere else."""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import UsageError
from conformance.judge import Configuration, kernel_facts
from conformance.logs import LogMap, LogResult, checked, of_spans, plain, read_map, usual
from conformance.logs.forgetting import Forgetting
from conformance.logs.text import exit_of, verdict
from conformance.logs.text import written as lines_of
from statemachines.compile import load
from statemachines.diagnostics import SpecError
from statemachines.specs import shipped
from tests.conformance.lifecycles import SUITES, Suite
from tests.conformance.logs.recording import Entries, adapted, log_map, outcome, row_logs, written

TASKS = load("task-progress")
CREATED = {"at": 0, "call": "create_task", "with": {"label": "a"}, "gives": {"task_id": "t1", "status": "pending"}}
STARTED = {"at": 10, "call": "start", "with": {"task": "t1"}}
DONE = {"at": 20, "call": "finish", "with": {"task": "t1", "outcome": "completed"}}


def asked(at: int, status: str) -> dict[str, Any]:
    """The entry of a look at the task."""
    return {"at": at, "call": "status", "with": {"task": "t1"}, "gives": status}


def mapped(tmp_path: Path, text: str) -> LogMap:
    """A map of a log of tasks."""
    path = tmp_path / "map.yaml"
    path.write_text(text, encoding="utf-8")
    return read_map(TASKS, str(path))


def traced(tmp_path: Path, entries: Entries, found: LogMap | None = None) -> LogResult:
    """What comes of a log of tasks."""
    return outcome(TASKS, entries, tmp_path / "log.jsonl", found or usual(TASKS))


def line(found: LogResult) -> int:
    """The line that is refused; 0 where none is."""
    return int(found.refused.place.rpartition(":")[2]) if found.refused is not None else 0


# ── Systems ──


def some_logs(suite: Suite, rows: list[str] | None = None, most: int = 6) -> tuple[list[Entries], Any]:
    """Logs of the reference, and what it declares."""
    names = rows or list(suite.compiled.lifecycle.rows)[:most]
    with adapted(suite.reference, suite.compiled) as adapter:
        return [log for _, log in row_logs(suite.compiled, adapter, names) if log], adapter.declaration


@pytest.mark.parametrize("name", shipped())
@pytest.mark.parametrize("clock", ["virtual", "real", "none"])
def test_logs_of_a_reference_are_explained(name: str, clock: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    logs, declaration = some_logs(suite)
    assert logs
    for log in logs:
        found = outcome(suite.compiled, log, tmp_path / "log.jsonl", log_map(declaration, clock))
        assert verdict(found) == "held", found.refused
        assert found.tally.explained == len(log)


@pytest.mark.parametrize("name", shipped())
def test_an_impossible_entry_is_refused_there(name: str, tmp_path: Path) -> None:
    """The first call that makes a record is logged a second time: the same id cannot be given twice."""
    suite = SUITES[name]
    logs, declaration = some_logs(suite)
    made = 0
    for log in logs:
        new = next((at for at, each in enumerate(log) if "call" in each and made_one(suite, each)), None)
        if new is None:
            continue
        made += 1
        twice = [*log[: new + 1], log[new]]
        found = outcome(suite.compiled, twice, tmp_path / "log.jsonl", log_map(declaration))
        assert verdict(found) == "refused"
        assert line(found) == new + 2
        assert found.refused is not None
        assert found.refused.instead
        assert found.refused.states
    assert made


def made_one(suite: Suite, entry: dict[str, Any]) -> bool:
    """Whether an entry gave an id to a new record."""
    fields = kernel_facts.of(suite.compiled).minted_in(entry["call"])
    gives = entry.get("gives")
    return bool(fields) and (gives.get(next(iter(fields))) if isinstance(gives, dict) else gives) is not None


@pytest.mark.thorough
@pytest.mark.parametrize("name", shipped())
def test_logs_of_right_systems_are_explained(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    for system in suite.right:
        with adapted(system, suite.compiled) as adapter:
            for row, log in row_logs(suite.compiled, adapter):
                clocks = ["virtual", "real"] if adapter.declaration.clock == "virtual" else ["real"]
                for clock in clocks if log else ():
                    found = outcome(suite.compiled, log, tmp_path / "log.jsonl", log_map(adapter.declaration, clock))
                    assert verdict(found) in ("held", "could not tell"), (system, row, clock, found.refused)


EVERY = {"job": 12}
"""Of which life cycle only every so many wrong systems are asked: retries for a quarter of an hour take long to judge."""
LEAST = 0.75
"""Of the wrong systems that one caller can show, the part that the log of the row which names the lie has to show.

A log shows no crash, no reply that changes after it was given, and nothing that only a row claims; and what breaks only a
recommendation holds.
"""


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", shipped())
def test_logs_of_wrong_systems_are_refused(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    refused, all_of = 0, 0
    for lie in suite.sequential[:: EVERY.get(name, 1)]:
        with adapted(lie, suite.compiled, limit=0.5) as adapter:
            logs = [log for _, log in row_logs(suite.compiled, adapter, [lie.row], most=99) if log]
            verdicts = {
                verdict(outcome(suite.compiled, log, tmp_path / "log.jsonl", log_map(adapter.declaration)))
                for log in logs
            }
        all_of += bool(logs)
        refused += "refused" in verdicts
    print(f"{name}: the logs of {refused} of {all_of} wrong systems are refused")
    assert refused >= LEAST * all_of > 0


# ── Time and order ──


@pytest.mark.parametrize("order", ["20 ms", "3 entries"])
def test_entries_may_stand_out_of_their_order_as_far_as_the_map_says(tmp_path: Path, order: str) -> None:
    entries = [CREATED, DONE, STARTED, asked(30, "completed")]
    assert verdict(traced(tmp_path, entries, mapped(tmp_path, f"out of order: {order}\n"))) == "held"


@pytest.mark.parametrize(("order", "held"), [("20 ms", True), ("3 entries", True), ("", False)])
def test_of_entries_of_one_instant_the_place_tells_no_order_where_it_need_not_be_theirs(
    tmp_path: Path, order: str, held: bool
) -> None:
    entries = [CREATED, asked(10, "running"), STARTED]
    text = f"out of order: {order}\n" if order else "clock: real\n"
    assert (verdict(traced(tmp_path, entries, mapped(tmp_path, text))) == "held") is held


def test_an_entry_that_is_further_out_of_order_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"log.jsonl:3: it was 10 ms before .*log.jsonl:2[\s\S]*out of order"):
        traced(tmp_path, [CREATED, DONE, STARTED])


def test_calls_that_overlap_may_have_come_in_either_order(tmp_path: Path) -> None:
    entries = [CREATED, STARTED | {"until": 40}, asked(15, "pending") | {"until": 30}, asked(50, "running")]
    assert verdict(traced(tmp_path, entries, mapped(tmp_path, "out of order: 100 ms\n"))) == "held"
    entries[2] |= {"at": 42, "until": 45}
    assert line(traced(tmp_path, entries, mapped(tmp_path, "out of order: 100 ms\n"))) == 3


def test_calls_within_the_slack_of_their_clocks_may_have_come_in_either_order(tmp_path: Path) -> None:
    entries = [CREATED, asked(8, "running"), STARTED]
    assert line(traced(tmp_path, entries)) == 2
    assert verdict(traced(tmp_path, entries, mapped(tmp_path, "slack: 2 ms\n"))) == "held"


def test_times_that_are_a_little_wrong_accuse_nobody(tmp_path: Path) -> None:
    chance = random.Random(7)
    for name in ("thread-job", "local-agent"):
        logs, declaration = some_logs(SUITES[name])
        for log in logs:
            late = [each | {"at": each["at"] * 1000 + chance.randrange(400)} for each in log]
            late.sort(key=lambda each: each["at"] // 1000)
            for before, each in itertools.pairwise(late):
                each["at"] = max(each["at"], before["at"])
            found = log_map(declaration, "real", unit="us")
            assert verdict(outcome(SUITES[name].compiled, late, tmp_path / "log.jsonl", found)) == "held"


# ── Maps ──

BOTH_ENDS = """
time: {field: ts, unit: s}
correlation: request
entries:
  - {when: {is: new}, call: create_task, with: {label: name}, gives: {task_id: id, status: state}}
  - {when: {is: begin}, begins: start, with: {task: id}}
  - {when: {is: end}, ends: start}
  - {when: {is: look}, call: status, with: {task: id}, reply: state}
words: {WAITS: pending, RUNS: running}
"""


def both_ends(*states: str) -> Entries:
    """A log of a start that takes a while, with looks at the task meanwhile."""
    new: Entries = [
        {"ts": 0.5, "is": "new", "name": "a", "id": "t1", "state": "WAITS"},
        {"ts": 1.0, "is": "begin", "id": "t1", "request": 7},
    ]
    looks = [{"ts": 1.1 + number, "is": "look", "id": "t1", "state": state} for number, state in enumerate(states)]
    return [*new, *looks, {"ts": 9.0, "is": "end", "request": 7}]


def test_a_call_may_begin_in_one_entry_and_end_in_another(tmp_path: Path) -> None:
    found = mapped(tmp_path, BOTH_ENDS)
    assert verdict(traced(tmp_path, both_ends("WAITS", "RUNS"), found)) == "held"
    assert verdict(traced(tmp_path, both_ends("RUNS", "WAITS"), found)) == "refused"


def test_calls_whose_beginnings_are_out_of_order_wait_for_the_end_of_the_first_of_them(tmp_path: Path) -> None:
    new: Entries = [
        {"ts": 0.1 * number, "is": "new", "name": "a", "id": f"t{number}", "state": "WAITS"} for number in (1, 2)
    ]
    begun: Entries = [
        {"ts": 1.2, "is": "begin", "id": "t2", "request": 2},
        {"ts": 1.0, "is": "begin", "id": "t1", "request": 1},
    ]
    looks: Entries = [{"ts": ts, "is": "look", "id": "t1", "state": "WAITS"} for ts in (1.1, 3.0)]
    ended: Entries = [{"ts": 5.0 + request, "is": "end", "request": request} for request in (1, 2)]
    found = traced(tmp_path, [*new, *begun, *looks, *ended], mapped(tmp_path, BOTH_ENDS + "out of order: 1 s\n"))
    assert (verdict(found), found.tally.explained) == ("held", 6)


def test_a_call_that_never_ends_leaves_in_doubt_what_follows(tmp_path: Path) -> None:
    found = traced(tmp_path, both_ends("WAITS", "RUNS")[:-1], mapped(tmp_path, BOTH_ENDS))
    assert verdict(found) == "could not tell"
    assert found.refused is not None
    assert "no end is logged" in found.refused.uncertain


DRAINED = """
time: {field: ts}
words: {taskId: task_id, OK: completed, kind: status}
entries:
  - {when: {is: new}, call: spawn, with: {label: name}, gives: {task_id: id}}
  - {when: {is: end}, call: finish, with: {task: id, outcome: how, text: said}}
  - {when: {is: drain}, call: drain_completed, reply: taken}
"""


def test_fields_of_records_in_a_list_have_words_too(tmp_path: Path) -> None:
    tasks = SUITES["background-tasks"].compiled
    path = tmp_path / "drained.yaml"
    path.write_text(DRAINED, encoding="utf-8")

    def drained(task: str) -> str:
        taken = [{"taskId": task, "label": "a", "result": {"kind": "OK", "text": "x"}}]
        entries: Entries = [
            {"ts": 1, "is": "new", "name": "a", "id": "t1"},
            {"ts": 2, "is": "end", "id": "t1", "how": "OK", "said": "x"},
            {"ts": 3, "is": "drain", "taken": taken},
        ]
        return verdict(outcome(tasks, entries, tmp_path / "log.jsonl", read_map(tasks, str(path))))

    assert [drained("t1"), drained("t2")] == ["held", "refused"]


def test_hidden_calls_may_have_been_made_at_any_time(tmp_path: Path) -> None:
    entries = [CREATED, asked(30, "completed")]
    assert line(traced(tmp_path, entries)) == 2
    assert verdict(traced(tmp_path, entries, mapped(tmp_path, "hidden: [start, finish]\n"))) == "held"
    wrong = [*entries, asked(40, "running")]
    assert line(traced(tmp_path, wrong, mapped(tmp_path, "hidden: [start, finish]\n"))) == 3


def test_a_log_that_shows_no_signals_is_told_how_to_say_so(tmp_path: Path) -> None:
    table = load("background-tasks")
    entries = [
        {"at": 0, "call": "spawn", "with": {"label": "a"}, "gives": {"task_id": "t1"}},
        {"at": 10, "call": "cancel_task", "with": {"task": "t1"}, "gives": True},
    ]
    (tmp_path / "map.yaml").write_text("hidden: [signal CancelSeen]\n", encoding="utf-8")
    found = outcome(table, entries, tmp_path / "log.jsonl", usual(table))
    assert found.refused is not None
    assert "`hidden: [signal CancelSeen]`" in found.refused.hint
    assert f"  hint       {found.refused.hint}" in "\n".join(lines_of(found))
    without = outcome(table, entries, tmp_path / "log.jsonl", read_map(table, str(tmp_path / "map.yaml")))
    assert verdict(without) == "held"
    twice = outcome(table, [entries[0], entries[0]], tmp_path / "log.jsonl", usual(table))
    assert twice.refused is not None
    assert twice.refused.hint == ""


def test_systems_apart_are_followed_apart(tmp_path: Path) -> None:
    text = BOTH_ENDS + "split: host\n"
    both = [each | {"host": host} for each in both_ends("WAITS", "RUNS")[:1] for host in "ab"]
    found = traced(tmp_path, both, mapped(tmp_path, text))
    assert (verdict(found), found.tally.systems) == ("held", 2)
    assert line(traced(tmp_path, both, mapped(tmp_path, BOTH_ENDS))) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "entries:\n  - {when: {a: b}, call: strat}\nclock: none\n",
            r"map.yaml:2:\d+: error \[unknown-operation\].*\n.*'start'",
        ),
        ("entries:\n  - {when: {a: b}, call: create_task}\nclock: none\n", "nothing says which id it has"),
        ("entries:\n  - {when: {a: b}}\nclock: none\n", "it is not said what it is"),
        ("entries:\n  - {when: {a: b}, call: start, with: {tsk: a}}\nclock: none\n", "unknown-field"),
        ("entries:\n  - {when: {a: b}, begins: start}\nclock: none\n", "`correlation`"),
        ("entries:\n  - {when: {a: b}, call: start}\n", "when an entry was"),
        ("hidden: [signal announce]\n", "announced"),
        ("limits: {activites: 3}\n", "activities"),
        ("out of oder: 3 ms\n", "out of order"),
        ("slack: 3 weeks\n", "map.yaml:1"),
        ("form: otlp\n", "spans need `entries`"),
        ("clock: none\nout of order: 5 s\n", "the log has no times"),
    ],
)
def test_a_map_with_faults_is_told_with_its_places(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SpecError) as raised:
        mapped(tmp_path, text)
    assert re.search(told, str(raised.value)), str(raised.value)


# ── Spans ──


def span(name: str, at: int, **values: str) -> dict[str, Any]:
    """A line of OTLP JSON with one span."""
    attributes = [{"key": key.replace("__", "."), "value": {"stringValue": each}} for key, each in values.items()]
    nano = 10**18 + at * 10**6
    inner = {
        "name": name,
        "startTimeUnixNano": f"{nano}",
        "endTimeUnixNano": f"{nano + 1000}",
        "attributes": attributes,
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [inner]}]}]}


def test_spans_are_read_by_the_names_of_the_operations(tmp_path: Path) -> None:
    new = span("task-progress.create_task", 0, label="a", gives__task_id="t1", gives__status="pending")
    entries = [span("status", 9, task="t1", gives="running"), new, span("start", 5, task="t1"), span("other", 7)]
    found = traced(tmp_path, entries, of_spans(TASKS))
    assert (verdict(found), found.tally.explained, found.tally.unmatched) == ("held", 3, 1)
    assert line(traced(tmp_path, [*entries, span("status", 12, task="t1", gives="pending")], of_spans(TASKS))) == 5


# ── What is no log ──


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{\n", "log.jsonl:1: no JSON"),
        ("[1]\n", "a JSON object is expected"),
        ("\xff\xfe", "log.jsonl:1"),
        ('{"at": NaN}\n', "NaN"),
        ("[" * 100_000, "no JSON"),
        ('{"a": "' + "x" * (1 << 20) + '"}\n', "longer than"),
        ('{"at": 1, "call": "strat"}\n', "did you mean 'start'"),
        ('{"at": 1, "call": "start"}\n', "does not say 'task'"),
        ('{"call": "start", "with": {"task": "a"}}\n', "it has no time"),
        ('{"at": 1, "call": "create_task", "with": {"label": "a"}}\n', "`gives` does not say its id"),
        (
            '{"at": 1, "call": "finish", "with": {"task": "a", "outcome": "well"}}\n',
            "one of completed, failed, aborted",
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_told_or_skipped(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(text.encode("latin-1") + b"\n" + json.dumps(CREATED).encode() + b"\n")
    with pytest.raises(UsageError, match=told):
        checked(TASKS, str(path), usual(TASKS))
    found = checked(TASKS, str(path), mapped(tmp_path, "on bad lines: skip\n"))
    assert (verdict(found), found.tally.bad_lines, found.tally.explained) == ("held", 1, 1)


@pytest.mark.parametrize("entries", [[], [{"event": "other"}, {"event": "another"}]])
def test_a_log_of_which_nothing_is_consumed_fails(tmp_path: Path, entries: Entries) -> None:
    found = traced(tmp_path, entries)
    assert (verdict(found), exit_of(found)) == ("nothing consumed", 1)
    assert plain(found)["unmatched"] == len(entries)


def test_there_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        checked(TASKS, str(tmp_path / "nothing.jsonl"), usual(TASKS))


# ── Room ──


def many(count: int) -> Entries:
    """A log of so many tasks that end one after the other."""
    found: Entries = []
    for number in range(count):
        name = {"task": f"t{number}"}
        found += [
            {
                "at": number,
                "call": "create_task",
                "with": {"label": "a"},
                "gives": {"task_id": f"t{number}", "status": "pending"},
            },
            {"at": number, "call": "start", "with": name},
            {"at": number, "call": "finish", "with": name | {"outcome": "completed"}},
        ]
    return found


def test_what_is_forgotten_is_not_judged_and_all_else_is(tmp_path: Path) -> None:
    look = {"at": 900, "call": "status", "with": {"task": "t3"}, "gives": "completed"}
    small = mapped(tmp_path, "remember: 10\n")
    found = traced(tmp_path, [*many(100), look], small)
    assert verdict(found) == "held"
    assert found.tally.forgotten > 50
    late = {"at": 900, "call": "status", "with": {"task": "t99"}, "gives": "failed"}
    assert line(traced(tmp_path, [*many(100), look, late], small)) == 302


# ── What the spec names a few of, and a system has its own of ──

JOBS = load("thread-job")


def chat(name: str, at: int) -> Entries:
    """A log of a thread in which a job ends, is told of, and is listed with two of its fields."""
    job = {"job_id": f"job of {name}", "status": "running"}
    start = {"thread": name, "tool_call": f"call of {name}", "tool": "bash"}
    return [
        {"at": at, "call": "start", "with": start, "gives": job | {"mode": "background"}},
        {
            "at": at + 1,
            "call": "list",
            "with": {"thread": name},
            "jobs": [{"job_id": f"job of {name}", "status": "running"}],
        },
    ]


LISTED = """
time: {field: at}
entries:
  - when: {call: start}
    call: start
    with: {thread: with.thread, tool_call: with.tool_call, tool: with.tool}
    gives: {job_id: gives.job_id, status: gives.status}
  - {when: {call: list}, call: list_jobs, with: {thread: with.thread}, reply: jobs}
"""


def jobs_traced(tmp_path: Path, entries: Entries, remember: int = 100) -> LogResult:
    """What comes of a log of jobs."""
    path = tmp_path / "map.yaml"
    path.write_text(f"{LISTED}remember: {remember}\n", encoding="utf-8")
    return outcome(JOBS, entries, tmp_path / "log.jsonl", read_map(JOBS, str(path)))


def test_a_log_has_threads_of_its_own_and_what_it_does_not_say_of_a_listed_record_is_not_compared(
    tmp_path: Path,
) -> None:
    entries = [each for number in range(40) for each in chat(f"conversation-{number}", 10 * number)]
    assert verdict(jobs_traced(tmp_path, entries)) == "held"
    entries[41]["jobs"] = [{"job_id": "job of conversation-3", "status": "running"}]
    assert line(jobs_traced(tmp_path, entries)) == 42


def test_a_record_in_a_log_need_not_say_its_document(tmp_path: Path) -> None:
    told = {"at": 5, "call": "turn", "with": {"thread": "c"}, "told": [{"job_id": "job of c", "status": "completed"}]}
    finish = {"at": 4, "call": "finish", "with": {"job": "job of c", "outcome": "completed", "payload": "x"}}
    path = tmp_path / "map.yaml"
    turn = "  - {when: {call: turn}, call: turn_boundary, with: {thread: with.thread}, reply: told}\n"
    names = "{job: with.job, outcome: with.outcome, payload: with.payload}"
    path.write_text(
        f"{LISTED}{turn}  - {{when: {{call: finish}}, call: finish, with: {names}}}\nhidden: [signal TurnTriggered]\n"
    )
    log = [chat("c", 0)[0], finish, told]
    assert verdict(outcome(JOBS, log, tmp_path / "log.jsonl", read_map(JOBS, str(path)))) == "held"


def test_of_threads_only_those_are_remembered_that_something_is_known_of() -> None:
    model: Any = JOBS.model()
    for number in range(60):
        model.begin_thread(f"quiet-{number}")
    model.begin_thread("idle")
    model.do("set_idle", {"thread": "idle", "idle": True})
    model.begin_thread("busy")
    model.do("start", {"thread": "busy", "tool_call": "c", "tool": "bash"})
    Forgetting(JOBS, 10).shortened(Configuration(model))
    assert {*model.threads} == {"idle", "busy"}


@pytest.mark.soak
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    import tracemalloc

    small = mapped(tmp_path, "remember: 10\n")

    def peak(count: int) -> int:
        path = written(many(count), tmp_path / "log.jsonl")
        tracemalloc.start()
        try:
            assert verdict(checked(TASKS, str(path), small)) == "held"
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(300)  # what is compiled once
    assert peak(33_000) < 1.2 * peak(3_300)
