"""Diagnostics: how they read, and that an error carries all of them in order."""

from __future__ import annotations

import pytest

from statemachines.diagnostics import Diagnostic, SpecError, Where, did_you_mean

FIRST = Diagnostic("yaml-tab", Where("a.yaml", 2, 1), "a tab stands here", "use spaces")
SECOND = Diagnostic("unknown-name", Where("a.yaml", 10, 3), "there is no `jbo`", "")


def test_a_diagnostic_reads_as_editors_expect_it() -> None:
    assert str(FIRST) == "a.yaml:2:1: error [yaml-tab] a tab stands here\n  hint: use spaces"
    assert FIRST.render() == str(FIRST)


def test_a_diagnostic_without_a_hint_is_one_line() -> None:
    assert str(SECOND) == "a.yaml:10:3: error [unknown-name] there is no `jbo`"


def test_an_error_holds_each_fault_once_sorted_by_position() -> None:
    error = SpecError([SECOND, FIRST, SECOND])
    assert error.diagnostics == (FIRST, SECOND)
    assert str(error) == f"{FIRST}\n{SECOND}"


def test_places_compare_by_line_before_column_and_as_numbers() -> None:
    assert Where("a", 2, 9) < Where("a", 10, 1) < Where("a", 10, 2) < Where("b", 1, 1)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("jbos", "jobs"), ("Jobs", "jobs"), ("RETAIN", "retain"), ("jobs", ""), ("zzz", ""), ("", "")],
)
def test_a_misspelt_word_finds_the_closest_candidate(word: str, meant: str) -> None:
    expected = f"did you mean {meant!r}?" if meant else ""
    assert did_you_mean(word, ["retain", "jobs", "order"]) == expected
