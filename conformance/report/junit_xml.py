"""A report as JUnit XML: a test suite for the lifecycle, a test case for each row.

What makes a run fail is a failure, what kept a row from an answer an error. A row that fails below the level
that counts is skipped, with a message that says so. A tool that only counts then agrees with the exit code.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Self
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.report.content import FAILING, against, failing, summary
from conformance.report.records import Coverage, Footer, Header, Planned, Watcher
from conformance.report.report import Report
from conformance.report.texts import cut, one_line, visible
from conformance.report.view import details
from conformance.verdict import EXIT_CONFORMS, EXIT_UNKNOWN, EXIT_VIOLATES, RowResult, Verdict

_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


class JUnitFile(Watcher):
    """Writes a JUnit XML file when a run has ended, or was broken off: whole, or not at all.

    A context manager. What an earlier run wrote goes at once, and the new file comes when it is left. Raises OSError
    where it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._report: Report | None = None
        self._path = path.resolve()
        in_place = self._path.exists() and not self._path.is_file()  # a pipe or a device
        self._draft = self._path if in_place else self._path.with_name(f".{path.name}.{os.getpid()}")
        self._file = self._draft.open("w", encoding="utf-8")
        if not in_place:
            self._path.unlink(missing_ok=True)

    def header(self, header: Header) -> None:
        """Take note of what is run."""
        self._report = Report(header)

    def row(self, result: RowResult) -> None:
        """Take note of a result."""
        assert self._report is not None  # a header is the first record
        self._report = replace(self._report, rows=(*self._report.rows, result))

    def finish(self, coverage: Coverage, footer: Footer) -> None:
        """Take note of the end."""
        assert self._report is not None  # a header is the first record
        self._report = replace(self._report, coverage=coverage, footer=footer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Write what is known."""
        try:
            with self._file as file:
                if self._report is not None:
                    file.write(junit(self._report))
            if self._report is not None:
                self._draft.replace(self._path)
        finally:
            if self._draft != self._path:
                self._draft.unlink(missing_ok=True)


def junit(report: Report) -> str:
    """Return a report as the text of a JUnit XML file."""
    suite = Element("testsuite", name=one_line(report.header.lifecycle))
    _properties(suite, report.header)
    counting = _counting(report)
    for row in report.rows:
        _answer(_case(suite, report.header, row, row.seconds), row, row.id in counting)
    _whole(suite, report)
    _count(suite, sum(row.seconds for row in report.rows) if report.footer is None else report.footer.seconds)
    suites = Element("testsuites", suite.attrib)
    suites.append(suite)
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _properties(suite: Element, header: Header) -> None:
    said = {
        "target": header.target,
        "revision": str(header.revision),
        "seed": str(header.seed),
        "kit": header.kit,
        "declares": json.dumps(dict(header.declares), ensure_ascii=False),
    }
    properties = SubElement(suite, "properties")
    for name, value in said.items():
        SubElement(properties, "property", name=name, value=one_line(value))


def _counting(report: Report) -> set[str]:
    """Return the ids of the rows that make the run fail; all that could, when it did not finish."""
    if report.footer is not None and report.footer.exit != EXIT_VIOLATES:
        return set()
    return {row.id for row in against(report.rows, report.footer.stale if report.footer is not None else ())}


def _case(suite: Element, header: Header, row: RowResult | Planned, seconds: float) -> Element:
    name = one_line(f"{row.id} {row.about}")
    return SubElement(suite, "testcase", classname=one_line(header.lifecycle), name=name, time=f"{seconds:.3f}")


def _answer(case: Element, row: RowResult, counts: bool) -> None:
    """Put the verdict of a row into its test case."""
    match row.verdict:
        case Verdict.PASS:
            if row.reason:
                SubElement(case, "system-out").text = visible(row.reason)
        case Verdict.HARNESS_ERROR | Verdict.COULD_NOT_TELL:
            _say(case, "error", row)
        case Verdict.NOT_APPLICABLE | Verdict.KNOWN_FAIL:
            _say(case, "skipped", row)
        case _:
            _say(case, "failure" if counts else "skipped", row)


def _say(case: Element, kind: str, row: RowResult) -> None:
    said = Element(kind, message=_message(row))
    if kind != "skipped":
        said.set("type", row.verdict.value)
    lines = details(failing(row, {})) if row.verdict in FAILING else [visible(row.reason)]
    said.text = "\n".join(["", *lines, ""])
    case.append(said)


def _message(row: RowResult) -> str:
    found = row.counterexample if row.verdict in FAILING else None
    reason = row.reason if found is None else f"expected {found.expected}; seen {found.seen}"
    level = "" if row.level == "must" else f" (level: {row.level})"
    return one_line(cut(f"{row.verdict}{level}: {reason}" if reason else f"{row.verdict}{level}"))


def _whole(suite: Element, report: Report) -> None:
    """Add what no row says: rows without a verdict, and a run that went wrong though no row did."""
    asked = {row.id for row in report.rows}
    for row in report.header.rows:
        if row.id not in asked:
            message = "the run ended before this row had a verdict"
            aside = report.footer is not None and (row.level != "must" or report.footer.exit != EXIT_UNKNOWN)
            told = SubElement(_case(suite, report.header, row, 0.0), "skipped" if aside else "error", message=message)
            told.attrib |= {} if aside else {"type": "unfinished"}
    for name in report.footer.stale if report.footer is not None else ():
        case = _case(suite, report.header, Planned(name, "must", "It is said to fail, and does not any more."), 0.0)
        SubElement(case, "failure", type="stale", message="take its entry away")
    well = report.footer is not None and report.footer.exit == EXIT_CONFORMS
    if not well and suite.find("testcase/failure") is None and suite.find("testcase/error") is None:
        said = summary(report.header, report.rows, report.coverage, report.footer).conclusion
        case = _case(suite, report.header, Planned("run", "must", "The run as a whole."), 0.0)
        SubElement(case, "error", type="unfinished" if report.footer is None else "run", message=said)


def _count(suite: Element, seconds: float) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for kind, counted in _COUNTED.items():
        suite.set(counted, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("time", f"{seconds:.3f}")
