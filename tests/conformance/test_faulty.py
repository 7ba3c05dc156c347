"""Every wrong system is caught by the row that names its lie, with a short counterexample that replays."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from conformance import replay, rows
from conformance.verdict import Verdict
from tests.conformance.systems import (
    REFERENCE,
    adapted,
    explained,
    row_result,
    thread_job,
    verdicts,
    whole_run,
)
from tests.faulty.thread_job import FAULTY, Lie, concurrency

LIMIT = 1.0  # seconds for a call: two of the lies are deadlocks, and nothing else takes a tenth of it


class ForgetsWhatWasOpen(Lie):
    """A tool call of an evicted job, which may be refused or used again, is refused with a code of its own."""

    row, calls = "X8", 44

    def start(self, thread: str, tool_call: str, tool: str) -> dict[str, Any]:
        with self._locked():
            gone = self._calls.get(tool_call) == "background" and all(
                job.tool_call != tool_call for job in self._jobs.values()
            )
            if gone:
                raise KeyError(tool_call)
            return super().start(thread, tool_call, tool)


ALL = [*FAULTY, ForgetsWhatWasOpen]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time to shrink, however busy the machine is."""
    monkeypatch.setattr(rows, "SHRINK_SECONDS", 3 * rows.SHRINK_SECONDS)


@pytest.mark.parametrize("system", ALL, ids=lambda system: f"{system.__name__}-{system.row}")
def test_the_row_that_names_a_lie_catches_it_shortly_and_again(system: type[Lie], tmp_path: Path) -> None:
    result = row_result(system, system.row, limit=LIMIT)
    assert result.verdict is Verdict.FAIL, explained(result)
    found = result.counterexample
    assert found is not None
    assert found.calls <= system.calls, explained(result)
    path = replay.save(tmp_path, "thread-job", result.id, found.row)
    compiled = replay.read(str(path))
    assert list(compiled.lifecycle.rows) == [found.row.partition(":")[0]]
    with adapted(system, limit=LIMIT) as adapter:
        (again,) = replay.replay(compiled, adapter)
    assert again.failed, f"{again.verdict}\n{path.read_text(encoding='utf-8')}"
    with adapted(REFERENCE) as adapter:
        (right,) = replay.replay(compiled, adapter)
    assert not right.failed, f"{right.reason}\n{path.read_text(encoding='utf-8')}"


def test_every_row_is_named_by_a_lie() -> None:
    named = {system.row for system in ALL}
    assert [row for row in thread_job().lifecycle.rows if row not in named] == []


def test_every_lie_names_a_row_and_says_what_it_is() -> None:
    assert {system.row for system in ALL} <= set(thread_job().lifecycle.rows)
    assert [system.__name__ for system in ALL if not (system.__doc__ or "").strip()] == []
    assert len({system.__name__ for system in ALL}) == len(ALL)


SEQUENTIAL = [system for system in FAULTY if system.__module__ != concurrency.__name__]
SAMPLE = random.Random("a lie fails the rows that it is about").sample(SEQUENTIAL, 8)


@pytest.mark.parametrize("system", SAMPLE, ids=lambda system: system.__name__)
def test_a_lie_fails_the_rows_that_it_is_about_and_no_crowd(system: type[Lie]) -> None:
    """At most a third of the matrix: a fault that every row sees is told by the rows that are about it."""
    code, results = whole_run(system, quick=True)
    failing = verdicts(results)
    print(system.__name__, code, failing)
    assert failing.get(system.row) == "fail"
    assert code == (1 if thread_job().lifecycle.rows[system.row].level == "must" else code)
    assert len(failing) <= len(results) / 3, failing
