"""How cases begin that the search thought of: with many records in one state, and with settings that were changed."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pytest

from conformance.budget import USUAL
from conformance.judge import BrokenCalls, Case, History, calls_of
from conformance.references.job import Jobs
from conformance.references.job_delivery import Reply as JobReply
from conformance.references.thread_job import ACTIVE, Reply, ThreadJobs
from conformance.refused import Refused
from conformance.search import gathering, pairs, prefill, walks
from conformance.search.faults import Diverged, Faults
from conformance.search.gathering import lets_go
from conformance.search.stateful import Driver
from conformance.stand_ins import model_system
from conformance.system import Adapter
from statemachines.compile import load
from statemachines.expression import python_name
from statemachines.rows import Observed
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.search.searching import searched
from tests.conformance.systems import REFERENCE, adapted, thread_job
from tests.faulty.job.concurrency import SlotIsCheckedTooEarly
from tests.faulty.job.delivering import QueueOfTwenty
from tests.faulty.job.reuse import SecondTimerEvictsNewHolder
from tests.faulty.local_agent.evicting import GraceIsLong
from tests.faulty.local_agent.foregrounding import TimerIsLate


def gathered(system: Any) -> Callable[[Any], None]:
    """The way to begin with many records in one state."""
    with adapted(system) as adapter:
        ways = prefill.prefills(thread_job(), adapter.declaration, USUAL.prefilled)
    (found,) = (each for each in ways if "gathered" in repr(each))
    return found


def test_many_records_come_to_one_state_whichever_it_is() -> None:
    begin, came = gathered(REFERENCE), Counter[str]()
    jobs_of = python_name(thread_job().kernel.entity("Job").collection)
    with adapted(REFERENCE) as adapter:
        for seed in range(24):
            driver = Driver(thread_job(), adapter, seed=seed)
            begin(driver)
            jobs = getattr(driver.case.judge.model, jobs_of).values()
            (state, count), *_ = Counter(job.state for job in jobs).most_common()
            assert min(gathering.GATHERED) - 1 <= count <= max(gathering.GATHERED)
            came[state] += 1
    assert came.keys() >= {"pending_cancel", "completed", "failed"}
    assert came["pending_cancel"] > 24 / 6  # as often as others would be less


class ListsFivePending(ThreadJobs):
    """Of the jobs that are asked to stop a list has five at most."""

    def list_jobs(self, thread: str, statuses: Collection[str] = ACTIVE) -> list[Reply]:
        found, left = [], 5
        for job in super().list_jobs(thread, statuses):
            left -= job["status"] == "pending_cancel"
            found += [job] if job["status"] != "pending_cancel" or left >= 0 else []
        return found


def test_what_holds_so_many_records_of_one_state_at_most_shows_when_there_are_many() -> None:
    begin = gathered(ListsFivePending)
    with adapted(ListsFivePending) as adapter:

        def shows(seed: int) -> bool:
            driver = Driver(thread_job(), adapter, seed=seed)
            try:
                begin(driver)
                driver.observe_all()
            except Diverged:
                return True
            return False

        assert any(map(shows, range(12)))


def owed(adapter: Adapter) -> Callable[[Any], None]:
    """The way to begin with many completions that wait to be delivered: no operation of `job` creates one."""
    ways = prefill.prefills(load("job"), adapter.declaration, USUAL.prefilled)
    (found,) = (each for each in ways if "gathered_by_others" in repr(each))
    return found


def test_many_records_come_of_what_is_done_to_others() -> None:
    with adapted(Jobs, load("job")) as adapter:
        begin, deliveries = owed(adapter), python_name(load("job").kernel.entity("Delivery").collection)
        for seed in range(6):
            driver = Driver(load("job"), adapter, seed=seed)
            begin(driver)
            first, *_ = driver.case.calls
            assert (first.operation, first.arguments["mode"] == "accept") == ("sink", False), "or each is delivered"
            completions = getattr(driver.case.judge.model, deliveries).values()
            waiting = [each for each in completions if each.state != "delivered"]
            assert len(waiting) > max(gathering.GATHERED) / 3


def test_a_queue_that_holds_so_many_at_most_shows_when_they_come_out_of_it() -> None:
    with adapted(QueueOfTwenty, load("job")) as adapter:
        begin = owed(adapter)

        def shows(seed: int) -> bool:
            driver = Driver(load("job"), adapter, seed=seed)
            try:
                begin(driver)
                driver.make("sink", {"mode": "accept"})
                driver.made("release_sink", {})
            except Diverged:
                return True
            return False

        assert any(map(shows, range(4)))


class LooksKeepJobs(Jobs):
    """Whoever looks at an ended job keeps it for another while."""

    def get(self, job: str) -> JobReply | None:
        found = self._jobs.get(job)
        if found is not None and found.status != "running":
            self._retain(found)
        return super().get(job)


OF_THE_CLOCK = [
    each for each in SUITES["cli-job"].faulty if each.__name__ in ("TimeoutTakesTheUnseen", "StatusPutsTimeoutOff")
]


@pytest.mark.parametrize(
    ("lifecycle", "system"),
    [("job", SecondTimerEvictsNewHolder), ("job", LooksKeepJobs), *(("cli-job", each) for each in OF_THE_CLOCK)],
)
def test_what_is_put_off_or_comes_late_shows_when_a_record_grows_old(lifecycle: str, system: Any) -> None:
    compiled = load(lifecycle)
    with adapted(system, compiled) as adapter:
        ways = prefill.prefills(compiled, adapter.declaration, USUAL.prefilled)
        begin = next(each for each in ways if "grown_old" in repr(each))

        def shows(seed: int) -> bool:
            driver = Driver(compiled, adapter, seed=seed)
            try:
                begin(driver)
            except Diverged:
                return True
            return False

        assert any(map(shows, range(96)))


@pytest.mark.parametrize("system", [Jobs, REFERENCE])
def test_a_right_record_may_grow_old(system: Any) -> None:
    compiled = load("job") if system is Jobs else thread_job()
    with adapted(system, compiled) as adapter:
        ways = prefill.prefills(compiled, adapter.declaration, USUAL.prefilled)
        lives = [each for each in ways if "grown_old" in repr(each)]
        assert len({*lives}) == (2 if system is Jobs else 0), (
            "where nothing changes as time passes there is nothing to wait for"
        )
        for begin, seed in itertools.product({*lives}, range(8)):
            driver = Driver(compiled, adapter, seed=seed)
            begin(driver)
            assert driver.case.faults == []


def test_where_each_call_takes_its_time_one_record_grows_old_and_no_others() -> None:
    job, calls = load("job"), list[int]()
    with adapted(Jobs, job) as adapter:
        for declared in (replace(adapter.declaration, settles=20), adapter.declaration):
            ways = prefill.prefills(job, declared, USUAL.prefilled)
            lives = [each for each in ways if "grown_old" in repr(each)]
            driver = Driver(job, adapter)
            lives[0](driver)
            calls.append(len(driver.case.calls) * len(lives))
    assert calls[0] < calls[1] / 6


def test_a_record_that_is_to_grow_old_mostly_asks_for_an_id() -> None:
    """Only so may the next one have the same."""
    job, asked = load("job"), list[bool]()
    takes = {each.name for each in job.kernel.operations if any(one.name == "id" for one in each.parameters)}
    with adapted(Jobs, job) as adapter:
        begin = next(
            each for each in prefill.prefills(job, adapter.declaration, USUAL.prefilled) if "grown_old" in repr(each)
        )
        for seed in range(48):
            driver = Driver(job, adapter, seed=seed)
            begin(driver)
            first = next(iter(driver.case.calls))
            asked += [bool(first.arguments.get("id"))] if first.operation in takes else []
    assert sum(asked) > len(asked) * 2 / 3 > 12


@pytest.mark.parametrize("system", [GraceIsLong, TimerIsLate])
def test_what_time_brings_too_late_shows_where_a_record_grows_old(system: Any) -> None:
    """What has ended leaves when somebody has all go that may: that is called whenever time has passed."""
    local_agent, found = load("local-agent"), 0
    with adapted(system, local_agent) as adapter:
        ways = prefill.prefills(local_agent, adapter.declaration, USUAL.prefilled)
        begin = next(each for each in ways if "grown_old" in repr(each))
        for seed in range(30):
            try:
                begin(Driver(local_agent, adapter, seed=seed))
            except Diverged:
                found += 1
    assert found > 1


def test_who_lets_go_of_what_may_go_ends_nothing() -> None:
    for lifecycle, names in {"local-agent": ["evict"], "thread-job": [], "job": []}.items():
        assert [each.name for each in load(lifecycle).kernel.operations if lets_go(each)] == names


def test_two_come_for_the_last_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "LAST_PLACE", 1.0)
    monkeypatch.setattr(pairs, "LOOKS_DRAWN", 0)
    monkeypatch.setattr(pairs, "THREE", 1.0)
    job, met = load("job"), list[list[str]]()
    with adapted(Jobs, job) as adapter:
        assert prefill.one_place_left(job, adapter.declaration, 10) == []
        few, faults = replace(USUAL, pairs=4), Faults(BrokenCalls(adapter))
        pairs.search(job, adapter, 0, few, after=lambda driver: met.append(first_at_once(driver.case)), faults=faults)
    assert met == [["register"] * 2] * 4


def test_no_two_of_whoever_tests_come_for_the_last_place(monkeypatch: pytest.MonkeyPatch) -> None:
    job, begun = load("job"), list[Driver]()
    settle = next(each for each in job.kernel.operations if each.name == "settle")
    monkeypatch.setattr(pairs, "LAST_PLACE", 1.0)
    monkeypatch.setattr(pairs, "one_place_left", lambda *_: [(settle, begun.append)])
    with adapted(Jobs, job) as adapter:
        few, faults = replace(USUAL, pairs=4), Faults(BrokenCalls(adapter))
        pairs.search(job, adapter, 0, few, after=lambda driver: None, faults=faults, at_once=["settle", "cancel"])
    assert not begun


@pytest.mark.parametrize(("words", "most"), [({}, 100), ({"settles": 1}, 24)])
def test_few_places_are_filled_where_each_call_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, words: dict[str, Any], most: int
) -> None:
    filled: list[int] = []

    def noting(_: Any, declared: Any, most: int) -> list[Any]:
        filled.append(most)
        return []

    monkeypatch.setattr(pairs, "one_place_left", noting)
    with adapted(REFERENCE) as adapter:
        monkeypatch.setattr(adapter, "declaration", replace(adapter.declaration, **words))
        faults = Faults(BrokenCalls(adapter))
        pairs.search(thread_job(), adapter, 0, replace(USUAL, pairs=0), after=lambda driver: None, faults=faults)
    assert filled == [most]


def test_two_end_where_one_more_may_end_before_any_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "LAST_PLACE", 1.0)
    cases = searched(pairs.search, REFERENCE, 0, replace(USUAL, pairs=4))[1]
    for case in cases:
        at = next(number for number, event in enumerate(case.trace) if isinstance(event, History))
        history = case.trace[at]
        assert isinstance(history, History)
        ended = [each for each in case.trace[:at] if isinstance(each, Observed) and each.operation == "finish"]
        calls = [caller[0] for caller in history.callers]
        assert (len(ended), [call.operation for call in calls]) == (19, ["finish", "finish"])
        assert len({call.arguments["job"] for call in calls} - {call.arguments["job"] for call in ended}) == 2
    assert len(cases) == 4


def test_who_lets_both_have_the_last_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "LAST_PLACE", 1.0)
    with adapted(SlotIsCheckedTooEarly, load("job")) as adapter:
        few, faults = replace(USUAL, pairs=8), Faults(BrokenCalls(adapter))
        pairs.search(load("job"), adapter, 0, few, after=lambda driver: None, faults=faults)
    assert faults.found


def first_at_once(case: Case) -> list[str]:
    """The operations that are called at once when fourteen of fifteen places are taken; nothing where it is otherwise."""
    alone = list(itertools.takewhile(lambda event: isinstance(event, Observed), case.trace))
    history = case.trace[len(alone)]
    taken = sum(isinstance(event, Observed) and event.operation == "register" for event in alone)
    return [call.operation for call in calls_of(history)] if taken == 14 else []


LEASES = compile_text(
    """
    lifecycle: leases
    version: 1
    about: A job is leased for a while.
    entities:
      Job:
        id: minted
        states: {active: [queued], terminal: [done]}
      Lease:
        id: minted
        missing: unchanged
        fields: {job: Job, since: time}
        states: {active: [held], terminal: [over]}
        after:
          held: {in: 30, since: lease.since, move: over}
    operations:
      put:
        create: {Job: {}}
        gives: {job_id: job.id}
      lease:
        takes: {job: Job}
        create: {Lease: {job: job, since: now}}
        gives: {lease_id: lease.id}
      release:
        takes: {lease: Lease}
        move: held -> over
        otherwise: unchanged
      look:
        takes: {lease: Lease}
        gives: {state: lease.state}
    """,
    "leases.yaml",
)


OUTBOX = compile_text(
    """
    lifecycle: outbox
    version: 1
    about: The end of a job is told in a letter, or waits as a letter while all are paused, for which there has to be a reason.
    types:
      Why: {one of: [none, repair]}
    variables:
      paused: {type: bool, default: false}
    entities:
      Job:
        id: minted
        states: {active: [running], terminal: [ended]}
      Letter:
        plural: letters
        fields: {job: Job}
        states: {active: [waiting], terminal: [sent]}
    operations:
      put:
        create: {Job: {}}
        gives: {job_id: job.id}
      end:
        takes: {job: Job}
        move: running -> ended
        create: {Letter: {job: job, state: if paused then waiting else sent}}
      pause:
        takes: {why: Why}
        requires: {no_reason: why == repair}
        set: {paused: true}
    """,
    "outbox.yaml",
)


def test_what_is_set_before_many_records_come_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_TRIED_SET", 8)  # calls in which no way is found that sets it itself
    with adapted(model_system(OUTBOX), OUTBOX) as adapter:
        ways = prefill.prefills(OUTBOX, adapter.declaration, USUAL.prefilled)
        (begin,) = (each for each in ways if "gathered_by_others" in repr(each))
        for seed in range(8):
            driver = Driver(OUTBOX, adapter, seed=seed)
            begin(driver)
            letters = getattr(driver.case.judge.model, python_name(OUTBOX.kernel.entity("Letter").collection)).values()
            assert [each.state for each in letters] == ["waiting"] * max(gathering.GATHERED)


@pytest.mark.parametrize("way", ["grown_old", "gathered"])
def test_a_record_that_is_about_another_one_comes_after_that(way: str) -> None:
    """No lease is created before there is a job."""
    with adapted(model_system(LEASES), LEASES) as adapter:
        ways = prefill.prefills(LEASES, adapter.declaration, USUAL.prefilled)
        _, begin = dict.fromkeys(each for each in ways if way in repr(each))
        for seed in range(8):
            driver = Driver(LEASES, adapter, seed=seed)
            begin(driver)
            assert [call.operation for call in driver.case.calls][:2] == ["put", "lease"]
            assert driver.case.faults == []


def test_what_nobody_follows_any_more_is_not_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = gathered(REFERENCE)
    monkeypatch.setattr(Driver, "is_followed", False)
    with adapted(REFERENCE) as adapter:
        driver = Driver(thread_job(), adapter)
        begin(driver)
        assert not driver.case.trace


def test_before_a_case_begins_time_passes_and_something_is_called_but_nothing_that_ends_everything() -> None:
    job, called, changed = load("job"), Counter[str](), Counter[int]()
    with adapted(Jobs, job) as adapter:
        begin = prefill.set_up(job, adapter.declaration)
        for seed in range(40):
            driver = Driver(job, adapter, seed=seed)
            begin(driver)
            first, *others = driver.case.calls
            assert first.operation == "wait"
            called.update(each.operation for each in others)
            changed.update(len(each.arguments) for each in others if each.operation == "configure")
    assert called.keys() == {"configure", "sink"}
    assert changed.keys() >= {1, 2, 3}  # with all three settings changed little goes on as usual
    assert changed[1] > changed[3], f"so often so many settings were changed: {dict(changed)}"


def test_walks_begin_so_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(walks, "set_up", lambda *_: begun.append)
    _, cases = searched(walks.search, REFERENCE, 0, replace(USUAL, walks=10, walk_steps=2))
    assert len(cases) / 10 < len(begun) < len(cases) / 2


@pytest.mark.parametrize(
    ("lifecycle", "operations"),
    [
        ("thread-job", ["set_idle", "turn_boundary"]),
        ("job", ["configure", "dispose", "sink"]),
        ("task-progress", ["subscribe"]),
    ],
)
def test_what_is_about_no_record_that_comes_and_goes(lifecycle: str, operations: list[str]) -> None:
    assert sorted(prefill.about_no_record(load(lifecycle).kernel)) == operations


KEYS = compile_text(
    """
    lifecycle: keys
    version: 1
    about: Of many keys one fits, and no state says which.
    entities:
      Key:
        id: minted
        fields: {fits: bool}
        shows: {key_id: key.id}
    operations:
      cut:
        takes: {fits: bool}
        create: {Key: {fits: fits}}
        gives: {key_id: key.id}
      turn:
        takes: {key: Key}
        requires: {jammed: key.fits}
        set: {key.fits: true}
    """,
    "keys.yaml",
)


class Keys:
    """Keys that fit or do not."""

    def __init__(self) -> None:
        self.fits: dict[str, bool] = {}

    def cut(self, fits: bool) -> dict[str, str]:
        self.fits[f"key-{len(self.fits)}"] = fits
        return {"key_id": [*self.fits][-1]}

    def turn(self, key: str) -> None:
        if key not in self.fits:
            raise Refused("not_found")
        if not self.fits[key]:
            raise Refused("jammed")


def test_of_records_that_only_an_operation_tells_apart_each_kind_is_drawn_as_often() -> None:
    with adapted(Keys, KEYS) as adapter:
        driver = Driver(KEYS, adapter)
        for number in range(40):
            driver.make("cut", {"fits": number == 20})
        draws = driver.draws_for(driver.case.judge.model, "turn", random.Random(0))
        drawn = Counter(each["key"] == "key-20" for each in itertools.islice(draws, 200) if each is not None)
    assert drawn[True] > 200 / 5
