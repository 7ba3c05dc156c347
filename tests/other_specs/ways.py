"""All that a right system may choose beside what it declares, as a system made from a model is told it."""

from __future__ import annotations

from typing import Any, Final

WAYS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"lenient": False},
    {"eager": True},
    {"prompt": False},
    {"descending": True},
    {"lenient": False, "eager": True, "prompt": False, "descending": True},
)
"""Ways of being right: what may be refused is refused, all is done that may be, late, with ids that fall."""
