"""From a case that failed to its counterexample: the trace, the shrink passes, and its text as a row.

`shrunk` makes the shortest trace that still shows the fault; its steps are written by `statemachines.rows`. `shown_as_row` writes
what a trace shows that nobody has played yet, and `shown_as_played` what a case has shown, as it stands.
"""

from __future__ import annotations

from conformance.counterexample.evidence import Fails, shrunk
from conformance.counterexample.row_cut import because, row_itself, without_needless_steps
from conformance.counterexample.shown import Shown, shown_as_played, shown_as_row
