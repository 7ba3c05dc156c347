"""Values beside the usual ones: texts that a system may tidy up or mistake, lists of one, records whose fields differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statemachines.compile import Compiled
from statemachines.types import List, Optional, RecordType, Text, Type, present

PIECES = ("x", "é", "😀")
LONG = "ä€😀 " * 1250  # more than whoever cuts texts leaves of one
UNTIDY = (" x ", "one\n\n two", "é😀", "<b>&amp; %s {x}</b>", '{"b":1, "a":2}', LONG)
# For what is told sign by sign; elsewhere an empty text may count as none.
ODD = ("", *UNTIDY, "\n x", "a\r\nb", "a\0b", "e\u0301", "\ufeffx", "\x1b[1mx")


def odd_values(compiled: Compiled, kind: Type, values: Sequence[Any]) -> list[Any]:
    """List odd values beside those of a type: untidy texts; of names the empty one, and what is like another; lists of one; mixed records."""
    match present(kind):
        case Text(name=name) if name in compiled.lifecycle.types:
            return list(_texts(compiled.lifecycle.types[name].text, values))
        case List(item=item):
            whole = values[-1] if values and isinstance(values[-1], list) else []
            found = odd_values(compiled, item, []) if isinstance(item, Text) else []
            return [*([each] for each in (whole if len(whole) > 1 else ())), *([found] if found else [])]
        case RecordType(fields=fields):
            ends = [each for each in (*values[:1], *values[-1:]) if isinstance(each, dict)]
            return _mixed(fields, ends)
        case _:
            return []


def _mixed(fields: Sequence[tuple[str, Type]], ends: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records of which one field is not as the others are: from another record, or nothing where there may be nothing."""
    found: list[dict[str, Any]] = []
    for record in ends:
        for name, kind in fields:
            others = [each[name] for each in ends] + ([None] if isinstance(kind, Optional) else [])
            mixed = ({**record, name: other} for other in others if other != record[name])
            found += [each for each in mixed if each not in found]
    return found


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
