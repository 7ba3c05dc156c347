"""Whether a row that is not run for a mistake could have found it, and what is noted of a right system."""

from __future__ import annotations

import threading
from contextlib import closing, suppress
from typing import Any

import pytest

from conformance.proving.asked_before import NotedCall, NotingSystem, answers_alike
from conformance.proving.trial import Prover
from conformance.refused import Refused
from conformance.stand_ins import model_system
from statemachines.compile import load
from tests.checking import compile_text

GATE = """
lifecycle: gate
version: 1
about: A gate is opened once; who passes waits for that.
variables:
  slow: {type: bool, default: false}
entities:
  Gate:
    id: minted
    states: {active: [closed], terminal: [opened]}
operations:
  build:
    about: A gate is built.
    create: {Gate: {}}
    gives: {gate_id: gate.id}
  open:
    about: It is opened.
    takes: {gate: Gate}
    move: closed -> opened
  passed:
    about: Somebody passes it.
    takes: {gate: Gate}
    waits: {until: gate.state == opened}
    gives: {state: gate.state}
"""


@pytest.mark.parametrize("descending", [False, True])
def test_a_right_model_answers_alike_all_that_rows_ask_of_it(descending: bool) -> None:
    prover = Prover(load("task-progress"))
    right = prover.compiled
    assert not [
        row.id.text
        for row in right.lifecycle.rows.values()
        if prover.asked.differs(right, row.id.text, {}, descending=descending)
    ]


def test_a_row_that_is_not_run_for_a_mistake_would_not_have_found_it() -> None:
    prover = Prover(load("task-progress"))
    left_out = 0
    for mutant in prover.mutants[::26]:
        kernel = prover.model_of(mutant)
        for row in prover.compiled.lifecycle.rows.values():
            if prover.asked.differs(kernel, row.id.text, {}):
                continue
            left_out += 1
            with closing(prover._system(kernel, {})) as adapter:
                assert prover._fails(prover._runner(adapter), row) is None, (mutant.clause, mutant.does, row.id.text)
    assert left_out > 50


def noted() -> list[list[NotedCall]]:
    """Return what one system was asked where one call waits for another, and a third one is refused."""
    compiled, found = compile_text(GATE, "gate.yaml"), list[list[NotedCall]]()
    system: Any = model_system(compiled, kind=type("Noting", (NotingSystem,), {"asked": found}))()
    with closing(system):
        gate = system.build()["gate_id"]
        waiting = threading.Thread(target=lambda: system.passed(gate))
        waiting.start()
        while len(found[0]) < 2:
            threading.Event().wait(0.001)
        system.open(gate)
        waiting.join()
        with suppress(Refused):
            system.open(gate)
    return found


def test_what_waits_is_noted_where_it_comes_and_where_it_goes_on() -> None:
    (case,) = noted()
    assert [(each.operation, each.came is None) for each in case] == [
        ("build", False),
        ("passed", True),
        ("open", False),
        ("passed", False),
        ("open", False),
    ]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("until: gate.state == opened", "until: true"),
        ("until: gate.state == opened", "until: gate.state == closed"),
        ("closed -> opened", "closed -> closed"),
        ("move: closed -> opened", "move: closed -> opened\n    otherwise: unchanged"),
        ("gives: {state: gate.state}", "gives: {state: closed}"),
    ],
)
def test_who_waits_refuses_or_replies_otherwise_does_not_answer_alike(right: str, wrong: str) -> None:
    (case,) = noted()
    assert answers_alike(compile_text(GATE, "gate.yaml"), case, {}, descending=False)
    assert not answers_alike(compile_text(GATE.replace(right, wrong), "gate.yaml"), case, {}, descending=False)
