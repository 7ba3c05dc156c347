"""A case records and judges every call: those after calls at once too, and none that belongs to another case."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance.budget import USUAL
from conformance.command.cli import main
from conformance.judge.case import GROUPS_OF_A_CASE, CallFailed, Case, case_seed
from conformance.judge.finding import Finding
from conformance.judge.history import History
from conformance.judge.judge import Judge
from conformance.references.background_tasks import BackgroundTasks
from conformance.system.broken import Broken
from conformance.system.interleaving import Gate
from conformance.verdict import Verdict
from statemachines.compile import load
from statemachines.rows.programs import RowFailure
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import REFERENCE, adapted, row_result, thread_job, whole_run
from tests.right.thread_job import ActorJobs

JOB = SUITES["thread-job"]


class ListsNothing(REFERENCE):
    """Its lists are empty, whatever there is."""

    def list_jobs(self, thread: str, statuses: Any = None) -> list[Any]:
        return []


def start_of(case: Case, call: str) -> Any:
    return lambda: case.call("start", {"thread": "t1", "tool_call": call, "tool": "bash"})


@pytest.mark.parametrize("concurrency", ["threads", "none"])
def test_what_follows_calls_at_once_is_judged_and_recorded(concurrency: str) -> None:
    words = {**REFERENCE.declares, "concurrency": concurrency}
    with adapted(type("Empty", (ListsNothing,), {"declares": words})) as adapter:
        case = Case(thread_job(), adapter)
        case.together([start_of(case, "c1"), start_of(case, "c2")])
        case.call("list_jobs", {"thread": "t1"})
    assert case.finding is not None
    assert case.finding.operation == "list_jobs"
    assert [len(record.calls) if isinstance(record, History) else record.operation for record in case.trace] == [
        2,
        "list_jobs",
    ]


def test_seeds_and_groups_have_schedules_of_their_own() -> None:
    seeds = {case_seed(number, round_) for number in range(50) for round_ in range(160)}
    assert len(seeds) == 50 * 160
    assert len({seed * GROUPS_OF_A_CASE + group for seed in seeds for group in (0, 1, 999)}) == 3 * len(seeds)


# --- what is left behind ----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("system", [REFERENCE, ActorJobs], ids=lambda each: each.__name__)
def test_a_body_that_is_left_behind_does_not_call_the_object_of_the_next_case(system: Any) -> None:
    held, ended = threading.Event(), threading.Event()
    found: list[Any] = []
    with adapted(system, limit=0.3) as adapter:
        case = Case(thread_job(), adapter)

        def late() -> Any:
            with suppress(SystemExit):  # who is left behind is told to end, and this one does not
                held.wait()
            try:
                return start_of(case, "late")()
            except Exception as error:  # noqa: BLE001 - what it is told is what is asked about
                found.append(error)
            finally:
                ended.set()

        with pytest.raises(RowFailure, match="1 of 2 calls made at once did not come back"):
            case.together([late, start_of(case, "c1")])
        following = Case(thread_job(), adapter)
        held.set()
        assert ended.wait(5)
        listed = following.call("list_jobs", {"thread": "t1"})
    assert (listed.value, following.finding) == ([], None)
    assert "late" not in str(case.trace[-1])
    assert ["start() was not begun" in str(error) for error in found] == [True]


def test_a_body_that_makes_no_call_does_not_hold_the_others_of_an_async_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[bool] = []
    monkeypatch.setattr(Gate, "hold", lambda gate: opened.append(gate._open.wait(10)))
    with adapted(ActorJobs, limit=60.0) as adapter:
        case = Case(thread_job(), adapter)
        (nothing, reply) = case.together([lambda: 7, start_of(case, "c1")])
    assert (nothing, reply.refused, opened) == (7, None, [True])


def test_a_call_that_breaks_leaves_no_thread() -> None:
    class Broke(REFERENCE):
        def list_jobs(self, thread: str, statuses: Any = None) -> list[Any]:
            raise Broken("shape", "printed too much")

    before = set(threading.enumerate())
    with adapted(Broke) as adapter:
        for _ in range(5):
            with pytest.raises(RowFailure):
                Case(thread_job(), adapter).call("list_jobs", {"thread": "t1"})
        workers = set(threading.enumerate()) - before
    for worker in workers:
        worker.join(5)
    assert not any(worker.is_alive() for worker in workers)


# --- whose fault it is ------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ["N1", "B1"])
def test_a_fault_of_the_kit_accuses_no_system(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(Judge, "step", fails)
    result = row_result(REFERENCE, row)
    assert result.verdict is Verdict.HARNESS_ERROR
    assert result.reason.startswith("the kit itself failed: KeyError: 'planted' (at test_case.py:")


def test_a_row_that_reads_what_a_reply_lacks_fails_at_once_too() -> None:
    refusal: dict[str, str] = {}
    with adapted(REFERENCE) as adapter:
        case = Case(thread_job(), adapter)
        with pytest.raises(RowFailure, match="cannot be evaluated: 'job_id'"):
            case.together([start_of(case, "c1"), lambda: refusal["job_id"]])


def test_an_argument_that_an_earlier_reply_lacks_is_no_fault_of_the_kit() -> None:
    with adapted(JOB.dead["echo"], JOB.compiled) as adapter:
        case = Case(JOB.compiled, adapter)
        with pytest.raises(RowFailure, match="start cannot be called: an earlier reply lacks what it takes"):
            case.call("start", {"thread": None, "tool_call": "c1", "tool": "bash"})


# --- once, and not again ----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("row", "reading"), [pytest.param("machine", 1, marks=pytest.mark.soak), ("B3", 1), ("B7", 1), ("B7", 3)]
)
def test_what_fails_once_and_then_does_not_is_flaky_and_ends_no_run(row: str, reading: int) -> None:
    readings = itertools.count(1)

    class Once(REFERENCE):
        def list_jobs(self, *asked: Any, **named: Any) -> list[Any]:
            found = super().list_jobs(*asked, **named)
            return [] if found and next(readings) == reading else found

        def messages(self, thread: str) -> list[Any]:
            found = super().messages(thread)
            return [] if found and next(readings) == reading else found

    code, (result,) = whole_run(Once, only=[row])
    assert (code, result.verdict) == (1, Verdict.FLAKY)


@pytest.mark.parametrize(
    ("asked", "strays"),
    [(["X15"], ["operations.progress.gives"]), (["X15", "B2"], []), (["X15", "machine"], [])],
)
def test_a_fault_that_no_row_asked_is_about_is_named_where_none_tells_of_it(
    asked: list[str], strays: list[str], tmp_path: Path
) -> None:
    report = tmp_path / "report.jsonl"
    system = "python:tests.faulty.task_progress.counting:TotalLeavesOutputOut"
    main(
        [
            "run",
            "task-progress",
            "--against",
            system,
            "--quick",
            "--rows",
            ",".join(asked),
            "--report",
            str(report),
        ]
    )
    assert json.loads(report.read_text("utf-8").splitlines()[-1])["strays"] == strays


# --- replies that nothing follows from -------------------------------------------------------------------

KEPT = compile_text(
    """
lifecycle: kept
version: 1
about: A job can be kept while it is there; when it is gone nothing follows from that.
entities:
  Job:
    id: minted
    fields: {since: time}
    states: {active: [running], terminal: [done]}
    missing: unchanged
    after:
      done: {in: 10, since: job.since, within: 5, remove: job}
operations:
  start: {create: {Job: {since: now}}, gives: job.id}
  end: {takes: {job: Job}, move: running -> done, otherwise: unchanged}
  keep: {takes: {job: Job}, move: running -> same, otherwise: unchanged, gives: {kept: jobs.size()}}
  look: {takes: {job: Job}, gives: {at: job.since}}
matrix: {}
""",
    "kept.yaml",
)


class Kept:
    """It says nothing of a job that is gone, or that has ended."""

    declares: ClassVar = {"clock": "virtual", "concurrency": "threads"}
    gone_after = 10

    def __init__(self) -> None:
        self.jobs: dict[str, str] = {}
        self.now = 0

    def start(self) -> str:
        self.jobs["a"] = "running"
        return "a"

    def end(self, job: str) -> None:
        self.jobs[job] = "done"

    def keep(self, job: str) -> dict[str, int] | None:
        return {"kept": 1} if self.jobs.get(job) == "running" else None

    def look(self, job: str) -> dict[str, int] | None:
        return {"at": 0} if self.now <= self.gone_after else None

    def wait(self, ms: int) -> None:
        self.now += ms


class GoneSoon(Kept):
    """What has ended is gone at once."""

    gone_after = 0


class KeptInWords(Kept):
    """It answers in words of its own, also of a job that is there."""

    def keep(self, job: str) -> Any:
        return "kept"


def test_a_reply_may_be_nothing_but_the_id_of_a_new_record() -> None:
    with adapted(Kept, KEPT) as adapter:
        case = Case(KEPT, adapter)
        assert case.call("start", {}).value == "a"
        case.call("keep", {"job": "a"})
        assert case.finding is None


class TellsAgain(REFERENCE):
    """Each attempt says that it has told the job."""

    def emit(self, thread: str, job: str) -> bool:
        super().emit(thread, job)
        return True


def test_what_was_given_is_not_laid_to_a_clause_without_which_anything_may_be_given() -> None:
    """Without a retention the job might have left, and what an attempt to tell it gives then is open: that says nothing of it."""
    with adapted(TellsAgain) as adapter:
        case = Case(thread_job(), adapter)
        job = start_of(case, "c1")().given["job_id"]
        case.call("finish", {"job": job, "outcome": "completed", "payload": "x"})
        for _ in range(2):
            case.call("emit", {"thread": "t1", "job": job})
        assert [each.clause for each in case.faults] == ["operations.emit.gives"]


@pytest.mark.parametrize(("system", "ms"), [(Kept, 5), (Kept, 12), (Kept, 20), (GoneSoon, 5), (GoneSoon, 12)])
def test_a_reply_need_have_no_form_where_in_some_way_nothing_follows_from_it(system: type, ms: int) -> None:
    with adapted(system, KEPT) as adapter:
        case = Case(KEPT, adapter)
        case.call("start", {})
        case.call("end", {"job": "a"})
        case.call("wait", {"ms": ms})
        with contextlib.suppress(CallFailed):
            case.call("look", {"job": "a"})
        told = [each.clause for each in case.faults]
        assert told == (["entities.Job.after.done"] if system is GoneSoon and ms == 5 else [])


@pytest.mark.parametrize("system", [Kept, KeptInWords])
def test_beside_others_a_reply_has_a_form_where_in_no_order_it_need_not(system: type) -> None:
    def called(*names: str) -> Finding | None:
        with adapted(system, KEPT) as adapter:
            case = Case(KEPT, adapter)
            case.call("start", {})
            with contextlib.suppress(CallFailed):
                case.together([partial(case.call, name, {"job": "a"}) for name in names])
            return case.finding

    assert called("end", "keep") is None
    found = called("keep", "keep")
    assert (found is not None and found.kind == "shape") is (system is KeptInWords)


def test_calls_at_once_that_hang_are_of_the_clause_that_a_baseline_names() -> None:
    def hang(self: Any, **_: Any) -> None:
        threading.Event().wait(2)

    with adapted(type("Hangs", (REFERENCE,), {"finish": hang, "request_cancel": hang}), limit=0.2) as adapter:
        case = Case(thread_job(), adapter)
        job = start_of(case, "c1")().given["job_id"]
        calls = [
            partial(case.call, "finish", {"job": job, "outcome": "completed", "payload": "x"}),
            partial(case.call, "request_cancel", {"thread": "t1", "job": job, "by": "user"}),
        ]
        with pytest.raises(CallFailed):
            case.together(calls)
    assert [(each.kind, each.clause) for each in case.faults] == [("hang", "operations.finish")]


def test_what_a_callee_makes_of_its_arguments_changes_nothing_of_what_was_asked() -> None:
    class Consumes(REFERENCE):
        def list_jobs(self, thread: str, statuses: Any = None) -> list[Any]:
            asked = list(statuses)
            statuses.clear()
            return super().list_jobs(thread, asked)

    statuses = ["running"]
    with adapted(Consumes) as adapter:
        case = Case(thread_job(), adapter)
        start_of(case, "c1")()
        listed = case.call("list_jobs", {"thread": "t1", "statuses": statuses})
    assert (len(listed.value), statuses, case.finding) == (1, ["running"], None)


class WaitHangs(BackgroundTasks):
    """Who waits for a completion that has not come yet is never woken."""

    async def wait_for_completion(self, timeout: int) -> bool:  # noqa: ASYNC109 - the life cycle names it
        return self._take_permit(self._turn()) or bool(await asyncio.Event().wait())


def test_a_hang_fails_the_run_although_only_a_row_that_recommends_something_saw_it() -> None:
    code, (result,) = whole_run(WaitHangs, load("background-tasks"), only=["B9"], budget=USUAL.quick())
    assert (code, result.level, result.verdict) == (1, "should", Verdict.FAIL)


def test_of_a_recommending_row_that_is_known_to_fail_nothing_more_is_told() -> None:
    known = type("Known", (WaitHangs,), {"declares": BackgroundTasks.declares | {"deviates": {"B9": {"reason": "x"}}}})
    code, (result,) = whole_run(known, load("background-tasks"), only=["B9"], budget=USUAL.quick())
    assert (code, result.verdict) == (0, Verdict.KNOWN_FAIL)
