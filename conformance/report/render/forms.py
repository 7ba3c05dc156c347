"""The forms in which a report can be rendered."""

from __future__ import annotations

from collections.abc import Callable

from conformance.report import Report, junit
from conformance.report.render.badge import badge, badge_json
from conformance.report.render.markdown import markdown


def _html(report: Report) -> str:
    from conformance.report.render.html import html  # it brings jinja2 along

    return html(report)


_MADE: dict[str, Callable[[Report], str]] = {
    "html": _html,
    "junit": junit,
    "markdown": markdown,
    "badge": badge,
    "badge-json": badge_json,
}
FORMS = tuple(_MADE)


def rendered(report: Report, form: str, since: Report | None = None) -> str:
    """Return a report in one of the forms; Markdown says what has changed since another one.

    Raises UsageError where what a form needs is not installed.
    """
    return markdown(report, since) if form == "markdown" else _MADE[form](report)
