"""The searches beside the Hypothesis machine: long walks, and any two calls at once."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import sys
import threading
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.counterexample import shrunk
from conformance.judge import BrokenCalls
from conformance.judge.case import Case
from conformance.judge.history import History
from conformance.references.job import Jobs
from conformance.references.local_agent import LocalAgents
from conformance.references.task_progress import TaskProgress
from conformance.references.thread_job import TERMINAL, Reply, ThreadJob, ThreadJobs
from conformance.search import ahead, clashes, meetings, pairs, stateful, walks
from conformance.search.faults import Diverged, Faults
from conformance.search.odd_values import LONG_WAIT, ODD_IDS
from conformance.search.situations import Situations
from conformance.search.stateful import Driver
from statemachines.compile import Compiled, load
from statemachines.model import BaseModel, Impossible, Restless
from statemachines.rows import Observed
from tests.conformance.lifecycles import SUITES
from tests.conformance.search.searching import searched, traces
from tests.conformance.systems import REFERENCE, adapted, thread_job
from tests.faulty.background_tasks.concurrency import TwoWaitersAreNone
from tests.faulty.job.concurrency import WhoRunsIsLookedAtTooLate
from tests.faulty.job.lie import Lie
from tests.faulty.thread_job.beside_endings import ErrorWritesStatusBack
from tests.faulty.thread_job.crashes import TimedOutCrashes
from tests.faulty.thread_job.retention import KeepsOneFewer


def walked(system: type, seed: int, count: int) -> tuple[Diverged | None, list[Case]]:
    return searched(walks.search, system, seed, replace(USUAL, walks=count))


class ListsByThePrefix(ThreadJobs):
    """A thread is shown the jobs of every thread whose name begins with its own."""

    def _jobs_in(self, thread: str) -> list[ThreadJob]:
        return [job for job in self._jobs.values() if job.thread.startswith(thread)]


class FirstHearsOfThird(ThreadJobs):
    """The first thread is told what a third one is owed."""

    def _due_in(self, thread: str) -> list[ThreadJob]:
        return sorted(self._due[thread] + (self._due["t10"] if thread == "t1" else []), key=self._order)


@pytest.mark.parametrize("system", [ListsByThePrefix, FirstHearsOfThird])
def test_more_than_two_threads_are_drawn_of_which_one_is_named_like_another(system: type) -> None:
    assert any(walked(system, seed, USUAL.walks)[0] is not None for seed in range(2))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "told"), [(TimedOutCrashes, "operations.finish"), (KeepsOneFewer, "missing from the list")]
)
def test_walks_find_what_is_wrong_from_nearly_every_seed(system: type, told: str) -> None:
    found = [diverged for seed in range(4) if (diverged := walked(system, seed, USUAL.walks)[0]) is not None]
    assert len(found) >= 3
    assert {told in str(diverged) for diverged in found} == {True}


def test_walks_find_nothing_where_nothing_is_wrong_and_each_is_told() -> None:
    diverged, cases = walked(REFERENCE, 0, 7)
    assert diverged is None
    assert len(cases) == 7 + 7  # as many take more for new


class CancelIsNotedAgain(ThreadJobs):
    """A second request to cancel a job moves the instant of the first one."""

    def request_cancel(self, thread: str, job: str, actor: str) -> Reply:
        found = self._jobs.get(job)
        if found is not None and found.thread == thread and found.status == "pending_cancel":
            found.cancel_requested_at = self._now
        return super().request_cancel(thread, job, actor)


def test_a_walk_makes_its_last_call_once_more_when_time_has_passed() -> None:
    """So it finds who overwrites what was noted of the first one."""
    found = [walked(CancelIsNotedAgain, seed, USUAL.walks)[0] for seed in range(3)]
    assert sum(diverged is not None for diverged in found) >= 2
    _, cases = walked(REFERENCE, 0, 20)
    again = Counter(
        two.operation
        for calls in ([each for each in case.without_looks if isinstance(each, Observed)] for case in cases)
        for one, wait, two in zip(calls, calls[1:], calls[2:], strict=False)
        if wait.arguments == {"ms": 1} and (one.operation, one.arguments) == (two.operation, two.arguments)
    )
    assert len(again) > 5, again


class ListsNothing(REFERENCE):
    """Whoever asks for the jobs of a thread is told of none."""

    def list_jobs(self, thread: str, statuses: Any = ()) -> list[Reply]:
        return []


def test_a_look_that_is_always_wrong_does_not_end_every_case() -> None:
    ends: list[bool] = []
    with adapted(ListsNothing) as adapter:
        faults = Faults(BrokenCalls(adapter), most=5)
        budget = replace(USUAL, walks=8)
        walks.search(thread_job(), adapter, 0, budget, after=lambda driver: ends.append(driver.over), faults=faults)
    assert [each.finding.operation for each in faults.found] == ["list_jobs"]
    assert ends.count(False) >= 4


@pytest.mark.thorough
def test_the_seed_decides_where_a_walk_goes() -> None:
    first, again, other = (traces(walked(REFERENCE, seed, 3)[1]) for seed in (1, 1, 2))
    assert first == again != other


def test_the_seed_decides_what_meets_on_an_event_loop_whatever_a_reply_may_be() -> None:
    def made() -> list[str]:
        cases: list[str] = []
        job = load("job")  # some of its replies are one of several, each as right as the others
        with adapted(Jobs, job) as adapter:
            faults = Faults(BrokenCalls(adapter))
            budget = replace(USUAL, pairs=12)
            pairs.search(
                job, adapter, 0, budget, after=lambda driver: cases.append(repr(driver.case.trace)), faults=faults
            )
        return cases

    assert made() == made()


def test_after_calls_at_once_everybody_looks_as_often_as_not_and_always_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[tuple[Case, int, int]] = []
    observe = Driver.observe

    def noting(self: Driver, *calls: dict[str, Any]) -> None:
        looks.append((self.case, groups_of(self.case), len(calls)))
        observe(self, *calls)

    def groups_of(case: Case) -> int:
        return sum(isinstance(event, History) for event in case.trace)

    monkeypatch.setattr(Driver, "observe", noting)
    _, cases = paired(REFERENCE, 20)
    groups = sum(map(groups_of, cases))
    assert groups > 3 * len(cases)
    for case in cases:
        *between, (all_of_them, calls) = [(count, calls) for of, count, calls in looks if of is case and count]
        assert all_of_them == between[-1][0] == groups_of(case)
        assert calls <= USUAL.calls_after
        met = [event.callers for event in case.trace if isinstance(event, History)]
        assert sum(calls for _, calls in between) == sum(map(len, met))  # each call that met is looked at
    assert 0.4 * groups < sum(count > 0 for _, count, _ in looks) - len(cases) < 0.9 * groups


def test_each_observer_is_asked_once_about_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []
    make = Driver.make

    def noting(self: Driver, operation: str, arguments: dict[str, Any]) -> None:
        asked.append((operation, arguments))
        make(self, operation, arguments)

    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        for name in ("a", "b"):
            driver.make("start", {"thread": "t1", "tool_call": name, "tool": "bash"})
        monkeypatch.setattr(Driver, "make", noting)
        driver.observe({"job": "job-1"}, {"job": "job-2"}, {"job": "job-1"})
    assert len(asked) == len({repr(each) for each in asked})
    assert {given["job"] for _, given in asked if "job" in given} == {"job-1", "job-2"}


class StartsFailLater(ThreadJobs):
    """After two calls at once no job starts any more, which no observer shows."""

    inside, broken = 0, False

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.inside += 1
        self.broken |= self.inside > 1
        try:
            with super()._locked():
                yield
        finally:
            self.inside -= 1

    def _locked(self) -> AbstractContextManager[Any]:
        return self._counted()

    def start(self, thread: str, tool_call: str, tool: str) -> Reply:
        if self.broken and not self.inside:
            raise RuntimeError("no more")
        return super().start(thread, tool_call, tool)


def paired(system: type, rounds: int) -> tuple[Diverged | None, list[Case]]:
    return searched(pairs.search, system, 0, replace(USUAL, pairs=rounds))


def test_what_two_calls_at_once_have_broken_shows_in_a_call_that_follows() -> None:
    diverged, _ = paired(StartsFailLater, USUAL.pairs)
    assert diverged is not None
    assert "RuntimeError: no more" in str(diverged)


def test_pairs_find_nothing_where_nothing_is_wrong_and_overlap() -> None:
    diverged, cases = paired(REFERENCE, 40)
    assert diverged is None
    assert 30 < len(cases) <= 40  # some situations have nothing to call for
    assert sum(case.overlaps > 0 for case in cases) > len(cases) // 4  # usually more than a half


class ProgressOverwrites(ThreadJobs):
    """A report of progress writes back the record that it read before: an ending or a request to cancel in between is lost."""

    def report_progress(self, job: str) -> None:
        found = self._jobs.get(job)
        if found is None or found.status in TERMINAL:
            return
        copied = replace(found)
        with self._locked():
            if job in self._jobs:
                self._jobs[job] = copied


@pytest.mark.thorough
def test_pairs_are_mostly_about_one_record_so_that_one_call_undoes_the_other() -> None:
    """What is seen after later meetings is told by the one that did it, and by no other."""
    with adapted(ProgressOverwrites) as adapter:
        faults = Faults(BrokenCalls(adapter))
        pairs.search(thread_job(), adapter, 0, USUAL, after=lambda driver: None, faults=faults)
        assert faults.first is not None
        found = shrunk(faults.first.case, rounds=USUAL.reproductions)
    assert found is not None
    assert found.at_once in ({"report_progress", "finish"}, {"report_progress", "request_cancel"})
    assert len(re.findall(r"\bstart(?:_as)?\(", found.row)) == 1


def matter(model: BaseModel, calls: clashes.Calls) -> bool:
    """Tell whether two calls matter to each other where a model is now."""
    here = clashes.Here.of(model)
    return clashes.clash(here, calls, [clashes.changes_of(here, each) for each in calls])


def meet(*calls: tuple[str, dict[str, Any]]) -> bool:
    """Tell whether two calls matter to each other, where job-1 of t1 runs and job-2 of t1 has ended."""
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        for name in ("a", "b"):
            driver.make("start", {"thread": "t1", "tool_call": name, "tool": "bash"})
        driver.make("finish", {"job": "job-2", "outcome": "failed", "payload": "x"})
        first, second = calls
        return matter(driver.case.judge.model, (first, second))


FINISH = ("finish", {"job": "job-1", "outcome": "failed", "payload": "x"})
CANCEL = ("request_cancel", {"thread": "t1", "job": "job-1", "actor": "user"})
LIST = ("list_jobs", {"thread": "t1"})
OTHER = ("set_idle", {"thread": "t2", "idle": True})
START, ANOTHER = (("start", {"thread": "t1", "tool_call": call, "tool": "bash"}) for call in ("c", "d"))
END_INLINE = ("complete_inline", {"thread": "t1", "tool_call": "c", "tool": "bash", "result": "x"})


@pytest.mark.parametrize(
    ("calls", "matters"),
    [
        ((FINISH, CANCEL), True),
        ((CANCEL, CANCEL), True),
        ((FINISH, LIST), True),
        ((FINISH, OTHER), False),
        ((LIST, LIST), False),
        ((START, START), True),
        ((START, END_INLINE), True),
        ((START, ANOTHER), False),
        ((ANOTHER, END_INLINE), False),
    ],
)
def test_calls_matter_to_each_other_by_what_they_give_or_because_both_change_one_record(
    calls: Any, matters: bool
) -> None:
    assert meet(*calls) is matters


def test_a_look_after_a_call_tells_that_it_came_first_where_no_answer_does() -> None:
    """Whoever starts a task that was aborted meanwhile is answered as if it had been started before."""
    model = load("task-progress").model({}, {})
    model.do("create_task", {"label": "x"})
    start, abort, status, progress = ((name, {"task": "task-1"}) for name in ("start", "abort", "status", "progress"))
    assert clashes.only_a_look_tells(model, abort, start, status)
    assert not clashes.only_a_look_tells(model, abort, start, progress), "it looks the same either way"
    assert not clashes.only_a_look_tells(model, start, abort, status), "the start is refused if it comes later"
    assert clashes.a_look_tells(model, start, abort, status), "and then it has to be seen aborted"
    assert not clashes.a_look_tells(model, start, abort, ("status", {"task": "task-2"}))
    batch = ("batch_status", {"batch": "b"})
    create = ("create_task", {"label": "x", "batch": "b"})
    assert clashes.a_look_tells(model, create, batch, batch), (
        "who has created a task sees it, though another one looked before"
    )
    assert not clashes.a_look_tells(model, batch, create, status)


def test_a_signal_that_only_one_order_brings_matters() -> None:
    """Who no longer listens is told of no summary that comes later; what is left behind is the same either way."""
    model = load("task-progress").model({}, {})
    for name, given in (("create_task", {"label": "x"}), ("start", {"task": "task-1"}), ("subscribe", {"on": True})):
        model.do(name, given)
    summary = ("summarize", {"task": "task-1", "text": "x"})
    assert matter(model, (summary, ("subscribe", {"on": False})))
    assert not matter(model, (summary, ("subscribe", {"on": True})))


@pytest.mark.parametrize(
    ("lifecycle", "operation", "given"),
    [
        ("background-tasks", "spawn", {"label": "x"}),
        ("cli-job", "start", {"outcome": "failed"}),
        ("job", "register", {"type": "bash", "label": "x"}),
        ("task-progress", "create_task", {"label": "x", "batch": ""}),
    ],
)
def test_two_creations_are_in_no_ones_way_only_because_both_create(
    lifecycle: str, operation: str, given: dict[str, Any]
) -> None:
    """Whatever is kept of the ids that were issued, and whichever new record belongs to another one."""
    model = load(lifecycle).model({}, {})
    assert not matter(model, ((operation, given), (operation, given)))


def test_a_setting_that_two_calls_make_and_no_new_message_is_one_thing() -> None:
    model = load("job").model({}, {})
    configure = ("configure", {"max_running": 3})
    assert matter(model, (configure, configure))
    changes = clashes.changes_of(clashes.Here.of(model), configure)
    assert changes, "though it is a number"
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        here = driver.case.judge.model
        idle = clashes.changes_of(clashes.Here.of(here), ("set_idle", {"thread": "t2", "idle": True}))
        assert [which for _, which in idle] == ["t2"], "a record that is always there is no new one"


@pytest.fixture
def full() -> Iterator[Driver]:
    """A case in which a thread has as many ended jobs as it keeps, and two that run."""
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        for number in range(22):
            driver.make("start", {"thread": "t1", "tool_call": f"c{number}", "tool": "bash"})
        for number in range(1, 21):
            driver.make("finish", {"job": f"job-{number}", "outcome": "failed", "payload": "x"})
        yield driver


def seconds(driver: Driver, first: Any, second: Any) -> Counter[Hashable]:
    """What the second of two calls is about, as often as it is."""
    choosing = meetings.Meetings(thread_job(), [], random.Random(0))
    found = (choosing._about_the_same(clashes.Here.of(driver.case.judge.model), first, second) for _ in range(200))
    return Counter(tuple(each.values()) for each in found)


def test_of_two_calls_the_other_is_about_the_same_job_what_the_first_takes_away_or_one_that_is_like_it(
    full: Driver,
) -> None:
    finish = ("finish", {"job": "job-21", "outcome": "failed", "payload": "x"})
    looks = seconds(full, finish, ("inspect_job", {"thread": "t2", "job": "job-9"}))
    assert looks["t1", "job-1"] > 60, "the oldest, which leaves as another one ends"
    assert looks["t1", "job-21"] > 40
    assert looks["t1", "job-22"] > 10, "the other one that runs"
    assert not looks["t1", "job-9"]


def test_of_two_calls_that_take_a_name_both_take_one(full: Driver) -> None:
    assert seconds(full, START, ("start", {"thread": "t1", "tool_call": "other", "tool": "bash"})) == Counter(
        {("t1", "c", "bash"): 200}
    )


def test_what_follows_calls_at_once_mostly_comes_to_something_else_than_before_them() -> None:
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        driver.make(*START)
        model = driver.case.judge.model.fork()
        driver.make("finish", {"job": "job-1", "outcome": "completed", "payload": "x"})
        calls: dict[str, dict[str, Any]] = {
            "turn_boundary": {"thread": "t1"},
            "finish": FINISH[1],
            "inspect_job": {"thread": "t1", "job": "job-1"},
            "set_idle": {"thread": "t2", "idle": True},
            "list_jobs": {"thread": "t2"},
        }
        tells = {name: pairs._tells(driver, model, (name, given)) for name, given in calls.items()}
    assert tells == {"turn_boundary": True, "finish": True, "inspect_job": True, "set_idle": False, "list_jobs": False}


def test_calls_that_may_give_one_of_several_replies_do_not_matter_to_each_other_for_that() -> None:
    job = load("job")
    with adapted(Jobs, job) as adapter:
        driver = Driver(job, adapter)
        driver.make("tool", {"poll": ["nobody"]})
        look = ("tool_result", {"token": "call-1"})
        assert not matter(driver.case.judge.model, (look, look))


def test_where_some_explanation_leaves_open_what_happens_no_calls_are_made_at_once() -> None:
    local_agent = load("local-agent")
    with adapted(LocalAgents, local_agent) as adapter:
        driver = Driver(local_agent, adapter)
        bodies = [
            lambda: driver.case.call("register_main", {"description": "x"}),
            lambda: driver.case.call("kill_all", {}),
        ]
        driver.case.together(bodies)
        task = next(iter(driver.case.judge.model.tasks))  # type: ignore[attr-defined]  # as the spec calls them
        explanations = driver.case.judge.lockstep.configurations
        first = [each.model.tasks[task].aborted for each in explanations]  # type: ignore[attr-defined]  # as above
        assert {*first} == {False, True}, "whether it was killed nobody has asked yet"
        assert driver.astray([("append_message", {"task": task, "text": "x"})])


def test_most_calls_that_meet_matter_to_each_other_and_none_meets_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met: list[tuple[bool, Any]] = []
    best = meetings.Meetings.best

    def noting(self: Any, driver: Driver, *of: Any, **how: Any) -> Any:
        calls = best(self, driver, *of, **how)
        if calls is not None:
            model = driver.case.judge.model
            met.append((matter(model, calls), self._worth(driver, clashes.Here.of(model), calls)[1]))
        return calls

    monkeypatch.setattr(meetings.Meetings, "best", noting)
    paired(REFERENCE, 30)
    assert len(met) > 60
    assert sum(matter for matter, _ in met) > 0.6 * len(met)
    creating = {"start", "start_as", "complete_inline"}
    create = [matter or {call[0] for call, _ in what[2]} <= creating for matter, what in met]
    assert sum(create) > 0.8 * len(met), "those in which both create something, which may give one id twice, come next"
    assert max(Counter(what for _, what in met).values()) < len(met) / 14


def test_a_model_that_cannot_go_on_is_no_fault_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a system that does not follow a sentence the model lacks that, and may come to where nothing can follow."""
    groups = at_once(paired(REFERENCE, 6)[1])
    chance, raised = random.Random(0), itertools.count()
    for name in ("astray", "drawn"):
        usual = getattr(Driver, name)

        def fails(self: Driver, *of: Any, usual: Any = usual, **how: Any) -> Any:
            if sys._getframe(1).f_code.co_name == "_possible" and chance.random() < 0.1:
                raise Restless("it") if next(raised) % 2 else Impossible("it", "it")
            return usual(self, *of, **how)

        monkeypatch.setattr(Driver, name, fails)
    assert at_once(paired(REFERENCE, 6)[1]) > groups / 2
    assert next(raised) > 10


def at_once(cases: list[Case]) -> int:
    return sum(isinstance(event, History) for case in cases for event in case.trace)


@pytest.mark.parametrize(("search", "cases"), [(walks.search, 8), (pairs.search, 4)])
def test_another_round_makes_other_cases(search: Any, cases: int) -> None:
    def seeds(first: int) -> set[int]:
        budget = replace(USUAL, walks=4, pairs=4)
        with adapted(REFERENCE) as adapter:
            found: set[int] = set()
            faults = Faults(BrokenCalls(adapter))
            kept = {"after": lambda driver: found.add(driver.case.seed), "faults": faults, "first": first}
            search(thread_job(), adapter, 0, budget, **kept)
        return found

    assert len(seeds(0)) == len(seeds(4)) == cases
    assert seeds(0).isdisjoint(seeds(4))


@pytest.mark.thorough
def test_a_call_that_hangs_is_made_a_few_times_by_whichever_part_of_a_search() -> None:
    made: list[str] = []

    class Hangs(ThreadJobs):
        def finish(self, *given: Any, **named: Any) -> Any:
            made.append("finish")
            threading.Event().wait(5)

    with adapted(Hangs, limit=0.2) as adapter:
        faults = Faults(BrokenCalls(adapter), 5)
        walks.search(thread_job(), adapter, 0, replace(USUAL, walks=40), after=lambda driver: None, faults=faults)
    assert len(made) == BrokenCalls.ENOUGH


def test_calls_of_one_operation_are_told_apart_by_what_they_change() -> None:
    """The first message after an abort is told to others, the next is not; the session is killed both times."""
    compiled = load("local-agent")
    model: Any = compiled.model()
    model.do("start_background_session", {"messages": [], "description": "x"})
    (task,) = model.tasks
    model.do("kill", {"task": task})
    said = ("append_message", {"task": task, "text": "x"})
    chosen = meetings.Meetings(compiled, [], random.Random(0))

    def standing() -> Hashable:
        return chosen._standing(model, *said, clashes.changes_of(clashes.Here.of(model), said))

    first = standing()
    model.do(*said)
    again = standing()
    model.do(*said)
    assert first != again == standing()


def test_a_walk_looks_at_everything_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Driver] = []
    usual = Driver.observe_all

    def noting(driver: Driver) -> None:
        looked.append(driver)
        usual(driver)

    monkeypatch.setattr(Driver, "observe_all", noting)
    with adapted(REFERENCE) as adapter:
        budget, faults = replace(USUAL, walks=1), Faults(BrokenCalls(adapter))
        walks.search(thread_job(), adapter, 0, budget, after=lambda driver: None, faults=faults)
        assert len(looked) == 2  # one walk of each kind
        monkeypatch.setattr(stateful, "MOST_EXPLANATIONS", 0)
        walks.search(thread_job(), adapter, 0, budget, after=lambda driver: None, faults=faults)
        assert len(looked) == 2  # not where a walk was given up: each call would take long


class OwnIdIsNotLookedAtAgain(Lie):
    """An id of the manager's own is chosen, then taken without looking whether somebody has asked for it meanwhile."""

    row, calls = "", 2

    async def register(self, type: str, label: str, id: str | None = None, owner: str | None = None) -> Any:
        if (id or "").strip():
            return await super().register(type, label, id, owner)
        free = self._free_id("")
        await asyncio.sleep(0)
        self._jobs.pop(free, None)
        return await super().register(type, label, free, owner)


def test_who_may_choose_an_id_chooses_the_one_that_another_is_about_to_be_given() -> None:
    job = load("job")
    for seed in range(3):
        with adapted(OwnIdIsNotLookedAtAgain, job) as adapter:
            faults = Faults(BrokenCalls(adapter), 1)
            pairs.search(job, adapter, seed, USUAL, after=lambda driver: None, faults=faults)
        assert faults.first is not None


def raced(compiled: Compiled, system: type, at_once: Collection[str], seeds: int = 2) -> list[Diverged]:
    """What calls at once find first under each of some seeds, where these calls of whoever tests may be among them."""
    found = []
    for seed in range(seeds):
        with adapted(system, compiled) as adapter:
            faults = Faults(BrokenCalls(adapter), 1)
            pairs.search(compiled, adapter, seed, USUAL, after=lambda driver: None, faults=faults, at_once=at_once)
        found += [faults.first] if faults.first is not None else []
    return found


@pytest.mark.thorough
def test_what_rows_call_at_once_is_called_at_once_though_whoever_tests_calls_it() -> None:
    """No two other calls show it: an error is reported while the job ends."""
    assert not raced(thread_job(), ErrorWritesStatusBack, ())
    assert len(raced(thread_job(), ErrorWritesStatusBack, {"llm_error"})) == 2


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_cases_of_calls_at_once_end_when_time_has_passed(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    monkeypatch.setattr(pairs, "TIME_PASSES", share)
    monkeypatch.setattr(pairs, "A_WHILE_PASSES", 0.0)
    assert any(waits_in_pairs()) == bool(share)


def test_now_and_then_a_while_passes_before_calls_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an end sets by the clock, and what a later call does, are not set alike then."""
    monkeypatch.setattr(pairs, "TIME_PASSES", 0.0)
    waited = waits_in_pairs()
    assert 0.2 < sum(map(bool, waited)) / len(waited) < 0.9
    assert set().union(*waited) <= {*pairs.A_WHILE}


def waits_in_pairs() -> list[set[int]]:
    """The waits of each of some cases of calls at once."""
    job, waits = load("job"), list[set[int]]()

    def note(driver: Driver) -> None:
        waits.append({call.arguments["ms"] for call in driver.case.calls if call.operation == "wait"})

    with adapted(Jobs, job) as adapter:
        few, faults = replace(USUAL, pairs=12), Faults(BrokenCalls(adapter))
        pairs.search(job, adapter, 0, few, after=note, faults=faults)
    return waits


def test_no_two_calls_of_whoever_tests_are_made_at_once() -> None:
    job = load("job")
    with adapted(Jobs, job) as adapter:
        met = _names(pairs._pairs(job, adapter, {"settle", "sink"}))
        assert {"settle", "cancel"} in met
        assert not any(each <= {"settle", "sink"} for each in met)
        assert not any("settle" in each for each in _names(pairs._pairs(job, adapter, ())))


@pytest.mark.parametrize(("lifecycle", "system"), [("local-agent", LocalAgents), ("job", Jobs)])
def test_an_operation_meets_itself_however_many_there_are(lifecycle: str, system: Any) -> None:
    compiled = load(lifecycle)
    with adapted(system, compiled) as adapter:
        met = _names(pairs._pairs(compiled, adapter, ()))
    assert 0.2 < sum(len(each) == 1 for each in met) / len(met) < 0.26
    changing = {each.name for each in compiled.kernel.operations if each.effects and not each.control}
    assert {name for each in met if len(each) == 1 for name in each} == changing


def test_what_both_calls_write_may_be_lost_though_either_order_comes_to_the_same() -> None:
    """Two ways to end tell the main conversation something each; one operation changes two tasks; others have nothing in common."""
    compiled = load("local-agent")
    choosing = meetings.Meetings(compiled, [], random.Random(0))
    with adapted(LocalAgents, compiled) as adapter:
        driver = Driver(compiled, adapter)
        for text in ("x", "y"):
            driver.make("start_background_session", {"messages": [], "description": text})
        model: Any = driver.case.judge.model
        one, other = model.tasks
        here = clashes.Here.of(model)

        def worth(first: Any, second: Any) -> float:
            assert not matter(here.model, (first, second))
            return choosing._worth(driver, here, (first, second))[0]

        usual = worth(("retain", {"task": one}), ("queue_message", {"task": other, "text": "x"}))
        assert worth(("retain", {"task": one}), ("retain", {"task": other})) == meetings.MAY_BE_LOST * usual
        assert (
            worth(("complete", {"task": one, "result": "x"}), ("fail", {"task": other, "error": "x"}))
            == meetings.MAY_BE_LOST * usual
        )
        model.do("retain", {"task": one})
        here = clashes.Here.of(model)
        again = worth(("retain", {"task": one}), ("queue_message", {"task": one, "text": "x"}))
        assert again == meetings.TO_NO_EFFECT * usual, "who retains it once more may write back what it has read"
        assert worth(("get", {"task": other}), ("retain", {"task": one})) == meetings.TO_NO_EFFECT * usual, (
            "what is taken back is seen"
        )
        assert worth(("get", {"task": one}), ("queue_message", {"task": other, "text": "x"})) == usual


def test_calls_about_everything_come_seldom_and_then_count_as_others_do() -> None:
    compiled = load("local-agent")
    operations = {each.name: each for each in compiled.kernel.operations}
    choosing = meetings.Meetings(compiled, [], random.Random(0))
    often = sum(choosing._comes((operations["kill_all"], operations["complete"])) for _ in range(1_000)) / 1_000
    assert abs(often - ahead.SELDOM) < 0.05
    with adapted(LocalAgents, compiled) as adapter:
        driver = Driver(compiled, adapter)
        driver.make("start_background_session", {"messages": [], "description": "x"})
        model: Any = driver.case.judge.model
        (task,) = model.tasks
        calls: clashes.Calls = (("kill_all", {}), ("complete", {"task": task, "result": "x"}))
        assert choosing._worth(driver, clashes.Here.of(model), calls)[0] == meetings.CLASHING


def test_no_call_meets_that_had_better_not_be_made_also_not_beside_one_that_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled, asked = load("background-tasks"), list[str]()
    operations = {each.name: each for each in compiled.kernel.operations}
    wait, spawn = operations["wait_for_completion"], operations["spawn"]
    waiting: dict[str, dict[str, Any]] = {wait.name: {"timeout": 20}}

    def shuns(_: BrokenCalls, name: str) -> bool:
        asked.append(name)
        return name == "finish"

    with adapted(SUITES["background-tasks"].reference, compiled) as adapter:
        driver = Driver(compiled, adapter)
        chosen = meetings.Meetings(compiled, list(pairs._pairs(compiled, adapter, ())), random.Random(0))
        monkeypatch.setattr(BrokenCalls, "shuns", shuns)
        for _ in range(20):
            tried = chosen._tried(driver, (wait, spawn), waiting, only=False)
            assert tried[0] == (wait, spawn)
            assert operations["finish"] not in {each for pair in tried for each in pair}
        asked.clear()
        assert chosen._tried(driver, (spawn, spawn), {}, only=True) == [(spawn, spawn)] * meetings.CANDIDATES
        assert len(asked) <= 2, "each time that it is asked counts"


def test_a_caller_beside_another_one_now_and_then_looks_at_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, chooser = load("background-tasks"), random.Random(0)
    with adapted(SUITES["background-tasks"].reference, compiled) as adapter:
        driver = Driver(compiled, adapter)
        driver.make("spawn", {"label": "x"})

        def looks() -> Counter[str]:
            found = (
                driver.look_at({"task": "task-1", "outcome": "completed", "text": "x"}, chooser) for _ in range(400)
            )
            return Counter(each[0] for each in found if each is not None)

        assert looks().keys() >= {"peek", "has_completed", "list", "running_count"}
        monkeypatch.setattr(stateful, "LOOKED_WIDELY", 0.0)
        assert looks().keys() == {"peek"}


def test_some_meetings_are_of_three_calls_of_which_one_may_come_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    met = [group.callers for group in groups(pairs_with(monkeypatch, 1.0, "THREE"))]
    three = [callers for callers in met if len(callers) == 3]
    assert len(three) > len(met) // 2
    twice = sum(len({(call.operation, repr(call.arguments)) for (call,) in callers}) < 3 for callers in three)
    assert 0.35 < twice / len(three) < 0.8
    assert {len(group.callers) for group in groups(pairs_with(monkeypatch, 0.0, "THREE"))} == {2}


@pytest.mark.thorough
def test_who_leaves_each_waiter_to_the_other_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes two that wait, and what they wait for."""
    monkeypatch.setattr(pairs, "THREE_WHERE_ONE_WAITS", 1.0)
    compiled = load("background-tasks")

    def found(number: int) -> str:
        with adapted(TwoWaitersAreNone, compiled) as adapter:
            faults = Faults(BrokenCalls(adapter))
            of = compiled, adapter, number, replace(USUAL, pairs=3 * USUAL.pairs)
            pairs.search(*of, after=lambda driver: None, faults=faults, at_once=["finish"])
        return "" if faults.first is None else str(faults.first)

    first = next(filter(None, map(found, range(6))), "")
    assert first.count("wait_for_completion") > 1


def test_a_third_call_is_mostly_about_what_the_others_are_about(full: Driver) -> None:
    of = (
        ("finish", {"job": "job-21", "outcome": "failed", "payload": "x"}),
        ("request_cancel", {"thread": "t1", "job": "job-21", "actor": "user"}),
    )
    choosing = meetings.Meetings(
        thread_job(), list(pairs._pairs(thread_job(), full.case.adapter, ())), random.Random(0)
    )
    third = [each for _ in range(200) for each in choosing.joining(full, of, {}) if each not in of]
    about = Counter(arguments["job"] for _, arguments in third if "job" in arguments)
    assert about["job-21"] > about.total() / 3
    waiting = [choosing.joining(full, of, {"finish": {}}) for _ in range(40)]
    assert {each[0] is of[0] for each in waiting} == {True}, "whoever waits comes once more"
    others = [each[1:] for each in waiting]
    assert {name for each in others for name, _ in each} == {"request_cancel"}, "and what ends a wait"
    assert 0.2 < sum(map(bool, others)) / len(others) < 0.8
    beside_a_look = (of[0], ("list_jobs", {"thread": "t1"}))
    looked = [choosing.joining(full, beside_a_look, {"finish": {}}) for _ in range(40)]
    assert {len(each) for each in looked} == {1}, "who only looks ends no wait"


def test_no_third_call_is_of_whoever_tests_beside_another_of_theirs() -> None:
    job = load("job")
    with adapted(Jobs, job) as adapter:
        driver = Driver(job, adapter)
        driver.make("register", {"type": "bash", "label": "x"})
        drawn = driver.drawn("settle", random.Random(0))
        assert drawn is not None
        choosing = meetings.Meetings(job, list(pairs._pairs(job, adapter, {"settle"})), random.Random(0))
        third = [each for _ in range(60) for each in choosing.joining(driver, (("settle", drawn), ("list", {})), {})]
    assert {name for name, _ in third} > {"list"}
    assert "settle" not in {name for name, _ in third}


def test_nobody_who_tests_goes_on_beside_another_of_them() -> None:
    job, chooser = load("job"), random.Random(0)
    with adapted(Jobs, job) as adapter:
        driver = Driver(job, adapter)
        driver.make("register", {"type": "bash", "label": "x"})
        drawn = driver.drawn("settle", chooser)
        assert drawn is not None
        choosing = meetings.Meetings(job, list(pairs._pairs(job, adapter, {"settle"})), chooser)
        both: list[clashes.Calls] = [(("settle", drawn), ("list", {})), (("list", {}), ("settle", drawn))]
        for calls in both:
            further = [choosing.further(driver, calls) for _ in range(60)]
            assert {each[1][0] for each in further if each is not None} > {"register"}
            assert "settle" not in {each[1][0] for each in further if each is not None}


def test_who_looks_beside_looks_at_what_its_call_has_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not where the spec leaves open what comes then, in whichever order, or at what it had better not ask."""
    compiled, chooser = load("task-progress"), random.Random(0)
    monkeypatch.setattr(pairs, "GOES_ON", 0.0)
    monkeypatch.setattr(pairs, "GOES_ON_BESIDE_A_LOOK", 0.0)
    monkeypatch.setattr(pairs, "LOOKED_BESIDE", 1.0)
    monkeypatch.setattr(pairs, "LOOKED_TO_TELL", 1.0)
    with adapted(TaskProgress, compiled) as adapter:
        driver = Driver(compiled, adapter)
        driver.make("create_task", {"label": "x", "batch": "b"})
        chosen = meetings.Meetings(compiled, list(pairs._pairs(compiled, adapter, ())), chooser)
        start, other = (("start", {"task": "task-1"}), ("create_task", {"label": "x"}))

        def looks(*calls: Any) -> Counter[Any]:
            return Counter(
                found and found[1][0] for found in (pairs._beside(driver, chosen, calls, chooser) for _ in range(100))
            )

        assert looks(start, other)["status"] > 60, "of the looks that are drawn it is the one that shows the start"
        for order in range(3):
            made = itertools.count()
            with monkeypatch.context() as patch:
                patch.setattr(Driver, "astray", lambda *_, made=made, order=order: next(made) % 3 == order)
                assert pairs._beside(driver, chosen, (start, other), random.Random(0)) is None
        batch = ("batch_status", {"batch": "b"})
        monkeypatch.setattr(BrokenCalls, "shuns", lambda _, name: name == "batch_status")
        assert driver.only_shows("batch_status"), "also while it is shunned, for each time that is asked counts"
        assert "batch_status" not in looks(("create_task", {"label": "x", "batch": "b"}), batch)


def _names(found: Iterable[meetings.Pair]) -> list[set[str]]:
    return [{each.name for each in pair} for pair in found]


@pytest.mark.thorough
def test_a_call_at_once_is_about_what_the_other_is_about_under_another_id_too() -> None:
    """A body settles beside a poll of its job, and of nothing else: the job is named by its id, the body by its handle."""
    assert len(raced(load("job"), WhoRunsIsLookedAtTooLate, {"settle"}, seeds=6)) >= 4


def test_kin_is_what_a_record_refers_to_and_what_refers_to_it() -> None:
    compiled = load("job")
    model: Any = compiled.model()
    for label in "xy":
        model.do("register", {"type": "bash", "label": label})
    (job, _), (body, _) = model.jobs, model.bodies
    found = Situations(compiled)
    assert found.related(model, body) == {"Body": [body], "Job": [job]}
    assert found.related(model, job) == {"Job": [job], "Body": [body]}
    assert found.related(model, "nobody") == {}


def groups(cases: list[Case]) -> list[History]:
    return [event for case in cases for event in case.trace if isinstance(event, History)]


def pairs_with(monkeypatch: pytest.MonkeyPatch, value: float, *names: str) -> list[Case]:
    for name in names:
        monkeypatch.setattr(meetings if hasattr(meetings, name) else pairs, name, value)
    return searched(pairs.search, REFERENCE, 1, replace(USUAL, pairs=14))[1]


def test_one_of_two_callers_looks_beside_the_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def callers(share: float) -> set[int]:
        going_on = ("GOES_ON", "GOES_ON_BESIDE_A_LOOK", "GOES_ON_WITH_ITS_OWN", "GOES_ON_THOUGH_IT_MATTERS")
        cases = pairs_with(monkeypatch, share, "LOOKED_BESIDE", "LOOKED_TO_TELL", *going_on)
        return {len(calls) for group in groups(cases) for calls in group.callers}

    assert callers(1.0) == {1, 2}
    assert callers(0.0) == {1}


def test_who_came_first_looks_beside_the_other_where_only_that_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who aborts a task that is started meanwhile sees it aborted; how the start is answered tells enough to whoever starts it."""
    compiled, chooser = load("task-progress"), random.Random(0)
    abort, start = (("abort", {"task": "task-1"}), ("start", {"task": "task-1"}))

    def looks(*calls: Any) -> Counter[Any]:
        found = (pairs._look_beside(driver, calls, chooser) for _ in range(200))
        return Counter(None if each is None else (each[0], each[1][0]) for each in found)

    with adapted(TaskProgress, compiled) as adapter:
        driver = Driver(compiled, adapter)
        driver.make("create_task", {"label": "x"})
        usual = looks(start, start)
        assert 0.2 < 1 - usual[None] / 200 < 0.4, "seldom where it tells nothing"
        assert {each[0] for each in usual if each is not None} == {0, 1}
        monkeypatch.setattr(pairs, "LOOKED_BESIDE", 0.0)
        assert looks(start, start).keys() == {None}
        for calls, caller in (((abort, start), 0), ((start, abort), 1)):
            found = looks(*calls)
            assert found.keys() == {None, (caller, "status")}
            assert 0.4 < found[caller, "status"] / 200 < pairs.LOOKED_TO_TELL, (
                "much more often than not, of the looks that are drawn"
            )


def test_now_and_then_a_caller_goes_on_with_another_call_that_changes_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who looks through one thing after the other meets two changes: what it has read then was never there at once."""
    compiled, chooser = load("task-progress"), random.Random(0)
    with adapted(TaskProgress, compiled) as adapter:
        driver = Driver(compiled, adapter)
        driver.make("create_task", {"label": "x", "batch": "b"})
        driver.make("start", {"task": "task-1"})
        chosen = meetings.Meetings(compiled, list(pairs._pairs(compiled, adapter, ())), chooser)
        calls = (("batch_status", {"batch": "b"}), ("create_task", {"label": "x", "batch": "b"}))

        def beside(share: float) -> Counter[Any]:
            monkeypatch.setattr(pairs, "GOES_ON", share)
            monkeypatch.setattr(pairs, "GOES_ON_BESIDE_A_LOOK", share)
            monkeypatch.setattr(pairs, "LOOKED_TO_TELL", 0.0)
            found = (pairs._beside(driver, chosen, calls, chooser) for _ in range(100))
            return Counter(None if each is None else (each[0], each[1][0]) for each in found)

        went_on = beside(1.0)
        assert {caller for caller, _ in filter(None, went_on)} == {1}, "it is the one that changes something"
        assert {operation for _, operation in filter(None, went_on)} > {"finish", "abort", "create_task"}
        assert went_on[None] < 20
        calls = (("abort", {"task": "task-1"}), ("finish", {"task": "task-1", "outcome": "failed"}))
        assert beside(1.0).keys().isdisjoint({(caller, look) for caller in (0, 1) for look in ("progress", "status")})
        assert beside(0.0).keys() == {None}


def test_who_calls_beside_one_that_looks_looks_at_the_same_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It shall not be given what the other one has read before."""
    compiled, chooser = load("task-progress"), random.Random(0)
    monkeypatch.setattr(pairs, "GOES_ON_BESIDE_A_LOOK", 0.0)
    monkeypatch.setattr(stateful, "LOOKED_WIDELY", 0.0)
    with adapted(TaskProgress, compiled) as adapter:
        driver = Driver(compiled, adapter)
        chosen = meetings.Meetings(compiled, list(pairs._pairs(compiled, adapter, ())), chooser)
        calls = (("batch_status", {"batch": "b"}), ("create_task", {"label": "x", "batch": "b"}))
        found = [pairs._beside(driver, chosen, calls, chooser) for _ in range(100)]
        assert 60 < found.count((1, calls[0])) < 95


def test_two_calls_meet_where_there_are_as_many_records_as_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def before(share: float) -> int:
        monkeypatch.setattr(pairs, "LAST_PLACE", 0.0)
        monkeypatch.setattr(pairs, "A_WHILE_PASSES", 0.0)
        cases = pairs_with(monkeypatch, share, "FULL")
        first = (
            next((at for at, each in enumerate(case.without_looks) if isinstance(each, History)), 0) for case in cases
        )
        return max(first)

    assert before(0.0) <= USUAL.calls_before[1] < before(1.0)


def test_walks_that_take_more_for_new_look_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Counter[int]()  # by the seed of a case

    def observe(self: Driver, *calls: dict[str, Any]) -> None:
        looked[self.case.seed] += 1

    monkeypatch.setattr(Driver, "observe", observe)
    monkeypatch.setattr(Driver, "observe_all", lambda _: None)  # at the end both look at all

    def often(cases: list[Case]) -> float:
        return sum(looked[case.seed] for case in cases) / sum(len(case.calls) for case in cases)

    _, cases = walked(REFERENCE, 0, 16)  # the two kinds take turns
    assert often(cases[::2]) > 1.2 * often(cases[1::2]) > 0


def test_walks_look_just_before_something_comes_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes a millisecond too soon looks right when it is due."""
    compiled = load("local-agent")
    with adapted(LocalAgents, compiled) as adapter:
        driver = Driver(compiled, adapter)
        foreground = {"description": "x", "prompt": "x", "agent_type": "x", "auto_background_ms": 50}
        driver.make("register_foreground", foreground)
        model: Any = driver.case.judge.model
        walk = walks.SteeredWalk(compiled, driver, Situations(compiled), random.Random(0))
        walk._made_on("summarize", {"task": next(iter(model.tasks)), "text": "x"})
        monkeypatch.setattr(walks, "ON_TIME", 1.0)
        monkeypatch.setattr(walks, "AS_PLANNED", 0.0)
        monkeypatch.setattr(walks, "ONCE_MORE", 0.0)
        walk._go(4)  # two calls were made
        made = [(call.operation, dict(call.arguments)) for call in driver.case.calls]
    first, then = (place for place, (operation, _) in enumerate(made) if operation == "wait")
    assert made[first][1]["ms"] in (49, 29_999), "the task goes to the background, or what ended now would leave"
    assert made[then][1]["ms"] in (1, 2)
    looks = ({operation for operation, _ in part} for part in (made[first + 1 : then], made[then + 1 :]))
    assert all("background_tasks" in each for each in looks)


def test_a_call_that_waits_may_wait_long_where_that_takes_no_time() -> None:
    """Who is woken late, and comes back at its end, is only then told from one who looks now and then."""
    compiled, chooser = load("background-tasks"), random.Random(0)
    with adapted(SUITES["background-tasks"].reference, compiled) as adapter:
        driver = Driver(compiled, adapter)
        drawn = [driver.drawn("wait_for_completion", chooser, tries=1) for _ in range(60)]
        assert {"timeout": LONG_WAIT} in drawn
        with adapted(SUITES["background-tasks"].reference, compiled) as other:
            real = Driver(compiled, other)
            other.declaration = replace(other.declaration, clock="real")
            drawn = [real.drawn("wait_for_completion", chooser, tries=1) for _ in range(60)]
            assert {"timeout": LONG_WAIT} not in drawn


def test_an_id_that_a_caller_chooses_may_be_an_odd_one() -> None:
    chooser = random.Random(0)
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        driver.make(*START)
        chosen = {(driver.drawn("start_as", chooser) or {})["job_id"] for _ in range(400)}
        assert {*ODD_IDS} <= chosen
        ended = {(driver.drawn("finish", chooser) or {})["job"] for _ in range(100)}
        assert ended.isdisjoint(ODD_IDS), "of no other job"


def test_a_call_is_made_once_more_when_most_of_the_time_has_passed_until_something_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who cancels again must not put off what the first cancel has begun."""
    monkeypatch.setattr(walks, "AS_PLANNED", 0.0)
    monkeypatch.setattr(walks, "ONCE_MORE", 0.5)
    compiled, traced = load("local-agent"), list[tuple[Any, list[Any]]]()
    go_again = walks.SteeredWalk._go_again

    def traced_again(walk: walks.SteeredWalk) -> None:
        before = len(walk._made)
        last = next((each for each in reversed(walk._made) if each.operation != "wait"), None)
        go_again(walk)
        traced.append((last, walk._made[before:]))

    monkeypatch.setattr(walks.SteeredWalk, "_go_again", traced_again)

    def put_off(share: float) -> int:
        """How often the last call comes again, with a wait before it and the rest of that time after it."""
        traced.clear()
        monkeypatch.setattr(walks, "MUCH_LATER", share)
        with adapted(LocalAgents, compiled) as adapter:
            faults = Faults(BrokenCalls(adapter))
            walks.search(compiled, adapter, 0, replace(USUAL, walks=4), after=lambda _: None, faults=faults)
        found = 0
        for last, made in traced:
            if [each.operation for each in made] == ["wait", last and last.operation, "wait"]:
                wait, again, rest = (each.arguments for each in made)
                found += again == last.arguments and wait["ms"] == 2 * (wait["ms"] + rest["ms"] - 1) // 3
        return found

    assert put_off(1.0) > 4
    assert not put_off(0.0)


def test_each_case_of_hypothesis_has_a_seed_of_its_own_and_under_each_seed_another() -> None:
    seeds = [[case.seed for case in searched(stateful.search, REFERENCE, number, USUAL)[1]] for number in (0, 1)]
    assert all(len({*each}) > 1 for each in seeds)
    assert not {*seeds[0]} & {*seeds[1]}


def test_what_the_last_call_of_an_operation_said_is_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(share: float) -> int:
        monkeypatch.setattr(ahead, "SAID_AGAIN", share)
        said = [
            [call.arguments for call in trace.calls() if call.operation == "finish"]
            for trace in traces(walked(REFERENCE, 0, 6)[1])
        ]
        payloads = [[dict(given).get("payload") for given in each] for each in said]
        return sum(one == other for each in payloads for one, other in itertools.pairwise(each))

    assert again(0.0) < again(1.0)
