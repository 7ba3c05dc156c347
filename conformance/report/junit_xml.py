"""A report as JUnit XML: a test suite for the lifecycle, a test case for each row.

What makes a run fail is a failure, what kept a row from an answer an error. A row that fails below the level
that counts is skipped, with a message that says so. A tool that only counts then agrees with the exit code.
"""

from __future__ import annotations

import json
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.report.content import FAILING, against, failing, summary
from conformance.report.records import Header, Planned
from conformance.report.report import Report
from conformance.report.texts import cut, one_line, visible
from conformance.report.view import details
from conformance.verdict import EXIT_CONFORMS, EXIT_VIOLATES, RowResult, Verdict

_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


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
            SubElement(_case(suite, report.header, row, 0.0), "error", type="unfinished", message=message)
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
