"""Orders that are open, and what a look leaves of them: beside all the orders written out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.transcripts import Unordered


def unordered(count: int, pairs: set[tuple[int, int]]) -> Unordered:
    """So many messages, of which some come before others: places in growing pairs, and what follows from them."""
    before: list[frozenset[int]] = []
    for place in range(count):
        direct = {earlier for earlier, later in pairs if later == place}
        before.append(frozenset(direct).union(*(before[each] for each in direct)))
    return Unordered("Ended", 0, tuple(before))


def all_orders(stretch: Unordered) -> set[tuple[int, ...]]:
    """Every order of the places that keeps what comes before what."""
    places = range(len(stretch.before))
    return {
        order
        for order in itertools.permutations(places)
        if all(stretch.before[each] <= set(order[:number]) for number, each in enumerate(order))
    }


@st.composite
def stretches(draw: st.DrawFn) -> Unordered:
    count = draw(st.integers(0, 5))
    pairs = list(itertools.combinations(range(count), 2))
    chosen = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    return unordered(count, chosen)


@given(stretches(), st.data())
def test_what_a_look_tells_leaves_the_orders_that_show_it(stretch: Unordered, data: st.DataObject) -> None:
    seen = tuple(data.draw(st.permutations(range(len(stretch.before)))))[: data.draw(st.integers(0, 5))]
    orders = all_orders(stretch)
    shown = {tuple(each for each in order if each in seen) for order in orders}
    found = stretch.order_among([[each] for each in seen])
    assert found == (seen if seen in shown else None)
    if found is not None:
        then, places = stretch.arranged(found)
        left = {tuple(places[each] for each in order) for order in all_orders(then)}
        assert left == {order for order in orders if tuple(each for each in order if each in seen) == seen}
        assert then.settled == (len(left) == 1)


@pytest.mark.parametrize(
    ("candidates", "found"),
    [
        ([[0, 1], [0]], (1, 0)),
        ([[0, 1], [1], [2]], (0, 1, 2)),
        ([[2], [0, 1], [0, 1]], None),
        ([[0], []], None),
    ],
)
def test_of_messages_that_read_the_same_each_is_shown_once(
    candidates: list[list[int]], found: tuple[int, ...] | None
) -> None:
    assert unordered(3, {(0, 2)}).order_among(candidates) == found
