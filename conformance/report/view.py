"""A view of a report: it is told the records as they come, and shows them group by group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Self

from conformance.report.content import Block, Summary, blocks, summary
from conformance.report.records import Coverage, Footer, Header, Watcher
from conformance.report.texts import one_line
from conformance.verdict import RowResult

UNTITLED, OTHERS = "Rows", "Other rows"  # the heading of rows without a title, alone or beside titled ones


ReplayCommand = Callable[[str], str]
"""Returns the command that runs the row with this id again, or its counterexample."""


class View(Watcher, ABC):
    """Shows the records of a report as they come: `header`, then `row` by `row`, then `finish`.

    Above the first row of each group stands its title.
    A view is a context manager, and leaving it before `finish` says that the run did not come to its end.
    `replay` returns the command that runs a row again; without it that is a run of the row alone.
    """

    def __init__(self, replay: ReplayCommand | None = None) -> None:
        self._replay_of = replay
        self._header: Header | None = None
        self._groups: dict[str, str] = {}
        self._title = ""
        self._results: list[RowResult] = []
        self._running = ""
        self._ended = False

    def header(self, header: Header) -> None:
        """Show what is run against what."""
        self._header = header
        self._groups = {row.id: row.group for row in header.rows}
        self._opening(header)

    def began(self, row_id: str) -> None:
        """Take note of which row runs now."""
        self._running = row_id

    def row(self, result: RowResult) -> None:
        """Show a result."""
        untitled = OTHERS if any(self._groups.values()) else UNTITLED
        title = one_line(self._groups.get(result.id, "")) or untitled
        if title != self._title:
            self._heading(title)
            self._title = title
        self._results.append(result)
        self._line(result)

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """Show what failed and why, then the summary."""
        self._end(coverage, footer)

    def close(self) -> None:
        """End in any case: a run that did not finish says so, after what it has found."""
        if self._header is not None and not self._ended:
            self._end(None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _end(self, coverage: Coverage | None, footer: Footer | None) -> None:
        assert self._header is not None  # a header is the first record
        self._ended = True
        self._closing()
        for block in blocks(self._results, self._replay_of or self._header.rerun):
            self._block(block)
        self._summary(summary(self._header, self._results, coverage, footer))

    @abstractmethod
    def _opening(self, header: Header) -> None: ...

    @abstractmethod
    def _heading(self, title: str) -> None: ...

    @abstractmethod
    def _line(self, result: RowResult) -> None: ...

    @abstractmethod
    def _closing(self) -> None:
        """Note that the matrix is complete."""

    @abstractmethod
    def _block(self, block: Block) -> None: ...

    @abstractmethod
    def _summary(self, summary: Summary) -> None: ...
