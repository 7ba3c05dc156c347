"""What a report says to people. Every rendering is a function of the report alone, and all say the same.

Here is the content: what is said, in which order and words. The modules beside decide how it looks.
"""

from __future__ import annotations

import io
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TextIO

from conformance.report import Coverage, Footer, Header, InOrder, Report, tally
from conformance.verdict import (
    EXIT_CONFORMS,
    EXIT_HARNESS,
    EXIT_UNKNOWN,
    EXIT_VIOLATES,
    RowResult,
    Verdict,
    gates,
)

__all__ = ["View", "show"]

GROUPS = {"N": "normal use", "E": "edge cases", "B": "boundaries and races", "X": "derived rows"}
OTHERS = "other rows"
NAMED = 8  # ids that a sentence names before it only counts
LONGEST, MOST_LINES = 1200, 24  # of a value that a person is shown; the report has the whole


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


# ── Texts ──


def duration(seconds: float) -> str:
    """Give a time in at most six characters: `12ms`, `1.24s`, `12.4s`, `2m05s`."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 59.95:
        return f"{seconds:.2f}s" if seconds < 9.995 else f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s"


def number(count: int, noun: str) -> str:
    """Give `1 row`, `2 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def named(ids: Sequence[str], most: int = NAMED) -> str:
    """Name rows: `N1, N2 and E4`; of many only the first."""
    if len(ids) > most:
        return f"{', '.join(ids[: most - 1])} and {len(ids) - most + 1} more"
    return " and ".join(part for part in (", ".join(ids[:-1]), *ids[-1:]) if part)


def visible(text: str) -> str:
    """Give a text with every character that is no mark on the screen escaped; lines stay lines.

    What a system under test says may hold anything, escape sequences of a terminal included.
    """
    return "".join(_escaped(char) for char in text.replace("\r\n", "\n"))


def tolerant(stream: TextIO) -> None:
    """Let a stream escape the characters that its encoding does not have, instead of raising an error."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _escaped(char: str) -> str:
    marked = unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} and char not in "\ufffe\uffff"
    if char == "\n" or marked:
        return char
    return char.encode("unicode_escape").decode("ascii")


def one_line(text: str) -> str:
    """Give a text on one line."""
    return visible(" ".join(text.split()))


def cut(text: str) -> str:
    """Give a text, or as much of it as a person reads, and how much is missing."""
    lines = visible(text).strip("\n").split("\n")
    kept = "\n".join(lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        return f"{_cut(kept)}\n… and {number(len(lines) - MOST_LINES, 'line')} more, in the report"
    return _cut(kept)


def _cut(text: str) -> str:
    over = len(text) - LONGEST
    return text if over <= 0 else f"{text[:LONGEST]}\n… and {number(over, 'character')} more, in the report"


# ── What is said ──

Fact = tuple[str, str]  # what it is called, and what it says


@dataclass(frozen=True, slots=True)
class Block:
    """What there is to say of a row that fails, or of the rows that one cause kept from an answer.

    trace  the counterexample as a row of the matrix; replay  the command that runs the row again
    """

    verdict: Verdict
    title: str
    about: str
    facts: tuple[Fact, ...]
    trace: str = ""
    replay: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Rows that have a verdict for the same reason."""

    verdict: Verdict
    reason: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said last: counts by level and verdict, what did not apply, gaps, what the exit code means."""

    counts: Mapping[str, Mapping[str, int]]
    notes: tuple[Note, ...]
    witnessed: str
    gaps: tuple[str, ...]
    seconds: float
    conclusion: str
    beside: str
    exit: int | None


def subject(header: Header) -> str:
    """Say what is run against what."""
    return one_line(f"{header.lifecycle} revision {header.revision} against {header.target}")


def opening(header: Header) -> list[Fact]:
    """Say what is known before the first row runs."""
    levels = [row.level for row in header.rows]
    counts = [f"{levels.count(level)} {level}" for level in ("must", "should", "may") if level in levels]
    found = [
        ("rows", f"{len(levels)} ({', '.join(counts)})" if levels else "none"),
        ("seed", str(header.seed)),
        ("kit", header.kit),
    ]
    return [*found, *(("declares", said) for said in [_declared(header.declares)] if said)]


def _declared(declares: Mapping[str, Any]) -> str:
    parts = [f"{name} {_value(value)}" for name, value in declares.items() if value not in ({}, [], "", 0)]
    return one_line(" · ".join(parts))


def _value(value: Any) -> str:
    match value:
        case dict():
            return ", ".join(f"{name} = {_value(each)}" for name, each in value.items())
        case list():
            return ", ".join(map(_value, value))
        case None:
            return "null"
        case _:
            return str(value)


FAILING = {Verdict.FAIL: "fails", Verdict.FLAKY: "is flaky"}
UNANSWERED = {
    Verdict.HARNESS_ERROR: "harness error",
    Verdict.NOT_EXERCISED: "not exercised",
    Verdict.COULD_NOT_TELL: "could not tell",
}


def blocks(results: Sequence[RowResult], replays: Mapping[str, str]) -> list[Block]:
    """Give what there is to say of each row that fails, then of those without an answer, by cause."""
    earlier: dict[str, str] = {}
    found = [failing(row, earlier, replays.get(row.id, "")) for row in results if row.verdict in FAILING]
    abouts = {row.id: row.about for row in results}
    for note in notes(results, UNANSWERED):
        first, *more = note.ids
        title = f"{named(note.ids)}: {UNANSWERED[note.verdict]}"
        facts = (("because", cut(note.reason)),) if note.reason else ()
        about = "" if more else one_line(abouts[first])
        found.append(Block(note.verdict, title, about, facts, "", replays.get(first, "")))
    return found


def failing(row: RowResult, earlier: dict[str, str], replay: str = "") -> Block:
    """Give what there is to say of a row that fails; `earlier` holds which row showed a trace first."""
    title = f"{row.id} {FAILING[row.verdict]}" + ("" if row.level == "must" else f" (level: {row.level})")
    facts = [("spec", one_line(row.where))] if row.where else []
    found = row.counterexample
    if found is None:
        facts.append(("because", cut(row.reason)))
        return Block(row.verdict, title, one_line(row.about), tuple(facts), "", replay)
    if row.verdict is Verdict.FLAKY or not ("expected " in row.reason and "; seen " in row.reason):
        facts.append(("because", cut(row.reason)))
    facts += [
        ("clause", one_line(found.clause)),
        ("expected", cut(found.expected)),
        ("seen", cut(found.seen)),
    ]
    rounds = f"; reproduces in {found.reproduced} of {found.rounds} rounds" if found.rounds > 1 else ""
    same = earlier.setdefault(found.row, row.id)
    where = "" if same == row.id else f", the same as for {same}"
    facts.append(("shown by", f"{number(found.calls, 'call')}{where}{rounds}"))
    trace = visible(found.row).strip("\n") if same == row.id else ""
    said = tuple(fact for fact in facts if fact[1])
    return Block(row.verdict, title, one_line(row.about), said, trace, replay)


def notes(results: Iterable[RowResult], verdicts: Iterable[Verdict]) -> list[Note]:
    """Group the rows of some verdicts by their reasons, in the order in which they first occur."""
    found: dict[tuple[Verdict, str], list[str]] = {}
    wanted = list(verdicts)
    for row in results:
        if row.verdict in wanted:
            found.setdefault((row.verdict, row.reason), []).append(row.id)
    return [
        Note(verdict, reason, tuple(ids))
        for (verdict, reason), ids in sorted(found.items(), key=lambda item: wanted.index(item[0][0]))
    ]


def summary(
    header: Header, results: Sequence[RowResult], coverage: Coverage | None, footer: Footer | None
) -> Summary:
    """Give what is said last; without a footer the run did not finish."""
    seen = {} if coverage is None else coverage.clauses
    gaps = () if coverage is None else coverage.gaps
    clauses = len({*seen, *gaps})
    witnessed = sum(count > 0 for count in seen.values())
    conclusion = unfinished(header, results) if footer is None else concluded(header, results, footer)
    return Summary(
        tally(results) if footer is None else footer.verdicts,
        tuple(note for note in notes(results, (Verdict.NOT_APPLICABLE, Verdict.PASS)) if note.reason),
        f"{witnessed:,} of {number(clauses, 'clause')} witnessed" if clauses else "",
        gaps,
        sum(row.seconds for row in results) if footer is None else footer.seconds,
        conclusion,
        "" if footer is None else beside(results, footer),
        None if footer is None else footer.exit,
    )


def unfinished(header: Header, results: Sequence[RowResult]) -> str:
    """Say how far a run came that has no footer."""
    done = f"{len(results)} of {number(len(header.rows), 'row')}"
    return f"The run did not finish: {done} of {one_line(header.lifecycle)} had a verdict."


def concluded(header: Header, results: Sequence[RowResult], footer: Footer) -> str:
    """Say what an exit code means."""
    target, lifecycle = one_line(header.target), one_line(header.lifecycle)
    match footer.exit:
        case code if code == EXIT_CONFORMS:
            passed = number(sum(row.verdict is Verdict.PASS for row in results), "row")
            return f"{target} conforms to {lifecycle}: {passed} held."
        case code if code == EXIT_VIOLATES:
            return _violated(target, lifecycle, against(results))
        case code if code == EXIT_HARNESS:
            ids = [row.id for row in results if row.verdict is Verdict.HARNESS_ERROR]
            return f"No verdict on {target}: {number(len(ids), 'row')} could not be asked ({named(ids)})."
        case code if code == EXIT_UNKNOWN:
            ids = [row.id for row in results if row.verdict is Verdict.COULD_NOT_TELL]
            return f"No verdict on {target}: {named(ids) or 'a search'} reached a cap before an answer."
        case _:
            return f"The run of {lifecycle} against {target} ended with code {footer.exit}."


def against(results: Sequence[RowResult]) -> list[RowResult]:
    """Give the rows for which a run ends with "violates": must rows, or should rows if it cannot be those."""
    asked = [row for row in results if row.verdict is not Verdict.HARNESS_ERROR]
    return [row for row in asked if gates(row)] or [row for row in asked if gates(row, "should")]


def _violated(target: str, lifecycle: str, rows: Sequence[RowResult]) -> str:
    failing = [row.id for row in rows if row.verdict in FAILING]
    idle = [row.id for row in rows if row.verdict not in FAILING]
    unexercised = f"{named(idle)} {'was' if len(idle) == 1 else 'were'} not exercised"
    if failing:
        said = f"{target} violates {number(len(failing), 'row')} of {lifecycle}: {named(failing)}"
        return f"{said}; {unexercised}." if idle else f"{said}."
    if idle:
        return f"{target} does not conform to {lifecycle}: {unexercised}, and that is no pass."
    return f"Nothing was exercised, so nothing is known of {target}."


def beside(results: Sequence[RowResult], footer: Footer) -> str:
    """Name the rows that fail without deciding the exit code, because the source only recommends them."""
    deciding = {row.id for row in against(results)} if footer.exit == EXIT_VIOLATES else set()
    ids = [row.id for row in results if row.verdict in FAILING and row.id not in deciding]
    if not ids:
        return ""
    fail = "fails" if len(ids) == 1 else "fail"
    return f"{named(ids)} {fail}, which does not count: the level is not must."
