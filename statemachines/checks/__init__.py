"""Is a spec right before it runs: rows against the model, coverage of clauses, unused names, unreachable states.

`check` runs every check of a spec and returns all faults, sorted by place.
"""

from __future__ import annotations

from statemachines.checks.answered import AnsweredCalls, NoRow, RowsOfAnswers, new_names
from statemachines.checks.by_order import only_in_some_order, witnessed_by_order
from statemachines.checks.choices import watched
from statemachines.checks.coverage import avoided
from statemachines.checks.exploration import SOURCE, steps_of, violated, way_as_row
from statemachines.checks.rows import Needs, holds
from statemachines.checks.spec import Checked, check, check_compiled
