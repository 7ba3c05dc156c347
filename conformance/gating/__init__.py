"""What stands between a run and a pipeline that turns red or stays green.

A report is held against an earlier one, and a row against what a revision requires: `compared` and `measured_by`.
"""

from __future__ import annotations

from conformance.gating.comparison import Change, Comparison, Incomparable, compared, to_run_again
from conformance.gating.revision import Measure, frozen, measured_by
