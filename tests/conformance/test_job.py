"""job, whole: the reference and right systems of other construction hold, and each lie fails the row that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from conformance.adapter import Adapter
from conformance.references.job import Jobs
from conformance.rows import RowRunner
from conformance.run import Run
from conformance.targets import open_class
from conformance.verdict import EXIT_CONFORMS, Verdict
from statemachines.compile import Compiled, load
from statemachines.rows import RowCompiler
from tests.faulty.job import FAULTY, Lie
from tests.right.job import RIGHT


@cache
def job() -> Compiled:
    return load("job")


@contextmanager
def adapted(system: Any) -> Iterator[Adapter]:
    adapter = open_class(job(), system)
    try:
        yield adapter
    finally:
        adapter.close()


@pytest.mark.parametrize("system", [Jobs, *RIGHT], ids=lambda system: system.__name__)
def test_a_right_system_conforms(system: type) -> None:
    with adapted(system) as adapter:
        run = Run(job(), adapter, seed=1)
        code = run.go()
    passing = (Verdict.PASS, Verdict.NOT_APPLICABLE)
    told = [f"{each.id}: {each.reason}" for each in run.results if each.verdict not in passing]
    assert (code, told) == (EXIT_CONFORMS, [])


@pytest.mark.parametrize("system", FAULTY, ids=lambda system: f"{system.__name__}-{system.row}")
def test_a_lie_fails_the_row_that_names_it(system: type[Lie]) -> None:
    with adapted(system) as adapter:
        result = RowRunner(job(), RowCompiler(job().lifecycle), adapter).run(job().lifecycle.rows[system.row])
    assert (result.verdict, result.counterexample is not None) == (Verdict.FAIL, True)


def test_every_lie_names_a_row_and_every_row_a_lie() -> None:
    assert {system.row for system in FAULTY} == set(job().lifecycle.rows)
