"""A report as Markdown, for the summary of a run in continuous integration.

What the system says stands in code or in a fenced block, every sign that could mean something as its number: it becomes
neither Markdown nor HTML, names nobody and links nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.report import (
    Incomparable,
    Report,
    compared,
    cut,
    named,
    number,
    one_line,
    opening,
    stale_told,
    summary,
    visible,
)
from conformance.report.render.story import SIGNS, Cause, causes, missing, outcome, told, unanswered

_MEANS = re.compile(r"[^\w\s.,;:()/→…“”’'=-]|_")
_LINKS = re.compile(
    r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?=://)|(?i:(?<=\bgh-)(?=\d)|(?<=\bwww)(?=\.))"
)  # what GitHub makes a link of
_BREAK = "\u2060"  # a joiner that nobody sees
MOST_NAMED, MOST_TOLD = 20, 300  # rows that a change names; characters of a reply outside the folds


def markdown(report: Report, since: Report | None = None) -> str:
    """Return a report as Markdown; with an earlier one, what has changed comes first."""
    return "\n".join(_lines(report, since)).rstrip("\n") + "\n"


def plain(said: str) -> str:
    """Return a text on one line that reads the same in Markdown, and means nothing there."""
    return _as_numbers(_LINKS.sub(_BREAK, one_line(said)))


def code(said: str) -> str:
    """Return a text on one line as code, with nothing in it that Markdown or HTML would take for their own."""
    return f"<code>{_as_numbers(one_line(said))}</code>"


def fenced(said: str, language: str = "text") -> list[str]:
    """Return the lines of a block of code that nothing in the text can end."""
    longest = max(map(len, re.findall("`+", said)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *visible(said).strip("\n").split("\n"), fence]


def _as_numbers(said: str) -> str:
    said = _MEANS.sub(lambda found: f"&#{ord(found.group())};", said)
    return re.sub(r"^(\d+)([.)])(?=\s|$)|^([-=])", _first, said)


def _first(found: re.Match[str]) -> str:
    """Escape what makes a list or a heading of a line that begins with it."""
    sign = found[2] or found[3]
    return f"{found[1] or ''}&#{ord(sign)};"


def _lines(report: Report, since: Report | None) -> Iterator[str]:
    found, header = outcome(report), report.header
    yield f"## {found.sign} {plain(header.lifecycle)}: {found.short}"
    yield ""
    yield f"{code(header.target)} against revision {header.revision}, seed {header.seed}, kit {plain(header.kit)}."
    yield ""
    if since is not None:
        yield from _changed(report, since)
    ways = causes(report)
    if ways:
        yield "### What fails, and why"
        yield ""
        for cause in ways:
            yield from _cause(report, cause)
    yield from _without_answer(report)
    if report.footer is not None and report.footer.stale:
        yield plain(stale_told(report.footer.stale))
        yield ""
    yield from _totals(report)


def _changed(report: Report, since: Report) -> Iterator[str]:
    yield "### What has changed"
    yield ""
    try:
        parts = compared(since, report).parts
    except Incomparable as error:
        yield f"The other report cannot be compared: {plain(str(error))}"
        yield ""
        return
    for title, part in parts:
        said = [f"{each.name} ({each.before} → {each.after})" if each.before else each.name for each in part]
        yield f"- {title}: {plain(named(said, MOST_NAMED))}"
    if not parts:
        yield "Every row has the verdict that it had."
    if outcome(since).short != outcome(report).short:
        yield f"- before: {outcome(since).short}; now: {outcome(report).short}"
    yield ""


def _cause(report: Report, cause: Cause) -> Iterator[str]:
    counts = "" if cause.counts else " (does not count)"
    yield f"**{plain(told(cause.ids))}**{counts}: {plain(cause.why)}"
    yield ""
    shown = cause.shown
    if shown is None:
        yield from fenced(cut(cause.first.reason))
        yield ""
        return
    yield f"- expected {code(_short(shown.expected))}"
    yield f"- seen {code(_short(shown.seen))}"
    if shown.diagnosis is not None:
        yield f"- likely {code(_short(str(shown.diagnosis)))}"
    yield ""
    rounds = f", in {shown.reproduced} of {shown.rounds} rounds" if shown.rounds > 1 else ""
    yield f"<details><summary>{number(shown.calls, 'call')} that show it{rounds}</summary>"
    yield ""
    yield from fenced(shown.row, "yaml")
    yield ""
    if shown.transcript:
        yield from fenced("\n".join(shown.transcript[-24:]))
        yield ""
    if again := report.header.rerun(cause.first.id):
        yield from fenced(again, "sh")
        yield ""
    yield "</details>"
    yield ""


def _short(said: str) -> str:
    said = one_line(said)
    return said if len(said) <= MOST_TOLD else f"{said[: MOST_TOLD - 1]}…"


def _without_answer(report: Report) -> Iterator[str]:
    found, unfinished = unanswered(report), missing(report)
    if not found and not unfinished:
        return
    yield "### Without an answer"
    yield ""
    for note in found:
        why = f": {code(_short(note.reason))}" if note.reason else ""
        yield f"- {number(len(note.ids), 'row')} {note.verdict}{why} ({plain(told(note.ids))})"
    if unfinished:
        yield f"- {number(len(unfinished), 'row')} not reached, as the run did not finish ({plain(told(unfinished))})"
    yield ""


def _totals(report: Report) -> Iterator[str]:
    said = summary(report.header, report.rows, report.coverage, report.footer)
    yield "### In all"
    yield ""
    yield f"| verdict | {' | '.join(said.levels)} |"
    yield f"|---|{'---:|' * len(said.levels)}"
    for verdict, counts in said.counts:
        yield f"| {SIGNS[verdict]} {verdict} | {' | '.join(str(each or '–') for each in counts)} |"
    yield ""
    facts = [f"{label} {plain(text)}" for label, text in opening(report.header) if label in ("declares", "spec")]
    for line in (said.witnessed, *facts, *([plain(said.beside)] if said.beside else [])):
        if line:
            yield f"- {line}"
