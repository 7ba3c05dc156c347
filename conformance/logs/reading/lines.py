"""The lines of a log: read one at a time, as often as they are needed, each an object with its place."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from conformance.errors import UsageError

STANDARD_INPUT = "-"
LONGEST_ENTRY = 1 << 20  # bytes
BEGINNING = 240  # characters of a line that are shown


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a log: where it stands, and how it begins."""

    file: str
    number: int
    text: str

    @property
    def place(self) -> str:
        """Where it stands, as `file:line`."""
        return f"{self.file}:{self.number}"

    @property
    def shown(self) -> str:
        """The line, or its beginning if it is long; what cannot be printed is a dot."""
        text = "".join(each if each.isprintable() else "·" for each in self.text[:BEGINNING])
        return text if len(self.text) <= BEGINNING else f"{text}…"


class BadLine(Exception):
    """A line that cannot be read, or not as what it should be; the hint says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Source:
    """The lines of a file, or of what comes by standard input: that is kept in a file, so that it can be read again."""

    def __init__(self, path: str) -> None:
        self.name = "stdin" if path == STANDARD_INPUT else path
        self._path = path
        self._kept: IO[bytes] | None = None

    def lines(self) -> Iterator[tuple[LogLine, bytes | None]]:
        """Walk all lines from the first on; None in place of one that is too long. Raises UsageError."""
        for number, raw in enumerate(self._raw(), start=1):
            text = raw[: 4 * BEGINNING].decode("utf-8", "replace").rstrip("\r\n")
            yield LogLine(self.name, number, text[: BEGINNING + 1]), raw if len(raw) <= LONGEST_ENTRY else None

    def _raw(self) -> Iterator[bytes]:
        try:
            if self._path != STANDARD_INPUT:
                with Path(self._path).open("rb") as file:
                    yield from _cut(file)
                return
            if self._kept is None:
                self._kept = tempfile.TemporaryFile()  # noqa: SIM115 - it is there as long as this source
            self._kept.seek(0)
            yield from _cut(self._kept)
            for raw in _cut(sys.stdin.buffer):
                self._kept.write(raw)
                yield raw
        except OSError as error:
            raise UsageError(f"{self._path} cannot be read: {error.strerror}") from None


def _cut(file: IO[bytes]) -> Iterator[bytes]:
    """Walk the lines of a file; of one that is too long as much as shows it."""
    while raw := file.readline(LONGEST_ENTRY + 1):
        if len(raw) > LONGEST_ENTRY and not raw.endswith(b"\n"):
            while (rest := file.readline(LONGEST_ENTRY)) and not rest.endswith(b"\n"):
                pass
            raw = raw[:-1] + b"x\n"  # it ends as a line does, and is as long as one that is too long
        yield raw


def parsed(raw: bytes | None) -> dict[str, Any] | None:
    """Return the object on a line; None where nothing is on it. Raises BadLine."""
    if raw is None:
        raise BadLine(f"the line is longer than {LONGEST_ENTRY} bytes", "log less in one entry, or one entry a line")
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise BadLine(f"byte {error.start + 1} is no UTF-8", "save the log as UTF-8") from None
    if not text:
        return None
    try:
        found = json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise BadLine(f"no JSON: {error.msg} at column {error.colno}", _ONE_LINE) from None
    except (RecursionError, ValueError) as error:
        raise BadLine(f"no JSON: {str(error) or 'it nests too deep'}", _ONE_LINE) from None
    if not isinstance(found, dict):
        raise BadLine(f"a JSON object is expected, and this is {text[:40]}", _ONE_LINE)
    return found


_ONE_LINE = "each line is one JSON object, `{…}`; `on bad lines: skip` in a map leaves out what is none"


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
