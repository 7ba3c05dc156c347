"""Long texts as a few pieces, each with how often it comes: `[["x\\n", 999], ["x", 1]]`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

WRITTEN_OUT: Final = 200  # signs of a text that is written out
WIDEST_PIECE: Final = 8  # signs of a piece that is repeated
OFTEN: Final = 8  # how often it is, for its count to be shorter
Pieces = list[list[str | int]]


def in_pieces(text: str) -> Pieces:
    """Return a text as pieces: equal lines that follow each other are one, and so is what a line repeats."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    found: Pieces = []
    for line, same in itertools.groupby(lines):
        count = len([*same])
        found += [[line, count]] if count > 1 else _repeated(line)
    joined: Pieces = []
    for part in found:
        if joined and joined[-1][1] == part[1] == 1:
            joined[-1][0] = f"{joined[-1][0]}{part[0]}"
        else:
            joined.append(part)
    return joined


def of_pieces(pieces: Sequence[Sequence[str | int]]) -> str:
    """Return the text that pieces make."""
    return "".join(str(piece) * int(count) for piece, count in pieces)


def _repeated(text: str) -> Pieces:
    """Return a text as a short piece that it repeats from its beginning, and the rest."""
    for width in range(1, WIDEST_PIECE + 1):
        piece, count = text[:width], 1
        while piece and text.startswith(piece, count * width):
            count += 1
        if count > OFTEN:
            return [[piece, count], *_repeated(text[count * width :])]
    return [[text, 1]] if text else []
