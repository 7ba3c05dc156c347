"""What a report comes to, in the words that every document uses: the outcome, the causes, what has no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.report import FAILING, UNANSWERED, Note, Report, against, named, notes, number, way_of
from conformance.verdict import (
    EXIT_CONFORMS,
    EXIT_HARNESS,
    EXIT_UNKNOWN,
    EXIT_VIOLATES,
    Counterexample,
    RowResult,
    Verdict,
)

SIGNS = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.FLAKY: "≈",
    Verdict.KNOWN_FAIL: "☑",
    Verdict.NOT_APPLICABLE: "–",
    Verdict.NOT_EXERCISED: "○",
    Verdict.COULD_NOT_TELL: "?",
    Verdict.HARNESS_ERROR: "!",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run came out: `kind` is good, bad or unknown; `word` a headline, `short` what a badge says."""

    kind: str
    word: str
    short: str
    sign: str


def outcome(report: Report) -> Ending:
    """Return how a run came out."""
    if report.footer is None:
        return Ending("unknown", "Did not finish", "did not finish", "?")
    match report.footer.exit:
        case code if code == EXIT_CONFORMS:
            passed, failing = (
                sum(row.verdict is each for row in report.rows) for each in (Verdict.PASS, Verdict.KNOWN_FAIL)
            )
            but = f", {number(failing, 'known failure')}" if failing else ""
            return Ending("good", "Conforms", f"conforms {number(passed, 'row')}{but}", "✓")
        case code if code == EXIT_VIOLATES:
            rows = against(report.rows, report.footer.stale)
            failing = sum(row.verdict in FAILING for row in rows)
            if failing:
                return Ending("bad", "Violates", f"violates {number(failing, 'row')}", "✗")
            gone = f"has {number(len(report.footer.stale), 'stale known failure')}"
            short = f"did not exercise {number(len(rows), 'row')}" if rows else "does not conform"
            return Ending("bad", "Does not conform", gone if report.footer.stale and not rows else short, "✗")
        case code if code == EXIT_HARNESS:
            return Ending("unknown", "Could not be asked", "could not be asked", "!")
        case code if code == EXIT_UNKNOWN:
            return Ending("unknown", "Could not tell", "could not tell", "?")
        case code:
            return Ending("unknown", f"Ended with code {code}", f"ended with code {code}", "?")


@dataclass(frozen=True, slots=True)
class Cause:
    """Rows that fail in one way: for one cause, or by the same calls; alone where nobody knows.

    clause    the clause that is broken, and its sentence; empty where the row alone says what is wrong
    counts    it makes the run fail: the level of one of the rows is one that counts
    """

    rows: tuple[RowResult, ...]
    clause: str
    sentence: str
    counts: bool

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its rows."""
        return tuple(row.id for row in self.rows)

    @property
    def first(self) -> RowResult:
        """The row that shows it first."""
        return self.rows[0]

    @property
    def shown(self) -> Counterexample | None:
        """What shows it, if anything does."""
        return self.first.counterexample

    @property
    def is_one(self) -> bool:
        """Whether it is known that the rows fail for this one clause."""
        return self.shown is not None and bool(self.shown.cause)

    @property
    def why(self) -> str:
        """Why the rows fail, without their names: the clause and its sentence, or what the row is about."""
        if not self.clause:
            return self.first.about
        head = "one cause: " if self.is_one and len(self.rows) > 1 else ""
        return f"{head}{self.clause}" + (f", “{self.sentence}”" if self.sentence else "")


def causes(report: Report) -> list[Cause]:
    """Return in which ways rows fail: first those that make the run fail, then those with most rows."""
    deciding = {row.id for row in against(report.rows, report.footer.stale if report.footer else ())}
    ways: dict[str, list[RowResult]] = {}
    for row in report.rows:
        if row.verdict in FAILING:
            ways.setdefault(way_of(row), []).append(row)
    found = [_cause(report, rows, deciding) for rows in ways.values()]
    return sorted(found, key=lambda each: (not each.counts, -len(each.rows)))


def _cause(report: Report, rows: Sequence[RowResult], deciding: set[str]) -> Cause:
    found = rows[0].counterexample
    clause = "" if found is None else found.cause or found.clause
    return Cause(tuple(rows), clause, sentence_of(report, clause), any(row.id in deciding for row in rows))


def sentence_of(report: Report, clause: str) -> str:
    """Return what a clause says, or else the nearest one above it; empty where the report does not tell."""
    while clause and clause not in report.header.sentences:
        clause = clause.rpartition(".")[0]
    return report.header.sentences.get(clause, "")


def unanswered(report: Report) -> list[Note]:
    """Return the rows without an answer, by what kept them from it."""
    return notes(report.rows, UNANSWERED)


def missing(report: Report) -> list[str]:
    """Return the rows that a run which did not finish did not come to."""
    asked = {row.id for row in report.rows}
    return [] if report.finished else [row.id for row in report.header.rows if row.id not in asked]


def told(ids: Sequence[str]) -> str:
    """Name all rows of a cause."""
    return named(ids, len(ids))
