"""What is wrong with a spec, where, and what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Where:
    """A place in a file: line and column count from 1, columns in code points."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault of a spec: a stable kebab-case code, its place, what is wrong, and what to do about it."""

    code: str
    where: Where
    message: str
    hint: str

    def render(self) -> str:
        """`file:line:column: error [code] message`, and the hint, if any, indented on a line below."""
        head = f"{self.where}: error [{self.code}] {self.message}"
        return f"{head}\n  hint: {self.hint}" if self.hint else head

    def __str__(self) -> str:
        return self.render()


class SpecError(Exception):
    """A spec cannot be used: carries every fault that was found, each once, sorted by position."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(
            sorted(set(diagnostics), key=lambda each: (each.where, each.code, each.message, each.hint))
        )
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """`did you mean 'x'?` for the candidate closest to a misspelt word, or "" if none is close."""
    known = sorted(set(candidates) - {word})
    folded = {name.casefold(): name for name in reversed(known)}
    close = difflib.get_close_matches(word, known, n=1) or [
        folded[name] for name in difflib.get_close_matches(word.casefold(), list(folded), n=1)
    ]
    return f"did you mean {close[0]!r}?" if close else ""


def unknown(code: str, where: Where, word: str, message: str, known: Collection[str], hint: str = "") -> Diagnostic:
    """Return the fault that a word is none of those known: its hint is the closest one, else the one given, else all."""
    return Diagnostic(code, where, message, did_you_mean(word, known) or hint or f"known: {', '.join(known)}")
