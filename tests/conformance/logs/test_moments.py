"""Calls that overlap are one moment, up to a number."""

from __future__ import annotations

import pytest

from conformance.logs import usual
from conformance.logs.moments import MOST_AT_ONCE, Gathering, LogMoment
from conformance.logs.reading import LoggedCall, LogLine
from statemachines.compile import load
from statemachines.rows import Observed


@pytest.mark.parametrize(("calls", "crowded"), [(MOST_AT_ONCE, [False]), (MOST_AT_ONCE + 1, [True, False])])
def test_only_more_calls_than_are_looked_at_together_are_crowded(calls: int, crowded: list[bool]) -> None:
    gathering = Gathering(usual(load("task-progress")))
    found: list[LogMoment] = []
    for number in range(calls):
        call = LoggedCall(LogLine("log", number, ""), Observed("status"), number, calls, "", number)
        found += gathering.put(call)
    found += gathering.end()
    assert [each.crowded for each in found] == crowded
    assert sum(len(each.calls) for each in found) == calls
