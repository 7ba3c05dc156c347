"""A report read again: every record checked by its schema, so that what is no report is refused with its line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_origin, get_type_hints

from conformance.report.records import APART, FORMAT, KINDS, Coverage, Footer, Header, Record
from conformance.report.report import Report
from conformance.verdict import RowResult, Verdict
from statemachines.specs import schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


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
        match value := _value(record):
            case Header():
                header = value
            case RowResult() if value.id in rows:
                raise ReportError(f"{at}: row {value.id} has a result already")
            case RowResult():
                rows[value.id] = value
            case Coverage():
                coverage = value
            case Footer():
                footer = value
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
    found = _validator(kind if isinstance(kind, str) else "").iter_errors(record)
    error = best_match(each for each in found if each.validator != "additionalProperties")  # of a later kit
    if error is None:
        return ""
    path = ".".join(map(str, error.absolute_path))
    message = error.message if len(error.message) <= 120 else f"{error.message[:60]} … {error.message[-58:]}"
    return f"{f'`{path}` of a' if path else 'a'} {kind or 'record'}: {message}"


@cache
def _validator(kind: str) -> Validator:
    """Return what checks records of a kind."""
    from jsonschema import Draft7Validator  # slow to import

    definitions = schema("report")["definitions"]
    rule = {"$ref": f"#/definitions/{kind}"} if kind in definitions else {"type": "object", "required": ["record"]}
    return Draft7Validator({**rule, "definitions": definitions})


def _value(record: Mapping[str, Any]) -> Record | None:
    """Return the value that a record was written from; None for a kind of record of a later kit."""
    kind = KINDS.get(record["record"]) if isinstance(record["record"], str) else None
    if kind is None:
        return None
    parts = ((record[part], names) for part, names in APART.items() if isinstance(record.get(part), Mapping))
    apart = {name: part[name] for part, names in parts for name in names if name in part}
    found = record.get("counterexample")
    said = {**record, **apart, "counterexample": {**found, **apart} if isinstance(found, Mapping) else None}
    value: Record = _typed(kind, said)
    return value


def _typed(kind: Any, said: Any) -> Any:
    """Return a plain value as one of a type, fields of dataclasses by their types; unknown fields are left out."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _typed(hints[name], said[name]) for name in hints if name in said})
    item, *_ = get_args(kind) or [None]
    if get_origin(kind) is tuple:
        return tuple(_typed(item, each) for each in said)
    if get_origin(kind) is UnionType:
        return None if said is None else _typed(item, said)
    return kind(said) if kind in (Verdict, float) else said
