"""A report as it is written: one JSON object a line, each as soon as it is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from conformance.report.records import FORMAT, Coverage, Footer, Header, PlanOrder
from conformance.verdict import Counterexample, RowResult


class Watcher:
    """One who is told how a run goes; a subclass takes note of what it wants to know."""

    def header(self, header: Header) -> None:
        """Note that the run begins."""

    def began(self, row_id: str) -> None:
        """Note that a row begins."""

    def row(self, result: RowResult) -> None:
        """Note the verdict of a row."""

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """Note that the run has ended."""


class Stream(Watcher):
    """Writes the records of a run as they come, each with one call of `write`: a line, its end included."""

    def __init__(self, write: Callable[[str], object], flush: Callable[[], object] | None = None) -> None:
        self._write = write
        self._flush = flush
        self._order = PlanOrder(())

    def header(self, header: Header) -> None:
        """Write the first record."""
        self._order = PlanOrder(row.id for row in header.rows)
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


_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def line(record: Mapping[str, Any]) -> str:
    """Return a record as one line of UTF-8 text.

    What some readers take for the end of a line, and halves of surrogate pairs, which UTF-8 cannot hold, are
    escaped.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"


def header_record(header: Header) -> dict[str, Any]:
    """Return the first record."""
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
            {"id": row.id, "level": row.level, "about": row.about, "where": row.where, "group": row.group}
            for row in header.rows
        ],
    }


def row_record(row: RowResult) -> dict[str, Any]:
    """Return the record of one result."""
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
    """Return the record of what was witnessed."""
    return {
        "record": "coverage",
        "clauses": dict(sorted(coverage.clauses.items())),
        "gaps": list(coverage.gaps),
    }


def footer_record(footer: Footer) -> dict[str, Any]:
    """Return the last record."""
    return {
        "record": "footer",
        "verdicts": {level: dict(counts) for level, counts in footer.verdicts.items()},
        "exit": footer.exit,
        "strays": list(footer.strays),
        "timing": {"seconds": round(footer.seconds, 6)},
    }
