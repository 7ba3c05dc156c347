"""Elements of SVG: made as a tree, so that every text is escaped where it is written."""

from __future__ import annotations

import textwrap
from xml.etree.ElementTree import Element, tostring

from conformance.report import visible


def element(kind: str, said: str = "", /, **attributes: object) -> Element:
    """Return an element; `_` in the name of an attribute stands for a hyphen, and at its end for nothing."""
    named = {
        name.rstrip("_").replace("_", "-"): visible(_written(value)).replace("\n", " ")
        for name, value in attributes.items()
        if value != ""
    }
    found = Element(kind, named)
    found.text = visible(said) or None
    return found


def _written(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def text_of(root: Element) -> str:
    """Return an element and all in it as text."""
    return tostring(root, encoding="unicode")


def wrapped(said: str, width: int, most: int = 0, before: str = "") -> list[str]:
    """Return the lines of a text, none wider than so many characters; of many the first ones.

    `before` stands before the first line; the others are indented as far.
    """
    lines = textwrap.wrap(
        visible(" ".join(said.split())),
        width,
        initial_indent=before,
        subsequent_indent=" " * len(before),
        break_long_words=True,
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [before.rstrip()]
    if most and len(lines) > most:
        return [*lines[: most - 1], f"{lines[most - 1][: width - 1]}…"]
    return lines
