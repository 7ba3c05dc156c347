"""A report read again: every record checked by its schema, so that what is no report is refused with its line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.report.records import FORMAT, Coverage, Footer, Header, Planned
from conformance.report.report import Report
from conformance.verdict import Counterexample, RowResult, Verdict
from statemachines.specs import schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Record = dict[str, Any]


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
    header: Header | None = None
    rows: dict[str, RowResult] = {}
    coverage, footer = Coverage(), None
    for at, record in _records(lines, name):
        kind = record.get("record") if isinstance(record, dict) else None
        if isinstance(kind, str) and (header is None) is not (kind == "header"):
            raise ReportError(f"{at}: a report begins with its one header, and this is a {kind}")
        if footer is not None:
            raise ReportError(f"{at}: nothing follows a footer, and this is a {kind or 'record'}")
        if fault := _fault(record):
            raise ReportError(f"{at}: {fault}")
        match kind:
            case "header":
                header = _header(record)
            case "row" if record["id"] in rows:
                raise ReportError(f"{at}: row {record['id']} has a result already")
            case "row":
                rows[record["id"]] = _row(record)
            case "coverage":
                coverage = Coverage(record["clauses"], tuple(record["gaps"]))
            case "footer":
                seconds = float(record["timing"]["seconds"])
                footer = Footer(record["verdicts"], record["exit"], seconds, tuple(record["strays"]))
    if header is None:
        raise ReportError(f"{name}:1: a report begins with its one header, and this has none")
    return Report(header, tuple(rows.values()), coverage, footer)


def _records(lines: Iterable[str], name: str) -> Iterator[tuple[str, Any]]:
    """Yield the record of each line, with its place. Raises ReportError."""
    cut = ""
    for number, text in enumerate(lines, 1):
        if cut:
            raise ReportError(cut)
        if not text.strip():
            continue
        at = f"{name}:{number}"
        try:
            record = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            cut = f"{at}: this is not JSON: {error}"
            if text.endswith("\n") or number == 1:
                raise ReportError(cut) from None
            continue
        if isinstance(record, dict) and record.get("format") not in (None, FORMAT):
            form = record["format"]
            raise ReportError(f"{at}: its format is {form}, and this kit reads {FORMAT}: a newer kit wrote this report")
        yield at, record


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _fault(record: Any) -> str:
    """Return what is wrong about a record and where in it; an empty text for a right one, and for one of a later kit."""
    from jsonschema.exceptions import best_match  # slow to import

    kind = record.get("record") if isinstance(record, dict) else None
    error = best_match(_validator(kind if isinstance(kind, str) else "").iter_errors(record))
    if error is None:
        return ""
    path = ".".join(map(str, error.absolute_path))
    message = error.message if len(error.message) <= 120 else f"{error.message[:60]} … {error.message[-58:]}"
    return f"{f'`{path}` of a' if path else 'a'} {kind or 'record'}: {message}"


@cache
def _validator(kind: str) -> Validator:
    """Return what checks records of a kind; what a later kit may add to one is no fault."""
    from jsonschema import Draft7Validator  # slow to import

    whole = _lenient(schema("report"))
    known = kind in whole["definitions"]
    rule = {"$ref": f"#/definitions/{kind}"} if known else {"type": "object", "required": ["record"]}
    return Draft7Validator({**rule, "definitions": whole["definitions"]})


def _lenient(part: Any) -> Any:
    """Return a schema that allows further fields everywhere."""
    if isinstance(part, list):
        return [_lenient(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {key: _lenient(each) for key, each in part.items() if (key, each) != ("additionalProperties", False)}


def _header(record: Record) -> Header:
    planned = (Planned(**_fields(row, Planned)) for row in record["rows"])
    return Header(**{**_fields(record, Header), "rows": tuple(planned)})


def _row(record: Record) -> RowResult:
    found, schedule = record["counterexample"], record["schedule"]
    if found is not None:
        rounds = {name: schedule[name] for name in ("rounds", "reproduced")}
        lines = tuple(found["transcript"])
        found = Counterexample(**{**_fields(found, Counterexample), **rounds, "transcript": lines})
    return RowResult(
        **{
            **_fields(record, RowResult),
            "verdict": Verdict(record["verdict"]),
            "overlaps": schedule["overlaps"],
            "seconds": float(record["timing"]["seconds"]),
            "counterexample": found,
        }
    )


def _fields(record: Record, kind: type[Planned | Header | RowResult | Counterexample]) -> Record:
    """Return what a record says of the fields of a value of this kind."""
    return {name: record[name] for name in kind.__dataclass_fields__ if name in record}
