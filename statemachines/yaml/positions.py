"""Where the characters of a YAML scalar stand in its file: folding, chomping and escapes undone."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from statemachines.diagnostics import Where
from statemachines.yaml.tree import Spot

_PIECES = {  # what a scalar is made of that stands in such quotes: white space, characters as they are, (escapes)
    "": re.compile(r"[ \n]+|[^ \n]+"),
    "'": re.compile(r"[ \n]+|[^ \n']+|('')"),
    '"': re.compile(r"[ \n]+|[^ \n\\]+|(\\(?:\n[ \n]*|x..|u.{4}|U.{8}|.))"),
}


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of one file, line breaks already `\\n`, that turns character indices into places."""

    file: str
    text: str
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0, *(index + 1 for index, char in enumerate(self.text) if char == "\n")]
        object.__setattr__(self, "_starts", tuple(starts))

    def where(self, index: int) -> Where:
        """Return the place of the character at an index; an index past the end is the end."""
        inside = min(max(index, 0), len(self.text))
        line = bisect_right(self._starts, inside)
        return Where(self.file, line, inside - self._starts[line - 1] + 1)

    def spots(self, start: int, end: int, indicator: str, value: str) -> tuple[Spot, ...]:
        """Return the places of a scalar's characters and of its end; `indicator` is `'`, `"`, `|`, `>` or empty."""
        quote = len(indicator)
        flow = indicator in _PIECES
        if flow and end - start - 2 * quote == len(value) and "\n" not in self.text[start:end]:  # as it stands there
            place = self.where(start + quote)
            return (Spot(0, place.line, place.column),)
        indices = _flow(self.text, start + quote, end - quote, indicator) if flow else _block(self.text, start, value)
        runs: list[Spot] = []
        previous = -1
        for position, index in enumerate(indices):
            if position == 0 or index != previous + 1 or self.text[previous] == "\n":
                place = self.where(index)
                runs.append(Spot(position, place.line, place.column))
            previous = index
        return tuple(runs)


def _flow(text: str, start: int, end: int, quote: str) -> list[int]:
    """Return the index of each character of a plain or quoted scalar, and that of its end."""
    indices: list[int] = []
    for piece in _PIECES[quote].finditer(text, start, end):
        places = range(*piece.span())
        breaks = [index for index in places if text[index] == "\n"]
        if breaks:  # one line break is a space, after a backslash nothing; of several the first is dropped
            indices += breaks[1:] or ([] if piece.lastindex else breaks)
        else:
            indices += places[:1] if piece.lastindex else places
    return [*indices, end]


def _block(text: str, start: int, value: str) -> list[int]:
    """Return the index of each character of a literal or folded block scalar, and that of its end."""
    first = text.find("\n", start) + 1 or len(text)
    indent = _indent(text, first, value)

    def content(line: int) -> int:
        return next((index for index in range(line, line + indent) if text[index : index + 1] != " "), line + indent)

    indices, index = [], content(first)
    for char in value:
        while char not in " \n" and text[index : index + 1] == "\n":  # a line break that folding drops
            index = content(index + 1)
        indices.append(index)
        index = content(index + 1) if text[index : index + 1] == "\n" else index + 1
    return [*indices, indices[-1] + 1 if indices else first]


def _indent(text: str, first: int, value: str) -> int:
    """Return how deep the block stands: what its first line with a word in it has lost at its start."""
    if not value.strip(" \n"):
        blank = zip(text[first:].split("\n"), value.split("\n"), strict=False)
        return next((len(line) - len(kept) for line, kept in blank if kept), len(text))
    return _margin(text, first) - _margin(value, 0)


def _margin(text: str, start: int) -> int:
    """Return how far the first word after an index is from the start of its line."""
    word = next(index for index in range(start, len(text)) if text[index] not in " \n")
    return word - text.rfind("\n", 0, word) - 1
