"""The instants that searches wait for: those of timers, and what a rule adds to an instant that a record knows."""

from __future__ import annotations

import random
from typing import Any, cast

import pytest

from conformance.search.stateful import Driver
from statemachines.explore.instants import RECORDS, TIMER, Instants
from tests.checking import compile_text
from tests.conformance.lifecycles import SUITES
from tests.conformance.systems import adapted
from tests.statemachines.explore.test_numbers import LEASES

LAMPS = """\
lifecycle: lamps
version: 1
about: A lamp burns for a while, and is looked at.
limits:
  burning: {default: 50}
  cooling: {default: null, optional: true}
entities:
  Lamp:
    id: minted
    fields: {lit_at: time, moved_at: {type: time | null, default: null}}
    shows: {lamp_id: lamp.id, glows: glows(lamp)}
define:
  glows(lamp): now < lamp.lit_at + limits.burning || now + 7 < lamp.lit_at
  warm(lamp): limits.cooling != null && now < lamp.lit_at + limits.burning + limits.cooling
operations:
  light:
    create: {Lamp: {lit_at: now}}
    gives: {lamp_id: lamp.id}
  touch:
    takes: {lamp: Lamp}
    missing: refused
    only if: warm(lamp)
    gives: lamp
"""


@pytest.mark.parametrize(("cooling", "more"), [(None, ()), (30, (80,))])
def test_what_a_rule_adds_to_an_instant_is_waited_for(cooling: int | None, more: tuple[int, ...]) -> None:
    compiled = compile_text(LAMPS, "lamps.yaml")
    instants, model = Instants(compiled), compiled.model({"cooling": cooling})
    assert instants.waits(model) == []
    model.do("light", {})
    assert [*instants.coming(model)] == [7, 50, *more], "7 ms is added to now, and may be to what a lamp knows"
    model.wait(20)
    assert [*instants.coming(model)] == [30, *(each - 20 for each in more)]
    assert instants.waits(model)[:5] == [15, 20, 29, 30, 31]


@pytest.mark.parametrize(
    ("rule", "until"),
    [
        ("now - lamp.lit_at >= limits.burning", [7, 50]),
        ("limits.burning + 5 < now - lamp.lit_at", [7, 55]),
        ("now - lamp.lit_at >= lamp.lit_at - now", [7]),
        ("now - limits.burning < lamp.lit_at", [7]),
    ],
)
def test_what_the_time_between_two_instants_is_compared_with_is_waited_for(rule: str, until: list[int]) -> None:
    text = LAMPS.replace("now < lamp.lit_at + limits.burning ||", f"{rule} ||").replace(
        "warm(lamp): limits.cooling != null && now < lamp.lit_at + limits.burning + limits.cooling", "warm(lamp): true"
    )
    compiled = compile_text(text, "lamps.yaml")
    instants, model = Instants(compiled), compiled.model()
    model.do("light", {})
    assert [*instants.coming(model)] == until


def test_only_instants_that_the_last_records_know_are_waited_for_and_none_that_is_not_there() -> None:
    compiled = compile_text(LAMPS, "lamps.yaml")
    instants, model = Instants(compiled), compiled.model()
    for _ in range(RECORDS + 1):
        model.do("light", {})
        model.wait(1)
    assert len(instants.coming(model)) == 2 * RECORDS, (
        "of each of them two; what comes of the first lamp is not waited for"
    )


def test_instants_that_only_one_of_two_specs_knows_are_those_of_its_own_rules() -> None:
    one, other = (
        Instants(compile_text(text, "lamps.yaml")) for text in (LAMPS, LAMPS.replace("now + 7 <", "now + 9 <"))
    )
    model = compile_text(LAMPS, "lamps.yaml").model()
    model.do("light", {})
    assert [[*each.coming(model)] for each in (one.but(other), other.but(one), one.but(one))] == [[7], [9], []]


def test_timers_are_waited_for() -> None:
    suite, chooser = SUITES["local-agent"], random.Random(0)
    with adapted(suite.reference, suite.compiled) as adapter:
        driver, instants = Driver(suite.compiled, adapter), Instants(suite.compiled)
        model: Any = driver.case.judge.model.fork()
        names = [each.name for each in suite.compiled.kernel.operations]
        while not model.deadlines():
            name = chooser.choice(names)
            given = next(driver.draws_for(model, name, chooser))
            decision = model.decide(name, given) if given is not None else None
            if decision is not None and decision.accept and not decision.blocks:
                model.do(name, given)
        ends = {end - model.now for first, last, _, _ in model.deadlines() for end in (first, last)}
        assert {ms for ms, of in instants.coming(model).items() if of[0] == TIMER} == ends
        assert {each + away for each in ends for away in (-1, 0, 1)} - {0, -1} <= {*instants.waits(model)}
        assert not instants.but(instants).are_there, "timers are of both"


def test_a_rule_that_reads_the_clock_where_no_timer_is_has_its_instants() -> None:
    durations = Instants(SUITES["cli-job"].compiled)._durations
    assert {("timeout",), ("timeout", "settle"), ("timeout", "kept")} <= {*durations}


def test_a_timer_that_took_another_time_is_told_apart_where_that_hangs_on_the_record() -> None:
    compiled = compile_text(LEASES, "leases.yaml")
    instants, model = Instants(compiled), cast("Any", compiled.model())
    model.do("post", {})
    (mail,) = model.mails
    seen = []
    for tries in (1, 2):
        model.do("lease", {"mail": mail})
        model.do("fail", {"mail": mail, "attempt": tries, "other": 0, "exact": tries})
        seen += [each for each in instants.coming(model).items() if each[1][0] == TIMER]
        model.wait(30)
    model.mails[mail].state = "kept"
    model.do("fail", {"mail": mail, "attempt": 2, "other": 0, "exact": 2})
    assert seen == [(10, (TIMER, (0, 10))), (20, (TIMER, (0, 20)))]
    assert instants.coming(model) == {10: (TIMER, 1)}
