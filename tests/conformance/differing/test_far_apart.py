"""Edits that only numbers, small limits or long rows show, and operations that only one revision has."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.differing import SpecDiff
from tests.conformance.differing.test_difference import difference

POST = """
lifecycle: post-office
version: 1
about: A post office takes letters, and sends them.
limits:
  waiting: {default: 30}
entities:
  Letter:
    id: minted
    fields:
      grams: int
      tries: {type: int, default: 0}
    states: {active: [taken, tried], terminal: [sent]}
operations:
  post:
    takes: {grams: int}
    requires: {too_many: "letters.filter(l, l.state == taken).size() < limits.waiting"}
    create: {Letter: {grams: grams}}
    gives: {id: letter.id}
  attempt:
    takes: {letter: Letter}
    requires: {over: letter.active}
    move: {taken: tried, tried: "if letter.tries > 6 then sent else tried"}
    set: {letter.tries: letter.tries + 1}
  look:
    takes: {letter: Letter}
    gives: {state: letter.state}
matrix:
  N1:
    about: A letter is sent when it was tried long enough.
    level: must
    source: the handbook
    covers: [operations.attempt.move]
    act:
      - one = post(1)
      - repeat(9, attempt(one.id))
    assert: look(one.id).state == sent
"""


def ways(found: SpecDiff) -> list[str]:
    return sorted(each.direction for each in found.together.witnesses)


@pytest.mark.parametrize(("before", "after"), [("<= 500", "<= 501"), ("<= 500", "< 500"), ("<= 500", "<= 900")])
def test_a_bound_that_is_another_number_is_no_small_difference(tmp_path: Path, before: str, after: str) -> None:
    old = POST.replace("requires: {too_many", f"requires: {{too_heavy: grams {before}, too_many")
    found = difference(tmp_path, (before, after), old=old)
    assert (found.grade, ways(found)) == ("breaking", ["less", "more"])


def test_a_limit_that_no_small_scope_comes_to_is_small_where_what_counts_towards_it_is_another_thing(
    tmp_path: Path,
) -> None:
    found = difference(tmp_path, ("l.state == taken", "l.active"), old=POST)
    assert (found.grade, ways(found)) == ("breaking", ["less", "more"])
    assert {each.words for each in found.together.witnesses} == {"waiting is 1"}


def test_what_only_comes_after_many_calls_is_seen_in_the_rows_of_either(tmp_path: Path) -> None:
    found = difference(tmp_path, ("letter.tries > 6", "letter.tries > 20"), old=POST)
    assert found.grade == "breaking"
    assert "less" in ways(found)


def test_a_row_that_has_faults_in_one_revision_is_not_played_there(tmp_path: Path) -> None:
    """Who takes a code out of the rules may not have taken it out of the rows yet."""
    strict = POST.replace("requires: {over: letter.active}", "otherwise: refused over").replace(
        "tries > 6", "tries > 0"
    )
    old = strict.replace("look(one.id).state == sent", "attempt(one.id).refused == over")
    found = difference(tmp_path, ("otherwise: refused over", "otherwise: unchanged"), old=old)
    assert (found.grade, ways(found)) == ("loosening", ["more"])


def test_a_creation_that_has_another_name_leaves_what_else_changed_to_be_seen(tmp_path: Path) -> None:
    edits = [
        ("  post:\n", "  mail:\n"),
        ("one = post(1)", "one = mail(1)"),
        ("{over: letter.active}", "{late: letter.active}"),
    ]
    found = difference(tmp_path, *edits, old=POST.replace("tries > 6", "tries > 0"))
    assert found.grade == "breaking"
    of_attempt = [each for part in found.parts if "attempt" in part.changes[0].path for each in part.witnesses]
    assert sorted(each.seen for each in of_attempt) == ["refused late", "refused over"]


def test_what_a_row_shows_of_who_declares_the_usual_choice_is_told_of_that(tmp_path: Path) -> None:
    patient = POST.replace(
        "entities:", "policies:\n  patient: {one of: [no, yes], default: no, recommended: true}\nentities:"
    )
    old = patient.replace("letter.tries > 6", "letter.tries > (if policies.patient == no then 6 else 20)")
    found = difference(tmp_path, ("then 6 else 20", "then 20 else 6"), old=old)
    assert "less" in ways(found)
    assert {(each.level, each.words) for each in found.together.witnesses} == {("must", "patient is no")}


def test_a_row_is_played_on_systems_that_take_as_long_as_they_may(tmp_path: Path) -> None:
    edits = [
        ("tries: {type: int, default: 0}", "tries: {type: int, default: 0}\n      sent_at: time | null"),
        (
            "terminal: [sent]}",
            "waiting: [sent], terminal: [come]}\n    after: {sent: {in: 50, within: 30, since: letter.sent_at, move: come}}",
        ),
        ("letter.tries + 1}", 'letter.tries + 1, letter.sent_at: "if letters.size() > 12 then now else null"}'),
        ("letter.tries > 6", "letters.size() > 12"),
        ("- one = post(1)", "- one = post(1)\n      - repeat(12, post(1))"),
        ("repeat(9, attempt(one.id))", "repeat(2, attempt(one.id))\n      - wait(70)"),
        ("state == sent", "state != taken"),
    ]
    old = POST
    for edit in edits:
        assert edit[0] in old
        old = old.replace(*edit)
    found = difference(tmp_path, ("within: 30", "within: 10"), old=old)
    assert (found.grade, ways(found)) == ("tightening", ["less"])
