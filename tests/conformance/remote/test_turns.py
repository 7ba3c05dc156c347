"""The turns of calls that tell of points, with parties that are made up: a few threads without any system."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from conformance.remote.turns import HeldCalls
from conformance.system import started

LIMIT = 30.0  # seconds, however busy the machine is


class Parties:
    """Parties that make one call each, and what they did in order."""

    def __init__(self, parties: Sequence[Callable[[Parties, int], None]], seed: int, seconds: float = LIMIT) -> None:
        self.turns = HeldCalls(len(parties), seed, seconds)
        self.did: list[str] = []
        self._parties = parties

    def run(self) -> Parties:
        """Let all of them make their calls."""
        threads = [
            threading.Thread(target=partial(self._make, *each), daemon=True) for each in enumerate(self._parties)
        ]
        for thread in threads:
            thread.start()
        self.turns.run()
        for thread in threads:
            thread.join(LIMIT)
            assert not thread.is_alive()
        return self

    def _make(self, party: int, call: Callable[[Parties, int], None]) -> None:
        self.turns.begin(party)
        self.turns.sent(party, 100 + party)
        call(self, party)
        self.turns.came_back(party)
        self.turns.end(party)

    def point(self, party: int, at: str) -> None:
        """Come to a point, and go on."""
        going = threading.Event()
        self.turns.point(100 + party, going.set)
        assert going.wait(LIMIT)
        self.did.append(f"{party}{at}")


def reads_and_writes(parties: Parties, party: int) -> None:
    parties.point(party, "r")
    parties.point(party, "w")


def silent(parties: Parties, party: int) -> None:
    parties.did.append(f"{party}")


def test_a_seed_chooses_the_order_and_the_same_one_the_same() -> None:
    orders = [[tuple(Parties([reads_and_writes] * 3, seed).run().did) for seed in range(30)] for _ in range(2)]
    assert orders[0] == orders[1]
    assert len({*orders[0]}) > 8
    for order in orders[0]:
        assert all(order.index(f"{party}r") < order.index(f"{party}w") for party in range(3))


def test_one_call_at_a_time_goes_on() -> None:
    inside: list[int] = []
    most: list[int] = []

    def call(parties: Parties, party: int) -> None:
        for at in "abc":
            parties.point(party, at)
            inside.append(party)
            most.append(len(inside))
            inside.remove(party)

    for seed in range(10):
        Parties([call] * 3, seed).run()
    assert max(most) == 1


def test_calls_overlap_where_one_goes_on_in_the_midst_of_another() -> None:
    found = [Parties([reads_and_writes] * 2, seed).run() for seed in range(20)]
    for each in found:
        one_by_one = each.did in (["0r", "0w", "1r", "1w"], ["1r", "1w", "0r", "0w"])
        assert each.turns.overlapped or one_by_one
        assert each.turns.overlapped <= {100, 101}
    assert any(each.turns.overlapped for each in found)
    assert not all(each.turns.overlapped for each in found)


def test_without_points_nothing_is_seen_to_overlap() -> None:
    assert not any(Parties([silent] * 3, seed).run().turns.overlapped for seed in range(5))


def test_a_call_that_waits_for_what_another_one_holds_is_passed_over() -> None:
    lock = threading.Lock()

    def locked(parties: Parties, party: int) -> None:
        parties.point(party, "a")
        with lock:
            parties.point(party, "b")
            parties.did.append(f"{party}c")

    for seed in range(10):
        did = Parties([locked] * 3, seed).run().did
        held = [step for step in did if step[1] in "bc"]
        assert [step[0] for step in held[::2]] == [step[0] for step in held[1::2]]


def test_calls_that_wait_for_each_other_for_ever_all_go_on_in_the_end() -> None:
    """The kit must not be what keeps them: that they hang, the time limit of a call tells."""
    meeting = threading.Barrier(2)

    def meets(parties: Parties, party: int) -> None:
        parties.point(party, "a")
        meeting.wait(LIMIT)
        parties.point(party, "b")

    assert sorted(Parties([meets, meets], 0).run().did) == ["0a", "0b", "1a", "1b"]


def test_when_the_time_is_over_all_go_on() -> None:
    assert len(Parties([reads_and_writes] * 4, 1, seconds=0).run().did) == 8


def test_a_point_of_a_worker_or_of_a_call_of_nobody_goes_on_at_once() -> None:
    turns = HeldCalls(1, 0, LIMIT)
    went: list[str] = []
    turns.point(None, lambda: went.append("worker"))
    turns.point(7, lambda: went.append("somebody"))
    assert went == ["worker", "somebody"]


def test_a_call_that_comes_to_two_points_at_once_goes_on_at_both() -> None:
    def forks(parties: Parties, party: int) -> None:
        both = [threading.Thread(target=parties.point, args=(party, at), daemon=True) for at in "ab"]
        for each in both:
            each.start()
        for each in both:
            each.join(LIMIT)

    assert sorted(Parties([forks, reads_and_writes], 3).run().did) == ["0a", "0b", "1r", "1w"]


def test_who_is_held_goes_on_when_whoever_chooses_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = HeldCalls(1, 0, LIMIT)

    def interrupted(seconds: float) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(turns._changed, "wait", interrupted)
    went = threading.Event()
    turns._running.add(1)  # or it would be chosen at once

    def begins() -> None:
        turns.begin(0)
        went.set()

    thread = threading.Thread(target=begins, daemon=True)
    with turns._changed:
        thread.start()
    with pytest.raises(KeyboardInterrupt):
        turns.run()
    assert went.wait(LIMIT)
    thread.join(LIMIT)


def test_bodies_start_together_and_their_errors_are_kept() -> None:
    together = threading.Barrier(3)

    def body(number: int) -> int:
        together.wait(LIMIT)
        if number == 1:
            raise ValueError(number)
        return number

    threads, results = started([partial(body, each) for each in range(3)], lambda number: contextlib.nullcontext())
    for thread in threads:
        thread.join(LIMIT)
    assert [results[0].result(), results[2].result()] == [0, 2]
    assert isinstance(results[1].exception(), ValueError)


def test_a_call_that_waits_for_the_clock_is_in_the_midst_of_those_that_go_on_meanwhile() -> None:
    waiting, over = threading.Event(), threading.Event()

    def waits(parties: Parties, party: int) -> None:
        parties.turns.waits(100 + party)
        waiting.set()
        assert over.wait(LIMIT)

    def goes_on(parties: Parties, party: int) -> None:
        assert waiting.wait(LIMIT)
        parties.point(party, "r")
        over.set()

    turns = Parties([waits, goes_on], seed=1).run().turns
    assert turns.overlapped == {100, 101}
    assert turns.pointed


def test_a_call_that_comes_back_before_the_next_is_made_overlaps_none_although_it_waited() -> None:
    turns = HeldCalls(2, 1, LIMIT)
    turns.sent(0, 100)
    turns.waits(100)
    turns.came_back(0)
    turns.sent(1, 101)
    assert turns.overlapped == set()
