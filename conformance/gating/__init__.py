"""What stands between a run and a pipeline that turns red or stays green: a report is held against an earlier one.

`compared` says of two reports what got worse, what got better, and what is new.
"""

from __future__ import annotations

from conformance.gating.comparison import Change, Comparison, Incomparable, compared
