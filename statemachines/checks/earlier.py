"""What an earlier check found right, kept in a file: a row, or a small scope, that has not changed since is not looked at again.

What a row shows on the model depends on the rules, on what the row says and on how much is tried, and on nothing else. Only what is
right is kept: of a fault the place has to be told, and that moves.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from statemachines.bounds import Bounds
from statemachines.lifecycle import Lifecycle, Row
from statemachines.requirements import requirements_of, row_hash


def _kit(folder: Path) -> str:
    """Return what tells this state of the kit from another one: a check that was mended looks again."""
    files = ((str(each.relative_to(folder)), each.read_text(encoding="utf-8")) for each in sorted(folder.rglob("*.py")))
    return _hash(*(part for file in files for part in file))


def _hash(*said: str) -> str:
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


_KIT: Final = _kit(Path(__file__).parent.parent)
"""The state that runs here: what changes on the disk after it was loaded does not count."""


class HeldRow(NamedTuple):
    """A row that holds: in how many runs, and 1 for each clause that one of them witnessed."""

    runs: int
    seen: bytes


class RightScope(NamedTuple):
    """A small scope without a fault: how much was looked at, whether that was all, and the clauses that were witnessed."""

    states: int
    transitions: int
    whole: bool
    witnessed: frozenset[str]


class Earlier:
    """What the last check of a spec found right, as far as it says the same now; what this one finds is noted, and kept by `keep`.

    A file that cannot be read, or written, or that somebody has changed, is none: a check needs it only to be quick.
    """

    def __init__(self, lifecycle: Lifecycle, bounds: Bounds, folder: Path | None) -> None:
        self._file = (
            None if folder is None else folder / f"{lifecycle.name}-{_hash(str(Path(lifecycle.file).resolve()))}.json"
        )
        self._of = "" if folder is None else _hash(f"{requirements_of(lifecycle).rules} {bounds} {_KIT}")
        self._rows: dict[str, HeldRow] = {}
        self._scope: RightScope | None = None
        self._noted: dict[str, HeldRow] = {}
        with suppress(OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            self._read()

    def row(self, row: Row) -> HeldRow | None:
        """Return what is known of a row that says what it said when it held; None where nothing is."""
        return self._noted.setdefault(key, self._rows[key]) if (key := _key(row)) in self._rows else None

    def note_row(self, row: Row, held: HeldRow) -> None:
        """Take note of a row that holds."""
        self._noted[_key(row)] = held

    def scope(self) -> RightScope | None:
        """Return what is known of the small scope of these rules; None where nothing is."""
        return self._scope

    def note_scope(self, scope: RightScope) -> None:
        """Take note of a small scope without a fault."""
        self._scope = scope

    def keep(self) -> None:
        """Write what was asked for or noted this time, in place of what was there."""
        if self._file is None:
            return
        scope = None if self._scope is None else [*self._scope[:3], sorted(self._scope.witnessed)]
        rows = {key: [held.runs, held.seen.hex()] for key, held in self._noted.items()}
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            whole = self._file.with_suffix(f".{os.getpid()}")
            body = json.dumps({"of": self._of, "scope": scope, "rows": rows})
            whole.write_text(f"{_hash(body)}\n{body}", encoding="utf-8")
            whole.replace(self._file)

    def _read(self) -> None:
        if self._file is None:
            return
        written, _, body = self._file.read_text(encoding="utf-8").partition("\n")
        kept: Any = json.loads(body) if written == _hash(body) else {}
        if kept.get("of") != self._of:
            return
        rows = {key: HeldRow(runs, bytes.fromhex(seen)) for key, (runs, seen) in kept["rows"].items()}
        states, transitions, whole, witnessed = kept["scope"] or (0, 0, False, ())
        self._rows = rows
        self._scope = RightScope(states, transitions, whole, frozenset(witnessed)) if kept["scope"] else None


def _key(row: Row) -> str:
    return f"{row.level} {row_hash(row)}"
