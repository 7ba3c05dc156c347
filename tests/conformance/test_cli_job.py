"""cli-job in this process: its wrong systems are caught by the rows that name them, its right ones never accused."""

from __future__ import annotations

from functools import cache

import pytest

from conformance.references.cli_job import CliJobs
from conformance.rows import RowRunner
from conformance.run import Run
from conformance.targets import open_class
from conformance.verdict import EXIT_CONFORMS, RowResult, Verdict
from statemachines.compile import Compiled, load
from statemachines.rows import RowCompiler
from tests.conformance.systems import explained
from tests.faulty.cli_job import FAULTY, Lie
from tests.right.cli_job import RIGHT


@cache
def cli_job() -> Compiled:
    return load("cli-job")


def row_result(system: type, row: str) -> RowResult:
    compiled, adapter = cli_job(), open_class(cli_job(), system)
    try:
        return RowRunner(compiled, RowCompiler(compiled.lifecycle), adapter).run(compiled.lifecycle.rows[row])
    finally:
        adapter.close()


@pytest.mark.parametrize("system", FAULTY, ids=lambda system: f"{system.__name__}-{system.row}")
def test_the_row_that_names_a_lie_catches_it_shortly(system: type[Lie]) -> None:
    result = row_result(system, system.row)
    assert result.verdict is Verdict.FAIL, explained(result)
    assert result.counterexample is not None
    if "together(" not in result.counterexample.row:  # how far a race shrinks depends on the schedule
        assert result.counterexample.calls <= system.calls, explained(result)


def test_every_row_is_named_by_a_lie() -> None:
    named = {system.row for system in FAULTY}
    assert [row for row in cli_job().lifecycle.rows if row not in named] == []


def test_every_lie_names_a_row_and_says_what_it_is() -> None:
    assert {system.row for system in FAULTY} <= set(cli_job().lifecycle.rows)
    assert [system.__name__ for system in FAULTY if not (system.__doc__ or "").strip()] == []
    assert len({system.__name__ for system in FAULTY}) == len(FAULTY)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("system", [CliJobs, *RIGHT], ids=lambda system: system.__name__)
def test_a_right_system_conforms(system: type, seed: int) -> None:
    adapter = open_class(cli_job(), system)
    try:
        run = Run(cli_job(), adapter, seed=seed, quick=True)
        code = run.go()
    finally:
        adapter.close()
    wrong = [each for each in run.results if each.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)]
    assert not wrong, "\n\n".join(map(explained, wrong))
    assert code == EXIT_CONFORMS
    passed = [each for each in run.results if each.verdict is Verdict.PASS]
    assert len(passed) > len(run.results) / 2
