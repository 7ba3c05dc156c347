"""Who is told of a run: the screen, the files of counterexamples, a JUnit file."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from conformance.render import View
from conformance.replay import clear, save
from conformance.report import Coverage, Footer, Header, Report, Watcher
from conformance.verdict import RowResult


def view() -> View:
    """Give the view for standard output: a terminal, or a pipe."""
    stream = sys.stdout
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        from conformance.render.terminal import Terminal

        return Terminal(stream)
    from conformance.render.plain import Plain

    return Plain(stream)


def rerun(header: Header, row_id: str) -> str:
    """Give the command that runs one row again."""
    return (
        f"conformance run {shlex.quote(header.called)} --against {shlex.quote(header.target)} --rows {row_id}"
    )


class Saver(Watcher):
    """Writes every counterexample to a file, and knows how to run it again.

    The file that an earlier run of the same target wrote for a row goes when the row has a result, so that nobody
    replays a fault that was mended, and a run that is broken off loses nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.commands: dict[str, str] = {}  # row → the command that runs its counterexample again, or the row

    def header(self, header: Header) -> None:
        """Note what is run against what."""
        self._header = header

    def row(self, result: RowResult) -> None:
        """Save a counterexample, and forget what an earlier run found of this row."""
        header = self._header
        clear(self._folder, header.called, header.target, result.id)
        if result.counterexample is None:
            self.commands[result.id] = rerun(header, result.id)
            return
        try:
            path = save(self._folder, header.called, header.target, result.id, result.counterexample)
        except OSError as error:
            self.commands[result.id] = f"(not saved: {error})"
        else:
            self.commands[result.id] = (
                f"conformance replay {shlex.quote(str(path))} --against {shlex.quote(header.target)}"
            )


class Shown(Watcher):
    """Shows a run to a person, with the commands of a saver that was told first."""

    def __init__(self, shown: View, saver: Saver) -> None:
        self._view, self._saver = shown, saver

    def header(self, header: Header) -> None:
        """Show what is run against what."""
        self._view.header(header)

    def began(self, row_id: str) -> None:
        """Show which row runs now."""
        self._view.began(row_id)

    def row(self, result: RowResult) -> None:
        """Show a result with the command that runs it again."""
        self._view.row(result, self._saver.commands[result.id])

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """Show what failed, and the summary."""
        self._view.finish(coverage, footer)


class Junit(Watcher):
    """Writes a JUnit file when the run has ended."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._rows: list[RowResult] = []

    def header(self, header: Header) -> None:
        """Keep the header."""
        self._header = header

    def row(self, result: RowResult) -> None:
        """Keep a result."""
        self._rows.append(result)

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """Write the file."""
        from conformance.render.junit import junit

        report = Report(self._header, tuple(self._rows), coverage, footer)
        self._write(junit(report))
