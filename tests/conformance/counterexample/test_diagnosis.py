"""What a counterexample says that a system seems to do: the sentence that is broken, not the one of the call that shows it."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import Any, ClassVar

import pytest

from conformance.counterexample import diagnosis, shrunk
from conformance.counterexample.play import play, symbolic
from conformance.judge import Case
from conformance.references.task_progress import Reply, TaskProgress
from conformance.references.thread_job import ThreadJobs
from conformance.refused import Refused
from conformance.stand_ins import model_system
from conformance.targets import open_system
from conformance.verdict import Counterexample, Diagnosis
from statemachines.compile import Compiled, load
from statemachines.mutants import mutants
from statemachines.rows import Observed
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import row_result, whole_run


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
        "all was right until `request_cancel('t1', job.job_id, 'user')` was called",
    ),
    "told more than once": ("thread-job", "ToldAtEveryBoundary", "messages.Ended.at most", "tells it again"),
    "given more than once": ("background-tasks", "DrainLeavesQueue", "messages.Completion.at most", "tells it again"),
    "never told": (
        "thread-job",
        "TimedOutIsNeverTold",
        "messages.Ended.due",
        "does not tell of those that are timed_out",
    ),
    "what is to be left alone": (
        "task-progress",
        "MessageWipesSummary",
        "operations.message",
        "all was right until `message(task.task_id, 'assistant', {input: 20, output: 5}, [])` was called",
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
        told = diagnosis.diagnosed(case, best, {})
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


def test_what_a_race_breaks_in_every_order_is_asserted() -> None:
    assert shown("thread-job", lie_of("thread-job", "ProgressOverwritesEnd")).row.endswith(
        "- last.status == completed\n"
    )


LEASES = compile_text(
    """
    lifecycle: leases
    version: 1
    about: Jobs on a lease.
    types: {Millis: {from: 1, to: 2000}}
    entities:
      Job:
        id: minted
        fields:
          since: time
          lasts: int
        states:
          waiting:  [later, ready]
          held:     [leased]
          terminal: [cancelled]
        after:
          later:  {in: 600, since: job.since, move: ready}
          leased: {in: job.lasts, since: job.since, move: ready}
        shows: {job_id: job.id, status: job.state}
    operations:
      lease:
        create: {Job: {state: leased, since: now, lasts: 1000}}
        gives:  {job_id: job.id}
      put_off:
        create: {Job: {state: later, since: now, lasts: 0}}
        gives:  {job_id: job.id}
      extend:
        takes: {job: Job, ms: Millis}
        for each: {job: {in: "[job]", when: "job.state == leased", set: {job.since: now, job.lasts: ms}}}
      cancel:
        takes:     {job: Job}
        move:      {later: cancelled, leased: cancelled}
        otherwise: unchanged
      look:
        takes: {job: Job}
        gives: job
    matrix:
      L1:
        about: A lease that is extended lasts longer.
        level: must
        source: here
        covers: [operations.extend]
        act:
          - job = lease()
          - extend(job.job_id, 2000)
          - wait(1000)
          - last = look(job.job_id)
        assert: last.status == leased
      L2:
        about: A job that is cancelled stays so.
        level: must
        source: here
        covers: [operations.cancel]
        act:
          - job = put_off()
          - cancel(job.job_id)
          - wait(601)
          - last = look(job.job_id)
        assert: last.status == cancelled
    """,
    "leases.yaml",
)


class Leases:
    """Right leases: what time brings about is done when somebody calls."""

    def __init__(self) -> None:
        self.now, self.jobs = 0, list[dict[str, Any]]()

    def wait(self, ms: int) -> None:
        self.now += ms
        for job in self.jobs:
            if job["status"] in self.timed and job["until"] <= self.now:
                job["status"] = "ready"

    declares: ClassVar[dict[str, Any]] = {"clock": "virtual"}
    timed: ClassVar[tuple[str, ...]] = ("later", "leased")

    def _put(self, status: str, lasts: int) -> dict[str, str]:
        self.jobs.append({"job_id": f"job-{len(self.jobs)}", "status": status, "until": self.now + lasts})
        return {"job_id": self.jobs[-1]["job_id"]}

    def lease(self) -> dict[str, str]:
        return self._put("leased", 1000)

    def put_off(self) -> dict[str, str]:
        return self._put("later", 600)

    def _job(self, job: str) -> dict[str, Any]:
        found = next((each for each in self.jobs if each["job_id"] == job), None)
        if found is None:
            raise Refused("not_found")
        return found

    def extend(self, job: str, ms: int) -> None:
        if self._job(job)["status"] == "leased":
            self._job(job)["until"] = self.now + ms

    def cancel(self, job: str) -> None:
        if self._job(job)["status"] in ("later", "leased"):
            self._job(job)["status"] = "cancelled"

    def look(self, job: str) -> dict[str, str]:
        found = self._job(job)
        return {"job_id": found["job_id"], "status": found["status"]}


class ExtendDoesNothing(Leases):
    """A lease ends when it would have ended without being extended."""

    def extend(self, job: str, ms: int) -> None:
        self._job(job)


class CancelledComeBack(Leases):
    """A job that was put off is ready when its time has come, also if it was cancelled."""

    timed = ("later", "leased", "cancelled")


@pytest.mark.parametrize(
    ("system", "row", "told"),
    [
        (ExtendDoesNothing, "L1", "operations.extend.for each.job: is not done"),
        (CancelledComeBack, "L2", "all was right until `wait("),
    ],
)
def test_what_time_brings_about_is_laid_to_what_was_set_for_it_and_never_to_the_look(
    system: type[Leases], row: str, told: str
) -> None:
    result = row_result(system, row, LEASES)
    assert result.counterexample is not None
    assert str(result.counterexample.diagnosis).startswith(told)


def test_right_leases_are_right() -> None:
    assert whole_run(Leases, LEASES, quick=True)[0] == 0


def test_an_argument_behind_one_that_was_left_out_is_told_by_its_name() -> None:
    job = load("job")
    given: dict[str, Any] = {"listen": True, "poll": ["j1"], "owner": "o"}
    assert diagnosis._told(job, Observed("tool", given)) == "tool(['j1'], owner='o', listen=true)"
    assert diagnosis._told(job, Observed("register", {"type": "bash", "label": "x"})) == "register('bash', 'x')"
    assert diagnosis._told(job, Observed("wait", {"ms": 5})) == "wait(5)"
