"""What a system gives or raises in words: as long as a person reads, and never an error of its own."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.refused import Refused
from conformance.system.theirs import LONGEST_TEXT, TOLD, code_of, error_told, told


class Silent(Exception):
    """An error that fails when it is asked what it says."""

    def __str__(self) -> str:
        raise ValueError("no text")


class Hidden:
    """A value that fails when it is shown."""

    def __repr__(self) -> str:
        raise ValueError("no showing")


def deep(depth: int) -> list[Any]:
    """A list in a list, and so on."""
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    "value", [None, 1, -2.5, "x'", b"x", [], (), {}, [1, "x"], (1,), (1, 2), {"a": [{}]}, {1: 2, "b": (None,)}, {1}]
)
def test_a_short_value_is_written_as_python_writes_it(value: Any) -> None:
    assert told(value) == repr(value)


@pytest.mark.parametrize(
    ("value", "begins"),
    [
        ("x" * 50_000_000, "'xxx"),
        (b"x" * 50_000_000, "b'xxx"),
        ([1] * 1_000_000, "[1, 1, "),
        (deep(100_000), "[[["),
        ({"a": Hidden()}, "{'a': <Hidden>}"),
        ([10**6000], "[<int>]"),
    ],
)
def test_a_value_that_is_long_or_deep_or_odd_is_told_shortly(value: Any, begins: str) -> None:
    text = told(value)
    assert text.startswith(begins)
    assert len(text) <= TOLD


def test_an_error_is_told_by_its_type_and_its_text() -> None:
    assert error_told(ValueError("no such job")) == "ValueError: no such job"


def test_an_error_without_a_text_is_told_by_its_type() -> None:
    assert error_told(Silent()) == "Silent"


def test_of_a_very_long_error_the_middle_is_left_out() -> None:
    text = error_told(ValueError("a" + "x" * 50_000_000 + "b"))
    assert text.startswith("ValueError: ax")
    assert text.endswith("b (50000014 characters)")
    assert len(text) < 2 * LONGEST_TEXT


@pytest.mark.parametrize(
    ("code", "said"), [("not_found", "not_found"), (404, "404"), (Hidden(), "<Hidden>"), (deep(100_000), "[[[")]
)
def test_the_code_of_a_refusal_is_a_plain_text(code: Any, said: str) -> None:
    found = code_of(Refused(code))
    assert type(found) is str
    assert found.startswith(said)
