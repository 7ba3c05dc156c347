"""Adapters that misbehave: each comes to one right verdict within its limits, the run goes on, and nothing is left."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.api import loaded, opened
from conformance.budget import USUAL
from conformance.remote import adapter
from conformance.suite import Run
from conformance.system import HarnessError
from conformance.verdict import EXIT_VIOLATES, ONE_STEP, Verdict
from tests.conformance.remote.leftovers import nothing_left, resident
from tests.tools import hostile_adapter

SCRIPT = Path(hostile_adapter.__file__)
PATIENT = 20.0  # seconds for a call, where one comes: however busy the machine is
FEW = replace(USUAL.quick(), schedules=2, more_schedules=0, schedules_of_all=2, schedules_of_each=2)
MEMORY = 40 << 20  # bytes that a run may take, whatever it is sent


class Ends(NamedTuple):
    """How N1 ends, and what is told of it; how X10 ends, which makes no call of `finish`; how long a call may take."""

    verdict: Verdict
    said: str = ""
    other: Verdict = Verdict.PASS
    limit: float = PATIENT


FAIL, ERROR, PASS = Verdict.FAIL, Verdict.HARNESS_ERROR, Verdict.PASS
SOON = hostile_adapter.LIMIT
WAYS: dict[str, Ends] = {
    # right, if unusual
    "right": Ends(PASS),
    "slow": Ends(PASS),
    "carriage_return": Ends(PASS),
    "out_of_order": Ends(PASS),
    "leaves_children": Ends(PASS),
    "stays": Ends(PASS),
    "floods_stderr": Ends(PASS),
    # the system is to blame
    "silent": Ends(FAIL, "finish did not come back in time", limit=SOON),
    "too_slow": Ends(FAIL, "finish did not come back in time", limit=SOON),
    "leaves_children_and_hangs": Ends(FAIL, "finish did not come back in time", limit=SOON),
    "half_a_line": Ends(FAIL, 'exit code 0; a line on stdout has no end yet: {"jsonrpc": "2.0", "id"'),
    "crash": Ends(FAIL, "the process ended with exit code 1\nthe disk is full"),
    "killed": Ends(FAIL, "the process was ended by signal 9"),
    "closes_stdout": Ends(FAIL, "the process closed its stdout"),
    "unknown_code": Ends(FAIL, "finish failed: the disk is full"),
    "no_method": Ends(FAIL, "finish is not there"),
    "quite_deep": Ends(FAIL, "one of pending, running", FAIL),
    "huge_integer": Ends(FAIL, "one of pending, running", FAIL),
    "endless_integer": Ends(FAIL, "one of pending, running", FAIL),
    "infinite": Ends(FAIL, "one of pending, running", FAIL),
    # nobody can ask
    "garbage": Ends(ERROR, "this is not JSON"),
    "invalid_utf8": Ends(ERROR, "this is not UTF-8"),
    "byte_order_mark": Ends(ERROR, "it begins with a byte order mark"),
    "empty_line": Ends(ERROR, "this line is empty"),
    "two_on_a_line": Ends(ERROR, "Extra data"),
    "duplicate_key": Ends(ERROR, "an object has 'jsonrpc' twice"),
    "answers_twice": Ends(ERROR, "nobody waits for an answer to"),
    "wrong_id": Ends(ERROR, "nobody waits for an answer to 77"),
    "text_id": Ends(ERROR, "has no place here"),
    "result_and_error": Ends(ERROR, "message has both"),
    "neither": Ends(ERROR, "message has neither"),
    "asks": Ends(ERROR, "message.method is 'ask', and 'point' is wanted"),
    "text_as_error": Ends(ERROR, "message.error is 'the disk is full', and object is wanted"),
    "unread": Ends(ERROR, "a request could not be read there"),
    "long_line": Ends(ERROR, "this line is longer than 4194304 bytes"),
    "large_reply": Ends(ERROR, "this line is longer than 4194304 bytes", ERROR),
    "deep": Ends(ERROR, "nested too deep", ERROR),
    "not_a_number": Ends(ERROR, "NaN is no number of JSON", ERROR),
    "never_reads": Ends(ERROR, "reset did not come back in time", FAIL, limit=SOON),
    "crash_after_reset": Ends(ERROR, "reset was not answered: the process ended with exit code 4", FAIL),
    "changes_its_mind": Ends(FAIL, "the process ended with exit code 1", ERROR),
    # points
    "tells_no_points": Ends(PASS, "", PASS),
    "tells_points_unasked": Ends(ERROR, "did not say at hello that it does", ERROR),
    "tells_points_and_goes_on": Ends(PASS, "", ERROR),
    "tells_points_of_no_call": Ends(ERROR, "and there was none of that id", ERROR),
}
UNUSABLE = {
    "silent_at_hello": "there is no answer to hello: hello did not come back in time",
    "silent_at_reset": "reset did not come back in time",
    "crash_at_hello": "hello was not answered: the process ended with exit code 1\nthere is no configuration",
    "crash_at_reset": "reset was not answered: the process ended with exit code 1\nthere is no database",
    "other_protocol": "result.protocol is 2, and 1 is wanted",
    "no_protocol": "result has no protocol",
    "no_object": "result is [], and object is wanted",
    "unknown_word": "result.version has no place here",
    "unknown_declaration": "`declares` has no word 'speed'",
    "unknown_limit": "has no limit 'tasks'",
    "unknown_policy": "has no policy 'manners'",
    "unknown_operation": "the adapter offers 'explode', which is no operation",
    "unknown_lack": "has no operation 'explode'",
    "odd_lacks": "lacks is a list of operations and signals, and this is 5",
    "lacks_and_offers": "the adapter says of subscribe that it lacks it, and that it is there",
}
FAST = {"garbage", "crash", "no_method", "answers_twice", "half_a_line"}


def target(way: str) -> str:
    return f"stdio:{sys.executable} -S {SCRIPT} {way}"


def verdicts(way: str, limit: float) -> dict[str, tuple[Verdict, str]]:
    """Run two rows; return how each ended, and what was told."""
    compiled = loaded("task-progress")
    with opened(compiled, target(way), limit) as system:
        report = Run(compiled, system, rows="N1,X10", budget=FEW).go()
    return {row.id: (row.verdict, row.reason) for row in report.rows}


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Let what is imported and made once be there before anything is counted."""
    verdicts("right", PATIENT)


@pytest.mark.parametrize("way", [way if way in FAST else pytest.param(way, marks=pytest.mark.thorough) for way in WAYS])
def test_a_hostile_adapter_comes_to_one_right_verdict_and_leaves_nothing(way: str) -> None:
    ends = WAYS[way]
    before = resident()
    with nothing_left():
        found = verdicts(way, ends.limit)
    verdict, reason = found["N1"]
    assert (verdict, found["X10"][0]) == (ends.verdict, ends.other), found
    assert ends.said in reason
    assert resident() < before + MEMORY


@pytest.mark.parametrize("way", UNUSABLE)
def test_an_adapter_that_cannot_be_asked_is_a_harness_error_and_leaves_nothing(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "silent_at_hello":
        monkeypatch.setattr(adapter, "HELLO_LIMIT", SOON)
    with nothing_left(), pytest.raises(HarnessError) as error:
        verdicts(way, SOON if way.startswith("silent") else PATIENT)
    assert UNUSABLE[way] in str(error.value)
    assert "adapter.py" not in str(error.value).replace("hostile_adapter.py", "")


def test_a_row_whose_calls_at_once_come_to_no_point_passes_weakly() -> None:
    with nothing_left():
        found = verdicts("tells_no_points", PATIENT)
    assert found["X10"] == (Verdict.PASS, ONE_STEP)


def test_a_refusal_by_a_code_that_there_is_not_is_a_fault_beside_the_row() -> None:
    compiled = loaded("task-progress")
    with nothing_left(), opened(compiled, target("unknown_refusal"), PATIENT) as system:
        report = Run(compiled, system, rows="N1", budget=FEW).go()
    assert (report["N1"].verdict, report.exit) == (PASS, EXIT_VIOLATES)
    assert report.footer is not None
    assert [each for each in report.footer.strays if each.startswith("operations.finish")]


def test_every_way_has_its_verdict() -> None:
    assert {*WAYS, *UNUSABLE, "unknown_refusal"} == {*hostile_adapter.WAYS}


@pytest.mark.thorough
def test_after_three_cases_in_vain_nothing_more_is_asked() -> None:
    compiled = loaded("task-progress")
    with nothing_left(), opened(compiled, target("garbage"), PATIENT) as system:
        report = Run(compiled, system, rows="N1,E5,X14,X16", budget=FEW).go()
    assert [row.verdict for row in report.rows] == [ERROR] * 4
    assert [row.reason.startswith("this is not JSON") for row in report.rows] == [True, True, True, False]
    told = "the adapter is not asked any more, after it could not be 3 times: this is not JSON"
    assert report["X16"].reason.startswith(told)
