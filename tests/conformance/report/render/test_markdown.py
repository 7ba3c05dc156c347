"""A report as Markdown: what it says, and that no text of anybody becomes Markdown or HTML."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from conformance.report.render import rendered
from conformance.report.render.markdown import code, fenced, plain
from conformance.verdict import Verdict
from tests.conformance.report.render.samples import EVIL, evil, report


class Seen(HTMLParser):
    """The elements of a document with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def as_shown(text: str) -> Seen:
    """A text as a page shows it, raw HTML and tables included."""
    return Seen(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))


OURS = {"h2", "h3", "p", "ul", "li", "strong", "code", "pre", "details", "summary", "table", "thead", "tbody", "tr"} | {
    "th",
    "td",
}


def test_failures_stand_by_cause_with_the_counterexample_folded() -> None:
    text = rendered(report("N1", "N2", "E7", "B4"), "markdown")
    assert text.startswith("## ✗ thread-job: violates 3 rows\n")
    assert "**N2 and E7**: one cause: operations.finish.otherwise, “in any other state: unchanged”" in text
    assert "- expected <code>'completed'</code>\n- seen <code>'failed'</code>" in text
    assert "likely operations.finish.otherwise: carries `finish` out all the same\n" in as_shown(text).text
    assert "<details><summary>4 calls that show it, in 7 of 24 rounds</summary>\n\n```yaml\nC1:" in text
    assert "| ✗ fail | 3 |" in text
    assert text.index("What fails") < text.index("In all")


def test_a_run_that_is_red_for_a_known_failure_that_is_none_any_more_says_so() -> None:
    right = report("N1")
    assert right.footer is not None
    stale = replace(right, footer=replace(right.footer, exit=1, stale=("E57",)))
    text = rendered(stale, "markdown")
    assert text.startswith("## ✗ thread-job: has 1 stale known failure\n")
    assert "E57 is said to fail, and it does not any more: take its entry away." in text
    assert '"message": "has 1 stale known failure"' in rendered(stale, "badge-json")
    assert "take its entry away" not in rendered(right, "markdown")


def test_what_has_changed_comes_first() -> None:
    before, now = report("N1", "N2", "E9"), report("N1", "N2", "E9", "X2")
    mended = replace(now.rows[1], verdict=Verdict.PASS, counterexample=None)
    broken = replace(now.rows[0], verdict=Verdict.FAIL, reason="it broke")
    now = replace(now, rows=(broken, mended, replace(now.rows[2], verdict=Verdict.COULD_NOT_TELL), now.rows[3]))
    text = rendered(now, "markdown", before)
    changed = text[text.index("### What has changed") : text.index("### What fails")]
    assert changed.splitlines()[2:6] == [
        "- worse: N1 (pass → fail)",
        "- better: N2 (fail → pass)",
        "- new: X2",
        "- otherwise: E9 (flaky → could not tell)",
    ]
    other = replace(before, header=replace(before.header, lifecycle="job"))
    assert "cannot be compared: the first is a report of job" in rendered(now, "markdown", other)
    assert "Every row has the verdict that it had." in rendered(before, "markdown", before)
    assert "What has changed" not in rendered(now, "markdown")


def test_no_text_of_anybody_becomes_markdown_or_html() -> None:
    for since in (None, report()):
        seen = as_shown(rendered(evil(), "markdown", since))
        assert seen.elements <= OURS
        assert {name for name, _ in seen.attributes} <= {"class", "style"}
        assert all(value.startswith(("language-", "text-align:")) for _, value in seen.attributes)
        assert seen.text.count("<img src=x onerror=alert(1)>") > 20
        assert "\x1b" not in seen.text


def test_a_table_keeps_its_columns() -> None:
    text = rendered(evil(), "markdown")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in table}) == 1


@pytest.mark.parametrize(
    "said",
    [
        "@team",
        "#1",
        "GH-1",
        "https://x.example",
        "www.x.example",
        "a@b.example",
        "1. one",
        "- one",
        "= one",
        "a_b_c*d*",
        EVIL,
    ],
)
def test_a_plain_text_reads_the_same_and_names_nobody(said: str) -> None:
    seen = as_shown(f"- {plain(said)}\n")
    assert seen.elements <= {"ul", "li", "p"}
    for word in ("@team", "#1", "GH-1", "s://", "p://", "www.", "@b"):
        assert word not in seen.text
    assert as_shown(code(said)).elements == {"p", "code"}


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    lines = fenced("a\n````\nb</details>")
    assert lines == ["`````text", "a", "````", "b</details>", "`````"]


def test_a_run_that_did_not_finish_and_rows_without_an_answer_are_named() -> None:
    cut = replace(report(), rows=(report().rows[0], report().rows[7]), footer=None)
    text = rendered(cut, "markdown")
    assert text.startswith("## ? thread-job: did not finish")
    assert "- 1 row not exercised: <code>nothing witnessed it</code> (X2)" in text
    assert "- 8 rows not reached, as the run did not finish" in text
