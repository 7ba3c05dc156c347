"""A shipped spec as one text, for tests that change it: each group of rows stands in the place of its name."""

from __future__ import annotations

import re
from textwrap import indent

from statemachines.specs import spec_path


def rules_and_rows(name: str) -> tuple[str, str]:
    """The rules of a shipped lifecycle, and below `matrix:` all its rows."""
    rules = spec_path(name)
    head, _, listed = rules.read_text(encoding="utf-8").partition("\nmatrix: ")
    files = [rules.parent / "rows" / f"{group}.yaml" for group in re.findall(r"[a-z-]+", listed)]
    groups = [indent(file.read_text(encoding="utf-8"), "    ") for file in files]
    return f"{head}\n", "matrix:\n" + "".join(f"  -\n{group}" for group in groups)


def one_text(name: str) -> str:
    """A shipped lifecycle as the text of a single file."""
    return "".join(rules_and_rows(name))
