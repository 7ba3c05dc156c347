"""A report as plain text, for a pipe or a file: no colours, no moving line, one line a row."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TextIO

from conformance.report.content import RAN, Block, Summary, opening, subject
from conformance.report.records import LEVELS, Header
from conformance.report.texts import duration, named, number, one_line, tolerant
from conformance.report.view import ReplayCommand, View
from conformance.verdict import RowResult, Verdict

TEXT_WIDTH = 100  # of running text; rows and counterexamples are as long as they are
_VERDICT = max(len(verdict) for verdict in Verdict)


class PlainView(View):
    """Writes a report as text. Without `times` the same results give the same text."""

    def __init__(self, stream: TextIO, replay: ReplayCommand | None = None, *, times: bool = True) -> None:
        super().__init__(replay)
        tolerant(stream)
        self._stream = stream
        self._times = times

    def _opening(self, header: Header) -> None:
        self._write(subject(header))
        for label, said in opening(header):
            self._write(*_labelled(label, said, 10))

    def _heading(self, title: str) -> None:
        self._write("", title)

    def _line(self, result: RowResult) -> None:
        runs = [number(result.runs, "run")] if result.runs else []
        times = [duration(result.seconds)] if self._times and result.runs else []
        levels = [] if result.level == "must" else [result.level]
        about = one_line(result.about)
        more = ", ".join([*levels, *runs, *times])
        self._write(f"  {result.verdict:<{_VERDICT}}  {result.id:<4} {about}{f'  ({more})' if more else ''}")

    def _closing(self) -> None:
        pass

    def _block(self, block: Block) -> None:
        self._write("", f"--- {block.title}", *details(block))

    def _summary(self, summary: Summary) -> None:
        self._write("", "--- summary")
        self._write(*_counts(summary))
        for note in summary.notes:
            rows = f"{number(len(note.ids), 'row')}, {named(note.ids, len(note.ids))}"
            self._write(*_wrapped(f"{note.verdict}: {one_line(note.reason)} ({rows})", "  ", "    "))
        if summary.witnessed:
            self._write(f"  {summary.witnessed}" + ("; never witnessed:" if summary.gaps else ""))
        self._write(*(f"    {one_line(gap)}" for gap in summary.gaps))
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
        lines += _labelled(label, said, 10)
    if block.trace:
        lines += ["", textwrap.indent(block.trace, "    "), ""]
    if block.transcript:
        lines += [f"  {RAN}", "", textwrap.indent(block.transcript, "    "), ""]
    if block.replay:
        lines.append(f"  {'replay':<10}{block.replay}")
    return lines


def _labelled(label: str, said: str, width: int) -> Iterator[str]:
    """Yield a label and what it says, wrapped beside it; lines of the text stay lines."""
    before = f"  {label:<{width}}"
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


def _counts(summary: Summary) -> Iterator[str]:
    levels = [level for level in LEVELS if level in summary.counts]
    yield f"  {'':<{_VERDICT}}" + "".join(f"{level:>8}" for level in levels)
    for verdict in Verdict:
        counts = [summary.counts[level].get(verdict, 0) for level in levels]
        if any(counts):
            yield f"  {verdict:<{_VERDICT}}" + "".join(f"{count or '-':>8}" for count in counts)
