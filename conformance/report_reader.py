"""A report read again: every record checked, so that what is no report is refused with its line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

from conformance.report import FORMAT, LEVELS, Coverage, Footer, Header, Planned, Report
from conformance.verdict import Counterexample, RowResult, Verdict
from statemachines.lifecycle import Level

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


def read(path: Path | str) -> Report:
    """Read a report from a file. Raises ReportError, and OSError when there is no such file."""
    with Path(path).open(encoding="utf-8-sig", newline="\n") as lines:
        try:
            return load(lines, str(path))
        except UnicodeDecodeError as error:
            raise ReportError(f"{path}: this is not UTF-8 text ({error.reason})") from None


def load(lines: Iterable[str], name: str = "<report>") -> Report:
    """Read the lines of a report; `name` is what errors call it.

    Unknown fields and kinds of records are left out. Raises ReportError when a line is not a record of
    `spec/report.schema.json`, or when a newer kit wrote it. A last line that was cut off counts as not written.
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
        record.text("spec") if "spec" in record.fields else None,
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
        transcript=found.texts("transcript"),
    )


def _footer(record: _Record) -> Footer:
    levels = record.part("verdicts")
    counts = {level: levels.counts(level) for level in levels.fields}
    return Footer(counts, record.count("exit"), record.seconds(), record.texts("strays"))
