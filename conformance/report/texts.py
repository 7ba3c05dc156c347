"""Values as a person reads them: times, counts, names, and texts that cannot steer a terminal."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from typing import TextIO

NAMED = 8  # ids that a sentence names before it only counts
LONGEST_VALUE, MOST_LINES = 1200, 24  # of a value that a person is shown; the report has the whole


def duration(seconds: float) -> str:
    """Return a time in at most six characters: `12ms`, `1.24s`, `12.4s`, `2m05s`."""
    seconds = round(seconds, 6)  # as it is saved: a report that is shown again says the same
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 59.95:
        return f"{seconds:.2f}s" if seconds < 9.995 else f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s"


def number(count: int, noun: str) -> str:
    """Return `1 row`, `2 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def named(ids: Sequence[str], most: int = NAMED) -> str:
    """Name rows: `N1, N2 and E4`; of many only the first."""
    if len(ids) > most:
        return f"{', '.join(ids[: most - 1])} and {len(ids) - most + 1} more"
    return " and ".join(part for part in (", ".join(ids[:-1]), *ids[-1:]) if part)


def visible(text: str) -> str:
    """Return a text with every character that is no mark on the screen escaped; lines stay lines.

    What a system under test says may hold anything, escape sequences of a terminal included.
    """
    return "".join(_escaped(char) for char in text.replace("\r\n", "\n"))


def tolerant(stream: TextIO) -> None:
    """Let a stream escape the characters that its encoding does not have, instead of raising an error."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _escaped(char: str) -> str:
    marked = unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} and char not in "\ufffe\uffff"
    if char == "\n" or marked:
        return char
    return char.encode("unicode_escape").decode("ascii")


def one_line(text: str) -> str:
    """Return a text on one line."""
    return visible(" ".join(text.split()))


def cut(text: str) -> str:
    """Return a text, or as much of it as a person reads, and how much is missing."""
    lines = visible(text).strip("\n").split("\n")
    kept = "\n".join(lines[:MOST_LINES])
    left = {"character": len(kept) - LONGEST_VALUE, "line": len(lines) - MOST_LINES}
    more = [f"… and {number(count, noun)} more, in the report" for noun, count in left.items() if count > 0]
    return "\n".join([kept[:LONGEST_VALUE], *more])


def latest(lines: Sequence[str]) -> str:
    """Return the last lines, as many as a person reads, and how many came before."""
    kept = [visible(line) for line in lines[-MOST_LINES:]]
    before = len(lines) - len(kept)
    return "\n".join([*([f"… {number(before, 'line')} before, in the report"] if before else []), *kept])
