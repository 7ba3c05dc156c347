"""Calls with the model's answers as rows: `check` accepts them, and they assert what every right system answers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from statemachines.checks import NoRow, RowsOfAnswers, new_names, steps_of
from statemachines.rows import Call, Trace
from tests.checking import check_text, compile_text

SHOP = """
lifecycle: shop
version: 1
about: Orders are placed, paid, and forgotten.
limits:
  kept:   {default: 9}
  longest: {default: 5, optional: true}
policies:
  polite: {one of: [yes, no], default: yes}
types:
  Label: {text: fresh or reused}
  Note: {text: around, bytes: limits.longest}
  Told: {record: {paid: bool, at: time | null, label: Label}}
entities:
  Order:
    id: minted
    missing: unchanged
    fields:
      label: Label
      at:    {type: time | null, default: null}
    states: {active: [placed], terminal: [paid]}
    retain: {newest: limits.kept, of: terminal, by: [order.completion]}
signals:
  Thanks: {label: Label}
operations:
  place:
    takes: {label: Label}
    create: {Order: {label: label}}
    gives: {id: order.id, label: order.label}
  pay:
    takes: {order: Order}
    move: placed -> paid
    set: {order.at: now}
    otherwise: refused over
    signal: {Thanks: {with: {label: order.label}}}
  greet:
    takes: {}
    gives: if policies.polite == yes then 'welcome' else 'hm'
  look:
    takes: {order: Order}
    gives: Told(order.terminal, order.at, order.label)
  all:
    optional: true
    takes: {}
    gives: orders.map(o, o.label)
  echo:
    takes: {note: Note}
    gives: {note: 'document(note, limits.longest, null)'}
  guess:
    takes: {order: Order}
    unsaid: order.state == placed
    gives: 1
on its own:
  leave:
    for each: {order: Order}
    when: order.terminal && now >= 60000
    remove: order
matrix:
  N1:
    about: Somebody is greeted.
    level: must
    source: the source
    covers: [operations.greet.gives]
    needs: policies.polite == yes
    act: [last = greet()]
    assert: last == 'welcome'
"""


def writer() -> RowsOfAnswers:
    return RowsOfAnswers(compile_text(SHOP, "spec.yaml"))


def row(*calls: tuple[str, Mapping[str, object]], every: bool = False, **limits: int) -> str:
    rows = writer()
    made = [Call(number, name, tuple(given.items())) for number, (name, given) in enumerate(calls, 1)]
    return rows.row(rows.answered(made, limits), "W1", "What is answered.", "a test", every=every)


def claims(text: str) -> list[str]:
    return [line.strip(" -") for line in text.partition("assert:\n")[2].splitlines()]


def faults(text: str) -> list[str]:
    body = "".join(f"  {line}\n" for line in text.splitlines())
    found = check_text(SHOP + body, "spec.yaml").diagnostics
    return [each.render() for each in found if "W1" in each.message]


PLACE = ("place", {"label": "a"})
PAY = ("pay", {"order": "order-1"})
LOOK = ("look", {"order": "order-1"})


def test_a_row_asserts_what_the_last_call_is_answered_and_check_accepts_it() -> None:
    text = row(PLACE, PAY)
    assert "last = pay(order.id)" in text
    assert claims(text) == ["last.refused == null", "last.signals.Thanks.size() == 1"]
    assert faults(text) == []


def test_a_refusal_is_asserted_with_its_code() -> None:
    assert claims(row(PLACE, PAY, PAY)) == ["last.refused == over"]


def test_each_field_is_asserted_but_ids_that_are_chosen_and_instants() -> None:
    text = row(PLACE, PAY, LOOK)
    assert claims(text) == ["last.paid == true", "last.at != null", "last.label == label"]
    assert faults(text) == []


def test_every_call_is_asserted_where_that_is_asked_for() -> None:
    text = row(PLACE, PAY, LOOK, every=True)
    assert "reply = pay(order.id)" in text
    assert {"order.label == label", "reply.refused == null", "last.paid == true"} <= set(claims(text))
    assert faults(text) == []


def test_what_a_policy_decides_is_asserted_with_that_policy_as_a_need() -> None:
    text = row(("greet", {}))
    assert "policies.polite == yes" in text
    assert claims(text) == ["last == 'welcome'"]
    assert faults(text) == []


def test_what_a_small_limit_makes_is_asserted_with_that_limit_as_a_need() -> None:
    text = row(PLACE, ("pay", {"order": "order-1"}), LOOK, kept=0)
    assert "limits.kept == 0" in text
    assert faults(text) == []


def test_a_limit_that_a_row_does_not_read_is_no_need_of_it() -> None:
    assert "needs" not in row(PLACE, kept=1)


def test_what_may_be_answered_in_several_ways_is_not_asserted() -> None:
    text = row(("look", {"order": "nobody"}))
    assert claims(text) == ["true"]
    assert faults(text) == []


def test_a_list_and_a_document_are_asserted() -> None:
    assert claims(row(PLACE, ("all", {}))) == ["last.size() == 1", "last[0] == label"]
    assert "- all" in row(PLACE, ("all", {}))
    text = row(("echo", {"note": "x"}))
    assert claims(text) == ["last.note.inline == true && last.note.text == 'x'"]
    assert faults(text) == []


def test_a_row_that_waits_needs_a_clock() -> None:
    text = row(PLACE, ("wait", {"ms": 5}), PAY)
    assert "- clock" in text
    assert faults(text) == []


def test_what_nobody_asks_and_what_the_system_does_by_itself_is_no_row() -> None:
    with pytest.raises(NoRow, match="leaves open"):
        row(PLACE, ("guess", {"order": "order-1"}))
    with pytest.raises(NoRow, match="by itself"):
        row(PLACE, PAY, ("on its own.leave", {"order": "order-1"}))


def test_what_the_spec_has_no_clause_about_is_no_row() -> None:
    with pytest.raises(NoRow, match="no clause"):
        row(("wait", {"ms": 1}))


def test_new_names_are_those_that_no_row_has() -> None:
    names = new_names(["W1", "N1"], "W")
    assert [next(names), next(names)] == ["W2", "W3"]


def test_steps_that_the_system_takes_by_itself_are_comments() -> None:
    way = Trace(
        (
            Call(1, "place", (("label", "a"),)),
            Call(2, "pay", (("order", "order-1"),)),
            Call(3, "on its own.leave", (("order", "order-1"),)),
        )
    )
    assert steps_of(compile_text(SHOP, "spec.yaml"), way, {})[-1].startswith("# the implementation takes leave(")
