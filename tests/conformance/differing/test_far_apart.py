"""Edits that only numbers, small limits or long rows show, and operations that only one revision has."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.differing import SpecDiff
from conformance.differing.settings import DeclaredPair, declaring, usual_choices
from conformance.differing.told_apart import Revisions
from statemachines.compare import Declared
from tests.checking import compile_text
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


@pytest.fixture
def rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no small scope comes to is left to the rows."""
    monkeypatch.setattr(Revisions, "_compare", lambda *_, **__: None)


POLICIES = """policies:
  patient: {one of: [no, yes], default: no, recommended: true}
  kind: {one of: [no, yes], default: no, recommended: true}
entities:"""
PATIENT = POST.replace("entities:", POLICIES).replace(
    "letter.tries > 6", "letter.tries > (if policies.patient == no then 6 else 20)"
)
PATIENT = PATIENT.replace("state == sent", "state != taken")  # it shows, and asks no more than is right of either


@pytest.mark.usefixtures("rows_alone")
def test_what_a_row_shows_of_who_declares_the_usual_choice_is_told_of_that(tmp_path: Path) -> None:
    """Of two such policies one alone makes the difference."""
    found = difference(tmp_path, ("then 6 else 20", "then 20 else 6"), old=PATIENT)
    assert found.grade == "breaking"
    assert ways(found) == ["less", "more"]
    assert {(each.level, each.words) for each in found.together.witnesses} == {("must", "patient is no")}


@pytest.mark.usefixtures("rows_alone")
@pytest.mark.parametrize("first", ["should", "must"])
def test_a_row_that_shows_a_must_is_told_wherever_it_stands(first: str, tmp_path: Path) -> None:
    """The other one shows that a reply is another one that is only recommended."""
    rows = {"must": POST[POST.index("  N1:") :], "should": MILD}
    ordered = "\n".join(rows[each] for each in (first, "must" if first == "should" else "should"))
    old = POST[: POST.index("  N1:")].replace("operations:", "should: [operations.colour.gives]\noperations:")
    old = old.replace("  look:", "  colour:\n    gives: \"'red'\"\n  look:") + ordered
    found = difference(tmp_path, ("'red'", "'green'"), ("letter.tries > 6", "letter.tries > 20"), old=old)
    assert (found.grade, {each.level for each in found.together.witnesses}) == ("breaking", {"must"})


MILD = """
  N2:
    about: What is recommended is red.
    level: should
    source: the handbook
    covers: [operations.colour.gives]
    act: [seen = colour()]
    assert: seen == 'red'
"""


@pytest.mark.parametrize(
    ("new", "grade", "way"),
    [("in: 50, within: 10", "tightening", "less"), ("in: 40, within: 40", "loosening", "more")],
)
def test_a_row_is_played_on_systems_that_take_as_long_as_they_may_and_on_those_that_do_not(
    new: str, grade: str, way: str, tmp_path: Path
) -> None:
    edits = [
        ("tries: {type: int, default: 0}", "tries: {type: int, default: 0}\n      sent_at: time | null"),
        (
            "terminal: [sent]}",
            "waiting: [sent], terminal: [come]}\n    after: {sent: {in: 50, within: 30, since: letter.sent_at, move: come}}",
        ),
        ("letter.tries + 1}", 'letter.tries + 1, letter.sent_at: "if letters.size() > 12 then now else null"}'),
        ("letter.tries > 6", "letters.size() > 12"),
        ("- one = post(1)", "- one = post(1)\n      - repeat(12, post(1))"),
        (
            "repeat(9, attempt(one.id))",
            "repeat(2, attempt(one.id))\n      - wait(45)\n      - look(one.id)\n      - wait(25)",
        ),
        ("state == sent", "state != taken"),
    ]
    old = POST
    for edit in edits:
        assert edit[0] in old
        old = old.replace(*edit)
    found = difference(tmp_path, ("in: 50, within: 30", new), old=old)
    assert (found.grade, ways(found)) == (grade, [way])


def test_the_usual_choices_that_bind_more_are_those_of_which_others_are_right_or_excused() -> None:
    """Not one that a setting has made, nor one of which the other revision has another default, or none."""
    usual = compile_text(PATIENT, "old.yaml")
    setting = DeclaredPair(
        "patient is yes", Declared(policies={}), Declared(policies={"patient": "yes"}), chosen="patient"
    )
    assert usual_choices(usual, usual, DeclaredPair()) == {"patient": "no", "kind": "no"}
    assert usual_choices(usual, usual, setting) == {"kind": "no"}
    assert declaring(setting, {"kind": "no"}).words == "patient is yes; kind is no"
    other = compile_text(
        PATIENT.replace("kind: {one of: [no, yes], default: no", "kind: {one of: [no, yes], default: yes"), "new.yaml"
    )
    assert usual_choices(usual, other, DeclaredPair()) == {"patient": "no"}
    bound = compile_text(PATIENT.replace(", recommended: true", ""), "new.yaml")
    assert usual_choices(bound, bound, DeclaredPair()) == {}
    open_ = compile_text(PATIENT.replace("default: no, recommended: true", "default: any"), "new.yaml")
    assert usual_choices(open_, open_, DeclaredPair()) == {"patient": "no", "kind": "no"}
