"""What only a claim of a row tells is shown by the steps that the claim needs, and by no others."""

from __future__ import annotations

from statemachines.compile import load
from tests.conformance.systems import row_result
from tests.faulty.background_tasks.rows import CrashedRowsStay
from tests.faulty.job.reuse import ReusedAgainstDeclaration
from tests.faulty.task_progress.life import MessageMakesTask


def shown(lifecycle: str, system: type, row: str) -> tuple[list[str], int]:
    """The steps and the claims of the counterexample, and how many calls it makes."""
    found = row_result(system, row, load(lifecycle)).counterexample
    assert found is not None
    lines = found.row.partition("act:\n")[2].splitlines()
    return [line.strip().removeprefix("- ") for line in lines], found.calls


def test_steps_that_the_claim_does_not_need_are_left_out() -> None:
    told, calls = shown("task-progress", MessageMakesTask, "X9")
    assert told == [
        "unknown = fresh(TaskId)",
        "first = status(unknown)",
        "said = message(unknown, assistant, Usage(10, 5), [ToolUse(bash, 'x')])",
        "assert:",
        "status(unknown).refused == first.refused",
    ]
    assert calls == 4  # one of them in the claim


def test_steps_without_which_a_right_system_fails_it_too_stay() -> None:
    told, calls = shown("background-tasks", CrashedRowsStay, "X36")
    assert told == [
        "tasks = repeat(limits.retained + 2, spawn('x'))",
        "for each t in tasks:",
        "crash(t.task_id)",
        "listed = list()",
        "assert:",
        "listed.size() == limits.retained && listed.all(t, t.status == failed)",
    ]
    assert calls == 133


def test_steps_without_which_the_claim_holds_stay() -> None:
    told, calls = shown("job", ReusedAgainstDeclaration, "E18")
    assert told == [
        "configure(2, 1000, 5000)",
        "old = register(bash, 'old', 'x')",
        "cancel(old.job_id)",
        "wait(1001)",
        "again = register(task, 'new', 'x')",
        "assert:",
        "again.job_id != 'x' && again.job_id.startsWith('x')",
    ]
    assert calls == 5
