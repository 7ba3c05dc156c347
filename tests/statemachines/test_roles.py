"""Roles: operations that take one are not asked about other records, and only such records show what it shows."""

from __future__ import annotations

from typing import Any

import pytest

from statemachines.model import ANYTHING
from tests.checking import check_text, compile_text

SPEC = """\
lifecycle: small
version: 1
about: Of the things that run only some are jobs.
types:
  Kind: {one of: [job, timer]}
entities:
  Thing:
    id: minted
    missing: unchanged
    fields: {kind: Kind, text: {type: text, default: "''"}}
    states: {active: [running], terminal: [done]}
    shows: {thing_id: thing.id, status: thing.state}
    roles:
      SomeJob:
        when: thing.kind == job
        shows: {text: thing.text}
operations:
  begin:
    takes: {kind: Kind}
    create:
      Thing: {kind: kind}
    gives: {thing_id: thing.id}
  finish:
    takes: {that: SomeJob, text: text}
    move: running -> done
    set: {that.text: text}
  peek:
    takes: {that: SomeJob | null}
    gives: {text: "if that == null then null else that.text"}
  jobs:
    gives: things.filter(t, is_some_job(t)).map(t, t.id)
  look:
    takes: {thing: Thing}
    gives: thing
matrix:
  N1:
    about: A job ends and shows its text; of what is no job only its status is known.
    level: must
    source: the test
    covers: [entities.Thing, operations]
    act:
      - one = begin(job)
      - two = begin(timer)
      - finish(one.thing_id, 'x')
      - again = finish(one.thing_id, 'y')
      - gone = finish(fresh, 'x')
      - nothing = look(fresh)
    assert:
      - look(one.thing_id).status == done && look(one.thing_id).text == 'x'
      - look(two.thing_id).status == running && jobs() == [one.thing_id] && again.refused != null
      - peek(one.thing_id).text == 'x' && peek(fresh).text == null
"""


def model() -> tuple[Any, str, str]:
    """A model with a job and a timer, and the ids of both."""
    made: Any = compile_text(SPEC, "small.yaml").model()
    return made, made.do_begin("job").value["thing_id"], made.do_begin("timer").value["thing_id"]


def test_an_operation_is_asked_only_about_records_of_the_role_that_it_takes() -> None:
    made, job, timer = model()
    assert made.may_finish(job, "x").accept
    assert not made.may_finish(job, "x").avoid
    assert made.may_finish(timer, "x").avoid
    assert made.may_finish("nobody", "x").idle
    assert not made.may_finish("nobody", "x").avoid


def test_where_there_may_be_no_record_only_one_of_another_role_is_avoided() -> None:
    made, job, timer = model()
    assert [made.may_peek(each).avoid for each in (job, timer, "nobody", None)] == [False, True, False, False]


def test_only_a_record_of_the_role_shows_what_the_role_shows() -> None:
    made, job, timer = model()
    assert made.do_look(job).value == {"thing_id": job, "status": "running", "text": ""}
    assert made.do_look(timer).value == {"thing_id": timer, "status": "running", "text": ANYTHING}


def test_the_role_is_one_clause_however_many_operations_take_it() -> None:
    compiled = compile_text(SPEC, "small.yaml")
    taken = [
        (operation.name, require.clause)
        for operation in compiled.kernel.operations
        for require in operation.requires
        if require.answer == "avoided"
    ]
    assert taken == [(name, "entities.Thing.roles.SomeJob") for name in ("finish", "peek")]
    assert str(compiled.kernel.clause("entities.Thing.roles.SomeJob").where) == "small.yaml:14:7"


@pytest.mark.parametrize(
    ("right", "wrong", "code", "place"),
    [
        ("thing.kind == job", "thing.kind == jab", "unknown-name", "15:29"),
        ("thing.kind == job", "thing.text", "expression-type", "15:15"),
        ("{text: thing.text}", "{text: thing.txt}", "unknown-field", "16:29"),
        ("SomeJob:", "Kind:", "taken-name", "14:7"),
        ("that: SomeJob,", "that: SomeJb,", "unknown-type", "24:19"),
        ("finish(one.thing_id, 'x')", "finish(two.thing_id, 'x')", "open-call", ""),
    ],
)
def test_what_is_wrong_is_told_at_its_place(right: str, wrong: str, code: str, place: str) -> None:
    assert check_text(SPEC, "small.yaml").right, check_text(SPEC, "small.yaml").render()
    found = check_text(SPEC.replace(right, wrong, 1), "small.yaml").diagnostics
    assert [each for each in found if each.code == code and str(each.where).endswith(place)], found


def test_a_role_that_nothing_uses_is_told() -> None:
    text = SPEC.replace("    roles:\n", "    roles:\n      Timer: {when: thing.kind == timer}\n")
    found = [(each.code, str(each.where)) for each in check_text(text, "small.yaml").diagnostics]
    assert found == [("unused-definition", "small.yaml:14:7")]
