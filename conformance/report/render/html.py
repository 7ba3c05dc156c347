"""A report as one web page, which needs nothing else: no network, and no script to be read.

Every text is escaped by the templates. A policy in the page allows its own script by its hash, and no other.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from conformance.errors import UsageError
from conformance.report import (
    Note,
    Report,
    by_head,
    cut,
    declared_text,
    duration,
    latest,
    notes,
    number,
    one_line,
    summary,
    visible,
)
from conformance.report.render.life_cycle import life_cycle
from conformance.report.render.sequence import sequence
from conformance.report.render.story import SIGNS, Cause, causes, missing, outcome, sentence_of, told, unanswered
from conformance.verdict import RowResult, Verdict, word_for

if TYPE_CHECKING:
    from jinja2 import Template

KINDS = {
    Verdict.PASS: "good",
    Verdict.FAIL: "bad",
    Verdict.FLAKY: "bad",
    Verdict.HARNESS_ERROR: "bad",
    Verdict.NOT_EXERCISED: "unknown",
    Verdict.COULD_NOT_TELL: "unknown",
}
"""How a verdict is coloured, beside its sign and its word; the others are plain."""
LONGEST_REASON, BRIEF = 300, 110  # characters of a reason, and of what stands in the overview


def html(report: Report) -> str:
    """Return a report as a web page. Raises UsageError where jinja2 is not installed."""
    template = _template()
    style, script = _part("report.css"), _part("report.js")
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return template.render(_said(report), style=style, script=script, allowed=f"sha256-{allowed}")


def _part(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    """Return the template of the page. Raises UsageError."""
    try:
        import jinja2  # an extra
        from markupsafe import Markup
    except ImportError:
        raise UsageError(
            "a page is made with jinja2, which is not installed: `pip install 'lifecycle-conformance[html]'`, "
            "or `pip install jinja2`; the forms junit, markdown, badge and badge-json need nothing"
        ) from None

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_part),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["drawn"] = Markup  # of what `svg` has escaped, and of our own style and script
    return environment.get_template("report.html.j2")


def _said(report: Report) -> dict[str, Any]:
    """Return all that the page says."""
    header, said = report.header, summary(report.header, report.rows, report.coverage, report.footer)
    ways = causes(report)
    places = {row_id: place for place, cause in enumerate(ways, 1) for row_id in cause.ids}
    return {
        "header": header,
        "outcome": outcome(report),
        "finished": report.finished,
        "lead": said.conclusion.partition(". ")[0].rstrip(".") + ".",
        "beside": said.beside,
        "counts": [(verdict, SIGNS[verdict], KINDS.get(verdict, "plain"), sum(each)) for verdict, each in said.counts],
        "totals": said,
        "signs": SIGNS,
        "causes": [_cause(report, cause, place) for place, cause in enumerate(ways, 1)],
        "unanswered": [*map(_note, unanswered(report)), *_missing(report)],
        "known": [*map(_note, notes(report.rows, (Verdict.KNOWN_FAIL,)))],
        "groups": list(_groups(report, places)),
        "verdicts": [verdict for verdict, _ in said.counts],
        "levels": said.levels,
        "charts": _charts(report),
        "clauses": _clauses(report),
        "unasked": by_head(said.unasked),
        "declared": _declared(report),
        "ran": _ran(report),
        "commands": _commands(report, ways),
    }


def _note(note: Note) -> dict[str, Any]:
    return {"sign": SIGNS[note.verdict], "what": note.verdict, "ids": note.ids, "why": _short(note.reason)}


def _missing(report: Report) -> list[dict[str, Any]]:
    left = missing(report)
    why = "the run did not finish"
    return [{"sign": "?", "what": "not reached", "ids": left, "why": why}] if left else []


def _short(said: str, most: int = LONGEST_REASON) -> str:
    said = one_line(said)
    return said if len(said) <= most else f"{said[: most - 1]}…"


def _cause(report: Report, cause: Cause, place: int) -> dict[str, Any]:
    row, shown = cause.first, cause.shown
    found: dict[str, Any] = {
        "place": place,
        "ids": cause.ids,
        "told": told(cause.ids),
        "one": cause.is_one and len(cause.rows) > 1,
        "counts": cause.counts,
        "clause": cause.clause,
        "sentence": cause.sentence,
        "about": row.about,
        "level": row.level,
        "verdict": row.verdict,
        "where": row.where,
        "shown": shown,
        "abouts": [(each.id, each.about) for each in cause.rows],
        "replay": report.header.rerun(row.id),
    }
    if shown is None:
        return {**found, "briefly": _short(row.reason), "because": cut(row.reason)}
    more = row.reason.removeprefix(f"expected {shown.expected}; seen {shown.seen}").removeprefix("; ")
    return {
        **found,
        "briefly": f"Expected {_short(shown.expected, BRIEF)}; seen {_short(shown.seen, BRIEF)}",
        "because": "" if more == row.reason else cut(more),
        "expected": cut(shown.expected),
        "seen": cut(shown.seen),
        "likely": "" if shown.diagnosis is None else cut(str(shown.diagnosis)),
        "called": [(name, value) for name, value in shown.ids.items() if name in shown.expected + shown.seen],
        "calls": number(shown.calls, "call"),
        "drawing": sequence(shown, f"The counterexample of {one_line(row.id)}"),
        "text": visible(shown.row).strip("\n"),
        "transcript": latest(shown.transcript) if shown.transcript else "",
    }


def _groups(report: Report, places: dict[str, int]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Walk the rows by their titles, in the order in which each title first comes."""
    titles = {row.id: row.group for row in report.header.rows}
    found: dict[str, list[dict[str, Any]]] = {}
    for row in report.rows:
        found.setdefault(titles.get(row.id, ""), []).append(_row(row, places.get(row.id, 0)))
    untitled = "Other rows" if any(found) else "Rows"
    for title, rows in found.items():
        yield title or untitled, rows


def _row(row: RowResult, place: int) -> dict[str, Any]:
    return {
        "id": row.id,
        "about": row.about,
        "level": row.level,
        "verdict": row.verdict,
        "word": word_for(row),
        "sign": SIGNS[row.verdict],
        "kind": KINDS.get(row.verdict, "plain"),
        "why": "" if place else _short(row.reason),
        "place": place,
        "runs": row.runs,
        "time": duration(row.seconds) if row.runs else "",
        "where": row.where,
        "text": one_line(f"{row.id} {row.about} {row.reason}").lower(),
    }


def _charts(report: Report) -> list[tuple[str, str]]:
    witnessed = report.coverage.clauses if report.finished else None
    return [(chart.record, life_cycle(chart, witnessed)) for chart in report.header.charts]


def _clauses(report: Report) -> list[dict[str, Any]]:
    """Return the clauses, with those first that nothing witnessed though somebody could have asked."""
    seen, gaps, unasked = report.coverage.clauses, {*report.coverage.gaps}, {*report.coverage.unasked}
    places = {path: place for place, path in enumerate(report.header.sentences)}  # in the order of the spec
    paths = sorted({*seen, *gaps, *unasked}, key=lambda path: (places.get(path, len(places)), path))
    found = [
        {
            "path": path,
            "sentence": sentence_of(report, path),
            "count": seen.get(path, 0),
            "state": "gap" if path in gaps else "unasked" if path in unasked else "seen" if seen.get(path) else "not",
        }
        for path in paths
    ]
    return sorted(found, key=lambda each: each["state"] != "gap")


def _declared(report: Report) -> list[tuple[str, str]]:
    declares = report.header.declares
    plain = {name: value for name, value in declares.items() if name != "deviates"}
    found = [(name, declared_text({name: value}).removeprefix(f"{name} ")) for name, value in plain.items()]
    known = declares.get("deviates") or {}
    found += [(f"known failure {name}", str(each.get("reason", ""))) for name, each in known.items()]
    return [(name, value) for name, value in found if value]


def _ran(report: Report) -> list[tuple[str, str]]:
    """Return what is known of the run itself."""
    header = report.header
    levels = Counter(row.level for row in header.rows)
    rows = ", ".join(f"{levels[level]} {level}" for level in ("must", "should", "may") if levels[level])
    found = [
        ("life cycle", f"{header.lifecycle}, revision {header.revision}"),
        ("system", header.target),
        ("rows asked", f"{len(header.rows)} ({rows})" if rows else "none"),
        ("seed", str(header.seed)),
        ("kit", header.kit),
        ("Python", header.python),
        ("platform", header.platform),
        ("began", header.date),
        ("took", duration(report.footer.seconds) if report.footer is not None else ""),
        ("exit code", str(report.footer.exit) if report.footer is not None else ""),
        *(("fault of the spec", fault) for fault in header.faults),
    ]
    return [(name, value) for name, value in found if value]


def _commands(report: Report, ways: list[Cause]) -> list[tuple[str, str]]:
    """Return the commands that run all of it again, or what fails."""
    asked = [("All rows", report.header.rerun())]
    if ways:
        asked.append(("What fails", report.header.rerun(*(row_id for cause in ways for row_id in cause.ids))))
    return [(name, command) for name, command in asked if command]
