"""Lines of Python source, indented."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Writer:
    """Gathers lines; `block` indents what is written within it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        """Write one line at the present depth."""
        self._lines.append("    " * self._depth + text if text else "")

    @contextmanager
    def block(self) -> Iterator[None]:
        """Indent the lines written within; an empty block gets `pass`."""
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1

    def text(self) -> str:
        """Give everything that was written."""
        return "\n".join(self._lines).rstrip() + "\n"
