"""The page in a browser: headless Chromium, where there is one. A page around it asks what a person would see.

The pages that are looked at lie in frames of a page of the test, which may look into them: their own policy stays as it is.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.report import Report
from conformance.report.render import rendered
from tests.conformance.report.render.samples import evil, report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--v=0",
    "--window-size=1700,1200",
    "--virtual-time-budget=20000",
)
LIMIT = 120  # seconds until a browser counts as one that hangs

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

ASK = """
const asked = [];
const frames = [...document.querySelectorAll("iframe")];
const shown = (page) => [...page.querySelectorAll(".matrix .row")].filter((row) => row.offsetParent !== null)
  .map((row) => row.querySelector("th").textContent);
const set = (page, id, value, kind = "input") => {
  const field = page.getElementById(id);
  field.value = value;
  field.dispatchEvent(new Event(kind, { bubbles: true }));
};
window.addEventListener("load", () => {
  for (const frame of frames) {
    const page = frame.contentDocument;
    const said = { all: shown(page), alerts: frame.contentWindow.alerted || 0, images: page.images.length };
    said.overflow = page.documentElement.scrollWidth - page.documentElement.clientWidth;
    said.width = frame.contentWindow.innerWidth;
    set(page, "by-verdict", "fail");
    said.failing = shown(page);
    said.told = page.getElementById("shown").textContent;
    set(page, "by-text", "e7");
    said.found = shown(page);
    said.groups = [...page.querySelectorAll(".matrix .group")].filter((row) => row.offsetParent !== null).length;
    set(page, "by-verdict", "");
    set(page, "by-text", "");
    set(page, "by-level", "must");
    said.must = shown(page);
    const colour = () => frame.contentWindow.getComputedStyle(page.body).backgroundColor;
    const button = page.getElementById("theme");
    said.before = [colour(), button.getAttribute("aria-pressed")];
    button.click();
    said.after = [colour(), button.getAttribute("aria-pressed")];
    button.click();
    said.again = [colour(), button.getAttribute("aria-pressed")];
    page.querySelectorAll("details").forEach((each) => { each.open = true; });
    said.opened = page.documentElement.scrollWidth - page.documentElement.clientWidth;
    asked.push(said);
  }
  document.body.textContent = JSON.stringify(asked);
});
"""


@dataclass(frozen=True)
class Seen:
    """What a browser shows of each page, in order, and what it wrote to its console."""

    pages: list[dict[str, Any]]
    console: list[str]


def seen(folder: Path, pages: list[tuple[Report, int]]) -> Seen:
    """Show pages at some widths, and ask what can be seen."""
    frames = [
        f'<iframe style="width:{width}px;height:900px" srcdoc="{html.escape(rendered(each, "html"))}"></iframe>'
        for each, width in pages
    ]
    around = folder / "around.html"
    text = f'<!doctype html><meta charset="utf-8"><body>{"".join(frames)}<script>{ASK}</script>'
    around.write_text(text, encoding="utf-8")
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", around.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    body = re.search(r"<body>(.*)</body>", done.stdout, re.DOTALL)
    assert body is not None, done.stderr
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return Seen(json.loads(html.unescape(body[1])), console)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    pages = [(report(), 1600), (report(), 400), (evil(), 1600), (evil(), 400), (report("N1"), 400)]
    return seen(tmp_path_factory.mktemp("browser"), pages)


def test_nothing_is_written_to_the_console(browser: Seen) -> None:
    assert browser.console == []


def test_no_page_is_wider_than_the_window(browser: Seen) -> None:
    assert [page["width"] for page in browser.pages] == [1600, 400, 1600, 400, 400]
    assert [(page["overflow"], page["opened"]) for page in browser.pages] == [(0, 0)] * len(browser.pages)


def test_the_filters_show_what_fits(browser: Seen) -> None:
    page = browser.pages[0]
    assert page["all"] == [row.id for row in report().rows]
    assert page["failing"] == ["N2", "E7", "B4"]
    assert page["told"] == "3 of 10 rows"
    assert page["found"] == ["E7"]
    assert page["groups"] == 1
    assert page["must"] == page["all"]


def test_the_button_changes_between_light_and_dark(browser: Seen) -> None:
    page = browser.pages[0]
    assert page["before"] == page["again"] != page["after"]
    assert {page["before"][1], page["after"][1]} == {"true", "false"}


def test_what_tries_to_run_does_not(browser: Seen) -> None:
    assert [page["images"] for page in browser.pages] == [0] * len(browser.pages)
    assert len(browser.pages[2]["all"]) == len(evil().rows)


def test_a_console_message_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "loud.html"
    page.write_text("<script>console.error('heard')</script>", encoding="utf-8")
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert "heard" in "".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
