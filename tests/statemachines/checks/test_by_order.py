"""What a row witnesses in each order of its calls at once, and what only in some."""

from __future__ import annotations

from statemachines.checks import witnessed_in_each_order
from statemachines.compile import load
from statemachines.rows import RowCompiler


def test_what_only_one_order_witnesses_is_left_out() -> None:
    compiled = load("thread-job")
    program = RowCompiler(compiled.lifecycle).program(compiled.lifecycle.rows["X65"])
    found = witnessed_in_each_order(compiled, program, {}, {}, {})
    assert "messages.Ended.due" in found  # whichever is first
    assert "on its own.wake_up" not in found  # the thread may be busy before the job ends
