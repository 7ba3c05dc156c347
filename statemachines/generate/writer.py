"""Python source as it is written: one statement a line, indented; who keeps a module runs a formatter over it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

WIDTH = 110
INDENT = "    "


def tuple_of(parts: Iterable[str]) -> str:
    """Write a tuple of what was written before."""
    written = list(parts)
    return f"({', '.join(written)}{',' if len(written) == 1 else ''})"


class Writer:
    """Gathers lines; `block` indents what is written within it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, statement: str = "") -> None:
        """Write one statement at the present depth, or an empty line."""
        self.verbatim(statement or "\n")

    @contextmanager
    def bracketed(self, head: str, tail: str) -> Iterator[None]:
        """Write the lines around entries, which are written within."""
        self.verbatim(head)
        self._depth += 1
        yield
        self._depth -= 1
        self.verbatim(tail)

    def entry(self, text: str) -> None:
        """Write one entry of a tuple or a dict."""
        self.verbatim(f"{text},")

    def verbatim(self, text: str) -> None:
        """Write lines as they are: comments, and source that was written before."""
        self._lines += [INDENT * self._depth + line if line else "" for line in text.splitlines()]

    def docstring(self, text: str) -> None:
        """Write a text as a docstring; nothing for an empty one."""
        words = " ".join(text.split()).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        if not words:
            return
        whole = f'"""{words} """' if words.endswith('"') else f'"""{words}"""'
        width = WIDTH - len(INDENT) * self._depth
        if len(whole) <= width:
            self.verbatim(whole)
        else:
            self.verbatim("\n".join(textwrap.wrap(f'"""{words}', width, break_long_words=False)))
            self.verbatim('"""')

    @contextmanager
    def block(self, head: str = "") -> Iterator[None]:
        """Write the head of a block, and indent what is written within; an empty block gets `pass`."""
        if head:
            self.line(head)
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1

    def text(self) -> str:
        """Return everything that was written."""
        return "\n".join(self._lines).rstrip() + "\n"
