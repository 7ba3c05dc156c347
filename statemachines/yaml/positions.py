"""Where the characters of a YAML scalar stand in its file: folding, chomping and escapes undone."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from statemachines.diagnostics import Where
from statemachines.yaml.tree import Spot

_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_Placed = list[tuple[str, int]]


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
        quote = len(indicator) if indicator in ("'", '"') else 0
        if self.text[start + quote : end - quote] == value and "\n" not in value and indicator not in ("|", ">"):
            place = self.where(start + quote)
            return (Spot(0, place.line, place.column),)
        block = indicator in ("|", ">")
        flow = (self.text, start + quote, end - quote, indicator)
        placed = _block(self.text, start, value) if block else _flow(*flow)
        if "".join(char for char, _ in placed) != value:
            return ()
        return self._runs([index for _, index in placed])

    def _runs(self, indices: list[int]) -> tuple[Spot, ...]:
        runs: list[Spot] = []
        previous = -1
        for position, index in enumerate(indices):
            if position == 0 or index != previous + 1 or self.text[previous] == "\n":
                place = self.where(index)
                runs.append(Spot(position, place.line, place.column))
            previous = index
        return tuple(runs)


def _flow(text: str, start: int, end: int, quote: str) -> _Placed:
    """Each character of a plain or quoted scalar with its index, and an empty one for the end."""
    placed: _Placed = []
    index = start
    while index < end:
        if text[index] in " \n":
            after = _skip(text, index, end)
            placed += _folded(text, index, after)
        elif quote == "'" and text[index] == "'":
            placed.append(("'", index))
            after = index + 2
        elif quote == '"' and text[index] == "\\":
            chars, after = _escape(text, index, end)
            placed += chars
        else:
            placed.append((text[index], index))
            after = index + 1
        index = after
    return [*placed, ("", end)]


def _skip(text: str, index: int, end: int) -> int:
    while index < end and text[index] in " \n":
        index += 1
    return index


def _folded(text: str, start: int, end: int) -> _Placed:
    breaks = [index for index in range(start, end) if text[index] == "\n"]
    if not breaks:
        return [(" ", index) for index in range(start, end)]
    return [("\n", index) for index in breaks[1:]] or [(" ", breaks[0])]


def _escape(text: str, index: int, end: int) -> tuple[_Placed, int]:
    letter = text[index + 1 : index + 2]
    if letter == "\n":
        after = _skip(text, index + 2, end)
        return [("\n", place) for place in range(index + 2, after) if text[place] == "\n"], after
    after = index + 2 + _HEX_DIGITS.get(letter, 0)
    return [(_unescaped(letter, text[index + 2 : after]), index)], after


def _unescaped(letter: str, digits: str) -> str:
    if digits:
        return chr(int(digits, 16))
    named = dict(zip("0abtnvfreN_LP", "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029", strict=True))
    return named.get(letter, letter)


def _block(text: str, start: int, value: str) -> _Placed:
    """Each character of a literal or folded block scalar with its index, and an empty one for the end."""
    first = text.find("\n", start) + 1 or len(text)
    header = text[start + 1 : first].partition("#")[0]
    placed, tail, breaks = _block_lines(text, first, _indent(text, first, value), folded=text[start] == ">")
    if "-" not in header:
        placed += tail
    if "+" in header:
        placed += breaks
    return [*placed, ("", placed[-1][1] + 1 if placed else first)]


def _indent(text: str, first: int, value: str) -> int:
    """Return how deep the block stands: what its first line with a word in it has lost at its start."""
    if not value.strip(" \n"):
        blank = zip(text[first:].split("\n"), value.split("\n"), strict=False)
        return next((len(line) - len(kept) for line, kept in blank if kept), len(text))
    return _margin(text, first) - _margin(value, 0)


def _margin(text: str, start: int) -> int:
    word = _skip(text, start, len(text))
    return word - text.rfind("\n", 0, word) - 1


def _block_lines(text: str, first: int, indent: int, folded: bool) -> tuple[_Placed, _Placed, _Placed]:
    """Return the lines joined, then the last one's own line break, then the empty lines below it."""
    placed: _Placed = []
    tail: _Placed = []
    breaks, index, inside = _empty_lines(text, first, indent)
    while inside:
        placed += tail + breaks
        end = text.find("\n", index)
        stop = len(text) if end < 0 else end
        placed += [(text[place], place) for place in range(index, stop)]
        plain = text[index] != " "
        tail = [("\n", end)] if end >= 0 else []
        breaks, index, inside = _empty_lines(text, stop + 1, indent)
        if inside and folded and plain and text[index] != " ":
            tail = [] if breaks else [(" ", end)]
    return placed, tail, breaks


def _empty_lines(text: str, index: int, indent: int) -> tuple[_Placed, int, bool]:
    """Return the empty lines from an index on, where the next line's content starts, and if it is deep enough."""
    breaks: _Placed = []
    while True:
        start = index
        while index < len(text) and index - start < indent and text[index] == " ":
            index += 1
        if index >= len(text) or text[index] != "\n":
            return breaks, index, index < len(text) and index - start == indent
        breaks.append(("\n", index))
        index += 1
