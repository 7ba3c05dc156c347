"""Fields of an entry: where a dotted path leads, which entries are meant, and instants in whatever unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation
from typing import Any

from conformance.logs.reading.lines import BadLine
from statemachines.model import ANYTHING
from statemachines.types import Enum, List, Optional, RecordType, Time, Type

ANY = "*"  # in a condition: there is a value, whatever it is
UNITS: Mapping[str, int] = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
MS = UNITS["ms"]
ISO = "iso"


class _Absent:
    """No field is there."""


ABSENT = _Absent()


def found(data: Any, path: str) -> Any:
    """Return the value that a dotted path leads to, or ABSENT; a name that has dots itself is taken as a whole."""
    if isinstance(data, list):
        head, _, rest = path.partition(".")
        if not head.isdigit() or int(head) >= len(data):
            return ABSENT
        return found(data[int(head)], rest) if rest else data[int(head)]
    if not isinstance(data, dict):
        return ABSENT
    if path in data:
        return data[path]
    at = path.rfind(".")
    while at > 0:
        inner = data.get(path[:at], ABSENT)
        if inner is not ABSENT and (value := found(inner, path[at + 1 :])) is not ABSENT:
            return value
        at = path.rfind(".", 0, at)
    return ABSENT


def there(data: Any, path: str) -> Any:
    """Return the value that a path leads to; None where there is none."""
    value = found(data, path)
    return None if value is ABSENT else value


def meets(data: Any, conditions: Mapping[str, Any]) -> bool:
    """Return whether each field has its value, or one of its values; null is none, and `*` is any."""
    return all(_has(there(data, path), wanted) for path, wanted in conditions.items())


def _has(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return any(_has(value, each) for each in wanted)
    if wanted == ANY:
        return value is not None
    return type(value) is type(wanted) and bool(value == wanted)


# ── Values ──


def as_far_as_said(reply: Any, said: Any, *, listed: bool = False) -> Any:
    """Return a reply in which nothing is compared that an entry does not say: fields of records, but for the ids of those in a list."""
    match reply, said:
        case dict(), dict():
            kept = {*said, *([*reply][:1] if listed else [])}
            return {
                name: as_far_as_said(each, said.get(name)) if name in kept else ANYTHING for name, each in reply.items()
            }
        case list(), list():
            return [as_far_as_said(one, other, listed=True) for one, other in zip(reply, said, strict=True)]
        case _:
            return reply


def translated(kind: Type, raw: Any, words: Mapping[str, str], instant: Callable[[Any], Any]) -> Any:
    """Return a value in the words of the life cycle: those of its enumerations, names of fields, and instants in milliseconds."""
    match kind:
        case Optional(item=item):
            return None if raw is None else translated(item, raw, words, instant)
        case Enum() if isinstance(raw, str | int) and not isinstance(raw, bool):
            return words.get(str(raw), raw)
        case Time() if raw is not None:
            return instant(raw)
        case List(item=item) if isinstance(raw, list):
            return [translated(item, each, words, instant) for each in raw]
        case RecordType(fields=fields) if isinstance(raw, dict):
            kinds = dict(fields)
            named = {name if name in kinds else words.get(name, name): each for name, each in raw.items()}
            return {
                name: translated(kinds[name], each, words, instant) if name in kinds else each
                for name, each in named.items()
            }
        case _:
            return raw


def nanoseconds(raw: Any, unit: str) -> int:
    """Return an instant as a number of nanoseconds. Raises BadLine."""
    if unit == ISO:
        return _iso(raw)
    try:
        return int(Decimal(str(None if isinstance(raw, bool) else raw)) * UNITS[unit])
    except (InvalidOperation, OverflowError, ValueError):
        raise BadLine(f"{raw!r} is no number of {unit}", "say the `unit` of `time`: ms, s, us, ns or iso") from None


_FRACTION = re.compile(r"\.([0-9]+)")


def _iso(raw: Any) -> int:
    """Return an instant that is written as ISO 8601 has it; without an offset it is UTC."""
    try:
        raw = str(raw)
        fraction = _FRACTION.search(raw)
        whole = datetime.fromisoformat(_FRACTION.sub("", raw, count=1))
        whole = whole if whole.tzinfo is not None else whole.replace(tzinfo=timezone.utc)  # noqa: UP017 - 3.11 has both
        part = int(fraction[1][:9].ljust(9, "0")) if fraction else 0
        return int(whole.timestamp()) * UNITS["s"] + part
    except ValueError:
        hint = "write it as 2026-01-31T12:00:00.250Z, or say the `unit` of `time`: ms, s, us or ns"
        raise BadLine(f"{raw!r} is no instant of ISO 8601", hint) from None
