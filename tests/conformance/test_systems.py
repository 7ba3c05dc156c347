"""Every lie is caught by the row that it names, and no right system is accused."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rows import RowRunner
from conformance.run import Run
from conformance.targets import open_class
from conformance.verdict import EXIT_CONFORMS, Verdict
from statemachines.compile import load
from statemachines.rows import RowCompiler
from tests.conformance.systems import REFERENCE
from tests.faulty.thread_job import FAULTY, Lie, concurrency
from tests.right.thread_job import RIGHT

COMPILED = load("thread-job")


@pytest.mark.parametrize("lie", FAULTY, ids=lambda lie: f"{lie.__name__}-{lie.row}")
def test_the_row_that_names_a_lie_catches_it_in_as_few_calls_as_are_known(lie: type[Lie]) -> None:
    adapter = open_class(COMPILED, lie)
    try:
        found = RowRunner(COMPILED, RowCompiler(COMPILED.lifecycle), adapter).run(
            COMPILED.lifecycle.rows[lie.row]
        )
    finally:
        adapter.close()
    assert found.verdict is Verdict.FAIL, found.reason
    assert found.counterexample is not None
    if (
        lie.__module__ != concurrency.__name__ and lie.row != "X13"
    ):  # how far a race shrinks depends on the schedule
        assert found.counterexample.calls <= lie.calls, found.counterexample.row


def test_every_row_is_named_by_a_lie() -> None:
    assert {lie.row for lie in FAULTY} == set(COMPILED.lifecycle.rows)


@pytest.mark.parametrize("system", [REFERENCE, *RIGHT], ids=lambda system: system.__name__)
def test_a_right_system_is_not_accused(system: Any) -> None:
    adapter = open_class(COMPILED, system)
    try:
        run = Run(COMPILED, adapter, quick=True, seed=1)
        code = run.go()
    finally:
        adapter.close()
    assert code == EXIT_CONFORMS, [(each.id, each.verdict, each.reason) for each in run.results]
