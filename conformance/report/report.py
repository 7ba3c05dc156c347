"""A whole report as one value: what `conformance.run` returns, and what a file of a report is read to."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TextIO

from conformance.report.records import Coverage, Footer, Header, Stream, Watcher
from conformance.report.texts import named
from conformance.report.view import PlainView, ReplayCommand, View
from conformance.verdict import EXIT_CONFORMS, EXIT_UNKNOWN, RowResult
from statemachines.diagnostics import did_you_mean


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A whole report, or as much of it as a run that was cut off has written; its repr is the text for people.

    header    what ran against what, and the rows that were planned
    rows      the results in the order of the header: verdict, reason, seconds, and the counterexample if there is one
    coverage  how often each clause was witnessed, and those never witnessed
    footer    how many rows have each verdict, and the exit code; None for a run that did not finish
    replays   by row, the line that runs its counterexample again where that was saved, or the row; no part of a file
    """

    header: Header
    rows: tuple[RowResult, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    footer: Footer | None = None
    replays: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return self.footer is not None

    @property
    def exit(self) -> int:
        """The exit code of the run: 0 conforms, 1 violates, 3 harness error, 4 could not tell, or did not finish."""
        return EXIT_UNKNOWN if self.footer is None else self.footer.exit

    @property
    def ok(self) -> bool:
        """Whether the run finished and the system conforms, as far as it was asked."""
        return self.exit == EXIT_CONFORMS

    def __getitem__(self, row_id: str) -> RowResult:
        """Return the result of a row; raise KeyError, which says what there is, where there is none."""
        for result in self.rows:
            if result.id == row_id:
                return result
        planned = [row.id for row in self.header.rows]
        if row_id in planned:
            raise KeyError(f"{row_id} has no result: the run did not come to it")
        hint = did_you_mean(str(row_id), planned) or f"there are {named(planned)}"
        raise KeyError(f"the run did not ask for a row {row_id!r}; {hint}")

    def tell(self, watcher: Watcher) -> None:
        """Tell a watcher of the run as if it went on now; it is not told of an end that there was not."""
        watcher.header(self.header)
        for result in self.rows:
            watcher.row(result)
        if self.footer is not None:
            watcher.finish(self.coverage, self.footer)

    def show(self, view: View) -> None:
        """Show the whole report, to its end."""
        with view:
            self.tell(view)

    def dump(self) -> str:
        """Return the report as JSON Lines, as its run wrote it."""
        lines: list[str] = []
        self.tell(Stream(lines.append))
        return "".join(lines)

    def __repr__(self) -> str:
        text = io.StringIO()
        self.show(PlainView(text, self.replays.__getitem__ if self.replays else None))
        return text.getvalue().rstrip("\n")


def view_of(stream: TextIO, replay: ReplayCommand | None = None) -> View:
    """Return the view that fits a stream: in colour for a terminal, plain for a pipe or a file."""
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        from conformance.report.terminal import TerminalView  # it brings rich along

        return TerminalView(stream, replay)
    return PlainView(stream, replay)
