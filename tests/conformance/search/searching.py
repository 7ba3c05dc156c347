"""One search of a system of thread-job, until it has found a fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.budget import Budget
from conformance.counterexample.play import symbolic
from conformance.judge.avoided import BrokenCalls
from conformance.judge.case import Case
from conformance.search.faults import Diverged, Faults
from statemachines.rows import Trace
from tests.conformance.systems import adapted, thread_job


def searched(
    search: Callable[..., None], system: Any, number: int, budget: Budget
) -> tuple[Diverged | None, list[Case]]:
    """What a search finds first, and its cases."""
    cases: list[Case] = []
    with adapted(system) as adapter:
        faults = Faults(BrokenCalls(adapter))
        search(thread_job(), adapter, number, budget, after=lambda driver: cases.append(driver.case), faults=faults)
    return faults.first, cases


def traces(cases: list[Case]) -> list[Trace]:
    """What was called in each case."""
    return [symbolic(thread_job(), case.trace) for case in cases]
