"""Calls at once: that they overlap, what comes back, and what is said when they do not."""

from __future__ import annotations

import hashlib
import itertools
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.budget import USUAL
from conformance.judge.case import Case
from conformance.judge.history import History
from conformance.suite.run import Run
from conformance.system import adapter as adapter_module
from conformance.system.broken import Broken
from conformance.system.concurrent import _Turns, one_after_the_other, overlapping, run_at_once
from conformance.system.tracing import Place, is_own, taking_locks, traced
from conformance.system.worker import waits
from conformance.verdict import EXIT_CONFORMS, Verdict
from tests.conformance.systems import REFERENCE, adapted, row_result, thread_job, whole_run
from tests.right.thread_job import ActorJobs, RealClockJobs, SqliteJobs

# --- overlaps ---------------------------------------------------------------------------------------------

TIMES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 15), st.integers(0, 3)), max_size=12)


def began_while_another_ran(calls: Sequence[tuple[int, int, int]]) -> int:
    """The definition, call by call: at its beginning a call of another caller is running."""
    return sum(any(one < began < end and who != caller for one, end, who in calls) for began, _, caller in calls)


@given(TIMES)
def test_overlapping_calls_are_counted(drawn: list[tuple[int, int, int]]) -> None:
    """Instants are those of one counter, so no two are the same."""
    instants = sorted({(2 * began, index, 0) for index, (began, _, _) in enumerate(drawn)})
    instants += [(2 * (began + length) + 1, index, 1) for index, (began, length, _) in enumerate(drawn)]
    order = {(index, side): place for place, (_, index, side) in enumerate(sorted(instants))}
    calls = [(order[index, 0], order[index, 1], caller) for index, (_, _, caller) in enumerate(drawn)]
    assert overlapping(calls) == began_while_another_ran(calls)
    assert overlapping(calls[::-1]) == overlapping(calls)


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        ([], 0),
        ([(1, 2, 0)], 0),
        ([(1, 2, 0), (3, 4, 1)], 0),
        ([(1, 3, 0), (2, 4, 1)], 1),
        ([(1, 4, 0), (2, 3, 1)], 1),
        ([(1, 4, 0), (2, 3, 0)], 0),
        ([(1, 9, 0), (2, 3, 1), (4, 5, 2)], 2),
    ],
)
def test_two_calls_of_one_caller_do_not_overlap(calls: list[tuple[int, int, int]], count: int) -> None:
    assert overlapping(calls) == count


# --- one after the other ----------------------------------------------------------------------------------


def noting(order: list[int], count: int) -> list[Callable[[], int]]:
    """Bodies that note when they are evaluated, each by its place, which is also its value."""

    def body(index: int) -> Callable[[], int]:
        def run() -> int:
            order.append(index)
            return index

        return run

    return [body(index) for index in range(count)]


@given(st.integers(0, 6), st.integers())
def test_without_concurrency_a_seed_chooses_the_order_and_values_keep_theirs(count: int, seed: int) -> None:
    first: list[int] = []
    again: list[int] = []
    for order in (first, again):
        assert one_after_the_other(noting(order, count), seed) == list(range(count))
    assert first == again
    assert sorted(first) == list(range(count))


def test_every_order_comes_up() -> None:
    orders = set()
    for seed in range(60):
        order: list[int] = []
        one_after_the_other(noting(order, 3), seed)
        orders.add(tuple(order))
    assert len(orders) == 6


# --- threads ----------------------------------------------------------------------------------------------


def at_once(bodies: Sequence[Callable[[], Any]], *, seed: int = 0, limit: float = 5) -> list[Any]:
    return run_at_once(bodies, seed, frozenset({__file__}), limit, lambda: 0)


def test_values_come_in_the_order_of_the_bodies_from_threads_of_their_own() -> None:
    found = at_once([lambda index=index: (index, threading.get_ident()) for index in range(6)])  # type: ignore[misc]  # a default binds it
    assert [index for index, _ in found] == list(range(6))
    assert threading.get_ident() not in {ident for _, ident in found}


def test_all_bodies_run_before_one_has_to_end() -> None:
    together = threading.Barrier(4)
    assert sorted(at_once([together.wait] * 4)) == [0, 1, 2, 3]


def test_the_first_exception_of_a_body_is_raised_again() -> None:
    def fails() -> None:
        raise LookupError("what a body raised")

    with pytest.raises(LookupError, match="what a body raised"):
        at_once([lambda: 1, fails, lambda: 2])


def test_a_body_that_does_not_come_back_is_a_hang_and_the_others_are_not_waited_for_in_vain() -> None:
    never = threading.Event()
    with pytest.raises(Broken) as broken:
        at_once([never.wait, lambda: 1, never.wait], limit=0.1)
    never.set()
    assert broken.value.kind == "hang"
    assert broken.value.message.startswith("2 of 3 calls made at once did not come back")


def test_lines_where_threads_wait_are_learned_handed_on_and_at_times_forgotten() -> None:
    lock = threading.Lock()

    def body() -> None:
        for _ in range(20):
            with lock:
                for _ in range(5):
                    pass

    own, blocking = frozenset({__file__}), set[Place]()
    for seed in range(20):
        run_at_once([body, body], seed, own, 5, lambda: 0, blocking)
    assert {code.co_name for code, _ in blocking} == {"body"}
    many = {(body.__code__, -line) for line in range(1000)}
    blocking |= many
    run_at_once([body, body], 0, own, 5, lambda: 0, blocking)
    assert 900 < len(blocking & many) < 1000


def test_an_adapter_hands_on_where_threads_wait() -> None:
    with adapted(REFERENCE) as adapter:
        run = Run(thread_job(), adapter, rows=["E6"], budget=USUAL.quick())
        assert run.go().exit == EXIT_CONFORMS
        assert adapter._blocking


def test_what_was_learned_does_not_change_what_the_seed_chooses() -> None:
    known = {(at_once.__code__, line) for line in range(9)}
    new, used = (_Turns(3, 7, 1.0, blocking) for blocking in (set[Place](), known))
    assert (new._turn, new._rate, new._choice.random()) == (used._turn, used._rate, used._choice.random())


def test_as_long_as_something_moves_nothing_hangs() -> None:
    """The calls made so far are asked for each time the wait is over; here they rise for a while."""
    asked = iter(range(10**9))
    gate = threading.Event()

    def progress() -> int:
        made = next(asked)
        if made > 6:
            gate.set()
        return made

    assert run_at_once([gate.wait], 0, frozenset(), 0.12, progress) == [True]


def test_no_trace_function_is_left_behind() -> None:
    before = sys.gettrace(), threading.gettrace()
    at_once([lambda: None, lambda: None])
    assert (sys.gettrace(), threading.gettrace()) == before


def test_other_threads_run_at_lines_of_the_systems_own_code() -> None:
    """A count that is read and written on two lines loses some of what threads add: in one round or another."""
    lost = 0
    for seed in range(24):
        count = {"value": 0}

        def add(count: dict[str, int] = count) -> None:
            value = count["value"]
            value += 1
            count["value"] = value

        at_once([add] * 4, seed=seed)
        lost += count["value"] < 4
    assert lost


def test_a_turn_ends_more_often_where_a_lock_is_to_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two locks a check grows old."""

    def ended(*, takes_lock: bool) -> int:
        """In how many of the steps of 60 schedules the turn would go to another thread."""
        found: list[int] = []
        monkeypatch.setattr(_Turns, "_hand_over", lambda self, index: found.append(index))
        for seed in range(60):
            turns = _Turns(2, seed, 1.0, set())
            turns._turn = 0
            for _ in range(20):
                turns.step(0, (at_once.__code__, 1), takes_lock)
        return len(found)

    assert ended(takes_lock=True) > 1.5 * ended(takes_lock=False) > 0


def test_where_a_lock_is_to_be_taken_is_where_its_line_begins() -> None:
    lock = threading.Lock()

    def body() -> None:
        lock.acquire()
        lock.release()
        with (
            lock,
        ):
            pass

    lines = {offset: line for offset, _, line in reversed([*body.__code__.co_lines()])}
    first = body.__code__.co_firstlineno
    assert {lines[offset] for offset in taking_locks(body.__code__)} <= {first + 1, first + 3, first + 4}
    assert len(taking_locks(body.__code__)) == 2


def steps(body: Callable[[], object], *, fine: bool) -> list[bool]:
    """Of each step that a body comes to, whether a lock may be taken there."""
    came: list[bool] = []

    def notes(place: Place, takes_lock: bool) -> bool:
        came.append(takes_lock)
        return True

    before = sys.gettrace()
    sys.settrace(traced(notes, frozenset({__file__}), fine=fine))
    try:
        body()
    finally:
        sys.settrace(before)
    return came


@pytest.mark.parametrize("fine", [False, True])
def test_each_time_that_a_lock_may_be_taken_is_one_step_also_in_a_loop_or_a_function_of_one_line(fine: bool) -> None:
    lock, rounds = threading.Lock(), [1, 2, 3]

    def often() -> None:
        while lock.acquire():
            lock.release()
            rounds.pop()
            if not rounds:
                return

    assert steps(lambda: lock.acquire() or None, fine=fine).count(True) == 1
    lock.release()
    assert steps(often, fine=fine).count(True) == 3


def test_turns_at_locks_become_rarer_in_a_long_group() -> None:
    turns = _Turns(20, 1, 1.0, set())
    turns._at_locks = 0.6
    for _ in range(3_000):
        turns._stuck.clear()
        turns._hand_over(turns._turn)
    assert turns._at_locks < 0.01


def test_other_threads_run_within_a_line_in_every_third_schedule() -> None:
    """A count that is read and written in one line loses some, too."""
    lost = set()
    for seed in range(48):
        count = [0]

        def add(count: list[int] = count) -> None:
            count[0] = count[0] + 1

        at_once([add] * 4, seed=seed)
        if count[0] < 4:
            lost.add(seed % 3)
    assert 2 in lost


def test_who_waits_for_what_another_thread_holds_does_not_stop_it() -> None:
    lock, held = threading.Lock(), 0

    def hold() -> None:
        nonlocal held
        for _ in range(10):
            with lock:
                held += 1
                held += 1

    for seed in range(12):
        held = 0
        at_once([hold] * 4, seed=seed)
        assert held == 80


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 2])
def test_who_computes_for_long_is_slowed_down_by_turns_for_a_while_and_does_not_hang(seed: int) -> None:
    def compute() -> int:
        number = 0
        for each in range(2_000_000):  # lines, at each of which a turn may end: seconds, if it went on so
            number += each
        return number

    assert at_once([compute] * 2, seed=seed, limit=1.0) == [1999999000000] * 2


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 2])
def test_a_crowd_behind_one_lock_is_slow_and_no_hang(seed: int) -> None:
    lock, held = threading.Lock(), [0]

    def hold() -> None:
        with lock:
            for _ in range(20):
                held[0] += 1

    at_once([hold] * 300, seed=seed, limit=2)
    assert held == [6000]


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("my_jobs.py", True),
        (str(Path(__file__)), True),
        (threading.__file__, False),
        (pytest.__file__, False),
        (adapter_module.__file__, False),
        ("<string>", False),
    ],
)
def test_own_code_is_neither_a_library_nor_the_kit(file: str, own: bool) -> None:
    assert is_own(file) == own
    assert is_own(file, frozenset({file}))


def test_the_kit_is_no_system_whichever_part_of_it_is_imported_first() -> None:
    first = (
        "from conformance.system.tracing import is_own; import statemachines.rows as rows; print(is_own(rows.__file__))"
    )
    ran = subprocess.run([sys.executable, "-c", first], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


# --- whether a thread waits: on a busy machine one that does not run yet must not be taken for one that cannot ---

OFTEN = 100_000
NOBODY = 0  # no thread has this id; one that was joined may still be there for the kernel
KNOWN = sys.platform == "linux"  # elsewhere nobody tells, and each thread is taken to wait


@contextmanager
def thread_with(work: Callable[[threading.Event], object]) -> Iterator[int]:
    """A thread, by its native id, while it does some work, until it is told to stop."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,))
    thread.start()
    assert thread.native_id is not None
    try:
        yield thread.native_id
    finally:
        over.set()
        thread.join()


def compute(over: threading.Event) -> None:
    while not over.is_set():
        hashlib.pbkdf2_hmac("sha256", b"x", b"x", 100_000)  # others can run meanwhile


@pytest.mark.parametrize(
    ("work", "expected"), [(threading.Event.wait, True), (compute, not KNOWN)], ids=["waits", "computes"]
)
def test_a_thread_that_computes_does_not_wait(work: Callable[[threading.Event], object], expected: bool) -> None:
    with thread_with(work) as thread:
        assert any(waits(thread) is expected for _ in range(OFTEN))


def test_a_thread_that_is_not_there_is_taken_to_wait() -> None:
    assert waits(NOBODY)


# --- rows -------------------------------------------------------------------------------------------------

AT_ONCE = ["B1", "B4", "E6", "X6"]


def in_turn(
    bodies: Sequence[Callable[[], Any]],
    seed: int,
    own: frozenset[str],
    limit: float,
    progress: Callable[[], int],
    blocking: set[Place],
    watch: Callable[[bool], object] | None,
) -> list[Any]:
    """What a kit that cannot run anything at once would do."""
    return [body() for body in bodies]


@pytest.mark.thorough
@pytest.mark.parametrize("row", AT_ONCE)
def test_a_row_whose_calls_never_overlap_is_not_exercised(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter_module, "run_at_once", in_turn)
    result = row_result(REFERENCE, row, quick=True)
    assert (result.verdict, result.reason) == (
        Verdict.NOT_EXERCISED,
        "the calls made at once never overlapped",
    )
    assert (result.overlaps, result.runs > 1) == (0, True)


@pytest.mark.thorough
@pytest.mark.parametrize(("row", "runs"), [("E6", USUAL.schedules_of_all), ("X7", USUAL.schedules)])
def test_combinations_of_values_share_the_schedules(row: str, runs: int) -> None:
    """E6 has eight combinations, and X7 has one."""
    assert row_result(REFERENCE, row).runs == runs


@pytest.mark.thorough
@pytest.mark.parametrize("row", AT_ONCE)
def test_a_row_goes_on_until_its_calls_overlap(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = itertools.count()

    def late(*arguments: Any) -> list[Any]:
        return (in_turn if next(groups) < USUAL.more_schedules // 2 else run_at_once)(*arguments)

    monkeypatch.setattr(adapter_module, "run_at_once", late)
    result = row_result(REFERENCE, row, quick=True)
    assert (result.verdict, result.overlaps > 0) == (Verdict.PASS, True)


@pytest.mark.thorough
@pytest.mark.parametrize("row", AT_ONCE)
@pytest.mark.parametrize("system", [pytest.param(REFERENCE, marks=pytest.mark.soak), SqliteJobs, ActorJobs])
def test_a_row_whose_calls_overlap_says_how_many_did(system: type, row: str) -> None:
    result = row_result(system, row)
    assert (result.verdict, result.overlaps > 0) == (Verdict.PASS, True)


def test_without_concurrency_calls_come_in_turn_and_that_is_enough_where_none_is_needed() -> None:
    result = row_result(RealClockJobs, "B1")
    assert (result.verdict, result.overlaps) == (Verdict.PASS, 0)


def test_the_calls_of_one_caller_keep_their_order_and_all_are_recorded() -> None:
    with adapted(REFERENCE) as adapter:
        case = Case(thread_job(), adapter, seed=3)

        def caller(name: str) -> list[str]:
            given = [{"thread": "t1", "tool_call": f"{name}{n}", "tool": "bash"} for n in range(5)]
            return [case.call("start", each).value["job_id"] for each in given]

        found = case.together([lambda name=name: caller(name) for name in "abc"])  # type: ignore[misc]  # a default binds it
    assert case.finding is None
    assert len({job for jobs in found for job in jobs}) == 15
    (history,) = case.trace
    assert isinstance(history, History)
    assert [[call.given["job_id"] for call in calls] for calls in history.callers] == found
    assert (case.groups, case.overlaps > 0) == (1, True)


class AloneActorJobs(ActorJobs):
    """An async system whose calls must not be made at once."""

    declares: ClassVar[dict[str, Any]] = {**ActorJobs.declares, "concurrency": "none"}


@pytest.mark.thorough
def test_what_an_async_system_signals_in_calls_one_after_the_other_is_that_of_all_of_them() -> None:
    code, results = whole_run(AloneActorJobs, quick=True, only=["E6", "X13", "B1", "machine"])
    assert code == EXIT_CONFORMS, [each.reason for each in results]
