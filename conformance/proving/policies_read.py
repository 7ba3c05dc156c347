"""Which policies what differs between two models reads: by those choices a mistake may show.

Not all that what differs leads to, as `compare.touched` has it: that is nearly every policy, and takes a hundred times as long.
"""

from __future__ import annotations

import re
from typing import Final

_POLICY: Final = re.compile(r"policies\.(\w+)")


def policies_read(one: str, other: str) -> set[str]:
    """Name the policies that the functions read in which two models differ."""
    ours, theirs = _functions(one), _functions(other)
    changed = [
        text
        for name in ours.keys() | theirs.keys()
        if ours.get(name) != theirs.get(name)
        for text in (ours.get(name, ""), theirs.get(name, ""))
    ]
    return {name for text in changed for name in _POLICY.findall(text)}


def _functions(source: str) -> dict[str, str]:
    """Return the functions of a module by name."""
    parts = re.split(r"^ *def (\w+)", source, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))
