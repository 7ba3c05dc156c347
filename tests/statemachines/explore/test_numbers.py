"""The numbers with which a rule compares what a caller gave, wherever it was kept until then."""

from __future__ import annotations

import pytest

from statemachines.compile import load
from statemachines.explore import numbers_compared
from tests.checking import compile_text

TANKS = """\
lifecycle: tanks
version: 1
about: A tank is filled to a level.
variables:
  chosen: {type: int, default: 0}
  other:  {type: int, default: 0}
entities:
  Tank:
    id: minted
    fields: {level: int, mark: int}
    shows: {tank_id: tank.id, full: tank.level >= 40, odd: twice(tank.mark + 1)}
define:
  usual(wanted): wanted in [11, 12]
  twice(once): usual(once)
operations:
  choose:
    takes: {number: int, apart: int}
    reads: {now_read: number}
    set:   {chosen: number, other: apart + 1}
  mark:
    takes: {tank: Tank, deep: int}
    reads: {sunk: deep}
    missing: refused
    set:   {tank.mark: {when: sunk != 30, to: deep}}
  fill:
    takes: {to: int, up: {from: 0, to: 9}}
    create: {Tank: {level: to, mark: if up > 5 then 1 else 0}}
    gives: {tank_id: tank.id}
  look:
    takes: {tank: Tank, limit: int}
    missing: refused
    only if: LOOKS
    gives: tank
matrix: {}
"""


@pytest.mark.parametrize(
    ("looks", "number", "to", "limit"),
    [
        ("chosen == 21", {21}, {40}, set()),
        ("22 < chosen", {22}, {40}, set()),
        ("usual(chosen)", {11, 12}, {40}, set()),
        ("twice(chosen)", {11, 12}, {40}, set()),
        ("other == 23", set(), {40}, set()),  # that is no longer what was given
        ("chosen + 1 == 24", set(), {40}, set()),
        ("tank.level != 25", set(), {25, 40}, set()),
        ("tank.mark < 31", set(), {40}, set()),
        ("limit <= 27", set(), {40}, {27}),
        ("chosen == limit", set(), {40}, set()),
    ],
)
def test_a_rule_that_compares_what_was_given_tells_numbers_worth_a_try(
    looks: str, number: set[int], to: set[int], limit: set[int]
) -> None:
    found = numbers_compared(compile_text(TANKS.replace("LOOKS", looks), "tanks.yaml"))
    places = {
        ("choose", "number"): number,
        ("choose", "apart"): set(),
        ("mark", "deep"): {30, 31} if "31" in looks else {30},
        ("fill", "to"): to,  # but not `up`, which has bounds
        ("look", "limit"): limit,
        ("", "chosen"): number,
        ("", "other"): {23} if "other" in looks else set(),
    }
    assert found == {place: sorted(numbers) for place, numbers in places.items() if numbers}


def test_a_setting_is_compared_where_it_matters_later() -> None:
    found = numbers_compared(load("job"))
    assert found["configure", "poll_wait"] == [5_000, 10_000, 30_000, 60_000, 300_000]
