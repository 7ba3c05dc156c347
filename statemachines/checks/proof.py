"""Whether one row, given as text, holds on the model whatever a right implementation chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from statemachines.checks.rows import run_row
from statemachines.compile import Compiled
from statemachines.surface import Reader
from statemachines.surface import row as read_row
from statemachines.yaml import read, tree


def holds(compiled: Compiled, text: str, limits: Mapping[str, int | None], policies: Mapping[str, Any]) -> bool:
    """Run a row on the model with these limits and policies, as `check` does; tell whether it holds every time."""
    reader = Reader()
    ((name, body),) = reader.entries(cast(tree.Mapping, read(text, "row")))
    row = read_row(reader, name, body)
    return not reader.faults and not run_row(compiled, row, limits, policies)
