"""A way through the configurations as a row of the matrix, in the spec's own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.expression.emit import python_name
from statemachines.explore import Call, Violation, scopes
from statemachines.model import BaseModel, Impossible
from statemachines.types import Enum, Id, List, Ref, Text, Type, present

_STEP: Final = "    - "


def as_row(compiled: Compiled, violation: Violation) -> str:
    """Write the shortest way to a violation as a row that can be put into the matrix.

    Its one assertion is `true`: what does not hold is the invariant, and no caller sees that. Steps that
    the implementation takes unasked are comments, for a row cannot ask for them.
    """
    limits = _limits(compiled, violation)
    story = _Story(compiled, limits)
    steps = [line for call in violation.trace for line in story.lines(call)]
    told = {"invariant": f"{violation.name} - does not hold afterwards.", "failure": "A step that cannot be carried out."}
    lines = [
        "X99:",
        f"  about:  {told.get(violation.kind, 'The implementation never rests afterwards.')}",
        "  level:  must",
        "  source: exploration",
        f"  covers: {_covered(violation)}",
        *_needs(compiled, limits),
        "  act:",
        *[f"    - {name} = fresh({kind})" for name, kind in story.shared(violation.trace)],
        *steps,
        "  assert:",
        "    - true",
    ]
    return "\n".join(f"  {line}" for line in lines)
