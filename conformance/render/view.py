"""A view of a report: it is told the records as they come, and shows them group by group."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from conformance.render.content import Block, Summary, blocks, summary
from conformance.report import Coverage, Footer, Header, InOrder, Report
from conformance.verdict import RowResult

GROUPS = {"N": "normal use", "E": "edge cases", "B": "boundaries and races", "X": "derived rows"}
OTHERS = "other rows"


class View(ABC):
    """Shows the records of a report as they come: `header`, then `row` by `row`, then `finish`.

    Rows are shown group by group in the order of the header, each as soon as those before it are there.
    A view is a context manager, and leaving it before `finish` says that the run did not come to its end.
    """

    def __init__(self) -> None:
        self._header: Header | None = None
        self._order = InOrder(())
        self._replays: dict[str, str] = {}
        self._results: list[RowResult] = []
        self._running = ""
        self._ended = False

    def header(self, header: Header) -> None:
        """Show what is run against what."""
        self._header = header
        self._order = InOrder(in_groups(row.id for row in header.rows))
        self._opening(header)

    def began(self, row_id: str) -> None:
        """Take note of which row runs now."""
        self._running = row_id

    def row(self, result: RowResult, replay: str) -> None:
        """Show a result; `replay` is the command that runs the row again."""
        self._replays[result.id] = replay
        self._show(self._order.take(result))

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

    def _show(self, results: Iterable[RowResult]) -> None:
        for result in results:
            before = group(self._results[-1].id) if self._results else None
            if group(result.id) != before:
                self._heading(heading(result.id))
            self._results.append(result)
            self._line(result)

    def _end(self, coverage: Coverage | None, footer: Footer | None) -> None:
        assert self._header is not None  # a header is the first record
        self._ended = True
        self._show(self._order.rest())
        self._closing()
        for block in blocks(self._results, self._replays):
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
        """The matrix is complete."""

    @abstractmethod
    def _block(self, block: Block) -> None: ...

    @abstractmethod
    def _summary(self, summary: Summary) -> None: ...


def show(report: Report, view: View, replay: Callable[[RowResult], str]) -> None:
    """Show a report that was read; `replay` gives the command that runs a row again."""
    with view:
        view.header(report.header)
        for result in report.rows:
            view.row(result, replay(result))
        if report.footer is not None:
            view.finish(report.coverage, report.footer)


# ── Order and names ──


def group(row_id: str) -> str:
    """Give the letter of a row's group; "" for a row of none."""
    found = re.match(r"([A-Z])\d", row_id)
    return found[1] if found is not None and found[1] in GROUPS else ""


def heading(row_id: str) -> str:
    """Give the heading over a row's group."""
    letter = group(row_id)
    return f"{letter} · {GROUPS[letter]}" if letter else OTHERS


def in_groups(ids: Iterable[str]) -> list[str]:
    """Sort ids by group, keeping their order within each."""
    return sorted(ids, key=lambda row_id: [*GROUPS, ""].index(group(row_id)))
