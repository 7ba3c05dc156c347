"""A field that is set only under a condition: what it reads, when it stays, and when its clause is witnessed."""

from __future__ import annotations

from typing import Any

import pytest

from statemachines.bounds import USUAL
from tests.checking import check_text, codes, compile_text

SPEC = """\
lifecycle: small
version: 1
about: Two numbers of a counter change under conditions.
variables:
  limit: {type: int, default: 2}
entities:
  Counter:
    fixed: [c]
    fields:
      low:   {type: int, default: 0}
      high:  {type: int, default: 5}
      since: int | null
operations:
  step:
    takes: {counter: Counter, by: int}
    set:
      counter.low:   {when: counter.low + by <= limit, to: counter.low + by}
      counter.high:  {when: counter.low == 0, to: counter.low + counter.high}
      counter.since: {when: counter.since == null, to: by}
      limit:         {when: counter.since != null && counter.since > 1, to: 9 / by}
  look:
    takes: {counter: Counter}
    gives: {low: counter.low, high: counter.high, since: counter.since, limit: limit}
matrix:
  N1:
    about: The low number rises up to its limit, and the high one stays.
    level: must
    source: the test
    covers: [operations.step, operations.look.gives]
    act:
      - step(c, 2)
      - step(c, 2)
    assert: look(c).low == 2 && look(c).high == 5 && look(c).since == 2 && look(c).limit == 4
"""


def steps(*by: int) -> Any:
    """Take steps on a new model; give what the last one left."""
    model: Any = compile_text(SPEC, "small.yaml").model()
    for number in by:
        model.seen[:] = bytes(len(model.seen))
        model.do_step("c", number)
    return model


def numbers(model: Any) -> tuple[Any, ...]:
    counter = model.counters["c"]
    return counter.low, counter.high, counter.since, model.limit


@pytest.mark.parametrize(
    ("by", "left"),
    [
        ((), (0, 5, None, 2)),
        ((2,), (2, 5, 2, 2)),
        ((3,), (0, 5, 3, 2)),
        ((3, 3), (0, 5, 3, 3)),
        ((3, 3, 3), (3, 5, 3, 3)),
        ((1, 1, 1), (2, 5, 1, 2)),
    ],
)
def test_a_field_keeps_its_value_where_its_condition_does_not_hold(by: tuple[int, ...], left: tuple[Any, ...]) -> None:
    assert numbers(steps(*by)) == left


def test_conditions_and_values_read_what_was_before_the_step() -> None:
    model = steps(2)
    assert model.counters["c"].high == 5  # not 7: the low number was 0 when the step began
    assert steps(0, 0).limit == 2  # 9 / 0 is never worked out


def test_the_clause_is_witnessed_only_where_the_field_is_set() -> None:
    paths = [f"operations.step.set.counter.{name}" for name in ("low", "high", "since")]
    assert set(paths) <= steps(2).witnessed()
    assert steps(2, 2).witnessed().isdisjoint(paths)


def test_the_checker_finds_the_spec_right_and_misses_a_condition_that_never_holds() -> None:
    assert check_text(SPEC, "small.yaml").right
    never = SPEC.replace("when: counter.low == 0, to", "when: counter.low > 9, to")
    found = [(each.code, each.where.line) for each in check_text(never, "small.yaml").diagnostics]
    assert found == [("dead-clause", 18)]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ("{when: counter.since == null}", "missing-word"),
        ("{to: by}", "missing-word"),
        ("{when: counter.since == null, to: by, otherwise: 1}", "unknown-word"),
        ("{when: by, to: by}", "expression-type"),
        ("{when: counter.since == null, to: true}", "expression-type"),
        ("{when: counter.since == null, to: counter.since + 1}", "expression-type"),
        ("{when: by == 1, to: null}", ""),
    ],
)
def test_what_can_stand_there(wrong: str, code: str) -> None:
    text = SPEC.replace("{when: counter.since == null, to: by}", wrong)
    assert codes(text, USUAL.quick()) - {"row-fails"} == ({code} if code else set())
