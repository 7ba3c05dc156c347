"""The report of a run: a stream of records, one JSON object a line, from which everything else is rendered.

header, then a row for each row of the matrix, coverage, footer. A report without a footer is one of a run
that did not finish. Two runs with the same seed write the same bytes, but for what is under `timing` and
`schedule`, as long as the system itself does the same twice: one that orders ties by ids it draws at random does
not, and of calls at once on threads the order in which they came to pass decides what was witnessed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from conformance.__about__ import __version__
from conformance.verdict import Counterexample, RowResult, Verdict
from statemachines.lifecycle import Level

if TYPE_CHECKING:  # it brings the compiler along, and here it is only an argument
    from conformance.declaration import Declaration

FORMAT = 1
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Planned:
    """A row that the run is going to ask: known before there is a verdict."""

    id: str
    level: Level
    about: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """What is run against what: the first record. `rows` are in the order in which they are reported.

    declares  limits, policies, lacks, clock and concurrency as plain values; `declares` makes it
    spec  the file of a lifecycle that is not shipped
    """

    lifecycle: str
    revision: int
    target: str
    seed: int
    declares: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[Planned, ...] = ()
    kit: str = __version__
    spec: str | None = None

    @property
    def called(self) -> str:
        """What a command calls the lifecycle: by its file, or a shipped one by its name."""
        return self.spec or self.lifecycle


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often anything in the run witnessed each clause of the lifecycle, and those never witnessed."""

    clauses: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Footer:
    """How the run ended: per level how many rows have each verdict, the exit code, and how long it took.

    strays  the clauses of faults that were seen and that none of the rows asked is about
    """

    verdicts: Mapping[str, Mapping[str, int]]
    exit: int
    seconds: float = 0.0
    strays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report, or as much of it as a run that was cut off has written."""

    header: Header
    rows: tuple[RowResult, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    footer: Footer | None = None

    @property
    def finished(self) -> bool:
        """Tell whether the run came to its end."""
        return self.footer is not None


def declares(declaration: Declaration) -> dict[str, Any]:
    """Give a declaration as the plain values of a header."""
    return {
        "limits": dict(sorted(declaration.limits.items())),
        "policies": {name: _plain(value) for name, value in sorted(declaration.policies.items())},
        "lacks": sorted(declaration.lacks),
        "clock": declaration.clock,
        "concurrency": declaration.concurrency,
        "settles": declaration.settles,
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def tally(results: Iterable[RowResult]) -> dict[str, dict[str, int]]:
    """Count rows by level and verdict, in a fixed order, leaving out what does not occur."""
    counts = Counter((result.level, result.verdict) for result in results)
    found = {
        level: {verdict.value: counts[level, verdict] for verdict in Verdict if counts[level, verdict]}
        for level in LEVELS
    }
    return {level: each for level, each in found.items() if each}


class InOrder:
    """Gives results in the order of a plan, however they come in: several workers do not reorder a report."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._waiting = list(dict.fromkeys(ids))
        self._early: dict[str, RowResult] = {}

    def take(self, result: RowResult) -> Iterator[RowResult]:
        """Give what is next now that this result is there; one that nobody planned waits for the end."""
        self._early[result.id] = result
        while self._waiting and self._waiting[0] in self._early:
            yield self._early.pop(self._waiting.pop(0))

    def rest(self) -> Iterator[RowResult]:
        """Give what is left, at the end of a run: the planned results first."""
        for id in [*self._waiting, *sorted(self._early)]:
            if id in self._early:
                yield self._early.pop(id)
        self._waiting.clear()


# ── Writing ──


class Watcher:
    """One who is told how a run goes; a subclass takes note of what it wants to know."""

    def header(self, header: Header) -> None:
        """The run begins."""

    def began(self, row_id: str) -> None:
        """A row begins."""

    def row(self, result: RowResult) -> None:
        """A row has its verdict."""

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """The run has ended."""


class Stream(Watcher):
    """Writes the records of a run as they come, each with one call of `write`: a line, its end included."""

    def __init__(self, write: Callable[[str], object], flush: Callable[[], object] | None = None) -> None:
        self._write = write
        self._flush = flush
        self._order = InOrder(())

    def header(self, header: Header) -> None:
        """Write the first record."""
        self._order = InOrder(row.id for row in header.rows)
        self._record(header_record(header))

    def row(self, result: RowResult) -> None:
        """Write a result, or keep it until those before it in the header are there."""
        for each in self._order.take(result):
            self._record(row_record(each))

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """Write what ends a report."""
        for each in self._order.rest():
            self._record(row_record(each))
        self._record(coverage_record(coverage))
        self._record(footer_record(footer))

    def _record(self, record: Mapping[str, Any]) -> None:
        self._write(line(record))
        if self._flush is not None:
            self._flush()


def dump(report: Report) -> str:
    """Give a report as the text that its run wrote."""
    records = [header_record(report.header), *(row_record(row) for row in report.rows)]
    if report.footer is not None:
        records += [coverage_record(report.coverage), footer_record(report.footer)]
    return "".join(map(line, records))


_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def line(record: Mapping[str, Any]) -> str:
    """Give a record as one line of UTF-8 text.

    What some readers take for the end of a line, and halves of surrogate pairs, which UTF-8 cannot hold, are
    escaped.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"


def header_record(header: Header) -> dict[str, Any]:
    """Give the first record."""
    return {
        "record": "header",
        "format": FORMAT,
        "kit": header.kit,
        "lifecycle": header.lifecycle,
        **({"spec": header.spec} if header.spec is not None else {}),
        "revision": header.revision,
        "target": header.target,
        "seed": header.seed,
        "declares": dict(header.declares),
        "rows": [
            {"id": row.id, "level": row.level, "about": row.about, "where": row.where} for row in header.rows
        ],
    }


def row_record(row: RowResult) -> dict[str, Any]:
    """Give the record of one result."""
    found = row.counterexample
    return {
        "record": "row",
        "id": row.id,
        "about": row.about,
        "level": row.level,
        "verdict": row.verdict.value,
        "reason": row.reason,
        "runs": row.runs,
        "witnesses": dict(sorted(row.witnesses.items())),
        "where": row.where,
        "counterexample": None if found is None else _counterexample_record(found),
        "schedule": {
            "overlaps": row.overlaps,
            "reproduced": 0 if found is None else found.reproduced,
            "rounds": 0 if found is None else found.rounds,
        },
        "timing": {"seconds": round(row.seconds, 6)},
    }


def _counterexample_record(found: Counterexample) -> dict[str, Any]:
    return {
        "row": found.row,
        "calls": found.calls,
        "clause": found.clause,
        "expected": found.expected,
        "seen": found.seen,
        "transcript": list(found.transcript),
    }


def coverage_record(coverage: Coverage) -> dict[str, Any]:
    """Give the record of what was witnessed."""
    return {
        "record": "coverage",
        "clauses": dict(sorted(coverage.clauses.items())),
        "gaps": list(coverage.gaps),
    }


def footer_record(footer: Footer) -> dict[str, Any]:
    """Give the last record."""
    return {
        "record": "footer",
        "verdicts": {level: dict(counts) for level, counts in footer.verdicts.items()},
        "exit": footer.exit,
        "strays": list(footer.strays),
        "timing": {"seconds": round(footer.seconds, 6)},
    }
