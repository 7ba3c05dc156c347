"""A view of a report: it is told the records as they come, and shows them group by group; here as plain text."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Self, TextIO

from conformance.report.content import FAILING, RAN, Block, Summary, blocks, by_head, opening, subject, summary
from conformance.report.records import Coverage, Footer, Header, Watcher
from conformance.report.texts import duration, named, number, one_line, tolerant
from conformance.verdict import RowResult, Verdict, word_for

TEXT_WIDTH = 100  # of running text; rows and counterexamples are as long as they are
VERDICT_WIDTH = max(len(verdict) for verdict in Verdict)
LABEL_WIDTH = 10
UNTITLED, OTHERS = "Rows", "Other rows"  # the heading of rows without a title, alone or beside titled ones


ReplayCommand = Callable[[str], str]
"""Returns the command that runs the row with this id again, or its counterexample."""


class View(Watcher, ABC):
    """Shows the records of a report as they come: `header`, then `row` by `row`, then `finish`.

    Rows come in the order of the header. Above the first row of each group stands its title.
    A view is a context manager, and leaving it before `finish` says that the run did not come to its end.
    `replay` returns the command that runs a row again; without it that is a run of the row alone.
    """

    def __init__(self, stream: TextIO, replay: ReplayCommand | None = None) -> None:
        tolerant(stream)
        self._stream = stream
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End in any case: a run that did not finish says so, after what it has found."""
        if self._header is not None and not self._ended:
            self._end(None, None)

    def _end(self, coverage: Coverage | None, footer: Footer | None) -> None:
        assert self._header is not None  # a header is the first record
        self._ended = True
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
    def _block(self, block: Block) -> None: ...

    @abstractmethod
    def _summary(self, summary: Summary) -> None: ...


class PlainView(View):
    """Writes a report as text for a pipe or a file: no colours, no moving line, one line a row.

    Without `times` the same results give the same text.
    """

    def __init__(self, stream: TextIO, replay: ReplayCommand | None = None, *, times: bool = True) -> None:
        super().__init__(stream, replay)
        self._times = times

    def _opening(self, header: Header) -> None:
        self._write(subject(header))
        for label, said in opening(header):
            self._write(*_labelled(label, said))

    def _heading(self, title: str) -> None:
        self._write("", title)

    def _line(self, result: RowResult) -> None:
        runs = [number(result.runs, "run")] if result.runs else []
        times = [duration(result.seconds)] if self._times and result.runs else []
        level = f"{result.level}: {result.later}" if result.later else result.level
        levels = [] if level == "must" else [level]
        about = one_line(result.about)
        more = ", ".join([*levels, *runs, *times])
        self._write(f"  {word_for(result):<{VERDICT_WIDTH}}  {result.id:<4} {about}{f'  ({more})' if more else ''}")
        if result.verdict in FAILING:  # at once: the end of a run may be far, and what shows it stands there
            reason = textwrap.shorten(one_line(result.reason), TEXT_WIDTH, placeholder=" …")
            self._write(f"  {'':<{VERDICT_WIDTH}}  {'':<4} {reason}")

    def _block(self, block: Block) -> None:
        self._write("", f"--- {block.title}", *details(block))

    def _summary(self, summary: Summary) -> None:
        self._write("", "--- summary")
        self._write(f"  {'':<{VERDICT_WIDTH}}" + "".join(f"{level:>8}" for level in summary.levels))
        for verdict, counts in summary.counts:
            self._write(f"  {verdict:<{VERDICT_WIDTH}}" + "".join(f"{count or '-':>8}" for count in counts))
        for note in summary.notes:
            rows = f"{number(len(note.ids), 'row')}, {named(note.ids, len(note.ids))}"
            self._write(*_wrapped(f"{note.verdict}: {one_line(note.reason)} ({rows})", "  ", "    "))
        if summary.witnessed:
            self._write(f"  {summary.witnessed}" + ("; never witnessed:" if summary.gaps else ""))
        self._write(*(f"    {one_line(gap)}" for gap in summary.gaps))
        if summary.unasked:
            self._write(f"  {number(len(summary.unasked), 'clause')} not asked, by what is declared:")
        self._write(*(f"    {one_line(path)}" for path in by_head(summary.unasked)))
        if self._times:
            self._write(f"  {duration(summary.seconds)} in all")
        self._write("", *_wrapped(summary.conclusion, "", ""))
        if summary.beside:
            self._write(*_wrapped(summary.beside, "", ""))
        if summary.exit is not None:
            self._write(f"exit {summary.exit}")

    def _write(self, *lines: str) -> None:
        self._stream.writelines(f"{line}\n" for line in lines)
        self._stream.flush()


def details(block: Block) -> list[str]:
    """Return the lines of a block, below its title."""
    lines = _wrapped(block.about, "  ", "  ") if block.about else []
    for label, said in block.facts:
        lines += _labelled(label, said)
    if block.trace:
        lines += ["", textwrap.indent(block.trace, "    "), ""]
    if block.transcript:
        lines += [f"  {RAN}", "", textwrap.indent(block.transcript, "    "), ""]
    if block.replay:
        lines.append(f"  {'replay':<{LABEL_WIDTH}}{block.replay}")
    return lines


def _labelled(label: str, said: str) -> Iterator[str]:
    """Yield a label and what it says, wrapped beside it; lines of the text stay lines."""
    before = f"  {label:<{LABEL_WIDTH}}"
    for line in said.split("\n"):
        yield from _wrapped(line, before, " " * len(before))
        before = " " * len(before)


def _wrapped(text: str, first: str, later: str) -> list[str]:
    return textwrap.wrap(
        text,
        TEXT_WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]
