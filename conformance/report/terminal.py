"""A report in a terminal: a moving line while rows run, the matrix in colour, failures, the summary.

A verdict is always a sign and a word beside its colour. One idea: one screen, from its top to its end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from conformance.report.content import FAILING, RAN, Block, Note, Summary, by_head, opening, subject
from conformance.report.records import Coverage, Footer, Header
from conformance.report.texts import duration, named, number, one_line
from conformance.report.view import LABEL_WIDTH, VERDICT_WIDTH, ReplayCommand, View
from conformance.verdict import EXIT_CONFORMS, EXIT_HARNESS, EXIT_VIOLATES, RowResult, Verdict, word_for


class Look(NamedTuple):
    """How a verdict looks: its sign, the sign where only ASCII can be shown, and its colour."""

    sign: str
    ascii: str
    style: str


LOOKS = {
    Verdict.PASS: Look("✓", "+", "green"),
    Verdict.FAIL: Look("✗", "x", "bold red"),
    Verdict.FLAKY: Look("≈", "~", "bold magenta"),
    Verdict.KNOWN_FAIL: Look("⊘", "/", "yellow"),
    Verdict.NOT_APPLICABLE: Look("–", "-", "dim"),
    Verdict.NOT_EXERCISED: Look("○", "o", "bold yellow"),
    Verdict.COULD_NOT_TELL: Look("?", "?", "bold yellow"),
    Verdict.HARNESS_ERROR: Look("!", "!", "bold magenta"),
}


_ID, _RUNS, _TIME = 4, 6, 6  # the widths of columns
_BEFORE_ABOUT = 4 + VERDICT_WIDTH + 2 + _ID + 1
_FIXED = _BEFORE_ABOUT + 1 + _RUNS + 1 + _TIME  # of a row, all but what it is about
_SIGNED: dict[int | None, Verdict] = {
    EXIT_CONFORMS: Verdict.PASS,
    EXIT_VIOLATES: Verdict.FAIL,
    EXIT_HARNESS: Verdict.HARNESS_ERROR,
}
GAPS = 12  # clauses of one kind that are listed


class TerminalView(View):
    """Shows a report in a terminal; `colour` None lets the terminal and NO_COLOR decide."""

    def __init__(self, stream: TextIO, replay: ReplayCommand | None = None, *, colour: bool | None = None) -> None:
        super().__init__(stream, replay)
        self._console = Console(
            file=stream,
            force_terminal=True if colour else None,
            no_color=True if colour is False else None,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._ascii = not self._console.encoding.startswith("utf")
        self._live: Live | None = None
        self._moving = stream.isatty()
        self._about = 40
        self._abouts: dict[str, str] = {}
        self._start = 0.0

    # ── The matrix ──

    def _opening(self, header: Header) -> None:
        self._start = time.monotonic()
        self._abouts = {row.id: one_line(row.about) for row in header.rows}
        widest = max([14, *(_leveled(row.level, one_line(row.about)).cell_len for row in header.rows)])
        self._about = max(10, min(self._console.width - 1 - _FIXED, widest))
        self._console.print(Text(subject(header), "bold"))
        self._console.print(_facts(opening(header)))
        self._console.print()
        self._columns("", "verdict", "row", Text("what must hold"), "runs", "time", style="dim")
        if self._moving:
            self._live = Live(
                console=self._console, get_renderable=self._progress, transient=True, refresh_per_second=8
            )
            self._live.start()

    def _columns(
        self, sign: str, word: str, row_id: str, about: Text, runs: str, took: str, *, style: str, word_style: str = ""
    ) -> None:
        """Print one row of the matrix, or the titles above it; a long id takes room from what follows."""
        identity = f"{row_id:<{_ID}} "
        about.truncate(max(1, self._about + _ID + 1 - cell_len(identity)), overflow="ellipsis", pad=True)
        line = Text.assemble(
            "  ",
            (f"{sign:1} {word:<{VERDICT_WIDTH}}", word_style),
            f"  {identity}",
            about,
            (f" {runs:>{_RUNS}} {took:>{_TIME}}", "dim"),
            style=style,
            no_wrap=True,
            overflow="crop",
        )
        self._console.print(line)

    def _heading(self, title: str) -> None:
        if self._results:
            self._console.print()
        self._console.print(Text(self._shown(title), "bold"))

    def _line(self, result: RowResult) -> None:
        self._columns(
            self._sign(result.verdict),
            word_for(result),
            one_line(result.id),
            _leveled(result.level, one_line(result.about)),
            f"{result.runs:,}" if result.runs else "",
            duration(result.seconds) if result.runs else "",
            style="dim" if result.verdict is Verdict.NOT_APPLICABLE else "",
            word_style=LOOKS[result.verdict].style,
        )
        if result.verdict in FAILING:  # at once: the end of a run may be far, and what shows it stands there
            reason = Text(one_line(result.reason))
            reason.truncate(self._console.width - 1 - _BEFORE_ABOUT, overflow="ellipsis")
            self._console.print(Text.assemble(" " * _BEFORE_ABOUT, reason, style=LOOKS[result.verdict].style))

    def _progress(self) -> Text:
        """Return the line that moves: how far, how many fail, for how long, and what runs now."""
        done = len(self._results)
        total = max(len(self._abouts), done)
        width = min(20, self._console.width // 5)
        full = width * done // max(total, 1)
        bar = "#-" if self._ascii else "━━"
        failing = sum(row.verdict in FAILING for row in self._results)
        line = Text.assemble(
            "  ",
            (bar[0] * full, "green"),
            (bar[1] * (width - full), "dim"),
            f"  {done}/{total}",
            (f"  {failing} failing" if failing else "", "bold red"),
            f"  {duration(time.monotonic() - self._start)}",
            ("  now ", "dim"),
            (self._running, "bold"),
            f" {self._abouts.get(self._running, '')}",
            no_wrap=True,
        )
        line.truncate(self._console.width - 1, overflow="ellipsis")
        return line

    def _end(self, coverage: Coverage | None, footer: Footer | None) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        super()._end(coverage, footer)

    # ── Failures ──

    def _block(self, block: Block) -> None:
        look = LOOKS[block.verdict]
        self._rule(f"{self._sign(block.verdict)} {block.title}", look.style)
        if block.about:
            self._console.print(Padding(Text(block.about), (0, 0, 0, 2)))
        self._console.print(_facts(block.facts))
        if block.trace:
            self._console.print()
            code = Syntax(block.trace, "yaml", theme="ansi_dark", background_color="default").highlight(block.trace)
            code.rstrip()
            for line in code.split("\n"):  # each unbroken, so that it can be copied
                self._whole(Text.assemble("    ", line))
            self._console.print()
        if block.transcript:
            self._console.print(Text(f"  {RAN}", "dim"))
            self._console.print()
            for said in block.transcript.split("\n"):
                self._whole(Text(f"    {said}", "bold" if said.startswith("$") else ""))
            self._console.print()
        if block.replay:
            self._replay(block.replay)

    def _replay(self, command: str) -> None:
        """Print a command beside its label, or below it when it is long."""
        label = f"  {'replay':<{LABEL_WIDTH}}"
        if cell_len(label + command) < self._console.width:
            self._console.print(Text.assemble((label, "dim"), (command, "bold")))
        else:
            self._console.print(Text(label.rstrip(), "dim"))
            self._whole(Text(f"  {command}", "bold"))

    def _rule(self, title: str, style: str) -> None:
        line = "-" if self._ascii else "─"
        self._console.print()
        self._console.print(Rule(Text(self._shown(title), style), align="left", characters=line, style="dim"))

    def _whole(self, line: Text) -> None:
        """Print a line that may be longer than the terminal is wide; it stays one line when it is copied."""
        self._console.print(line, soft_wrap=True)

    # ── The summary ──

    def _summary(self, summary: Summary) -> None:
        self._rule("summary", "bold")
        self._console.print(self._counts(summary))
        if summary.notes:
            self._console.print()
        for note in summary.notes:
            self._note(note)
        self._console.print()
        self._coverage(summary)
        self._console.print()
        self._conclusion(summary)

    def _counts(self, summary: Summary) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column()
        for _ in summary.levels:
            table.add_column(justify="right", min_width=6)
        table.add_row("", *(Text(level, "dim") for level in summary.levels))
        for verdict, counts in summary.counts:
            word = Text(f"  {self._sign(verdict)} {verdict}", LOOKS[verdict].style)
            table.add_row(word, *(Text(f"{count:,}" if count else "") for count in counts))
        return table

    def _note(self, note: Note) -> None:
        rows = f"{number(len(note.ids), 'row')} {note.verdict}"
        said = Text.assemble((f"{rows}: ", "bold"), one_line(note.reason), (f"  ({named(note.ids, 20)})", "dim"))
        self._signed(note.verdict, said, before="  ")

    def _coverage(self, summary: Summary) -> None:
        parts = [part for part in (summary.witnessed, f"{duration(summary.seconds)} in all") if part]
        self._console.print(Text(self._shown(f"  {' · '.join(parts)}")))
        self._listed(Text("  never witnessed:", "bold yellow"), summary.gaps)
        said = f"  {number(len(summary.unasked), 'clause')} not asked, by what is declared:"
        self._listed(Text(said, "dim"), by_head(summary.unasked))

    def _listed(self, title: Text, paths: Sequence[str]) -> None:
        """List some clauses, if there are any; of many the first ones."""
        if paths:
            self._console.print(title)
        for path in paths[:GAPS]:
            self._whole(Text(f"    {one_line(path)}"))
        if len(paths) > GAPS:
            self._console.print(Text(f"    and {len(paths) - GAPS} more, in the report"))

    def _conclusion(self, summary: Summary) -> None:
        code = "" if summary.exit is None else f"  (exit {summary.exit})"
        verdict = _SIGNED.get(summary.exit, Verdict.COULD_NOT_TELL)
        said = Text.assemble((summary.conclusion, f"bold {LOOKS[verdict].style}"), (code, "dim"))
        if summary.beside:
            said.append(f"\n{summary.beside}")
        self._signed(verdict, said)

    # ── Signs ──

    def _signed(self, verdict: Verdict, said: Text, before: str = "") -> None:
        """Print a text beside the sign of a verdict."""
        grid = Table.grid(padding=(0, 1))
        grid.add_row(Text(f"{before}{self._sign(verdict)}", LOOKS[verdict].style), said)
        self._console.print(grid)

    def _sign(self, verdict: Verdict) -> str:
        look = LOOKS[verdict]
        return look.ascii if self._ascii else look.sign

    def _shown(self, text: str) -> str:
        return text.replace("·", "-") if self._ascii else text


def _leveled(level: str, about: str) -> Text:
    """Return what a row is about, after its level if that is not must."""
    return Text(about) if level == "must" else Text.assemble((f"{level}: ", "cyan"), about)


def _facts(facts: Sequence[tuple[str, str]]) -> Table:
    """Lay out labels and what they say, each text wrapped beside its label."""
    colours = {"expected": "green", "seen": "red"}
    table = Table.grid()
    table.add_column(width=LABEL_WIDTH + 2, no_wrap=True)
    table.add_column(overflow="fold")
    for label, said in facts:
        table.add_row(Text(f"  {label}", "dim"), Text(said, colours.get(label, "")))
    return table
