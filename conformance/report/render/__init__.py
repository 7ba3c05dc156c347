"""Reports as documents, each from a `Report` alone: a web page, JUnit XML, Markdown, a badge.

`rendered` makes any of them; the same report gives the same bytes.
"""

from __future__ import annotations

from conformance.report.render.forms import FORMS, rendered
