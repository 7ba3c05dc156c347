"""Names of a spec: whatever its records and fields are called, the model works; what the language has already is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from statemachines.diagnostics import SpecError
from statemachines.model import BaseModel
from tests.checking import compile_text

TEXT = """
lifecycle: named
version: 1
about: What is named in a way that a model may call its own.
entities:
  NAME:
    id: minted
    fields: {since: time, FIELD: {type: int, default: 0}}
    states: {active: [running], terminal: [ended]}
    retain: {newest: 2, of: terminal, by: VARIABLE.completion}
    after:
      running: {in: 10, since: VARIABLE.since, move: ended}
    shows: {id: VARIABLE.id, status: VARIABLE.state, n: VARIABLE.FIELD}
operations:
  make: {create: {NAME: {since: now}}, gives: {id: VARIABLE.id}}
  end:  {takes: {VARIABLE: NAME}, move: running -> ended, set: {VARIABLE.FIELD: VARIABLE.FIELD + 1}}
  look: {gives: RECORDS.size()}
matrix: {}
"""


def text(name: str, field: str) -> str:
    """A spec whose records and their field are called so."""
    variable = name.lower()
    words = {"NAME": name, "FIELD": field, "VARIABLE": variable, "RECORDS": f"{variable}s"}
    found = TEXT
    for word, meant in words.items():
        found = found.replace(word, meant)
    return found


def left_of_three(model: BaseModel, variable: str) -> tuple[int, int]:
    """How many records are there when three have ended, and how many may leave then or end by themselves."""
    ids = [model.do("make", {}).value["id"] for _ in range(4)]
    for each in ids[:3]:
        model.do("end", {variable: each})
    found: int = model.do("look", {}).value
    model.doubted.named = frozenset(ids[:2])
    return found, len(model.own_steps()) + len(model.deadlines())


@pytest.mark.parametrize(
    "name", ["Job", "Found", "First", "Key", "Oldest", "Kept", "Other", "Newest", "Outcome", "Message"]
)
@pytest.mark.parametrize("field", ["n", "found", "first", "key", "oldest", "other", "values"])
def test_records_and_fields_may_be_called_what_a_model_calls_its_own(name: str, field: str) -> None:
    compiled = compile_text(text(name, field), "named.yaml")
    assert left_of_three(compiled.model(), name.lower()) == (3, 1)
    loose = compiled.without([f"entities.{name}.retain"])
    assert left_of_three(loose.model(), name.lower()) == (4, 3)


TAKES = """
lifecycle: named
version: 1
about: What is taken under a name that a method of a model may call its own.
types:
  Text: {text: short}
signals:
  Told: {text: Text}
entities:
  Job:
    id: minted
    fields: {said: {type: Text, default: "''"}}
    states: {active: [running], terminal: [ended]}
    entering:
      ended: {signal: {Told: {with: {text: job.said}}}}
    shows: {id: job.id, said: job.said}
operations:
  make:
    takes:    {NAME: Text}
    requires: {empty: NAME != ''}
    reads:    {twice: NAME}
    create:   {Job: {said: twice}}
    gives:    {id: job.id}
  end:
    takes:    {JOB: Job, NAME: Text}
    requires: {same: NAME != JOB.said}
    move:     running -> ended
    for each: {each: {in: jobs, set: {each.said: NAME}}}
    signal:   {Told: {with: {text: NAME}}}
    gives:    {text: NAME}
matrix: {}
"""


@pytest.mark.parametrize(
    "name", ["text", "found", "first", "key", "before", "decision", "alike", "new_id", "signals", "may", "again"]
)
def test_what_an_operation_takes_may_be_called_what_a_method_calls_its_own(name: str) -> None:
    model = compile_text(TAKES.replace("NAME", name).replace("JOB", "job"), "named.yaml").model()
    assert model.decide("make", {name: ""}).refuse == ("empty",)
    job = model.do("make", {name: "a"}).value["id"]
    assert model.decide("end", {"job": job, name: "a"}).refuse == ("same",)
    outcome = model.do("end", {"job": job, name: "b"})
    assert outcome.value == {"text": "b"}
    assert outcome.signals == (("Told", (("text", "b"),)),) * 2


@pytest.mark.parametrize("field", ["serial", "state", "completion"])
def test_a_field_has_no_name_that_every_record_has(field: str) -> None:
    with pytest.raises(SpecError) as caught:
        compile_text(text("Job", field), "named.yaml")
    assert {(each.code, each.where.line) for each in caught.value.diagnostics if each.code == "taken-name"} == {
        ("taken-name", 8)
    }


@pytest.mark.parametrize("name", ["close", "signals", "declares", "hello", "reset", "point"])
def test_no_operation_is_called_as_what_every_system_is_asked_beside_its_operations(name: str) -> None:
    with pytest.raises(SpecError, match=f"'{name}' is what the kit asks of every system beside its operations already"):
        compile_text(
            TAKES.replace("NAME", "text").replace("JOB", "job").replace("  end:\n", f"  {name}:\n"), "named.yaml"
        )


def test_what_the_protocol_asks_of_a_system_is_no_name_of_an_operation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")
    methods = re.findall(r"^\| `([a-z]+)` \|", page, re.MULTILINE)
    assert {"hello", "reset", "signals", "wait", "close"} <= {*methods}
    for name in methods:
        text = TAKES.replace("NAME", "text").replace("JOB", "job").replace("  end:\n", f"  {name}:\n")
        with pytest.raises(SpecError, match=f"'{name}' is .* already, and would be an operation"):
            compile_text(text, "named.yaml")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("{NAME: Text}", "{self: Text, NAME: Text}", "'self' is what Python calls the system itself already"),
        ("{NAME: Text}", "{class: Text, class_: Text, NAME: Text}", "'class_' cannot be told from 'class'"),
        ("{NAME: Text}", "{found_: Text, found: Text, NAME: Text}", "'found' cannot be told from 'found_'"),
        ("fields: {", "fields: {seen: int, seen_: int, ", "'seen_' cannot be told from 'seen'"),
    ],
)
def test_no_two_names_are_one_in_the_generated_model(before: str, after: str, told: str) -> None:
    with pytest.raises(SpecError, match=told):
        compile_text(TAKES.replace(before, after, 1).replace("NAME", "text").replace("JOB", "job"), "named.yaml")


def test_names_that_only_look_alike_are_two() -> None:
    text = TAKES.replace("{NAME: Text}", "{list: Text, list_: Text, NAME: Text}", 1)
    compile_text(text.replace("NAME", "text").replace("JOB", "job"), "named.yaml")
