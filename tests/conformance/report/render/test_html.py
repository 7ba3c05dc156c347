"""The web page of a report: what stands on it, that no text becomes more than a text, and who can read it."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from conformance.errors import UsageError
from conformance.report.render import html as pages
from conformance.report.render import rendered
from conformance.verdict import FROM_OUTSIDE
from tests.conformance.report.render.page import Page
from tests.conformance.report.render.samples import EVIL, RACE, evil, report


def page(*ids: str) -> Page:
    return Page(rendered(report(*ids), "html"))


# --- what stands on it ------------------------------------------------------------------------------------


def test_a_glance_tells_the_outcome_what_fails_and_why() -> None:
    said = page("N1", "N2", "E7", "B4").said
    assert "✗ Violates python:jobs:Jobs violates 3 rows of thread-job, in 2 ways: N2, E7 and B4." in said
    assert "N2 and E7 : one cause: operations.finish.otherwise , “in any other state: unchanged”" in said
    assert "likely operations.finish.otherwise: carries `finish` out all the same" in said
    assert said.index("one cause") < said.index("Row B4 holds.") < said.index("What was called")


@pytest.mark.parametrize(
    ("ids", "word"), [(("N1",), "✓ Conforms"), (("X3",), "? Could not tell"), (("X4",), "! Could not be asked")]
)
def test_the_outcome_is_a_word_and_a_sign(ids: tuple[str, ...], word: str) -> None:
    found = page(*ids)
    assert word in found.said
    assert "Counterexamples" not in found.said


def test_a_run_that_did_not_finish_says_so_and_what_it_did_not_come_to() -> None:
    cut = replace(report(), rows=report().rows[:3], footer=None)
    said = Page(rendered(cut, "html")).said
    assert "? Did not finish The run did not finish: 3 of 10 rows of thread-job had a verdict." in said
    assert "7 rows not reached : the run did not finish (B4, E9, E2, X1, X2, X3, X4)" in said
    assert "does not tell which of them it has witnessed" in said


def test_every_row_its_verdict_and_its_reason_stand_in_the_matrix() -> None:
    found = page()
    rows = [each for each in found.all("tr") if each.get("class") == "row"]
    assert [row["data-verdict"] for row in rows] == [row.verdict for row in report().rows]
    for reason in ("until spring", "nothing witnessed it", "the process ended"):
        assert reason in found.said


def test_known_failures_have_a_part_of_their_own_and_only_where_there_are_any() -> None:
    assert "Known failures They are declared, and do not make the run fail." in page("N1", "E2").said
    assert "1 row known fail : until spring (E2)" in page("N1", "E2").said
    assert "Known failures" not in page("N1", "N2").said


def test_a_weak_pass_is_called_one() -> None:
    found = report("N1")
    weak = replace(found, rows=(replace(found.rows[0], reason=FROM_OUTSIDE),))
    assert "✓ weak pass" in Page(rendered(weak, "html")).said


def test_clauses_what_is_declared_the_environment_and_the_commands_are_there() -> None:
    said = page().said
    assert "○ never operations.finish.otherwise in any other state: unchanged" in said
    assert "✓ 12 operations.finish.move" in said
    assert "– not asked operations.cancel.move" in said
    for each in ("clock virtual", "limits retained = 20", "CPython 3.12.4", "Linux 6.8 x86_64", "2026-05-02T08:30:00Z"):
        assert each in said
    assert "conformance run thread-job --against python:jobs:Jobs --rows N2" in said
    assert "job.job_id" not in said


def test_an_id_that_is_told_by_its_reply_is_explained() -> None:
    found = replace(RACE, seen="job.job_id twice")
    told = report("B4")
    told = replace(told, rows=(replace(told.rows[0], counterexample=found),))
    assert "where job.job_id is job-1" in Page(rendered(told, "html")).said


def test_a_report_of_an_earlier_kit_is_rendered() -> None:
    old = report("N2", "B4")
    rows = tuple(replace(row, counterexample=replace(RACE, played=(), ids={})) for row in old.rows)
    header = replace(old.header, sentences={}, charts=(), date="", python="", platform="")
    found = Page(rendered(replace(old, header=header, rows=rows), "html"))
    assert found.all("svg") == []
    assert "Life cycle" not in found.said
    assert "As a row of the spec" in found.said


def test_the_same_report_gives_the_same_bytes() -> None:
    assert rendered(report(), "html") == rendered(report(), "html")


# --- no text is more than a text --------------------------------------------------------------------------


def test_no_text_of_anybody_becomes_an_element_or_an_attribute() -> None:
    tame, wild = Page(rendered(report(), "html")), Page(rendered(evil(), "html"))
    assert {tag for tag, _ in wild.elements} <= {tag for tag, _ in tame.elements}
    assert len(wild.all("script")) == len(wild.all("style")) == len(wild.all("title")) - len(wild.all("g")) == 1
    known = {(tag, name) for tag, attributes in tame.elements for name in attributes}
    assert {(tag, name) for tag, attributes in wild.elements for name in attributes} <= known
    assert not any(name.startswith("on") for _, attributes in wild.elements for name in attributes)
    assert "{{ 7 * 7 }}" in wild.said


def test_every_text_of_anybody_is_shown_as_it_is_but_for_what_nobody_can_see() -> None:
    text = rendered(evil(), "html")
    assert Page(text).said.count("<img src=x onerror=alert(1)>") > 20
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m" in text
    assert text.count("\\u202e") > 20


def test_the_page_lets_no_script_but_its_own_run_and_asks_nobody_for_anything() -> None:
    text = rendered(evil(), "html")
    found = Page(text)
    (policy,) = [each["content"] for each in found.all("meta") if each.get("http-equiv")]
    digest = base64.b64encode(hashlib.sha256(found.raw["script"].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    for tag, attributes in found.elements:
        for name in ("src", "href", "action", "srcset", "data"):
            assert attributes.get(name, "#").startswith(("#", "data:,")), (tag, attributes)
    assert "url(" not in found.raw["style"]
    assert "@import" not in found.raw["style"]


def test_without_jinja2_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pages._template.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(
        UsageError, match=r"jinja2, which is not installed: `pip install 'lifecycle-conformance\[html\]'`"
    ):
        rendered(report(), "html")
    assert rendered(report(), "badge")


# --- who can read it --------------------------------------------------------------------------------------


def test_it_has_landmarks_headings_in_order_and_a_way_past_the_navigation() -> None:
    found = page()
    for landmark in ("header", "nav", "main", "footer"):
        assert len(found.all(landmark)) == 1
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert found.all("a")[0] == {"class": "skip", "href": "#main"}
    assert found.all("html") == [{"lang": "en"}]


def test_every_name_is_there_once_and_everything_that_is_named_is_there() -> None:
    for text in (rendered(report(), "html"), rendered(evil(), "html")):
        found = Page(text)
        ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
        assert len(ids) == len({*ids})
        links = [each["href"][1:] for each in found.all("a")]
        labels = [each["aria-labelledby"] for _, each in found.elements if "aria-labelledby" in each]
        assert {*links, *labels} <= {*ids}


def test_tables_drawings_and_fields_say_what_they_are() -> None:
    text = rendered(report(), "html")
    found = Page(text)
    assert all(each.get("scope") in ("col", "row", "rowgroup") for each in found.all("th"))
    drawings = [each for each in found.all("svg") if "class" in each]
    assert len(drawings) == 3
    assert all(each["role"] == "img" and each["aria-label"] for each in drawings)
    for field in ("select", "input"):
        assert len(re.findall(rf"<label[^>]*>[^<]+<{field}", text)) == len(found.all(field))
    for region in (each for _, each in found.elements if each.get("role") == "region"):
        assert region["tabindex"] == "0"
        assert region["aria-label"]


def test_without_scripts_nothing_is_hidden_but_what_needs_them() -> None:
    found = page()
    hidden = [(tag, each.get("id")) for tag, each in found.elements if "hidden" in each]
    assert hidden == [("button", "theme"), ("form", "filter")]


def luminance(colour: str) -> float:
    full = colour if len(colour) == 7 else "#" + "".join(2 * sign for sign in colour[1:])
    parts = (int(full[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_of_black_on_white_is_known() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)


THEMES = [dict(re.findall(r"--([\w-]+): (#\w+)", block)) for block in pages._part("report.css").split(":root")[1:]]


@pytest.mark.parametrize("theme", THEMES, ids=["light", "dark", "dark, chosen"])
def test_every_text_can_be_told_from_what_is_behind_it(theme: dict[str, str]) -> None:
    for word in ("ink", "quiet", "link", "good", "bad", "unknown"):
        for behind in ("page", "card", "code"):
            assert contrast(theme[word], theme[behind]) >= 4.5, (word, behind)
    for kind in ("good", "bad", "unknown"):
        for word in ("ink", kind):
            assert contrast(theme[word], theme[f"{kind}-soft"]) >= 4.5, (word, kind)


def test_dark_by_choice_is_dark_by_preference() -> None:
    light, dark, chosen = THEMES
    assert dark == chosen
    assert {*dark} <= {*light}


def test_no_verdict_and_no_arrow_is_told_by_its_colour_alone() -> None:
    text = rendered(report(), "html")
    cells = re.findall(r'<td class="verdict \w+"><span aria-hidden="true">(.)</span> ([\w ]+)</td>', text)
    assert [word for _, word in cells] == [row.verdict for row in report().rows]
    assert len({sign for sign, _ in cells}) == len({word for _, word in cells})
    drawing = re.findall(r"<svg class=\"life-cycle\".*?</svg>", text)[0]
    for way in ElementTree.fromstring(drawing).iter("g"):
        sign = "✓" if way.get("class") == "way seen" else "○"
        assert (way.findtext("text") or "").startswith(sign)


def test_a_text_that_looks_like_an_attack_reaches_the_page() -> None:
    assert "<script>" in EVIL
    assert "onerror" in EVIL
