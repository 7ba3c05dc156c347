"""The last lines that a process has printed beside its answers."""

from __future__ import annotations

import codecs
from typing import Final

_KEPT: Final = 20
_WIDEST: Final = 600  # characters of a line that are kept


class LastLines:
    """Takes what is printed as it comes, and keeps its end, however much it is."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._lines: list[str] = []  # another one at each change: it may be read at any moment
        self._rest = ""

    def add(self, chunk: bytes) -> None:
        """Take what was printed next."""
        *lines, self._rest = (self._rest + self._decoder.decode(chunk)).split("\n")
        self._lines = [*self._lines, *(line[:_WIDEST] for line in lines[-_KEPT:])][-_KEPT:]
        self._rest = self._rest[:_WIDEST]

    def __str__(self) -> str:
        lines, rest = self._lines, self._rest
        return "\n".join([*lines, rest] if rest else lines)
