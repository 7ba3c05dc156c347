"""Calls at once that share out what is owed: decided however many they are, and settled by the first look."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.budget import USUAL, Budget
from conformance.judge.case import Case
from conformance.judge.history import Explained, explanations
from statemachines.explore import MessageFacts
from statemachines.model import Signal
from statemachines.rows import Observed
from tests.conformance.systems import Watched, adapted, at_once, message, started, thread_job, turn
from tests.right.thread_job import SharingJobs

ALL = (0, 100)  # a time in which every call overlaps every other
SIZES = [(8, 6), (8, 12), (16, 20)]  # emitters, and ended jobs


def shared(emitters: int, ended: int, seed: int = 0) -> list[list[str]]:
    """Jobs in the order in which they ended, dealt out among emitters."""
    luck = random.Random(seed)
    told: list[list[str]] = [[] for _ in range(emitters)]
    for index in range(ended):
        luck.choice(told).append(f"job {index:02}")
    return told


def interleaved(told: Sequence[Sequence[str]], seed: int = 0) -> list[str]:
    """A transcript that keeps what each emitter told in its order."""
    luck, rest = random.Random(seed), [list(jobs) for jobs in told if jobs]
    transcript = []
    while rest:
        jobs = luck.choice(rest)
        transcript.append(jobs.pop(0))
        rest = [each for each in rest if each]
    return transcript


def emitting(
    told: Sequence[Sequence[str]], ended: int, budget: Budget = USUAL
) -> tuple[Watched, list[Observed], list[Signal]]:
    """A judge where so many jobs have ended one after the other, and boundaries at once that told these."""
    watched = Watched(budget=budget)
    for index in range(ended):
        watched.ended(f"job {index:02}")
        watched.must("wait", 1)
    calls = [watched.call("turn_boundary", "t1", gives=list(map(message, jobs)), during=ALL) for jobs in told]
    return watched, calls, [turn() for jobs in told if jobs]


def searched(watched: Watched, calls: Sequence[Observed], signals: Sequence[Signal] = ()) -> Explained:
    """What the search finds from the one configuration that there is so far."""
    lockstep = watched.judge.lockstep
    (start,) = lockstep.configurations
    return explanations(lockstep.stepper, start, at_once(calls, signals))


@pytest.mark.parametrize(("emitters", "ended"), SIZES)
def test_however_many_share_what_is_owed_there_is_one_explanation(emitters: int, ended: int) -> None:
    for seed in range(3):
        found = searched(*emitting(shared(emitters, ended, seed), ended))
        assert (len(found.ends), found.partial) == (1, False)


@pytest.mark.parametrize(("emitters", "ended"), SIZES)
def test_any_transcript_that_keeps_each_emitters_order_is_right_and_then_the_only_one(
    emitters: int, ended: int
) -> None:
    told = shared(emitters, ended)
    for seed in range(3):
        transcript, other = interleaved(told, seed), interleaved(told, seed + 10)
        assert other != transcript
        watched, calls, signals = emitting(told, ended)
        lockstep = watched.judge.lockstep
        assert lockstep.advance(at_once(calls, signals)) is None
        for jobs in (transcript, other):
            finding = lockstep.advance(watched.call("messages", "t1", gives=list(map(message, jobs))))
            assert (finding is None) == (jobs == transcript)
        assert lockstep.advance(watched.call("turn_boundary", "t1", gives=[])) is None
        assert not lockstep.unsure


@pytest.mark.thorough
def test_a_transcript_that_breaks_an_emitters_order_or_changes_is_a_finding() -> None:
    told = sorted(shared(8, 6), key=len, reverse=True)
    transcript = interleaved(told)
    turned = [told[0][1], *(job for job in transcript if job != told[0][1])]
    for looks, explained in (([transcript] * 2, True), ([transcript, transcript[::-1]], False), ([turned], False)):
        watched, calls, signals = emitting(told, 6)
        assert watched.judge.step(at_once(calls, signals)) is None
        findings = [watched("messages", "t1", gives=list(map(message, jobs))) for jobs in looks]
        assert (findings[-1] is None) == explained
        assert not watched.judge.unsure


WRONG: Mapping[str, Any] = {
    "told by two": lambda told: [*told[:-1], [*told[-1], told[0][0]]],
    "told twice by one": lambda told: [[*told[0], told[0][-1]], *told[1:]],
    "lost": lambda told: [told[0][1:], *told[1:]],
    "order broken": lambda told: [told[0][::-1], *told[1:]],
    "a stranger": lambda told: [*told[:-1], [*told[-1], "nobody"]],
}


@pytest.mark.parametrize(("emitters", "ended"), SIZES)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_no_sharing_explains_is_found_and_not_left_open(emitters: int, ended: int, wrong: str) -> None:
    told = sorted(shared(emitters, ended), key=len, reverse=True)
    assert len(told[0]) > 1
    assert searched(*emitting(told, ended)).ends
    watched, calls, signals = emitting(WRONG[wrong](told), ended)
    found = searched(watched, calls, signals)
    assert (found.ends, found.partial) == ([], False)


@pytest.mark.parametrize(("during", "explained"), [((0, 9), True), ((50, 60), False)])
def test_a_message_is_not_told_before_it_is_due(during: tuple[int, int], explained: bool) -> None:
    watched, calls, signals = emitting([*shared(3, 4), ["late"]], 4)
    watched.start("late")
    calls = [replace(call, began=0, ended=40) for call in calls]
    found = searched(watched, [*calls, watched.call("finish", "late", "completed", "x", during=during)], signals)
    assert (bool(found.ends), found.partial) == (explained, False)


def test_an_emitter_that_begins_when_all_has_been_told_tells_nothing() -> None:
    for told, explained in (([], True), (["job 05"], False)):
        watched, calls, signals = emitting([*shared(8, 6), told], 6)
        calls[-1] = replace(calls[-1], began=200, ended=300)
        found = searched(watched, calls, signals)
        assert (bool(found.ends), found.partial) == (explained, False)


def test_what_was_told_by_one_who_was_done_stands_before_what_came_later() -> None:
    told = [["job 00", "job 02"], ["job 01"], ["late"]]
    orders = {"021L": True, "012L": True, "102L": True, "02L1": True, "01L2": False, "L021": False, "201L": False}
    for transcript, explained in orders.items():
        watched, calls, signals = emitting(told, 3)
        watched.start("late")
        spans = [(1, 4), (2, 9), (7, 9)]
        calls = [replace(call, began=began, ended=ended) for call, (began, ended) in zip(calls, spans, strict=True)]
        end = watched.call("finish", "late", "completed", "x", during=(5, 6))
        assert watched.judge.step(at_once([*calls, end], signals)) is None
        jobs = ["late" if each == "L" else f"job 0{each}" for each in transcript]
        finding = watched("messages", "t1", gives=list(map(message, jobs)))
        assert (finding is None) == explained, (transcript, finding)


@pytest.mark.parametrize(
    ("told", "explained"),
    [
        (["ba", "a"], True),
        (["a", "ba"], True),
        (["ab", "a"], True),
        (["aa", "b"], True),
        (["bab", ""], False),
        (["b", "a"], False),
    ],
)
def test_of_messages_that_read_the_same_each_is_told_by_somebody(told: list[str], explained: bool) -> None:
    """The first job called a has left when another one gets its id; both messages are owed."""
    watched = Watched(limits={"retained": 1})
    for number, job in enumerate("aba"):
        watched.must("start", "t1", f"call {number}", "bash", gives=started(job))
        watched.must("finish", job, "completed", "x")
        watched.must("wait", 1)
    calls = [watched.call("turn_boundary", "t1", gives=list(map(message, jobs)), during=ALL) for jobs in told]
    found = searched(watched, calls, [turn() for jobs in told if jobs])
    assert (bool(found.ends), found.partial) == (explained, False)


@pytest.mark.parametrize("tie", ["id", "completion"])
def test_of_messages_about_one_id_each_is_held_to_its_own_job(tie: str) -> None:
    """What a message says of a job is only recommended: it is no fault that the other message about that id says something else."""
    watched = Watched(limits={"retained": 1}, policies={"tie": tie})
    watched.ended("a")
    watched.ended("b")  # and the first a has left
    watched.must("start", "t1", "another call", "delegate", gives=started("a"))
    end = watched.call("finish", "a", "cancelled", "x", during=(18, 19))
    of_a = [message("a"), message("a", tool="delegate", status="cancelled")]
    told = [*of_a, message("b")] if tie == "id" else [of_a[0], message("b"), of_a[1]]
    tells = watched.call("turn_boundary", "t1", gives=told, during=(17, 20))
    assert watched.step(at_once([end, tells], [turn()])) is None
    assert watched.judge.findings == []


def test_what_a_message_says_wrongly_of_its_job_is_told_though_another_one_has_its_id() -> None:
    watched = Watched(limits={"retained": 1})
    watched.ended("a")
    watched.ended("b")
    watched.must("start", "t1", "another call", "delegate", gives=started("a"))
    end = watched.call("finish", "a", "cancelled", "x", during=(18, 19))
    told = [message("a"), message("b"), message("a", tool="delegate", status="failed")]
    tells = watched.call("turn_boundary", "t1", gives=told, during=(17, 20))
    watched.step(at_once([end, tells], [turn()]))
    assert [each.clause for each in watched.judge.findings] == ["messages.Ended.carries.status"]


def test_a_look_at_one_thread_leaves_the_other_open() -> None:
    for second, explained in ((["c", "d"], True), (["d", "c"], True), (["c"], False)):
        watched = Watched()
        for job, thread in zip("abcd", ("t1", "t1", "t2", "t2"), strict=True):
            watched.ended(job, thread)
            watched.must("wait", 1)
        calls = [
            watched.call("turn_boundary", thread, gives=[message(job)], during=ALL)
            for job, thread in zip("abcd", ("t1", "t1", "t2", "t2"), strict=True)
        ]
        assert watched.group(*calls, signals=[turn(), turn(), turn("t2"), turn("t2")]) is None
        watched.must("messages", "t1", gives=[message("b"), message("a")])
        assert watched("messages", "t1", gives=[message("a"), message("b")]) is not None
        assert (watched("messages", "t2", gives=list(map(message, second))) is None) == explained


@pytest.mark.thorough
def test_a_look_among_the_calls_at_once_settles_what_was_told_before_it() -> None:
    told = shared(8, 6)
    first = interleaved(told)
    for seen in range(7):
        watched, calls, signals = emitting(told, 6)
        look = watched.call("messages", "t1", gives=list(map(message, first[:seen])), during=ALL)
        assert watched.group(*calls, look, signals=signals) is None
        watched.must("messages", "t1", gives=list(map(message, first)))
        assert not watched.judge.unsure


def test_attempts_at_single_messages_are_shared_out_too() -> None:
    jobs = [f"job {index:02}" for index in range(6)]
    for told, explained in (([True] * 6, True), ([True] * 5 + [False], False)):
        watched, _, _ = emitting([], 6)
        calls = [
            watched.call("emit", "t1", job, gives=gives, during=ALL) for job, gives in zip(jobs, told, strict=True)
        ]
        found = searched(watched, [*calls, watched.call("emit", "t1", jobs[0], gives=False, during=ALL)])
        assert (bool(found.ends), found.partial) == (explained, False)
    watched, _, _ = emitting([], 6)
    calls = [watched.call("emit", "t1", job, gives=True, during=ALL) for job in jobs]
    assert watched.group(*calls) is None
    assert len(watched.judge.lockstep.configurations) == 1
    watched.must("messages", "t1", gives=list(map(message, reversed(jobs))))


def afterwards(watched: Watched, transcripts: Mapping[str, bool]) -> None:
    """Look at the transcript from the same configurations again and again."""
    lockstep = watched.judge.lockstep
    after = lockstep.configurations
    for transcript, explained in transcripts.items():
        finding = lockstep.advance(watched.call("messages", "t1", gives=list(map(message, transcript))))
        assert (finding is None) == explained, transcript
        lockstep.configurations = after


def three_ended() -> Watched:
    watched = Watched()
    for job in "abc":
        watched.ended(job)
        watched.must("wait", 1)
    return watched


def test_an_attempt_that_was_over_stands_before_one_that_began_later() -> None:
    watched = three_ended()
    spans = {"c": (1, 2), "a": (3, 4), "b": (0, 9)}
    calls = [watched.call("emit", "t1", job, gives=True, during=during) for job, during in spans.items()]
    assert watched.group(*calls) is None
    afterwards(watched, {"cab": True, "cba": True, "bca": True, "acb": False, "bac": False, "abc": False})


def test_an_attempt_in_vain_comes_after_whoever_told_and_before_what_began_later() -> None:
    watched = three_ended()
    told = watched.call("turn_boundary", "t1", gives=[message("b"), message("c")], during=(0, 9))
    vain = watched.call("emit", "t1", "b", gives=False, during=(1, 2))
    later = watched.call("emit", "t1", "a", gives=True, during=(3, 4))
    assert watched.group(told, vain, later, signals=[turn()]) is None
    afterwards(watched, {"bac": True, "bca": True, "abc": False, "acb": False, "cba": False})


def told_beside(*told: str, turns: int, idle: bool = True) -> Watched | None:
    """Three endings in a thread that has become idle, and boundaries at once that told these; None if nothing explains it."""
    watched = three_ended()
    watched.must("set_idle", "t1", idle)
    calls = [watched.call("turn_boundary", "t1", gives=list(map(message, jobs)), during=ALL) for jobs in told]
    found = watched.group(*calls, signals=[turn()] * turns)
    assert not watched.judge.unsure
    return watched if found is None else None


def test_what_is_told_unasked_comes_anywhere_among_what_others_tell() -> None:
    watched = told_beside("a", "b", turns=3)
    assert watched is not None
    orders = {"".join(order): True for order in itertools.permutations("abc")}
    afterwards(watched, {**orders, "ab": False, "abcc": False})


def test_one_who_tells_unasked_keeps_the_order_and_of_several_it_is_open() -> None:
    one, two = told_beside("b", "", turns=2), told_beside("b", "", turns=3)
    assert one is not None
    assert two is not None
    afterwards(one, {"abc": True, "bac": True, "acb": True, "cab": False, "cba": False, "bca": False, "ab": False})
    afterwards(two, {"".join(order): True for order in itertools.permutations("abc")})


def test_who_leaves_a_message_unasked_has_to_be_another_who_was_able_to_tell_it() -> None:
    assert told_beside("b", "c", turns=2, idle=False) is None
    assert told_beside("b", "c", turns=2) is None  # nobody triggered a turn for it
    assert told_beside("b", "c", turns=3) is not None
    assert told_beside("ab", "bc", turns=3) is None


@pytest.mark.parametrize(("turns", "unsure", "most"), [(2, False, 1000), (3, True, 4000)])
def test_of_many_messages_one_who_tells_unasked_is_followed_and_of_several_it_is_said_that_they_are_not(
    turns: int, unsure: bool, most: int
) -> None:
    watched, calls, _ = emitting([["job 03"]], 12)
    become_idle = watched.call("set_idle", "t1", True, during=ALL)
    found = searched(watched, [*calls, become_idle], [turn()] * turns)
    assert found.ends
    assert found.partial == unsure
    assert watched.judge.lockstep.stepper.nodes < most


@pytest.mark.parametrize(
    ("tie", "told", "right"),
    [
        ("id", ["b", "a"], True),  # b is told, a ends, and is told
        ("id", ["a", "b"], True),
        ("completion", ["b", "a"], True),
        ("completion", ["a", "b"], False),  # b was owed before a had ended
    ],
)
def test_who_tells_one_after_the_other_keeps_the_order_of_what_is_owed_by_then(
    tie: str, told: list[str], right: bool
) -> None:
    watched = Watched(policies={"tie": tie})
    watched.start("a")
    watched.ended("b")
    ends = watched.call("finish", "a", "completed", "x", during=(18, 19))
    tells = watched.call("turn_boundary", "t1", gives=[message(each) for each in told], during=(17, 20))
    assert (watched.step(at_once([ends, tells], [turn()])) is None) == right


@pytest.mark.parametrize("told", ["cba", "cab", "bca", "bac"])
def test_what_was_passed_over_is_not_told_later_by_the_same(told: str) -> None:
    """They are owed in the order of their ids; a ends only meanwhile, so that it alone may come after others."""
    watched = Watched(policies={"tie": "id"})
    watched.start("a")
    watched.ended("b")
    watched.ended("c")
    ends = watched.call("finish", "a", "completed", "x", during=(18, 19))
    tells = watched.call("turn_boundary", "t1", gives=[message(each) for each in told], during=(17, 20))
    assert (watched.step(at_once([ends, tells], [turn()])) is None) == (told.index("b") < told.index("c"))


# --- systems ----------------------------------------------------------------------------------------------


class TellsAgain(SharingJobs):
    """Looks what is owed before it takes the lock."""

    def turn_boundary(self, thread: str) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = []
        for job in self._due(thread):
            with self._lock:
                told += self._tell(thread, [job])
        return told


def together(system: type, seed: int) -> Case:
    """Eight boundaries at once of six ended jobs, and two looks."""
    with adapted(system, thread_job()) as adapter:
        case = Case(thread_job(), adapter, seed)
        for index in range(6):
            job = case.call("start", {"thread": "t1", "tool_call": f"call {index}", "tool": "bash"}).given["job_id"]
            case.call("finish", {"job": job, "outcome": "completed", "payload": "x"})
            case.call("wait", {"ms": 1})
        case.together([lambda: case.call("turn_boundary", {"thread": "t1"})] * 8)
        for _ in range(2):
            case.call("messages", {"thread": "t1"})
        return case


@pytest.mark.thorough
def test_a_system_whose_boundaries_share_is_right_and_one_that_tells_again_is_found() -> None:
    cases = [together(SharingJobs, seed) for seed in range(8)]
    assert [(case.finding, case.judge.unsure) for case in cases] == [(None, False)] * 8
    sharers = [sum(bool(call.given) for call in case.calls if call.operation == "turn_boundary") for case in cases]
    assert max(sharers) > 3
    assert any(together(TellsAgain, seed).faults for seed in range(8))


# --- beside a search that takes every order for a state of its own ----------------------------------------


class Cautious(MessageFacts):
    """Facts with which nothing stays open, and every step is tried."""

    def __init__(self) -> None:
        super().__init__(thread_job().kernel)
        self.open = frozenset()

    def looked_at(self, operation: str) -> str:
        return ""

    def sends_quietly(self, operation: str) -> str:
        return ""


PATIENT = replace(USUAL, configurations=100_000, nodes=400_000)
Made = tuple[str, tuple[Any, ...], Any, tuple[int, int]]


@st.composite
def groups(draw: st.DrawFn) -> tuple[dict[str, str], list[Made], list[Signal]]:
    """Jobs that have ended, each of a thread, and calls at once that may have told of them and of one that ends beside."""
    threads = {job: draw(st.sampled_from(("t1", "t1", "t2"))) for job in "abc"[: draw(st.integers(1, 3))]}
    known = {**threads, "z": "t1"}
    span = st.integers(0, 6).flatmap(lambda began: st.tuples(st.just(began), st.integers(began + 1, began + 6)))
    told: list[tuple[str, list[str]]] = [(thread, []) for thread in ("t1", "t1", "t2")[: draw(st.integers(2, 3))]]
    calls: list[Made] = [("finish", ("z", "completed", "x"), None, draw(span))] if draw(st.booleans()) else []
    for job in known if calls else threads:
        tellers = [jobs for thread, jobs in told if thread == known[job]]
        if tellers and draw(st.integers(0, 3)) > 0:
            tellers[draw(st.integers(0, len(tellers) - 1))].append(job)
        elif draw(st.integers(0, 3)):
            calls.append(("emit", (known[job], job), draw(st.booleans()), draw(span)))
    signals = [turn(thread) for thread, jobs in told if jobs]
    calls += [("turn_boundary", (thread,), [message(job) for job in jobs], draw(span)) for thread, jobs in told]
    if draw(st.booleans()):
        jobs = [job for job, thread in known.items() if thread == "t1"]
        seen = draw(st.permutations(jobs))[: draw(st.integers(0, len(jobs)))]
        calls.append(("messages", ("t1",), list(map(message, seen)), draw(span)))
    return threads, calls[:6], [*signals, *([turn()] if draw(st.booleans()) else [])]


def orders(jobs: Sequence[str]) -> list[tuple[str, ...]]:
    """Some of the jobs, each choice in every order."""
    return [order for size in range(len(jobs) + 1) for order in itertools.permutations(jobs, size)]


def judged(
    cautious: bool, threads: Mapping[str, str], made: Sequence[Made], signals: Sequence[Signal]
) -> tuple[bool, dict[Any, bool]]:
    """Whether calls at once are explained, and which transcripts may be seen afterwards, those of both threads."""
    watched = Watched(budget=PATIENT)
    lockstep = watched.judge.lockstep
    if cautious:
        lockstep.stepper.facts = copy.copy(lockstep.stepper.facts)
        lockstep.stepper.facts.messages = Cautious()
    for job, thread in {**threads, "z": "t1"}.items():
        watched.must("start", thread, f"call of {job}", "bash", gives=started(job))
    for job in threads:
        watched.must("finish", job, "completed", "x")
    calls = [
        watched.call(operation, *arguments, gives=gives, during=when) for operation, arguments, gives, when in made
    ]
    if lockstep.advance(at_once(calls, signals)) is not None:
        assert not lockstep.unsure
        return False, {}
    after, found = lockstep.configurations, {}
    first_thread = [*(job for job in threads if threads[job] == "t1"), "z"]
    second_thread = [job for job in threads if threads[job] == "t2"]
    for first, second in itertools.product(orders(first_thread), orders(second_thread)):
        looks = [("t1", first), ("t2", second), ("t1", first)]
        found[first, second] = all(
            lockstep.advance(watched.call("messages", thread, gives=list(map(message, jobs)))) is None
            for thread, jobs in looks
        )
        lockstep.configurations = after
    return True, found


@pytest.mark.thorough
@settings(max_examples=50)
@given(groups())
def test_what_is_left_open_is_all_that_some_order_gives(group: tuple[dict[str, str], list[Made], list[Signal]]) -> None:
    assert judged(False, *group) == judged(True, *group)
