"""What a counterexample says that a system seems to do: the sentence that is broken, not the one of the call that shows it."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import Any

import pytest

from conformance.counterexample import diagnosis, shrunk
from conformance.counterexample.play import play, symbolic
from conformance.judge import Case
from conformance.references.task_progress import Reply, TaskProgress
from conformance.references.thread_job import ThreadJobs
from conformance.stand_ins import model_system
from conformance.targets import open_system
from conformance.verdict import Counterexample, Diagnosis
from statemachines.compile import Compiled
from statemachines.mutants import mutants
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import row_result


def lie_of(lifecycle: str, name: str) -> Any:
    return next(each for each in SUITES[lifecycle].faulty if each.__name__ == name)


def compiled_of(lifecycle: str) -> Compiled:
    return SUITES[lifecycle].compiled


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
        "all was right until `request_cancel('t1', 'job-1', 'user')` was called",
    ),
    "what is to be left alone": (
        "task-progress",
        "MessageWipesSummary",
        "operations.message",
        "all was right until `message('task-1', 'assistant', {input: 20, output: 5}, [])` was called",
    ),
}


@pytest.mark.parametrize(("lifecycle", "name", "clause", "words"), TOLD.values(), ids=TOLD)
def test_the_sentence_that_is_broken_is_told(lifecycle: str, name: str, clause: str, words: str) -> None:
    assert shown(lifecycle, lie_of(lifecycle, name)).diagnosis == Diagnosis(clause, words)


class MostlyRight(TaskProgress):
    """A batch is complete when its last task has ended, whatever the others do."""

    def batch_status(self, batch: str) -> Reply:
        shown = super().batch_status(batch)
        last = [each for each in self._tasks.values() if each.batch == batch][-1]
        return {**shown, "complete": last.status not in ("pending", "running")}


ANSWERS = {
    "another operation shows it right": ("thread-job", "InspectForgetsCall", "operations.inspect_job.gives"),
    "an order": ("background-tasks", "ListIsByStart", "operations.list.gives"),
}


@pytest.mark.parametrize(("lifecycle", "name", "clause"), ANSWERS.values(), ids=ANSWERS)
def test_a_wrong_answer_is_laid_to_the_answer(lifecycle: str, name: str, clause: str) -> None:
    found = shown(lifecycle, lie_of(lifecycle, name))
    assert (found.diagnosis.clause if found.diagnosis else found.clause) == clause


def test_what_a_call_set_is_not_blamed_where_something_else_shows_it_right() -> None:
    compiled = compiled_of("task-progress")
    with closing(open_system(compiled, MostlyRight)) as adapter:
        case = Case(compiled, adapter)
        one, other = (case.call("create_task", {"label": "a", "batch": "b"}).reply["task_id"] for _ in range(2))
        case.call("abort", {"task": other})
        case.call("batch_status", {"batch": "b"})
        found = shrunk(case, by_any=True)
    assert found is not None
    assert (found.diagnosis.clause if found.diagnosis else found.clause) == "operations.batch_status.gives"
    assert one != other


def test_what_was_left_out_by_a_guess_is_not_told_where_a_look_refutes_it() -> None:
    # That the summary was never set explains the shortest calls alone: what is seen before the message says otherwise.
    found = shown("task-progress", lie_of("task-progress", "MessageWipesSummary"))
    assert found.diagnosis is not None
    assert (found.cause, found.diagnosis.clause) == ("operations.summarize.set.task.summary", "operations.message")


class Broken(ThreadJobs):
    """Jobs that are over have failed, and from then on one observer gives no proper answer."""

    row = "N3"

    def finish(self, job: str, outcome: str, payload: object) -> None:
        super().finish(job, "failed" if outcome == "timed_out" else outcome, payload)

    def messages(self, thread: str) -> list[Reply]:
        if any(each.status == "failed" for each in self._jobs.values()):
            return self.broken()
        return super().messages(thread)

    def broken(self) -> list[Reply]:
        raise KeyError("failed")


class Hangs(Broken):
    """It does not come back."""

    def broken(self) -> list[Reply]:
        threading.Event().wait(30)
        return []


class WrongShape(Broken):
    """It gives something else."""

    def broken(self) -> list[Any]:
        return [3]


@pytest.mark.parametrize("system", [Broken, Hangs, WrongShape])
def test_a_look_that_is_not_answered_tells_nothing_and_breaks_nothing(system: type[Broken]) -> None:
    found = shown("thread-job", system)
    assert found.clause in ("operations.inspect_job.gives", "operations.finish.move")


class Consumes(TaskProgress):
    """A reading takes the summary with it."""

    def progress(self, task: str) -> Reply:
        shown = super().progress(task)
        self._tasks[task].summary = None
        return shown


def test_where_it_takes_a_look_to_show_it_no_call_is_blamed() -> None:
    compiled = compiled_of("task-progress")
    with closing(open_system(compiled, Consumes)) as adapter:
        case = Case(compiled, adapter)
        task = case.call("create_task", {"label": "a"}).reply["task_id"]
        case.call("start", {"task": task})
        case.call("summarize", {"task": task, "text": "x"})
        case.call("progress", {"task": task})
        case.call("progress", {"task": task})
        found = shrunk(case, by_any=True)
    assert found is not None
    assert found.row.count("progress(") == 2
    assert found.diagnosis is None


class Forgets(TaskProgress):
    """The summary is gone with the second start of any task."""

    def start(self, task: str) -> None:
        super().start(task)
        if len(self._tasks) > 1:
            for each in self._tasks.values():
                each.summary = None


def test_it_says_since_when_only_as_far_as_somebody_looked() -> None:
    compiled = compiled_of("task-progress")
    with closing(open_system(compiled, Forgets)) as adapter:
        case = Case(compiled, adapter)
        first, second = (case.call("create_task", {"label": "a"}).reply["task_id"] for _ in range(2))
        case.call("start", {"task": first})
        case.call("summarize", {"task": first, "text": "x"})
        case.call("start", {"task": second})
        for _ in range(diagnosis.LOOKS_BACK):
            case.call("message", {"task": second, "role": "assistant", "usage": {"input": 1, "output": 1}, "tools": []})
        case.call("progress", {"task": first})
        (finding,) = case.faults
        best = play(compiled, adapter, symbolic(compiled, case.trace), wanted=[finding])
        told = diagnosis.diagnosed(case, best)
        assert told is not None
        assert told.words.startswith("wrong since `message(")
        assert told.words.endswith("or before")


def test_where_looks_would_come_too_early_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    lie = lie_of("task-progress", "SecondOutcomeWins")
    monkeypatch.setattr(lie, "declares", {**lie.declares, "clock": "none", "settles": 5})
    monkeypatch.setattr(diagnosis, "_looked_at", lambda *_: pytest.fail("it looks"))
    assert shown("task-progress", lie).diagnosis == Diagnosis(
        "operations.finish.otherwise", "carries `finish` out all the same"
    )


class AbortForgetsSummaries(TaskProgress):
    """An abort takes the summaries of all tasks with it."""

    def abort(self, task: str) -> None:
        super().abort(task)
        for each in self._tasks.values():
            each.summary = None


@pytest.mark.parametrize("aborted", [True, False])
def test_a_mistake_that_would_show_sooner_is_not_what_a_system_does(*, aborted: bool) -> None:
    # That the summary was never set explains these calls as well; but then the abort would not be one of the shortest.
    compiled = compiled_of("task-progress")
    unset = next(each for each in mutants(compiled.kernel) if each.clause == "operations.summarize.set.task.summary")
    mistaken = Compiled(compiled.lifecycle, unset.kernel, compiled.words)
    system = AbortForgetsSummaries if aborted else model_system(mistaken)
    with closing(open_system(compiled, system)) as adapter:
        case = Case(compiled, adapter)
        one = case.call("create_task", {"label": "a"}).reply["task_id"]
        other = case.call("create_task", {"label": "b"}).reply["task_id"] if aborted else ""
        case.call("start", {"task": one})
        case.call("summarize", {"task": one, "text": "x"})
        if aborted:
            case.call("abort", {"task": other})
        case.call("progress", {"task": one})
        best = play(compiled, adapter, symbolic(compiled, case.trace), wanted=case.faults)
        assert best.finding is not None
        assert diagnosis._shows_sooner(case, best, mistaken) is aborted


def test_two_mistakes_are_told_where_each_explains_all() -> None:
    found = shown("thread-job", lie_of("thread-job", "FirstStartedLeaves"))
    assert found.diagnosis == Diagnosis(
        "entities.Job.retain", "breaks no ties, or drops them in the order of their creation"
    )


def test_of_calls_at_once_nothing_is_guessed() -> None:
    assert shown("thread-job", lie_of("thread-job", "ProgressOverwritesEnd")).diagnosis is None
