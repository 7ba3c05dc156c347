"""Tree → `Lifecycle`: the words of the language, where each may stand, and what an author wrote with them.

A new word of the language is added to the schema and read here; what it means is said in `lower/`.
"""

from __future__ import annotations

from statemachines.surface.files import read_spec, rules_of, with_rows
from statemachines.surface.reader import Reader
from statemachines.surface.rows import row, step_of
from statemachines.surface.spec import read_lifecycle
from statemachines.surface.structure import check_structure
