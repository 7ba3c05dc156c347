"""How a model comes to rest: steps that have to be taken are taken in every order that makes a difference."""

from __future__ import annotations

from typing import Any

import pytest

from statemachines.quiescence import settled
from tests.checking import compile_text

HEAD = """
lifecycle: order
version: 1
about: Several steps have to be taken, in whichever order.
types:
  JobId: {id of: Job, or: fresh}
entities:
  Job:
    id: minted
    fields: {done: int, a: bool, b: bool, c: bool}
    states: {active: [running], terminal: [ended]}
"""
TAIL = """
operations:
  start:
    create: {Job: {a: false, b: false, c: false, done: 0}}
    gives: {job: job.id}
  go:
    takes: {job: Job}
    set: {job.a: true, job.b: true, job.c: true}
  look:
    takes: {job: Job}
    gives: {done: job.done}
matrix:
  N1:
    about: A job goes.
    level: must
    source: the test
    covers: [operations.go]
    act: [job = start(), went = go(job.job)]
    assert: went.refused == null
"""
STEP = """
  {name}:
    for each: {{job: Job}}
    when: job.{name}
    must: true
    set: {{job.{name}: false, job.done: "{done}"{more}}}
"""


def came_to_rest(text: str) -> tuple[set[int], int]:
    """How many steps were done, in each way to rest; and how many ways there are."""
    model: Any = compile_text(text, "order.yaml").model()
    model.do("start", {})
    (job,) = model.jobs
    model.do("go", {"job": job})
    ways: list[Any] = [then for then, _ in settled(model)]
    return {next(iter(then.jobs.values())).done for then in ways}, len(ways)


def steps(of: dict[str, tuple[str, str]]) -> str:
    return "on its own:" + "".join(STEP.format(name=name, done=done, more=more) for name, (done, more) in of.items())


def test_steps_whose_order_makes_no_difference_are_one_way() -> None:
    alike = dict.fromkeys("abc", ("job.done + 1", ""))
    assert came_to_rest(HEAD + steps(alike) + TAIL) == ({3}, 1)


@pytest.mark.parametrize("middle", ["a", "b", "c"])
def test_a_step_that_takes_the_others_away_if_it_comes_first_is_seen_wherever_it_stands(middle: str) -> None:
    others = [name for name in "abc" if name != middle]
    away = "".join(f', job.{one}: "job.{one} && !job.{other}"' for one, other in (others, others[::-1]))
    found = {name: ("job.done + 1", away if name == middle else "") for name in "abc"}
    assert came_to_rest(HEAD + steps(found) + TAIL)[0] == {1, 3}


def test_a_step_that_takes_another_one_away_is_another_way() -> None:
    found = {"a": ("job.done + 1", ', job.b: "false"'), "b": ("job.done + 2", ""), "c": ("job.done + 4", "")}
    assert came_to_rest(HEAD + steps(found) + TAIL)[0] == {5, 7}


TOLD = """
signals:
  Done: {left: int}
on its own:
  a:
    for each: {job: Job}
    when: job.a
    must: true
    set: {job.a: false}
    signal: {Done: {with: {left: "if job.b then 1 else 0"}}}
  b:
    for each: {job: Job}
    when: job.b
    must: true
    set: {job.b: false}
    signal: {Done: {with: {left: "if job.a then 2 else 0"}}}
"""


def test_two_orders_that_tell_otherwise_are_two_ways_to_one_state() -> None:
    assert came_to_rest(HEAD + TOLD + TAIL.replace("job.c: true", "job.c: false"))[1] == 2
