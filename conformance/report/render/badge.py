"""A badge with the outcome of a run: as SVG, and as what shields.io reads from an endpoint."""

from __future__ import annotations

import json

from conformance.report import Report, one_line
from conformance.report.render.story import outcome
from conformance.report.render.svg import element, text_of

COLOURS = {"good": ("#2a7a2e", "brightgreen"), "bad": ("#b3261e", "red"), "unknown": ("#6b5d00", "yellow")}
SIGN_WIDTH, SPARE = 7, 12  # of a sign in 11 pixels, and beside each text
LONGEST_LABEL = 60


def badge_json(report: Report) -> str:
    """Return the badge as JSON in the form of https://shields.io/badges/endpoint-badge."""
    found = outcome(report)
    said = {
        "schemaVersion": 1,
        "label": _label(report),
        "message": found.short,
        "color": COLOURS[found.kind][1],
    }
    return json.dumps(said, ensure_ascii=False) + "\n"


def badge(report: Report) -> str:
    """Return the badge as an SVG file."""
    found, label = outcome(report), _label(report)
    left, right = (len(each) * SIGN_WIDTH + SPARE for each in (label, found.short))
    said = f"{label}: {found.short}"
    root = element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=left + right,
        height=20,
        role="img",
        aria_label=said,
    )
    root.append(element("title", said))
    clip = element("clipPath", id="round")
    clip.append(element("rect", width=left + right, height=20, rx=3))
    root.append(clip)
    body = element("g", clip_path="url(#round)")
    body.append(element("rect", width=left, height=20, fill="#444"))
    body.append(element("rect", x=left, width=right, height=20, fill=COLOURS[found.kind][0]))
    root.append(body)
    words = element("g", fill="#fff", font_family="Verdana,DejaVu Sans,Geneva,sans-serif", font_size=11)
    for said, x, width in ((label, 0, left), (found.short, left, right)):
        place = {"x": x + width / 2, "y": 14, "text_anchor": "middle"}
        words.append(element("text", said, textLength=width - SPARE, lengthAdjust="spacingAndGlyphs", **place))
    root.append(words)
    return text_of(root) + "\n"


def _label(report: Report) -> str:
    name = one_line(report.header.lifecycle)
    return name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
