"""What `conformance vectors` and `conformance trace` print, and what they say of what they cannot use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.command.cli import main
from conformance.verdict import EXIT_CONFORMS, EXIT_USAGE, EXIT_VIOLATES

CREATED = {"at": 0, "call": "create_task", "with": {"label": "a"}, "gives": {"task_id": "t1", "status": "pending"}}
STARTED = {"at": 10, "call": "start", "with": {"task": "t1"}}


def asked(at: int, status: str) -> dict[str, Any]:
    """An entry of a look at the task."""
    return {"at": at, "call": "status", "with": {"task": "t1"}, "gives": status}


def log_of(folder: Path, *entries: Any) -> str:
    """A log of these entries; a text is a line as it is."""
    lines = (each if isinstance(each, str) else json.dumps(each) for each in entries)
    path = folder / "log.jsonl"
    path.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
    return str(path)


def map_of(folder: Path, text: str) -> str:
    """A map of this text."""
    path = folder / "map.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_log_that_is_refused_tells_where_and_what_could_have_come(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = log_of(tmp_path, CREATED, STARTED, asked(20, "running"), asked(30, "pending"))
    assert main(["trace", "task-progress", log]) == EXIT_VIOLATES
    said = capsys.readouterr().out
    for part in (
        f"--- {log}:4",
        "expected   'running'",
        "seen       'pending'",
        "before it",
        "Task t1: running",
        "instead",
    ):
        assert part in said
    assert said.endswith("3 entries explained by task-progress until there.\nexit 1\n")
    assert main(["trace", "task-progress", log, "--json"]) == EXIT_VIOLATES
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["refused"]["place"]) == ("refused", f"{log}:4")


def test_a_log_that_holds_tells_what_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = map_of(tmp_path, "on bad lines: skip\nignore: [{call: gc}]\n")
    entries = [CREATED, STARTED, {"call": "gc"}, {"x": 1}, "{"]
    assert main(["trace", "task-progress", log_of(tmp_path, *entries), "--map", other]) == EXIT_CONFORMS
    said = capsys.readouterr().out
    for part in (
        "calls      create_task 1, start 1",
        "ignored    1 entry",
        "1 entry that",
        "1 line was skipped",
    ):
        assert part in said
    assert "holds: 2 entries explained by task-progress." in said


def test_a_log_that_says_nothing_of_the_lifecycle_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "task-progress", log_of(tmp_path, {"x": 1})]) == EXIT_VIOLATES
    assert "of 1 lines none is a call or a signal of it" in capsys.readouterr().out


def test_spans_are_read_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def value(given: Any) -> dict[str, Any]:
        return {"intValue": str(given)} if isinstance(given, int) else {"stringValue": given}

    def span(name: str, at: int, **attributes: Any) -> dict[str, Any]:
        keys = [{"key": key.replace("__", "."), "value": value(each)} for key, each in attributes.items()]
        times = {"startTimeUnixNano": str(at * 10**6), "endTimeUnixNano": str((at + 1) * 10**6)}
        return {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": name, **times, "attributes": keys}]}]}]}

    new = span("task-progress.create_task", 1, label="a", gives__task_id="t1", gives__status="pending")
    log = log_of(tmp_path, new, span("status", 5, task="t1", gives="completed"))
    assert main(["trace", "task-progress", log, "--map", "otel"]) == EXIT_VIOLATES
    assert f"--- {log}:2" in capsys.readouterr().out


def test_more_records_than_are_remembered_are_forgotten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries: list[dict[str, Any]] = []
    for number in range(12):
        given = {"task": f"t{number}"}
        entries += [
            {
                "at": 9 * number,
                "call": "create_task",
                "with": {"label": "a"},
                "gives": {"task_id": f"t{number}", "status": "pending"},
            },
            {"at": 9 * number + 1, "call": "start", "with": given},
            {"at": 9 * number + 2, "call": "finish", "with": given | {"outcome": "completed"}},
        ]
    log = log_of(tmp_path, *entries, {"at": 200, "call": "status", "with": {"task": "t0"}, "gives": "running"})
    main(["trace", "task-progress", log, "--map", map_of(tmp_path, "remember: 2\n")])
    assert "create_task 12" in capsys.readouterr().out


def test_vectors_are_written_in_both_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors, trace = tmp_path / "vectors.json", tmp_path / "trace.itf.json"
    assert main(["vectors", "task-progress", "--output", str(vectors)]) == EXIT_CONFORMS
    assert "left out: " in capsys.readouterr().err
    assert main(["vectors", "task-progress", "--as", "itf", "--output", str(trace)]) == EXIT_CONFORMS
    said = json.loads(vectors.read_text(encoding="utf-8"))
    assert {"operations.status.gives"} <= {clause for each in said["vectors"] for clause in each["clauses"]}
    assert json.loads(trace.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--limit", "most"], "--limit is NAME=VALUE"),
        (["--limit", "most=x"], "limit most is a whole number"),
        (["--policy", "order=[x"], "a list of fields is JSON"),
        (["--policy", "nothing=x"], "nothing"),
    ],
)
def test_what_somebody_chose_wrongly_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "task-progress", *words]) == EXIT_USAGE
    assert told in capsys.readouterr().err
