"""Mutants: kernels that do one thing otherwise than the spec says, each by a named mistake that people make, told in words.

`mutants` lists them; what they show of a suite, or of a system, others find out.
"""

from __future__ import annotations

from statemachines.mutants.operators import IN_PLACE, LEFT_OUT, mutants
from statemachines.mutants.wording import Mutant, written
