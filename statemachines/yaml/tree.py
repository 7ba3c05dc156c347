"""A YAML document as frozen values: what each scalar is worth, and where its characters stand in the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from statemachines.diagnostics import Where

Style: TypeAlias = Literal["plain", "quoted", "block"]
Plain: TypeAlias = "str | int | bool | list[Plain] | dict[str, Plain] | None"

_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_LIMIT: Final = 1 << 63
_LONGEST_NUMBER: Final = 40


def resolve(text: str) -> str | int | bool | None:
    """Return what a plain scalar stands for: null, a boolean, an integer, else its text (`on`, `12:30`, `1.5`)."""
    if text in _WORDS:
        return _WORDS[text]
    if not _DECIMAL.fullmatch(text) and not _PREFIXED.fullmatch(text):
        return text
    if len(text) > _LONGEST_NUMBER:
        return -_LIMIT if text.startswith("-") else _LIMIT
    return int(text, 0 if text[:2] in ("0o", "0x") else 10)


def fits(value: str | int | bool | None) -> bool:
    """Return whether a value takes at most 64 bits, if it is a number."""
    return not isinstance(value, int) or -_LIMIT < value < _LIMIT


@dataclass(frozen=True, slots=True)
class Spot:
    """From character `index` of a text on, up to the next spot, the file reads on at this place."""

    index: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value, resolved by YAML 1.2's core rules (`value`), and as it reads once unfolded (`text`).

    A key's `value` is always its text. `where` is the first character, the opening quote, or the `|` or `>`.
    """

    value: str | int | bool | None
    text: str
    where: Where
    style: Style
    spots: tuple[Spot, ...] = ()

    def at(self, index: int) -> Where:
        """Return the place in the file of character `index` of `text`; the end of the text has a place too."""
        inside = min(max(index, 0), len(self.text))
        position = bisect_right(self.spots, inside, key=lambda spot: spot.index) - 1
        if position < 0:
            return self.where
        spot = self.spots[position]
        return Where(self.where.file, spot.line, spot.column + inside - spot.index)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list; `flow` tells `[…]` from one item a line."""

    items: tuple[Node, ...]
    where: Where
    flow: bool


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in the order of the file, no key twice; `flow` tells `{…}` from one entry a line."""

    entries: tuple[tuple[Scalar, Node], ...]
    where: Where
    flow: bool

    def get(self, name: str) -> Node | None:
        """Return the value under a name, or None."""
        return next((value for key, value in self.entries if key.text == name), None)

    def key(self, name: str) -> Scalar | None:
        """Return the key of that name with its place, or None."""
        return next((key for key, _ in self.entries if key.text == name), None)

    def keys(self) -> tuple[str, ...]:
        """Return the names, in the order of the file."""
        return tuple(key.text for key, _ in self.entries)


Node: TypeAlias = Scalar | Sequence | Mapping


def to_plain(node: Node) -> Plain:
    """Return the same document as dicts, lists and scalars, without places: what a JSON schema validates."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [to_plain(item) for item in node.items]
        case Mapping():
            return {key.text: to_plain(value) for key, value in node.entries}


def locate(node: Node, path: Iterable[str | int], *, key: bool = False) -> Where:
    """Return the place a path leads to, or of the deepest part that exists; with `key`, that of a member's key."""
    place = node.where
    for step in path:
        found = _step(node, step)
        if found is None:
            break
        name, node = found
        place = name.where if key and name is not None else node.where
    return place


def _step(node: Node, step: str | int) -> tuple[Scalar | None, Node] | None:
    match node:
        case Mapping():
            return next(((name, value) for name, value in node.entries if name.text == str(step)), None)
        case Sequence() if isinstance(step, int) and 0 <= step < len(node.items):
            return None, node.items[step]
        case _:
            return None
