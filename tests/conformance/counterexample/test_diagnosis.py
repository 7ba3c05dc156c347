"""What a counterexample says that a system seems to do: the sentence that is broken, not the one of the call that shows it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.verdict import Counterexample, Diagnosis
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import row_result


def lie_of(lifecycle: str, name: str) -> Any:
    return next(each for each in SUITES[lifecycle].faulty if each.__name__ == name)


def shown(lifecycle: str, lie: Any) -> Counterexample:
    found = row_result(lie, lie.row, SUITES[lifecycle].compiled, limit=1.0).counterexample
    assert found is not None
    return found


TOLD: dict[str, tuple[str, str, str, str]] = {
    "a limit": ("background-tasks", "OneRowTooFew", "entities.Task.retain", "keeps one fewer"),
    "what is not done": (
        "local-agent",
        "ForegroundIsNotRemembered",
        "operations.foreground.for each.t.set.in_front",
        "is not done",
    ),
    "what is done all the same": (
        "thread-job",
        "SecondOutcomeWins",
        "operations.finish.otherwise",
        "carries `finish` out all the same",
    ),
    "a change where none is": (
        "thread-job",
        "LateCancelStamps",
        "operations.request_cancel.otherwise",
        "right before `request_cancel('t1', 'job-1', 'user')`, wrong after it",
    ),
    "what is to be left alone": (
        "task-progress",
        "MessageWipesSummary",
        "operations.message",
        "right before `message('task-1', 'assistant', {input: 20, output: 5}, [])`, wrong after it",
    ),
    "a timer at its instant": (
        "local-agent",
        "TimerResolvesNothing",
        "entities.Task.after.running.set.task.resolved",
        "right before `wait(100)`, wrong after it",
    ),
}


@pytest.mark.parametrize(("lifecycle", "name", "clause", "words"), TOLD.values(), ids=TOLD)
def test_the_sentence_that_is_broken_is_told(lifecycle: str, name: str, clause: str, words: str) -> None:
    assert shown(lifecycle, lie_of(lifecycle, name)).diagnosis == Diagnosis(clause, words)


ANSWERS = {
    "another operation shows it right": ("thread-job", "InspectForgetsCall", "operations.inspect_job.gives"),
    "an order": ("background-tasks", "ListIsByStart", "operations.list.gives"),
}


@pytest.mark.parametrize(("lifecycle", "name", "clause"), ANSWERS.values(), ids=ANSWERS)
def test_a_wrong_answer_is_laid_to_the_answer(lifecycle: str, name: str, clause: str) -> None:
    found = shown(lifecycle, lie_of(lifecycle, name))
    assert (found.diagnosis.clause if found.diagnosis else found.clause) == clause


def test_what_was_left_out_by_a_guess_is_not_told_where_a_look_refutes_it() -> None:
    # That the summary was never set explains the shortest calls alone: what is seen before the message says otherwise.
    found = shown("task-progress", lie_of("task-progress", "MessageWipesSummary"))
    assert (found.cause, found.diagnosis and found.diagnosis.clause) == (
        "operations.summarize.set.task.summary",
        "operations.message",
    )


def test_where_each_call_takes_long_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.counterexample import diagnosis

    monkeypatch.setattr(diagnosis, "_can_look", lambda case: False)
    monkeypatch.setattr(diagnosis, "_looked_at", lambda *_: pytest.fail("it looks"))
    found = shown("background-tasks", lie_of("background-tasks", "OneRowTooFew"))
    assert found.diagnosis == Diagnosis("entities.Task.retain", "keeps one fewer")


def test_of_calls_at_once_nothing_is_guessed() -> None:
    assert shown("thread-job", lie_of("thread-job", "ProgressOverwritesEnd")).diagnosis is None
