"""What can tell in which order messages were sent, and what calls that send notice of each other."""

from __future__ import annotations

import pytest

from statemachines.compile import load
from statemachines.explore import MessageFacts
from tests.checking import compile_text

SPEC = """\
lifecycle: small
version: 1
about: Jobs that end, and messages about them.
variables:
  told_of: {type: bool, default: false}
  asked:   {type: bool, default: false}
entities:
  Job:
    id: minted
    states: {active: [running], terminal: [done]}
    shows: {job_id: job.id, open: "SHOWN"}
messages:
  Ended:
    about: Job
    due: terminal
    order: job.completion
    carries: {job_id: job.id}
operations:
  start:
    create: {Job: {}}
    gives: {job_id: job.id}
  finish:
    takes: {job: Job}
    move: running -> done
  tell:
    set: {told_of: "VALUE"}
    sends: {told: "SENT"}
    gives: told
  jobs:
    gives: {unordered: jobs}
  look:
    gives: LOOK
  count:
    gives: COUNT
on its own:
  asks:
    when: "ASKS"
    set: {asked: true}
matrix:
  N1:
    about: A job is started.
    level: must
    source: the test
    covers: [entities.Job, operations.start]
    act:
      - job = start()
    assert: true
"""
USUAL = {
    "SHOWN": "true",
    "VALUE": "true",
    "SENT": "due.Ended",
    "LOOK": "sent.Ended",
    "COUNT": "sent.Ended.size()",
    "ASKS": "due.Ended.exists(m, true) && !asked",
}


def facts(**other: str) -> MessageFacts:
    """The facts of the small spec, some of its expressions others."""
    text = SPEC
    for name, value in {**USUAL, **other}.items():
        text = text.replace(name, value)
    return MessageFacts(compile_text(text, "small.yaml").kernel)


def test_of_the_shipped_life_cycles() -> None:
    found = MessageFacts(load("thread-job").kernel)
    assert found.open == {"Ended"}
    assert [found.looked_at(each) for each in ("messages", "turn_boundary", "nothing")] == ["Ended", "", ""]
    assert [found.sends_quietly(each) for each in ("turn_boundary", "emit", "finish")] == ["Ended", "Ended", ""]
    assert [found.sends_apart(each) for each in ("turn_boundary", "emit", "finish")] == [True, False, False]
    found = MessageFacts(load("background-tasks").kernel)
    assert found.open == {"Completion"}
    assert not found.looks_at("Completion")
    assert found.sends_apart("drain_completed")
    assert not found.ignores_messages("has_completed")


@pytest.mark.parametrize(
    ("look", "shown"),
    [
        ("sent.Ended", "Ended"),
        ("sent.Ended.filter(m, m.job_id != '')", "Ended"),
        ("sent.Ended.filter(m, sent.Ended.size() > 1)", ""),
        ("due.Ended", ""),
        ("sent.Ended.size()", ""),
        ("sent.Ended.map(m, m.job_id)", ""),
    ],
)
def test_a_look_shows_messages_as_they_were_sent(look: str, shown: str) -> None:
    assert facts(LOOK=look).looked_at("look") == shown


@pytest.mark.parametrize(
    ("count", "stays_open"),
    [
        ("sent.Ended.size()", True),
        ("sent.Ended.map(m, m.job_id).distinct().size()", True),
        ("(due.Ended + sent.Ended).exists(m, m.job_id == '')", True),
        ("sent.Ended.all(m, m.job_id != '')", True),
        ("sent.Ended.map(m, m.job_id)", False),
        ("sent.Ended.take(1).size()", False),
        ("sent.Ended[0].job_id", False),
        ("due.Ended.all(m, sent.Ended.map(n, n.job_id) == [m.job_id])", False),
    ],
)
def test_the_order_stays_open_where_only_looks_tell_it(count: str, stays_open: bool) -> None:
    assert facts(COUNT=count).open == ({"Ended"} if stays_open else set())


@pytest.mark.parametrize(
    ("other", "quietly", "apart"),
    [
        ({}, True, True),
        ({"SENT": "due.Ended.filter(m, m.job_id != '')"}, True, True),
        ({"SENT": "due.Ended.filter(m, sent.Ended.size() < 2)"}, True, False),
        ({"SENT": "due.Ended.take(1)"}, True, False),
        ({"VALUE": "due.Ended.size() > 0"}, False, False),
        ({"VALUE": "!told_of"}, False, False),
        ({"SENT": "due.Ended.filter(m, told_of)"}, False, False),
        ({"ASKS": "told_of && !asked"}, True, False),
        ({"ASKS": "due.Ended.size() == 1 && !asked"}, True, False),
        ({"ASKS": "!due.Ended.exists(m, true) && !asked"}, True, False),
        ({"ASKS": "sent.Ended.exists(m, true) && !asked"}, True, False),
        ({"SHOWN": "told_of"}, False, False),
        ({"SHOWN": "sent.Ended.size() > 0"}, True, False),
    ],
    ids=str,
)
def test_what_sends_is_apart_where_nothing_that_others_send_matters_to_it(
    other: dict[str, str], quietly: bool, apart: bool
) -> None:
    found = facts(**other)
    assert (bool(found.sends_quietly("tell")), found.sends_apart("tell")) == (quietly, apart)


def test_what_a_record_shows_counts_where_records_are_given() -> None:
    assert facts().ignores_messages("jobs")
    assert not facts(SHOWN="due.Ended.exists(m, m.job_id == job.id)").ignores_messages("jobs")
    assert facts().ignores_senders("jobs")
    assert not facts(SHOWN="told_of").ignores_senders("jobs")


@pytest.mark.parametrize("operation", ["start", "finish", "tell", "nothing"])
def test_what_changes_something_is_no_look(operation: str) -> None:
    assert not facts().ignores_messages(operation)
    assert not facts().ignores_senders(operation)


def test_a_look_may_ignore_those_that_send_and_see_what_they_send() -> None:
    assert not facts().ignores_messages("count")
    assert facts().ignores_senders("count")
