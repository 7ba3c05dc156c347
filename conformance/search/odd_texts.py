"""Values beside the usual ones: texts that a system may tidy up or mistake, although it only has to carry them about, and lists of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statemachines.compile import Compiled
from statemachines.types import List, Text, Type, present

PIECES = ("x", "é", "😀")
LONG = "ä€😀 " * 1250  # more than whoever cuts texts leaves of one
UNTIDY = (" x ", "one\n\n two", "é😀", "<b>&amp; %s {x}</b>", '{"b":1, "a":2}', LONG)
# For what is told sign by sign; elsewhere an empty text may count as none.
ODD = ("", *UNTIDY, "\n x", "a\r\nb", "a\0b", "e\u0301", "\ufeffx", "\x1b[1mx")


def odd_values(compiled: Compiled, kind: Type, values: Sequence[Any]) -> list[Any]:
    """List odd values beside those of a type: untidy texts; of names the empty one, and what others may be taken for; lists of one."""
    match present(kind):
        case Text(name=name) if name in compiled.lifecycle.types:
            return list(_texts(compiled.lifecycle.types[name].text, values))
        case List(item=item):
            whole = values[-1] if values and isinstance(values[-1], list) else []
            found = odd_values(compiled, item, []) if isinstance(item, Text) else []
            return [*([each] for each in (whole if len(whole) > 1 else ())), *([found] if found else [])]
        case _:
            return []


def _texts(drawn: str, values: Sequence[Any]) -> Sequence[str]:
    match drawn:
        case "short":
            return UNTIDY
        case "around":
            return ODD
        case _:
            known = [each for each in values if isinstance(each, str)][1:]  # the first one is new
            alike = [odd for each in known[-1:] for odd in (f"{each}x", each.swapcase())]
            return [each for each in ("", *alike) if each not in known]
