"""The numbers with which a rule compares what a caller gave, wherever it was kept until then."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from conformance.search.stateful import Driver
from conformance.stand_ins import model_system
from statemachines.compile import load
from statemachines.explore import choosers, numbers_compared, numbers_held
from tests.checking import compile_text
from tests.conformance.systems import adapted

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


LEASES = """
lifecycle: leases
version: 1
about: A mail is leased, each time with the next number; who gives that number holds it.
limits:
  rounds: {default: 99}
variables:
  round: {type: int, default: 7}
entities:
  Mail:
    id: minted
    fields: {tries: {type: int, default: 0}, failed_at: {type: time | null, default: null}}
    after:
      there: {in: 10 * mail.tries, since: mail.failed_at, set: {mail.failed_at: null}}
      kept:  {in: 10, since: mail.failed_at, set: {mail.failed_at: null}}
    states: {active: [there, kept]}
define:
  is_held(mail, number): mail.tries == number && number < 1000 - mail.tries
  now_is(number): if number < limits.rounds then 1 else 2
operations:
  post:
    create: {Mail: {}}
    gives: {mail_id: mail.id}
  lease:
    takes: {mail: Mail}
    missing: refused
    set: {mail.tries: mail.tries + 1}
  fail:
    takes: {mail: Mail, attempt: int, other: int, exact: {from: 0, to: 9}}
    missing: refused
    requires: {lost: "is_held(mail, attempt) && mail.tries == exact"}
    set: {mail.failed_at: now}
  begin:
    takes: {number: int}
    only if: round < number && number != limits.rounds && number + 1 != now_is(number)
    set: {round: number}
matrix: {}
"""


def test_what_a_caller_has_to_know_of_a_record_is_tried() -> None:
    compiled = compile_text(LEASES, "leases.yaml")
    model: Any = compiled.model()
    for _ in range(2):
        model.do("post", {})
    mail, _ = model.mails
    for _ in range(12):
        model.do("lease", {"mail": mail})
    held = numbers_held(compiled)
    assert {place: known(model) for place, known in held.items()} == {
        ("fail", "attempt"): [12, 0],
        ("begin", "number"): [7],
    }
    fail = compiled.kernel.operation("fail")
    _, attempt, unheld, exact = (list(each(model)) for each in choosers(compiled, fail, {}))
    assert (attempt, unheld, exact) == ([0, 1, 12], [0, 1], [0, 9])
    model.do("begin", {"number": 30})
    assert held["begin", "number"](model) == [30]


def test_a_search_gives_what_a_record_holds_more_often_than_any_other_number() -> None:
    compiled, chooser = compile_text(LEASES, "leases.yaml"), random.Random(0)
    with adapted(model_system(compiled), compiled) as adapter:
        driver = Driver(compiled, adapter)
        driver.make("post", {})
        model: Any = driver.case.judge.model
        (mail,) = model.mails
        for _ in range(12):
            driver.make("lease", {"mail": mail})
        drawn = Counter((driver.drawn("fail", chooser, tries=1) or {})["attempt"] for _ in range(400))
    assert drawn.most_common(1)[0][0] == 12
    assert drawn[12] > 3 * drawn[1] > 0
