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
from statemachines.kernel import within
from tests.checking import compile_text

GATE = """
lifecycle: gate
version: 1
about: A gate is opened once; who passes waits for that.
entities:
  Gate:
    id: minted
    fields: {pushed: {type: bool, default: false}}
    states: {active: [closed], terminal: [opened]}
signals:
  creaks: {gate: text}
operations:
  build:
    about: A gate is built.
    create: {Gate: {}}
    gives: {gate_id: gate.id}
  open:
    about: It is opened.
    takes: {gate: Gate}
    move: closed -> opened
    signal: {creaks: {when: gate.pushed, with: {gate: gate.id}}}
  push:
    about: Somebody pushes it.
    takes: {gate: Gate}
    set: {gate.pushed: true}
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


class Noted(list[NotedCall]):
    """The calls of one case; `second` is set when there are two."""

    def __init__(self) -> None:
        super().__init__()
        self.second = threading.Event()

    def append(self, call: NotedCall) -> None:
        super().append(call)
        if len(self) > 1:
            self.second.set()


def noted() -> list[NotedCall]:
    """Return what one system was asked where one call waits for another, and a third one is refused."""
    compiled, case = compile_text(GATE, "gate.yaml"), Noted()
    system: Any = model_system(compiled, kind=type("Noting", (NotingSystem,), {"_new_case": lambda _: case}))()
    with closing(system):
        gate = system.build()["gate_id"]
        waiting = threading.Thread(target=lambda: system.passed(gate), daemon=True)
        waiting.start()
        assert case.second.wait(10)
        system.push(gate)
        system.open(gate)
        waiting.join(10)
        assert not waiting.is_alive()
        with suppress(Refused):
            system.open(gate)
    return case


def test_what_waits_is_noted_where_it_comes_and_where_it_goes_on() -> None:
    assert [(each.operation, each.came is None) for each in noted()] == [
        ("build", False),
        ("passed", True),
        ("push", False),
        ("open", False),
        ("passed", False),
        ("open", False),
    ]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("until: gate.state == opened", "until: true"),
        ("until: gate.state == opened", "until: gate.state == closed"),
        ("until: gate.state == opened", "until: gate.pushed"),  # it comes back too early, and gives the same
        ("move: closed -> opened", "move: closed -> closed"),
        ("move: closed -> opened", "move: closed -> opened\n    otherwise: unchanged"),
        ("gives: {state: gate.state}", "gives: {state: closed}"),
        ("gives: {state: gate.state}", "gives: {state: anything}"),  # it leaves open what the other tells
        ("when: gate.pushed", "when: (!gate.pushed)"),
    ],
)
def test_who_waits_refuses_replies_or_signals_otherwise_does_not_answer_alike(right: str, wrong: str) -> None:
    case, wrong_text = noted(), GATE.replace(right, wrong)
    assert wrong_text != GATE
    assert answers_alike(compile_text(GATE, "gate.yaml"), case, {}, 10.0)
    assert not answers_alike(compile_text(wrong_text, "gate.yaml"), case, {}, 10.0)


def test_who_takes_longer_than_a_call_may_does_not_answer_alike() -> None:
    assert not answers_alike(compile_text(GATE, "gate.yaml"), noted(), {}, 0.0)


@pytest.mark.parametrize(
    ("lifecycle", "clause"),
    [("local-agent", "operations.background.set.task.signal_open"), ("cli-job", "define.timeout")],
)
def test_a_mistake_in_what_is_left_open_is_tried_as_any_other(lifecycle: str, clause: str) -> None:
    prover = Prover(load(lifecycle))
    mutant = next(each for each in prover.mutants if within(each.clause, clause))
    kernel = prover.model_of(mutant)
    nearest = prover._likely_first(mutant)[:6]
    assert any(prover.asked.differs(kernel, row.id.text, {}) for row in nearest)
