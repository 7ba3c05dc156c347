"""From a case that failed to its counterexample: the trace, the shrink passes, and its text as a row.

`shrunk` makes the shortest trace that still shows the fault; its steps are written by `statemachines.rows`.
"""

from __future__ import annotations

from conformance.counterexample.evidence import Fails, because, row_itself, shrunk
from conformance.counterexample.row_cut import without_needless_steps
