"""Badges and JUnit XML from a saved report, and what all forms share."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from conformance.command.words import parser
from conformance.report import Report, junit
from conformance.report.reader import load
from conformance.report.render import FORMS, rendered
from tests.conformance.report.render.samples import EVIL, evil, report

SAID = {
    "conforms 1 row": ("N1",),
    "conforms 1 row, 1 known failure": ("N1", "E2"),
    "violates 1 row": ("N1", "B4"),
    "violates 3 rows": ("N2", "E7", "B4", "X2"),
    "did not exercise 1 row": ("N1", "X2"),
    "does not conform": ("X1",),
    "could not tell": ("N1", "X3"),
    "could not be asked": ("N1", "X4"),
}


@pytest.mark.parametrize(("said", "ids"), SAID.items(), ids=SAID)
def test_a_badge_says_how_it_came_out(said: str, ids: tuple[str, ...]) -> None:
    told = json.loads(rendered(report(*ids), "badge-json"))
    assert (told["schemaVersion"], told["label"], told["message"]) == (1, "thread-job", said)
    drawn = ElementTree.fromstring(rendered(report(*ids), "badge"))
    assert drawn.get("aria-label") == f"thread-job: {said}"
    assert [each.text for each in drawn.iter() if each.tag.endswith("}text")] == ["thread-job", said]


def test_a_badge_of_a_run_that_did_not_finish_says_so() -> None:
    cut = Report(report().header, report().rows[:1])
    assert json.loads(rendered(cut, "badge-json"))["message"] == "did not finish"


def test_a_badge_holds_nothing_but_its_texts() -> None:
    tags = [each.tag.rpartition("}")[2] for each in ElementTree.fromstring(rendered(evil(), "badge")).iter()]
    assert tags == ["svg", "title", "clipPath", "rect", "g", "rect", "rect", "g", "text", "text"]
    assert json.loads(rendered(evil(), "badge-json"))["label"] in EVIL + "…" or "…" in rendered(evil(), "badge-json")


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_made_from_the_file_alone_and_is_the_same_again(form: str) -> None:
    for each in (report(), evil()):
        again = load(each.dump().splitlines(keepends=True))
        assert again == each
        assert rendered(again, form) == rendered(each, form)


def test_junit_is_what_the_run_writes() -> None:
    assert rendered(report(), "junit") == junit(report())


def test_the_command_offers_every_form() -> None:
    (commands,) = (each for each in parser()._actions if each.dest == "==SUPPRESS==" or each.choices)
    assert commands.choices is not None
    render = dict(commands.choices.items())["render"]  # type: ignore[attr-defined]  # the parsers by their names
    (form,) = (each for each in render._actions if each.dest == "form")
    assert tuple(form.choices) == FORMS
