"""`Lifecycle` → kernel: every sentence becomes a few verbs, each with the path of the clause that it is.

A new word of the language gets its meaning here; faults of names and types are found here, all at once.
"""

from __future__ import annotations

from statemachines.lower.spec import lower
