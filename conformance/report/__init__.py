"""The record of a run: what was planned, each result, coverage and the end; and how all of it looks to people.

`Report` is the whole of it, everything shown is made from it alone: in a terminal, as plain text, as JUnit XML.
"""

from __future__ import annotations

from conformance.report.comparison import Change, Comparison, Incomparable, compared, to_run_again
from conformance.report.content import (
    FAILING,
    RAN,
    UNANSWERED,
    Note,
    against,
    by_head,
    declared_text,
    failing,
    notes,
    opening,
    stale_told,
    subject,
    summary,
    way_of,
)
from conformance.report.junit_xml import JUnitFile, junit
from conformance.report.reader import ReportError, read
from conformance.report.records import (
    LEVELS,
    Chart,
    Coverage,
    Footer,
    Header,
    Led,
    Planned,
    Stream,
    Watcher,
    declares,
    tally,
)
from conformance.report.report import Report, view_of
from conformance.report.texts import cut, duration, latest, named, number, one_line, visible
