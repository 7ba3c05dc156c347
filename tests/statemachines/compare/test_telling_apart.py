"""What tells two models of one life cycle apart: the shortest calls, where there are any."""

from __future__ import annotations

from typing import Any

import pytest

from statemachines.compare import ModelComparison, Parting
from statemachines.compile import Compiled
from statemachines.mutants import mutants
from tests.checking import compile_text

TEXT = """
lifecycle: errands
version: 1
about: An errand is begun, told of, and ends; who asks for it later hears how far it came.
policies:
  polite: {one of: [yes, no], default: yes}
entities:
  Errand:
    id: minted
    fields:
      began:  time
      noted:  {type: bool, default: false}
      unread: {type: bool, default: false}
      far:    {type: int, default: 0}
      long:   {type: int, default: 0}
    states: {active: [going], terminal: [over]}
    after:
      going: {in: 50, since: errand.began, move: over}
types:
  Distance: {record: {far: int, long: int}}
  Told:     {record: {far: int, long: int, state: Errand.state, noted: bool}}
operations:
  begin:
    about: An errand begins.
    create:
      Errand: {began: now}
    gives: errand.id
  note:
    about: Somebody writes it down.
    takes: {errand: Errand}
    set: {errand.noted: "policies.polite == yes", errand.unread: true}
  go:
    about: It goes on, so far and so long.
    takes: {errand: Errand, by: Distance}
    requires: {over: errand.state == going}
    set: {errand.far: by.far, errand.long: by.long}
  look:
    about: What is known of it.
    takes: {errand: Errand}
    gives: Told(errand.far, errand.long, errand.state, errand.noted)
"""


@pytest.fixture(scope="module")
def errands() -> Compiled:
    return compile_text(TEXT, "spec.yaml")


def partings(spec: Compiled, clause: str, does: str, policies: dict[str, Any] | None = None) -> list[Parting]:
    (mutant,) = (each for each in mutants(spec.kernel) if each.clause == clause and does in each.does)
    return [*ModelComparison(spec, policies).partings(Compiled(spec.lifecycle, mutant.kernel, spec.words))]


def calls(parting: Parting) -> list[str]:
    assert parting.trace is not None
    return [each.operation for each in parting.trace.calls()]


def test_a_field_that_nobody_reads_tells_nothing_apart(errands: Compiled) -> None:
    assert partings(errands, "operations.note.set.errand.unread", "does not do it") == []


def test_a_field_that_a_later_reply_shows_is_told_apart_by_that_reply(errands: Compiled) -> None:
    first, *_ = partings(errands, "operations.note.set.errand.noted", "does not do it")
    assert calls(first) == ["begin", "note", "look"]
    assert (first.one.reply["noted"], first.other.reply["noted"]) == (True, False)


def test_two_numbers_that_are_mixed_up_are_told_apart_although_the_usual_ones_are_equal(errands: Compiled) -> None:
    found = partings(errands, "operations.look.gives", "`errand.long` in place of `errand.far`")
    assert [calls(each) for each in found[:1]] == [["begin", "go", "look"]]


def test_time_that_passes_tells_timers_apart(errands: Compiled) -> None:
    first, *_ = partings(errands, "entities.Errand.after.going", "a millisecond late")
    assert "wait" in calls(first)
    assert len(calls(first)) == 3


def test_another_choice_of_a_policy_tells_apart_what_the_default_does_not(errands: Compiled) -> None:
    clause, opposite = "operations.note.set.errand.noted", "!="
    by_default = partings(errands, clause, opposite)
    otherwise = partings(errands, clause, opposite, {"polite": "no"})
    assert [each[0].one.reply["noted"] for each in (by_default, otherwise)] == [True, False]


def test_a_spec_is_no_other_than_itself(errands: Compiled) -> None:
    assert [*ModelComparison(errands).partings(errands)] == []
