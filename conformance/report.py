"""The report of a run: a stream of records, one JSON object a line, from which everything else is rendered.

header, then a row for each row of the matrix, coverage, footer. A report without a footer is one of a run
that did not finish. Two runs with the same seed write the same bytes, but for what is under `timing` and
`schedule`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast, get_args

from conformance.__about__ import __version__
from conformance.verdict import Counterexample, RowResult, Verdict
from statemachines.lifecycle import Level

if TYPE_CHECKING:  # it brings the compiler along, and here it is only an argument
    from conformance.declaration import Declaration

FORMAT = 1
LEVELS: tuple[Level, ...] = get_args(Level)

Kind = Literal["text", "number", "whole number", "list", "mapping"]
_KINDS: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "whole number": (int,),
    "list": (list,),
    "mapping": (dict,),
}


class ReportError(ValueError):
    """A report that cannot be read; the message says `file:line: what is wrong`."""


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
    """

    lifecycle: str
    revision: int
    target: str
    seed: int
    declares: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[Planned, ...] = ()
    kit: str = __version__


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often anything in the run witnessed each clause of the lifecycle, and those never witnessed."""

    clauses: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Footer:
    """How the run ended: per level how many rows have each verdict, the exit code, and how long it took."""

    verdicts: Mapping[str, Mapping[str, int]]
    exit: int
    seconds: float = 0.0


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


class Stream:
    """Writes the records of a run as they come, each with one call of `write`: a line, its end included."""

    def __init__(self, write: Callable[[str], object], flush: Callable[[], object] | None = None) -> None:
        self._write = write
        self._flush = flush
        self._order = InOrder(())

    def header(self, header: Header) -> None:
        """Write the first record."""
        self._order = InOrder(row.id for row in header.rows)
        self._record(header_record(header))

    def began(self, row_id: str) -> None:
        """Write nothing: a row is a record when it has a verdict."""

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
        "timing": {"seconds": round(footer.seconds, 6)},
    }


# ── Reading ──


def read(path: Path | str) -> Report:
    """Read a report from a file. Raises ReportError, and OSError when there is no such file."""
    with Path(path).open(encoding="utf-8-sig", newline="\n") as lines:
        try:
            return load(lines, str(path))
        except UnicodeDecodeError as error:
            raise ReportError(f"{path}: this is not UTF-8 text ({error.reason})") from None


def load(lines: Iterable[str], name: str = "<report>") -> Report:
    """Read the lines of a report; `name` is what errors call it.

    Unknown fields and kinds of records are left out. Raises ReportError when a line is not a record of the
    form above, or when a newer kit wrote it. A last line that was cut off counts as not written.
    """
    reader = _Reader()
    for record in _records(lines, name):
        reader.take(record)
    if reader.header is None:
        raise ReportError(f"{name}:1: a report begins with a header, and this has none")
    return Report(reader.header, tuple(reader.rows.values()), reader.coverage, reader.footer)


@dataclass(frozen=True, slots=True)
class _Record:
    """A mapping of a report, read field by field; `what` it is called in errors and `at` which place."""

    at: str
    what: str
    fields: Mapping[str, Any]

    def fail(self, message: str) -> NoReturn:
        raise ReportError(f"{self.at}: {message}")

    def get(self, name: str, kind: Kind) -> Any:
        if name not in self.fields:
            self.fail(f"{self.what} has no `{name}`")
        value = self.fields[name]
        if not _is(value, kind):
            self.fail(f"`{name}` of {self.what} is a {kind}, and this is {_short(value)}")
        return value

    def text(self, name: str) -> str:
        return cast("str", self.get(name, "text"))

    def count(self, name: str) -> int:
        value = cast("int", self.get(name, "whole number"))
        if value < 0:
            self.fail(f"`{name}` of {self.what} is 0 or more, and this is {value}")
        return value

    def part(self, name: str) -> _Record:
        return _Record(self.at, f"`{name}` of {self.what}", self.get(name, "mapping"))

    def counts(self, name: str) -> dict[str, int]:
        part = self.part(name)
        return {key: part.count(key) for key in part.fields}

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.get(name, "list")
        for value in values:
            if not isinstance(value, str):
                self.fail(f"`{name}` of {self.what} is a list of texts, and one is {_short(value)}")
        return tuple(values)

    def parts(self, name: str) -> Iterator[_Record]:
        for value in self.get(name, "list"):
            if not isinstance(value, dict):
                self.fail(f"`{name}` of {self.what} is a list of mappings, and one is {_short(value)}")
            yield _Record(self.at, f"one of `{name}` of {self.what}", value)

    def one_of(self, name: str, known: Sequence[str]) -> str:
        value = self.text(name)
        if value not in known:
            self.fail(f"`{name}` of {self.what} is one of {', '.join(known)}, and this is {_short(value)}")
        return value

    def level(self) -> Level:
        return cast("Level", self.one_of("level", LEVELS))

    def seconds(self) -> float:
        return float(self.part("timing").get("seconds", "number"))


def _is(value: Any, kind: Kind) -> bool:
    return isinstance(value, _KINDS[kind]) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _records(lines: Iterable[str], name: str) -> Iterator[_Record]:
    cut = ""
    for number, text in enumerate(lines, 1):
        if cut:
            raise ReportError(cut)
        if not text.strip():
            continue
        at = f"{name}:{number}"
        try:
            value = json.loads(text)
        except ValueError as error:
            cut = f"{at}: this is not JSON: {error}"
            if text.endswith("\n") or number == 1:
                raise ReportError(cut) from None
            continue
        if not isinstance(value, dict):
            raise ReportError(f"{at}: a record is a mapping, and this is {_short(value)}")
        yield _Record(at, f"a {value.get('record', 'record')}", value)


class _Reader:
    """Puts the records of a report in their places."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.rows: dict[str, RowResult] = {}
        self.coverage = Coverage()
        self.footer: Footer | None = None

    def take(self, record: _Record) -> None:
        kind = record.text("record")
        if self.header is None and kind != "header":
            record.fail(f"a report begins with a header, and this is {record.what}")
        if self.footer is not None:
            record.fail(f"nothing follows a footer, and this is {record.what}")
        match kind:
            case "header" if self.header is not None:
                record.fail("a report has one header, and this is another")
            case "header":
                self.header = _header(record)
            case "row":
                self._row(record)
            case "coverage":
                self.coverage = Coverage(record.counts("clauses"), record.texts("gaps"))
            case "footer":
                self.footer = _footer(record)

    def _row(self, record: _Record) -> None:
        row = _row(record)
        if row.id in self.rows:
            record.fail(f"row {row.id} has a result already")
        self.rows[row.id] = row


def _header(record: _Record) -> Header:
    form = record.count("format")
    if form > FORMAT:
        record.fail(f"a newer kit wrote this report: its format is {form}, and this kit reads up to {FORMAT}")
    return Header(
        record.text("lifecycle"),
        record.count("revision"),
        record.text("target"),
        record.get("seed", "whole number"),
        record.part("declares").fields,
        tuple(
            Planned(row.text("id"), row.level(), row.text("about"), row.text("where"))
            for row in record.parts("rows")
        ),
        record.text("kit"),
    )


def _row(record: _Record) -> RowResult:
    return RowResult(
        id=record.text("id"),
        about=record.text("about"),
        level=record.level(),
        verdict=Verdict(record.one_of("verdict", tuple(Verdict))),
        reason=record.text("reason"),
        runs=record.count("runs"),
        witnesses=record.counts("witnesses"),
        overlaps=record.part("schedule").count("overlaps"),
        counterexample=_counterexample(record),
        where=record.text("where"),
        seconds=record.seconds(),
    )


def _counterexample(record: _Record) -> Counterexample | None:
    if "counterexample" in record.fields and record.fields["counterexample"] is None:
        return None
    found, schedule = record.part("counterexample"), record.part("schedule")
    return Counterexample(
        row=found.text("row"),
        calls=found.count("calls"),
        clause=found.text("clause"),
        expected=found.text("expected"),
        seen=found.text("seen"),
        rounds=schedule.count("rounds"),
        reproduced=schedule.count("reproduced"),
    )


def _footer(record: _Record) -> Footer:
    levels = record.part("verdicts")
    counts = {level: levels.counts(level) for level in levels.fields}
    return Footer(counts, record.count("exit"), record.seconds())
