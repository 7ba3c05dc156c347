"""Two reports of one life cycle, an older and a newer: what got worse, what got better, what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from conformance.report.report import Report
from conformance.report.texts import named, number, one_line
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, RowResult, Verdict

GONE, UNANSWERED = "gone", "no result"
ORDER = (
    Verdict.PASS,
    Verdict.NOT_APPLICABLE,
    Verdict.KNOWN_FAIL,
    Verdict.COULD_NOT_TELL,
    Verdict.NOT_EXERCISED,
    Verdict.FLAKY,
    Verdict.FAIL,
    Verdict.HARNESS_ERROR,
)
"""The verdicts from the best to the worst."""


ANSWERED = (Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.KNOWN_FAIL)


def to_run_again(report: Report) -> set[str]:
    """Return what was planned and failed, or has no answer; what is known to fail has one."""
    good = {row.id for row in report.rows if row.verdict in ANSWERED}
    return {row.id for row in report.header.rows if row.id not in good}


class Incomparable(ValueError):
    """Two reports that do not speak of one life cycle; the message says why."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is not as it was: of a row, of a clause, or of what the reports are about.

    kind           'row', 'clause' or 'run'
    before, after  verdicts, or what is said in their place
    why            the reason of the later verdict
    """

    kind: str
    name: str
    before: str
    after: str
    level: str = ""
    about: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two reports differ in. `other` is what is neither worse nor better: another reason, another target."""

    worse: tuple[Change, ...]
    better: tuple[Change, ...]
    new: tuple[Change, ...]
    other: tuple[Change, ...]
    alike: int

    @property
    def parts(self) -> list[tuple[str, tuple[Change, ...]]]:
        """Return the changes under their headings, without those that have none."""
        found = {"worse": self.worse, "better": self.better, "new": self.new, "otherwise": self.other}
        return [(title, part) for title, part in found.items() if part]

    @property
    def exit(self) -> int:
        """The exit code: 1 where something got worse."""
        return EXIT_VIOLATES if self.worse else EXIT_CONFORMS

    def plain(self) -> dict[str, Any]:
        """Return it as plain values, the exit code included."""
        return {**asdict(self), "exit": self.exit}

    def __str__(self) -> str:
        """Return the text for people: first what changed."""
        said = [f"{title}: {named([each.name for each in part])}" for title, part in self.parts]
        lines = [f"{'; '.join(said) or 'nothing changed'}."]
        for title, part in self.parts:
            lines += ["", title, *(line for each in part for line in _lines(each))]
        return "\n".join([*lines, "", f"{number(self.alike, 'row')} as before", f"exit {self.exit}"])


def compared(old: Report, new: Report) -> Comparison:
    """Return what two reports differ in. Raises Incomparable where they are about two life cycles."""
    names = old.header.lifecycle, new.header.lifecycle
    if names[0] != names[1]:
        raise Incomparable(f"the first is a report of {names[0]}, the second of {names[1]}")
    before, after = _results(old), _results(new)
    alike = [each for name, each in after.items() if name in before and _said(each) == _said(before[name])]
    changes = [*_rows(old, new, before, after), *_clauses(old, new), *_strays(old, new)]
    fresh = [_change(each, "", each.verdict) for name, each in after.items() if name not in before]
    return Comparison(
        tuple(each for each, bad in changes if bad > 0),
        tuple(each for each, bad in changes if bad < 0),
        tuple(fresh),
        (*(each for each, bad in changes if not bad), *_headers(old, new)),
        len(alike),
    )


def _said(row: RowResult) -> tuple[str, str]:
    return row.verdict, row.reason


def _results(report: Report) -> dict[str, RowResult]:
    """Return the results of what was planned; each further fault of the random test, machine-2, belongs to its first."""
    planned = {row.id for row in report.header.rows}
    return {row.id: row for row in report.rows if row.id in planned}


Weighed = tuple[Change, int]  # more than 0: it got worse; less: better


def _rows(
    old: Report, new: Report, before: Mapping[str, RowResult], after: Mapping[str, RowResult]
) -> Iterator[Weighed]:
    planned, broken = {row.id for row in new.header.rows}, {clause for _, clause in _broken(old)}
    for name, was in before.items():
        if name not in after:
            yield _change(was, was.verdict, UNANSWERED if name in planned else GONE), 1
            continue
        now = after[name]
        change = _change(now, was.verdict, now.verdict)
        if now.verdict is not was.verdict:
            worse = ORDER.index(now.verdict) > ORDER.index(was.verdict)
            yield change, 1 if worse else -(now.verdict is Verdict.PASS)
        elif more := sorted({clause for row, clause in _broken(new) if row == name} - broken):
            yield replace(change, after=f"{now.verdict}, and a fault that nothing showed before: {named(more)}"), 1
        elif now.reason != was.reason:
            yield change, 0


def _broken(report: Report) -> Iterator[tuple[str, str]]:
    """Walk the clauses that results say are broken, each with what was planned that it is a result of."""
    planned = {row.id for row in report.header.rows}
    for row in report.rows:
        if row.counterexample is not None and row.verdict is not Verdict.KNOWN_FAIL:
            yield row.id if row.id in planned else row.id.rpartition("-")[0], row.counterexample.clause


def _clauses(old: Report, new: Report) -> Iterator[Weighed]:
    """Walk the clauses that were witnessed and are no more, and those that now are; nothing where a run did not finish."""
    if not (old.finished and new.finished):
        return
    now = new.coverage.clauses
    for path, count in old.coverage.clauses.items():
        seen = f"witnessed {number(count, 'time')}"
        if count and path not in now:
            yield Change("clause", path, seen, "not in the spec"), 0
        elif count and not now[path]:
            why = "it was not asked for, by what is declared" if path in new.coverage.unasked else ""
            yield Change("clause", path, seen, "never witnessed", why=why), 1
        elif now.get(path) and not count:
            yield Change("clause", path, "never witnessed", f"witnessed {number(now[path], 'time')}"), -1


def _strays(old: Report, new: Report) -> Iterator[Weighed]:
    """Walk the faults that were seen beside the rows, and were not before."""
    known = set() if old.footer is None else {*old.footer.strays}
    for path in () if new.footer is None else new.footer.strays:
        if path not in known:
            yield Change("clause", path, "no fault", "a fault that none of the rows is about"), 1


def _headers(old: Report, new: Report) -> Iterator[Change]:
    """Walk what is said of the two runs that is not the same."""
    for name in ("target", "revision", "seed", "kit"):
        was, now = str(getattr(old.header, name)), str(getattr(new.header, name))
        if was != now:
            yield Change("run", name, was, now)
    said = {**old.header.declares, **new.header.declares}
    for name in said:
        before, after = old.header.declares.get(name), new.header.declares.get(name)
        if before != after:
            yield Change("run", f"declares {name}", str(before), str(after))
    if old.finished and not new.finished:
        yield Change("run", "the run", "finished", "did not finish")


def _change(row: RowResult, before: str, after: str) -> Change:
    return Change("row", row.id, before, after, row.level, row.about, "" if after == GONE else row.reason)


def _lines(change: Change) -> Iterable[str]:
    """Return a change as lines of text."""
    way = f"{change.before} -> {change.after}" if change.before else change.after
    level = f" ({change.level})" if change.level not in ("", "must") else ""
    about = f"  {one_line(change.about)}" if change.about else ""
    yield f"  {one_line(change.name)}{level}  {one_line(way)}{about}"
    if change.why and change.after != Verdict.PASS:
        yield f"      {one_line(change.why)}"
