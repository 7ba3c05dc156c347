"""What runs when a person asks for a run: the rows, the whole run with the searches, and replay.

`Run` runs a life cycle against an adapter; `replay` plays a saved counterexample again.
"""

from __future__ import annotations

from conformance.suite.baseline import Baseline, Known, read_baseline
from conformance.suite.machine import (
    ABOUT_MACHINE,
    PAIRS,
    SEARCHES,
    WALKS,
    SearchTally,
    rounds_of,
    run_machine,
    search,
)
from conformance.suite.pace import Pace
from conformance.suite.replays import Replay, Replayed, replay
from conformance.suite.row_facts import inapplicable, makes_calls_at_once, operations, tried_alone
from conformance.suite.rows import RowRunner
from conformance.suite.run import Run, run_row, selected
from conformance.suite.trace_file import Saver, read, save
from conformance.verdict import MACHINE
