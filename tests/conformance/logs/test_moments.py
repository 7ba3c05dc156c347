"""Calls that overlap are one moment, up to a number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.logs import usual
from conformance.logs.moments import MOST_AT_ONCE, Gathering, LogMoment
from conformance.logs.reading import LoggedCall, LogLine
from conformance.system import Declaration
from statemachines.compile import load
from statemachines.rows import Observed
from tests.checking import compile_text
from tests.conformance.logs.recording import log_map, outcome


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


MISTS = """
lifecycle: mists
version: 1
about: Lamps go out, mists thin out about as soon, and each is told how many ended before it.
variables:
  ended: {type: int, default: 0}
entities:
  Lamp:
    id: minted
    fields: {since: time, number: {type: int, default: 0}}
    states: {active: [lit, out]}
    after:
      lit: {in: 10, since: lamp.since, move: out, set: {lamp.number: ended + 1, ended: ended + 1}}
  Mist:
    id: minted
    fields: {since: time, number: {type: int, default: 0}}
    states: {active: [thick, thin]}
    after:
      thick: {in: 8, since: mist.since, within: 5, move: thin, set: {mist.number: ended + 1, ended: ended + 1}}
operations:
  light:
    create: {Lamp: {since: now}}
    gives: {lamp: lamp.id}
  fog:
    create: {Mist: {since: now}}
    gives: {mist: mist.id}
  see:
    takes: {lamp: Lamp}
    gives: {number: lamp.number}
  peer:
    takes: {mist: Mist}
    gives: {number: mist.number}
"""


def test_what_fires_within_a_window_may_have_fired_as_soon_as_that_opens_although_no_reply_tells_when(
    tmp_path: Path,
) -> None:
    entries: list[dict[str, Any]] = [
        {"at": 0, "call": "fog", "with": {}, "gives": {"mist": "m"}},
        {"at": 0, "call": "light", "with": {}, "gives": {"lamp": "l"}},
        {"at": 11, "call": "peer", "with": {"mist": "m"}, "gives": {"number": 1}},
        {"at": 11, "call": "see", "with": {"lamp": "l"}, "gives": {"number": 2}},
    ]
    declared = log_map(Declaration(clock="virtual", concurrency="threads"))
    assert outcome(compile_text(MISTS, "mists.yaml"), entries, tmp_path / "log.jsonl", declared).refused is None
    entries[-1]["gives"] = {"number": 3}
    assert outcome(compile_text(MISTS, "mists.yaml"), entries, tmp_path / "log.jsonl", declared).refused is not None
