"""From a case that failed to its counterexample: the trace, the shrink passes, and its text as a row.

`shrunk` makes the shortest trace that still shows the fault; its steps are written by `statemachines.rows`. `play` plays a
trace on a fresh system, judged, and `as_row` writes what that shows.
"""

from __future__ import annotations

from conformance.counterexample.evidence import Fails, because, row_itself, shrunk
from conformance.counterexample.play import Played, play
from conformance.counterexample.row_cut import without_needless_steps
from conformance.counterexample.text import as_row
