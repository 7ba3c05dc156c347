"""Where calls come from when no row says so: the stateful test of Hypothesis, random walks, concurrent pairs.

Only this floor imports Hypothesis, which is slow to load: import from here inside functions.
"""

from __future__ import annotations

from conformance.search import pairs, stateful, walks
from conformance.search.faults import Diverged, Faults
from conformance.search.stateful import Driver
from conformance.search.strategies import Falsified, draw
