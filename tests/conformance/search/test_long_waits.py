"""A search has a call wait long only where the spec lets it."""

from __future__ import annotations

import pytest

from conformance.search.long_waits import LONG_WAIT, waits_long
from statemachines.compile import load
from tests.checking import compile_text
from tests.conformance.judge.test_passing import LENT

ROW = """
matrix:
  N1:
    about: Who waits for a book that is there has it.
    level: must
    source: the library
    covers: [operations.lend]
    act: [lend(), wait_for_one({ms})]
    assert: shelf().size() == 1
"""


@pytest.mark.parametrize(
    ("kind", "given", "long"),
    [
        ("int", 5, True),
        ("{from: 1, to: 20}", 5, False),
        ("{from: 1, to: 999}", 5, False),
        ("{from: 1, to: 1000}", 5, True),
        ("{from: 1001, to: 2000}", 1500, False),
        ("{from: 1, to: 20}", 1500, True),  # so 20 is only as far as values are drawn
        ("{from: 1, to: 20}", 999, False),
    ],
)
def test_a_call_waits_long_where_its_type_or_a_row_says_so(kind: str, given: int, long: bool) -> None:
    text = LENT.replace("timeout: int", f"timeout: {kind}") + ROW.replace("{ms}", f"{given} + 0")
    assert waits_long(compile_text(text, "lent.yaml")) == ({("wait_for_one", "timeout")} if long else set())
    assert LONG_WAIT == 1000


def test_the_shipped_call_that_waits_may_wait_long() -> None:
    assert waits_long(load("background-tasks")) == {("wait_for_completion", "timeout")}


def test_what_no_spec_says_may_wait_long_does_not() -> None:
    assert not waits_long(load("thread-job"))


def test_a_row_that_is_only_recommended_makes_no_bound_wider() -> None:
    text = LENT.replace("timeout: int", "timeout: {from: 1, to: 20}") + ROW.replace("{ms}", "1500")
    assert waits_long(compile_text(text, "lent.yaml"))
    assert not waits_long(compile_text(text.replace("level: must", "level: should"), "lent.yaml"))
